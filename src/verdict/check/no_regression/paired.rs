//! `Paired`: counts of the answers to the samples of two sets of runs.

use super::counted::PairedGroups;
use crate::stats::{
    self, AnswerCounts, Clusters, ComparedSample, CountedSamples, Difference, ExactTest, RunGroup,
    Tested,
};

use crate::verdict::baseline::flipped_counts;

/// How an answer that errored or was never given counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum As {
    Wrong,
    Right,
    /// As wrong, with all other answers of its side.
    Lost,
    /// Ignored.
    Nothing,
}

/// The samples with answers on both sides, and the test result.
#[derive(Clone, Debug)]
pub(super) struct Paired {
    pub(super) samples: CountedSamples,
    /// One answer of each run, which are compared where epochs repeat each other.
    pub(super) first: Option<CountedSamples>,
    /// `None` if no sample is in a group.
    pub(super) groups: Option<PairedGroups>,
    pub(super) tested: Tested,
}

/// A share of right answers with its 95 % confidence interval, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RightShare {
    pub(super) value: Option<f64>,
    pub(super) ci95: Option<[f64; 2]>,
}

impl As {
    pub(crate) const ALL: [Self; 4] = [Self::Wrong, Self::Right, Self::Lost, Self::Nothing];

    /// Applies this to an answer.
    pub(super) fn read(self, answer: Option<bool>) -> Option<bool> {
        match self {
            Self::Nothing => answer,
            Self::Wrong => answer.or(Some(false)),
            Self::Right => answer.or(Some(true)),
            Self::Lost => Some(false),
        }
    }
}

impl Paired {
    /// The samples with the answers that are independent of each other.
    fn independent(&self) -> &CountedSamples {
        self.first.as_ref().unwrap_or(&self.samples)
    }

    /// The p of a test; that of groups is always the conditional one, or its mid-p.
    pub(super) fn p(&self, test: ExactTest) -> f64 {
        match (&self.groups, test) {
            (Some(_), ExactTest::Unconditional) => self.tested.p,
            _ => test.p(&self.tested, self.independent()),
        }
    }

    /// The p with the two sides swapped.
    pub(super) fn p_other_way(&self) -> f64 {
        match &self.groups {
            None => {
                let turned = self.independent().kinds().map(|(both, times)| {
                    let turned = ComparedSample {
                        before: both.now,
                        now: both.before,
                    };
                    (turned, times)
                });
                let turned = turned.collect();
                ExactTest::default().p(&stats::conditional_test_of(&turned), &turned)
            }
            Some(groups) => {
                let turned = groups.runs.iter().map(|group| RunGroup {
                    before: group.now.clone(),
                    now: group.before.clone(),
                });
                stats::whole_runs_test(&turned.collect::<Vec<_>>()).p
            }
        }
    }

    /// The decision of an interim analysis.
    pub(super) fn decide(&self, analysis: &stats::StoppingBounds) -> stats::Decision {
        analysis.decide(&self.tested, self.independent())
    }

    /// The number of samples that became wrong, or correct.
    pub(super) fn flips(&self, worse: bool) -> u64 {
        let kinds = self.samples.kinds();
        let flips = kinds.filter(|(both, _)| flipped_counts(both.before, both.now) == Some(worse));
        flips.map(|(_, times)| times).sum()
    }

    /// The number of samples.
    pub(super) fn pairs(&self) -> u64 {
        self.samples.count()
    }

    /// The number of groups, if samples have groups.
    pub(super) fn group_count(&self) -> Option<usize> {
        Some(self.groups.as_ref()?.runs.len())
    }

    /// The paired difference of the accuracies with its interval; `None` without pairs.
    pub(super) fn difference(&self) -> Option<Difference> {
        match &self.groups {
            None => stats::paired_difference(&self.samples),
            Some(groups) => stats::grouped_difference(&groups.samples),
        }
    }

    /// The smallest loss of accuracy that the test detects with probability `power`; `None` if there is none.
    pub(super) fn smallest_drop(&self, red: stats::RedBelow, power: f64) -> Option<f64> {
        match &self.groups {
            None => stats::smallest_drop(self.independent(), red, power),
            Some(groups) => stats::smallest_drop_of_groups(&groups.runs, red, power),
        }
    }

    /// The share of samples that chance turns from right to wrong between two answers, equal to that of the reverse.
    pub(super) fn noise(&self) -> Option<f64> {
        stats::Rates::of_counted(self.independent()).map(|rates| rates.noise())
    }

    /// Whether a sample has several independent answers on one side.
    pub(super) fn has_several_answers(&self) -> bool {
        let several = |both: &ComparedSample| both.before.of.max(both.now.of) > 1;
        self.independent().kinds().any(|(both, _)| several(both))
    }

    /// The loss of accuracy, with equal weight for each sample; negative for a gain, `None` without pairs.
    pub(super) fn drop(&self) -> Option<f64> {
        let share = |answers: AnswerCounts| f64::from(answers.right) / f64::from(answers.of);
        // Rounded once, so that a drop of exactly `max_drop` does not exceed it.
        let mut lost = stats::Sum::default();
        for (sample, times) in self.samples.kinds() {
            lost.add_times(share(sample.before) - share(sample.now), times);
        }
        lost.mean()
    }

    /// Accuracy in the baseline and now.
    pub(super) fn shares(&self) -> [RightShare; 2] {
        [
            self.share(|sample| sample.before),
            self.share(|sample| sample.now),
        ]
    }

    fn share(&self, side: fn(&ComparedSample) -> AnswerCounts) -> RightShare {
        let count = |answers: AnswerCounts| [answers.right, answers.of].map(u64::from);
        let mut clusters = Clusters::default();
        let [mut right, mut all] = [0, 0];
        for (sample, times) in self.samples.kinds() {
            let [c, n] = count(side(sample));
            clusters.add_times(c, n, times);
            right += times * c;
            all += times * n;
        }
        let ci95 = match &self.groups {
            None if all == self.pairs() => stats::wilson95(right, all),
            None => clusters.interval95(),
            Some(groups) => {
                let mut clusters = Clusters::default();
                for group in &groups.samples {
                    let answers = group.iter().map(|sample| count(side(sample)));
                    let [c, n] = answers.fold([0, 0], |sum, [c, n]| [sum[0] + c, sum[1] + n]);
                    clusters.add(c, n);
                }
                clusters.interval95()
            }
        };
        RightShare {
            value: stats::ratio(right, all),
            ci95,
        }
    }
}

/// One column per answer, each with the answers to all of some samples.
pub(super) fn columns<'a>(
    samples: &(impl Iterator<Item = &'a [Option<bool>]> + Clone),
) -> Vec<Vec<AnswerCounts>> {
    let most = samples.clone().map(<[_]>::len).max().unwrap_or(0);
    let column = |place: usize| {
        let answers = samples.clone();
        let answers = answers.map(|answers| answers.get(place).copied().flatten());
        answers
            .map(|answer| {
                AnswerCounts::new(u32::from(answer == Some(true)), u32::from(answer.is_some()))
            })
            .collect()
    };
    (0..most).map(column).collect()
}
