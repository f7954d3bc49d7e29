//! `json_pointer`: a member of the JSON in an answer.

use serde_json::{Deserializer, Value};

/// The member that the pointer names: a text as it is, anything else as JSON, `null` as nothing.
pub(super) fn member(raw: &str, pointer: &str) -> Option<String> {
    let value = find(raw)?;
    match value.pointer(pointer)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The JSON of an answer: the whole of it, the last fenced block that is JSON, or what starts at the first
/// brace or bracket. No more than that is tried, so that the time stays linear.
pub(crate) fn find(raw: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(raw.trim()) {
        return Some(value);
    }
    let parts: Vec<&str> = raw.split("```").collect();
    let mut blocks = parts.iter().skip(1).step_by(2).rev();
    let fenced = blocks.find_map(|block| {
        // The first line names the language.
        let block = block
            .split_once('\n')
            .map_or(*block, |(_, content)| content);
        serde_json::from_str::<Value>(block.trim()).ok()
    });
    fenced.or_else(|| {
        let start = raw.find(['{', '['])?;
        let mut values = Deserializer::from_str(&raw[start..]).into_iter();
        values.next()?.ok()
    })
}
