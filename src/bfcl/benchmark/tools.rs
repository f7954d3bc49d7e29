//! The functions of an entry as JSON-schema tools for agents with native calls, equal to those of the official package
//! for `OpenAI`'s interface.

use serde_json::{Map, Value, json};

use crate::calls::{JsonValue as _, Value as Python};

/// Tool definitions: `{"type": "function", "function": {name, description, parameters}}`. Dots in names become `_`,
/// because those interfaces do not allow dots.
pub(super) fn of(functions: &Value, category: &str) -> Vec<Value> {
    let Value::Array(functions) = with_hints(functions, category) else {
        return Vec::new();
    };
    functions.into_iter().map(tool).collect()
}

/// The definition of one function.
pub(crate) fn tool(mut function: Value) -> Value {
    if let Some(name) = function.get("name").and_then(Value::as_str) {
        function["name"] = name.replace('.', "_").into();
    }
    if let Some(parameters) = function
        .get_mut("parameters")
        .and_then(Value::as_object_mut)
    {
        parameters.insert("type".to_owned(), "object".into());
        if let Some(Value::Object(properties)) = parameters.get_mut("properties") {
            cast_all(properties);
        }
    }
    json!({"type": "function", "function": function})
}

/// Converts the data's types to JSON schema at any depth. Descriptions mark floats, which the types do not
/// distinguish.
fn cast_all(properties: &mut Map<String, Value>) {
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        if property.get("type").and_then(Value::as_str) == Some("float") {
            property.insert("format".to_owned(), "float".into());
            append(property, " This is a float type value.");
        }
        cast(property);
    }
}

/// Converts the type of a property, or of list items, which have no description.
fn cast(schema: &mut Map<String, Value>) {
    let kind = schema.get("type").and_then(Value::as_str);
    let kind = schema_type(kind.unwrap_or("any"));
    schema.insert("type".to_owned(), kind.into());
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        cast_all(properties);
    } else if let Some(Value::Object(items)) = schema.get_mut("items") {
        cast(items);
    }
}

fn schema_type(kind: &str) -> &'static str {
    match kind {
        "integer" | "byte" | "short" | "long" | "Bigint" => "integer",
        "number" | "float" | "double" => "number",
        "boolean" | "bool" => "boolean",
        "array" | "list" | "tuple" | "ArrayList" | "Array" | "Queue" | "Stack" => "array",
        "dict" | "object" | "HashMap" | "Hashtable" => "object",
        _ => "string",
    }
}

/// The documents shown to models: they name the language, and parameters of Java and JavaScript are strings.
pub(crate) fn with_hints(functions: &Value, category: &str) -> Value {
    let (language, hint) = if category.contains("javascript") {
        (Some("JavaScript"), "JavaScript")
    } else if category.contains("java") {
        (Some("Java"), "Java 8 SDK")
    } else {
        (None, "Python 3")
    };
    let mut functions = functions.clone();
    for function in functions.as_array_mut().into_iter().flatten() {
        let Some(function) = function.as_object_mut() else {
            continue;
        };
        append(
            function,
            &format!(" Note that the provided function is in {hint} syntax."),
        );
        let properties = function
            .get_mut("parameters")
            .and_then(|parameters| parameters.get_mut("properties"))
            .and_then(Value::as_object_mut);
        if let (Some(language), Some(properties)) = (language, properties) {
            for property in properties.values_mut().filter_map(Value::as_object_mut) {
                as_text(property, language);
            }
        }
    }
    functions
}

fn as_text(property: &mut Map<String, Value>, language: &str) {
    let kind = property.get("type").and_then(Value::as_str);
    let kind = kind.unwrap_or("any").to_owned();
    if kind == "any" {
        append(
            property,
            &format!(
                " This parameter can be of any type of {language} object in string representation."
            ),
        );
    } else {
        append(
            property,
            &format!(" This is {language} {kind} type parameter in string representation."),
        );
    }
    let is_list = match language {
        "Java" => kind == "ArrayList" || kind == "Array",
        _ => kind == "array",
    };
    if is_list && let Some(items) = property.shift_remove("items") {
        let item = items["type"].as_str().unwrap_or("any").to_owned();
        append(
            property,
            &format!(
                " The list elements are of type {item}; they are not in string representation."
            ),
        );
    }
    if language == "JavaScript"
        && kind == "dict"
        && let Some(properties) = property.shift_remove("properties")
    {
        let schema = Python::from_serde(&properties).to_json_text();
        append(
            property,
            &format!(
                " The dictionary entries have the following schema; they are not in string representation. {schema}"
            ),
        );
    }
    property.insert("type".to_owned(), "string".into());
}

/// Appends to a description.
fn append(document: &mut Map<String, Value>, text: &str) {
    let description = document.entry("description").or_insert_with(|| "".into());
    if let Value::String(description) = description {
        description.push_str(text);
    }
}
