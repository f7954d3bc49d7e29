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
mod tally;

use std::io::{self, Write};

use serde::Serialize;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use self::header::header;
use self::sample::{LoggedSample, summary_of};
use self::tally::LogTally;
use super::{DataFormat, unwritten};
use crate::data::{Record, Status};
use crate::error::{Error, Result};
use crate::report::reported::ReportedRun;

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
