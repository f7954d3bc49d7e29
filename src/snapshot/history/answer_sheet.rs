//! `AnswerSheet`: which samples of a run were right, collected from its records.

use crate::data::history::{AnswerRow, HistoryAnswers};
use crate::data::{Record, Status};
use crate::text::hash::Hasher;

/// With more answers, they are left out of the line to keep it short.
const MOST_ANSWERS: usize = 20_000;

/// Which samples of a run were right.
#[derive(Debug, Default)]
pub(crate) struct AnswerSheet {
    samples: Vec<SheetSample>,
    answers: usize,
}

/// A sample with the verdict on each answer to it.
#[derive(Debug)]
struct SheetSample {
    id: String,
    /// Hashes of the question and the ground truth.
    hashes: [String; 2],
    verdicts: Vec<Option<bool>>,
}

impl AnswerSheet {
    /// Adds a record; records of a sample must be consecutive.
    pub(crate) fn add(&mut self, record: &Record) {
        self.answers += 1;
        if self.answers > MOST_ANSWERS {
            self.samples = Vec::new();
            return;
        }
        let outcome = &record.result;
        // A cached answer is not new evidence.
        let is_known = outcome.status == Status::Scored && !outcome.cached;
        let verdict = is_known.then(|| outcome.is_correct());
        if let Some(sample) = self.samples.last_mut()
            && sample.id == record.sample_id
        {
            sample.verdicts.push(verdict);
            return;
        }
        let question = match record.question_hash.as_str() {
            // The run was made by an older version.
            "" => &record.input_hash,
            hash => hash,
        };
        self.samples.push(SheetSample {
            id: record.sample_id.clone(),
            hashes: [question.to_owned(), record.target_hash.clone()],
            verdicts: vec![verdict],
        });
    }

    /// The answers for a history line, with these verdicts instead; `None` if there are too many.
    pub(super) fn with(
        mut self,
        verdicts: impl Fn(&str) -> Vec<Option<bool>>,
    ) -> Option<HistoryAnswers> {
        for sample in &mut self.samples {
            sample.verdicts = verdicts(&sample.id);
        }
        self.finish()
    }

    /// The answers for a history line; `None` if there are none or too many.
    pub(crate) fn finish(mut self) -> Option<HistoryAnswers> {
        if self.answers == 0 || self.answers > MOST_ANSWERS {
            return None;
        }
        self.samples.sort_by(|one, other| one.id.cmp(&other.id));
        let hash = |hasher: Hasher, sample: &SheetSample| {
            let [question, target] = &sample.hashes;
            hasher.part(&sample.id).part(question).part(target)
        };
        let hasher = self.samples.iter().fold(Hasher::default(), hash);
        let rows = self.samples.iter().map(|sample| sample.verdicts.len());
        let rows = rows.max().unwrap_or_default();
        if self.samples.len().saturating_mul(rows) > MOST_ANSWERS {
            return None;
        }
        let row = |row: usize| {
            let verdicts = self.samples.iter();
            let verdicts = verdicts.map(|sample| sample.verdicts.get(row).copied().flatten());
            AnswerRow::of(&verdicts.collect::<Vec<_>>())
        };
        Some(HistoryAnswers {
            samples: hasher.short(),
            count: self.samples.len(),
            runs: (0..rows).map(row).collect(),
        })
    }
}
