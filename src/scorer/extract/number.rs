//! `number`: the number that an answer claims, or its last one.

use std::ops::Range;

use super::boxed::{self, Closed, LastBox};
use super::labels::{is_corrected, labels, start};
use super::last_number;
use super::numbers::{self, Value, numbers};
use crate::data::FoundBy;
use crate::scorer::number::numeric::words;

/// The longest value of a label that is looked at, in bytes.
const LONGEST: usize = 400;

/// The number in the last box, tag or label, of which a later final label goes before a box; otherwise the last number.
/// A last box that is not closed, and a last label that says something else, leave no answer.
pub(super) fn answer(raw: &str) -> Option<(&str, FoundBy)> {
    let label = labelled(raw);
    let boxed = match boxed::last(raw) {
        LastBox::Open | LastBox::Several => return None,
        LastBox::None => boxed::last_tag(raw).map(|tag| (tag, FoundBy::Tag)),
        LastBox::Closed(found) => Some((found, FoundBy::Box)),
    };
    let is_later = |place: usize| {
        let label = label
            .as_ref()
            .filter(|label| label.is_final && label.value.is_some());
        label.is_some_and(|label| label.start > place)
    };
    if let Some((Closed { content, start, .. }, by)) = boxed
        && !is_later(start)
    {
        let found = number_of(content, 0..content.len());
        return Some(match found {
            Value::Number(range) => (&content[range], by),
            // What the scorer finds to be no number.
            Value::Other | Value::Unclear => (content, by),
        });
    }
    if let Some(label) = label {
        let range = label.value?;
        return Some((&raw[range], FoundBy::Label));
    }
    let range = last_number::find(raw)?;
    Some((&raw[range], FoundBy::LastNumber))
}

/// What the deciding label says: the last final one, else the last one.
struct Labelled {
    start: usize,
    is_final: bool,
    /// `None` if it says something that is no number.
    value: Option<Range<usize>>,
    is_contradicted: bool,
}

fn labelled(raw: &str) -> Option<Labelled> {
    let mut latest: Option<Labelled> = None;
    for label in labels(raw) {
        if latest.as_ref().is_some_and(|latest| latest.is_final) && !label.is_final {
            continue;
        }
        let line = start(&raw[label.value..], LONGEST);
        let line = line.find('\n').unwrap_or(line.len());
        let value = match number_of(raw, label.value..label.value + line) {
            Value::Number(range) => Some(range),
            Value::Other => None,
            Value::Unclear => continue,
        };
        // Of two different claims neither counts, unless the text takes the first one back.
        let differs = latest.as_ref().is_some_and(|latest| {
            latest.is_final == label.is_final
                && match (&latest.value, &value) {
                    (Some(one), Some(other)) => !is_same(&raw[one.clone()], &raw[other.clone()]),
                    (None, _) => latest.is_contradicted,
                    (Some(_), None) => false,
                }
                && !is_corrected(&raw[latest.start..label.start])
        });
        latest = Some(Labelled {
            start: label.start,
            is_final: label.is_final,
            value: value.filter(|_| !differs),
            is_contradicted: differs,
        });
    }
    latest
}

/// Whether two numbers are the same but for separators, currencies and trailing zeros.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let mut plain: String = text
            .chars()
            .filter(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '−' | '/'))
            .collect();
        if plain.contains('.') {
            plain.truncate(plain.trim_end_matches('0').trim_end_matches('.').len());
        }
        plain
    };
    one == other || plain(one) == plain(other)
}

fn number_of(text: &str, value: Range<usize>) -> Value {
    // A number in English words, and nothing else.
    let is_number = |text: &str| text.len() < 100 && words::is_whole(text);
    numbers::of_value(text, value, is_number)
}

/// The number of a text that contains exactly one.
pub(super) fn only(raw: &str) -> Option<&str> {
    let mut all = numbers(raw);
    let found = all.next()?;
    all.next().is_none().then(|| &raw[found.range])
}
