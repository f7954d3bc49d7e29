//! Formats compared texts for display.

use super::{Normalized, Score};
use crate::text::py_float;

/// The compared prediction for display. GAIA's rule parses a text that is no number as infinite; files keep this
/// `inf`, but it would confuse people.
pub fn display_prediction(score: &Score) -> Normalized {
    const NO_NUMBER: &str = "no number";
    let kind = score.details.get("kind").and_then(|kind| kind.as_str());
    let is_none = |prediction: &str, truth: &str| {
        prediction == "inf" && py_float(truth).is_some_and(f64::is_finite)
    };
    match (
        kind,
        &score.normalized_prediction,
        &score.normalized_ground_truth,
    ) {
        (Some("number"), Normalized::Text(prediction), Normalized::Text(truth))
            if is_none(prediction, truth) =>
        {
            NO_NUMBER.into()
        }
        (Some("list"), Normalized::List(prediction), Normalized::List(truths)) => {
            let display = prediction.iter().zip(truths).map(|(prediction, truth)| {
                let prediction = if is_none(prediction, truth) {
                    NO_NUMBER
                } else {
                    prediction
                };
                prediction.to_owned()
            });
            Normalized::List(display.collect())
        }
        (_, prediction, _) => prediction.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crate::scorer::question_scorer;

    use super::*;

    #[test]
    fn what_is_no_number_is_called_so() {
        let check = |prediction: &str, truth: &str, expect: Normalized| {
            let score = Score::from(question_scorer(Some(prediction), truth));
            assert_eq!(
                display_prediction(&score),
                expect,
                "{prediction} for {truth}"
            );
        };
        check("19 km", "19", "no number".into());
        check("20", "19", "20.0".into());
        check("inf", "inf", "inf".into());
        check("Inf", "seagull", "inf".into());
        let list =
            |items: &[&str]| Normalized::List(items.iter().map(|&item| item.into()).collect());
        check("a, x", "a, 2", list(&["a", "no number"]));
        check("inf, 3", "inn, 3", list(&["inf", "3.0"]));
    }
}
