//! The JSON schema of the file of items.

use serde_json::{Value, json};

/// The version of the file of items, counted up whenever a reader of an older version would be misled.
///
/// - 1: the first. An array of objects with `id`, `reference_id`, `model`, `generated_at` and the fields of the spec; those
///   of `aime` are `problem`, `answer`, `solution` and `topic`.
pub const GENERATED_FORMAT: u32 = 1;

/// The JSON schema of the file of items, draft 2020-12.
pub fn generated_schema() -> Value {
    let known = |kind: &str, about: &str| json!({ "type": [kind, "null"], "description": about });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Items that `cargo evaltest generate` made",
        "description": format!(
            "Version {GENERATED_FORMAT}. Besides the members of every item, each has the fields of its spec; those of `aime` \
             are described here."
        ),
        "type": "array",
        "items": {
            "type": "object",
            "required": ["id", "reference_id", "model", "generated_at"],
            "properties": {
                "id": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The id of the prompt that it answers; unique in the file.",
                },
                "problem": { "type": "string", "minLength": 1 },
                "answer": {
                    "description": "An integer from 0 to 999 for `aime`; else what the spec has.",
                },
                "solution": { "type": "string", "minLength": 1 },
                "topic": { "type": "string", "minLength": 1 },
                "reference_id": known("string", "The reference that was shown with the prompt."),
                "model": known("string", "The model that wrote it, as its endpoint says; else as the spec has it."),
                "generated_at": {
                    "type": ["string", "null"],
                    "format": "date-time",
                    "description": "When it was written, in UTC.",
                },
            },
        },
    })
}
