//! What judges were asked about an answer, and what they said.

use std::io::{self, Write};

use evaltest::engine::figure::{Seconds, Usd};
use evaltest::engine::text::{clean, excerpt};
use evaltest::{JudgeCall, Output};

use super::or_unknown;

/// So much of a reply is shown, in characters; all of it with `--json`.
const SHOWN: usize = 1_000;

/// The calls, by the scorer that asked.
pub(super) fn judged(calls: &[JudgeCall], out: &mut dyn Write) -> io::Result<()> {
    calls.iter().try_for_each(|call| one(call, out))
}

fn one(call: &JudgeCall, out: &mut dyn Write) -> io::Result<()> {
    let mut heads = vec![format!("judge {}", clean(&call.scorer))];
    if call.repeat > 0 {
        heads.push(format!("repeat {}", call.repeat));
    }
    if call.again > 0 {
        heads.push("asked again".to_owned());
    }
    let mut told = vec![format!("by {}", call.form.as_str())];
    let model = call.output.as_ref().and_then(Output::answered_by);
    told.extend(model.map(|model| format!("model {}", clean(&model))));
    if call.cached {
        told.push("from the cache".to_owned());
    } else if call.stored {
        told.push("given before, to a run of the same answers".to_owned());
    } else {
        told.push(format!(
            "attempts {}, {}",
            call.attempts,
            Seconds(call.latency_s)
        ));
    }
    if let Some(usage) = call.usage() {
        told.push(format!(
            "{} input tokens, {} output tokens, cost {}",
            or_unknown(usage.input_tokens),
            or_unknown(usage.output_tokens),
            or_unknown(usage.cost_usd.map(Usd))
        ));
    }
    writeln!(out, "{}: {}", heads.join(", "), told.join(", "))?;
    if let Some(reason) = call.unread {
        writeln!(out, "  no verdict: {}", reason.as_str())?;
    }
    if let Some(error) = &call.error {
        writeln!(out, "  failed: {}", excerpt(&error.message))?;
    }
    match call
        .output
        .as_ref()
        .and_then(|output| output.text.as_deref())
    {
        Some(text) => reply(text, out),
        None => Ok(()),
    }
}

/// A reply, cut where it is longer than a screen.
fn reply(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let end = text.char_indices().nth(SHOWN).map(|(end, _)| end);
    let shown = &text[..end.unwrap_or(text.len())];
    let mut lines = shown.lines();
    lines.try_for_each(|line| writeln!(out, "  {}", clean(line)))?;
    match end {
        Some(end) => {
            let left = text[end..].chars().count();
            writeln!(
                out,
                "  … and {left} more characters (all of it with `--json`)"
            )
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(calls: &serde_json::Value) -> String {
        let calls: Vec<JudgeCall> = serde_json::from_value(calls.clone()).unwrap();
        let mut out = Vec::new();
        judged(&calls, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_call_says_who_was_asked_how_and_what_came_of_it() {
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
        assert_eq!(shown(&calls), expect);
        assert_eq!(shown(&json!([])), "");
    }

    #[test]
    fn a_long_reply_is_cut() {
        let text = "ö".repeat(SHOWN + 7);
        let calls = json!([{"scorer": "j", "key": "k", "attempts": 1, "latency_s": 1.0, "output": {"text": text}}]);
        let shown = shown(&calls);
        assert!(shown.ends_with("  … and 7 more characters (all of it with `--json`)\n"));
        assert_eq!(shown.matches('ö').count(), SHOWN);
    }
}
