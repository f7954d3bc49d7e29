//! `json_pointer`: a member of the JSON in an answer.

use serde_json::Value;

use crate::text::tex_json::{self, Extents};

/// The member at the pointer: a string unchanged, anything else as JSON, `null` as `None`.
pub(super) fn member(raw: &str, pointer: &str) -> Option<String> {
    let value = find(raw)?;
    match value.pointer(pointer)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The JSON of an answer: the whole text, the last fenced block that is JSON, or what starts at the first brace or
/// bracket. Nothing else is tried, so that the time stays linear. Unescaped backslashes of TeX are repaired, see
/// [`tex_json`].
pub(crate) fn find(raw: &str) -> Option<Value> {
    if let Some(value) = read(raw) {
        return Some(value);
    }
    let parts: Vec<&str> = raw.split("```").collect();
    let mut blocks = parts.iter().skip(1).step_by(2).rev();
    let fenced = blocks.find_map(|block| {
        // The first line names the language.
        let block = block
            .split_once('\n')
            .map_or(*block, |(_, content)| content);
        read(block)
    });
    fenced.or_else(|| {
        let found = &raw[raw.find(['{', '['])?..];
        let end = Extents::of(found).end(0).ok()?;
        read(&found[..end])
    })
}

fn read(text: &str) -> Option<Value> {
    tex_json::read(text.trim()).map(|json| json.value)
}
