//! `AnswerCache`: reads and stores the answers of a run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::Buckets;
use crate::data::{Finish, Output};
use crate::error::Error;
use crate::system::file::make_root;
use crate::system::lock;
use crate::text::hash::Hasher;
use crate::text::json_line;

/// The extension of answer files.
pub(super) const EXTENSION: &str = "answer";
/// The longest answer file, in bytes.
pub(super) const LONGEST: u64 = 64 << 20;

/// A folder of answers.
#[derive(Debug)]
pub(crate) struct AnswerCache {
    buckets: Buckets,
    /// Notices that were given already: a full disk is reported once.
    notified: Mutex<BTreeSet<&'static str>>,
}

/// A notice about the cache.
pub(crate) type Notice = Option<String>;

impl AnswerCache {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            buckets: Buckets::new(folder, EXTENSION, LONGEST),
            notified: Mutex::default(),
        }
    }

    /// Makes the folder, so that it exists when a sandbox hides it. Errors show when an answer is stored.
    pub(crate) fn prepare(&self) {
        let _ = make_root(&self.buckets.folder);
    }

    /// The answer stored under this key.
    pub(crate) fn get(&self, key: &str) -> (Option<CacheEntry>, Notice) {
        let path = self.buckets.path(key);
        let unusable = |why: &dyn std::fmt::Display| {
            let what = format!("`{}` in the cache cannot be used: {why}", path.display());
            (None, self.once("file", &what))
        };
        match self.buckets.read(key) {
            Ok(None) => (None, None),
            Err(error) => unusable(&error),
            Ok(Some(content)) => match CacheEntry::from_bytes(&content, key) {
                // Older versions stored outages that a gateway reported within a success.
                Ok(entry) if entry.output.finish() == Finish::Outage => (None, None),
                Ok(entry) => (Some(entry), None),
                Err(why) => unusable(&why),
            },
        }
    }

    /// The path of the answer with this key, which may not exist.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.buckets.path(key)
    }

    /// Stores an answer of the run `requested_by`, unless it is an outage; returns a notice if that fails.
    pub(crate) fn put(
        &self,
        key: &str,
        output: &Output,
        latency_s: f64,
        requested_by: Option<String>,
    ) -> Notice {
        if output.finish() == Finish::Outage {
            return None;
        }
        let entry = CacheEntry {
            key: key.to_owned(),
            created: format!("{:.0}", crate::system::clock::timestamp()),
            // JSON cannot represent other numbers.
            latency_s: if latency_s.is_finite() {
                latency_s
            } else {
                0.0
            },
            output: output.clone(),
            requested_by,
        };
        let written = entry
            .to_bytes()
            .map_err(|error| Error::infrastructure(error.to_string()))
            .and_then(|content| {
                if content.len() as u64 > self.buckets.longest {
                    return Err(Error::usage("an answer is too long"));
                }
                make_root(&self.buckets.folder)?;
                self.buckets.write(key, &content)
            });
        let error = written.err()?;
        self.once(
            "write",
            &format!("the cache cannot store answers: {}", error.message()),
        )
    }

    /// A notice, if none of its sort was given yet.
    pub(crate) fn once(&self, sort: &'static str, notice: &str) -> Notice {
        let mut notified = lock(&self.notified);
        notified.insert(sort).then(|| notice.to_owned())
    }
}

/// The start of every file; the number is the version.
///
/// - 1: this line with the SHA-256 (hex) of what follows, then a [`CacheEntry`] as a line of JSON.
const MARK: &str = "evaltest-answer 1 ";

/// A cached answer with its metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CacheEntry {
    /// Its key, to detect files that were moved.
    pub(super) key: String,
    /// When the answer was given.
    pub(super) created: String,
    /// Its original latency in seconds.
    pub(crate) latency_s: f64,
    pub(crate) output: Output,
    /// The run that asked; missing in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "asked_by")]
    pub(crate) requested_by: Option<String>,
}

impl CacheEntry {
    /// The file's content.
    pub(super) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let body = json_line(self)?;
        let mut content = format!("{MARK}{}\n", sum(&body)).into_bytes();
        content.extend_from_slice(&body);
        content.push(b'\n');
        Ok(content)
    }

    /// Parses a file stored under `key`, or returns the fault.
    pub(super) fn from_bytes(content: &[u8], key: &str) -> Result<Self, &'static str> {
        let Some(rest) = content.strip_prefix(MARK.as_bytes()) else {
            return Err("it was written by another version or another program");
        };
        let end = rest.iter().position(|&byte| byte == b'\n');
        let (found, body) = end.map_or((rest, &[][..]), |end| (&rest[..end], &rest[end + 1..]));
        let body = body.strip_suffix(b"\n").unwrap_or_default();
        if found != sum(body).as_bytes() {
            return Err("it is damaged");
        }
        let entry: Self =
            serde_json::from_slice(body).map_err(|_| "it was written by another program")?;
        if entry.key != key {
            return Err("it was stored under another name");
        }
        Ok(entry)
    }
}

fn sum(body: &[u8]) -> String {
    let mut hash = Hasher::default();
    hash.bytes(body);
    hash.hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> CacheEntry {
        CacheEntry {
            key: "ab".repeat(32),
            created: "2026-01-31T00:00:00Z".to_owned(),
            latency_s: 1.25,
            output: Output::text("four\n\u{0}\u{1f600}"),
            requested_by: Some("e-0123ab".to_owned()),
        }
    }

    #[test]
    fn an_answer_comes_back_as_it_was() {
        let entry = entry();
        let content = entry.to_bytes().unwrap();
        assert_eq!(CacheEntry::from_bytes(&content, &entry.key), Ok(entry));
    }

    #[test]
    fn an_outage_is_neither_stored_nor_used() {
        let folder = tempfile::tempdir().unwrap();
        let cache = AnswerCache::new(folder.path().join("cache"));
        let mut output = Output::text("half");
        let key = entry().key;
        output
            .metadata
            .insert("finish_reason".to_owned(), "length".into());
        assert_eq!(cache.put(&key, &output, 1.0, None), None);
        assert_eq!(
            cache.get(&key).0.map(|entry| entry.output),
            Some(output.clone())
        );
        output
            .metadata
            .insert("finish_reason".to_owned(), "error".into());
        assert_eq!(cache.put(&key, &output, 1.0, None), None);
        assert!(cache.get(&key).0.is_some(), "the answer before it stays");
        let of_older = CacheEntry { output, ..entry() };
        cache
            .buckets
            .write(&key, &of_older.to_bytes().unwrap())
            .unwrap();
        assert_eq!(cache.get(&key).0, None);
    }

    #[test]
    fn damaged_or_foreign_entries_are_rejected() {
        let entry = entry();
        let good = entry.to_bytes().unwrap();
        let check = |content: &[u8], says: &str| {
            let found = CacheEntry::from_bytes(content, &entry.key).unwrap_err();
            assert!(found.contains(says), "{found}");
        };
        check(b"", "another program");
        check(b"{\"output\": 1}", "another program");
        check(MARK.as_bytes(), "damaged");
        check(&good[..good.len() - 1], "damaged");
        check(&good[..good.len() / 2], "damaged");
        check(&[good.as_slice(), b"x"].concat(), "damaged");
        let newer = String::from_utf8(good.clone()).unwrap();
        check(
            newer.replacen("answer 1", "answer 2", 1).as_bytes(),
            "another version",
        );
        assert!(CacheEntry::from_bytes(&good, &"cd".repeat(32)).is_err());
        for place in 0..good.len() {
            let mut flipped = good.clone();
            flipped[place] ^= 4;
            assert!(
                CacheEntry::from_bytes(&flipped, &entry.key).is_err(),
                "byte {place}"
            );
        }
    }
}
