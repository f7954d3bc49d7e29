//! Function documents in prompts: as JSON, XML or Python, formatted like the official program.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use crate::calls::{JsonValue as _, Value};
use crate::text::py_repr_float;

/// The documents in a format of [`documents`](crate::bfcl::form::PromptForm::documents).
pub(super) fn write(functions: &Json, format: &str) -> String {
    let objects = || {
        let functions = functions.as_array().into_iter().flatten();
        functions.filter_map(Json::as_object)
    };
    match format {
        "xml" => objects().map(xml).collect::<Vec<_>>().join("\n"),
        "python" => {
            let documents = objects().flat_map(|function| [python(function), "\n".to_owned()]);
            documents.collect::<Vec<_>>().join("\n\n")
        }
        _ => python_dump(functions),
    }
}

/// As Python's `json.dumps(value, indent=4)` writes it: in ASCII.
pub(super) fn python_dump(value: &Json) -> String {
    let mut text = String::new();
    dump(value, 0, &mut text);
    let mut ascii = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\n' | ' '..='~') {
            ascii.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(ascii, "\\u{unit:04x}");
        }
    }
    ascii
}

fn dump(value: &Json, indent: usize, out: &mut String) {
    let line = |indent: usize| format!("\n{}", " ".repeat(indent));
    let inner = indent + 4;
    match value {
        Json::Array(items) if !items.is_empty() => {
            for (place, item) in items.iter().enumerate() {
                out.push(if place > 0 { ',' } else { '[' });
                out.push_str(&line(inner));
                dump(item, inner, out);
            }
            out.push_str(&line(indent));
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => {
            for (place, (key, member)) in members.iter().enumerate() {
                out.push(if place > 0 { ',' } else { '{' });
                let _ = write!(out, "{}{}: ", line(inner), Json::from(key.as_str()));
                dump(member, inner, out);
            }
            out.push_str(&line(indent));
            out.push('}');
        }
        // Python writes `1e-05`.
        Json::Number(number) if number.is_f64() => {
            out.push_str(&py_repr_float(number.as_f64().unwrap_or_default()));
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn xml(function: &Map<String, Json>) -> String {
    let mut out = format!(
        "<function name=\"{}\">\n  <desc>{}</desc>\n  <params>\n",
        text(function, "name", ""),
        text(function, "description", "")
    );
    for (name, schema) in properties(parameters(function)) {
        let required = parameters(function).and_then(|of| of.get("required"));
        xml_parameter(name, schema, required, 4, &mut out);
    }
    out.push_str("  </params>\n</function>\n");
    out
}

/// Nested parameters are indented by eight spaces, twice as much as the first level.
fn xml_parameter(
    name: &str,
    schema: &Map<String, Json>,
    required: Option<&Json>,
    indent: usize,
    out: &mut String,
) {
    let space = " ".repeat(indent);
    let mut kind = text(schema, "type", "string");
    let of = |key| schema.get(key).and_then(Json::as_object);
    if let Some(item) = of("items").filter(|items| items.contains_key("type")) {
        kind = format!("{kind}[{}]", text(item, "type", ""));
    } else if let Some(value) = of("additionalProperties") {
        kind = format!("{kind}[{}]", text(value, "type", "string"));
    }
    // Without a list all parameters are required.
    let is_required = required.and_then(Json::as_array).is_none_or(|required| {
        let mut required = required.iter();
        required.any(|known| known == name)
    });
    let mut attributes = format!("name=\"{name}\" type=\"{kind}\" required=\"{is_required}\"");
    if let Some(default) = schema.get("default") {
        let _ = write!(attributes, " default=\"{}\"", repr(default));
    }
    let attributes = attributes.replace(',', "");
    let description = description(schema);
    let _ = write!(
        out,
        "{space}<param {attributes}>\n{space}  <desc>{description}</desc>\n"
    );
    if schema.contains_key("properties") {
        let _ = writeln!(out, "{space}  <params>");
        for (name, inner) in properties(Some(schema)) {
            xml_parameter(name, inner, schema.get("required"), indent + 4, out);
        }
        let _ = writeln!(out, "{space}  </params>");
    }
    let _ = writeln!(out, "{space}</param>");
}

fn python(function: &Map<String, Json>) -> String {
    let mut out = format!(
        "# Function: {}\n    \"\"\"\n    {}\n\n",
        text(function, "name", ""),
        text(function, "description", "")
    );
    let mut properties = properties(parameters(function)).peekable();
    if properties.peek().is_some() {
        out.push_str("    Args:\n");
    }
    for (name, schema) in properties {
        python_parameter(name, schema, 8, &mut out);
    }
    out.push_str("    \"\"\"\n");
    out
}

fn python_parameter(name: &str, schema: &Map<String, Json>, indent: usize, out: &mut String) {
    let default = schema
        .get("default")
        .map_or_else(String::new, |value| format!(", default={}", repr(value)));
    let _ = writeln!(
        out,
        "{:indent$}{name} ({}{default}): {}",
        "",
        python_type(schema),
        description(schema)
    );
    for (name, inner) in properties(Some(schema)) {
        python_parameter(name, inner, indent + 4, out);
    }
}

fn python_type(schema: &Map<String, Json>) -> String {
    let of = |key: &str| schema.get(key).and_then(Json::as_object);
    let kind = text(schema, "type", "string");
    match &*kind {
        "string" => "str".to_owned(),
        "number" => "float".to_owned(),
        "integer" => "int".to_owned(),
        "boolean" => "bool".to_owned(),
        "array" | "list" | "tuple" => match of("items") {
            Some(items) => format!("list[{}]", python_type(items)),
            None => kind,
        },
        "object" | "dict" => match of("additionalProperties") {
            Some(values) => format!("dict[str, {}]", python_type(values)),
            None => "dict".to_owned(),
        },
        _ => kind,
    }
}

fn description(schema: &Map<String, Json>) -> String {
    let mut description = text(schema, "description", "");
    if let Some(values) = schema.get("enum") {
        let _ = write!(description, " Enum values: {}.", repr(values));
    }
    description
}

/// Python's `str(value)`.
fn text(object: &Map<String, Json>, key: &str, missing: &str) -> String {
    match object.get(key) {
        None => missing.to_owned(),
        Some(Json::String(text)) => text.clone(),
        Some(other) => repr(other),
    }
}

fn repr(value: &Json) -> String {
    // Fails only for integers with more digits than Python prints.
    Value::from_serde(value).repr().unwrap_or_default()
}

fn parameters(function: &Map<String, Json>) -> Option<&Map<String, Json>> {
    function.get("parameters").and_then(Json::as_object)
}

fn properties(
    schema: Option<&Map<String, Json>>,
) -> impl Iterator<Item = (&String, &Map<String, Json>)> {
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    let properties = properties.into_iter().flatten();
    properties.filter_map(|(name, schema)| Some((name, schema.as_object()?)))
}
