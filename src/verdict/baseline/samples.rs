//! [`BaselineSamples`]: the samples of the accepted runs, and one of them.

use std::sync::Arc;

use super::columns::{Hashes, Lists, SliceLists, Texts, number};
use super::figures::AnswerFigures;
use super::figures::columns::{FigureColumns, FiguresRow};
use super::marks::Marks;
use crate::data::FoundBy;
use crate::verdict::gate::Slice;

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

impl BaselineSample {
    /// With a single answer.
    pub fn once(correct: Option<bool>) -> Self {
        Self {
            answers: vec![correct],
            ..Self::default()
        }
    }
}

/// Samples of the accepted runs by id, in columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaselineSamples {
    columns: Arc<SampleColumns>,
    /// The places of the samples, in the order of their ids.
    order: Vec<u32>,
}

/// Samples that are collected in any order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SampleColumns {
    ids: Texts,
    answers: Lists<Option<bool>>,
    ways: Lists<Option<FoundBy>>,
    figures: FigureColumns,
    input_hashes: Hashes,
    target_hashes: Hashes,
    slices: SliceLists,
}

/// A sample of the accepted runs, in its columns.
#[derive(Clone, Copy, Debug)]
pub struct BaselineRow<'a> {
    columns: &'a SampleColumns,
    place: usize,
    /// How many samples have lesser ids.
    pub(super) rank: usize,
}

impl SampleColumns {
    /// With room for so many samples, bytes of ids and answers.
    pub(crate) fn with_capacity(samples: usize, id_bytes: usize, answers: usize) -> Self {
        let mut columns = Self::default();
        columns.ids.reserve(id_bytes);
        columns.answers.reserve(answers);
        columns.ways.reserve(answers);
        columns.figures.reserve(answers);
        columns.input_hashes.reserve(samples);
        columns.target_hashes.reserve(samples);
        columns.slices.reserve(samples);
        columns
    }

    pub(crate) fn push(&mut self, id: &str, sample: BaselineSample) {
        let place = self.ids.len();
        self.ids.push(id);
        self.answers.push(sample.answers);
        self.ways.push(sample.ways);
        self.figures.push(&sample.figures);
        self.input_hashes.push(&sample.input_hash);
        self.target_hashes.push(&sample.target_hash);
        self.slices.set(place, &sample.slices);
    }

    /// By id; of equal ids the last one counts.
    pub(crate) fn by_id(self) -> BaselineSamples {
        let id = |place: u32| self.ids.get(place as usize);
        let mut order: Vec<u32> = (0..number(self.ids.len())).collect();
        order.sort_unstable_by(|one, other| id(*one).cmp(id(*other)).then(other.cmp(one)));
        order.dedup_by(|next, one| id(*next) == id(*one));
        BaselineSamples {
            columns: Arc::new(self),
            order,
        }
    }
}

impl<S: AsRef<str>> FromIterator<(S, BaselineSample)> for BaselineSamples {
    fn from_iter<T: IntoIterator<Item = (S, BaselineSample)>>(samples: T) -> Self {
        let mut columns = SampleColumns::default();
        for (id, sample) in samples {
            columns.push(id.as_ref(), sample);
        }
        columns.by_id()
    }
}

impl BaselineSamples {
    /// How many bytes their ids have, and how many answers there are.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.columns.ids.bytes(), self.columns.answers.items()]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The sample with this id.
    pub fn get(&self, id: &str) -> Option<BaselineRow<'_>> {
        let id_at = |place: &u32| self.columns.ids.get(*place as usize);
        let rank = self.order.binary_search_by(|place| id_at(place).cmp(id));
        Some(self.row(rank.ok()?))
    }

    pub(super) fn row(&self, rank: usize) -> BaselineRow<'_> {
        BaselineRow {
            columns: &self.columns,
            place: self.order[rank] as usize,
            rank,
        }
    }

    /// All samples in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = BaselineRow<'_>> {
        (0..self.len()).map(|rank| self.row(rank))
    }

    /// Leaves out the samples whose ids are not wanted.
    pub(crate) fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        let ids = &self.columns.ids;
        self.order
            .retain(|place| is_wanted(ids.get(*place as usize)));
    }

    /// The names of the figures that its samples tell, and perhaps of others.
    pub(crate) fn figure_names(&self) -> impl Iterator<Item = &str> {
        self.columns.figures.names()
    }

    /// Changes each sample, for simulations.
    pub fn change(&mut self, mut change: impl FnMut(&str, &mut BaselineSample)) {
        let changed = self.iter().map(|row| {
            let mut sample = row.to_sample();
            change(row.id(), &mut sample);
            (row.id(), sample)
        });
        *self = changed.collect();
    }
}

impl<'a> BaselineRow<'a> {
    /// The sample's id.
    pub fn id(self) -> &'a str {
        self.columns.ids.get(self.place)
    }

    /// The verdict on each answer, in the order of runs and epochs; `None` if there was none.
    pub fn answers(self) -> &'a [Option<bool>] {
        self.columns.answers.get(self.place)
    }

    /// How each answer was found.
    pub(super) fn ways(self) -> &'a [Option<FoundBy>] {
        self.columns.ways.get(self.place)
    }

    pub(in crate::verdict) fn figures(self) -> FiguresRow<'a> {
        self.columns.figures.row(self.place)
    }

    /// The slices that it belonged to; empty if unknown.
    pub(crate) fn slices(self) -> &'a [Slice] {
        self.columns.slices.get(self.place)
    }

    /// Whether it belonged to a slice; every sample belongs to `None`.
    pub(in crate::verdict) fn is_in(self, slice: Option<&Slice>) -> bool {
        slice.is_none_or(|slice| self.slices().contains(slice))
    }

    /// Whether any answer has a verdict.
    pub(crate) fn has_verdict(self) -> bool {
        self.answers().iter().any(Option::is_some)
    }

    /// Whether question, files and ground truth are those of a sample of now with these hashes. The prompt around the
    /// question is configuration, like the agent.
    pub(super) fn is_of(self, input_hash: &str, target_hash: &str, marks: &Marks) -> bool {
        let [question, target] = [&self.columns.input_hashes, &self.columns.target_hashes]
            .map(|hashes| hashes.get(self.place));
        marks.identify([&question, &target], [input_hash, target_hash])
    }

    /// The sample on its own.
    pub fn to_sample(self) -> BaselineSample {
        BaselineSample {
            answers: self.answers().to_vec(),
            ways: self.ways().to_vec(),
            figures: self.figures().to_figures(),
            input_hash: self.columns.input_hashes.get(self.place).into_owned(),
            target_hash: self.columns.target_hashes.get(self.place).into_owned(),
            slices: self.columns.slices.shared(self.place),
        }
    }
}
