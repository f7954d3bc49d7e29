//! `JurorWeights`: the weight of each judge in a weighted verdict.
//!
//! Weights are learnt from verdicts on labelled items. A labelled item is judged with weights learnt from the other
//! items (cross-validation), so that the jury's agreement with labels is not measured on its training data.

use super::truth::{LabelTruths, Truth};
use crate::data::JurorVote;
use crate::stats::as_f64;
use crate::text::hash::Hasher;

/// The number of parts of labelled items. Each is judged with weights learnt from the others.
const FOLDS: usize = 5;
/// Shrinkage: each judge gets this many additional items with the mean error of all judges.
const SHRINK: f64 = 2.0;
/// The minimum mean squared error: that of rounding to integer points.
const FLOOR: f64 = 1.0 / 12.0;

/// The weight of each judge, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JurorWeights {
    /// For items without a label.
    whole: Vec<f64>,
    /// For items with a label, by part.
    folds: Vec<Vec<f64>>,
}

/// The votes on one labelled item, in the order of the judges.
pub(super) struct Lesson<'a> {
    pub(super) id: &'a str,
    pub(super) votes: Vec<Option<JurorVote>>,
}

impl JurorWeights {
    /// Weights as given in a spec.
    pub(super) fn given(weights: Vec<f64>) -> Self {
        Self {
            whole: weights,
            folds: Vec::new(),
        }
    }

    /// Weights learnt from labels, for this many judges.
    pub(super) fn learnt(lessons: &[Lesson<'_>], truths: &LabelTruths, judges: usize) -> Self {
        let of = |is_included: &dyn Fn(&str) -> bool| {
            let lessons = lessons.iter().filter(|lesson| is_included(lesson.id));
            weights(lessons, truths, judges)
        };
        Self {
            whole: of(&|_| true),
            folds: (0..FOLDS)
                .map(|fold| of(&|id| fold_of(id) != fold))
                .collect(),
        }
    }

    /// The weights for an item.
    pub(super) fn of(&self, labelled: Option<&str>) -> &[f64] {
        let fold = labelled.and_then(|id| self.folds.get(fold_of(id)));
        fold.unwrap_or(&self.whole)
    }

    /// All weights, for the fingerprint.
    pub(super) fn all(&self) -> Vec<&[f64]> {
        let folds = self.folds.iter().map(Vec::as_slice);
        std::iter::once(&*self.whole).chain(folds).collect()
    }

    /// Whether no judge has a weight.
    pub(super) fn are_nothing(&self) -> bool {
        self.whole.iter().all(|weight| *weight <= 0.0)
    }
}

/// The part of a labelled item, from its id alone, so that it does not depend on which others are labelled.
pub(super) fn fold_of(id: &str) -> usize {
    let hash = Hasher::default().part("evaltest jury fold").part(id);
    let folds = FOLDS as u64;
    usize::try_from(u64::from_le_bytes(hash.first_bytes()) % folds).unwrap_or_default()
}

fn weights<'a>(
    lessons: impl Iterator<Item = &'a Lesson<'a>>,
    truths: &LabelTruths,
    judges: usize,
) -> Vec<f64> {
    let mut right = vec![[0_u64; 2]; judges];
    let mut errors = vec![(0.0, 0_u64); judges];
    for lesson in lessons {
        let Some(truth) = truths.of(Some(lesson.id)) else {
            continue;
        };
        for (judge, vote) in lesson.votes.iter().enumerate() {
            match (truth, vote) {
                (Truth::Choice(label), Some(vote)) => {
                    if let Some(choice) = &vote.choice {
                        right[judge][0] += u64::from(choice == label);
                        right[judge][1] += 1;
                    }
                }
                (Truth::Points { total, .. }, Some(vote)) => {
                    if let Some(points) = vote.total {
                        errors[judge].0 += (points - total).powi(2);
                        errors[judge].1 += 1;
                    }
                }
                (_, None) => {}
            }
        }
    }
    if right.iter().any(|[_, all]| *all > 0) {
        right
            .iter()
            .map(|[right, all]| log_odds(*right, *all))
            .collect()
    } else {
        inverse_errors(&errors)
    }
}

/// The log odds of (right + 1) / (n + 2), at least 0: a judge that is mostly wrong does not count against its vote, as
/// with several choices it is unknown which one that would support.
fn log_odds(right: u64, of: u64) -> f64 {
    let share = (as_f64(right) + 1.0) / (as_f64(of) + 2.0);
    (share / (1.0 - share)).ln().max(0.0)
}

/// The inverse of each judge's mean squared error, shrunk towards the overall error if there are few items. A judge
/// without items has the overall error.
fn inverse_errors(errors: &[(f64, u64)]) -> Vec<f64> {
    let sum: f64 = errors.iter().map(|it| it.0).sum();
    let count: u64 = errors.iter().map(|it| it.1).sum();
    if count == 0 {
        return vec![0.0; errors.len()];
    }
    let mean = sum / as_f64(count);
    let weight = |(sum, count): &(f64, u64)| {
        let error = (sum + SHRINK * mean) / (as_f64(*count) + SHRINK);
        1.0 / error.max(FLOOR)
    };
    errors.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn near(found: &[f64], expect: &[f64]) {
        let is_near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
        assert!(
            found.len() == expect.len() && found.iter().zip(expect).all(is_near),
            "{found:?} {expect:?}"
        );
    }

    #[test]
    fn log_odds_are_never_below_nothing() {
        near(&[log_odds(0, 0), log_odds(0, 5), log_odds(2, 4)], &[0.0; 3]);
        near(
            &[log_odds(3, 3), log_odds(81, 98)],
            &[4_f64.ln(), (82.0 / 18.0_f64).ln()],
        );
    }

    #[test]
    fn errors_are_drawn_to_those_of_all_and_have_a_floor() {
        near(&inverse_errors(&[(0.0, 0), (0.0, 0)]), &[0.0, 0.0]);
        near(&inverse_errors(&[(0.0, 9), (0.0, 9)]), &[12.0, 12.0]);
        // Means of 1 and 3, overall 2: (4 + 4) / 6 and (12 + 4) / 6.
        near(
            &inverse_errors(&[(4.0, 4), (12.0, 4), (0.0, 0)]),
            &[6.0 / 8.0, 6.0 / 16.0, 1.0 / 2.0],
        );
    }

    #[test]
    fn items_are_scored_with_weights_from_the_others() {
        let ids: Vec<String> = (0..40).map(|number| format!("q{number}")).collect();
        let truth = |id: &String| (id.clone(), Truth::Choice("a".to_owned()));
        let truths = LabelTruths(ids.iter().map(truth).collect::<HashMap<_, _>>());
        let vote = |choice: &str| {
            Some(JurorVote {
                choice: Some(choice.to_owned()),
                ..JurorVote::default()
            })
        };
        // Right in one part only, and always right.
        let lessons = ids.iter().map(|id| Lesson {
            id,
            votes: vec![
                vote(if fold_of(id) == 2 { "a" } else { "b" }),
                vote("a"),
                None,
            ],
        });
        let lessons: Vec<_> = lessons.collect();
        let parts = (0..FOLDS).map(|fold| ids.iter().filter(|id| fold_of(id) == fold).count());
        let parts: Vec<u64> = parts.map(|count| count as u64).collect();
        assert!(parts.iter().all(|count| *count > 2), "{parts:?}");
        let weights = JurorWeights::learnt(&lessons, &truths, 3);
        let inside = ids.iter().find(|id| fold_of(id) == 2).unwrap();
        let others = 40 - parts[2];
        near(
            weights.of(Some(inside)),
            &[0.0, log_odds(others, others), 0.0],
        );
        near(
            weights.of(None),
            &[log_odds(parts[2], 40), log_odds(40, 40), 0.0],
        );
        assert_eq!(weights.all().len(), 1 + FOLDS);
    }
}
