//! A trace from a trajectory in the Agent Trajectory Interchange Format, versions 1.0 to 1.8.

use serde_json::{Map, Value, json};

use super::message::{messages, tool_call, tool_reply};
use super::span::number;
use super::spans::usage_of;
use super::trace::{Trace, nanoseconds};

/// The id of a trajectory: several of one session, such as continued ones, have ids of their own.
pub(super) fn trace_id(row: &Map<String, Value>) -> Option<String> {
    let is_one = row.get("steps").is_some_and(Value::is_array);
    let ids = ["trajectory_id", "session_id"];
    let id = ids
        .iter()
        .find_map(|key| row.get(*key)?.as_str().filter(|id| !id.is_empty()));
    id.filter(|_| is_one).map(str::to_owned)
}

/// Why a version cannot be read.
pub(super) fn fault(row: &Map<String, Value>) -> Option<String> {
    let version = row
        .get("schema_version")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let minor = version
        .strip_prefix("ATIF-v1.")
        .and_then(|minor| minor.parse::<u32>().ok());
    match minor {
        Some(_) => None,
        None if version.is_empty() => {
            Some("it has no `schema_version`, such as `ATIF-v1.8`".to_owned())
        }
        None => Some(format!(
            "`schema_version` is `{}`, but only versions 1.0 to 1.8 can be read",
            version.escape_debug()
        )),
    }
}

/// The trajectory of a session that goes on in other files: steps that were copied from the file before are there
/// already. The same file twice is one.
pub(super) fn joined(rows: impl Iterator<Item = Map<String, Value>>) -> Option<Map<String, Value>> {
    let mut found: Vec<Map<String, Value>> = Vec::new();
    for row in rows {
        if !found.contains(&row) {
            found.push(row);
        }
    }
    let mut rows = found.into_iter();
    let mut whole = rows.next()?;
    for mut row in rows {
        let (Some(Value::Array(steps)), Some(Value::Array(more))) =
            (whole.get_mut("steps"), row.shift_remove("steps"))
        else {
            continue;
        };
        steps.extend(more.into_iter().filter(|step| !is_copied(step)));
        // Its figures are of a part.
        whole.shift_remove("final_metrics");
    }
    Some(whole)
}

fn is_copied(step: &Value) -> bool {
    step.get("is_copied_context") == Some(&Value::Bool(true))
}

pub(super) fn trace(id: String, row: &Map<String, Value>) -> Trace {
    let mut trace = Trace {
        id,
        ..Trace::default()
    };
    let steps: Vec<&Value> = row
        .get("steps")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .collect();
    for step in &steps {
        say(&mut trace.messages, step);
    }
    let times = steps
        .iter()
        .map(|step| nanoseconds(step.get("timestamp")))
        .filter(|time| *time > 0);
    trace.times = [
        times.clone().min().unwrap_or_default(),
        times.max().unwrap_or_default(),
    ];
    let agent = row.get("agent");
    let of_agent = |key: &str| {
        agent
            .and_then(|agent| agent.get(key))
            .filter(|value| !value.is_null())
    };
    let of_step = || {
        steps
            .iter()
            .rev()
            .find_map(|step| step.get("model_name").filter(|name| !name.is_null()))
    };
    let found = [
        ("model", of_step().or_else(|| of_agent("model_name"))),
        ("session", row.get("session_id")),
        ("agent", of_agent("name")),
        ("agent_version", of_agent("version")),
    ];
    for (name, value) in found {
        if let Some(value) = value {
            trace.metadata.insert(name.to_owned(), value.clone());
        }
    }
    for extra in [row.get("extra"), of_agent("extra")].into_iter().flatten() {
        let extra = extra.as_object().cloned().unwrap_or_default();
        if let Some(tags) = extra.get("tags") {
            trace.metadata.insert("tags".to_owned(), tags.clone());
        }
        trace.attributes.extend(extra);
    }
    // A step that was copied from another trajectory was counted there.
    let has_copied = steps.iter().any(|step| is_copied(step));
    let total = |name: &str| {
        row.get("final_metrics")
            .and_then(|metrics| metrics.get(name))
            .and_then(number)
    };
    let sum = |name: &str| {
        let own = steps.iter().filter(|step| !is_copied(step));
        let numbers: Vec<f64> = own
            .filter_map(|step| number(step.get("metrics")?.get(name)?))
            .collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum())
    };
    let of = |name: &str, whole: &str| match sum(name) {
        Some(sum) if has_copied => Some(sum),
        sum => total(whole).or(sum),
    };
    trace.answer.usage = usage_of([
        of("prompt_tokens", "total_prompt_tokens"),
        of("completion_tokens", "total_completion_tokens"),
        of("cached_tokens", "total_cached_tokens"),
        of("cost_usd", "total_cost_usd"),
    ]);
    if let Some(inside) = row
        .get("subagent_trajectories")
        .filter(|inside| !inside.is_null())
    {
        trace
            .answer
            .more
            .insert("subagent_trajectories".to_owned(), inside.clone());
    }
    trace
}

/// The messages of a step: what was said, and what tools replied. Of a copied one nothing is called again.
fn say(transcript: &mut Vec<Value>, step: &Value) {
    let role = match step.get("source").and_then(Value::as_str) {
        Some("agent") => "assistant",
        Some("system") => "system",
        _ => "user",
    };
    let is_copied = is_copied(step);
    let calls = step
        .get("tool_calls")
        .and_then(Value::as_array)
        .filter(|_| !is_copied);
    let calls: Vec<Value> = calls.into_iter().flatten().map(tool_call).collect();
    let mut message = json!({ "role": role, "content": step.get("message") });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    transcript.extend(messages(&message, role));
    let results = step
        .pointer("/observation/results")
        .and_then(Value::as_array)
        .filter(|_| !is_copied);
    for result in results.into_iter().flatten() {
        let id = result.get("source_call_id").filter(|id| !id.is_null());
        match (
            id,
            result.get("content").filter(|content| !content.is_null()),
        ) {
            (Some(id), content) => transcript.push(tool_reply(Some(id), content)),
            // An action that is no call of a tool.
            (None, Some(content)) => transcript.push(tool_reply(None, Some(content))),
            (None, None) => {}
        }
    }
}
