//! What perturbed questions cost: pairs of answers to the same question, as it is and perturbed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::group::Group;
use super::tally::Tally;
use crate::data::conversation::is_zero;
use crate::data::record::perturb::PerturbKind;
use crate::data::{Record, Status};
use crate::stats::{
    self, AnswerCounts, ComparedSample, CountedSamples, Difference, ExactTest, RunGroup,
};
use crate::verdict::baseline::{flipped_counts, right_of};

/// The dimension of the slices with the perturbed answers.
pub(crate) const PERTURB: &str = "perturb";
/// How many ids of samples that became wrong are named.
const NAMED: usize = 10;

/// How much accuracy a kind of perturbation costs, over the samples with a verdict on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PerturbFigures {
    /// Samples that the kind changes and that have a verdict on both sides, each counted once.
    pub pairs: u64,
    /// Accuracy of the perturbed answers over these.
    pub accuracy: Option<f64>,
    /// By how much less that is than without; negative if it is more.
    pub drop: Option<f64>,
    /// Its 95 % confidence interval, which always has a width.
    pub drop_ci95: Option<[f64; 2]>,
    /// Samples that are right as they are and wrong perturbed.
    pub b: u64,
    /// The reverse.
    pub c: u64,
    /// The ids of the first of those that became wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub became_wrong: Vec<String>,
    /// The probability of a drop as large if the kind costs nothing: that of the exact paired test of `no_regression`.
    pub p: Option<f64>,
    /// Samples in which the kind changes nothing: they are in no pair.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unchanged: u64,
    /// Answers, of either side, that should have a verdict and have none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing: u64,
    /// What the drop would be with them at best and at worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_bounds: Option<[f64; 2]>,
    /// The upper ends of the interval there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_upper_bounds: Option<[f64; 2]>,
}

/// Collects pairs. The records of a sample must be consecutive, those as it is first.
#[derive(Clone, Debug, Default)]
pub(super) struct PerturbTally {
    kinds: BTreeMap<PerturbKind, KindTally>,
    /// Whether samples are asked several times.
    pub(super) has_epochs: bool,
    /// The current sample.
    id: String,
    cluster: Option<String>,
    /// Its answers as it is; an answer for which no verdict is expected is in no pair.
    plain: Vec<Option<bool>>,
    /// Its perturbed answers.
    perturbed: BTreeMap<PerturbKind, Vec<Option<bool>>>,
}

#[derive(Clone, Debug, Default)]
struct KindTally {
    /// Without answers that lack a verdict, and with them at best and at worst.
    pairs: [Pairs; 3],
    missing: u64,
    /// The figures of a slice.
    slice: Tally,
    unchanged: u64,
    became_wrong: Vec<String>,
}

/// How answers without a verdict count: those to questions as they are, and perturbed ones.
const MISSING_AS: [[Option<bool>; 2]; 3] = [
    [None, None],
    [Some(false), Some(true)],
    [Some(true), Some(false)],
];

/// Samples with answers on both sides.
#[derive(Clone, Debug, Default)]
struct Pairs {
    counted: CountedSamples,
    /// The samples of each group, where answers depend on each other: those to one sample, and those of a cluster.
    groups: BTreeMap<String, Vec<ComparedSample>>,
}

impl Pairs {
    /// Adds a sample; `group` names those that depend on it, if any do.
    fn add(&mut self, sample: ComparedSample, group: Option<&str>) {
        if sample.before.of == 0 || sample.now.of == 0 {
            return;
        }
        self.counted.add(sample, 1);
        if let Some(group) = group {
            self.groups
                .entry(group.to_owned())
                .or_default()
                .push(sample);
        }
    }

    fn difference(&self) -> Option<Difference> {
        if self.groups.is_empty() {
            return stats::paired_difference(&self.counted);
        }
        let groups: Vec<_> = self.groups.values().cloned().collect();
        stats::grouped_difference(&groups)
    }

    /// The p of the exact paired test.
    fn p(&self) -> Option<f64> {
        if self.counted.count() == 0 {
            return None;
        }
        if self.groups.is_empty() {
            let tested = stats::conditional_test_of(&self.counted);
            return Some(ExactTest::default().p(&tested, &self.counted));
        }
        let groups = self.groups.values().map(|samples| RunGroup {
            before: vec![samples.iter().map(|sample| sample.before).collect()],
            now: vec![samples.iter().map(|sample| sample.now).collect()],
        });
        Some(stats::whole_runs_test(&groups.collect::<Vec<_>>()).p)
    }

    /// Samples that are wrong perturbed and were right, or the reverse.
    fn flips(&self, worse: bool) -> u64 {
        let kinds = self.counted.kinds();
        let flips = kinds.filter(|(both, _)| flipped_counts(both.before, both.now) == Some(worse));
        flips.map(|(_, times)| times).sum()
    }
}

impl PerturbTally {
    /// Adds a record of a question as it is; only needed where others are perturbed.
    pub(super) fn add_plain(&mut self, record: &Record) {
        if self.id != record.sample_id || record.epoch == 0 {
            self.end_sample();
            self.id.clone_from(&record.sample_id);
            self.cluster.clone_from(&record.cluster);
        }
        push_verdict(&mut self.plain, record);
    }

    /// Adds a record of a perturbed question.
    pub(super) fn add(&mut self, kind: PerturbKind, record: &Record) {
        let tally = self.kinds.entry(kind).or_default();
        if record.unchanged {
            tally.unchanged += 1;
            return;
        }
        tally.slice.add(record);
        let answers = self.perturbed.entry(kind).or_default();
        push_verdict(answers, record);
    }

    fn end_sample(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        for (kind, now) in std::mem::take(&mut self.perturbed) {
            let Some(tally) = self.kinds.get_mut(&kind) else {
                continue;
            };
            if plain.is_empty() || now.is_empty() {
                continue;
            }
            let missing = plain.iter().chain(&now).filter(|answer| answer.is_none());
            tally.missing += missing.count() as u64;
            let [before, after] = [&plain, &now].map(|answers| counted(answers, None));
            if flipped_counts(before, after) == Some(true) && tally.became_wrong.len() < NAMED {
                tally.became_wrong.push(self.id.clone());
            }
            for (pairs, [before, perturbed]) in tally.pairs.iter_mut().zip(MISSING_AS) {
                let sample = ComparedSample {
                    before: counted(&plain, before),
                    now: counted(&now, perturbed),
                };
                let own = self.has_epochs.then_some(self.id.as_str());
                pairs.add(sample, self.cluster.as_deref().or(own));
            }
        }
    }

    /// The figures of each kind, and of its answers as a slice.
    pub(super) fn finish(
        mut self,
    ) -> (
        BTreeMap<PerturbKind, PerturbFigures>,
        BTreeMap<String, Group>,
    ) {
        self.end_sample();
        let mut slices = BTreeMap::new();
        let figures = self.kinds.into_iter().map(|(kind, tally)| {
            let figures = PerturbFigures::of(&tally);
            slices.insert(kind.as_str().to_owned(), tally.slice.finish());
            (kind, figures)
        });
        (figures.collect(), slices)
    }
}

impl PerturbFigures {
    fn of(tally: &KindTally) -> Self {
        let [known, best, worst] = &tally.pairs;
        // The sign of zero is none.
        let drop = |rise: f64| 0.0 - rise;
        let difference = known.difference();
        let bounds = (tally.missing > 0)
            .then(|| best.difference().zip(worst.difference()))
            .flatten();
        let both = |of: fn(&Difference) -> f64| {
            bounds
                .as_ref()
                .map(|(best, worst)| [best, worst].map(|end| drop(of(end))))
        };
        Self {
            pairs: known.counted.count(),
            accuracy: difference.map(|difference| difference.now),
            drop: difference.map(|difference| drop(difference.value)),
            drop_ci95: difference.map(
                |Difference {
                     ci95: [low, high], ..
                 }| [drop(high), drop(low)],
            ),
            b: known.flips(true),
            c: known.flips(false),
            became_wrong: tally.became_wrong.clone(),
            p: known.p(),
            unchanged: tally.unchanged,
            missing: tally.missing,
            drop_bounds: both(|end| end.value),
            drop_upper_bounds: both(|end| end.ci95[0]),
        }
    }
}

/// The right answers, with those that lack a verdict counted in some way.
fn counted(answers: &[Option<bool>], missing: Option<bool>) -> AnswerCounts {
    let answers = answers.iter().map(|answer| answer.or(missing));
    right_of(&answers.collect::<Vec<_>>())
}

/// Adds the verdict on an answer, `None` if it should have one and has none; nothing if none is expected.
fn push_verdict(answers: &mut Vec<Option<bool>>, record: &Record) {
    match record.result.status {
        Status::Unscored => {}
        Status::Scored => answers.push(Some(record.result.is_correct())),
        _ => answers.push(None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Summary;
    use super::*;
    use crate::verdict::summary::tests::record;

    /// A sample's answers as it is, and with typos: `+`, `-`, `?` for an error, `=` if typos change nothing.
    fn sample(id: &str, plain: &str, typos: &str) -> Vec<Record> {
        let plain = plain.chars().map(|answer| (None, answer));
        let typos = typos
            .chars()
            .map(|answer| (Some(PerturbKind::Typos), answer));
        let trials = plain.chain(typos).zip(0..);
        trials
            .map(|((perturb, answer), epoch)| {
                let status = match answer {
                    '?' => Status::TimedOut,
                    '=' => Status::Skipped,
                    _ => Status::Scored,
                };
                Record {
                    epoch,
                    perturb,
                    unchanged: answer == '=',
                    ..record(id, status, answer == '+', "1")
                }
            })
            .collect()
    }

    fn summary(samples: &[(&str, &str)]) -> Summary {
        let samples = samples.iter().zip(0..);
        let records: Vec<_> = samples
            .flat_map(|((plain, typos), id)| sample(&format!("s{id}"), plain, typos))
            .collect();
        Summary::of("e", &records)
    }

    #[test]
    fn pairs_are_counted_and_the_headline_stays() {
        let summary = summary(&[
            ("+", "+"),
            ("+", "-"),
            ("+", "-"),
            ("-", "+"),
            ("-", "-"),
            ("+", "="),
        ]);
        assert_eq!((summary.samples, summary.correct), (6, 4));
        assert_eq!(summary.epochs, None);
        let figures = &summary.perturb[&PerturbKind::Typos];
        assert_eq!((figures.pairs, figures.b, figures.c), (5, 2, 1));
        assert_eq!(figures.became_wrong, ["s1", "s2"]);
        assert_eq!((figures.unchanged, figures.missing), (1, 0));
        assert!((figures.drop.unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(figures.accuracy, Some(0.4));
        let slice = &summary.slices[PERTURB]["typos"];
        assert_eq!((slice.scored, slice.correct), (5, 2));
        let [low, high] = figures.drop_ci95.unwrap();
        assert!(low < 0.2 && high > 0.2);
        // It is in `summary.json`, and read back.
        let json = serde_json::to_value(&summary).unwrap();
        assert_eq!(json["perturb"]["typos"]["pairs"], 5);
        assert_eq!(serde_json::from_value::<Summary>(json).unwrap(), summary);
    }

    #[test]
    fn an_answer_that_is_missing_leaves_the_drop_open() {
        let summary = summary(&[("+", "+"), ("+", "?"), ("?", "-"), ("-", "-")]);
        let figures = &summary.perturb[&PerturbKind::Typos];
        assert_eq!((figures.pairs, figures.missing), (2, 2));
        assert_eq!(figures.drop, Some(0.0));
        assert_eq!(figures.drop_bounds, Some([0.0, 0.5]));
        assert_eq!(summary.errors, 1);
    }

    #[test]
    fn epochs_of_a_sample_are_one_pair() {
        let summary = summary(&[("++", "--"), ("+-", "+-")]);
        let figures = &summary.perturb[&PerturbKind::Typos];
        assert_eq!((figures.pairs, figures.b), (2, 1));
        assert_eq!(figures.drop, Some(0.5));
        assert_eq!(summary.samples, 4);
    }
}
