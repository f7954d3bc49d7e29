//! `inspect`: an `.eval` log of Inspect, for `inspect view` and `read_eval_log`.
//!
//! The log is a zip file: `samples/<id>_epoch_<n>.json` for each answer, with epochs from 1; `summaries.json` for the
//! viewer's list; `header.json` with the figures. Records are streamed twice: for the samples and for the summaries.
//! Samples that were not requested are omitted.
//!
//! | a record | a sample |
//! |---|---|
//! | `scored` | its scores by scorer: `C` and `I` where the value is 1 and 0, else the number |
//! | `unscored` | no score; the figures count it as unscored |
//! | an error | an `error`, and no score; what was said, if anything was |
//!
//! The verdict on an answer, and other data that Inspect has no field for, are in the metadata of scores, samples and
//! the log; evaltest can import them again.

mod header;
mod message;
mod sample;

use std::collections::BTreeMap;
use std::io;
use std::io::Write;

use serde::Serialize;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use self::header::header;
use self::sample::{LoggedSample, summary_of};
use super::{DataFormat, unwritten};
use crate::data::{Record, Status, Usage};
use crate::error::{Error, Result};
use crate::report::export::scores::{number_of, verdicts};
use crate::report::reported::ReportedRun;
use crate::store::Manifest;

/// The format `inspect`.
pub(super) struct InspectExport;

impl DataFormat for InspectExport {
    fn name(&self) -> &'static str {
        "inspect"
    }

    fn extension(&self) -> &'static str {
        "eval"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn write(&self, run: &ReportedRun, out: &mut dyn Write) -> Result<()> {
        let mut log = LogWriter(ZipWriter::new_stream(out));
        let model = header::model(&run.manifest);
        let mut tally = LogTally::of(&run.manifest);
        for record in run_records(run)? {
            let record = record?;
            tally.add(&record);
            let logged = LoggedSample::of(&record, run, &model);
            let name = format!(
                "samples/{}_epoch_{}.json",
                record.sample_id,
                record.epoch + 1
            );
            log.begin(&name)?;
            log.json(&logged)?;
        }
        log.begin("summaries.json")?;
        log.bytes(b"[")?;
        for (number, record) in run_records(run)?.enumerate() {
            if number > 0 {
                log.bytes(b",\n")?;
            }
            log.json(&summary_of(&record?, run, &model))?;
        }
        log.bytes(b"]")?;
        log.begin("header.json")?;
        log.json(&header(run, &model, tally))?;
        log.0.finish().map(drop).map_err(failed)
    }
}

/// The records of requested samples.
fn run_records(run: &ReportedRun) -> Result<impl Iterator<Item = Result<Record>> + use<>> {
    let was_run = |record: &Result<Record>| {
        let status = record.as_ref().map(|record| record.result.status);
        !matches!(status, Ok(Status::Skipped))
    };
    Ok(run.records()?.filter(was_run))
}

/// A zip file written sequentially.
struct LogWriter<W: Write>(ZipWriter<StreamWriter<W>>);

impl<W: Write> LogWriter<W> {
    fn begin(&mut self, name: &str) -> Result<()> {
        // A timestamp would make repeated exports differ.
        let options = SimpleFileOptions::default().large_file(false);
        self.0.start_file(name, options).map_err(failed)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.write_all(bytes).map_err(|error| unwritten(&error))
    }

    fn json(&mut self, value: &impl Serialize) -> Result<()> {
        let json = serde_json::to_vec(value).map_err(|error| unwritten(&error.into()))?;
        self.bytes(&json)
    }
}

fn failed(error: zip::result::ZipError) -> Error {
    unwritten(&io::Error::from(error))
}

/// The counts of a log.
struct LogTally {
    /// The ids of the samples, in order.
    ids: Vec<String>,
    /// Answers and errors.
    total: u64,
    /// Answers without an error.
    completed: u64,
    /// By scorer.
    scorers: Vec<ScorerTally>,
    /// Tokens and cost.
    usage: LogUsage,
    names: Vec<String>,
}

/// The counts of a scorer.
#[derive(Default)]
struct ScorerTally {
    name: String,
    scored: u64,
    correct: u64,
    sum: f64,
    /// Samples with a verdict of it in any epoch.
    scored_samples: u64,
    /// Answered samples without a verdict of it.
    unscored_samples: u64,
    /// State of the current sample, whose epochs follow each other.
    open: OpenSample,
}

#[derive(Default)]
struct OpenSample {
    is_scored: bool,
    is_answered: bool,
}

/// Tokens and cost of one answer or of all.
#[derive(Clone, Copy, Default)]
struct LogUsage {
    input_tokens: u64,
    output_tokens: u64,
    cost_usd: Option<f64>,
    is_known: bool,
}

impl LogUsage {
    fn add(&mut self, usage: &Usage) {
        self.is_known = true;
        self.input_tokens += usage.input_tokens.unwrap_or_default();
        self.output_tokens += usage.output_tokens.unwrap_or_default();
        if let Some(cost) = usage.cost_usd {
            *self.cost_usd.get_or_insert_default() += cost;
        }
    }
}

impl ScorerTally {
    /// The mean of the values.
    fn mean(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a number of answers")]
        let scored = self.scored as f64;
        (self.scored > 0).then(|| self.sum / scored)
    }

    /// The share of correct answers.
    fn accuracy(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "numbers of answers")]
        let (correct, scored) = (self.correct as f64, self.scored as f64);
        (self.scored > 0).then(|| correct / scored)
    }

    fn close(&mut self) {
        let OpenSample {
            is_scored,
            is_answered,
        } = std::mem::take(&mut self.open);
        self.scored_samples += u64::from(is_scored);
        self.unscored_samples += u64::from(is_answered && !is_scored);
    }
}

impl LogTally {
    fn of(manifest: &Manifest) -> Self {
        let scorer = |name: &String| ScorerTally {
            name: name.clone(),
            ..ScorerTally::default()
        };
        Self {
            ids: Vec::new(),
            total: 0,
            completed: 0,
            scorers: manifest.scorers.iter().map(scorer).collect(),
            usage: LogUsage::default(),
            names: manifest.scorers.clone(),
        }
    }

    /// Adds a record; the epochs of a sample must follow each other.
    fn add(&mut self, record: &Record) {
        if self.ids.last() != Some(&record.sample_id) {
            self.scorers.iter_mut().for_each(ScorerTally::close);
            self.ids.push(record.sample_id.clone());
        }
        let result = &record.result;
        let is_answered = !result.status.is_error();
        self.total += 1;
        self.completed += u64::from(is_answered);
        if let Some(usage) = &result.usage {
            self.usage.add(usage);
        }
        let found: BTreeMap<_, _> = verdicts(record, &self.names)
            .into_iter()
            .filter_map(|verdict| Some((verdict.name, verdict.score?)))
            .collect();
        for scorer in &mut self.scorers {
            scorer.open.is_answered |= is_answered;
            // An errored sample has no score in a log, even if a secondary scorer gave one.
            let score = found.get(scorer.name.as_str()).filter(|_| is_answered);
            if let Some(score) = score {
                scorer.open.is_scored = true;
                scorer.scored += 1;
                scorer.correct += u64::from(score.correct);
                scorer.sum += number_of(score);
            }
        }
    }

    /// Finishes after the last record.
    fn close(&mut self) {
        self.scorers.iter_mut().for_each(ScorerTally::close);
    }
}
