//! The tools as clients see them, and their arguments, which may be no others.

use evaltest::engine::text::nearest;
use serde_json::{Map, Value, json};

/// An error for the model, with what to do instead.
pub(super) type Wrong = String;

/// The tools as clients list them.
pub(super) fn tools(max_samples: u64) -> Vec<Value> {
    let run = json!({"type": "string", "description": "A run: its directory, a part of its name, or an eval's name (its last run)"});
    let tool = |name: &str, about: &str, required: &[&str], properties: Value, changes: bool| {
        json!({
            "name": name,
            "description": about,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": {"readOnlyHint": !changes, "openWorldHint": changes},
        })
    };
    let samples = format!("Number of samples to run; at most {max_samples}, epochs included");
    vec![
        tool(
            "list_evals",
            "The evals of this project: name, benchmark, number of samples, gates.",
            &[],
            json!({}),
            false,
        ),
        tool(
            "run_eval",
            "Calls the agent of an eval, scores the answers and checks the gates. May take minutes and cost money. \
             Returns `run`, the run directory, and `exit_code`: 0 all gates passed, 1 a gate failed, 3 inconclusive or an outage.",
            &["eval", "limit"],
            json!({
                "eval": {"type": "string", "description": "The name of an eval, or the path of its spec"},
                "limit": {"type": "integer", "minimum": 1, "description": samples},
                "epochs": {"type": "integer", "minimum": 1, "description": "Number of answers to each sample; \
                 default: as in the spec"},
                "agent_option": {"type": "object", "description": "Options for the agent, such as {\"temperature\": 0}"},
            }),
            true,
        ),
        tool(
            "summary",
            "The summary of a run: accuracy with its interval, slices, gates, usage, what changed.",
            &["run"],
            json!({"run": run}),
            false,
        ),
        tool(
            "show",
            "One sample of a run: prompt, answer with tool calls, verdict, error. Without `id`: the failures, in \
             groups with ids.",
            &["run"],
            json!({"run": run, "id": {"type": "string", "description": "The sample's id"}}),
            false,
        ),
        tool(
            "score",
            "Scores answers without calling an agent. Each line has `prediction` and `ground_truth`.",
            &["scorer", "lines"],
            json!({
                "scorer": {"type": "string", "description": "The name of a built-in scorer, such as `exact`, `numeric`, `gaia` or `token_f1`"},
                "lines": {"type": "array", "description": "Objects with `prediction` and `ground_truth`"},
            }),
            false,
        ),
        tool(
            "compare",
            "Two runs of an eval: the difference in accuracy (B − A) with its interval and p, and which samples flipped.",
            &["a", "b"],
            json!({"a": run, "b": run}),
            false,
        ),
    ]
}

/// An argument that names something, and is no option of a command.
pub(super) fn named<'a>(
    arguments: &'a Map<String, Value>,
    key: &str,
) -> std::result::Result<&'a str, Wrong> {
    let name = arguments
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default();
    if name.is_empty() || name.starts_with('-') {
        return Err(format!("`{key}` is not a name: `{name}`"));
    }
    Ok(name)
}

/// A whole number, also one written as `3.0`, which is an integer to a schema.
pub(super) fn integer(value: &Value) -> Option<u64> {
    let whole = || {
        let text = value.as_f64()?.to_string();
        text.parse().ok()
    };
    value.as_u64().or_else(whole)
}

/// Checks arguments by the schema of a tool.
pub(super) fn check(
    schema: &Value,
    arguments: &Map<String, Value>,
) -> std::result::Result<(), Wrong> {
    let properties = schema["properties"].as_object();
    let known: Vec<&str> = properties
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect();
    let legal = || match known.as_slice() {
        [] => "it takes none".to_owned(),
        known => format!("it takes `{}`", known.join("`, `")),
    };
    for (key, value) in arguments {
        let Some(property) = properties.and_then(|properties| properties.get(key)) else {
            let near = nearest(key, known.iter().copied());
            let hint = near.map_or_else(legal, |near| format!("did you mean `{near}`?"));
            return Err(format!("unknown argument `{key}`; hint: {hint}"));
        };
        let is_right = match property["type"].as_str() {
            Some("string") => value.is_string(),
            Some("integer") => integer(value) >= property["minimum"].as_u64(),
            Some("array") => value.is_array(),
            _ => value.is_object(),
        };
        if !is_right {
            let wanted = property["type"].as_str().unwrap_or_default();
            let about = property["description"].as_str().unwrap_or_default();
            return Err(format!(
                "`{key}` must be of type {wanted}: `{value}`; hint: {about}"
            ));
        }
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    match required.find(|key| !arguments.contains_key(*key)) {
        None => Ok(()),
        Some(missing) => Err(format!("`{missing}` is missing; hint: {}", legal())),
    }
}
