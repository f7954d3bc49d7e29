//! Reads replies with points for each dimension of a rubric.

use serde_json::{Map, Value};

use super::JudgeReply;
use super::objects::FoundObject;
use super::strays::Strays;
use super::{Reading, Unread};

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
    strays.of_text(doubtful, &quoted, dimensions);
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
        .find_map(|claim| claim.points(dimensions))
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

    fn points(self, dimensions: &[(&str, [i64; 2])]) -> Option<Reading> {
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
