//! Reads replies with points for each dimension of a rubric.

use serde_json::{Map, Value};

use super::lines::{closes, plain};
use super::{FoundObject, JudgeReply, Reading, Unread};

/// Reads integer points for each dimension on its inclusive scale.
pub fn rubric(reply: &str, dimensions: &[(&str, [i64; 2])]) -> Reading {
    read(reply, dimensions).unwrap_or_else(Reading::unreadable)
}

fn read(reply: &str, dimensions: &[(&str, [i64; 2])]) -> Result<Reading, Unread> {
    let JudgeReply {
        body,
        doubtful,
        whole,
        found: mut claims,
        mut quoted,
    } = JudgeReply::parse(reply)?;
    let mut strays = Strays::default();
    if whole.is_none() {
        strays.of_text(body, &claims, dimensions);
    }
    strays.of_text(&doubtful, &quoted, dimensions);
    claims.append(&mut quoted);
    if claims.len() > 1 {
        for claim in &claims {
            strays.of_nested(claim, dimensions);
        }
    }
    if let Some(json) = whole {
        let Value::Object(map) = json.value else {
            return Err(Unread::InvalidResponseFormat);
        };
        claims.push(FoundObject::whole(map, json.repaired, json.overwritten));
    }
    for (place, (name, _)) in dimensions.iter().enumerate() {
        let mut given = claims.iter().flat_map(|claim| claim.all(name));
        if let Some(first) = given.next()
            && given
                .chain(strays.of(place))
                .any(|other| !is_same(first, other))
        {
            return Err(Unread::Conflicting);
        }
    }
    let mut claims = claims.into_iter();
    claims
        .find_map(|claim| claim.read_points(dimensions))
        .ok_or(Unread::InvalidResponseFormat)
}

impl FoundObject {
    /// All values of a member.
    fn all(&self, name: &str) -> impl Iterator<Item = &Value> {
        let overwritten = self.overwritten.iter();
        let before = overwritten.filter(move |(known, _)| known == name);
        let before = before.map(|(_, value)| value);
        before.chain(self.map.get(name))
    }

    fn read_points(self, dimensions: &[(&str, [i64; 2])]) -> Option<Reading> {
        if !self.is_certain {
            return None;
        }
        let points = dimensions.iter().map(|(name, scale)| {
            let points = whole(self.map.get(*name)?)?;
            let is_on_scale = (scale[0]..=scale[1]).contains(&points);
            is_on_scale.then(|| ((*name).to_owned(), Value::from(points)))
        });
        let values: Map<_, _> = points.collect::<Option<_>>()?;
        let is_comment =
            |(name, value): &(String, Value)| value.is_string() && !values.contains_key(name);
        let comments = self.map.into_iter().filter(is_comment).collect();
        Some(Reading {
            comments,
            repaired: self.repaired,
            ..Reading::of_values(values)
        })
    }
}

/// An integer, `4` or `4.0`.
fn whole(value: &Value) -> Option<i64> {
    /// Up to here every integer is a distinct double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Value::Number(number) = value else {
        return None;
    };
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        let is_whole = float.fract() == 0.0 && float.abs() <= EXACT;
        #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
        is_whole.then_some(float as i64)
    })
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

// Points that are not members of an object: `correctness: 1` in prose, or in broken JSON. They are no verdict but
// contradict one, so that an object quoted by a judge with a verdict in prose is not taken.

/// Values by dimension.
#[derive(Default)]
pub(super) struct Strays {
    /// With the index of the dimension.
    given: Vec<(usize, Value)>,
}

impl Strays {
    /// Adds those of a text, outside of its objects.
    pub(super) fn of_text(
        &mut self,
        text: &str,
        objects: &[FoundObject],
        dimensions: &[(&str, [i64; 2])],
    ) {
        let text = &*plain(text, objects, "\n");
        let mut from = 0;
        for (place, sign) in text.match_indices([':', '：', '=']) {
            let label = &text[std::mem::replace(&mut from, place + sign.len())..place];
            let mut called = dimensions.iter();
            let Some(dimension) = called.position(|(name, _)| is_label(label, name)) else {
                continue;
            };
            if let Some(points) = read_points(&text[from..]) {
                self.given.push((dimension, points));
            }
        }
    }

    /// Adds those nested in an object.
    pub(super) fn of_nested(&mut self, found: &FoundObject, dimensions: &[(&str, [i64; 2])]) {
        for (dimension, (name, _)) in dimensions.iter().enumerate() {
            let given = found.nested(name).into_iter();
            self.given
                .extend(given.map(|value| (dimension, value.clone())));
        }
    }

    /// The values of one dimension.
    pub(super) fn of(&self, dimension: usize) -> impl Iterator<Item = &Value> {
        let given = self.given.iter();
        let given = given.filter(move |(of, _)| *of == dimension);
        given.map(|(_, value)| value)
    }
}

/// Whether a text ends with the name, ignoring case and markdown, optionally with a scale: `**Correctness** (1-5)`.
fn is_label(text: &str, name: &str) -> bool {
    let ends = |text: &str| {
        let text = text.trim_end_matches(closes);
        let Some(start) = text.len().checked_sub(name.len()) else {
            return false;
        };
        let (Some(before), Some(label)) = (text.get(..start), text.get(start..)) else {
            return false;
        };
        let is_it = label == name || label.to_lowercase() == name.to_lowercase();
        is_it && !before.ends_with(|c: char| c.is_alphanumeric())
    };
    let is_scale = |c: char| !c.is_alphabetic() && c != '(';
    let without_scale = || {
        let text = text.trim_end_matches(|c: char| c != ')' && closes(c));
        let text = text.strip_suffix(')')?.trim_end_matches(is_scale);
        text.strip_suffix('(')
    };
    ends(text) || without_scale().is_some_and(ends)
}

/// The number at the start of a text, unless a scale such as `1 to 5` starts there.
fn read_points(text: &str) -> Option<Value> {
    let text = text.trim_start_matches(closes);
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let (number, behind) = text.split_at(end);
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let behind = behind.trim_start();
    let scale = ["to ", "through ", "–", "—", "…"];
    let mut scale = scale.iter().filter_map(|sign| behind.strip_prefix(sign));
    if scale.any(|rest| is_number(rest.trim_start())) {
        return None;
    }
    // `4.` ends a sentence, and `1-5` is a scale.
    let number = number.trim_end_matches(['.', '-']);
    let number = number.strip_prefix('+').unwrap_or(number);
    let points: f64 = number.parse().ok()?;
    Some(Value::from(points))
}
