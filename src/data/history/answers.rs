//! `HistoryAnswers`: which samples were right, a bit each, so that later runs are compared sample by sample.

use serde::{Deserialize, Serialize};

use super::AnswerBits;

/// Which samples were right, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryAnswers {
    /// Hash of the ids with what each asks: only of lines with the same one the bits are about the same samples.
    pub samples: String,
    /// How many samples those are.
    pub count: usize,
    /// The answers to each, a row for each run and epoch.
    pub runs: Vec<AnswerRow>,
}

/// One answer to each sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRow {
    /// Whether it is correct.
    pub right: AnswerBits,
    /// Whether there is a verdict, and that on an answer that was asked for: one that was given before is no new evidence.
    /// `None` if that is so of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<AnswerBits>,
}

impl AnswerRow {
    /// A row of verdicts; `None` where there is none.
    pub fn of(verdicts: &[Option<bool>]) -> Self {
        let right = verdicts.iter().map(|verdict| *verdict == Some(true));
        let known = verdicts.iter().map(Option::is_some);
        Self {
            right: right.collect(),
            known: verdicts.contains(&None).then(|| known.collect()),
        }
    }

    /// The verdict on the answer to a sample, if it is known.
    pub fn verdict(&self, place: usize) -> Option<bool> {
        let is_known = self.known.as_ref().is_none_or(|known| known.get(place));
        is_known.then(|| self.right.get(place))
    }
}

impl HistoryAnswers {
    /// What is wrong with them, if anything is.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let bits = |row: &AnswerRow| {
            let known = row.known.as_ref();
            row.right.is_of(self.count) && known.is_none_or(|known| known.is_of(self.count))
        };
        (!self.runs.iter().all(bits)).then_some("its `answers` are not those of so many samples")
    }

    /// How many of the known answers to a sample are right, and how many are known.
    pub fn of_sample(&self, place: usize) -> (u32, u32) {
        let verdicts = self.runs.iter().filter_map(|row| row.verdict(place));
        verdicts.fold((0, 0), |(right, known), verdict| {
            (right + u32::from(verdict), known + 1)
        })
    }
}
