//! `AcceptedAnswers`: the verdict on each answer of a baseline, by the ids of samples.

use std::collections::HashMap;
use std::ops::Range;

use crate::text::hash::mark;

/// The verdict on each answer of a baseline. Ids are stored as hashes, which for a million samples takes a tenth of the
/// memory.
#[derive(Debug, Default)]
pub(in crate::snapshot) struct AcceptedAnswers {
    verdicts: Vec<Option<bool>>,
    places: HashMap<u64, Range<usize>>,
    most: usize,
}

impl AcceptedAnswers {
    /// Adds the verdicts of a sample.
    pub(in crate::snapshot) fn add(&mut self, id: &str, verdicts: &[Option<bool>]) {
        let start = self.verdicts.len();
        self.verdicts.extend_from_slice(verdicts);
        self.places.insert(mark(id), start..self.verdicts.len());
        self.most = self.most.max(verdicts.len());
    }

    /// The verdicts of a sample; empty for an unknown one.
    pub(super) fn of(&self, id: &str) -> &[Option<bool>] {
        let place = self.places.get(&mark(id)).cloned().unwrap_or_default();
        self.verdicts.get(place).unwrap_or_default()
    }

    /// The largest number of answers of a sample.
    pub(super) fn most(&self) -> usize {
        self.most
    }
}
