//! The JSON objects at the top level of a text, in fences or among prose.

use std::ops::Range;

use serde_json::{Map, Value};

use super::Unread;
use crate::text::tex_json::{self, Extents};

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
    pub(super) fn whole(
        map: Map<String, Value>,
        repaired: u32,
        overwritten: Vec<(String, Value)>,
    ) -> Self {
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
    pub(super) fn nested(&self, name: &str) -> Vec<&Value> {
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
pub(super) fn among(text: &str) -> Result<Vec<FoundObject>, Unread> {
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
