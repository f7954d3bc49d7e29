//! Checks the keys of a run's records: no question twice, and as many as the run asked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use crate::data::Status;
use crate::system::file::open_plain;
use crate::text::hash;

/// The key of a record: its question.
#[derive(Deserialize)]
struct RecordKey<'a> {
    #[serde(borrow)]
    sample_id: Cow<'a, str>,
    #[serde(default)]
    epoch: u32,
}

/// What was found in the records of a run.
#[derive(Debug, Default)]
pub(super) struct RecordKeys {
    /// The SHA-256 of the file.
    pub(super) hash: String,
    /// How many records there are.
    pub(super) count: usize,
    /// Whether a line is not a record; the record reader gives the better error.
    pub(super) has_others: bool,
    /// A duplicate key.
    pub(super) twice: Option<String>,
}

/// Reads the records at a path; `about` is their expected number.
pub(super) fn read(path: &Path, about: usize) -> io::Result<RecordKeys> {
    let mut hasher = hash::Hasher::default();
    // 8 MiB for a million records; their ids would take a hundred.
    let mut marks = Vec::new();
    // A damaged manifest may have any number.
    let _ = marks.try_reserve_exact(about.min(1 << 24));
    let mut has_others = false;
    each(path, |line| {
        hasher.bytes(line);
        match key_of(line) {
            Some(key) => marks.push(mark(&key)),
            None => has_others |= !line.trim_ascii().is_empty(),
        }
    })?;
    marks.sort_unstable();
    let suspects: Vec<u64> = marks
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    Ok(RecordKeys {
        hash: hasher.hex(),
        count: marks.len(),
        has_others,
        twice: if suspects.is_empty() {
            None
        } else {
            twice(path, &suspects)?
        },
    })
}

/// The part of a record that shows whether its question was asked.
#[derive(Deserialize)]
struct RecordStatus<'a> {
    #[serde(borrow)]
    sample_id: Cow<'a, str>,
    #[serde(default)]
    epoch: u32,
    result: StatusMember,
}

#[derive(Deserialize)]
struct StatusMember {
    status: Status,
}

/// Visits the id and epoch of each readable record at a path whose question was asked.
pub(super) fn requested(path: &Path, see: &mut dyn FnMut(&str, u32)) -> io::Result<()> {
    each(path, |line| {
        let record = serde_json::from_slice::<RecordStatus<'_>>(line);
        if let Ok(record) = record
            && record.result.status != Status::Skipped
        {
            see(&record.sample_id, record.epoch);
        }
    })
}

/// The first real duplicate among the keys with these hashes, which may collide.
fn twice(path: &Path, suspects: &[u64]) -> io::Result<Option<String>> {
    let mut seen: HashMap<(String, u32), u64> = HashMap::new();
    let (mut number, mut found) = (0_u64, None);
    each(path, |line| {
        number += 1;
        let Some(key) = key_of(line).filter(|_| found.is_none()) else {
            return;
        };
        if suspects.binary_search(&mark(&key)).is_err() {
            return;
        }
        let (id, epoch) = (key.sample_id.into_owned(), key.epoch);
        if let Some(first) = seen.insert((id.clone(), epoch), number) {
            let epoch = match epoch {
                0 => String::new(),
                more => format!(" in epoch {more}"),
            };
            found = Some(format!(
                "sample `{id}` occurs twice{epoch}, in lines {first} and {number}"
            ));
        }
    })?;
    Ok(found)
}

fn each(path: &Path, mut see: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = BufReader::with_capacity(64 << 10, open_plain(path)?);
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line)? > 0 {
        see(&line);
        line.clear();
    }
    Ok(())
}

fn mark(key: &RecordKey<'_>) -> u64 {
    hash::mark(&(&*key.sample_id, key.epoch))
}

fn key_of(line: &[u8]) -> Option<RecordKey<'_>> {
    written(line).or_else(|| serde_json::from_slice(line).ok())
}

/// The key of a line as evaltest writes it, without parsing the rest.
fn written(line: &[u8]) -> Option<RecordKey<'_>> {
    let (id, rest) = quoted(line.strip_prefix(br#"{"sample_id":"#)?)?;
    let (_, rest) = quoted(rest.strip_prefix(br#","eval":"#)?)?;
    let rest = rest.strip_prefix(br#","epoch":"#)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let epoch = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    (rest.get(digits) == Some(&b',') && line.ends_with(b"}\n")).then_some(RecordKey {
        sample_id: Cow::Borrowed(id),
        epoch,
    })
}

/// A string without escapes at the start of a text, and what follows it.
fn quoted(text: &[u8]) -> Option<(&str, &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let end = text.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    let (inside, rest) = text.split_at(end);
    let rest = rest.strip_prefix(b"\"")?;
    Some((std::str::from_utf8(inside).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> RecordKeys {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path(), 2).unwrap()
    }

    const A: &str = "{\"sample_id\":\"a\",\"eval\":\"e\",\"epoch\":0,\"prompt\":\"\"}\n";

    #[test]
    fn records_are_counted_and_those_that_are_there_twice_are_named() {
        let other = A.replace("\"epoch\":0", "\"epoch\":1");
        let found = keys(&format!("{A}{other}"));
        assert_eq!((found.count, found.twice), (2, None));
        let found = keys(&format!("{A}{other}{other}"));
        assert_eq!(found.count, 3);
        let twice = "sample `a` occurs twice in epoch 1, in lines 2 and 3";
        assert_eq!(found.twice.as_deref(), Some(twice));
        // Written by another program.
        let spelled = "{\"prompt\": \"\", \"epoch\": 0, \"sample_id\": \"\\u0061\"}\n";
        let found = keys(&format!("{A}\n{spelled}"));
        let twice = "sample `a` occurs twice, in lines 1 and 3";
        assert_eq!(found.twice.as_deref(), Some(twice));
        // The record reader gives the reason.
        assert!(keys(&format!("{A}{{\"x\":1}}\n")).has_others && !found.has_others);
        let found = keys("");
        assert_eq!((found.count, found.twice), (0, None));
    }
}
