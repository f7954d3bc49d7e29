//! Tables of keys, from a JSON schema.

use std::fmt::Write;

use serde_json::Value;

/// A row: the key with its parents, its type, its default and its description.
pub(super) struct KeyRow {
    pub(super) key: String,
    pub(super) kind: String,
    pub(super) default: String,
    pub(super) meaning: String,
}

/// The keys of a map, each followed by those of the maps inside it.
pub(super) fn rows(properties: &Value, around: &str) -> Vec<KeyRow> {
    let mut rows = Vec::new();
    for (name, schema) in properties.as_object().into_iter().flatten() {
        if schema.get("const").is_some() {
            continue;
        }
        let key = format!("{around}{name}");
        let default = match &schema["default"] {
            Value::Null => String::new(),
            Value::Array(list) if list.is_empty() => String::new(),
            Value::Object(map) if map.is_empty() => String::new(),
            Value::String(text) => format!("`{text}`"),
            value => format!("`{value}`"),
        };
        let meaning = schema["description"].as_str().unwrap_or_default();
        let mut meaning = meaning.replace("\n\n", " ");
        for choice in choices(schema) {
            if let (Some(word), Some(text)) =
                (choice["const"].as_str(), choice["description"].as_str())
            {
                let _ = write!(meaning, "<br>`{word}`: {text}");
            }
        }
        rows.push(KeyRow {
            kind: kind(schema),
            default,
            meaning,
            key: key.clone(),
        });
        rows.extend(self::rows(&schema["properties"], &format!("{key}.")));
        let inner = &schema["items"]["properties"];
        rows.extend(self::rows(inner, &format!("{key}[].")));
        for choice in choices(schema) {
            rows.extend(self::rows(&choice["properties"], &format!("{key}.")));
        }
    }
    rows
}

fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    let of = |key: &str| schema[key].as_array().into_iter().flatten();
    of("anyOf").chain(of("oneOf"))
}

/// Describes the type of a value.
pub(super) fn kind(schema: &Value) -> String {
    let mut kinds: Vec<String> = Vec::new();
    let mut add = |kind: String| {
        if !kind.is_empty() && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    };
    if let Some(target) = schema["$ref"].as_str() {
        add(link(target));
    }
    if let Some(word) = schema["const"].as_str() {
        add(format!("`{word}`"));
    }
    let words = schema["enum"].as_array().into_iter().flatten();
    words
        .filter_map(Value::as_str)
        .for_each(|word| add(format!("`{word}`")));
    for choice in choices(schema) {
        add(kind(choice));
    }
    if kinds.is_empty() {
        return plain(schema);
    }
    kinds.join(", ")
}

/// The page that explains a definition.
fn link(target: &str) -> String {
    match target.rsplit('/').next().unwrap_or_default() {
        "benchmark" => "[benchmark](benchmarks.md)".to_owned(),
        "agent" => "[agent](agents.md)".to_owned(),
        "scorer" => "[scorer](scorers.md)".to_owned(),
        "extract" => "[extraction](extraction.md)".to_owned(),
        "gate" => "[gate](gates.md)".to_owned(),
        other => other.to_owned(),
    }
}

fn plain(schema: &Value) -> String {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(only) => vec![only],
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        _ => return "any value".to_owned(),
    };
    let is_text = types.contains(&"string");
    let names = types.into_iter().filter_map(|name| match name {
        "string" => Some("text".to_owned()),
        // A string may be written without quotes.
        "number" | "boolean" if is_text => None,
        "number" => Some(format!("number{}", range(schema))),
        "integer" => Some(format!("whole number{}", range(schema))),
        "boolean" => Some("`true` or `false`".to_owned()),
        "array" if schema["items"].is_object() => {
            Some(format!("list of {}", kind(&schema["items"])))
        }
        "array" => Some("list".to_owned()),
        "object" => Some("map".to_owned()),
        _ => None,
    });
    names.collect::<Vec<_>>().join(" or ")
}

fn range(schema: &Value) -> String {
    match (
        &schema["minimum"],
        &schema["exclusiveMinimum"],
        &schema["maximum"],
    ) {
        (Value::Null, Value::Null, _) => String::new(),
        (Value::Null, above, _) => format!(" above {above}"),
        (low, _, Value::Null) => format!(" from {low}"),
        (low, _, high) => format!(" from {low} to {high}"),
    }
}

/// A table in Markdown.
pub(super) fn markdown(titles: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let titles: Vec<String> = titles.iter().map(ToString::to_string).collect();
    let rule = format!("|{}\n", "---|".repeat(titles.len()));
    let rows = rows.iter().map(|row| {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        line(&cells)
    });
    line(&titles) + &rule + &rows.collect::<String>()
}
