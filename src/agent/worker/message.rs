//! The lines of the protocol, except the task itself.

use serde_json::{Map, Value, json};

use crate::agent::message_text;
use crate::agent::reply::Json;
use crate::text::escape_line_ends;

/// The version of the protocol, in both greetings.
pub(super) const PROTOCOL: u64 = 1;

/// A line from a program.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// It is ready, and speaks this version of the protocol.
    Hello(u64),
    /// Progress on a request, or in general.
    Progress(Option<String>, String),
    /// The answer to the request with this id, or why there is none.
    Reply(String, Map<String, Value>),
}

/// Our greeting.
pub(super) fn hello(in_flight: usize) -> Vec<u8> {
    line(&json!({"type": "hello", "protocol": PROTOCOL, "in_flight": in_flight}))
}

/// Tells the program that the time for a request is over.
pub(super) fn cancel(id: &str) -> Vec<u8> {
    line(&json!({"type": "cancel", "id": id}))
}

/// Tells the program that a conversation is over.
pub(super) fn end(session: &str) -> Vec<u8> {
    line(&json!({"type": "end", "session": session}))
}

/// A message as a line.
pub(super) fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    escape_line_ends(&mut line, 0);
    line.push(b'\n');
    line
}

/// Decodes a line of a program; the error describes the fault.
pub(super) fn read(line: &[u8]) -> Result<Message, String> {
    let json = Json::read(line).map_err(|error| {
        if error.is_eof() {
            "which is incomplete JSON: each answer is one line".to_owned()
        } else {
            format!("which is not a JSON object ({error})")
        }
    })?;
    let answer = json.written_answer();
    let Value::Object(mut line) = json.value else {
        return Err("which is not a JSON object".to_owned());
    };
    if let Some(answer) = answer {
        line.insert("answer".to_owned(), answer.into());
    }
    let text = |line: &mut Map<String, Value>, key: &str| match line.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("whose `{key}` is not a string")),
    };
    let kind = text(&mut line, "type")?;
    match kind.as_deref() {
        Some("hello") => {
            let protocol = line.get("protocol").and_then(Value::as_u64);
            let protocol = protocol.ok_or("whose `protocol` is not a whole number")?;
            Ok(Message::Hello(protocol))
        }
        Some("progress") => {
            let id = text(&mut line, "id")?;
            let message = line.remove("message").unwrap_or_default();
            Ok(Message::Progress(id, message_text(message)))
        }
        Some("answer") | None => {
            let id = text(&mut line, "id")?;
            let id = id.ok_or("which has no `id`: write the `id` of the task")?;
            match line.remove("progress") {
                Some(message) if !is_reply(&line) => {
                    Ok(Message::Progress(Some(id), message_text(message)))
                }
                _ => Ok(Message::Reply(id, line)),
            }
        }
        Some(_) => Err("whose `type` is not `answer`, `progress` or `hello`".to_owned()),
    }
}

/// Whether a line is meant as a reply.
fn is_reply(line: &Map<String, Value>) -> bool {
    ["answer", "error", "messages", "tool_calls"]
        .iter()
        .any(|key| line.contains_key(*key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fuzz::fuzz;

    #[track_caller]
    fn check(line: &str, expect: Result<Message, &str>) {
        assert_eq!(
            read(line.as_bytes()),
            expect.map_err(str::to_owned),
            "{line}"
        );
    }

    #[test]
    fn lines_of_each_kind() {
        check(
            r#"{"type": "hello", "protocol": 1, "name": "mine"}"#,
            Ok(Message::Hello(1)),
        );
        let progress = |text: &str| Ok(Message::Progress(Some("a".into()), text.into()));
        check(
            r#"{"type": "progress", "id": "a", "message": "half"}"#,
            progress("half"),
        );
        check(r#"{"id": "a", "progress": 0.5}"#, progress("0.5"));
        check(
            r#"{"type": "progress"}"#,
            Ok(Message::Progress(None, String::new())),
        );
        let reply = |rest: Value| match rest {
            Value::Object(rest) => Ok(Message::Reply("a".into(), rest)),
            _ => panic!("no object"),
        };
        check(
            r#"{"id": "a", "answer": "4"}"#,
            reply(json!({"answer": "4"})),
        );
        check(
            r#"{"id": "a", "answer": 1.10}"#,
            reply(json!({"answer": "1.10"})),
        );
        check(
            r#"{"answer": null, "id": "a", "type": "answer", "progress": 1}"#,
            reply(json!({"answer": null})),
        );
        check(r#"{"id": "a"}"#, reply(json!({})));
    }

    #[test]
    fn no_line_breaks_the_reader() {
        let words = ["id", "answer", "type", "hello", "progress", "protocol", "a"];
        let pieces = [
            "{",
            "}",
            "\"id\":",
            "\"a\"",
            "[",
            ",",
            "\"type\":\"hello\"",
            "\u{0}",
        ];
        fuzz(|dice| {
            let _ = read(dice.json(&words, 3).to_string().as_bytes());
            let _ = read(dice.wild(&pieces).as_bytes());
        });
    }

    #[test]
    fn what_is_none() {
        check("[1]", Err("which is not a JSON object"));
        check(
            "{",
            Err("which is incomplete JSON: each answer is one line"),
        );
        check("4", Err("which is not a JSON object"));
        check(
            "Loading",
            Err("which is not a JSON object (expected value at line 1 column 1)"),
        );
        check(
            r#"{"answer": "4"}"#,
            Err("which has no `id`: write the `id` of the task"),
        );
        check(
            r#"{"id": 1, "answer": "4"}"#,
            Err("whose `id` is not a string"),
        );
        check(
            r#"{"id": "a", "type": "done"}"#,
            Err("whose `type` is not `answer`, `progress` or `hello`"),
        );
        check(
            r#"{"type": "hello", "protocol": "1"}"#,
            Err("whose `protocol` is not a whole number"),
        );
        assert!(read("[".repeat(100_000).as_bytes()).is_err());
        assert!(read(b"\xff").is_err());
    }
}
