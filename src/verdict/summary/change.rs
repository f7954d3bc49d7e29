//! `BaselineChange`: how far a run is from the accepted baseline, whatever its gates ask.

use serde::{Deserialize, Serialize};

/// A run beside the accepted baseline, over the samples that both have a verdict for. The figures are those that the gate
/// `no_regression` would print; shares and differences are fractions, now less before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BaselineChange {
    /// The ids of the runs that were accepted.
    pub runs: Vec<String>,
    /// Samples with a verdict on both sides; each is one, however many answers it has.
    pub n: u64,
    /// Samples that were correct and are wrong now.
    pub worse: u64,
    /// Samples that were wrong and are correct now.
    pub better: u64,
    /// Accuracy of the baseline over these samples.
    pub accuracy_before: f64,
    /// Accuracy of now over these samples.
    pub accuracy_now: f64,
    /// By how much it rose.
    pub difference: f64,
    /// The 95 % confidence interval of the difference, which is never a point.
    pub difference_ci95: [f64; 2],
    /// How likely so few right answers of now, or fewer, would be, were the agent the same.
    pub p: f64,
    /// The ids that went from correct to wrong, in dataset order.
    pub became_wrong: Vec<String>,
    /// The ids that went from wrong to correct.
    pub became_correct: Vec<String>,
}
