//! `Baseline`: the accepted runs that a new one is compared with, and the pairing of the two.
//!
//! A baseline is one or several whole runs. Snapshots accepted one by one (`digest_matches: false`) are no sample of
//! anything: keeping only what went well makes an unchanged agent look worse ever after.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::{Record, Status};
use crate::error::{Error, Result};
use crate::verdict::gate::Slice;
use crate::verdict::marks::Marks;

/// The accepted runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The runs, in the order in which they were accepted; none where that is not known.
    pub runs: Vec<BaselineRun>,
    /// Hash of scorer, options and extraction.
    pub scorer_hash: String,
    /// Its samples by id.
    pub samples: BTreeMap<String, BaselineSample>,
    /// Whether the snapshots are still those of these runs.
    pub digest_matches: bool,
    /// Where they are not: the files of the folder that were changed, added or removed since, as far as that can be
    /// told. None of a baseline of the first version.
    pub changed_files: Vec<String>,
    /// The prompt around the questions of these runs, as [`Facts::prompt`](crate::engine::verdict::Facts::prompt)
    /// names it; `None` where that is not known.
    pub prompt: Option<String>,
    /// Names the dataset whose questions and answers key its hashes, where they are masked.
    pub mask_id: Option<String>,
}

/// One of the accepted runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaselineRun {
    /// Its id.
    pub run_id: String,
    /// How often it asked each sample.
    pub epochs: u32,
}

/// One sample of the accepted runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaselineSample {
    /// The verdict on each of its answers, in the order of runs and of epochs; `None` where there was none.
    pub answers: Vec<Option<bool>>,
    /// Hash of the question with its files, or what stands for it where it is masked; of the whole prompt, in
    /// snapshots of version 1.
    pub input_hash: String,
    /// Hash of the ground truth, or what stands for it.
    pub target_hash: String,
}

/// What the comparison needs of one record of the current run. Of several epochs all have the sample's standing.
#[derive(Clone, Debug, PartialEq)]
pub struct CurrentSample {
    /// The sample's id.
    pub id: String,
    /// Which repetition, from 0.
    pub epoch: u32,
    /// What is known of the sample's verdict, with several epochs that of the majority.
    pub standing: Standing,
    /// Hash of what the agent was given.
    pub input_hash: String,
    /// Hash of the ground truth.
    pub target_hash: String,
    /// By what else it is known again.
    pub marks: Marks,
    /// The slices it belongs to.
    pub slices: Vec<Slice>,
    /// Seconds that the answer took, if there was one.
    pub latency_s: Option<f64>,
}

/// What is known of the verdict on a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Scored and correct.
    Correct,
    /// Scored and wrong.
    Wrong,
    /// Errored or skipped: it should have a verdict and has none.
    Unknown,
    /// There is no verdict to get.
    Unscored,
}

impl CurrentSample {
    /// What the comparison needs of a record.
    pub fn of(record: &Record) -> Self {
        let outcome = &record.result;
        let (standing, answered) = match outcome.status {
            Status::Scored if outcome.is_correct() => (Standing::Correct, true),
            Status::Scored => (Standing::Wrong, true),
            Status::Unscored => (Standing::Unscored, true),
            Status::ScorerFailed => (Standing::Unknown, true),
            Status::AgentFailed | Status::TimedOut | Status::Skipped => (Standing::Unknown, false),
        };
        Self {
            id: record.sample_id.clone(),
            epoch: record.epoch,
            standing,
            input_hash: record.input_hash.clone(),
            target_hash: record.target_hash.clone(),
            marks: Marks::of(record),
            slices: Slice::all_of(record),
            latency_s: Some(outcome.latency_s).filter(|latency| {
                answered && !outcome.cached && latency.is_finite() && *latency >= 0.0
            }),
        }
    }

    /// Whether the sample belongs to a slice; every sample belongs to `None`.
    pub(crate) fn is_in(&self, slice: Option<&Slice>) -> bool {
        slice.is_none_or(|slice| self.slices.contains(slice))
    }
}

/// The samples of two runs, side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairing<'a> {
    /// Those with a verdict in the baseline, and one or an [`Standing::Unknown`] one now.
    pub pairs: Vec<Pair<'a>>,
    /// Ids that the baseline does not have.
    pub added: Vec<&'a str>,
    /// Ids that only the baseline has.
    pub removed: Vec<&'a str>,
    /// Ids whose input or ground truth is another one now.
    pub changed: Vec<&'a str>,
    /// Ids that had no verdict in the baseline, or have none to get now.
    pub unscored: Vec<&'a str>,
}

/// One sample in both runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The sample's id.
    pub id: &'a str,
    /// Whether it was correct in the baseline.
    pub before: bool,
    /// Whether it is now; `None` for an errored or skipped sample.
    pub after: Option<bool>,
}

/// A sample that was correct in the baseline and is not now, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flip {
    /// The sample's id.
    pub id: String,
    /// Whether it became wrong.
    pub worse: bool,
}

impl BaselineSample {
    /// Of one answer.
    pub fn once(correct: Option<bool>) -> Self {
        Self {
            answers: vec![correct],
            ..Self::default()
        }
    }

    /// Whether more than half of its answers were correct; `None` without one that has a verdict.
    pub(crate) fn verdict(&self) -> Option<bool> {
        let scored = self.answers.iter().flatten().count();
        let correct = self.answers.iter().flatten().filter(|is| **is).count();
        (scored > 0).then_some(correct * 2 > scored)
    }

    /// Whether it is of the same question, files and ground truth as a sample of now with these hashes. The prompt
    /// around the question is configuration, as the agent is.
    pub(crate) fn is_of(&self, input_hash: &str, target_hash: &str, marks: &Marks) -> bool {
        let is_one =
            |old: &String, now: &str, others: &[String]| old == now || others.contains(old);
        is_one(&self.input_hash, input_hash, &marks.questions)
            && is_one(&self.target_hash, target_hash, &marks.targets)
    }
}

impl Baseline {
    /// The ids of its runs, for people.
    pub fn run_ids(&self) -> String {
        let ids: Vec<_> = self.runs.iter().map(|run| run.run_id.as_str()).collect();
        ids.join(", ")
    }

    /// Why nothing can be compared with a run whose dataset has this [`mask_id`](Self::mask_id): truths are hidden on
    /// both sides, by other keys.
    pub(crate) fn hidden_from(&self, mask_id: Option<&str>) -> Option<String> {
        let (then, now) = (self.mask_id.as_deref()?, mask_id?);
        (then != now).then(|| {
            format!(
                "the dataset is another one than that of the baseline (run `{}`), whose snapshots are masked: \
                 questions and ground truths cannot be compared one by one. Accept a run on this one: cargo evaltest \
                 accept",
                self.run_ids()
            )
        })
    }

    /// How often a sample was asked in one of its runs; `None` when that is not known.
    pub(crate) fn epochs(&self) -> Option<u32> {
        self.runs.first().map(|run| run.epochs)
    }

    /// Puts the current samples beside those of the baseline. Only samples with equal hashes are
    /// comparable. A sample is one pair, however many epochs it has, so that the pairs are independent.
    ///
    /// With a `slice`, only its samples; what was removed is not told then, as the baseline does not know
    /// slices.
    pub fn pair<'a>(&'a self, current: &'a [CurrentSample], slice: Option<&Slice>) -> Pairing<'a> {
        let mut firsts = BTreeMap::<&str, &CurrentSample>::new();
        let mut order = Vec::new();
        for sample in current {
            match firsts.get_mut(sample.id.as_str()) {
                Some(first) if first.epoch <= sample.epoch => {}
                Some(first) => *first = sample,
                None => {
                    firsts.insert(&sample.id, sample);
                    order.push(sample.id.as_str());
                }
            }
        }
        let mut pairing = Pairing::default();
        for id in order {
            let sample = firsts[id];
            if sample.is_in(slice) {
                self.pair_one(sample, &mut pairing);
            }
        }
        if slice.is_none() {
            let ids = self.samples.keys().map(String::as_str);
            pairing.removed = ids.filter(|id| !firsts.contains_key(id)).collect();
        }
        pairing
    }

    fn pair_one<'a>(&self, sample: &'a CurrentSample, pairing: &mut Pairing<'a>) {
        let id = sample.id.as_str();
        let Some(before) = self.samples.get(id) else {
            return pairing.added.push(id);
        };
        if !before.is_of(&sample.input_hash, &sample.target_hash, &sample.marks) {
            return pairing.changed.push(id);
        }
        let after = match sample.standing {
            Standing::Correct => Some(true),
            Standing::Wrong => Some(false),
            Standing::Unknown => None,
            Standing::Unscored => return pairing.unscored.push(id),
        };
        match before.verdict() {
            Some(before) => pairing.pairs.push(Pair { id, before, after }),
            None => pairing.unscored.push(id),
        }
    }

    /// Refuses, before any agent starts, a comparison that could say nothing or something untrue: another scorer,
    /// scorer option or extraction, another number of epochs (the majority of five is correct more often than one
    /// answer, without any change of the agent), or no common sample.
    pub(crate) fn check_comparable<'a>(
        &self,
        scorer_hash: &str,
        epochs: u32,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> Result<()> {
        const HINT: &str =
            "make a new baseline: cargo evaltest run --ignore-baseline, then cargo evaltest accept";
        // Snapshots that were accepted one by one, without a run, do not say who judged them.
        if !self.scorer_hash.is_empty() && self.scorer_hash != scorer_hash {
            return Err(Error::usage(format!(
                "the baseline (run `{}`) was judged by another scorer, scorer option or extraction",
                self.run_ids()
            ))
            .hint(HINT));
        }
        if let Some(theirs) = self.epochs()
            && theirs != epochs
        {
            return Err(Error::usage(format!(
                "the baseline (run `{}`) has {theirs} epochs and this eval {epochs}: their verdicts cannot be \
                 compared",
                self.run_ids()
            ))
            .hint(format!("ask as often: `--epochs {theirs}`; or {HINT}")));
        }
        let known: BTreeSet<&str> = self.samples.keys().map(String::as_str).collect();
        if !self.samples.is_empty() && !ids.into_iter().any(|id| known.contains(id)) {
            return Err(Error::usage(format!(
                "the baseline (run `{}`) has none of the samples",
                self.run_ids()
            ))
            .hint(HINT));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(samples: &[(&str, Option<bool>)]) -> Baseline {
        Baseline {
            runs: vec![BaselineRun {
                run_id: "r1".to_owned(),
                epochs: 1,
            }],
            scorer_hash: "s1".to_owned(),
            samples: samples
                .iter()
                .map(|(id, correct)| ((*id).to_owned(), BaselineSample::once(*correct)))
                .collect(),
            digest_matches: true,
            ..Baseline::default()
        }
    }

    fn current(id: &str, epoch: u32, standing: Standing) -> CurrentSample {
        CurrentSample {
            id: id.to_owned(),
            epoch,
            standing,
            input_hash: String::new(),
            target_hash: String::new(),
            marks: Marks::default(),
            slices: vec![Slice::new("level", "1")],
            latency_s: None,
        }
    }

    #[test]
    fn sorts_the_samples_out() {
        let baseline = baseline(&[
            ("both", Some(true)),
            ("errored", Some(false)),
            ("gone", Some(true)),
            ("hidden", Some(true)),
            ("never", None),
            ("other", Some(true)),
        ]);
        let mut other = current("other", 0, Standing::Correct);
        other.input_hash = "x".to_owned();
        let rows = [
            current("both", 1, Standing::Correct),
            current("both", 0, Standing::Wrong),
            current("new", 0, Standing::Correct),
            current("errored", 0, Standing::Unknown),
            current("hidden", 0, Standing::Unscored),
            current("never", 0, Standing::Correct),
            other,
        ];
        let pairing = baseline.pair(&rows, None);
        let pair = |id, before, after| Pair { id, before, after };
        let expect = [
            pair("both", true, Some(false)),
            pair("errored", false, None),
        ];
        assert_eq!(pairing.pairs, expect);
        assert_eq!(pairing.added, ["new"]);
        assert_eq!(pairing.removed, ["gone"]);
        assert_eq!(pairing.changed, ["other"]);
        assert_eq!(pairing.unscored, ["hidden", "never"]);

        let level = |value: &str| Slice::new("level", value);
        assert_eq!(baseline.pair(&rows, Some(&level("1"))).pairs, expect);
        assert_eq!(baseline.pair(&rows, Some(&level("2"))), Pairing::default());
    }

    #[test]
    fn refuses_what_cannot_be_compared() {
        fn check(scorer: &str, epochs: u32, ids: &[&str], expect: Option<&str>) {
            let baseline = baseline(&[("a", Some(true))]);
            let result = baseline.check_comparable(scorer, epochs, ids.iter().copied());
            let message = result.map_err(|error| {
                assert_eq!(error.exit(), crate::Exit::Usage);
                error.message().to_owned()
            });
            match expect {
                None => assert_eq!(message, Ok(())),
                Some(part) => assert!(message.unwrap_err().contains(part)),
            }
        }
        check("s1", 1, &["b", "a"], None);
        check("s2", 1, &["a"], Some("another scorer"));
        check("s1", 3, &["a"], Some("has 1 epochs and this eval 3"));
        check("s1", 1, &["b"], Some("none of the samples"));
    }
}
