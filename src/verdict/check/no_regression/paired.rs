//! `Paired`: the answers to the samples of two sets of runs, as numbers.

use std::collections::BTreeMap;

use crate::stats::{self, AnswerCounts, Clusters, ComparedSample, Difference, RunGroup, Tested};
use crate::verdict::baseline::{Pair, right_of};

/// What an answer of now counts as that errored or was never given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum As {
    Wrong,
    Right,
    /// As wrong, with all others of now.
    Lost,
    /// As no answer.
    Nothing,
}

/// The samples with answers on both sides, and what the test says of them.
#[derive(Clone, Debug)]
pub(super) struct Paired {
    samples: Vec<ComparedSample>,
    /// `None` where no sample is in a group.
    groups: Option<PairedGroups>,
    pub(super) tested: Tested,
}

/// The groups that samples come in.
#[derive(Clone, Debug)]
struct PairedGroups {
    /// For each sample, the place of its group.
    places: Vec<usize>,
    /// Each group with all its answers.
    runs: Vec<RunGroup>,
}

/// A share of right answers with its 95 % interval, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RightShare {
    pub(super) value: Option<f64>,
    pub(super) ci95: Option<[f64; 2]>,
}

impl As {
    pub(super) const ALL: [Self; 4] = [Self::Wrong, Self::Right, Self::Lost, Self::Nothing];

    /// An answer, as this says.
    fn read(self, answer: Option<bool>) -> Option<bool> {
        match self {
            Self::Nothing => answer,
            Self::Wrong => answer.or(Some(false)),
            Self::Right => answer.or(Some(true)),
            Self::Lost => Some(false),
        }
    }
}

impl Paired {
    pub(super) fn of(pairs: &[Pair<'_>], errors: As) -> Self {
        let mut samples = Vec::with_capacity(pairs.len());
        let mut members: Vec<(&Pair<'_>, Vec<Option<bool>>)> = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let now = pair.now.iter().map(|answer| errors.read(*answer));
            let now: Vec<_> = now.collect();
            let compared = ComparedSample {
                before: right_of(pair.before),
                now: right_of(&now),
            };
            if compared.now.of > 0 {
                samples.push(compared);
                members.push((pair, now));
            }
        }
        let is_grouped = pairs.iter().any(|pair| pair.cluster.is_some());
        if !is_grouped {
            return Self {
                tested: stats::conditional_test(&samples),
                groups: None,
                samples,
            };
        }
        let mut names = BTreeMap::new();
        let mut places = Vec::with_capacity(members.len());
        for (pair, _) in &members {
            // A sample without a group is one of its own, whatever the groups are called.
            let name = pair.cluster.map_or((false, pair.id), |name| (true, name));
            let next = names.len();
            places.push(*names.entry(name).or_insert(next));
        }
        let mut whole = vec![Vec::new(); names.len()];
        for (member, place) in members.iter().zip(&places) {
            whole[*place].push(member);
        }
        let runs: Vec<RunGroup> = whole
            .iter()
            .map(|members| RunGroup {
                before: columns(&members.iter().map(|(pair, _)| pair.before)),
                now: columns(&members.iter().map(|(_, now)| now.as_slice())),
            })
            .collect();
        Self {
            tested: stats::whole_runs_test(&runs),
            groups: Some(PairedGroups { places, runs }),
            samples,
        }
    }

    /// What a look decides.
    pub(super) fn decide(&self, look: &stats::Look) -> stats::Decision {
        look.decide(&self.tested, &self.samples)
    }

    /// How many samples there are.
    pub(super) fn pairs(&self) -> u64 {
        self.samples.len() as u64
    }

    /// How many groups there are, where samples come in groups.
    pub(super) fn group_count(&self) -> Option<usize> {
        Some(self.groups.as_ref()?.runs.len())
    }

    /// The paired difference of the accuracies with its interval; `None` without pairs.
    pub(super) fn difference(&self) -> Option<Difference> {
        let Some(groups) = &self.groups else {
            return stats::paired_difference(&self.samples);
        };
        let mut grouped = BTreeMap::<usize, Vec<ComparedSample>>::new();
        for (group, sample) in groups.places.iter().zip(&self.samples) {
            grouped.entry(*group).or_default().push(*sample);
        }
        let grouped: Vec<_> = grouped.into_values().collect();
        stats::grouped_difference(&grouped)
    }

    /// The smallest loss of accuracy that the test sees with probability `power`; `None` without one.
    pub(super) fn smallest_drop(&self, red: stats::RedBelow, power: f64) -> Option<f64> {
        match &self.groups {
            None => stats::smallest_drop(&self.samples, red, power),
            Some(groups) => stats::smallest_drop_of_groups(&groups.runs, red, power),
        }
    }

    /// The share of samples that chance turns from right to wrong between two answers, and as many the other way.
    pub(super) fn noise(&self) -> Option<f64> {
        stats::Rates::of(&self.samples).map(|rates| rates.noise())
    }

    /// Whether a sample has several answers on one side.
    pub(super) fn has_several_answers(&self) -> bool {
        let several = |both: &ComparedSample| both.before.of.max(both.now.of) > 1;
        self.samples.iter().any(several)
    }

    /// The loss of accuracy, each sample counting alike; negative for a gain, `None` without pairs.
    pub(super) fn drop(&self) -> Option<f64> {
        let share = |answers: AnswerCounts| f64::from(answers.right) / f64::from(answers.of);
        let samples = self.samples.iter();
        let lost = samples.map(|sample| share(sample.before) - share(sample.now));
        // Rounded once: a drop of exactly `max_drop` is none beyond it.
        stats::mean(&lost.collect::<Vec<_>>())
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
        let each = || self.samples.iter().map(|sample| count(side(sample)));
        let [right, all] = each().fold([0, 0], |sum, [c, n]| [sum[0] + c, sum[1] + n]);
        let ci95 = match &self.groups {
            None if all == self.pairs() => stats::wilson95(right, all),
            None => clusters(each()).interval95(),
            Some(groups) => {
                let mut sums = BTreeMap::<usize, [u64; 2]>::new();
                for (group, [c, n]) in groups.places.iter().zip(each()) {
                    let sum = sums.entry(*group).or_default();
                    *sum = [sum[0] + c, sum[1] + n];
                }
                clusters(sums.into_values()).interval95()
            }
        };
        RightShare {
            value: stats::ratio(right, all),
            ci95,
        }
    }
}

fn clusters(groups: impl Iterator<Item = [u64; 2]>) -> Clusters {
    let mut clusters = Clusters::default();
    groups.for_each(|[right, all]| clusters.add(right, all));
    clusters
}

/// One column an answer, in each the answers to all of some samples.
fn columns<'a>(
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
