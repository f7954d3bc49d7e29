//! `EarlierReplies`: judges' replies to earlier rescores of a run. Memory holds their positions in files: the journal
//! of a killed rescore, the records of a finished one.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Deserialize;

use crate::data::JudgeCall;
use crate::error::{Error, Result};
use crate::store::journal;
use crate::store::journal::StoredEvent;
use crate::store::journal::places::{JournalPlaces, PlaceList};
use crate::store::records;
use crate::system::file::lines::PlacedLines;
use crate::system::file::open_plain;
use crate::system::lock;
use crate::text::hash;

/// Bytes per read.
const BUFFER: usize = 1 << 16;

/// Judges' replies to earlier rescores of a run.
#[derive(Default)]
pub(super) struct EarlierReplies {
    journals: Vec<JournalPlaces>,
    records: Vec<RecordPlaces>,
}

/// Positions of the records of a run in which judges were asked.
struct RecordPlaces {
    path: PathBuf,
    /// By the hash of an answer.
    places: Vec<(u64, u64)>,
    lines: Mutex<PlacedLines>,
}

/// Identifies a record.
#[derive(Deserialize)]
struct RecordName {
    sample_id: String,
    #[serde(default)]
    epoch: u32,
}

/// The judges' replies in a record.
#[derive(Deserialize)]
struct RecordCalls {
    result: ResultCalls,
}

#[derive(Deserialize)]
struct ResultCalls {
    #[serde(default)]
    judged: Vec<JudgeCall>,
}

impl EarlierReplies {
    /// Adds the replies in a journal.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn add_journal(&mut self, journal: &Path) -> Result<()> {
        let mut list = PlaceList::default();
        journal::each(journal, &mut |line| {
            let of = mark(&line.event.sample_id, line.event.epoch);
            if line.event.into_judge_call().is_some() {
                list.add(of, line.place);
            }
            Ok(())
        })?;
        self.journals.push(list.open(journal)?);
        Ok(())
    }

    /// Adds the replies in a `samples.jsonl`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn add_records(&mut self, path: &Path) -> Result<()> {
        let failed = |error: std::io::Error| Error::io("read", path, &error);
        let mut file = records::open(path)?;
        let (mut places, mut place, mut line) = (Vec::new(), 0, Vec::new());
        loop {
            line.clear();
            let length = file.read_until(b'\n', &mut line).map_err(failed)?;
            if length == 0 {
                break;
            }
            let name: RecordName = serde_json::from_slice(&line)
                .map_err(|error| Error::usage(format!("not a record: {error}")))?;
            places.push((mark(&name.sample_id, name.epoch), place));
            place += length as u64;
        }
        places.sort_unstable();
        let lines = open_plain(path).map_err(failed)?;
        self.records.push(RecordPlaces {
            path: path.to_owned(),
            places,
            lines: Mutex::new(PlacedLines::new(lines, BUFFER)),
        });
        Ok(())
    }

    /// The replies about an answer.
    ///
    /// # Errors
    /// When a file cannot be read again.
    pub(super) fn of(&self, id: &str, epoch: u32) -> Result<Vec<JudgeCall>> {
        let mut replies = Vec::new();
        for journal in &self.journals {
            let events = journal.events(mark(id, epoch))?;
            let events = events.into_iter().map(|event| event.known);
            // Two answers may have the same hash.
            let own = events.filter(|event| event.sample_id == id && event.epoch == epoch);
            replies.extend(own.filter_map(StoredEvent::into_judge_call));
        }
        for records in &self.records {
            replies.extend(records.of(id, epoch)?);
        }
        Ok(replies)
    }
}

impl RecordPlaces {
    fn of(&self, id: &str, epoch: u32) -> Result<Vec<JudgeCall>> {
        let of = mark(id, epoch);
        let start = self.places.partition_point(|(mark, _)| *mark < of);
        let own = self.places[start..].iter();
        for (_, place) in own.take_while(|(mark, _)| *mark == of) {
            let failed = |error: std::io::Error| Error::io("read", &self.path, &error);
            let line = lock(&self.lines).line(*place).map_err(failed)?;
            let changed = |error: serde_json::Error| {
                let path = self.path.display();
                Error::infrastructure(format!("cannot read `{path}` again: {error}"))
            };
            let name: RecordName = serde_json::from_slice(&line).map_err(changed)?;
            // Two answers may have the same hash.
            if name.sample_id == id && name.epoch == epoch {
                let calls: RecordCalls = serde_json::from_slice(&line).map_err(changed)?;
                return Ok(calls.result.judged);
            }
        }
        Ok(Vec::new())
    }
}

fn mark(id: &str, epoch: u32) -> u64 {
    hash::mark(&(id, epoch))
}
