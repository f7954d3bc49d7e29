//! The change of a run since the accepted baseline.

use super::no_regression::{CountedPairs, PairedFigures};
use crate::verdict::baseline::flipped;
use crate::verdict::facts::Facts;
use crate::verdict::summary::BaselineChange;

impl BaselineChange {
    /// The change of a run; `None` without a comparable baseline, or without common samples.
    pub(crate) fn of(facts: &Facts<'_>) -> Option<Self> {
        let baseline = facts.baseline?;
        let same_scorer = baseline.scorer_hash.is_empty()
            || facts.scorer_hash.as_ref() == Some(&baseline.scorer_hash);
        if !same_scorer || baseline.hidden_from(facts.mask_id.as_deref()).is_some() {
            return None;
        }
        let pairing = baseline.pair(&facts.current, None, false);
        let figures = PairedFigures::of(&CountedPairs::of(&pairing.pairs));
        let flips = |worse: bool| {
            let flips = pairing.pairs.iter();
            let flips = flips.filter(|pair| flipped(pair.before, pair.now) == Some(worse));
            flips.map(|pair| pair.id.to_owned()).collect()
        };
        Some(Self {
            runs: baseline.runs.iter().map(|run| run.run_id.clone()).collect(),
            n: figures.n,
            worse: figures.worse,
            better: figures.better,
            accuracy_before: figures.accuracy_a?,
            accuracy_now: figures.accuracy_b?,
            difference: figures.difference?,
            difference_ci95: figures.difference_ci95?,
            p: figures.p?,
            became_wrong: flips(true),
            became_correct: flips(false),
        })
    }
}
