//! The verdicts that were recorded with a trace: events, spans that evaluate, annotations.

use serde_json::Value;

use super::message::parsed;
use super::span::{Span, SpanEvent, number};
use super::trace::TraceScore;

/// The event with a verdict.
const EVALUATION: &str = "gen_ai.evaluation.result";

/// The verdict of an event.
pub(super) fn evaluation(event: &SpanEvent) -> Option<TraceScore> {
    if event.name != EVALUATION {
        return None;
    }
    let text = |name: &str| {
        event
            .attributes
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    Some(TraceScore {
        name: text("gen_ai.evaluation.name").unwrap_or_else(|| "evaluation".to_owned()),
        value: event
            .attributes
            .get("gen_ai.evaluation.score.value")
            .and_then(number),
        label: text("gen_ai.evaluation.score.label"),
        explanation: text("gen_ai.evaluation.explanation"),
        error: text("error.type"),
    })
}

/// The verdicts of a span that evaluates, and the annotations that stand with a span.
pub(super) fn evaluations(span: &Span) -> Vec<TraceScore> {
    let of = |prefix: &str, name: Option<String>| {
        let text = |key: &str| match span.attributes.get(&format!("{prefix}{key}"))? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let score = TraceScore {
            name: name.or_else(|| text("name"))?,
            value: span.number(&[&format!("{prefix}score")]),
            label: text("label"),
            explanation: text("explanation"),
            error: None,
        };
        (score.value.is_some() || score.label.is_some()).then_some(score)
    };
    let mut found = Vec::new();
    for list in [
        "annotations",
        "evaluations",
        "trace.annotations",
        "trace.evaluations",
    ] {
        for place in 0.. {
            let inside = list
                .rsplit('.')
                .next()
                .unwrap_or(list)
                .trim_end_matches('s');
            let nested = of(&format!("{list}.{place}.{inside}."), None);
            let result = || {
                let name = span.text(&format!("{list}.{place}.name"));
                of(&format!("{list}.{place}.result."), name.map(str::to_owned))
            };
            let Some(score) = nested
                .or_else(result)
                .or_else(|| of(&format!("{list}.{place}."), None))
            else {
                break;
            };
            found.push(score);
        }
    }
    if span.operation() == "evaluate" {
        let name = span
            .text("evaluation.name")
            .or_else(|| span.text("annotation.name"))
            .unwrap_or(&span.name);
        let name = name.strip_prefix("Evaluation: ").unwrap_or(name).to_owned();
        let direct = ["evaluation.", "annotation.", "eval.", ""];
        let direct = direct
            .iter()
            .find_map(|prefix| of(prefix, Some(name.clone())));
        let reply = || {
            let reply = parsed(span.text("output.value")?)?;
            let text = |key: &str| reply.get(key).and_then(Value::as_str).map(str::to_owned);
            let value = reply
                .get("score")
                .or_else(|| reply.get("value"))
                .and_then(number);
            Some(TraceScore {
                name: name.clone(),
                value,
                label: text("label"),
                explanation: text("explanation"),
                error: None,
            })
        };
        let plain = || {
            Some(TraceScore {
                name: name.clone(),
                value: span.number(&["output.value"]),
                ..TraceScore::default()
            })
        };
        found.extend(direct.or_else(reply).or_else(plain));
    }
    found
}
