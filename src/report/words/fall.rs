//! `LevelFall`: how much of the accuracy is lost from a level to the next.

use crate::stats::fall95;
use crate::verdict::summary::{Group, Summary};

/// What is lost from a level to the next.
pub(in crate::report) struct LevelFall<'a> {
    /// The easier level.
    pub(in crate::report) from: &'a str,
    /// The harder one.
    pub(in crate::report) to: &'a str,
    /// Of the accuracy before; `None` where there was none, or samples without a verdict leave it open.
    pub(in crate::report) drop: Option<f64>,
    /// Its 95 % confidence interval.
    pub(in crate::report) interval: Option<[f64; 2]>,
    /// Whether samples without a verdict leave it open.
    pub(in crate::report) is_open: bool,
    /// Wrong answers of the harder level.
    pub(in crate::report) wrong: u64,
}

/// The steps between levels of which both have answers.
pub(in crate::report) fn falls(summary: &Summary) -> Vec<LevelFall<'_>> {
    let Some(levels) = summary.slices.get("level") else {
        return Vec::new();
    };
    let known = |group: &Group| group.accuracy.zip(group.accuracy_ci95);
    let is_open = |group: &Group| group.accuracy_bounds.is_some_and(|[low, high]| low < high);
    let steps = summary.difficulty_drop.iter().filter_map(|step| {
        let (from, to) = (levels.get(&step.from)?, levels.get(&step.to)?);
        let is_open = is_open(from) || is_open(to);
        let (before, after) = (known(from), known(to));
        if from.scored == 0 || to.scored == 0 {
            return None;
        }
        let ends = before
            .zip(after)
            .filter(|_| !is_open && step.drop.is_some());
        Some(LevelFall {
            from: &step.from,
            to: &step.to,
            drop: step.drop.filter(|_| !is_open),
            interval: ends.and_then(|(before, after)| fall95(before, after)),
            is_open,
            wrong: to.scored - to.correct,
        })
    });
    steps.collect()
}
