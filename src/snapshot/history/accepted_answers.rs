//! `AcceptedAnswers`: the verdict on each answer of a baseline, by the ids of samples.

use std::collections::HashMap;
use std::ops::Range;

use crate::text::hash::mark;

/// The verdict on each answer of a baseline. An id is known by its mark: of a million that is a tenth of what their texts
/// would be.
#[derive(Debug, Default)]
pub(in crate::snapshot) struct AcceptedAnswers {
    verdicts: Vec<Option<bool>>,
    places: HashMap<u64, Range<usize>>,
    most: usize,
}

impl AcceptedAnswers {
    /// Adds those to a sample.
    pub(in crate::snapshot) fn add(&mut self, id: &str, verdicts: &[Option<bool>]) {
        let start = self.verdicts.len();
        self.verdicts.extend_from_slice(verdicts);
        self.places.insert(mark(id), start..self.verdicts.len());
        self.most = self.most.max(verdicts.len());
    }

    /// Those to a sample; none to one that is not there.
    pub(super) fn of(&self, id: &str) -> &[Option<bool>] {
        let place = self.places.get(&mark(id)).cloned().unwrap_or_default();
        self.verdicts.get(place).unwrap_or_default()
    }

    /// How many answers samples have at most.
    pub(super) fn most(&self) -> usize {
        self.most
    }
}
