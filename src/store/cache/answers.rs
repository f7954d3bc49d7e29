//! `AnswerCache`: reads and stores the answers of a run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

use super::buckets::Buckets;
use super::entry::CacheEntry;
use crate::data::Output;
use crate::error::Error;
use crate::system::file::make_root;
use crate::system::lock::lock;

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
                Ok(entry) => (Some(entry), None),
                Err(why) => unusable(&why),
            },
        }
    }

    /// The path of the answer with this key, which may not exist.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.buckets.path(key)
    }

    /// Stores an answer of the run `requested_by`; returns a notice if that fails.
    pub(crate) fn put(
        &self,
        key: &str,
        output: &Output,
        latency_s: f64,
        requested_by: Option<String>,
    ) -> Notice {
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
                    return Err(Error::usage("an answer is too long for it"));
                }
                make_root(&self.buckets.folder)?;
                self.buckets.write(key, &content)
            });
        let error = written.err()?;
        self.once(
            "write",
            &format!("the cache keeps nothing: {}", error.message()),
        )
    }

    /// A notice, if none of its sort was given yet.
    pub(crate) fn once(&self, sort: &'static str, notice: &str) -> Notice {
        let mut notified = lock(&self.notified);
        notified.insert(sort).then(|| notice.to_owned())
    }
}
