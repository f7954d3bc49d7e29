//! `HistoryAnswers`: which samples were correct, one bit each, to compare runs sample by sample.

use serde::{Deserialize, Serialize};

use super::AnswerBits;

/// Which samples were correct, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryAnswers {
    /// Hash of the ids and inputs: only lines with the same hash have bits for the same samples.
    pub samples: String,
    /// Number of samples.
    pub count: usize,
    /// One row per run and epoch.
    pub runs: Vec<AnswerRow>,
}

/// One answer to each sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRow {
    /// Whether it is correct.
    pub right: AnswerBits,
    /// Whether there is a verdict on a newly requested answer: a cached answer is no new evidence. `None` if this
    /// holds for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<AnswerBits>,
}

impl AnswerRow {
    /// A row of verdicts; `None` if there are none.
    pub fn of(verdicts: &[Option<bool>]) -> Self {
        let right = verdicts.iter().map(|verdict| *verdict == Some(true));
        let known = verdicts.iter().map(Option::is_some);
        Self {
            right: right.collect(),
            known: verdicts.contains(&None).then(|| known.collect()),
        }
    }

    /// The verdict on a sample's answer, if known.
    pub fn verdict(&self, place: usize) -> Option<bool> {
        let is_known = self.known.as_ref().is_none_or(|known| known.get(place));
        is_known.then(|| self.right.get(place))
    }
}

impl HistoryAnswers {
    /// Why the value is invalid, if so.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let bits = |row: &AnswerRow| {
            let known = row.known.as_ref();
            row.right.is_of(self.count) && known.is_none_or(|known| known.is_of(self.count))
        };
        (!self.runs.iter().all(bits)).then_some("its `answers` are not those of so many samples")
    }

    /// The numbers of correct answers and of known verdicts of a sample.
    pub fn of_sample(&self, place: usize) -> (u32, u32) {
        let verdicts = self.runs.iter().filter_map(|row| row.verdict(place));
        verdicts.fold((0, 0), |(right, known), verdict| {
            (right + u32::from(verdict), known + 1)
        })
    }
}
