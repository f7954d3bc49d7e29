//! `ErrorBounds`: how answers without a verdict could change a comparison.

use serde::Serialize;

use super::alone::PairedFigures;
use super::counted::CountedPairs;
use super::paired::As;

/// The comparison with each answer that errored or was never given counted as wrong and as right, as gates do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ErrorBounds {
    /// Answers of A without an expected verdict, over the samples that are the same in both.
    pub errors_a: u64,
    /// Answers of B without an expected verdict.
    pub errors_b: u64,
    /// With those of A as right and those of B as wrong: the worst case for B.
    pub lowest: PairedFigures,
    /// With those of A as wrong and those of B as right: the best case for B.
    pub highest: PairedFigures,
}

impl ErrorBounds {
    /// The bounds of pairs whose A may lack verdicts; `None` without errors.
    pub(crate) fn of(pairs: &CountedPairs) -> Option<Self> {
        let [errors_a, errors_b] = pairs.missing();
        (errors_a + errors_b > 0).then(|| Self {
            errors_a,
            errors_b,
            lowest: PairedFigures::of_paired(&pairs.paired_as([As::Right, As::Wrong])),
            highest: PairedFigures::of_paired(&pairs.paired_as([As::Wrong, As::Right])),
        })
    }
}
