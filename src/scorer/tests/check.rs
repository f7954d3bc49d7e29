//! Helpers for tests of scorers: from a spec and a pair to a verdict.

use std::sync::Arc;

use serde_json::Value;

use crate::data::{Score, Target};
use crate::error::Result;
use crate::eval::registry::scorers::{Context, from_value};
use crate::scorer::string::text_rule::is_blank;
use crate::scorer::{Answer, Scorer};
use crate::tests::fuzz::{in_time, megabyte};
use crate::text::setting::Override;

/// The scorer of a spec such as `{ type: exact, trim: false }`.
pub(crate) fn scorer(spec: &str) -> Arc<dyn Scorer> {
    let value = Override::value(spec).expect("YAML");
    from_value(&value, &Context::here()).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// The error message for a spec.
pub(crate) fn refusal(spec: &str) -> String {
    let value = Override::value(spec).expect("YAML");
    let error = from_value(&value, &Context::here()).err();
    error.expect("an error").to_string()
}

/// The verdict on an answer without metadata.
pub(crate) fn judge(
    scorer: &dyn Scorer,
    prediction: Option<&str>,
    ground_truth: &Value,
) -> Result<Score> {
    let score = scorer.score(&Answer::new(prediction, &Target(ground_truth.clone())))?;
    let is_legal = (0.0..=1.0).contains(&score.value);
    assert!(is_legal, "{prediction:?} {ground_truth} {score:?}");
    let is_missing = score.reason == "no_prediction";
    let is_blank = prediction.is_none_or(is_blank);
    assert!(is_missing || prediction.is_some(), "{score:?}");
    assert!(is_blank || !is_missing, "{score:?}");
    assert!(!(is_missing && score.correct), "{score:?}");
    Ok(score)
}

/// Checks a table of cases: prediction, ground truth, verdict, value and reason.
pub(crate) fn check_all(spec: &str, cases: &[(&str, Value, bool, f64, &str)]) {
    let scorer = scorer(spec);
    for (prediction, ground_truth, correct, value, reason) in cases {
        let score = judge(&*scorer, Some(prediction), ground_truth);
        let score = score.unwrap_or_else(|error| panic!("{prediction:?} {ground_truth}: {error}"));
        let got = (score.correct, score.reason.as_ref());
        assert_eq!(
            got,
            (*correct, *reason),
            "{spec} {prediction:?} {ground_truth} {score:?}"
        );
        assert!(
            (score.value - value).abs() < 1e-12,
            "{spec} {prediction:?} {ground_truth} {score:?}"
        );
    }
}

/// Scores megabytes of the pieces against each other, and against a short ground truth. Fails if that takes longer than
/// linear time allows.
pub(crate) fn megabytes(specs: &[&str], short: &str, pieces: &[&str]) {
    for spec in specs {
        let scorer = scorer(spec);
        for (place, piece) in pieces.iter().enumerate() {
            let long = megabyte(piece);
            let other = megabyte(pieces[(place + 1) % pieces.len()]);
            let almost = format!("{long}!");
            for truth in [&long, &almost, &other, short] {
                // A ground truth that the scorer cannot read fails quickly.
                let _ = in_time(format_args!("{spec} {piece:?}"), || {
                    judge(&*scorer, Some(&long), &truth.into())
                });
            }
        }
    }
}
