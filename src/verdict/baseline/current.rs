//! [`CurrentSamples`]: the samples of a run that is compared with the accepted ones, and one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::columns::{Lists, SliceLists, Sparse, SparseTexts, Texts};
use super::figures::columns::{FigureColumns, FiguresRow};
use super::figures::{AnswerFigures, FigureRules};
use super::marks::Marks;
use super::samples::{BaselineRow, BaselineSamples};
use super::{Baseline, older_ids, right_of, ways};
use crate::data::{FoundBy, Record, Status};
use crate::text::hash::MaskKey;
use crate::verdict::gate::Slice;

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
    /// Whether it is the sample of the baseline, once that is found out; its hashes are then empty.
    pub is_same: Option<bool>,
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
            .is_none_or(|sample| sample.figures().is_empty())
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

    /// Whether question, files and ground truth are those of its sample of the baseline.
    pub(in crate::verdict) fn is_same_as(&self, before: BaselineRow<'_>) -> bool {
        let is_of = || before.is_of(&self.input_hash, &self.target_hash, &self.marks);
        self.is_same.unwrap_or_else(is_of)
    }

    /// Finds out whether it is the sample of the baseline, and drops the hashes, which nothing else needs.
    pub(crate) fn settle(&mut self, baseline: Option<&Baseline>) {
        let before = baseline.and_then(|baseline| baseline.sample(self));
        self.is_same = before.map(|before| self.is_same_as(before));
        self.input_hash = String::new();
        self.target_hash = String::new();
        self.marks = Marks::default();
    }
}

/// Samples of a run in dataset order, in columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurrentSamples {
    ids: Texts,
    older_ids: SparseTexts,
    answers: Lists<Option<bool>>,
    ways: Lists<Option<FoundBy>>,
    figures: FigureColumns,
    /// By the name of the scorer, if there are several.
    by_scorer: BTreeMap<String, Lists<Option<bool>>>,
    hashes: Sparse<Option<Arc<OwnHashes>>>,
    is_same: Sparse<Option<bool>>,
    skipped: Sparse<bool>,
    slices: SliceLists,
    clusters: SparseTexts,
    latencies_s: Lists<f64>,
    cached: Sparse<u32>,
}

/// The hashes of a sample that is not yet compared with its baseline.
#[derive(Clone, Debug, Default, PartialEq)]
struct OwnHashes {
    input: String,
    target: String,
    marks: Marks,
}

/// A sample of a run, in its columns.
#[derive(Clone, Copy, Debug)]
pub struct CurrentRow<'a> {
    columns: &'a CurrentSamples,
    pub(super) place: usize,
}

impl FromIterator<CurrentSample> for CurrentSamples {
    fn from_iter<T: IntoIterator<Item = CurrentSample>>(samples: T) -> Self {
        let mut all = Self::default();
        for sample in samples {
            all.push(sample);
        }
        all
    }
}

impl CurrentSamples {
    /// With room for as many as a baseline has.
    pub(in crate::verdict) fn with_capacity_of(baseline: &BaselineSamples) -> Self {
        let samples = baseline.len();
        let [id_bytes, answers] = baseline.sizes();
        let mut current = Self::default();
        current.ids.reserve(id_bytes);
        current.answers.reserve(answers);
        current.ways.reserve(answers);
        current.figures.reserve(answers);
        current.is_same.reserve(samples);
        current.slices.reserve(samples);
        current
    }

    /// Adds the next sample.
    pub fn push(&mut self, sample: CurrentSample) {
        let place = self.len();
        self.ids.push(&sample.id);
        self.older_ids.set(place, sample.older_id.as_deref());
        self.answers.push(sample.answers);
        self.ways.push(sample.ways);
        self.figures.push(&sample.figures);
        for (scorer, answers) in sample.by_scorer {
            let lists = self.by_scorer.entry(scorer).or_default();
            while lists.len() < place {
                lists.push([]);
            }
            lists.push(answers);
        }
        let hashes = OwnHashes {
            input: sample.input_hash,
            target: sample.target_hash,
            marks: sample.marks,
        };
        let has_own = hashes != OwnHashes::default();
        self.hashes.set(place, has_own.then(|| Arc::new(hashes)));
        self.is_same.set(place, sample.is_same);
        self.skipped.set(place, sample.skipped);
        self.slices.set(place, &sample.slices);
        self.clusters.set(place, sample.cluster.as_deref());
        self.latencies_s.push(sample.latencies_s);
        self.cached.set(place, sample.cached);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn row(&self, place: usize) -> CurrentRow<'_> {
        CurrentRow {
            columns: self,
            place,
        }
    }

    /// All samples in dataset order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = CurrentRow<'_>> {
        (0..self.len()).map(|place| self.row(place))
    }

    /// Changes each sample, by its place, for simulations.
    pub fn change(&mut self, mut change: impl FnMut(usize, &mut CurrentSample)) {
        let changed = self.iter().map(|row| {
            let mut sample = row.to_sample();
            change(row.place, &mut sample);
            sample
        });
        *self = changed.collect();
    }
}

impl<'a> CurrentRow<'a> {
    /// The sample's id.
    pub(crate) fn id(self) -> &'a str {
        self.columns.ids.get(self.place)
    }

    /// Its id in the baseline, if that wrote the same number in another form.
    pub(crate) fn older_id(self) -> Option<&'a str> {
        self.columns.older_ids.get(self.place)
    }

    /// The verdict on each answer, in the order of epochs; `None` if it errored or was never requested. Empty if no
    /// verdict is expected.
    pub fn answers(self) -> &'a [Option<bool>] {
        self.columns.answers.get(self.place)
    }

    /// How each of these answers was found.
    pub(super) fn ways(self) -> &'a [Option<FoundBy>] {
        self.columns.ways.get(self.place)
    }

    pub(in crate::verdict) fn figures(self) -> FiguresRow<'a> {
        self.columns.figures.row(self.place)
    }

    /// The verdicts of one of several scorers.
    pub(in crate::verdict) fn answers_of(self, scorer: &str) -> &'a [Option<bool>] {
        let lists = self.columns.by_scorer.get(scorer);
        let lists = lists.filter(|lists| self.place < lists.len());
        lists.map_or(&[], |lists| lists.get(self.place))
    }

    /// Whether question, files and ground truth are those of its sample of the baseline.
    pub(in crate::verdict) fn is_same_as(self, before: BaselineRow<'_>) -> bool {
        let is_same = self.columns.is_same.value(self.place);
        is_same.unwrap_or_else(|| {
            let own = self.columns.hashes.value(self.place).unwrap_or_default();
            before.is_of(&own.input, &own.target, &own.marks)
        })
    }

    pub(super) fn is_skipped(self) -> bool {
        self.columns.skipped.value(self.place)
    }

    /// Whether the sample belongs to a slice; every sample belongs to `None`.
    pub(in crate::verdict) fn is_in(self, slice: Option<&Slice>) -> bool {
        slice.is_none_or(|slice| self.columns.slices.get(self.place).contains(slice))
    }

    /// The group of dependent samples.
    pub(crate) fn cluster(self) -> Option<&'a str> {
        self.columns.clusters.get(self.place)
    }

    /// Seconds of each timed answer.
    pub(in crate::verdict) fn latencies_s(self) -> &'a [f64] {
        self.columns.latencies_s.get(self.place)
    }

    /// Whether an answer with a verdict did not come from the cache.
    pub(in crate::verdict) fn has_fresh(self) -> bool {
        right_of(self.answers()).of > self.columns.cached.value(self.place)
    }

    /// The sample on its own.
    fn to_sample(self) -> CurrentSample {
        let columns = self.columns;
        let by_scorer = columns.by_scorer.keys();
        let by_scorer = by_scorer.map(|scorer| (scorer.clone(), self.answers_of(scorer).to_vec()));
        let by_scorer = by_scorer.filter(|(_, answers)| !answers.is_empty());
        let hashes = columns.hashes.value(self.place).unwrap_or_default();
        CurrentSample {
            id: self.id().to_owned(),
            older_id: self.older_id().map(str::to_owned),
            answers: self.answers().to_vec(),
            ways: self.ways().to_vec(),
            figures: self.figures().to_figures(),
            by_scorer: by_scorer.collect(),
            input_hash: hashes.input.clone(),
            target_hash: hashes.target.clone(),
            marks: hashes.marks.clone(),
            is_same: columns.is_same.value(self.place),
            skipped: self.is_skipped(),
            slices: columns.slices.shared(self.place),
            cluster: self.cluster().map(str::to_owned),
            latencies_s: self.latencies_s().to_vec(),
            cached: columns.cached.value(self.place),
        }
    }
}
