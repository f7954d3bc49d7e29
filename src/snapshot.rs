//! Snapshots: what each sample's answer was when a run was accepted. The only file that names insta.
//!
//! One insta file per sample, at `<folder>/<bucket>/<id>.snap`, the same for every front door. The
//! buckets keep folders small: tools that list a folder per snapshot would need quadratic time otherwise.
//! `cargo insta review` works on the files. A whole accepted run is a baseline; `_baseline.json` beside
//! the buckets says which (see `baseline`).
//!
//! The files are read through insta. The assertion itself is ours, for two reasons: insta prints diffs
//! straight to stdout, which would break `--format json`, and an answer that is wrong in another way than
//! before is no failure here. The `INSTA_*` variables keep their meaning (`update`).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::data::{Normalized, Record, Status};
use crate::error::{Error, Result};
use crate::text::hash::Hasher;
use crate::text::name::file_name;
use crate::verdict::baseline::BaselineSample;
use crate::verdict::poll::Poll;

mod accept;
mod baseline;
mod pool;
pub(crate) mod update;

pub use accept::{Acceptance, Accepted, accept};
pub(crate) use baseline::{check_scorer, is_there as has_baseline, read as read_baseline};

/// Version of the snapshots' content and of `_baseline.json`.
///
/// * 1: the first. Members added since: `epochs` of `_baseline.json`, left out where it is 1.
/// * 2: a baseline may be several runs. `_baseline.json` has `runs` in place of `run_id` and `epochs`, a digest of each
///   snapshot (`digests`), and a `verdict_digest` of all of it; a snapshot has `answers`, the verdict of each answer,
///   left out where there is one. A baseline of version 1 is one run, and its digest holds as it was made.
pub(crate) const FORMAT_VERSION: u32 = 2;

/// Longer answers are cut in snapshots; a hash of the whole follows.
const LONGEST_ANSWER: usize = 1000;

/// Where the snapshot of a sample is.
pub(crate) fn path(folder: &Path, id: &str) -> PathBuf {
    let bucket = &Hasher::default().part(id).short()[..2];
    folder.join(bucket).join(format!("{}.snap", file_name(id)))
}

/// What a snapshot says of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// `None` for a sample without ground truth.
    pub(crate) correct: Option<bool>,
    /// The verdict on each answer, in the order of runs and of epochs; `None` where there was none.
    pub(crate) answers: Vec<Option<bool>>,
    /// The normalised answer as JSON, or its mask.
    pub(crate) answer: String,
    pub(crate) input_hash: String,
    pub(crate) target_hash: String,
}

impl Content {
    /// What the snapshot of a record says.
    pub(crate) fn of(record: &Record, masked: bool) -> Self {
        let outcome = &record.result;
        let correct = (outcome.status == Status::Scored).then(|| outcome.is_correct());
        let normalized = outcome
            .score
            .as_ref()
            .map(|score| &score.normalized_prediction);
        let answer = match normalized {
            Some(Normalized::Text(text)) => json(text),
            Some(list @ Normalized::List(_)) => serde_json::to_string(list).unwrap_or_default(),
            Some(Normalized::None) | None => {
                json(outcome.prediction.as_deref().unwrap_or_default().trim())
            }
        };
        let answer = if masked && correct == Some(true) {
            let hash = Hasher::default()
                .part(&record.sample_id)
                .part(&answer)
                .short();
            format!("(ground truth) {}", &hash[..8])
        } else {
            shorten(answer)
        };
        Self {
            correct,
            answers: vec![correct],
            answer,
            input_hash: record.input_hash.clone(),
            target_hash: record.target_hash.clone(),
        }
    }

    /// What the snapshot of a sample says, whose epochs' contents these are: that of the first which gave the
    /// majority's answer, with the majority's verdict, and the verdicts of all. `None` of nothing.
    pub(crate) fn majority(mut epochs: Vec<(u32, Self)>) -> Option<Self> {
        epochs.sort_by_key(|(epoch, _)| *epoch);
        let mut poll = Poll::default();
        let mut voters = Vec::new();
        for (place, (_, content)) in epochs.iter().enumerate() {
            if let Some(correct) = content.correct {
                poll.vote(&content.answer, correct);
                voters.push(place);
            }
        }
        let spokesman = poll.spokesman().and_then(|vote| usize::try_from(vote).ok());
        let place = spokesman.and_then(|vote| voters.get(vote).copied());
        let answers = epochs
            .iter()
            .flat_map(|(_, content)| content.answers.iter());
        let answers = answers.copied().collect();
        let (_, content) = epochs.into_iter().nth(place.unwrap_or_default())?;
        Some(Self {
            correct: poll.majority().or(content.correct),
            answers,
            ..content
        })
    }

    /// Whether the snapshot of this sample says just this; a missing or broken one says nothing.
    pub(crate) fn is_current(&self, folder: &Path, id: &str) -> bool {
        let path = path(folder, id);
        Self::read(&path).is_ok_and(|old| old.is_some_and(|old| old.says_the_same(self)))
    }

    /// Whether another snapshot says just this of the sample, however often it was asked.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        let answers = other.answers.clone();
        *other
            == Self {
                answers,
                ..self.clone()
            }
    }

    /// The same with so many answers, none before the first.
    fn with_answers(mut self, number: usize) -> Self {
        let missing = number.saturating_sub(self.answers.len());
        self.answers.splice(..0, std::iter::repeat_n(None, missing));
        self
    }

    /// The same for a baseline of so many answers to each sample: the last that have a verdict.
    fn kept(mut self, number: usize) -> Self {
        self.answers.retain(Option::is_some);
        let more = self.answers.len().saturating_sub(number);
        self.answers.drain(..more);
        self.with_answers(number)
    }

    /// Whether some answer has a verdict.
    fn is_answered(&self) -> bool {
        self.answers.iter().any(Option::is_some)
    }

    /// What comparisons need of it.
    pub(crate) fn baseline_sample(&self) -> BaselineSample {
        BaselineSample {
            answers: self.answers.clone(),
            input_hash: self.input_hash.clone(),
            target_hash: self.target_hash.clone(),
        }
    }

    /// The verdicts, a digit for each answer: `11.01`.
    fn digits(&self) -> String {
        let digit = |answer: &Option<bool>| match answer {
            Some(true) => '1',
            Some(false) => '0',
            None => '.',
        };
        self.answers.iter().map(digit).collect()
    }

    fn verdict(&self) -> &'static str {
        match self.correct {
            Some(true) => "correct",
            Some(false) => "incorrect",
            None => "unscored",
        }
    }

    /// The snapshot's text, below insta's header.
    pub(crate) fn text(&self) -> String {
        let Self {
            answer,
            input_hash,
            target_hash,
            ..
        } = self;
        let answers = if self.answers == [self.correct] {
            String::new()
        } else {
            format!("\nanswers: \"{}\"", self.digits())
        };
        format!(
            "verdict: {}{answers}\nanswer: {answer}\ninput: {input_hash}\ntarget: {target_hash}",
            self.verdict()
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.map(str::to_owned)
        };
        let correct = match field("verdict")?.as_str() {
            "correct" => Some(true),
            "incorrect" => Some(false),
            _ => None,
        };
        let answers = match field("answers") {
            None => vec![correct],
            Some(digits) => {
                let digits = digits.trim_matches('"').chars();
                let answer = |digit| match digit {
                    '1' => Some(Some(true)),
                    '0' => Some(Some(false)),
                    '.' => Some(None),
                    _ => None,
                };
                digits.map(answer).collect::<Option<_>>()?
            }
        };
        Some(Self {
            correct,
            answers,
            answer: field("answer")?,
            input_hash: field("input")?,
            target_hash: field("target")?,
        })
    }

    /// Reads a snapshot; `None` if there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text.unwrap_or_default(),
        };
        if let Some((_, content)) = baseline::parse(&text) {
            return Ok(Some(content));
        }
        // In another form than ours.
        let snapshot =
            insta::Snapshot::from_file(path).map_err(|error| broken(path, &error.to_string()))?;
        let text = snapshot
            .as_text()
            .map(ToString::to_string)
            .unwrap_or_default();
        Self::parse(&text)
            .map(Some)
            .ok_or_else(|| broken(path, "it has no `verdict` and `answer`"))
    }

    /// Writes a snapshot in insta's format.
    pub(crate) fn write(&self, path: &Path, id: &str) -> Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
        let text = format!(
            "---\nsource: evaltest\nexpression: {}\n---\n{}\n",
            json(id),
            self.text()
        );
        crate::system::file::write_atomically(path, text.as_bytes())
    }
}

fn broken(path: &Path, reason: &str) -> Error {
    Error::usage(format!(
        "{}: not a snapshot of evaltest: {reason}",
        path.display()
    ))
    .hint("restore it from version control, or delete it and run: cargo evaltest accept")
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn shorten(answer: String) -> String {
    if answer.len() <= LONGEST_ANSWER {
        return answer;
    }
    let hash = Hasher::default().part(&answer).short();
    format!(
        "{}… ({} bytes, {})",
        &answer[..answer.floor_char_boundary(LONGEST_ANSWER)],
        answer.len(),
        &hash[..8]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_snapshot_is_one_for_insta_and_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "a: \"b\"\n");
        let content = Content {
            correct: Some(true),
            answers: vec![Some(true), None, Some(false)],
            answer: json("x\n---\ny: \"z\""),
            input_hash: "00".into(),
            target_hash: "11".into(),
        };
        content.write(&path, "a: \"b\"\n").unwrap();
        assert_eq!(Content::read(&path).unwrap(), Some(content.clone()));
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(path.parent().unwrap());
        settings.set_prepend_module_to_snapshot(false);
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        settings.bind(|| insta::assert_snapshot!(name, content.text()));
    }
}
