//! `ErrorBounds`: what the answers without a verdict could change.

use serde::Serialize;

use super::alone::PairedFigures;
use super::counted::CountedPairs;
use super::paired::As;

/// The comparison with every answer that errored or was never given as wrong and as right, as gates evaluate it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ErrorBounds {
    /// Answers of A without the verdict that they should have, over the samples that are the same in both.
    pub errors_a: u64,
    /// Those of B.
    pub errors_b: u64,
    /// With those of A as right and those of B as wrong: B could not be worse beside A.
    pub lowest: PairedFigures,
    /// With those of A as wrong and those of B as right: B could not be better.
    pub highest: PairedFigures,
}

impl ErrorBounds {
    /// Those of some pairs, of which A may have no verdict; `None` without an error.
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
