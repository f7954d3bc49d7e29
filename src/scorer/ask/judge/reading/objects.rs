//! The objects of JSON at the top level of a text, in fences or among prose.

use std::ops::Range;

use serde_json::{Map, Value};

use super::Unread;
use crate::text::tex_json::{self, Extents};

/// How often the text may be gone over, in all. Prose is gone over once; what begins many objects and ends none would be
/// gone over for each of them.
const PASSES: usize = 8;

/// Short texts may be gone over more often.
const FREE: usize = 1 << 14;

/// An object, or an array of them, which has no members.
pub(crate) struct FoundObject {
    pub(crate) map: Map<String, Value>,
    /// What an array holds.
    array: Vec<Value>,
    pub(crate) repaired: u32,
    /// Members that come again with another value.
    pub(crate) overwritten: Vec<(String, Value)>,
    /// Where it stands.
    pub(crate) place: Range<usize>,
    /// Whether it stands for itself. Within something that begins like JSON and is none it may be a part of another one.
    pub(crate) is_certain: bool,
}

impl FoundObject {
    /// One that is all of a reply.
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

    /// What members deeper in are said to be that have this name. Beside a second object they contradict: a reply that
    /// quotes without escapes may have its own verdict there.
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

/// All of them; unreadable when the text is made to take for ever.
pub(super) fn among(text: &str) -> Result<Vec<FoundObject>, Unread> {
    let mut found = Vec::new();
    if !text.contains('{') {
        return Ok(found);
    }
    let mut extents = Extents::of(text);
    let starts = starts(extents.masked().as_bytes());
    let mut left = PASSES * text.len() + FREE;
    // The ends of what was read, and of the first part of what is broken.
    let (mut done, mut broken) = (0, 0);
    for start in starts {
        if start < done {
            continue;
        }
        let end = extents.end(start);
        let seen = match end {
            Ok(end) | Err(end) => end,
        };
        left = left
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

/// Where an object with members may begin, or an array of such.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let next = |place: usize| {
        let rest = bytes[place + 1..].trim_ascii_start();
        rest.first().copied()
    };
    let mut starts = Vec::new();
    // White space is looked at once, however many brackets stand before it: what they hold comes first behind it.
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
