//! Scorers: a name, or a map with a `type` and the options of its kind.

use serde_json::{Map, Value, json};

use super::{items, judges, pairwise};
use crate::eval::registry::scorers::entries;
use crate::scorer::Entry;

pub(super) fn scorer(own: &[String]) -> Value {
    let own_name = |name: &String| json!({ "const": name });
    let own_map = |name: &String| {
        json!({
            "title": name,
            "type": "object",
            "properties": { "type": { "const": name }, "name": name_schema(), "on": on_schema() },
            "required": ["type"],
        })
    };
    let names = entries()
        .iter()
        .filter(|entry| needed(entry.name).is_empty());
    let names = names.map(|entry| json!({ "const": entry.name, "description": entry.summary }));
    let maps = entries().iter().map(|entry| map(entry));
    let all = names
        .chain(own.iter().map(own_name))
        .chain(maps)
        .chain(own.iter().map(own_map));
    json!({ "anyOf": all.collect::<Vec<_>>() })
}

pub(super) fn map(entry: &Entry) -> Value {
    let kind = json!({ "const": entry.name, "description": entry.summary });
    let general = [
        ("type".to_owned(), kind),
        ("name".to_owned(), name_schema()),
        ("on".to_owned(), on_schema()),
    ];
    let mut properties = Map::from_iter(general);
    for (key, meaning) in entry.options {
        let mut schema = form(entry.name, key);
        schema["description"] = (*meaning).into();
        let needed = needed(entry.name);
        if needed.contains(key) {
            properties.insert((*key).to_owned(), schema);
            continue;
        }
        // `null` is an option that is not given.
        let schema = match schema.get("type") {
            Some(only) if schema.get("enum").is_none() => {
                schema["type"] = json!([only, "null"]);
                schema
            }
            _ => json!({ "description": meaning, "anyOf": [schema, { "type": "null" }] }),
        };
        properties.insert((*key).to_owned(), schema);
    }
    let required = std::iter::once("type").chain(needed(entry.name).iter().copied());
    json!({
        "title": entry.name,
        "description": entry.summary,
        "type": "object",
        "properties": properties,
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

/// Every scorer can be renamed, so that one kind can be in a list twice.
fn on_schema() -> Value {
    json!({
        "description": "which part of a conversation it judges: `last` answer (by default), `each_turn`, `transcript`, or one turn",
        "anyOf": [
            { "enum": ["last", "each_turn", "transcript"] },
            { "type": "string", "pattern": "^turn: *[1-9][0-9]*$" },
            {
                "type": "object",
                "properties": { "turn": { "type": "integer", "minimum": 1, "description": "the number of the turn, from 1" } },
                "required": ["turn"],
                "additionalProperties": false,
            },
        ],
    })
}

fn name_schema() -> Value {
    json!({ "type": "string", "minLength": 1, "description": "another name, so that a list can have two scorers of one type" })
}

/// Required options.
fn needed(scorer: &str) -> &'static [&'static str] {
    match scorer {
        "all" | "any" | "weighted" => &["scorers"],
        "not" => &["scorer"],
        "command" => &["command"],
        "item" => &["fields"],
        "judge" | "solver" => &["agent"],
        "jury" => &["judges"],
        "pairwise" => &["agent", "against"],
        "semantic" => &["base_url", "model"],
        _ => &[],
    }
}

/// The schema of an option. The readers are code; a test tries every option with values of every shape.
fn form(scorer: &str, option: &str) -> Value {
    let number = |low: f64, high: f64| json!({ "type": "number", "minimum": low, "maximum": high });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let names = || json!({ "anyOf": [texts(), { "type": "string" }] });
    let of_judges = match scorer {
        "item" => items::form(option),
        "judge" => judges::form(option),
        "jury" => judges::of_jury(option),
        "pairwise" => pairwise::form(option),
        "solver" => judges::of_solver(option),
        _ => None,
    };
    if let Some(form) = of_judges {
        return form;
    }
    match (scorer, option) {
        ("semantic", "base_url" | "model") | ("list", "separator") => {
            json!({ "type": "string", "minLength": 1 })
        }
        (_, "scorer" | "default") => json!({ "$ref": "#/$defs/scorer" }),
        (_, "scorers") => {
            json!({ "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/scorer" } })
        }
        ("weighted", "weights") => {
            json!({ "type": "array", "minItems": 1, "items": { "type": "number", "minimum": 0 } })
        }
        (_, "threshold" | "min_efficiency") => number(0.0, 1.0),
        (_, "abs_tol" | "rel_tol") => json!({ "type": "number", "minimum": 0 }),
        (_, "timeout_s") => number(0.001, 86_400.0),
        ("command", "processes") => json!({ "type": "integer", "minimum": 1, "maximum": 256 }),
        ("fuzzy", "max_chars") => json!({ "type": "integer", "minimum": 1, "maximum": 20_000 }),
        ("semantic", "retries") => json!({ "type": "integer", "minimum": 0, "maximum": 10 }),
        ("trajectory", "minimal_calls") => json!({ "type": "integer", "minimum": 0 }),
        ("choice", "index_base") => json!({ "type": "integer", "minimum": 0, "maximum": 1 }),
        ("choice", "letters") => json!({ "type": "string", "pattern": "^[A-Z]+$" }),
        ("command", "command") => {
            json!({ "type": "array", "minItems": 1, "items": { "type": "string" } })
        }
        ("command", "env" | "plain_env") | ("json", "ignore_keys") => texts(),
        ("trajectory", "order" | "required" | "forbidden") => names(),
        ("trajectory", "after") => json!({ "type": "object", "additionalProperties": names() }),
        ("exact", "labels") => json!({ "anyOf": [
            { "type": "array", "minItems": 1, "items": { "type": "string" } },
            { "type": "boolean" },
        ] }),
        (_, "unicode") => json!({ "type": "string", "enum": ["nfc", "nfkc", "none"] }),
        ("numeric", "percent") => json!({ "type": "string", "enum": ["ignore", "scale"] }),
        ("numeric", "units") => json!({ "type": "string", "enum": ["refuse", "ignore"] }),
        ("numeric", "decimal") => json!({ "type": "string", "enum": ["point", "comma"] }),
        ("bfcl", "return_format") => json!({ "type": "string", "enum": [
            "python", "java", "javascript", "json", "verbose_xml", "concise_xml",
        ] }),
        ("ast_match", "types") => {
            json!({ "type": "string", "enum": ["strict", "numeric", "lenient"] })
        }
        ("recorded", "of") => json!({ "type": "string" }),
        ("recorded", "correct_at") => json!({ "type": "number" }),
        ("ast_match", "found") => json!({ "type": "string", "enum": ["exact", "all"] }),
        (
            _,
            "pattern" | "key" | "choices" | "base_url" | "model" | "api_key_env" | "cache"
            | "python",
        ) => {
            json!({ "type": "string" })
        }
        // The rest are switches.
        _ => json!({ "type": "boolean" }),
    }
}
