//! Formats compared texts for display.

use super::{Normalized, Score};
use crate::text::py_float;

/// The compared prediction for display. GAIA's rule parses a text that is no number as infinite; files keep this
/// `inf`, but it would confuse people.
pub fn shown_prediction(score: &Score) -> Normalized {
    const NO_NUMBER: &str = "no number";
    let kind = score.details.get("kind").and_then(|kind| kind.as_str());
    let is_none =
        |said: &str, truth: &str| said == "inf" && py_float(truth).is_some_and(f64::is_finite);
    match (
        kind,
        &score.normalized_prediction,
        &score.normalized_ground_truth,
    ) {
        (Some("number"), Normalized::Text(said), Normalized::Text(truth))
            if is_none(said, truth) =>
        {
            NO_NUMBER.into()
        }
        (Some("list"), Normalized::List(said), Normalized::List(truths)) => {
            let shown = said.iter().zip(truths).map(|(said, truth)| {
                let said = if is_none(said, truth) {
                    NO_NUMBER
                } else {
                    said
                };
                said.to_owned()
            });
            Normalized::List(shown.collect())
        }
        (_, said, _) => said.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crate::scorer::question_scorer;

    use super::*;

    #[test]
    fn what_is_no_number_is_called_so() {
        let check = |said: &str, truth: &str, expect: Normalized| {
            let score = Score::from(question_scorer(Some(said), truth));
            assert_eq!(shown_prediction(&score), expect, "{said} for {truth}");
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
