//! Normalised answers: in lower case and without punctuation, patterns do not match a secret, but people still
//! recognise it.

use serde_json::Value;

use crate::data::{Normalized, Outcome};
use crate::text::redact::{MIN_SECRET, REDACTED};

/// A text that a scorer compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Prediction,
    GroundTruth,
}

/// Redacts the normalised form of a text that contained a secret, and the reason and details that repeat it.
pub(super) fn hide_normalized(outcome: &mut Outcome, side: Side) {
    if let Some(score) = &mut outcome.score {
        let normalized = match side {
            Side::Prediction => &mut score.normalized_prediction,
            Side::GroundTruth => &mut score.normalized_ground_truth,
        };
        let hidden = match normalized {
            Normalized::None => Vec::new(),
            Normalized::Text(text) => vec![squeezed(text)],
            Normalized::List(items) => items.iter().map(|item| squeezed(item)).collect(),
        };
        *normalized = Normalized::Text(REDACTED.to_owned());
        if repeats(&score.reason, &hidden) {
            score.reason = REDACTED.into();
        }
        for detail in score.details.values_mut() {
            hide_in(detail, &hidden);
        }
    }
    let key = match side {
        Side::Prediction => "normalized_prediction",
        Side::GroundTruth => "normalized_ground_truth",
    };
    for score in outcome.scores.values_mut() {
        let Some(normalized) = score.get_mut(key) else {
            continue;
        };
        let hidden = match normalized.take() {
            Value::String(text) => vec![squeezed(&text)],
            Value::Array(items) => items
                .iter()
                .filter_map(Value::as_str)
                .map(squeezed)
                .collect(),
            _ => Vec::new(),
        };
        *normalized = REDACTED.into();
        for key in ["reason", "details"] {
            if let Some(value) = score.get_mut(key) {
                hide_in(value, &hidden);
            }
        }
    }
}

/// A text reduced so far that no normalisation changes it.
fn squeezed(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn repeats(text: &str, hidden: &[String]) -> bool {
    let given = squeezed(text);
    let mut hidden = hidden.iter().filter(|part| part.len() >= MIN_SECRET);
    hidden.any(|part| given.contains(part.as_str()))
}

fn hide_in(value: &mut Value, hidden: &[String]) {
    match value {
        Value::String(text) if repeats(text, hidden) => REDACTED.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_in(item, hidden)),
        Value::Object(map) => map.values_mut().for_each(|item| hide_in(item, hidden)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
