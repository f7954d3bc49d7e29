//! `Regression`: the comparison with the baseline behind `no_regression`.

use serde::{Deserialize, Serialize};

/// The comparison of a run with its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Regression {
    /// The accepted run; several with commas between them.
    pub baseline_run: String,
    /// The accepted runs.
    #[serde(default)]
    pub baseline_runs: Vec<String>,
    /// Samples with a verdict on both sides.
    pub pairs: u64,
    /// Accuracy of the baseline over the pairs, 0 to 1.
    pub baseline_accuracy: Option<f64>,
    /// Its 95 % Wilson interval.
    pub baseline_ci95: Option<[f64; 2]>,
    /// Accuracy of this run over the pairs, 0 to 1.
    pub accuracy: Option<f64>,
    /// Its 95 % Wilson interval.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Pairs that went from correct to wrong, b: more than half of the answers were right in the baseline, and at most
    /// half are now.
    pub worse: u64,
    /// Pairs that went the other way, c.
    pub better: u64,
    /// How likely so few right answers, or fewer, would be now, were nothing changed: the exact conditional test over
    /// all answers. With one answer to a sample on each side, P(X >= b) for X ~ Bin(b + c, 1/2).
    pub p: f64,
    /// The same adjusted by Holm over all `no_regression` gates of the eval: what is compared with alpha.
    #[serde(default)]
    pub p_adjusted: Option<f64>,
    /// The loss of accuracy, each pair counting alike; (b - c) / pairs with one answer on each side.
    pub drop: Option<f64>,
    /// Accuracy now less that of the baseline, each pair counting alike: below 0 for a loss.
    #[serde(default)]
    pub difference: Option<f64>,
    /// Its 95 % confidence interval, which is never a point.
    #[serde(default)]
    pub difference_ci95: Option<[f64; 2]>,
    /// The smallest drop that this number of pairs detects with 80 % power; `null` when there is none.
    pub smallest_drop: Option<f64>,
    /// What `smallest_drop` assumes, in words.
    pub assumption: String,
    /// The ids that went from correct to wrong.
    pub became_wrong: Vec<String>,
    /// The ids that went from wrong to correct.
    pub became_correct: Vec<String>,
    /// Where the gate failed and no sample went from correct to wrong, the ids of the ten whose share of right answers
    /// fell most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fell_most: Vec<String>,
    /// The ids with a verdict in the baseline of which an answer errored or was skipped now.
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
