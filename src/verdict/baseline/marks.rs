//! [`Marks`]: hashes that identify a sample of a run in a baseline.
//!
//! A snapshot has a hash of the question with its files, and one of the ground truth; an older version hashed the whole
//! prompt. A masked one has digests keyed by the whole dataset: only runs on the same dataset, whose records have the
//! key, have the same. Versions that rounded numbers had other ground truths, keys and hashes; a record has those that
//! differ. Hashes of different kinds are never equal by chance, so a snapshot that matches any of these is
//! of this sample.

use crate::data::Record;
use crate::text::hash::MaskKey;

/// The hashes of a sample, apart from those of the oldest baselines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Hashes of its question.
    pub questions: Vec<String>,
    /// Hashes of its ground truth.
    pub targets: Vec<String>,
}

impl Marks {
    /// The hashes of a record.
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
        if let Some(key) = MaskKey::from_hex(&record.older_mask) {
            let target = match record.older_target_hash.as_str() {
                "" => &record.target_hash,
                older => older,
            };
            let [question, target] = masked_by(&key, &record.question_hash, target);
            marks.questions.push(question);
            marks.targets.push(target);
        }
        if !record.older_target_hash.is_empty() {
            marks.targets.push(record.older_target_hash.clone());
        }
        marks.questions.push(record.question_hash.clone());
        marks
    }

    /// Whether the hashes of question and ground truth in a snapshot are those of now, or one of these.
    pub(crate) fn identify(&self, old: [&str; 2], now: [&str; 2]) -> bool {
        let is_one = |place: usize, others: &[String]| {
            old[place] == now[place] || others.iter().any(|other| other == old[place])
        };
        is_one(0, &self.questions) && is_one(1, &self.targets)
    }
}

/// The digests of question and ground truth in a masked snapshot.
pub(crate) fn masked(key: &MaskKey, record: &Record) -> [String; 2] {
    masked_by(key, &record.question_hash, &record.target_hash)
}

fn masked_by(key: &MaskKey, question: &str, target: &str) -> [String; 2] {
    [
        key.short(["question", question]),
        key.short(["target", target]),
    ]
}
