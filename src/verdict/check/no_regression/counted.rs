//! `CountedPairs`: the answers to the samples of two sets of runs, added one by one.

use std::collections::{BTreeMap, HashMap};

use super::paired::{As, Paired, columns};
use crate::stats::{self, AnswerCounts, ComparedSample, CountedSamples, RunGroup};
use crate::verdict::baseline::{Pair, right_of};

/// Pairs as counts of equal ones, however many there are. Only samples in groups are stored individually, since whole
/// groups are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedPairs {
    kinds: BTreeMap<[SideAnswers; 2], u64>,
    members: Option<GroupMembers>,
}

/// The answers of one side to a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct SideAnswers {
    known: AnswerCounts,
    /// Answers without a verdict.
    missing: u32,
}

/// The individual samples, in order of addition.
#[derive(Clone, Debug, Default)]
struct GroupMembers {
    /// The indices of groups by name. A sample without a group is a group of its own, with a distinct key.
    names: HashMap<(bool, Box<str>), usize>,
    members: Vec<GroupMember>,
    has_group: bool,
}

#[derive(Clone, Debug)]
struct GroupMember {
    group: usize,
    answers: [Box<[Option<bool>]>; 2],
}

impl CountedPairs {
    /// No pairs yet. Whether samples have groups must be known in advance.
    pub(crate) fn new(is_grouped: bool) -> Self {
        Self {
            kinds: BTreeMap::new(),
            members: is_grouped.then(GroupMembers::default),
        }
    }

    /// From these pairs.
    pub(crate) fn of(pairs: &[Pair<'_>]) -> Self {
        let mut counted = Self::new(pairs.iter().any(|pair| pair.cluster.is_some()));
        for pair in pairs {
            counted.add(pair);
        }
        counted
    }

    /// Adds a pair.
    pub(crate) fn add(&mut self, pair: &Pair<'_>) {
        let kind = [pair.before, pair.now].map(SideAnswers::of);
        *self.kinds.entry(kind).or_default() += 1;
        if let Some(members) = &mut self.members {
            members.add(pair);
        }
    }

    /// The answers of each side that have no verdict.
    pub(super) fn missing(&self) -> [u64; 2] {
        let mut missing = [0, 0];
        for (kind, times) in &self.kinds {
            for (sum, side) in missing.iter_mut().zip(kind) {
                *sum += times * u64::from(side.missing);
            }
        }
        missing
    }

    /// The numbers, with missing verdicts of now counted as `errors`. Those of before are ignored.
    pub(super) fn paired(&self, errors: As) -> Paired {
        self.paired_as([As::Nothing, errors])
    }

    /// The same, with missing verdicts counted separately for each side.
    pub(super) fn paired_as(&self, [before, now]: [As; 2]) -> Paired {
        let kinds = self.kinds.iter().map(|([was, is], times)| {
            let sample = ComparedSample {
                before: was.counted(before),
                now: is.counted(now),
            };
            (sample, *times)
        });
        let is_compared = |sample: &ComparedSample| sample.now.of > 0 && sample.before.of > 0;
        let samples: CountedSamples = kinds.filter(|(sample, _)| is_compared(sample)).collect();
        let members = self.members.as_ref().filter(|members| members.has_group);
        match members {
            None => Paired {
                tested: stats::conditional_test_of(&samples),
                groups: None,
                samples,
            },
            Some(members) => {
                let groups = members.groups([before, now]);
                Paired {
                    tested: stats::whole_runs_test(&groups.runs),
                    groups: Some(groups),
                    samples,
                }
            }
        }
    }
}

impl SideAnswers {
    fn of(answers: &[Option<bool>]) -> Self {
        let known = right_of(answers);
        let all = u32::try_from(answers.len()).unwrap_or(u32::MAX);
        Self {
            known,
            missing: all.saturating_sub(known.of),
        }
    }

    fn counted(self, errors: As) -> AnswerCounts {
        let AnswerCounts { right, of } = self.known;
        let all = of.saturating_add(self.missing);
        match errors {
            As::Nothing => self.known,
            As::Wrong => AnswerCounts::new(right, all),
            As::Right => AnswerCounts::new(right.saturating_add(self.missing), all),
            As::Lost => AnswerCounts::new(0, all),
        }
    }
}

/// The groups of samples.
#[derive(Clone, Debug)]
pub(super) struct PairedGroups {
    /// The samples of each group.
    pub(super) samples: Vec<Vec<ComparedSample>>,
    /// Each group with all its answers.
    pub(super) runs: Vec<RunGroup>,
}

impl GroupMembers {
    fn add(&mut self, pair: &Pair<'_>) {
        self.has_group |= pair.cluster.is_some();
        let name = pair.cluster.map_or((false, pair.id), |name| (true, name));
        let next = self.names.len();
        let group = *self.names.entry((name.0, name.1.into())).or_insert(next);
        self.members.push(GroupMember {
            group,
            answers: [pair.before.into(), pair.now.into()],
        });
    }

    /// The groups, ordered by their first sample with answers on both sides.
    fn groups(&self, as_what: [As; 2]) -> PairedGroups {
        let mut places = vec![None; self.names.len()];
        let mut whole = Vec::<Vec<[Vec<Option<bool>>; 2]>>::new();
        let mut samples = Vec::<Vec<ComparedSample>>::new();
        for GroupMember { group, answers } in &self.members {
            let read = |side: usize| -> Vec<_> {
                let answers = answers[side].iter();
                answers.map(|it| as_what[side].read(*it)).collect()
            };
            let [before, now] = [read(0), read(1)];
            let sample = ComparedSample {
                before: right_of(&before),
                now: right_of(&now),
            };
            if sample.now.of == 0 || sample.before.of == 0 {
                continue;
            }
            let place = *places[*group].get_or_insert_with(|| {
                whole.push(Vec::new());
                samples.push(Vec::new());
                whole.len() - 1
            });
            whole[place].push([before, now]);
            samples[place].push(sample);
        }
        let runs = whole.iter().map(|members| RunGroup {
            before: columns(&members.iter().map(|[before, _]| before.as_slice())),
            now: columns(&members.iter().map(|[_, now]| now.as_slice())),
        });
        PairedGroups {
            runs: runs.collect(),
            samples,
        }
    }
}
