//! `BaselineChange`: the change since the accepted baseline, independent of gates.

use serde::{Deserialize, Serialize};

/// A run compared with the accepted baseline, over the samples with a verdict in both. The figures are those of the
/// gate `no_regression`; shares and differences are fractions, now minus before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BaselineChange {
    /// The ids of the runs that were accepted.
    pub runs: Vec<String>,
    /// Samples with a verdict on both sides, each counted once, however many answers it has.
    pub n: u64,
    /// Samples that were correct and are wrong now.
    pub worse: u64,
    /// Samples that were wrong and are correct now.
    pub better: u64,
    /// Accuracy of the baseline over these samples.
    pub accuracy_before: f64,
    /// Accuracy of now over these samples.
    pub accuracy_now: f64,
    /// The rise of accuracy.
    pub difference: f64,
    /// The 95 % confidence interval of the difference, which always has a width.
    pub difference_ci95: [f64; 2],
    /// The probability of at most this many right answers now if the agent is unchanged.
    pub p: f64,
    /// The ids that went from correct to wrong, in dataset order.
    pub became_wrong: Vec<String>,
    /// The ids that went from wrong to correct.
    pub became_correct: Vec<String>,
}
