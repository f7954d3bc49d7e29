//! [`Marks`]: by what a sample of a run is known again in a baseline.
//!
//! A snapshot holds a hash of the question with its files, and one of the ground truth; those of a version before
//! hashed the whole prompt. A masked one holds digests keyed by the whole dataset: only a run on the same dataset,
//! whose records have the key, has the same. Hashes of several kinds are never equal by chance, so that one that is
//! equal to any of these is that of this sample.

use crate::data::Record;
use crate::text::hash::MaskKey;

/// The hashes of a sample besides those that the oldest baselines have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Of its question.
    pub questions: Vec<String>,
    /// Of its ground truth.
    pub targets: Vec<String>,
}

impl Marks {
    /// Those of a record.
    pub fn of(record: &Record) -> Self {
        let mut marks = Self::default();
        if record.question_hash.is_empty() {
            return marks;
        }
        if let Some(key) = MaskKey::from_hex(&record.mask) {
            let [question, target] = masked(&key, record);
            marks.questions.push(question);
            marks.targets.push(target);
        }
        marks.questions.push(record.question_hash.clone());
        marks
    }
}

/// What a masked snapshot has in place of the hashes of question and ground truth.
pub(crate) fn masked(key: &MaskKey, record: &Record) -> [String; 2] {
    [
        key.short(["question", &record.question_hash]),
        key.short(["target", &record.target_hash]),
    ]
}
