//! `Sources`: the input files of an eval, with change detection.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use evaltest::Eval;
use evaltest::engine::system::file::{Alongside, files_below, plain};
use walkdir::DirEntry;

/// The input files of an eval.
#[derive(Default)]
pub(super) struct Sources {
    /// Files and folders that the spec names, and the spec.
    known: BTreeSet<PathBuf>,
    alongside: Alongside,
    /// The folder that evals write to.
    written: PathBuf,
}

/// Modification time and size of each file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SourceState(BTreeMap<PathBuf, (Option<SystemTime>, u64)>);

impl Sources {
    pub(super) fn of(eval: &Eval) -> Self {
        let programs = eval.agent_files();
        let alongside = Alongside::of(&programs);
        let known = eval.sources().into_iter().chain(programs);
        Self {
            known: known.filter_map(|path| plain(&path)).collect(),
            alongside,
            written: eval.output_folder(),
        }
    }

    /// Adds earlier sources: a deleted file may reappear.
    pub(super) fn and(mut self, earlier: Self) -> Self {
        self.known.extend(earlier.known);
        self.alongside.extend(earlier.alongside);
        self
    }

    /// The current state of the files.
    pub(super) fn state(&self) -> SourceState {
        let mut state = SourceState::default();
        let mut add = |entry: DirEntry| {
            // A file deleted meanwhile shows up as missing.
            if let Ok(about) = entry.metadata() {
                let seen = (about.modified().ok(), about.len());
                state.0.insert(entry.into_path(), seen);
            }
        };
        for path in &self.known {
            files_below(path, &self.written).for_each(&mut add);
        }
        self.alongside.visit(&self.written, add);
        state
    }
}

impl SourceState {
    pub(super) fn extend(&mut self, other: &Self) {
        let other = other.0.iter();
        self.0
            .extend(other.map(|(path, seen)| (path.clone(), *seen)));
    }

    /// Number of files.
    pub(super) fn files(&self) -> usize {
        self.0.len()
    }

    /// The files that changed between the two states.
    pub(super) fn others(&self, then: &Self) -> Vec<PathBuf> {
        let paths: BTreeSet<_> = self.0.keys().chain(then.0.keys()).collect();
        let is_other = |path: &&PathBuf| self.0.get(*path) != then.0.get(*path);
        paths.into_iter().filter(is_other).cloned().collect()
    }
}
