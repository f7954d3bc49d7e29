//! Collects what a run generated, record by record.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind};

use serde::Deserialize;

use super::item::GeneratedItem;
use super::statistics::{GenerationStatistics, GenerationTally, model_of};
use crate::error::{Error, Result};
use crate::store::events::Kind;
use crate::store::files::{JOURNAL, RECORDS, SUMMARY};
use crate::store::{RunDir, read_records};
use crate::system::file::open_plain;
use crate::verdict::summary::Summary;

/// Size of the read buffer, in bytes.
const BUFFER: usize = 1 << 17;

/// Passes every accepted item to `see`, in the order of the prompts, and returns the statistics.
pub(super) fn gathered(
    dir: &RunDir,
    see: &mut dyn FnMut(&GeneratedItem) -> Result<()>,
) -> Result<GenerationStatistics> {
    let manifest = dir.manifest()?;
    let summary = Summary::read(&dir.file(SUMMARY))?;
    let times = times(dir)?;
    let model = model_of(&manifest.config);
    let mut tally = GenerationTally::default();
    for record in read_records(&dir.file(RECORDS))? {
        let record = record?;
        let time = times.get(&(record.sample_id.clone(), record.epoch));
        let item = GeneratedItem::of(&record, model, time.map(String::as_str));
        tally.add(&record, item.as_ref());
        if let Some(item) = &item {
            see(item)?;
        }
    }
    Ok(tally.figures(&manifest, &summary))
}

/// The fields of a journal line that tell when a reply came. The rest of the line is long and skipped.
#[derive(Deserialize)]
struct ReplyEvent<'a> {
    #[serde(borrow)]
    sample_id: Cow<'a, str>,
    epoch: u32,
    kind: Kind,
    #[serde(borrow)]
    time: Cow<'a, str>,
}

/// When the reply that was scored came, for each sample in each epoch. Lines that cannot be read are skipped: the time
/// affects no statistic.
fn times(dir: &RunDir) -> Result<HashMap<(String, u32), String>> {
    let path = dir.file(JOURNAL);
    let mut journal = match open_plain(&path) {
        Ok(file) => BufReader::with_capacity(BUFFER, file),
        // A rescored run has no journal.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(error) => return Err(Error::io("read", &path, &error)),
    };
    let mut answered = HashMap::new();
    let mut times = HashMap::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = journal.read_until(b'\n', &mut line);
        if read.map_err(|error| Error::io("read", &path, &error))? == 0 {
            return Ok(times);
        }
        let Ok(event) = serde_json::from_slice::<ReplyEvent<'_>>(&line) else {
            continue;
        };
        match event.kind {
            Kind::Answered => {
                let key = (event.sample_id.into_owned(), event.epoch);
                answered.insert(key, event.time.into_owned());
            }
            Kind::Scored => {
                let key = (event.sample_id.into_owned(), event.epoch);
                if let Some(time) = answered.remove(&key) {
                    times.insert(key, time);
                }
            }
            _ => {}
        }
    }
}
