//! `Regression`: the comparison with the baseline behind `no_regression`.

use serde::{Deserialize, Serialize};

/// The comparison of a run with its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Regression {
    /// The accepted run.
    pub baseline_run: String,
    /// Samples scored on both sides.
    pub pairs: u64,
    /// Accuracy of the baseline over the pairs, 0 to 1.
    pub baseline_accuracy: Option<f64>,
    /// Its 95 % Wilson interval.
    pub baseline_ci95: Option<[f64; 2]>,
    /// Accuracy of this run over the pairs, 0 to 1.
    pub accuracy: Option<f64>,
    /// Its 95 % Wilson interval.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Pairs that went from correct to wrong, b.
    pub worse: u64,
    /// Pairs that went from wrong to correct, c.
    pub better: u64,
    /// P(X >= b) for X ~ Bin(b + c, 1/2).
    pub p: f64,
    /// (b - c) / pairs.
    pub drop: Option<f64>,
    /// The smallest drop that this number of pairs detects with 80 % power; `null` when there is none.
    pub smallest_drop: Option<f64>,
    /// What `smallest_drop` assumes, in words.
    pub assumption: String,
    /// The ids that went from correct to wrong.
    pub became_wrong: Vec<String>,
    /// The ids that went from wrong to correct.
    pub became_correct: Vec<String>,
    /// The ids with a verdict in the baseline that errored or were skipped now.
    pub unknown: Vec<String>,
    /// Ids that the baseline does not have.
    pub added: Vec<String>,
    /// Ids that only the baseline has.
    pub removed: Vec<String>,
    /// Ids whose input or ground truth is another one now.
    pub changed: Vec<String>,
    /// What is doubtful about the comparison, with what to type.
    pub warning: Option<String>,
}
