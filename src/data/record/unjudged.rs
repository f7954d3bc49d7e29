//! Scorers that could not score, besides the deciding one.

use serde_json::Value;

use super::{Outcome, Record};
use crate::data::JudgeCall;

impl Record {
    /// Whether a judge never replied about the answer: resuming the run asks it again.
    pub(crate) fn waits_for_a_judge(&self) -> bool {
        self.result.judged.iter().any(JudgeCall::is_unanswered)
    }
}

impl Outcome {
    /// The scorers that could not score, with reasons, except the deciding one, whose reason is in `error`.
    pub fn unjudged_beside(&self) -> impl Iterator<Item = (&str, &str)> {
        let of_first = self.error.as_ref().map(|error| error.message.as_str());
        let entries = self.scores.iter();
        let reasons = entries.filter_map(|(name, score)| {
            let reason = score.get("error").and_then(Value::as_str)?;
            Some((name.as_str(), reason))
        });
        reasons.filter(move |(name, _)| {
            let decides = |message: &str| message.starts_with(&format!("scorer `{name}`: "));
            !of_first.is_some_and(decides)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_one_that_decides_is_not_among_them() {
        let check = |error: &serde_json::Value, expect: &[(&str, &str)]| {
            let outcome = json!({
                "status": "scored", "prediction": null, "attempts": 1, "latency_s": 0.0, "error": error,
                "scores": {"gaia": {"error": "broke"}, "judge": {"error": "refusal: no"}, "qa": {"correct": true}},
            });
            let outcome: Outcome = serde_json::from_value(outcome).unwrap();
            assert_eq!(outcome.unjudged_beside().collect::<Vec<_>>(), expect);
        };
        check(&json!(null), &[("gaia", "broke"), ("judge", "refusal: no")]);
        let error = json!({"kind": "failed", "message": "scorer `gaia`: broke"});
        check(&error, &[("judge", "refusal: no")]);
    }
}
