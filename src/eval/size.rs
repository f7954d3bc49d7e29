//! How much an eval asks.

use super::Eval;

impl Eval {
    /// Asks only the first samples, after shuffling.
    #[must_use]
    pub fn limit(mut self, samples: usize) -> Self {
        self.limits.limit = Some(samples);
        self
    }

    /// Asks each sample this often, 1 to 1000; default 1. A sample stays one test, whose verdict is that of the
    /// majority; see [`EpochFigures`](crate::verdict::summary::EpochFigures) for figures over several answers.
    #[must_use]
    pub fn epochs(mut self, epochs: u32) -> Self {
        self.epochs = epochs;
        self
    }

    /// Adds a size for `cargo evaltest run --tier NAME`: this many samples, or all (`None`). A smaller tier is a subset
    /// of the larger, and each has a proportional share of every slice.
    ///
    /// ```
    /// # use evaltest::{Eval, Gate, Output, Task, Qa};
    /// # fn tiers(eval: Eval) -> Eval {
    /// eval.tier("quick", 5).tier("full", None)
    ///     .gate(Gate::error_rate(0.02).tier("quick"))
    /// # }
    /// ```
    #[must_use]
    pub fn tier(mut self, name: impl Into<String>, samples: impl Into<Option<usize>>) -> Self {
        self.tiers.add(name.into(), samples.into());
        self
    }

    /// Whether the command line asks for fewer samples than the eval has.
    pub(crate) fn is_limited(&self) -> bool {
        let mut overrides = self.overrides.iter();
        overrides.any(|change| change.key == "limits.limit")
    }
}
