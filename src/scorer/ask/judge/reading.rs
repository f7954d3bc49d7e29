//! Reads a judge's reply, from its text alone.
//!
//! A reply has a verdict or is unreadable, with a reason. There is no default and no clamping, and of two different
//! verdicts neither is taken. The reply is scanned for claims: the objects of JSON at its top level, and for
//! choices also its [`lines`]. Two different claims make it conflicting, wherever they are, so that a quoted injected
//! verdict is never taken for the judge's own. A value that was not offered is a claim, too, if a [`label`] names it.
//! Some claims can only contradict: those within quotes, under a condition, in JSON that is broken or was [`truncated`],
//! points in prose, and if there are several objects, members nested deeper in them.
//!
//! `patterns`, `rating` and `hello` read replies like published programs.

mod choices;
#[cfg(feature = "command")]
mod hello;
mod label;
mod lines;
mod name;
mod rating;
mod rubric;
mod truncated;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::scorer::extract::thoughts;
use crate::text::tex_json::{Extents, TexJson};
use crate::text::{MatchScope, compile, tex_json};

pub use crate::data::Unread;
pub use choices::choices;
#[cfg(feature = "command")]
pub use hello::{helloagents_judge, helloagents_winner};
pub use rating::rating;
pub use rubric::rubric;

/// Stands in judges' fingerprints where the first versions put theirs. It does not change, so that a reply keeps its key
/// and a baseline its scorer: the replies are the same, however they are read.
pub(crate) const IN_FINGERPRINTS: u32 = 1;

/// The content of a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Whether there is a verdict.
    pub status: ReadStatus,
    /// The choice, spelled as offered, or the rating. `None` for rubrics, whose verdict is in `values`.
    pub verdict: Option<Value>,
    /// The points of each dimension, in order.
    pub values: Option<Map<String, Value>>,
    /// The comments next to the verdict.
    pub comments: Map<String, Value>,
    /// How many backslashes of the JSON were taken as literal, from TeX that was not escaped.
    pub repaired: u32,
}

/// Whether a reply could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStatus {
    /// It has exactly one verdict.
    Read,
    /// It has not, for this reason.
    Unreadable(Unread),
}

impl Reading {
    /// The reading of a reply without a verdict.
    pub fn unreadable(reason: Unread) -> Self {
        Self {
            status: ReadStatus::Unreadable(reason),
            verdict: None,
            values: None,
            comments: Map::new(),
            repaired: 0,
        }
    }

    /// Why there is no verdict; `None` if there is one.
    pub fn reason(&self) -> Option<Unread> {
        match self.status {
            ReadStatus::Read => None,
            ReadStatus::Unreadable(reason) => Some(reason),
        }
    }

    fn of_verdict(verdict: impl Into<Value>) -> Self {
        Self {
            status: ReadStatus::Read,
            verdict: Some(verdict.into()),
            values: None,
            comments: Map::new(),
            repaired: 0,
        }
    }

    fn of_values(values: Map<String, Value>) -> Self {
        Self {
            status: ReadStatus::Read,
            verdict: None,
            values: Some(values),
            comments: Map::new(),
            repaired: 0,
        }
    }
}

/// Compiles a pattern; fails if it is invalid, or too large to be matched in bounded time.
pub fn pattern(text: &str) -> Result<Regex> {
    compile(text, MatchScope::Part, false)
}

/// The name whose pattern matches anywhere, if no other one does; with `first_match`, the first in this order.
pub fn patterns(reply: &str, patterns: &[(String, Regex)], first_match: bool) -> Reading {
    if reply.trim().is_empty() {
        return Reading::unreadable(Unread::NoResponse);
    }
    let mut matching = patterns
        .iter()
        .filter(|(_, pattern)| pattern.is_match(reply))
        .map(|(name, _)| name);
    let Some(first) = matching.next() else {
        return Reading::unreadable(Unread::InvalidResponseFormat);
    };
    // Two patterns may have the same name.
    if !first_match && matching.any(|other| other != first) {
        return Reading::unreadable(Unread::Conflicting);
    }
    Reading::of_verdict(first.as_str())
}

/// The start of the final channel, with the marks of the harmony format or where they were removed.
static FINAL: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"<\|channel\|>final(?:[^<]|<\|constrain\|>)*<\|message\|>|assistantfinal";
    Regex::new(pattern).expect("a constant pattern")
});

/// A reply that is not blank.
pub(crate) struct JudgeReply<'a> {
    /// The text after the reasoning.
    pub(crate) body: &'a str,
    /// Text that may already be part of the body: reasoning that contains its own end mark, perhaps in a quotation.
    /// Claims in it can only contradict.
    pub(crate) doubtful: Cow<'a, str>,
    /// The body, if all of it is JSON.
    pub(crate) whole: Option<TexJson>,
    /// The objects at its top level, if not.
    pub(crate) found: Vec<FoundObject>,
    /// The objects of the doubtful part.
    pub(crate) quoted: Vec<FoundObject>,
}

impl<'a> JudgeReply<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, Unread> {
        let text = name::trimmed(text);
        if text.is_empty() {
            return Err(Unread::NoResponse);
        }
        let (doubtful, body) = without_thoughts(text)?;
        let whole = match body.as_bytes().first() {
            Some(b'{' | b'[' | b'"') => tex_json::read(body),
            _ => None,
        };
        let mut quoted = among(&doubtful)?;
        for found in &mut quoted {
            found.is_certain = false;
        }
        let found = match whole {
            Some(_) => Vec::new(),
            None => among(body)?,
        };
        Ok(Self {
            body,
            doubtful,
            whole,
            found,
            quoted,
        })
    }
}

/// The text between the first and the last end mark of the reasoning, and the text after that.
fn without_thoughts(text: &str) -> Result<(Cow<'_, str>, &str), Unread> {
    let (mut doubtful, mut body) = channels(text)?;
    while let Some((between, rest)) = without_thought(body)? {
        if doubtful.is_empty() {
            doubtful = Cow::Borrowed(between);
        } else if !between.is_empty() {
            doubtful.to_mut().push_str("\n\n");
            doubtful.to_mut().push_str(between);
        }
        body = rest;
    }
    if body.is_empty() {
        return Err(Unread::NoResponse);
    }
    Ok((doubtful, body))
}

/// The same for the first of several thoughts, if the text starts with one.
fn without_thought(text: &str) -> Result<Option<(&str, &str)>, Unread> {
    if !text.contains(['<', '[', '◁']) {
        return Ok(None);
    }
    let lower = text.to_ascii_lowercase();
    let is_line = |place: usize| lower[..place].trim_end_matches([' ', '\t']).ends_with('\n');
    for (open, close) in thoughts::TAGS {
        // Reasoning without an end holds drafts.
        let ended = lower.rfind(close).unwrap_or_default();
        let mut opened = lower[ended..].match_indices(open);
        if opened.any(|(place, _)| ended + place == 0 || is_line(ended + place)) {
            return Err(Unread::InvalidResponseFormat);
        }
        if !lower.starts_with(open) {
            continue;
        }
        if let (Some(first), Some(last)) = (lower.find(close), lower.rfind(close)) {
            let between = text.get(first + close.len()..last).unwrap_or_default();
            return Ok(Some((between, name::trimmed(&text[last + close.len()..]))));
        }
    }
    Ok(None)
}

/// The same for a reply in channels.
fn channels(text: &str) -> Result<(Cow<'_, str>, &str), Unread> {
    let is_thought = |rest: &str| rest.starts_with("<|") || rest.starts_with(char::is_uppercase);
    let has_channels = ["<|channel|>", "<|start|>"]
        .iter()
        .any(|mark| text.starts_with(mark))
        || text
            .strip_prefix("analysis")
            .is_some_and(|rest| is_thought(rest) || FINAL.is_match(rest));
    if !has_channels {
        return Ok((Cow::Borrowed(""), text));
    }
    let mut marks = FINAL.find_iter(text);
    let first = marks.next().ok_or(Unread::InvalidResponseFormat)?;
    let last = marks.last().unwrap_or(first);
    let mut body = name::trimmed(&text[last.end()..]);
    for end in ["<|return|>", "<|end|>"] {
        body = name::trimmed(body.strip_suffix(end).unwrap_or(body));
    }
    let between = text.get(first.end()..last.start()).unwrap_or_default();
    Ok((Cow::Borrowed(between), body))
}

/// Limit of passes over the text in total. Prose takes one pass; many unclosed objects would take a pass each.
const PASSES: usize = 8;

/// Additional allowance for short texts, in bytes.
const FREE: usize = 1 << 14;

/// An object, or an array of objects, which has no members.
pub(crate) struct FoundObject {
    pub(crate) map: Map<String, Value>,
    /// The items of an array.
    array: Vec<Value>,
    pub(crate) repaired: u32,
    /// Members that are repeated with another value.
    pub(crate) overwritten: Vec<(String, Value)>,
    /// Its range in the text.
    pub(crate) place: Range<usize>,
    /// Whether it counts by itself. Within something that starts like JSON but is not, it may be part of another
    /// object.
    pub(crate) is_certain: bool,
}

impl FoundObject {
    /// An object that makes up the whole reply.
    fn whole(map: Map<String, Value>, repaired: u32, overwritten: Vec<(String, Value)>) -> Self {
        Self {
            map,
            array: Vec::new(),
            repaired,
            overwritten,
            place: 0..0,
            is_certain: true,
        }
    }

    /// The values of nested members with this name. If there are several objects they can contradict: the verdict of a
    /// reply that quotes without escaping may be nested.
    fn nested(&self, name: &str) -> Vec<&Value> {
        let mut given = Vec::new();
        let mut open: Vec<&Value> = self.map.values().chain(&self.array).collect();
        while let Some(value) = open.pop() {
            match value {
                Value::Array(items) => open.extend(items),
                Value::Object(map) => {
                    given.extend(map.get(name));
                    open.extend(map.values());
                }
                _ => {}
            }
        }
        given
    }
}

/// All objects; unreadable if the text is built to take too long.
fn among(text: &str) -> Result<Vec<FoundObject>, Unread> {
    let mut found = Vec::new();
    if !text.contains('{') {
        return Ok(found);
    }
    let mut extents = Extents::of(text);
    let starts = starts(extents.masked().as_bytes());
    let mut remaining = PASSES * text.len() + FREE;
    // The ends of what was read, and of the first part of anything broken.
    let (mut done, mut broken) = (0, 0);
    for start in starts {
        if start < done {
            continue;
        }
        let end = extents.end(start);
        let seen = match end {
            Ok(end) | Err(end) => end,
        };
        remaining = remaining
            .checked_sub(seen - start)
            .ok_or(Unread::InvalidResponseFormat)?;
        let read = end.ok().and_then(|end| tex_json::read(&text[start..end]));
        let Some(json) = read else {
            broken = broken.max(seen);
            continue;
        };
        done = seen;
        let (map, array) = match json.value {
            Value::Object(map) => (map, Vec::new()),
            // Its objects are not at the top level.
            Value::Array(array) => (Map::new(), array),
            _ => continue,
        };
        found.push(FoundObject {
            map,
            array,
            repaired: json.repaired,
            overwritten: json.overwritten,
            place: start..seen,
            is_certain: start >= broken,
        });
    }
    Ok(found)
}

/// Where an object with members, or an array of objects, may start.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let next = |place: usize| {
        let rest = bytes[place + 1..].trim_ascii_start();
        rest.first().copied()
    };
    let mut starts = Vec::new();
    // Each run of white space is scanned once, however many brackets precede it: their content starts right after it.
    let mut place = 0;
    while let Some(step) = bytes[place..]
        .iter()
        .position(|byte| matches!(byte, b'{' | b'['))
    {
        place += step;
        match (bytes[place], next(place)) {
            (b'{', Some(b'"')) | (b'[', Some(b'{')) => starts.push(place),
            _ => {}
        }
        place += 1;
    }
    starts
}

#[cfg(test)]
mod tests;
