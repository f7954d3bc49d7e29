//! Files named in a command line: the program, and arguments that are files.
//!
//! Other inputs of a program are unknown: imported modules, packages, its data, the clock.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::system::file;
use crate::system::lock;
use crate::text::hash::Hasher;

/// For files above this size, such as models, size and modification time replace the content.
const LARGEST: u64 = 256 << 20;
/// Maximum number of words checked per command; each has at most `LONGEST_WORD` bytes.
const MOST_WORDS: usize = 1000;
const LONGEST_WORD: usize = 4096;

/// Cache of file hashes. An unchanged file is not read again.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileHashes {
    known: Arc<Mutex<HashMap<PathBuf, (FileState, String)>>>,
}

/// Identifies an unchanged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    file: (u64, u64),
    bytes: u64,
    changed: (i64, i64),
    status_changed: (i64, i64),
}

impl FileHashes {
    /// A hash of the contents of all files named in a command line, relative to any of `folders`.
    pub(crate) fn hash(
        &self,
        program: Option<&Path>,
        argv: &[String],
        folders: &[&Path],
    ) -> String {
        let mut hash = Hasher::default();
        if let Some(program) = program {
            hash = hash.part(self.file(program).unwrap_or_default());
        }
        let words = argv.iter().flat_map(|argument| words(argument));
        for word in words.take(MOST_WORDS) {
            for folder in folders {
                if let Some(content) = self.file(&folder.join(word)) {
                    hash = hash.part(word).part(content);
                }
            }
        }
        hash.hex()
    }

    /// The hash of a file; `None` if it is not a file or cannot be read.
    pub(crate) fn file(&self, path: &Path) -> Option<String> {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let state = FileState {
            file: (about.dev(), about.ino()),
            bytes: about.len(),
            changed: (about.mtime(), about.mtime_nsec()),
            status_changed: (about.ctime(), about.ctime_nsec()),
        };
        if state.bytes > LARGEST {
            return Some(format!("{} {:?}", state.bytes, state.changed));
        }
        if let Some((then, hash)) = self.known().get(path)
            && *then == state
        {
            return Some(hash.clone());
        }
        let hash = file::hash(path).ok()?;
        self.known().insert(path.to_owned(), (state, hash.clone()));
        Some(hash)
    }

    /// Ignores poisoning: the map is never left inconsistent.
    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (FileState, String)>> {
        lock(&self.known)
    }
}

/// The files named in a text, such as an argument, relative to any of `folders`.
pub(crate) fn files_in(text: &str, folders: &[&Path]) -> Vec<PathBuf> {
    let words = words(text).take(MOST_WORDS);
    let paths = words.flat_map(|word| folders.iter().map(move |folder| folder.join(word)));
    paths.filter(|path| path.is_file()).collect()
}

/// The parts of an argument that may name files: the whole and its words, as in `--config=a.toml` or
/// `python3 agent.py | tee log`.
fn words(argument: &str) -> impl Iterator<Item = &str> {
    let marks = |c: char| c.is_whitespace() || "'\"`;|&()<>=,".contains(c);
    let whole = std::iter::once(argument);
    let parts = argument.split(marks).filter(move |part| *part != argument);
    let is_name = |word: &&str| !word.is_empty() && word.len() <= LONGEST_WORD;
    whole.chain(parts).filter(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_a_command_names_in_any_way_changes_its_hash() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.py");
        let named = FileHashes::default();
        let other = folder.path().join("other.py");
        fs::write(&other, "0").unwrap();
        let absolute = file.display().to_string();
        let check = |argv: &[&str], expect: bool| {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            let mut hashes = Vec::new();
            for content in ["1", "22"] {
                fs::write(&file, content).unwrap();
                let hash = named.hash(Some(&other), &argv, &[folder.path()]);
                assert_eq!(hash, named.hash(Some(&other), &argv, &[folder.path()]));
                hashes.push(hash);
            }
            assert_eq!(hashes[0] != hashes[1], expect, "{argv:?}");
        };
        check(&["python3", "agent.py"], true);
        check(&["python3", "./agent.py"], true);
        check(&["python3", &absolute], true);
        check(&["x", "--script=agent.py"], true);
        check(&["/bin/sh", "-c", "cat | python3 'agent.py'; true"], true);
        check(&["python3", "other.py"], false);
        check(&["python3", "-m", "agent"], false);
        let hash = |program: &Path| named.hash(Some(program), &[], &[]);
        assert_ne!(hash(&file), hash(&other), "the program itself");
    }

    #[test]
    fn a_changed_file_of_the_same_length_is_read_again_and_odd_words_harm_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let named = FileHashes::default();
        let hash = || named.hash(None, &["a".to_owned()], &[folder.path()]);
        fs::write(&file, "1").unwrap();
        let before = hash();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&file, "2").unwrap();
        assert_ne!(hash(), before);
        let odd = [
            "",
            "\0",
            "/",
            "..",
            "/dev/zero",
            &"x".repeat(1 << 20),
            &"a ".repeat(1 << 16),
        ];
        let odd = odd.map(str::to_owned);
        assert!(!named.hash(None, &odd, &[folder.path()]).is_empty());
    }
}
