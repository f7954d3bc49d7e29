//! `Baseline`: the accepted runs that a new run is compared with, and the pairing of both.
//!
//! A baseline is one or several whole runs. Snapshots accepted one by one (`digest_matches: false`) are not a random
//! sample: keeping only good answers makes an unchanged agent look worse from then on.

pub(crate) mod figures;
pub(crate) mod marks;
pub(crate) mod older_ids;
pub(crate) mod readers;
pub(crate) mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::data::{FoundBy, Record, Status};
use crate::error::{Error, Result};
use crate::stats::AnswerCounts;
use crate::text::hash::MaskKey;
use crate::verdict::baseline::figures::{AnswerFigures, FigureRules};
use crate::verdict::baseline::marks::Marks;
use crate::verdict::baseline::readers::Readers;
use crate::verdict::gate::Slice;

/// The accepted runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The runs, in the order in which they were accepted; empty if unknown.
    pub runs: Vec<BaselineRun>,
    /// Hash of scorer, options and extraction.
    pub scorer_hash: String,
    /// The versions by which its answers were read; the oldest, if its runs differ.
    pub readers: Readers,
    /// The samples by id.
    pub samples: BTreeMap<String, BaselineSample>,
    /// The ids of samples whose snapshots were not read, since a run does not ask them; in order.
    pub unread: Vec<Box<str>>,
    /// Whether the snapshots are still those of these runs.
    pub digest_matches: bool,
    /// If they are not: the files that were changed, added or removed since, as far as known. Empty for a baseline of
    /// the first version.
    pub changed_files: Vec<String>,
    /// The prompt around the questions of these runs, as in [`Facts::prompt`](crate::engine::verdict::Facts::prompt);
    /// `None` if unknown.
    pub prompt: Option<String>,
    /// The models that served judges in these runs, by the name of the scorer, with their fingerprints.
    pub judges: BTreeMap<String, BTreeSet<String>>,
    /// Identifies the dataset that keys its hashes, if they are masked.
    pub mask_id: Option<String>,
    /// Whether it has one verdict for several epochs, that of the majority, as snapshots of the first version.
    /// Majorities are then compared.
    pub majorities: bool,
    /// Whether its hashes cover question and prompt together, as in the first version.
    pub of_prompts: bool,
}

/// One of the accepted runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaselineRun {
    /// Its id.
    pub run_id: String,
    /// Epochs per sample.
    pub epochs: u32,
}

/// A sample of the accepted runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaselineSample {
    /// The verdict on each answer, in the order of runs and epochs; `None` if there was none.
    pub answers: Vec<Option<bool>>,
    /// How each answer was found; `None` if unknown.
    pub ways: Vec<Option<FoundBy>>,
    /// The figures of the answers; empty if unknown.
    pub figures: AnswerFigures,
    /// Hash of the question with its files, or its mask; of the whole prompt in snapshots of version 1.
    pub input_hash: String,
    /// Hash of the ground truth, or its mask.
    pub target_hash: String,
    /// The slices that it belonged to, shared with samples of the same; empty if unknown.
    pub slices: Arc<[Slice]>,
}

/// A sample of the current run, as far as the comparison needs it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurrentSample {
    /// The sample's id.
    pub id: String,
    /// Its id in the baseline, if that wrote the same number in another form.
    pub older_id: Option<String>,
    /// The verdict on each answer, in the order of epochs; `None` if it errored or was never requested. Empty if no
    /// verdict is expected.
    pub answers: Vec<Option<bool>>,
    /// How each of these answers was found; `None` if unknown.
    pub ways: Vec<Option<FoundBy>>,
    /// The figures of all answers, with or without a verdict; empty if the baseline has none of the sample.
    pub figures: AnswerFigures,
    /// The same by the name of the scorer, if there are several.
    pub by_scorer: BTreeMap<String, Vec<Option<bool>>>,
    /// Hash of the input of the agent.
    pub input_hash: String,
    /// Hash of the ground truth.
    pub target_hash: String,
    /// Masks and older hashes that also identify it.
    pub marks: Marks,
    /// Whether it was not asked, or not in all epochs.
    pub skipped: bool,
    /// The slices it belongs to.
    pub slices: Arc<[Slice]>,
    /// The group of dependent samples, such as those on one passage.
    pub cluster: Option<String>,
    /// Seconds of each timed answer.
    pub latencies_s: Vec<f64>,
    /// Answers with a verdict that came from the cache.
    pub cached: u32,
}

impl CurrentSample {
    /// From the first record of a sample.
    pub(crate) fn of(record: &Record) -> Self {
        let mut sample = Self {
            id: record.sample_id.clone(),
            input_hash: record.input_hash.clone(),
            target_hash: record.target_hash.clone(),
            marks: Marks::of(record),
            slices: Slice::all_of(record).into(),
            cluster: record.cluster.clone(),
            ..Self::default()
        };
        sample.add(record);
        sample
    }

    /// The same, which a baseline may know by another form of its id. With its figures, if the baseline has those of
    /// the sample, by these rules.
    pub(crate) fn in_baseline(
        record: &Record,
        baseline: Option<&Baseline>,
        rules: FigureRules<'_>,
    ) -> Self {
        let mut sample = Self::of(record);
        let older = baseline.and_then(|baseline| baseline.id_of(&sample.id));
        if let Some(older) = older.filter(|older| *older != sample.id) {
            let hash = &record.target_hash;
            let target = older_ids::target_hash([&sample.id, older], &record.ground_truth, hash);
            sample.marks.targets.extend(target);
            sample.older_id = Some(older.to_owned());
        }
        sample.add_figures(record, baseline, rules);
        sample
    }

    /// Adds the figures of an answer, if the baseline has those of the sample.
    pub(crate) fn add_figures(
        &mut self,
        record: &Record,
        baseline: Option<&Baseline>,
        rules: FigureRules<'_>,
    ) {
        let Some(baseline) = baseline else {
            return;
        };
        if baseline
            .sample(self)
            .is_none_or(|sample| sample.figures.is_empty())
        {
            return;
        }
        let key = MaskKey::from_hex(&record.mask).filter(|_| baseline.mask_id.is_some());
        let rules = FigureRules {
            key: key.as_ref(),
            ..rules
        };
        self.figures.append(AnswerFigures::of(record, rules));
    }

    /// Adds the record of the next epoch; the first is added by `of`.
    pub(crate) fn add(&mut self, record: &Record) {
        let outcome = &record.result;
        self.skipped |= outcome.status == Status::Skipped;
        let before = self.answers.len();
        let is_timed = match outcome.status {
            Status::Scored => {
                self.answers.push(Some(outcome.is_correct()));
                self.cached += u32::from(outcome.cached);
                true
            }
            Status::Unscored => true,
            Status::ScorerFailed => {
                self.answers.push(None);
                true
            }
            Status::AgentFailed
            | Status::TimedOut
            | Status::UserFailed
            | Status::EnvironmentFailed
            | Status::Skipped => {
                self.answers.push(None);
                false
            }
        };
        if self.answers.len() > before {
            self.ways.push(ways::of(outcome));
        }
        for (scorer, score) in &outcome.scores {
            let verdict = score.get("correct").and_then(Value::as_bool);
            match self.by_scorer.get_mut(scorer) {
                Some(answers) => answers.push(verdict),
                None => drop(self.by_scorer.insert(scorer.clone(), vec![verdict])),
            }
        }
        let latency = outcome.latency_s;
        if is_timed && outcome.is_timed() && latency.is_finite() && latency >= 0.0 {
            self.latencies_s.push(latency);
        }
    }

    /// Replaces all hashes by those of the same sample in the baseline, if it is the same, so that a million samples need
    /// not keep every hash that may identify them. No others are compared any more.
    pub(crate) fn settle(&mut self, baseline: &Baseline) {
        let before = baseline.sample(self);
        if let Some(before) = before.filter(|before| before.slices == self.slices) {
            self.slices = Arc::clone(&before.slices);
        }
        let same = before.filter(|it| it.is_of(&self.input_hash, &self.target_hash, &self.marks));
        if let Some(same) = same {
            self.input_hash.clone_from(&same.input_hash);
            self.target_hash.clone_from(&same.target_hash);
        }
        self.marks = Marks::default();
        self.answers.shrink_to_fit();
        self.ways.shrink_to_fit();
        self.latencies_s.shrink_to_fit();
        self.figures.shrink();
    }

    /// Whether the sample belongs to a slice; every sample belongs to `None`.
    pub(crate) fn is_in(&self, slice: Option<&Slice>) -> bool {
        slice.is_none_or(|slice| self.slices.contains(slice))
    }
}

/// The samples of two sets of runs, paired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairing<'a> {
    /// Samples with a verdict in the baseline for which one is expected now.
    pub(crate) pairs: Vec<Pair<'a>>,
    /// Ids that the baseline does not have.
    pub(crate) added: Vec<&'a str>,
    /// Ids that only the baseline has.
    pub(crate) removed: Vec<&'a str>,
    /// Ids whose input or ground truth has changed.
    pub(crate) changed: Vec<&'a str>,
    /// Ids that were in the slice and are in another one now.
    pub(crate) moved: Vec<&'a str>,
    /// Ids without a verdict in the baseline, or for which none is expected now.
    pub(crate) unscored: Vec<&'a str>,
    /// Samples with a verdict in the baseline, whatever happened to them since.
    pub(crate) expected: usize,
    /// Whether an answer of now did not come from the cache.
    pub(crate) has_fresh: bool,
}

/// One sample in both, with at least one verdict in the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair<'a> {
    /// The sample's id.
    pub(crate) id: &'a str,
    /// The verdict on each answer in the baseline, in the order of runs and epochs.
    pub(crate) before: &'a [Option<bool>],
    /// The verdict on each answer now, in the order of epochs; `None` if it errored or was never requested.
    pub(crate) now: &'a [Option<bool>],
    /// How each answer in the baseline was found; `None` if unknown. Empty if unknown for all.
    pub(crate) before_ways: &'a [Option<FoundBy>],
    /// How each answer now was found.
    pub(crate) now_ways: &'a [Option<FoundBy>],
    /// The group of dependent samples it belongs to.
    pub(crate) cluster: Option<&'a str>,
}

/// A sample that was correct in the baseline and is not now, or vice versa.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flip {
    /// The sample's id.
    pub id: String,
    /// Whether it became wrong.
    pub worse: bool,
}

impl BaselineSample {
    /// With a single answer.
    pub fn once(correct: Option<bool>) -> Self {
        Self {
            answers: vec![correct],
            ..Self::default()
        }
    }

    /// Whether any answer has a verdict.
    pub(crate) fn has_verdict(&self) -> bool {
        self.answers.iter().any(Option::is_some)
    }

    /// Whether more than half of the answers are correct; `None` if no answer has a verdict.
    pub(crate) fn verdict(&self) -> Option<bool> {
        let scored = self.answers.iter().flatten().count();
        let correct = self.answers.iter().flatten().filter(|is| **is).count();
        (scored > 0).then_some(correct * 2 > scored)
    }

    /// Whether question, files and ground truth equal those of a current sample with these hashes. The prompt around
    /// the question is configuration, like the agent.
    pub(crate) fn is_of(&self, input_hash: &str, target_hash: &str, marks: &Marks) -> bool {
        let is_one =
            |old: &String, now: &str, others: &[String]| old == now || others.contains(old);
        is_one(&self.input_hash, input_hash, &marks.questions)
            && is_one(&self.target_hash, target_hash, &marks.targets)
    }
}

/// Right answers, and answers with a verdict.
pub(crate) fn right_of(answers: &[Option<bool>]) -> AnswerCounts {
    let count = |wanted: fn(&&bool) -> bool| {
        let counted = answers.iter().flatten().filter(wanted).count();
        u32::try_from(counted).unwrap_or(u32::MAX)
    };
    AnswerCounts::new(count(|right| **right), count(|_| true))
}

/// Whether the majority verdict of a sample flipped: more than half of the answers with a verdict were right before,
/// and at most half are now (`Some(true)`, it became wrong), or vice versa (`Some(false)`).
pub(crate) fn flipped(before: &[Option<bool>], now: &[Option<bool>]) -> Option<bool> {
    let [before, now] = [before, now].map(right_of);
    flipped_counts(before, now)
}

/// [`flipped`] for counted answers.
pub(crate) fn flipped_counts(before: AnswerCounts, now: AnswerCounts) -> Option<bool> {
    let is_right = |AnswerCounts { right, of }: AnswerCounts| u64::from(right) * 2 > u64::from(of);
    let was = is_right(before);
    (before.of > 0 && now.of > 0 && was != is_right(now)).then_some(was)
}

/// The majority verdict, if answers without a verdict cannot change it.
fn majority(answers: &[Option<bool>]) -> &'static [Option<bool>] {
    let AnswerCounts { right, of } = right_of(answers);
    let (right, open) = (right as usize, answers.len() - of as usize);
    if right * 2 > answers.len() {
        &[Some(true)]
    } else if (right + open) * 2 <= answers.len() {
        &[Some(false)]
    } else {
        &[None]
    }
}

impl Baseline {
    /// The ids of its runs, for messages.
    pub fn run_ids(&self) -> String {
        let ids: Vec<_> = self.runs.iter().map(|run| run.run_id.as_str()).collect();
        ids.join(", ")
    }

    /// The same with these samples alone.
    pub(crate) fn with_samples(&self, samples: BTreeMap<String, BaselineSample>) -> Self {
        Self {
            samples,
            runs: self.runs.clone(),
            scorer_hash: self.scorer_hash.clone(),
            readers: self.readers,
            unread: Vec::new(),
            digest_matches: self.digest_matches,
            changed_files: self.changed_files.clone(),
            prompt: self.prompt.clone(),
            judges: self.judges.clone(),
            mask_id: self.mask_id.clone(),
            majorities: self.majorities,
            of_prompts: self.of_prompts,
        }
    }

    /// The id of a sample in it: this one, or another form of the same number.
    pub(crate) fn id_of(&self, id: &str) -> Option<&str> {
        let unread = |id: &str| {
            let place = self.unread.binary_search_by(|known| (**known).cmp(id));
            place.ok().map(|place| &*self.unread[place])
        };
        let known = |id: &str| {
            let read = self.samples.get_key_value(id);
            read.map(|(known, _)| known.as_str()).or_else(|| unread(id))
        };
        known(id).or_else(|| older_ids::other_forms(id).find_map(|form| known(&form)))
    }

    /// A current sample as it was.
    pub(crate) fn sample(&self, now: &CurrentSample) -> Option<&BaselineSample> {
        let older = || self.samples.get(now.older_id.as_ref()?);
        self.samples.get(&now.id).or_else(older)
    }

    /// Why nothing can be compared with a run whose dataset has these [`mask_id`](Self::mask_id)s, that of now first:
    /// ground truths are masked by different keys.
    pub(crate) fn hidden_from(&self, [mask_id, older]: &[Option<String>; 2]) -> Option<String> {
        let (then, now) = (self.mask_id.as_ref()?, mask_id.as_ref()?);
        (then != now && older.as_ref() != Some(then)).then(|| {
            format!(
                "the dataset is another one than that of the baseline (run `{}`), whose snapshots are masked: \
                 questions and ground truths cannot be compared one by one. Accept a run on this one: cargo evaltest \
                 accept",
                self.run_ids()
            )
        })
    }

    /// Pairs the current samples with those of the baseline. Only samples with equal hashes are comparable. A sample is
    /// one pair, however many answers it has.
    ///
    /// With a `slice`, only its samples, of now or of the baseline. `early` skips samples that were not asked: an interim
    /// analysis does not wait for them.
    pub(crate) fn pair<'a>(
        &'a self,
        current: &'a [CurrentSample],
        slice: Option<&Slice>,
        early: bool,
    ) -> Pairing<'a> {
        let mut pairing = Pairing::default();
        let was_in = |sample: &BaselineSample| slice.is_none_or(|it| sample.slices.contains(it));
        for sample in current.iter().filter(|sample| !(early && sample.skipped)) {
            if sample.is_in(slice) {
                self.pair_one(sample, &mut pairing);
            } else if let Some(before) = self.sample(sample).filter(|before| was_in(before)) {
                pairing.expected += usize::from(before.has_verdict());
                pairing.moved.push(&sample.id);
            }
        }
        let ids = current.iter().flat_map(|sample| {
            let older = sample.older_id.as_deref();
            [Some(sample.id.as_str()), older]
        });
        let there: BTreeSet<&str> = ids.flatten().collect();
        let gone = |(id, sample): &(&String, &BaselineSample)| {
            !there.contains(id.as_str()) && was_in(sample)
        };
        for (id, sample) in self.samples.iter().filter(gone) {
            pairing.expected += usize::from(sample.has_verdict());
            pairing.removed.push(id);
        }
        pairing
    }

    fn pair_one<'a>(&'a self, sample: &'a CurrentSample, pairing: &mut Pairing<'a>) {
        let id = sample.id.as_str();
        let Some(before) = self.sample(sample) else {
            return pairing.added.push(id);
        };
        pairing.expected += usize::from(before.has_verdict());
        if !before.is_of(&sample.input_hash, &sample.target_hash, &sample.marks) {
            return pairing.changed.push(id);
        }
        if sample.answers.is_empty() || !before.has_verdict() {
            return pairing.unscored.push(id);
        }
        pairing.has_fresh |= right_of(&sample.answers).of > sample.cached;
        pairing.pairs.push(Pair {
            id,
            before: &before.answers,
            now: if self.majorities {
                majority(&sample.answers)
            } else {
                &sample.answers
            },
            before_ways: &before.ways,
            now_ways: if self.majorities { &[] } else { &sample.ways },
            cluster: sample.cluster.as_deref(),
        });
    }

    /// Whether it was judged by this scorer. Snapshots accepted one by one, without a run, do not name theirs.
    pub(crate) fn is_judged_by(&self, scorer_hash: &str) -> bool {
        self.scorer_hash.is_empty() || self.scorer_hash == scorer_hash
    }

    /// Refuses, before any agent starts, a comparison that would be meaningless: another scorer, scorer option,
    /// extraction or `errors`, or no common sample.
    pub(crate) fn check_comparable<'a>(
        &self,
        scorer_hash: &str,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> Result<()> {
        const HINT: &str =
            "make a new baseline: cargo evaltest run --ignore-baseline, then cargo evaltest accept";
        if !self.is_judged_by(scorer_hash) {
            return Err(Error::usage(format!(
                "the baseline (run `{}`) was judged by another scorer, scorer option or extraction, or with another \
                 `errors` or `user`",
                self.run_ids()
            ))
            .hint(HINT));
        }
        let mut ids = ids.into_iter();
        let is_empty = self.samples.is_empty() && self.unread.is_empty();
        if !is_empty && !ids.any(|id| self.id_of(id).is_some()) {
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
mod tests;
