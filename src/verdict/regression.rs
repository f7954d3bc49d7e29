//! `Regression`: the comparison with the baseline behind `no_regression`.

use serde::{Deserialize, Serialize};

/// The comparison of a run with its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Regression {
    /// The id of the accepted run; several are separated by commas.
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
    /// Pairs that became wrong, b: more than half of the answers were right in the baseline, and at most half are now.
    pub worse: u64,
    /// Pairs that became correct, c.
    pub better: u64,
    /// The probability of at most this many right answers now if nothing changed: the exact conditional test over all
    /// answers. With one answer on each side, P(X >= b) for X ~ Bin(b + c, 1/2).
    pub p: f64,
    /// The same, adjusted by Holm over all `no_regression` gates of the eval: this is compared with alpha.
    #[serde(default)]
    pub p_adjusted: Option<f64>,
    /// The loss of accuracy, with equal weight for each pair; (b - c) / pairs with one answer on each side.
    pub drop: Option<f64>,
    /// Accuracy now minus that of the baseline, with equal weight for each pair: negative for a loss.
    #[serde(default)]
    pub difference: Option<f64>,
    /// Its 95 % confidence interval, which always has a width.
    #[serde(default)]
    pub difference_ci95: Option<[f64; 2]>,
    /// The smallest drop that this number of pairs detects with 80 % power; `null` if there is none.
    pub smallest_drop: Option<f64>,
    /// The assumptions of `smallest_drop`, as text.
    pub assumption: String,
    /// The ids that went from correct to wrong.
    pub became_wrong: Vec<String>,
    /// The ids that went from wrong to correct.
    pub became_correct: Vec<String>,
    /// If the gate failed and no sample became wrong, the ids of the ten whose share of right answers fell most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fell_most: Vec<String>,
    /// The ids with a verdict in the baseline that have an errored or skipped answer now.
    pub unknown: Vec<String>,
    /// Ids that the baseline does not have.
    pub added: Vec<String>,
    /// Ids that only the baseline has.
    pub removed: Vec<String>,
    /// Ids whose input or ground truth has changed.
    pub changed: Vec<String>,
    /// A caveat about the comparison, with a command to run.
    pub warning: Option<String>,
}
