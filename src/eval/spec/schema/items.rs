//! The schema of an item: its fields, topics and checks, which are read by hand.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::scorer::item::fields::TYPES;
use crate::scorer::item::ready::names;

pub(in crate::eval) fn ready(_: &mut SchemaGenerator) -> Schema {
    let names = names().map(Value::from).chain([Value::Null]);
    json_schema!({ "enum": names.collect::<Vec<_>>() })
}

/// The name of a field.
const NAME: &str = "^[A-Za-z_][A-Za-z0-9_]{0,63}$";

/// Names of items, which YAML may read as a number.
pub(in crate::eval) fn name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number", "boolean", "null"], "pattern": "^[A-Za-z0-9_-]{1,64}$" })
}

pub(in crate::eval) fn topics(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [
        { "type": "array", "minItems": 1, "items": { "type": ["string", "number"], "pattern": r"\S" } },
        { "type": "object", "minProperties": 1, "additionalProperties": { "type": "number", "exclusiveMinimum": 0 } },
        { "type": "null" },
    ] })
}

pub(in crate::eval) fn fields(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["array", "null"], "minItems": 1, "items": { "$ref": "#/$defs/field" } })
}

/// A field with its name.
pub(super) fn field() -> Value {
    let mut field = element();
    field["properties"]["name"] = json!({
        "type": "string",
        "pattern": NAME,
        "description": "the name of the member",
    });
    field["required"] = json!(["name", "type"]);
    field
}

/// The elements of a list, which have no name.
pub(super) fn element() -> Value {
    let text = |about: &str| json!({ "type": ["string", "null"], "description": about });
    let length =
        |about: &str| json!({ "type": ["integer", "null"], "minimum": 0, "description": about });
    json!({
        "type": "object",
        "properties": {
            "type": { "type": "string", "enum": TYPES, "description": "what it is" },
            "description": text("a description of the value, which agents see"),
            "required": { "type": ["boolean", "null"], "description": "whether an item must have it; true by default" },
            "range": { "type": ["array", "null"], "minItems": 2, "maxItems": 2, "items": { "type": "number" },
                "description": "the lowest and the highest of an integer or a number" },
            "choices": { "description": "the allowed choices, or `topics`", "anyOf": [
                { "const": "topics" },
                { "type": "array", "minItems": 1, "items": { "type": ["string", "number", "boolean"], "pattern": r"\S" } },
                { "type": "null" },
            ] },
            "min_length": length("the least characters of a text, or elements of a list"),
            "max_length": length("the most characters of a text, or elements of a list"),
            "items": { "description": "what the elements of a list are", "anyOf": [{ "$ref": "#/$defs/element" }, { "type": "null" }] },
            "fields": { "type": ["array", "null"], "items": { "$ref": "#/$defs/field" }, "description": "the members of an object" },
        },
        "required": ["type"],
        "additionalProperties": false,
    })
}

pub(in crate::eval) fn reference(_: &mut SchemaGenerator) -> Schema {
    let path = json!({ "type": "string", "pattern": r"\S" });
    json_schema!({ "anyOf": [path, { "type": "array", "minItems": 1, "items": path }, { "type": "null" }] })
}

pub(in crate::eval) fn solver(_: &mut SchemaGenerator) -> Schema {
    Schema::try_from(super::judges::solver_of_items()).unwrap_or_default()
}

pub(in crate::eval) fn checks(_: &mut SchemaGenerator) -> Schema {
    let mut checks = of_checks();
    checks["type"] = json!(["object", "null"]);
    Schema::try_from(checks).unwrap_or_default()
}

/// The schema of an option of the scorer `item`.
pub(super) fn form(option: &str) -> Option<Value> {
    Some(match option {
        "fields" => json!({ "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/field" } }),
        "topics" => json!({ "type": "array", "items": { "type": "string" } }),
        "checks" => of_checks(),
        _ => return None,
    })
}

/// The available checks depend on the fields.
pub(super) fn of_checks() -> Value {
    let field =
        |about: &str| json!({ "type": ["string", "null"], "pattern": NAME, "description": about });
    let mode = json!({
        "enum": ["refuse", "note", "off", false],
        "description": "what a failure of this check means",
    });
    let again = json!({
        "type": ["integer", "null"], "minimum": 0, "maximum": 100,
        "description": "how often a refused answer is requested again; 3 by default",
    });
    let near_copy = json!({
        "type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1,
        "description": "the share of a text that makes it a near copy; 0.5 by default",
    });
    json!({
        "type": "object",
        "properties": {
            "again": again,
            "near_copy": near_copy,
            "copy_of": field("the field whose text must not be a near copy; the first text by default"),
            "differs_in": field("the field that must differ from the reference"),
        },
        "patternProperties": {
            "^complete$|^topic_as_asked$|^no_copy_of_(?:reference|item)$": mode,
            "_in_(?:range|list|form)$|_ends_in_.|_differs_from_reference$": mode,
            "_ends_in$": field("the field with which this one must end"),
        },
        "additionalProperties": false,
    })
}
