//! `CacheClaim`: the right to ask a question while other runs or samples wait for the answer.
//!
//! It is a lock on a file next to the answer, which the system releases however its holder ends. Waiters retry from
//! time to time. A holder that ends without an answer notes that in the file, so that the waiters ask at once, each on
//! its own; after a killed holder, the next waiter takes over.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::system::file;
use crate::system::shortage::room_for_files;

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
mod tests {
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
