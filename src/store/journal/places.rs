//! `JournalPlaces`: the offsets of a journal's lines by subject, to read them again when needed.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::StoredEvent;
use super::sealed::unseal;
use crate::error::{Error, Result};
use crate::store::Carried;
use crate::system::file::lines::PlacedLines;
use crate::system::file::open_plain;
use crate::system::lock;

/// Bytes per read. A shuffled run reads lines all over the journal, where read-ahead is wasted; in order, the size
/// makes no difference.
const BUFFER: usize = 1 << 13;

/// Offsets of lines by the number of their subject.
#[derive(Debug, Default)]
pub(crate) struct PlaceList(Vec<(u64, u64)>);

impl PlaceList {
    /// Adds a line.
    pub(crate) fn add(&mut self, of: u64, place: u64) {
        self.0.push((of, place));
    }

    /// Opens the journal. Lines may be appended meanwhile, but not changed.
    pub(crate) fn open(mut self, path: &Path) -> Result<JournalPlaces> {
        self.0.sort_unstable();
        let journal = if self.0.is_empty() {
            None
        } else {
            let file = open_plain(path).map_err(|error| Error::io("open", path, &error))?;
            Some(Mutex::new(PlacedLines::new(file, BUFFER)))
        };
        Ok(JournalPlaces {
            path: path.to_owned(),
            lines: self.0,
            journal,
        })
    }
}

/// The offsets of a journal's lines.
#[derive(Debug)]
pub(crate) struct JournalPlaces {
    path: PathBuf,
    /// By subject, in journal order.
    lines: Vec<(u64, u64)>,
    journal: Option<Mutex<PlacedLines>>,
}

impl JournalPlaces {
    /// The events about a subject, in the order in which they happened.
    ///
    /// # Errors
    /// When they can no longer be read.
    pub(crate) fn events(&self, of: u64) -> Result<Vec<Carried<StoredEvent>>> {
        let start = self.lines.partition_point(|(key, _)| *key < of);
        let lines = &self.lines[start..];
        let lines = &lines[..lines.partition_point(|(key, _)| *key == of)];
        let Some(journal) = self.journal.as_ref().filter(|_| !lines.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut texts = Vec::with_capacity(lines.len());
        {
            // Hold the lock only for reading; threads parse in parallel.
            let mut journal = lock(journal);
            for (_, place) in lines {
                let text = journal.line(*place);
                texts.push(text.map_err(|error| self.unreadable(&error))?);
            }
        }
        let parse = |line: &Vec<u8>| {
            let line = unseal(line).ok()?;
            Carried::<StoredEvent>::parse(&line.text)
                .ok()
                .map(Carried::lean)
        };
        let changed = || self.unreadable(&"it changed during this run");
        let events = texts.iter();
        let events = events.map(|line| parse(line).ok_or_else(changed));
        let mut events: Vec<_> = events.collect::<Result<_>>()?;
        // Lines may be out of order.
        events.sort_by_key(|event| event.known.event_index);
        Ok(events)
    }

    fn unreadable(&self, reason: &dyn std::fmt::Display) -> Error {
        let path = self.path.display();
        Error::infrastructure(format!("cannot read `{path}` again: {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EventLog, Kind};
    use super::*;

    #[test]
    fn what_tells_of_something_is_read_again_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let (journal, _) = EventLog::open(&path, &mut |_| Ok(())).unwrap();
        let mut list = PlaceList::default();
        for (number, id) in ["a", "b", "a", "c", "a"].iter().enumerate() {
            let attempt = u32::try_from(number).unwrap();
            let event = StoredEvent::new(id, 0, attempt, Kind::Failed);
            let of = u64::from(id.as_bytes()[0]);
            list.add(of, journal.append(&event).unwrap());
        }
        let places = list.open(&path).unwrap();
        let attempts = |of: u8| -> Vec<u32> {
            let events = places.events(of.into()).unwrap();
            events.iter().map(|event| event.known.attempt).collect()
        };
        assert_eq!(attempts(b'c'), [3]);
        assert_eq!(attempts(b'a'), [0, 2, 4]);
        assert!(attempts(b'd').is_empty());
        // While more is written.
        let event = StoredEvent::new("d", 0, 9, Kind::Failed);
        journal.append(&event).unwrap();
        assert_eq!(attempts(b'b'), [1]);
        std::fs::write(&path, vec![b'x'; 4 << 20]).unwrap();
        // The buffer may still have the old data.
        let again = PlaceList(places.lines.clone()).open(&path).unwrap();
        let error = again.events(b'a'.into()).unwrap_err();
        assert!(error.message().contains("it changed"), "{error}");
    }
}
