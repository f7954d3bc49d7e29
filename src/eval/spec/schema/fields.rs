//! Keys that are read by hand, because they have several forms.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::eval::registry::LongSandbox;
use crate::eval::spec::TierKeys;

pub(in crate::eval) fn benchmark(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "$ref": "#/$defs/benchmark" })
}

pub(in crate::eval) fn agent(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "$ref": "#/$defs/agent" })
}

pub(in crate::eval) fn agents(generator: &mut SchemaGenerator) -> Schema {
    by_name(&agent(generator))
}

pub(in crate::eval) fn prompts(generator: &mut SchemaGenerator) -> Schema {
    by_name(&prompt(generator))
}

pub(in crate::eval) fn tiers(generator: &mut SchemaGenerator) -> Schema {
    by_name(&TierKeys::json_schema(generator))
}

/// One or more, by names that the user chooses.
fn by_name(one: &Schema) -> Schema {
    json_schema!({
        "type": "object",
        "minProperties": 1,
        // Of the ASCII punctuation only `-`, `_` and `.`, the last not in front.
        "propertyNames": { "pattern": r"^[^\s!-,./:-@\[-^`{-~][^\s!-,/:-@\[-^`{-~]*$" },
        "additionalProperties": one,
    })
}

pub(in crate::eval) fn optional_extract(_: &mut SchemaGenerator) -> Schema {
    or_null("extract")
}

pub(in crate::eval) fn optional_scorer(_: &mut SchemaGenerator) -> Schema {
    or_null("scorer")
}

pub(in crate::eval) fn scorers(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["array", "null"], "items": { "$ref": "#/$defs/scorer" } })
}

pub(in crate::eval) fn gates(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "$ref": "#/$defs/gate" }, "uniqueItems": true })
}

pub(in crate::eval) fn alerts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "$ref": "#/$defs/alert" }, "uniqueItems": true })
}

/// A key without a value counts as missing.
fn or_null(name: &str) -> Schema {
    json_schema!({ "anyOf": [{ "$ref": format!("#/$defs/{name}") }, { "type": "null" }] })
}

/// A slice value: what can be in the brackets of a gate.
pub(in crate::eval) fn scalar(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number", "boolean", "null"] })
}

pub(in crate::eval) fn scalars_by_name(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": scalar(generator) })
}

pub(in crate::eval) fn prompt(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [
        { "const": "official", "description": "The field's own instructions, word for word; for benchmarks that have some." },
        { "const": "concise", "description": "The answer only, no explanation." },
        { "const": "none", "description": "The question alone." },
        one_key("template", &json!({
            "type": "string",
            "pattern": r"\{prompt\}",
            "description": "A text with `{prompt}` in it, and `{id}` if wanted.",
            "examples": ["Answer briefly.\n\n{prompt}"],
        })),
    ] })
}

/// A map with only this key.
fn one_key(key: &str, value: &Value) -> Value {
    json!({ "type": "object", "properties": { key: value }, "required": [key], "additionalProperties": false })
}

pub(in crate::eval) fn cache(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [
        { "type": ["boolean", "null"] },
        one_key("path", &json!({
            "type": ["string", "number", "boolean"],
            "description": "The folder of answers, from the spec's folder; `.cache` in that of runs by default.",
        })),
    ] })
}

/// YAML 1.1 reads a bare `off` as false.
pub(in crate::eval) fn assert(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "default": "baseline", "anyOf": [
        { "const": "baseline", "description": "It became wrong since the baseline, as `flips` defines; without a baseline, gates or the verdict decide. The default." },
        { "const": "exact", "description": "Its answer or verdict differs from the snapshot at all." },
        { "const": "correct", "description": "It is wrong." },
        { "const": "off", "description": "Only a failing agent fails a sample." },
        { "type": "boolean", "description": "`true` is `baseline`, `false` is `off`." },
    ] })
}

pub(in crate::eval) fn sandbox(generator: &mut SchemaGenerator) -> Schema {
    let long = LongSandbox::json_schema(generator);
    json_schema!({ "anyOf": [
        { "const": "bwrap", "description": "An own file system, by bubblewrap; the network stays." },
        { "const": "landlock", "description": "Rules of the kernel on files, ports, signals and sockets; the network stays." },
        { "const": "auto", "description": "`bwrap` where it works, else `landlock`, else an error." },
        { "const": "auto?", "description": "`bwrap` where it works, else `landlock`, else no sandbox, with a notice." },
        long,
        { "type": "null" },
    ] })
}

pub(in crate::eval) fn network(_: &mut SchemaGenerator) -> Schema {
    let ports = json!({
        "type": "array",
        "minItems": 1,
        "items": { "type": "integer", "minimum": 1, "maximum": 65535 },
        "description": "Ports of this machine.",
    });
    json_schema!({ "default": "on", "anyOf": [
        { "const": "on", "description": "As without a sandbox; the default." },
        { "const": "off", "description": "None." },
        { "type": "boolean", "description": "`true` is `on`, `false` is `off`." },
        one_key("loopback", &ports),
    ] })
}
