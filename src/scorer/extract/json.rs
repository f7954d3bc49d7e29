//! The JSON of an answer, and `json_pointer`, a member of it.

use serde_json::Value;

use super::thoughts;
use crate::text::tex_json::{self, Extents};

/// The member at the pointer: a string unchanged, anything else as JSON, `null` as `None`. Of several objects the last
/// that has it counts.
pub(super) fn member(raw: &str, pointer: &str) -> Option<String> {
    let found = all(raw);
    match found
        .iter()
        .rev()
        .find_map(|value| value.pointer(pointer))?
    {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The JSON of an answer: the whole text, the last fenced block that is JSON, or else its last object; without one, its
/// only array. Unescaped backslashes of TeX are repaired, see [`tex_json`].
pub(crate) fn find(raw: &str) -> Option<Value> {
    let mut found = all(raw);
    let place = match found.iter().rposition(Value::is_object) {
        Some(object) => object,
        // Of several arrays some may be citations: `[1]`.
        None if found.len() == 1 => 0,
        None => return None,
    };
    Some(found.swap_remove(place))
}

/// The whole text if it is JSON; otherwise, without thoughts, its fenced blocks that are; otherwise the objects and arrays in it.
fn all(raw: &str) -> Vec<Value> {
    if let Some(value) = read(raw) {
        return vec![value];
    }
    let raw = &*thoughts::strip(raw);
    if let Some(value) = read(raw) {
        return vec![value];
    }
    let parts: Vec<&str> = raw.split("```").collect();
    let fenced: Vec<Value> = parts
        .iter()
        .skip(1)
        .step_by(2)
        .filter_map(|block| {
            // The first line names the language.
            let block = block
                .split_once('\n')
                .map_or(*block, |(_, content)| content);
            read(block)
        })
        .collect();
    if fenced.is_empty() {
        among(raw)
    } else {
        fenced
    }
}

/// Limit of passes over the text in total. Prose takes one pass; many brackets that close nothing would take a pass each.
const PASSES: usize = 8;

/// Additional allowance for short texts, in bytes.
const FREE: usize = 1 << 14;

/// The objects and arrays in a text that are in no other, in order. None if the last object does not end, as it may be
/// the answer, cut off.
fn among(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut extents = Extents::of(text);
    let brackets = |masked: &str| -> Vec<usize> {
        let found = masked.bytes().enumerate();
        let found = found.filter(|(_, byte)| matches!(byte, b'{' | b'['));
        found.map(|(place, _)| place).collect()
    };
    let mut remaining = PASSES * text.len() + FREE;
    let mut done = 0;
    for start in brackets(extents.masked()) {
        if start < done {
            continue;
        }
        let end = extents.end(start);
        let (Ok(seen) | Err(seen)) = end;
        let Some(left) = remaining.checked_sub(seen - start) else {
            break;
        };
        remaining = left;
        let is_object = text[start..]
            .strip_prefix('{')
            .is_some_and(|rest| rest.trim_start().starts_with('"'));
        match end {
            Err(seen) if is_object && seen == text.len() => return Vec::new(),
            Err(_) => {}
            Ok(end) => {
                // What is nested too deeply has no parts, either.
                done = end;
                found.extend(read(&text[start..end]));
            }
        }
    }
    found
}

fn read(text: &str) -> Option<Value> {
    tex_json::read(text.trim()).map(|json| json.value)
}
