//! `RunItems`: the answers of a run as displayed for review.
//!
//! For each sample the first answer is reviewed, as for judges and labels. Records stay on disk; only ids are held in
//! memory. The judge's score is hidden until a person has submitted a review.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;

use serde_json::Value;

use super::items::{DisplayedItem, JudgeSeen, ListedItem};
use crate::data::Record;
use crate::data::record::slices_of;
use crate::error::{Error, Result};
use crate::report::reported::{MaskedTexts, ReportedRun};
use crate::store::files::RECORDS;
use crate::store::{Manifest, RunDir, records};
use crate::system::file::open_plain;
use crate::system::project::display;
use crate::text::hash::Hasher;
use crate::text::{shell_word, unquoted};
use crate::verdict::judged::items::{CORRECT, GivenFigures, TOTAL, VALUE};

/// The answers of a run.
#[derive(Debug)]
pub(super) struct RunItems {
    manifest: Manifest,
    /// Keeps the temporary files of a killed run alive.
    _dir: RunDir,
    path: PathBuf,
    /// The file offset of each record.
    places: Vec<u64>,
}

impl RunItems {
    /// Reads the list of answers of a run.
    ///
    /// # Errors
    /// If it cannot be read, or its texts must not be shown.
    pub(super) fn open(dir: &RunDir, texts: MaskedTexts) -> Result<(Self, Vec<ListedItem>)> {
        let run = ReportedRun::read(dir.clone(), MaskedTexts::Visible)?;
        if run.manifest.masked && texts == MaskedTexts::Hidden {
            let message = format!(
                "the answers of `{}` are masked, so there is nothing to review",
                run.manifest.eval
            );
            let again = shell_word(&display(dir.path()));
            return Err(Error::usage(message).hint(format!(
                "to show them on this machine: cargo evaltest review {again} --show-texts"
            )));
        }
        let path = dir.file(RECORDS);
        let mut items = Self {
            manifest: run.manifest.clone(),
            _dir: dir.clone(),
            path: path.clone(),
            places: Vec::new(),
        };
        let flips = run.flips();
        let mut listed = Vec::new();
        let mut reader = records::open(&path)?;
        let (mut line, mut place) = (Vec::new(), 0_u64);
        for number in 1_u64.. {
            line.clear();
            let io = |error: std::io::Error| Error::io("read", &path, &error);
            let read = reader.read_until(b'\n', &mut line).map_err(io)?;
            if read == 0 {
                break;
            }
            let record = read_record(&line)
                .map_err(|error| error.at(format_args!("{}:{number}", path.display())))?;
            if record.epoch == 0 {
                items.places.push(place);
                listed.push(items.listed(&record, &flips));
            }
            place += read as u64;
        }
        Ok((items, listed))
    }

    pub(super) fn run_id(&self) -> &str {
        &self.manifest.run_id
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The name of the judge whose points are compared with those of people.
    pub(super) fn judge(&self) -> Option<&str> {
        self.manifest.first_judge()
    }

    /// Whether a judge is the deciding scorer.
    fn judge_decides(&self) -> bool {
        let first = self.manifest.scorers.first();
        first.is_some_and(|first| self.manifest.judges.contains_key(first))
    }

    fn listed(&self, record: &Record, flips: &HashMap<&str, bool>) -> ListedItem {
        let result = &record.result;
        let slices = slices_of(record).map(|(name, value)| format!("{name}={value}"));
        let slices: Vec<String> = slices.collect();
        let verdict = result.score.as_ref().map(|score| score.correct);
        let others = result.scores.values();
        let mut others = others.filter_map(|score| score.get(CORRECT)?.as_bool());
        let disagreeing = verdict.is_some_and(|verdict| others.any(|other| other != verdict));
        let error = result.error.as_ref();
        let error = error.filter(|_| result.status.is_error());
        let error = error.map(|error| kind_of(error.kind));
        let flipped = flips.contains_key(record.sample_id.as_str());
        let failed = result.status.is_error() || verdict == Some(false);
        // The list must not reveal the judge's verdict either.
        let open = !self.judge_decides();
        let own = [
            (flipped, "flipped"),
            (disagreeing, "disagreeing"),
            (failed, "failed"),
        ];
        let own = own.into_iter().find(|(is, _)| *is && open);
        let answer = result.output.as_ref().and_then(|it| it.text.as_deref());
        ListedItem {
            id: record.sample_id.clone(),
            slice: (!slices.is_empty()).then(|| slices.join(", ")),
            tag: error.or_else(|| own.map(|(_, word)| word.to_owned())),
            hash: Hasher::default()
                .part(&*record.prompt)
                .part(answer.unwrap_or_default())
                .short(),
            is_answered: result.output.is_some(),
            is_error: result.status.is_error(),
            flipped,
            disagreeing,
            failed,
        }
    }

    /// The item at a place.
    pub(super) fn item(&self, place: usize) -> Result<DisplayedItem> {
        let io = |error: std::io::Error| Error::io("read", &self.path, &error);
        let mut file = open_plain(&self.path).map_err(io)?;
        file.seek(SeekFrom::Start(self.places[place])).map_err(io)?;
        let record = read_record(&line_of(&mut file).map_err(io)?)
            .map_err(|error| error.at(display(&self.path)))?;
        Ok(self.display(&record))
    }

    fn display(&self, record: &Record) -> DisplayedItem {
        let result = &record.result;
        let mut found = DisplayedItem::default();
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        found.fields.push(pair("prompt", &record.prompt));
        let answer = result.output.as_ref().and_then(|it| it.text.as_deref());
        found
            .fields
            .push(pair("answer", answer.unwrap_or_default()));
        let prediction = result.prediction.as_deref();
        if let Some(prediction) = prediction.filter(|it| Some(*it) != answer) {
            found.fields.push(pair("prediction", prediction));
        }
        if !record.ground_truth.is_null() {
            let truth = unquoted(&record.ground_truth);
            found.facts.push(pair("expected", &truth));
        }
        for (name, value) in slices_of(record) {
            found.facts.push(pair(name, &value));
        }
        if let Some(error) = &result.error {
            let text = format!("{}: {}", kind_of(error.kind), error.message);
            found.facts.push(pair("error", &text));
        }
        let first = self.manifest.scorers.first().map(String::as_str);
        let is_judge = |name: &str| self.manifest.judges.contains_key(name);
        if let Some(score) = &result.score {
            let text = verdict(score.correct, score.value, &score.reason);
            let list = if self.judge_decides() {
                &mut found.later
            } else {
                &mut found.facts
            };
            list.push(("verdict".to_owned(), text));
        }
        let others = result.scores.iter();
        for (name, score) in others.filter(|(name, _)| Some(name.as_str()) != first) {
            let list = if is_judge(name) {
                &mut found.later
            } else {
                &mut found.facts
            };
            let value = score.get(VALUE).and_then(Value::as_f64);
            let correct = score.get(CORRECT).and_then(Value::as_bool);
            let reason = score.get("reason").and_then(Value::as_str);
            let text = match (value, correct) {
                (Some(value), Some(correct)) => verdict(correct, value, reason.unwrap_or_default()),
                _ => "no verdict".to_owned(),
            };
            list.push((format!("verdict of {name}"), text));
        }
        if let Some(judge) = self.judge()
            && let Some(given) = GivenFigures::of(record, judge, first)
        {
            found.judge = Some(JudgeSeen {
                name: judge.to_owned(),
                total: given.numbers.get(TOTAL).copied(),
                numbers: given.numbers,
            });
        }
        found
    }
}

fn verdict(correct: bool, value: f64, reason: &str) -> String {
    let word = if correct { "correct" } else { "wrong" };
    match reason {
        "" => format!("{word} ({value})"),
        reason => format!("{word} ({value}): {}", reason.replace('_', " ")),
    }
}

/// The name of an error kind in files.
fn kind_of(kind: impl serde::Serialize) -> String {
    let value = serde_json::to_value(kind).unwrap_or_default();
    value.as_str().unwrap_or("error").to_owned()
}

fn read_record(line: &[u8]) -> Result<Record> {
    serde_json::from_slice(line).map_err(|error| {
        Error::usage(format!("not a record: {error}"))
            .hint("the run changed meanwhile: start `cargo evaltest review` again")
    })
}

fn line_of(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    Ok(line)
}
