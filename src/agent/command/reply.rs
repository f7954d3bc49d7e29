//! Decodes the stdout of an agent.

use serde_json::{Map, Value};

use crate::agent::reply::marks::is_error;
use crate::agent::reply::{Json, Marks, ReportedFigures};
use crate::data::{AgentError, FailureKind, Finish, Output};
use crate::system::process::excerpt::beginning;

/// How many bytes of an unreadable reply are shown.
const EXCERPT_BYTES: usize = 200;
/// How many bytes of an agent's own error are shown.
const ERROR_BYTES: usize = 1000;

/// The form in which a program answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// Stdout is the answer, without one final line end.
    #[default]
    Text,
    /// One JSON object: `answer` and optionally `messages`, `tool_calls`, `usage`, `cost_usd`; or `error`.
    Json,
}

impl Reply {
    /// Decodes the stdout of a program that ended successfully.
    pub(in crate::agent) fn decode(self, stdout: &[u8]) -> Result<Output, AgentError> {
        let text = String::from_utf8_lossy(stdout);
        // An agent without an answer reports it in JSON; no output means a broken agent, not a wrong answer.
        if text.trim().is_empty() {
            let message = "exited successfully but printed nothing to stdout";
            return Err(AgentError::of(FailureKind::NoOutput, message));
        }
        match self {
            Self::Text => {
                let line = text.strip_suffix('\n').unwrap_or(&text);
                let line = line.strip_suffix('\r').unwrap_or(line);
                Ok(Output::text(line))
            }
            Self::Json => json(stdout),
        }
    }
}

fn json(stdout: &[u8]) -> Result<Output, AgentError> {
    let bad = |reason: String| {
        let begins = beginning(stdout.trim_ascii_start(), EXCERPT_BYTES);
        let message = format!("{reason}; stdout begins with `{begins}`");
        AgentError::of(FailureKind::BadOutput, message)
    };
    let json = Json::read(stdout)
        .map_err(|error| bad(format!("stdout is not one JSON object: {error}")))?;
    let answer = json.written_answer();
    let mut reply = match json.value {
        Value::Object(reply) => reply,
        other => {
            let kind = kind(&other);
            return Err(bad(format!(
                "stdout is {kind}, not a JSON object, at line 1 column 1"
            )));
        }
    };
    if let Some(answer) = answer {
        reply.insert("answer".to_owned(), answer.into());
    }
    object(reply, bad)
}

/// Decodes a reply in one JSON object; `bad` makes an error from a description of the fault.
pub(in crate::agent) fn object(
    mut reply: Map<String, Value>,
    bad: impl Fn(String) -> AgentError,
) -> Result<Output, AgentError> {
    let mut metadata = Map::new();
    let marks = Marks::of(&reply);
    if let Some(error) = own_error(&reply, &marks) {
        return Err(error);
    }
    marks.note(&mut metadata);
    let answer = reply.remove("answer");
    let text = match answer {
        None if !reply.contains_key("messages") && !reply.contains_key("tool_calls") => {
            return Err(bad("the reply has no key `answer`".to_owned()));
        }
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
        Some(value) => return Err(bad(expected("answer", "a string", &value))),
    };
    let figures = ReportedFigures::of(&reply);
    let messages = array(&mut reply, "messages").map_err(&bad)?;
    let tool_calls = array(&mut reply, "tool_calls").map_err(&bad)?;
    Ok(figures.output(text, messages, tool_calls, metadata))
}

/// The agent's own reason for not answering: its `error`, or a mark of an outage.
fn own_error(reply: &Map<String, Value>, marks: &Marks<'_>) -> Option<AgentError> {
    let error = reply.get("error").filter(|_| {
        let answer = reply.get("answer");
        answer.is_none_or(Value::is_null) || marks.finish == Finish::Outage
    });
    let text = |error: &Value| {
        let message = error.as_str().or_else(|| error.get("message")?.as_str());
        message.map(str::to_owned)
    };
    let written = |error: &Value| is_error(error).then(|| error.to_string());
    let own = error.and_then(|error| text(error).or_else(|| written(error)));
    let of_mark = || {
        let error = marks.outage()?.error();
        text(&error).or_else(|| written(&error))
    };
    let message = own.or_else(of_mark)?;
    Some(AgentError::new(match message.trim() {
        "" => "the agent replied with an empty `error`".to_owned(),
        message => beginning(message.as_bytes(), ERROR_BYTES),
    }))
}

fn array(reply: &mut Map<String, Value>, key: &str) -> Result<Vec<Value>, String> {
    match reply.remove(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => Ok(values),
        Some(value) => Err(expected(key, "an array", &value)),
    }
}

fn expected(key: &str, wanted: &str, value: &Value) -> String {
    format!("`{key}` of the reply is {}, not {wanted}", kind(value))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::Usage;

    #[track_caller]
    fn check(reply: Reply, stdout: &[u8], expected: Result<&str, (FailureKind, &str)>) {
        let read = reply.decode(stdout).map(|output| output.text);
        match (read, expected) {
            (Ok(text), Ok(expected)) => assert_eq!(text.as_deref(), Some(expected)),
            (Err(error), Err((kind, message))) => {
                assert_eq!((error.kind, error.message.as_str()), (kind, message));
            }
            (read, expected) => panic!("{read:?} instead of {expected:?}"),
        }
    }

    fn bad(message: &str) -> Result<&str, (FailureKind, &str)> {
        Err((FailureKind::BadOutput, message))
    }

    #[test]
    fn text_loses_one_line_ending() {
        check(Reply::Text, b"42", Ok("42"));
        check(Reply::Text, b" 42 \r\n", Ok(" 42 "));
        check(Reply::Text, b"a\nb\n\n", Ok("a\nb\n"));
        check(Reply::Text, b"\xff\x1b[31m", Ok("\u{FFFD}\x1b[31m"));
    }

    #[test]
    fn silence_is_a_failure() {
        let silence = Err((
            FailureKind::NoOutput,
            "exited successfully but printed nothing to stdout",
        ));
        check(Reply::Text, b"", silence);
        check(Reply::Text, b" \n\t\n", silence);
        check(Reply::Json, b"\n", silence);
    }

    #[test]
    fn json_answers() {
        check(Reply::Json, b"\n {\"answer\": \"a\\n\"}\n ", Ok("a\n"));
        check(Reply::Json, br#"{"answer": 0.5, "new": {}}"#, Ok("0.5"));
        check(Reply::Json, br#"{"answer": 1.10}"#, Ok("1.10"));
        check(Reply::Json, br#"{"answer": "4 \ud835"}"#, Ok("4 \u{fffd}"));
        check(Reply::Json, br#"{"answer": true}"#, Ok("true"));
        check(Reply::Json, br#"{"answer": "x", "error": "no"}"#, Ok("x"));
    }

    #[test]
    fn json_without_an_answer() {
        for reply in [
            r#"{"answer": null}"#,
            r#"{"tool_calls": []}"#,
            r#"{"messages": []}"#,
            r#"{"answer": null, "error": null}"#,
        ] {
            assert_eq!(Reply::Json.decode(reply.as_bytes()), Ok(Output::default()));
        }
        let failed = |message| Err((FailureKind::Failed, message));
        check(
            Reply::Json,
            br#"{"error": "no\u001b[0m model"}"#,
            failed("no\\u{1b}[0m model"),
        );
        check(
            Reply::Json,
            br#"{"answer": null, "error": ""}"#,
            failed("the agent replied with an empty `error`"),
        );
        check(
            Reply::Json,
            br#"{"error": {"message": "no model", "code": 5}}"#,
            failed("no model"),
        );
        check(
            Reply::Json,
            br#"{"answer": "", "error": {"code": 5}}"#,
            failed("{\"code\":5}"),
        );
        check(
            Reply::Json,
            br#"{"answer": "half", "finish_reason": "error"}"#,
            failed("its `/finish_reason` is \"error\""),
        );
        let truncated = Reply::Json.decode(br#"{"answer": "half", "finish_reason": "length"}"#);
        assert_eq!(
            truncated.map(|output| output.finish()),
            Ok(Finish::Truncated)
        );
    }

    #[test]
    fn json_keeps_extra_members() {
        let reply = json!({
            "answer": "4",
            "messages": [{"role": "user"}],
            "tool_calls": [{"name": "add"}],
            "usage": {"prompt_tokens": 7, "output_tokens": 2, "total": 9},
            "cost_usd": 0.25,
        });
        let output = Reply::Json.decode(reply.to_string().as_bytes());
        let usage = Usage {
            cached_tokens: None,
            input_tokens: Some(7),
            output_tokens: Some(2),
            cost_usd: Some(0.25),
        };
        let expected = Output {
            text: Some("4".into()),
            messages: vec![json!({"role": "user"})],
            tool_calls: vec![json!({"name": "add"})],
            usage: Some(usage),
            ..Output::default()
        };
        assert_eq!(output, Ok(expected));
        // The price may be next to the tokens, as in our own records; some languages have no integers.
        let reply = json!({"answer": "4", "usage": {"input_tokens": 1.0, "cost_usd": 0.5}});
        let output = Reply::Json
            .decode(reply.to_string().as_bytes())
            .map(|output| output.usage);
        let usage = Usage {
            cached_tokens: None,
            input_tokens: Some(1),
            output_tokens: None,
            cost_usd: Some(0.5),
        };
        assert_eq!(output, Ok(Some(usage)));
    }

    #[test]
    fn unreadable_reply_is_quoted() {
        check(
            Reply::Json,
            b"oops \x1b[2J\xff",
            bad(
                "stdout is not one JSON object: expected value at line 1 column 1; stdout begins with \
                 `oops \\u{1b}[2J\u{FFFD}`",
            ),
        );
        check(
            Reply::Json,
            b"{}\n{}",
            bad(
                "stdout is not one JSON object: trailing characters at line 2 column 1; stdout begins \
                 with `{}\\n{}`",
            ),
        );
        check(
            Reply::Json,
            b"[1]",
            bad(
                "stdout is an array, not a JSON object, at line 1 column 1; stdout begins with `[1]`",
            ),
        );
        check(
            Reply::Json,
            b"{}",
            bad("the reply has no key `answer`; stdout begins with `{}`"),
        );
        check(
            Reply::Json,
            br#"{"answer": []}"#,
            bad(
                "`answer` of the reply is an array, not a string; stdout begins with `{\"answer\": []}`",
            ),
        );
        for reply in [
            r#"{"answer": "", "messages": {}}"#,
            r#"{"answer": "", "tool_calls": 3}"#,
        ] {
            let error = Reply::Json.decode(reply.as_bytes());
            assert_eq!(
                error.map_err(|error| error.kind),
                Err(FailureKind::BadOutput)
            );
        }
    }

    #[test]
    fn a_figure_that_cannot_be_costs_no_answer() {
        let reply = br#"{"answer": "4", "usage": {"input_tokens": 1, "output_tokens": -1}, "cost_usd": NaN}"#;
        let output = Reply::Json.decode(reply).unwrap();
        assert_eq!(output.text.as_deref(), Some("4"));
        assert_eq!(output.usage.unwrap().input_tokens, Some(1));
        let dropped = json!(["`usage.output_tokens` is -1", "`cost_usd` is \"NaN\""]);
        assert_eq!(output.metadata["figures_dropped"], dropped);
    }

    #[test]
    fn nesting_without_end_is_bad_output() {
        let error = Reply::Json.decode("{\"a\":".repeat(100_000).as_bytes());
        assert_eq!(
            error.map_err(|error| error.kind),
            Err(FailureKind::BadOutput)
        );
    }
}
