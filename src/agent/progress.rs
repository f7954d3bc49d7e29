//! Progress messages of a program.
//!
//! A worker sends them as lines of its protocol; a program that is started per question writes them to stderr among
//! other lines: an object with `progress`, or with `type: progress` and a `message`.

use serde_json::Value;

use super::figures;

/// The progress message in a line of stderr, if it is one.
pub(super) fn of_line(line: &str) -> Option<String> {
    let line = line.trim();
    // Most lines are logs; skip them without parsing.
    if !line.starts_with('{') || !line.contains("progress") {
        return None;
    }
    let Value::Object(mut line) = figures::read(line.as_bytes()).ok()? else {
        return None;
    };
    match line.get("type").map(Value::as_str) {
        Some(Some("progress")) => Some(message_text(line.remove("message").unwrap_or_default())),
        None => line.remove("progress").map(message_text),
        Some(_) => None,
    }
}

/// The message as text.
pub(super) fn message_text(message: Value) -> String {
    match message {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stderr_line_may_report_progress() {
        let check = |line: &str, expect: Option<&str>| {
            assert_eq!(of_line(line).as_deref(), expect, "{line}");
        };
        check(r#"{"progress": "half"}"#, Some("half"));
        check(r#" {"type": "progress", "message": "all"} "#, Some("all"));
        check(
            r#"{"progress": {"done": 1, "of": 2}}"#,
            Some(r#"{"done":1,"of":2}"#),
        );
        check(r#"{"type": "progress"}"#, Some(""));
        check(r#"{"type": "log", "progress": 1}"#, None);
        check(r#"{"level": "info", "message": "progress"}"#, None);
        check(r#"{"progress": "ha"#, None);
        check("progress: half", None);
        check(r#"["progress"]"#, None);
        check("", None);
    }
}
