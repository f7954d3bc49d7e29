//! `CountedPairs`: the answers to the samples of two sets of runs, added one by one.

use std::collections::{BTreeMap, HashMap};

use super::paired::{As, Paired, columns};
use super::repetition::{Repetition, first_of, runs_of};
use crate::stats::{self, AnswerCounts, ComparedSample, CountedSamples, RunGroup};
use crate::verdict::baseline::{BaselineRun, Pair, right_of};

/// Pairs as counts of equal ones, however many there are. Only samples in groups are stored individually, since whole
/// groups are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedPairs {
    kinds: BTreeMap<[SideAnswers; 2], u64>,
    /// The same with one answer of each run.
    first: BTreeMap<[SideAnswers; 2], u64>,
    repetition: Repetition,
    /// The epochs of each run of the baseline; empty if it is one run.
    epochs: Vec<u32>,
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
    /// The first answers of each run.
    first: [Box<[Option<bool>]>; 2],
}

impl CountedPairs {
    /// No pairs of two runs yet. Whether samples have groups must be known in advance.
    pub(crate) fn new(is_grouped: bool) -> Self {
        Self {
            members: is_grouped.then(GroupMembers::default),
            ..Self::default()
        }
    }

    /// From these pairs, with these runs in the baseline.
    pub(crate) fn of<'a>(
        pairs: impl Iterator<Item = Pair<'a>> + Clone,
        runs: &[BaselineRun],
    ) -> Self {
        let mut counted = Self::new(pairs.clone().any(|pair| pair.cluster.is_some()));
        counted.epochs = runs.iter().map(|run| run.epochs).collect();
        for pair in pairs {
            counted.add(&pair);
        }
        counted
    }

    /// Adds a pair.
    pub(crate) fn add(&mut self, pair: &Pair<'_>) {
        let kind = [pair.before, pair.now].map(SideAnswers::of);
        *self.kinds.entry(kind).or_default() += 1;
        let before = runs_of(pair.before, &self.epochs);
        self.repetition.add(&before, pair.now);
        let first = [first_of(&before), first_of(&[pair.now])];
        let [was, is] = &first;
        let kind = [SideAnswers::of(was), SideAnswers::of(is)];
        *self.first.entry(kind).or_default() += 1;
        if let Some(members) = &mut self.members {
            members.add(pair, first);
        }
    }

    /// How far epochs repeat each other, if they count as one.
    pub(super) fn repetition(&self) -> Option<Repetition> {
        self.repetition.counts_as_one().then_some(self.repetition)
    }

    /// The answers of now that repeat another one of their sample, if epochs count as one.
    pub(crate) fn repeated(&self) -> u64 {
        if self.repetition().is_none() {
            return 0;
        }
        let now = self.kinds.iter();
        let now = now.map(|([_, now], times)| times * u64::from(now.known.of.saturating_sub(1)));
        now.sum()
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
    pub(super) fn paired_as(&self, as_what: [As; 2]) -> Paired {
        let samples = compared(&self.kinds, as_what);
        let is_one = self.repetition.counts_as_one();
        let members = self.members.as_ref().filter(|members| members.has_group);
        let groups = members.map(|members| members.groups(as_what, is_one));
        let first = is_one.then(|| compared(&self.first, as_what));
        let tested = match &groups {
            None => stats::conditional_test_of(first.as_ref().unwrap_or(&samples)),
            Some(groups) => stats::whole_runs_test(&groups.runs),
        };
        Paired {
            samples,
            first,
            groups,
            tested,
        }
    }
}

/// The samples with answers on both sides.
fn compared(kinds: &BTreeMap<[SideAnswers; 2], u64>, [before, now]: [As; 2]) -> CountedSamples {
    let kinds = kinds.iter().map(|([was, is], times)| {
        let sample = ComparedSample {
            before: was.counted(before),
            now: is.counted(now),
        };
        (sample, *times)
    });
    let is_compared = |sample: &ComparedSample| sample.now.of > 0 && sample.before.of > 0;
    kinds.filter(|(sample, _)| is_compared(sample)).collect()
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
    /// Each group with all its answers, or one of each run.
    pub(super) runs: Vec<RunGroup>,
}

impl GroupMembers {
    fn add(&mut self, pair: &Pair<'_>, first: [Vec<Option<bool>>; 2]) {
        self.has_group |= pair.cluster.is_some();
        let name = pair.cluster.map_or((false, pair.id), |name| (true, name));
        let next = self.names.len();
        let group = *self.names.entry((name.0, name.1.into())).or_insert(next);
        self.members.push(GroupMember {
            group,
            answers: [pair.before.into(), pair.now.into()],
            first: first.map(Into::into),
        });
    }

    /// The groups, ordered by their first sample with answers on both sides. The epochs of a run are one column each, or
    /// one column together.
    fn groups(&self, as_what: [As; 2], is_one: bool) -> PairedGroups {
        let mut places = vec![None; self.names.len()];
        let mut whole = Vec::<Vec<[Vec<Option<bool>>; 2]>>::new();
        let mut samples = Vec::<Vec<ComparedSample>>::new();
        for member in &self.members {
            let read = |answers: &[Box<[Option<bool>]>; 2], side: usize| -> Vec<_> {
                let answers = answers[side].iter();
                answers.map(|it| as_what[side].read(*it)).collect()
            };
            let [before, now] = [0, 1].map(|side| read(&member.answers, side));
            let sample = ComparedSample {
                before: right_of(&before),
                now: right_of(&now),
            };
            if sample.now.of == 0 || sample.before.of == 0 {
                continue;
            }
            let place = *places[member.group].get_or_insert_with(|| {
                whole.push(Vec::new());
                samples.push(Vec::new());
                whole.len() - 1
            });
            whole[place].push(if is_one {
                [0, 1].map(|side| read(&member.first, side))
            } else {
                [before, now]
            });
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
