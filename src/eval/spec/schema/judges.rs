//! The options of the scorer `judge`.

use serde_json::{Value, json};

use super::scorers::map;
use crate::scorer::ask::judge::ENTRY as JUDGE;
use crate::scorer::ask::solver::ENTRY as SOLVER;

/// The schema of an option of a judge; `None` for those that other scorers have, too.
pub(super) fn form(option: &str) -> Option<Value> {
    Some(match option {
        "agent" => json!({ "$ref": "#/$defs/agent" }),
        "rubric" => json!({ "anyOf": [
            { "enum": ["aime", "qa", "code", "creative_writing", "technical_docs"] },
            { "type": "string", "pattern": "\\S", "description": "a YAML file, from the folder of the spec" },
            rubric(),
        ] }),
        "choices" => choices(),
        "pass" | "excellent" => json!({ "type": "number" }),
        "sees" => {
            let name = json!({ "type": "string", "pattern": "\\S" });
            json!({ "type": "array", "minItems": 1, "uniqueItems": true, "items": name })
        }
        "calibration" => json!({ "type": "string", "pattern": "\\S" }),
        "repeats" => json!({ "type": "integer", "minimum": 1, "maximum": 100 }),
        "retries" => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
        "requests_per_minute" | "tokens_per_minute" => {
            json!({ "type": "number", "minimum": 0.001 })
        }
        _ => return None,
    })
}

/// The schema of an option of a jury.
pub(super) fn of_jury(option: &str) -> Option<Value> {
    Some(match option {
        "judges" => {
            let mut judge = map(&JUDGE);
            // In a list of judges the type is optional.
            judge["required"] = json!(["agent"]);
            // The calibration is of the jury's common verdict, which is on one part of a conversation.
            if let Some(options) = judge["properties"].as_object_mut() {
                options.remove("calibration");
                options.remove("on");
            }
            json!({ "type": "array", "minItems": 1, "items": judge })
        }
        "aggregate" => json!({ "type": "string", "enum": [
            "median", "mean", "trimmed_mean", "majority", "weighted",
        ] }),
        "min_judges" => json!({ "type": "integer", "minimum": 1 }),
        "calibration" => form(option)?,
        "labels" | "weights_from" => json!({ "type": "string", "minLength": 1 }),
        "weights" => json!({
            "type": "object",
            "additionalProperties": { "type": "number", "minimum": 0, "maximum": 1e9 },
        }),
        _ => return None,
    })
}

/// The schema of an option of a solver.
pub(super) fn of_solver(option: &str) -> Option<Value> {
    Some(match option {
        "votes" => json!({ "type": "integer", "minimum": 1, "maximum": 99 }),
        "shows" => json!({ "type": "array", "minItems": 1, "items": text("a field") }),
        "answer" => text("a field"),
        other => form(other)?,
    })
}

/// A solver inside the benchmark `generate`, which defines what a disagreement means.
pub(super) fn solver_of_items() -> Value {
    let mut solver = map(&SOLVER);
    solver["required"] = json!(["agent"]);
    if let Some(options) = solver["properties"].as_object_mut() {
        options.remove("type");
        options.remove("name");
        options.remove("on");
    }
    solver["properties"]["on_disagreement"] = json!({
        "enum": ["refuse", "note", null],
        "description": "what to do if most votes give another answer, or none; `refuse` by default",
    });
    json!({ "anyOf": [solver, { "type": "null" }] })
}

fn rubric() -> Value {
    let graded = json!({
        "type": "object",
        "properties": {
            "score": { "type": "integer", "description": "the points that it gets" },
            "answer": text("what gets them"),
            "reason": text("why"),
        },
        "required": ["score"],
        "anyOf": [{ "required": ["answer"] }, { "required": ["reason"] }],
        "additionalProperties": false,
    });
    let dimension = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 1, "description": "what is graded, as details and gates name it" },
            "description": text("what earns points"),
            "weight": {
                "type": "number", "exclusiveMinimum": 0,
                "description": "its weight relative to the others; 1 by default",
            },
            "scale": {
                "type": "array", "minItems": 2, "maxItems": 2, "items": { "type": "integer" },
                "description": "the lowest and the highest points; `[1, 5]` by default",
            },
            "examples": {
                "type": "array", "items": { "anyOf": [{ "type": "string", "pattern": "\\S" }, graded] },
                "description": "which answers get how many points",
            },
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    let mut choices = choices();
    choices["description"] = "verdicts with their values, instead of dimensions".into();
    json!({
        "type": "object",
        "properties": {
            "instructions": text("the first instructions to the judge"),
            "dimensions": {
                "type": "array", "minItems": 1, "items": dimension,
                "description": "what is graded with points",
            },
            "choices": choices,
            "pass": { "type": "number", "description": "the total, or the value, that is correct" },
            "excellent": { "type": "number", "description": "the total that is excellent" },
        },
        "additionalProperties": false,
    })
}

/// Names with their values.
fn choices() -> Value {
    let value = json!({ "type": "number", "minimum": 0, "maximum": 1 });
    let mut value_schema = value.clone();
    value_schema["description"] = "the value of the verdict".into();
    let described = json!({
        "type": "object",
        "properties": { "value": value_schema, "description": text("what the verdict means") },
        "required": ["value"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "minProperties": 2,
        "additionalProperties": { "anyOf": [value, described] },
    })
}

/// A non-empty text.
fn text(description: &str) -> Value {
    json!({ "type": "string", "pattern": "\\S", "description": description })
}
