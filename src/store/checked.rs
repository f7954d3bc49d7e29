//! Verifies the files of a run directory before they are used.
//!
//! The manifest has a hash of each, and a checksum of its own. This protects against damage, such as a truncated copy,
//! a full disk or changed line ends, but not against someone who writes new hashes and a new checksum.

mod keys;

use std::io;
use std::path::Path;
use std::thread;

use super::files::{HASHED, JOURNAL, MANIFEST, PLACES, RECORDS};
use super::{Manifest, RunDir, RunStatus, stamp_and_id};
use crate::error::{Error, Result};
use crate::system::file;
use crate::system::project::display;
use crate::system::spawn_scoped;
use crate::text::shell_word;

/// What is wrong with a file.
#[derive(Debug)]
enum Damage {
    Missing,
    /// A folder, a pipe, a device.
    NoFile,
    Changed,
    /// It matches the manifest, but cannot be complete.
    Odd(String),
    Unreadable(io::Error),
}

impl RunDir {
    /// Whether its journal is being written right now.
    pub fn is_going_on(&self) -> bool {
        super::journal::is_held(&self.file(JOURNAL))
    }

    /// Whether the run has finished.
    pub(crate) fn is_finished(&self) -> bool {
        let manifest = self.manifest();
        manifest.is_ok_and(|manifest| manifest.status == RunStatus::Finished)
    }

    /// Refuses a run whose files were changed. A changed journal is only a notice, which is returned.
    ///
    /// # Errors
    /// With the file, and the command that restores it.
    pub fn check(&self) -> Result<Vec<String>> {
        self.check_but(&self.manifest()?, &[])
    }

    /// The same, except for files that the caller checks.
    pub(crate) fn check_but(&self, manifest: &Manifest, others: &[&str]) -> Result<Vec<String>> {
        if manifest.status == RunStatus::Running {
            return Err(self.killed(manifest));
        }
        let check_file = |name: &str, hash: &str| {
            // A damaged manifest may name anything.
            if !HASHED.contains(&name) {
                return Some(Damage::Odd("no run writes such a file".to_owned()));
            }
            let path = self.file(name);
            match name {
                _ if others.contains(&name) => None,
                RECORDS => damage_of_records(&path, hash, manifest),
                _ => damage_of(&path, |path| Ok(file::hash(path)? == *hash)),
            }
        };
        // The journal is as large as all else together.
        let damage: Vec<_> = thread::scope(|scope| {
            let journal = spawn_scoped(scope, || {
                check_file(JOURNAL, manifest.artifacts.get(JOURNAL)?)
            });
            let others = manifest
                .artifacts
                .iter()
                .filter(|(name, _)| *name != JOURNAL);
            let mut checked: Vec<_> = others
                .map(|(name, hash)| (name.as_str(), check_file(name, hash)))
                .collect();
            checked.push((JOURNAL, journal()));
            checked
        });
        let mut notices: Vec<_> = self.foreign_manifest(manifest).into_iter().collect();
        for (name, damage) in damage {
            let Some(damage) = damage else {
                continue;
            };
            if name == JOURNAL {
                notices.push(self.journal_notice(manifest, &damage));
                continue;
            }
            return Err(self.damaged(manifest, name, &damage));
        }
        if !manifest.artifacts.contains_key(RECORDS) {
            // Never written: there is no hash to compare.
            return Err(self.damaged(manifest, RECORDS, &Damage::Missing));
        }
        Ok(notices)
    }

    /// The error for changed records; `odd` describes the fault if it is not just the hash.
    pub(crate) fn other_records(&self, manifest: &Manifest, odd: Option<String>) -> Error {
        let damage = odd.map_or(Damage::Changed, Damage::Odd);
        self.damaged(manifest, RECORDS, &damage)
    }

    /// The notice for a changed journal.
    pub(crate) fn other_journal(&self, manifest: &Manifest) -> String {
        self.journal_notice(manifest, &Damage::Changed)
    }

    /// The notice for a missing journal.
    pub(crate) fn lost_journal(&self) -> String {
        self.noticed(&Damage::Missing) + "; the records of the run are complete"
    }

    fn journal_notice(&self, manifest: &Manifest, damage: &Damage) -> String {
        let message = self.noticed(damage) + "; the records of the run are complete";
        match manifest.parent {
            Some(_) => message,
            None => format!(
                "{message}; check its lines with `cargo evaltest repair {}`",
                shell_word(&display(self.path()))
            ),
        }
    }

    /// Visits the id and epoch of each readable record whose question was asked.
    pub(crate) fn requested_records(&self, see: &mut dyn FnMut(&str, u32)) {
        // An unreadable file has nothing to lose.
        let _ = keys::requested(&self.file(RECORDS), see);
    }

    /// The error for a manifest that is not as the run wrote it.
    pub(super) fn changed_manifest(&self, manifest: &Manifest, fault: &str) -> Error {
        let message = format!(
            "{}: it changed after the run: {fault}",
            display(&self.file(MANIFEST))
        );
        let hint = match (&manifest.parent, &manifest.spec) {
            (None, None) => "run it again".to_owned(),
            _ => self.made_again(manifest),
        };
        Error::usage(message).hint(hint)
    }

    /// A notice if the manifest is that of another run. A directory may be renamed; but one with the name of a run must
    /// have that run's manifest.
    pub(crate) fn foreign_manifest(&self, manifest: &Manifest) -> Option<String> {
        let (_, run_id) = stamp_and_id(self.path())?;
        let other = &manifest.run_id;
        (run_id != other).then(|| {
            let display = display(&self.file(MANIFEST));
            format!(
                "{display}: it belongs to run `{other}`, but the directory is named after another run"
            )
        })
    }

    /// A notice if the journal was changed.
    pub(crate) fn changed_journal(&self, manifest: &Manifest) -> Option<String> {
        let hash = manifest.artifacts.get(JOURNAL)?;
        let damage = damage_of(&self.file(JOURNAL), |path| Ok(file::hash(path)? == *hash))?;
        Some(self.noticed(&damage))
    }

    /// The error for a run that was killed, or is in progress.
    fn killed(&self, manifest: &Manifest) -> Error {
        let dir = display(self.path());
        if self.is_going_on() {
            return going_on(&dir);
        }
        let hint = match &manifest.parent {
            // The next rescore finds its judges' replies.
            Some(_) => self.made_again(manifest),
            None => format!("cargo evaltest run --resume {}", shell_word(&dir)),
        };
        Error::usage(format!("run `{dir}` was killed before it finished")).hint(hint)
    }

    fn damaged(&self, manifest: &Manifest, name: &str, damage: &Damage) -> Error {
        let dir = display(self.path());
        let how = match damage {
            Damage::Missing => ": it is missing".to_owned(),
            Damage::NoFile => ": it is not a file".to_owned(),
            Damage::Changed => String::new(),
            Damage::Odd(what) => format!(": {what}"),
            Damage::Unreadable(error) => format!(": it cannot be read: {error}"),
        };
        let error = Error::usage(format!("{dir}: {name} changed after the run{how}"));
        match name {
            PLACES => {
                error.hint("copy it again from the original directory, or run the shard again")
            }
            _ => error.hint(self.made_again(manifest)),
        }
    }

    /// The command that restores the files of a run.
    fn made_again(&self, manifest: &Manifest) -> String {
        match &manifest.parent {
            Some(parent) => format!(
                "score the answers again: cargo evaltest rescore {}",
                shell_word(&display(parent))
            ),
            None => format!(
                "rebuild it from the journal: cargo evaltest repair {}",
                shell_word(&display(self.path()))
            ),
        }
    }

    fn noticed(&self, damage: &Damage) -> String {
        let dir = display(self.path());
        let what = match damage {
            Damage::Missing => "is missing",
            _ => "changed after the run",
        };
        format!("{dir}: {JOURNAL} {what}")
    }
}

/// The error for a run that is in progress.
pub(crate) fn going_on(dir: &str) -> Error {
    Error::usage(format!("run `{dir}` is still running")).hint("wait until it finishes")
}

fn damage_of(path: &Path, is_same: impl FnOnce(&Path) -> io::Result<bool>) -> Option<Damage> {
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(Damage::Missing),
        Err(error) => return Some(Damage::Unreadable(error)),
        // Opening a pipe would block until someone writes to it.
        Ok(about) if !about.is_file() => return Some(Damage::NoFile),
        Ok(_) => {}
    }
    match is_same(path) {
        Ok(true) => None,
        Ok(false) => Some(Damage::Changed),
        Err(error) => Some(Damage::Unreadable(error)),
    }
}

/// The same for the records: their number and ids must also match the run.
fn damage_of_records(path: &Path, hash: &str, manifest: &Manifest) -> Option<Damage> {
    let most = manifest.selected.saturating_mul(manifest.trials() as usize);
    let mut odd = None;
    let damage = damage_of(path, |path| {
        let keys = keys::read(path, most)?;
        odd = keys.twice.or_else(|| {
            let count = keys.count;
            let is_whole = manifest.status == RunStatus::Finished && manifest.early_stop.is_none();
            let is_odd = if is_whole {
                count != most
            } else {
                count > most
            };
            (is_odd && !keys.has_others).then(|| format!("it has {count} records, expected {most}"))
        });
        Ok(keys.hash == hash)
    });
    damage.or(odd.map(Damage::Odd))
}
