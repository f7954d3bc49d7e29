//! The options of the scorer `pairwise`.

use serde_json::{Value, json};

use super::judges;

/// The schema of one of its options; `None` for those that other scorers have, too.
pub(super) fn form(option: &str) -> Option<Value> {
    Some(match option {
        "criteria" => json!({ "type": "string", "pattern": "\\S" }),
        "against" => json!({ "anyOf": [
            against("run", &json!({ "type": "string", "minLength": 1, "description": "a run directory" }), false),
            against("path", &json!({ "type": "string", "minLength": 1, "description": "a file of answers" }), false),
            against("benchmark", &json!({ "$ref": "#/$defs/benchmark", "description": "samples with texts to compare with" }), true),
        ] }),
        "pairs" => json!({ "type": "integer", "minimum": 1 }),
        "seed" => json!({ "type": "integer", "minimum": 0 }),
        "sees" => {
            let mut sees = judges::form(option)?;
            sees["items"]["not"] = json!({ "const": "prediction" });
            sees
        }
        other => return judges::form(other),
    })
}

fn against(key: &str, value: &Value, has_text: bool) -> Value {
    let mut properties = json!({ key: value });
    if has_text {
        properties["text"] = json!({
            "type": "string", "minLength": 1,
            "description": "`ground_truth`, `prompt` or a field: the text to compare with",
        });
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": [key],
        "additionalProperties": false,
    })
}
