//! The number of steps of an answer, and of the people who annotated its question.

use serde_json::{Map, Value};

use super::output::Output;

/// Metadata key of the number of steps that people needed.
const ANNOTATED: &str = "annotated_steps";

impl Output {
    /// Number of steps to the answer: as reported by the agent, or else the number of assistant messages with tool
    /// calls; `None` if neither is known.
    pub fn steps_taken(&self) -> Option<u64> {
        if self.steps.is_some() || self.messages.is_empty() {
            return self.steps;
        }
        let calls = self.messages.iter().filter(|message| calls_tools(message));
        u64::try_from(calls.count()).ok()
    }
}

fn calls_tools(message: &Value) -> bool {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let is_one = message.get("function_call").is_some_and(Value::is_object);
    let role = message.get("role").and_then(Value::as_str);
    role == Some("assistant") && (is_one || calls.is_some_and(|calls| !calls.is_empty()))
}

/// Number of steps that people needed, if the dataset has it: in `annotated_steps`, or in GAIA's format.
pub(crate) fn annotated_steps(metadata: &Map<String, Value>) -> Option<u64> {
    let of_gaia = || metadata.get("Annotator Metadata")?.get("Number of steps");
    let annotated = metadata.get(ANNOTATED).or_else(of_gaia)?;
    let of_text = || annotated.as_str()?.trim().parse().ok();
    annotated
        .as_u64()
        .or_else(of_text)
        .filter(|steps| *steps > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_are_reported_or_counted_from_tool_calls() {
        let check = |steps: Option<u64>, messages: Value, expect: Option<u64>| {
            let output = json!({"steps": steps, "messages": messages});
            let output: Output = serde_json::from_value(output).unwrap();
            assert_eq!(output.steps_taken(), expect, "{output:?}");
        };
        let call = json!({"role": "assistant", "tool_calls": [{"id": "1"}, {"id": "2"}]});
        let messages = json!([
            {"role": "user", "content": "?"},
            call,
            {"role": "tool", "tool_calls": [{}]},
            {"role": "assistant", "function_call": {"name": "f"}},
            {"role": "assistant", "content": "4", "tool_calls": []},
            "no message",
        ]);
        check(None, messages.clone(), Some(2));
        check(Some(7), messages, Some(7));
        check(None, json!([{"role": "user"}]), Some(0));
        check(None, json!([]), None);
        check(Some(0), json!([]), Some(0));
    }

    #[test]
    fn people_took_at_least_one() {
        let check = |metadata: Value, expect: Option<u64>| {
            let Value::Object(metadata) = metadata else {
                panic!("{metadata}");
            };
            assert_eq!(annotated_steps(&metadata), expect, "{metadata:?}");
        };
        let of_gaia = |steps: Value| json!({"Annotator Metadata": {"Number of steps": steps}});
        check(of_gaia(json!("5")), Some(5));
        check(of_gaia(json!(" 12 ")), Some(12));
        check(of_gaia(json!(3)), Some(3));
        check(of_gaia(json!("some")), None);
        check(of_gaia(json!(0)), None);
        check(json!({"annotated_steps": 4}), Some(4));
        check(json!({}), None);
    }
}
