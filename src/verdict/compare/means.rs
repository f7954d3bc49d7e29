//! `PairedMean`: the mean of a number given by a scorer, in two runs over the same samples.

use std::collections::HashMap;

use serde::Serialize;

use super::side::SideValue;
use crate::stats::{
    self, AnswerCounts, ComparedSample, CountedSamples, Difference, RunningMean, grouped_mean95,
};

/// The mean of a scorer's number (`value`, or a numeric or boolean entry of its details), run B compared with run A.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedMean {
    /// Samples that have it in both runs, with equal weight, however many answers they have.
    pub n: u64,
    /// The mean in A, over these samples.
    pub mean_a: Option<f64>,
    /// The mean in B, over these samples.
    pub mean_b: Option<f64>,
    /// The mean in B minus that in A.
    pub difference: Option<f64>,
    /// Its 95 % confidence interval; `None` if too few samples differ.
    pub difference_ci95: Option<[f64; 2]>,
    /// Whether it is a share: each answer has 0 or 1.
    pub is_share: bool,
}

/// Builds a [`PairedMean`] from samples.
#[derive(Clone, Debug)]
pub(super) struct PairedMeanTally {
    means: [stats::Sum; 2],
    differences: RunningMean,
    /// `Some` as long as all numbers are 0 or 1.
    shares: Option<CountedSamples>,
    groups: Option<MeanGroups>,
}

/// The samples by group, if they have groups.
#[derive(Clone, Debug, Default)]
struct MeanGroups {
    names: HashMap<(bool, Box<str>), usize>,
    differences: Vec<Vec<f64>>,
    shares: Vec<Vec<ComparedSample>>,
}

impl PairedMeanTally {
    pub(super) fn new(is_grouped: bool) -> Self {
        Self {
            means: [stats::Sum::default(); 2],
            differences: RunningMean::default(),
            shares: Some(CountedSamples::default()),
            groups: is_grouped.then(MeanGroups::default),
        }
    }

    /// Adds a sample that has the number in both runs.
    pub(super) fn add(&mut self, [a, b]: [&SideValue; 2], id: &str, cluster: Option<&str>) {
        let mean = |value: &SideValue| value.sum / f64::from(value.count.max(1));
        let difference = mean(b) - mean(a);
        self.means[0].add(mean(a));
        self.means[1].add(mean(b));
        self.differences.add(difference);
        let sample = ComparedSample {
            before: counts(a),
            now: counts(b),
        };
        if !(a.is_binary && b.is_binary) {
            self.shares = None;
        }
        if let Some(shares) = &mut self.shares {
            shares.add(sample, 1);
        }
        if let Some(groups) = &mut self.groups {
            let name = cluster.map_or((false, id), |name| (true, name));
            let next = groups.names.len();
            let name = (name.0, name.1.into());
            let place = *groups.names.entry(name).or_insert(next);
            if place == next {
                groups.differences.push(Vec::new());
                groups.shares.push(Vec::new());
            }
            groups.differences[place].push(difference);
            groups.shares[place].push(sample);
        }
    }

    pub(super) fn finish(&self) -> PairedMean {
        let share = self.shares.as_ref().and_then(|counted| match &self.groups {
            None => stats::paired_difference(counted),
            Some(groups) => stats::grouped_difference(&groups.shares),
        });
        let of_share = share.map(|Difference { ci95, .. }| ci95);
        let of_mean = || match &self.groups {
            None => self.differences.ci95(),
            Some(groups) => grouped_mean95(&groups.differences),
        };
        PairedMean {
            n: self.means[0].count(),
            mean_a: self.means[0].mean(),
            mean_b: self.means[1].mean(),
            difference: self.differences.mean(),
            difference_ci95: of_share.or_else(of_mean),
            is_share: self.shares.is_some(),
        }
    }
}

/// Numbers that are 0 or 1 as right answers.
fn counts(value: &SideValue) -> AnswerCounts {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of zeros and ones; another one is not asked for"
    )]
    let right = value.sum as u32;
    AnswerCounts::new(right, value.count)
}
