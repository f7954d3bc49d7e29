//! The reply of a program to an answer.

use serde_json::{Map, Value};

use crate::agent::reply::read as read_json;
use crate::data::{Details, Score};

/// A reply line.
#[derive(Debug, PartialEq)]
pub(super) enum ScorerReply {
    /// A verdict.
    Score(Score),
    /// The program cannot judge the answer; the reason.
    Error(String),
}

/// Reads the reply to the line with this id; the error describes what is wrong.
pub(super) fn read(line: &[u8], id: u64) -> Result<ScorerReply, String> {
    let reply = read_json(line).map_err(|error| format!("which is not a JSON object: {error}"))?;
    let Value::Object(mut reply) = reply else {
        return Err("which is not a JSON object".to_owned());
    };
    let text = |value: Value| match value {
        Value::String(text) => Some(text),
        _ => None,
    };
    let other = member(&mut reply, "id", "a number", |value| value.as_u64())?;
    if let Some(other) = other.filter(|other| *other != id) {
        return Err(format!("the reply to line {other}, after line {id}"));
    }
    if let Some(error) = member(&mut reply, "error", "a string", text)? {
        return Ok(ScorerReply::Error(error));
    }
    let correct = member(&mut reply, "correct", "true or false", |value| {
        value.as_bool()
    })?;
    let correct = correct.ok_or("which has no `correct`")?;
    let value = member(&mut reply, "value", "a number from 0 to 1", |value| {
        value.as_f64().filter(|value| (0.0..=1.0).contains(value))
    })?;
    let value = value.unwrap_or(if correct { 1.0 } else { 0.0 });
    let reason = member(&mut reply, "reason", "a string", text)?;
    let score = match reason {
        Some(reason) => Score::new(value, correct, reason),
        None if correct => Score::new(value, correct, "accepted"),
        None => Score::new(value, correct, "rejected"),
    };
    let details = member(&mut reply, "details", "an object", |value| match value {
        Value::Object(details) => Some(Details::from(details)),
        _ => None,
    })?;
    Ok(ScorerReply::Score(Score {
        details: details.unwrap_or_default(),
        ..score
    }))
}

/// Removes a member; null counts as missing.
fn member<T>(
    reply: &mut Map<String, Value>,
    key: &str,
    wanted: &str,
    read: impl FnOnce(Value) -> Option<T>,
) -> Result<Option<T>, String> {
    match reply.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match read(value) {
            None => Err(format!("whose `{key}` is not {wanted}")),
            some => Ok(some),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Result<(f64, bool, &str), &str>) {
        let read = read(line.as_bytes(), 7);
        let read = read.as_ref().map(|reply| match reply {
            ScorerReply::Score(score) => (score.value, score.correct, score.reason.as_ref()),
            ScorerReply::Error(message) => (-1.0, false, message.as_str()),
        });
        assert_eq!(read.map_err(String::as_str), expect, "{line}");
    }

    #[test]
    fn verdicts() {
        check(r#"{"correct": true}"#, Ok((1.0, true, "accepted")));
        check(r#"{"correct":false}"#, Ok((0.0, false, "rejected")));
        check(
            r#" {"correct": true, "value": 0.5, "id": 7}"#,
            Ok((0.5, true, "accepted")),
        );
        check(
            r#"{"correct": false, "value": 1, "reason": "why"}"#,
            Ok((1.0, false, "why")),
        );
        check(
            r#"{"correct": true, "value": null, "reason": null, "details": null, "error": null, "x": {}}"#,
            Ok((1.0, true, "accepted")),
        );
        check(
            r#"{"error": "no model", "correct": true}"#,
            Ok((-1.0, false, "no model")),
        );
        let line = br#"{"correct": true, "details": {"b": 1, "a": [2]}}"#;
        let Ok(ScorerReply::Score(score)) = read(line, 1) else {
            panic!("no verdict");
        };
        assert_eq!(
            serde_json::to_value(score.details).unwrap(),
            json!({"b": 1, "a": [2]})
        );
    }

    #[test]
    fn what_is_none() {
        check(
            "",
            Err("which is not a JSON object: EOF while parsing a value at line 1 column 0"),
        );
        check("true", Err("which is not a JSON object"));
        check("{}", Err("which has no `correct`"));
        check(
            r#"{"correct": 1}"#,
            Err("whose `correct` is not true or false"),
        );
        for value in ["2", "-0.1", "\"1\"", "true"] {
            let line = format!(r#"{{"correct": true, "value": {value}}}"#);
            check(&line, Err("whose `value` is not a number from 0 to 1"));
        }
        check(
            r#"{"correct": true, "reason": 1}"#,
            Err("whose `reason` is not a string"),
        );
        check(
            r#"{"correct": true, "details": []}"#,
            Err("whose `details` is not an object"),
        );
        check(
            r#"{"correct": true, "id": 6}"#,
            Err("the reply to line 6, after line 7"),
        );
        check(
            r#"{"correct": true, "value": NaN}"#,
            Err("whose `value` is not a number from 0 to 1"),
        );
        let deep = "[".repeat(100_000);
        assert!(read(deep.as_bytes(), 1).is_err());
        assert!(read(b"\xff", 1).is_err());
    }
}
