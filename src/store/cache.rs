//! The answer cache: a folder of answers, so that the same question is not asked twice.
//!
//! Off unless a spec (`cache: true`) or a flag (`--cache`) enables it. The key of an answer is a hash of everything
//! that can change it: the agent, its files and options, the prompt, tools, files, epoch. See
//! [`Agent::fingerprint`](crate::Agent::fingerprint) for what the key cannot know.
//!
//! # Invariants
//!
//! - Only answers are stored, never failures, and none that redaction would change: no file contains a secret, and a
//!   cached answer gets the same verdict as the original.
//! - A cached answer is marked everywhere (`cached: true`). It counts in no latency, and it costs nothing: neither
//!   budgets nor the summary's usage include its original cost.
//! - Any problem with the folder is a notice. It never costs an answer, and never fails a run.
//! - Files are written atomically. Any number of runs may share the folder.

pub(crate) mod answers;
#[cfg(test)]
mod tests;
#[cfg(feature = "command")]
mod upkeep;

use std::borrow::Cow;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data::Sample;
use crate::data::conversation::Script;
use crate::error::{Error, Result};
use crate::system::file;
use crate::system::file::write_atomically;
use crate::system::shortage::room_for_files;
use crate::text::hash::Hasher;

#[cfg(feature = "command")]
pub use upkeep::{Cleared, Contents};
#[cfg(feature = "command")]
pub use upkeep::{clear, contents};

/// The cache folder below that of runs.
pub const FOLDER: &str = ".cache";

/// How a run uses the answer cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheUse {
    /// Not at all: everything is asked, nothing is stored.
    #[default]
    Off,
    /// Cached answers are used; new ones are stored.
    On,
    /// Everything is asked, and replaces what was stored.
    Refresh,
}

/// The variable for `cargo test` that corresponds to `--cache`, `--no-cache` and `--refresh` on the command line: `on`,
/// `off` or `refresh`.
pub(crate) const VARIABLE: &str = "EVALTEST_CACHE";

/// The value of [`VARIABLE`], if it is set.
pub(crate) fn of_environment() -> Result<Option<CacheUse>> {
    let Some(word) = std::env::var_os(VARIABLE).filter(|word| !word.is_empty()) else {
        return Ok(None);
    };
    match word.to_str() {
        Some("on") => Ok(Some(CacheUse::On)),
        Some("off") => Ok(Some(CacheUse::Off)),
        Some("refresh") => Ok(Some(CacheUse::Refresh)),
        _ => {
            let word = word.display();
            Err(Error::usage(format!("{VARIABLE} is `{word}`"))
                .hint("set it to `on`, `off` or `refresh`, or unset it"))
        }
    }
}

/// The cache settings of an eval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) usage: CacheUse,
    /// The folder, if not in that of runs.
    pub(crate) folder: Option<PathBuf>,
}

impl Settings {
    /// The cache folder of an eval whose runs are in `runs`.
    pub(crate) fn folder(&self, runs: &Path) -> PathBuf {
        self.folder.clone().unwrap_or_else(|| runs.join(FOLDER))
    }
}

// A folder of small files by key, split into subfolders by the first two digits, because folders with tens of
// thousands of files are slow on some systems.

/// A folder of files by key.
#[derive(Debug)]
pub(crate) struct Buckets {
    pub(crate) folder: PathBuf,
    /// The extension of the files, without the dot.
    extension: &'static str,
    /// The longest file, in bytes; a longer one is not ours.
    pub(crate) longest: u64,
}

impl Buckets {
    pub(crate) fn new(folder: PathBuf, extension: &'static str, longest: u64) -> Self {
        Self {
            folder,
            extension,
            longest,
        }
    }

    /// The file of a key, which is a hash in hex.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        let bucket = key.get(..2).unwrap_or("00");
        self.folder
            .join(bucket)
            .join(format!("{key}.{}", self.extension))
    }

    /// The content of the file of a key; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read, is too long, or is not a regular file.
    pub(crate) fn read(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.path(key);
        let about = match fs::metadata(&path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // Reading a pipe would never end.
        if !about.is_file() || about.len() > self.longest {
            return Err(io::Error::other("it is too long or not a file"));
        }
        let mut content = Vec::new();
        let file = match File::open(&path) {
            Ok(file) => file,
            // Cleared meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        file.take(self.longest + 1).read_to_end(&mut content)?;
        if content.len() as u64 > self.longest {
            return Err(io::Error::other("it is too long"));
        }
        Ok(Some(content))
    }

    /// Writes a file atomically.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn write(&self, key: &str, content: &[u8]) -> Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, &error))?;
        write_atomically(&path, content)
    }
}

// The right to ask a question while other runs or samples wait for the answer.
//
// It is a lock on a file next to the answer, which the system releases however its holder ends. Waiters retry from
// time to time. A holder that ends without an answer notes that in the file, so that the waiters ask at once, each on
// its own; after a killed holder, the next waiter takes over.

/// The content of the file after its holder ended without an answer.
const UNANSWERED: u8 = b'-';

/// The right to ask a question, released on drop.
#[derive(Debug)]
pub(crate) struct CacheClaim {
    file: File,
    path: PathBuf,
    is_answered: bool,
}

/// The result of requesting a claim.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// We have it.
    Ours(CacheClaim),
    /// Another holds it; the file shows the result.
    Theirs(File),
    /// No claim is possible here.
    Nobodys,
}

/// Requests the right to ask the question whose answer is stored at `answer`. `waited` is the file of an earlier
/// holder.
pub(crate) fn claim(answer: &Path, waited: Option<File>) -> Claimed {
    let path = answer.with_extension("asking");
    let opened = || {
        let _room = room_for_files(1).ok()?;
        fs::create_dir_all(path.parent()?).ok()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        file::refuse_other(&path).ok()?;
        options.open(&path).ok()
    };
    let Some(mut file) = waited.or_else(opened) else {
        return Claimed::Nobodys;
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Claimed::Theirs(file),
        Err(TryLockError::Error(_)) => return Claimed::Nobodys,
        Ok(()) => {}
    }
    let mut bytes = Vec::new();
    if file.read_to_end(&mut bytes).is_err() || bytes.first() == Some(&UNANSWERED) {
        return Claimed::Nobodys;
    }
    if !file::has_name(&file) {
        // Its holder stored an answer.
        return Claimed::Nobodys;
    }
    Claimed::Ours(CacheClaim {
        file,
        path,
        is_answered: false,
    })
}

impl CacheClaim {
    /// Marks the answer as stored.
    pub(crate) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for CacheClaim {
    fn drop(&mut self) {
        if !self.is_answered {
            let _ = self.file.write_all(&[UNANSWERED]);
        }
        // The locked file: it had this name when it was claimed, and only the holder removes it.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod claim_tests {
    use super::*;

    #[test]
    fn one_asks_and_the_others_wait() {
        let folder = tempfile::tempdir().unwrap();
        let answer = folder.path().join("ab/abc.answer");
        let Claimed::Ours(first) = claim(&answer, None) else {
            panic!("nobody has it");
        };
        let Claimed::Theirs(waited) = claim(&answer, None) else {
            panic!("the first has it");
        };
        let Claimed::Theirs(waited) = claim(&answer, Some(waited)) else {
            panic!("the first has it still");
        };
        first.answered();
        assert!(matches!(claim(&answer, Some(waited)), Claimed::Nobodys));
        let Claimed::Ours(second) = claim(&answer, None) else {
            panic!("nobody has it any more");
        };
        let Claimed::Theirs(waited) = claim(&answer, None) else {
            panic!("the second has it");
        };
        drop(second);
        assert!(matches!(claim(&answer, Some(waited)), Claimed::Nobodys));
        assert!(!answer.with_extension("asking").exists());
    }
}

/// Increased when agents are sent something else for the same sample, or replies are parsed differently.
const VERSION: u32 = 1;

/// Everything that determines an answer.
#[derive(Clone, Copy)]
pub(crate) struct CacheKeyInput<'a> {
    /// The agent's self-description.
    pub(crate) fingerprint: &'a str,
    /// The agent's keys in the spec; `null` for an agent that was built in Rust.
    pub(crate) spec: &'a Value,
    pub(crate) options: &'a Map<String, Value>,
    pub(crate) prompt: &'a str,
    pub(crate) sample: &'a Sample,
    pub(crate) epoch: u32,
    /// How many answers to it were refused before.
    pub(crate) again: u32,
    /// The turn whose first call of a tool fails on purpose, and what the agent hears.
    pub(crate) fault: Option<(u32, &'static str)>,
}

impl CacheKeyInput<'_> {
    /// The key, 64 hex digits. It reveals nothing about its input.
    ///
    /// # Errors
    /// When a file of the sample cannot be read.
    pub(crate) fn key(&self) -> io::Result<String> {
        let sample = self.sample;
        let hash = Hasher::default().part("evaltest answer");
        let mut hash = agent_parts(hash, self.fingerprint, self.spec, self.options)
            .part(&sample.id)
            .part(&sample.prompt)
            .part(self.prompt)
            .part(self.epoch.to_le_bytes())
            .part(Value::from(sample.tools.as_slice()).to_string());
        if self.again > 0 {
            hash = hash.part("again").part(self.again.to_le_bytes());
        }
        if let Some((turn, message)) = self.fault {
            hash = hash.part("fault").part(turn.to_le_bytes()).part(message);
        }
        if let Some(script) = Script::of(sample) {
            hash = hash.part("conversation").part(script.surroundings());
        }
        // Agents see only these metadata.
        for name in &sample.visible {
            if let Some(value) = sample.metadata.get(name) {
                hash = hash.part("seen").part(name).part(value.to_string());
            }
        }
        for file in &sample.files {
            let path = file
                .resolve()
                .map_err(|error| io::Error::other(error.message))?;
            let content = file::hash(&path)?;
            hash = hash.part("file").part(&file.name).part(content);
        }
        Ok(hash.hex())
    }
}

/// The agent's part of the keys of its answers: another agent gives other answers.
pub(crate) fn agent_hash(fingerprint: &str, spec: &Value, options: &Map<String, Value>) -> String {
    let hash = Hasher::default().part("evaltest agent");
    agent_parts(hash, fingerprint, spec, options).short()
}

fn agent_parts(
    hash: Hasher,
    fingerprint: &str,
    spec: &Value,
    options: &Map<String, Value>,
) -> Hasher {
    hash.part(VERSION.to_le_bytes())
        .part(fingerprint)
        .part(identifying_keys(spec).to_string())
        .part(json(options))
}

/// The keys of an agent without those for its number of instances and its timeouts.
fn identifying_keys(spec: &Value) -> Cow<'_, Value> {
    const OF_WORKERS: [&str; 4] = [
        "processes",
        "in_flight",
        "start_timeout_s",
        "close_timeout_s",
    ];
    let is_one = spec
        .get("type")
        .is_some_and(|kind| kind == "worker" || kind == "acp");
    let is_mere = |key: &String| OF_WORKERS.contains(&&**key);
    match spec {
        Value::Object(keys) if is_one && keys.keys().any(is_mere) => {
            let keys = keys.iter().filter(|(key, _)| !is_mere(key));
            let keys = keys.map(|(key, value)| (key.clone(), value.clone()));
            Cow::Owned(Value::Object(keys.collect()))
        }
        _ => Cow::Borrowed(spec),
    }
}

fn json(map: &Map<String, Value>) -> String {
    let value = serde_json::to_string(map);
    value.unwrap_or_default()
}

#[cfg(test)]
mod key_tests {
    use super::*;
    use crate::data::Attachment;
    use serde_json::json;

    /// Everything that goes into a key, to be changed one by one.
    #[derive(Clone)]
    struct Parts {
        fingerprint: String,
        spec: Value,
        options: Value,
        prompt: String,
        sample: Sample,
        epoch: u32,
    }

    impl Parts {
        fn key(&self) -> String {
            let input = CacheKeyInput {
                fingerprint: &self.fingerprint,
                spec: &self.spec,
                options: self.options.as_object().unwrap(),
                prompt: &self.prompt,
                sample: &self.sample,
                epoch: self.epoch,
                again: 0,
                fault: None,
            };
            input.key().unwrap()
        }
    }

    fn parts(folder: &std::path::Path) -> Parts {
        std::fs::write(folder.join("a.csv"), "1,2\n").unwrap();
        std::fs::write(folder.join("b.csv"), "1,3\n").unwrap();
        let mut sample = Sample::new("q1", "How many?").target("4");
        sample.metadata = json!({"seen": 1, "steps": "the solution"})
            .as_object()
            .unwrap()
            .clone();
        sample.visible = vec!["seen".to_owned()];
        sample.tools = vec![json!({"name": "add"})];
        sample.files = vec![Attachment {
            name: "a.csv".to_owned(),
            path: "a.csv".into(),
            root: folder.to_owned(),
        }];
        Parts {
            fingerprint: "agent".to_owned(),
            spec: json!({"type": "openai", "temperature": 0.0}),
            options: json!({"depth": 1}),
            prompt: "Answer: How many?".to_owned(),
            sample,
            epoch: 0,
        }
    }

    #[test]
    fn whatever_can_change_the_answer_changes_the_key() {
        let folder = tempfile::tempdir().unwrap();
        let base = parts(folder.path());
        let key = base.key();
        assert_eq!(key, parts(folder.path()).key(), "the same twice");
        assert_eq!(key.len(), 64);
        let mut seen = std::collections::HashSet::from([key]);
        let mut check = |what: &str, change: fn(&mut Parts)| {
            let mut parts = base.clone();
            change(&mut parts);
            assert!(seen.insert(parts.key()), "{what}");
        };
        check("fingerprint", |parts| parts.fingerprint.push('2'));
        check("temperature", |parts| {
            parts.spec["temperature"] = json!(0.5);
        });
        check("another agent", |parts| parts.spec = Value::Null);
        check("options", |parts| parts.options = json!({"depth": 2}));
        check("prompt", |parts| parts.prompt.push(' '));
        check("question", |parts| parts.sample.prompt.push(' '));
        check("id", |parts| parts.sample.id.push('0'));
        check("epoch", |parts| parts.epoch = 1);
        check("tools", |parts| {
            parts.sample.tools[0] = json!({"name": "sub"});
        });
        check("no tools", |parts| parts.sample.tools.clear());
        check("visible metadata", |parts| {
            parts.sample.metadata["seen"] = json!(2);
        });
        check("more is visible", |parts| {
            parts.sample.visible.push("steps".to_owned());
        });
        check("name of a file", |parts| {
            parts.sample.files[0].name = "c.csv".to_owned();
        });
        check("content of a file", |parts| {
            parts.sample.files[0].path = "b.csv".into();
        });
        check("no file", |parts| parts.sample.files.clear());
        check("a file twice", |parts| {
            let file = parts.sample.files[0].clone();
            parts.sample.files.push(file);
        });
    }

    #[test]
    fn what_the_agent_does_not_see_does_not_change_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = parts(folder.path());
        let mut other = base.clone();
        other.sample.metadata["steps"] = json!("another");
        other.sample.target = None;
        other.sample.slices.clear();
        assert_eq!(base.key(), other.key());
    }

    #[test]
    fn how_many_workers_there_are_does_not_change_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut base = parts(folder.path());
        let mut key = |spec: Value| {
            base.spec = spec;
            base.key()
        };
        let one = key(json!({"type": "worker", "command": ["a"]}));
        let many = json!({
            "type": "worker", "command": ["a"], "processes": 3, "in_flight": 2, "start_timeout_s": 1, "close_timeout_s": 1,
        });
        assert_eq!(key(many), one);
        assert_ne!(key(json!({"type": "worker", "command": ["b"]})), one);
        // The meaning of these keys is unknown for other kinds.
        let own = |processes: u32| json!({"type": "own", "processes": processes});
        assert_ne!(key(own(1)), key(own(2)));
    }

    #[test]
    fn a_file_that_cannot_be_read_makes_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let base = parts(folder.path());
        std::fs::remove_file(folder.path().join("a.csv")).unwrap();
        let input = CacheKeyInput {
            fingerprint: "",
            spec: &Value::Null,
            options: &Map::new(),
            prompt: "",
            sample: &base.sample,
            epoch: 0,
            again: 0,
            fault: None,
        };
        assert!(input.key().is_err());
    }
}
