//! Extraction: a name, a map with a `type`, or a map with the key that names it.

use serde_json::{Map, Value, json};

use crate::scorer::extract::{NAMES, PAGE, options};

pub(super) fn extract() -> Value {
    let names = NAMES.iter().filter(|name| !needs_key(name));
    let names = names.map(|name| json!({ "const": name, "description": meaning(name) }));
    let maps = NAMES.iter().map(|name| map(name, true));
    let short = NAMES.iter().filter(|name| needs_key(name));
    let short = short.map(|name| map(name, false));
    let all: Vec<Value> = names.chain(maps).chain(short).collect();
    json!({ "anyOf": all })
}

/// Whether it needs the key of its name.
fn needs_key(name: &str) -> bool {
    options(name).is_some_and(|keys| keys.contains(&name))
}

fn map(name: &str, has_type: bool) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if has_type {
        properties.insert(
            "type".into(),
            json!({ "const": name, "description": meaning(name) }),
        );
        required.push("type");
    }
    for key in options(name).unwrap_or_default() {
        properties.insert((*key).to_owned(), form(key));
    }
    if needs_key(name) {
        required.push(name);
    }
    properties.insert("strip_think".into(), form("strip_think"));
    json!({
        "title": name,
        "description": meaning(name),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn form(key: &str) -> Value {
    match key {
        "after" => {
            json!({ "type": "string", "minLength": 1, "description": "the marker, in quotes where it begins with `#`" })
        }
        "json_pointer" => {
            json!({ "type": "string", "pattern": "^/", "description": "where the answer is, such as `/answer`" })
        }
        "regex" => {
            json!({ "type": "string", "minLength": 1, "description": "the regular expression" })
        }
        "group" => {
            json!({ "type": "integer", "minimum": 0, "description": "which group of it is the prediction; the first where there is one, else the whole match" })
        }
        "letters" => {
            json!({ "type": "string", "pattern": "^[A-Z]+$", "description": "the letters there are; A to Z by default" })
        }
        "first" => {
            json!({ "type": ["boolean", "null"], "description": "what follows the first marker; else what follows `答案：`, `Final answer:` or `Answer:`; else the last line that is no heading; false by default" })
        }
        _ => {
            json!({ "type": ["boolean", "null"], "description": "what stands between `<think>` and `</think>` is left out first; false by default" })
        }
    }
}

/// The prediction, in one line.
fn meaning(name: &str) -> &'static str {
    let mut rows = PAGE.lines().filter_map(|row| row.strip_prefix("| `"));
    let row = rows.find_map(|row| {
        let (form, meaning) = row.split_once("` | ")?;
        let form = form.strip_prefix("{ ").unwrap_or(form);
        let rest = form.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with(':')).then(|| meaning.trim_end_matches('|').trim_end())
    });
    row.unwrap_or_default()
}
