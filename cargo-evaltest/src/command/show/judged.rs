//! Requests to judges about an answer, and their replies.

use evaltest::engine::figure::{Seconds, Usd};
use evaltest::engine::report::document::{Block, list};
use evaltest::engine::text::excerpt;
use evaltest::{JudgeCall, Output};

use super::or_unknown;

/// Maximum characters shown of a reply; `--json` has all of it.
const MAX_CHARS: usize = 1_000;

/// A judge request and its result.
pub(super) fn call(call: &JudgeCall) -> Block {
    let mut whom = vec![format!("judge {}", call.scorer)];
    if call.repeat > 0 {
        whom.push(format!("repeat {}", call.repeat));
    }
    if call.again > 0 {
        whom.push("asked again".to_owned());
    }
    let mut how = vec![format!("by {}", call.form.as_str())];
    let output = call.output.as_ref();
    how.extend(
        output
            .and_then(Output::answered_by)
            .map(|model| format!("model {model}")),
    );
    how.push(if call.cached {
        "from the cache".to_owned()
    } else if call.stored {
        "given before, to a run of the same answers".to_owned()
    } else {
        format!("attempts {}, {}", call.attempts, Seconds(call.latency_s))
    });
    how.extend(call.usage().map(|usage| {
        format!(
            "{} input tokens, {} output tokens, cost {}",
            or_unknown(usage.input_tokens),
            or_unknown(usage.output_tokens),
            or_unknown(usage.cost_usd.map(Usd))
        )
    }));
    let title = format!("{}: {}", whom.join(", "), how.join(", "));
    let unread = call
        .unread
        .map(|reason| format!("no verdict: {}", reason.as_str()));
    let error = call.error.as_ref();
    let error = error.map(|error| format!("failed: {}", excerpt(&error.message)));
    let lines = list(unread.into_iter().chain(error));
    let text = output.and_then(|output| output.text.as_deref());
    let reply = text.map(|text| Block::Verbatim(truncate(text)));
    Block::group(title, lines.into_iter().chain(reply))
}

/// Truncates a reply that is longer than a screen.
fn truncate(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_CHARS) else {
        return text.to_owned();
    };
    let (rendered, rest) = text.split_at(end);
    let remaining = rest.chars().count();
    let line_end = if rendered.ends_with('\n') { "" } else { "\n" };
    format!("{rendered}{line_end}… and {remaining} more characters (all of it with `--json`)")
}

#[cfg(test)]
mod tests {
    use evaltest::engine::report::render::terminal::{self, Paint};
    use serde_json::json;

    use super::*;

    fn rendered(calls: &serde_json::Value) -> String {
        let calls: Vec<JudgeCall> = serde_json::from_value(calls.clone()).unwrap();
        let calls: Vec<Block> = calls.iter().map(call).collect();
        let mut out = Vec::new();
        terminal::blocks(&calls, 0, Paint::Plain, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_call_shows_judge_request_and_result() {
        let usage = json!({"input_tokens": 30, "output_tokens": 6, "cost_usd": 0.01});
        let output =
            |text: &str| json!({"text": text, "metadata": {"model": "m-1"}, "usage": usage});
        let calls = json!([
            {"scorer": "judge", "key": "k", "form": "schema", "attempts": 2, "latency_s": 0.5,
             "output": output("{\"clarity\": 4}\n\u{1b}[31m"), "unread": "conflicting"},
            {"scorer": "judge", "key": "k", "again": 1, "attempts": 1, "latency_s": 0.25, "cached": true,
             "output": output("{}")},
            {"scorer": "judge", "key": "k", "repeat": 2, "attempts": 3, "latency_s": 9.0,
             "error": {"kind": "timed_out", "message": "no reply"}},
        ]);
        let expect = "judge judge: by schema, model m-1, attempts 2, 0.5 s, 30 input tokens, 6 output tokens, cost 0.0100 \
                      USD\n  no verdict: conflicting\n  {\"clarity\": 4}\n  \\u{1b}[31m\n\
                      judge judge, asked again: by text, model m-1, from the cache, 30 input tokens, 6 output tokens, \
                      cost 0.0100 USD\n  {}\n\
                      judge judge, repeat 2: by text, attempts 3, 9.0 s\n  failed: no reply\n";
        assert_eq!(rendered(&calls), expect);
        assert_eq!(rendered(&json!([])), "");
    }

    #[test]
    fn long_reply_is_truncated() {
        let text = "ö".repeat(MAX_CHARS + 7);
        let calls = json!([{"scorer": "j", "key": "k", "attempts": 1, "latency_s": 1.0, "output": {"text": text}}]);
        let rendered = rendered(&calls);
        assert!(rendered.ends_with("  … and 7 more characters (all of it with `--json`)\n"));
        assert_eq!(rendered.matches('ö').count(), MAX_CHARS);
    }
}
