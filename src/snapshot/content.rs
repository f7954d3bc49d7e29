//! [`Content`]: the content of a sample's snapshot, and its text form.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::baseline::{forget_index, is_snapshot};
use super::{SnapshotHeader, json, read};
use crate::data::{FoundBy, Record};
use crate::error::{Error, Result};
use crate::verdict::baseline::BaselineSample;
use crate::verdict::baseline::figures::AnswerFigures;
use crate::verdict::baseline::marks::Marks;
use crate::verdict::baseline::ways;
use crate::verdict::gate::Slice;

/// The content of a sample's snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    /// The majority verdict. `None` for a sample without ground truth.
    pub(crate) correct: Option<bool>,
    /// The verdict on each answer, in the order of runs and epochs; `None` if there was none.
    pub(crate) answers: Vec<Option<bool>>,
    /// How each answer with a verdict was found; `None` if unknown. Empty if the snapshot does not say: see
    /// [`read_by`](Self::read_by).
    pub(crate) ways: Vec<Option<FoundBy>>,
    /// The figures of each answer; empty if the snapshot does not say.
    pub(crate) figures: AnswerFigures,
    #[serde(rename = "said")]
    pub(crate) answer: AnswerForm,
    pub(crate) input: InputHash,
    pub(crate) target_hash: String,
    /// The slices that the sample belongs to; empty if the snapshot does not say.
    pub(crate) slices: Vec<Slice>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AnswerForm {
    /// The prediction and its normalised form, as JSON.
    Plain {
        prediction: String,
        normalized: String,
    },
    /// A keyed digest of both.
    Masked(String),
    /// The normalised form alone, or its mask: version 1.
    Normalized(String),
}

/// A hash of the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum InputHash {
    /// Of the question and its files, or a keyed digest of them.
    Question(String),
    /// Of the whole rendered prompt and the files: version 1.
    Rendered(String),
}

/// The prefix of a keyed digest.
pub(super) const MASKED: &str = "(masked) ";

impl Content {
    /// Whether question, files and ground truth are those of a record.
    pub(crate) fn is_of(&self, record: &Record) -> bool {
        Marks::of(record).identify(
            [self.input_hash(), &self.target_hash],
            [&record.input_hash, &record.target_hash],
        )
    }

    /// Converts to a baseline sample. A verdict that no answer has was edited by hand and replaces them.
    pub(crate) fn into_sample(self) -> BaselineSample {
        let (InputHash::Question(input_hash) | InputHash::Rendered(input_hash)) = self.input;
        let (answers, ways, figures) = if self.answers.contains(&self.correct) {
            (self.answers, self.ways, self.figures)
        } else {
            let answers = vec![self.correct];
            let figures = AnswerFigures::unknown(&answers);
            (answers, Vec::new(), figures)
        };
        BaselineSample {
            answers,
            ways,
            figures,
            input_hash,
            target_hash: self.target_hash,
            slices: self.slices.into(),
        }
    }

    /// The hash of the question, of either kind.
    pub(super) fn input_hash(&self) -> &str {
        let (InputHash::Question(hash) | InputHash::Rendered(hash)) = &self.input;
        hash
    }

    /// A snapshot of a baseline that this version of the reader of answers read. One that does not say how its answers
    /// were found has whole answers; in a baseline of an older reader it is unknown.
    pub(super) fn read_by(mut self, reader: u32) -> Self {
        if self.ways.is_empty() {
            let way = (reader >= ways::FIRST_READER).then_some(FoundBy::WholeAnswer);
            self.ways = self.answers.iter().map(|answer| answer.and(way)).collect();
        }
        self
    }

    /// Pads the answers at the front to this number.
    pub(super) fn with_answers(mut self, number: usize) -> Self {
        let missing = number.saturating_sub(self.answers.len());
        self.answers.splice(..0, std::iter::repeat_n(None, missing));
        self.ways.splice(..0, std::iter::repeat_n(None, missing));
        let all = vec![true; self.answers.len()];
        self.figures = self.figures.last(&all, self.answers.len());
        self
    }

    /// Pads or truncates the answers at the end to this number.
    pub(super) fn resize(&mut self, number: usize) {
        self.answers.resize(number, None);
        self.ways.resize(number, None);
        self.figures.resize(number);
    }

    /// Appends the answers of a further run.
    pub(super) fn append(&mut self, other: Self) {
        self.answers.extend(other.answers);
        self.ways.extend(other.ways);
        self.figures.append(other.figures);
    }

    /// Keeps at most this number of answers, the last that have a verdict.
    pub(super) fn trimmed(mut self, number: usize) -> Self {
        let has_verdict = self.is_answered();
        let keep: Vec<_> = self
            .answers
            .iter()
            .map(|answer| answer.is_some() || !has_verdict)
            .collect();
        let figures = self.figures.last(&keep, number);
        let mut answers = self.answers.iter();
        self.ways
            .retain(|_| answers.next().is_some_and(Option::is_some));
        self.answers.retain(Option::is_some);
        let more = self.answers.len().saturating_sub(number);
        self.answers.drain(..more);
        self.ways.drain(..more.min(self.ways.len()));
        let trimmed = Self {
            figures,
            ..self.with_answers(number)
        };
        let correct = if trimmed.answers.contains(&trimmed.correct) {
            trimmed.correct
        } else {
            // The answer with this verdict was dropped.
            trimmed.answers.iter().flatten().next().copied()
        };
        Self { correct, ..trimmed }
    }

    /// Whether some answer has a verdict.
    pub(super) fn is_answered(&self) -> bool {
        self.answers.iter().any(Option::is_some)
    }

    pub(super) fn verdict(&self) -> &'static str {
        match self.correct {
            Some(true) => "correct",
            Some(false) => "incorrect",
            None => "unscored",
        }
    }

    /// The text of the snapshot below insta's header.
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![format!("verdict: {}", self.verdict())];
        if let AnswerForm::Plain { .. } | AnswerForm::Masked(_) = self.answer {
            lines.push(format!("answers: \"{}\"", digits(&self.answers)));
        }
        match &self.answer {
            AnswerForm::Plain {
                prediction,
                normalized,
            } => {
                lines.push(format!("prediction: {prediction}"));
                lines.push(format!("normalized_prediction: {normalized}"));
            }
            AnswerForm::Masked(digest) => lines.push(format!("prediction: {MASKED}{digest}")),
            AnswerForm::Normalized(answer) => lines.push(format!("answer: {answer}")),
        }
        if !matches!(self.answer, AnswerForm::Normalized(_)) {
            let ways = ways::text(&self.ways, &self.answers);
            lines.extend(ways.map(|ways| format!("found_by: {ways}")));
        }
        lines.extend(self.figures.lines());
        lines.push(match &self.input {
            InputHash::Question(hash) => format!("question: {hash}"),
            InputHash::Rendered(hash) => format!("input: {hash}"),
        });
        lines.push(format!("target: {}", self.target_hash));
        if !self.slices.is_empty() {
            lines.push(format!("slices: {}", slices_text(&self.slices)));
        }
        lines.join("\n")
    }

    /// Reads a snapshot; `None` if there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        Ok(read::snapshot(path)?.map(|(_, content)| content))
    }

    /// Writes a snapshot, or one that awaits review, outside of `accept`.
    pub(crate) fn write_alone(&self, path: &Path, header: &SnapshotHeader) -> Result<()> {
        let folder = path.parent().and_then(Path::parent);
        if let Some(folder) = folder.filter(|_| is_snapshot(path)) {
            forget_index(folder);
        }
        self.write(path, header)
    }

    /// Writes a snapshot in insta's format.
    pub(super) fn write(&self, path: &Path, header: &SnapshotHeader) -> Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
        let text = format!("{}{}\n", header.text(self), self.text());
        crate::system::file::write_atomically(path, text.as_bytes())
    }
}

/// Slices as JSON: `["level=1", "topic=art"]`.
pub(super) fn slices_text(slices: &[Slice]) -> String {
    let slices: Vec<_> = slices
        .iter()
        .map(|slice| json(&slice.to_string()))
        .collect();
    format!("[{}]", slices.join(", "))
}

/// Verdicts as characters: `1` for a right answer, `0` for a wrong one, a dot for none.
pub(super) fn digits(answers: &[Option<bool>]) -> String {
    let digit = |answer: &Option<bool>| match answer {
        Some(true) => '1',
        Some(false) => '0',
        None => '.',
    };
    answers.iter().map(digit).collect()
}
