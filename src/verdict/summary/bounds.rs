//! Bounds of the accuracy if every sample had a verdict.

use crate::stats;

/// The share of correct samples with all missing verdicts as wrong, and as correct. `None` if there is nothing to
/// score, or no ground truth.
///
/// With several epochs the arguments are numbers of answers. Every sample has equally many, so a missing answer counts
/// within its sample.
pub(super) fn accuracy_bounds(
    correct: u64,
    scored: u64,
    unscored: u64,
    unknown: u64,
) -> Option<[f64; 2]> {
    if scored == 0 && unscored > 0 {
        return None;
    }
    let all = scored + unknown;
    let low = stats::ratio(correct, all)?;
    Some([low, stats::ratio(correct + unknown, all)?])
}

/// The bounds of the correct and of the wrong share; both counted, since 1 - accuracy has rounding errors.
pub(super) fn both_bounds(
    correct: u64,
    scored: u64,
    unscored: u64,
    unknown: u64,
) -> [Option<[f64; 2]>; 2] {
    [correct, scored.saturating_sub(correct)]
        .map(|part| accuracy_bounds(part, scored, unscored, unknown))
}

/// The interval of 1 minus a share.
pub(crate) fn mirrored([low, high]: [f64; 2]) -> [f64; 2] {
    [1.0 - high, 1.0 - low]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_a_verdict_is_wrong_and_correct() {
        fn check(counts: [u64; 4], expect: Option<[f64; 2]>) {
            let [correct, scored, unscored, unknown] = counts;
            let bounds = accuracy_bounds(correct, scored, unscored, unknown);
            assert_eq!(bounds, expect, "{counts:?}");
        }
        check([20, 20, 0, 10], Some([20.0 / 30.0, 1.0]));
        check([1, 2, 0, 2], Some([0.25, 0.75]));
        check([1, 2, 5, 0], Some([0.5, 0.5]));
        check([0, 0, 0, 3], Some([0.0, 1.0]));
        check([0, 0, 1, 3], None);
        check([0, 0, 0, 0], None);
    }
}
