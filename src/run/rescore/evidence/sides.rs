//! `AnswerSides`: the answers to a sample that count, and the correlation within groups.

use std::collections::BTreeMap;

use crate::stats::{AnswerCounts, ComparedSample, RunGroup, as_f64, design_effect};
use crate::verdict::baseline::{CurrentSample, right_of};

/// The verdicts on the answers to a sample that count, in the order of runs and epochs.
pub(super) struct AnswerSides<'a> {
    pub(super) before: &'a [Option<bool>],
    pub(super) now: &'a [Option<bool>],
    cluster: Option<&'a str>,
}

impl<'a> AnswerSides<'a> {
    /// Of this run only.
    pub(super) fn of_now(sample: &'a CurrentSample) -> Self {
        Self {
            before: &[],
            now: &sample.answers,
            cluster: sample.cluster.as_deref(),
        }
    }

    pub(super) fn counts(&self) -> ComparedSample {
        ComparedSample {
            before: right_of(self.before),
            now: right_of(self.now),
        }
    }

    /// The verdict in a column of all answers.
    fn answer(&self, column: usize) -> Option<bool> {
        let both = self.before.iter().chain(self.now);
        both.copied().nth(column).flatten()
    }
}

/// Variance relative to samples that flip independently: at least 1, and 1 without groups. If single answers cannot
/// show it, groups are assumed to flip as one.
pub(super) fn spread(sides: &[AnswerSides<'_>]) -> f64 {
    let mut groups = BTreeMap::<&str, Vec<&AnswerSides<'_>>>::new();
    let mut alone = 0;
    for side in sides {
        match side.cluster {
            Some(name) => groups.entry(name).or_default().push(side),
            None => alone += 1,
        }
    }
    if groups.is_empty() {
        return 1.0;
    }
    let answers = sides.iter().map(|side| side.before.len() + side.now.len());
    let columns = answers.max().unwrap_or(0);
    if columns < 2 {
        let sizes = groups.values().map(|members| as_f64(members.len() as u64));
        let squares: f64 = sizes.map(|size| size * size).sum();
        let alone = as_f64(alone);
        return (squares + alone) / as_f64(sides.len() as u64);
    }
    let column = |members: &[&AnswerSides<'_>], place: usize| {
        let answers = members.iter().map(|side| side.answer(place));
        let count = |answer: Option<bool>| {
            AnswerCounts::new(u32::from(answer == Some(true)), u32::from(answer.is_some()))
        };
        answers.map(count).collect::<Vec<_>>()
    };
    // All columns are equivalent; use the first as the current run.
    let whole = groups.values().map(|members| RunGroup {
        now: vec![column(members, 0)],
        before: (1..columns).map(|place| column(members, place)).collect(),
    });
    let lone = sides.iter().filter(|side| side.cluster.is_none());
    let lone = lone.map(|side| RunGroup {
        now: vec![column(&[side], 0)],
        before: (1..columns).map(|place| column(&[side], place)).collect(),
    });
    design_effect(&whole.chain(lone).collect::<Vec<_>>()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_flip_as_one_count_as_one() {
        let right: Vec<Vec<Option<bool>>> = (0..30)
            .map(|group: u32| {
                (0..4)
                    .map(|epoch| Some((group * 7 + epoch * 3) % 5 < 3))
                    .collect()
            })
            .collect();
        let names: Vec<_> = (0..30).map(|group| format!("g{group}")).collect();
        let sides = |epochs: usize, together: bool| -> Vec<_> {
            let side = |sample: usize| AnswerSides {
                before: &[],
                now: &right[if together { sample / 5 } else { sample % 30 }][..epochs],
                cluster: Some(&names[sample / 5]),
            };
            (0..150).map(side).collect()
        };
        let four = spread(&sides(4, true));
        assert!((four - 5.0).abs() < 1e-6, "{four}");
        // Single answers cannot show it.
        assert!((spread(&sides(1, true)) - 5.0).abs() < 1e-9);
        assert!(spread(&sides(4, false)) < 3.0);
        let mut alone = sides(4, true);
        for side in &mut alone {
            side.cluster = None;
        }
        assert!((spread(&alone) - 1.0).abs() < 1e-9);
    }
}
