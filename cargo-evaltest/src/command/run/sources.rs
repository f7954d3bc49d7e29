//! `Sources`: the input files of an eval, with change detection.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use evaltest::Eval;
use evaltest::engine::system::project;
use walkdir::{DirEntry, WalkDir};

/// Languages whose modules next to a program are watched: the cache does not see a program's imports.
const INTERPRETED: [&str; 12] = [
    "py", "js", "mjs", "cjs", "ts", "rb", "pl", "php", "lua", "sh", "jl", "r",
];
/// Maximum number of files checked in a folder.
const MOST: usize = 20_000;

/// The input files of an eval.
#[derive(Default)]
pub(super) struct Sources {
    /// Files and folders that are part of the cache key.
    known: BTreeSet<PathBuf>,
    /// Folders of programs, each with the extension of its modules.
    modules: BTreeSet<(PathBuf, OsString)>,
    /// The folder that evals write to.
    written: PathBuf,
}

/// Modification time and size of each file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SourceState(BTreeMap<PathBuf, (Option<SystemTime>, u64)>);

impl Sources {
    pub(super) fn of(eval: &Eval) -> Self {
        let programs = eval.agent_files();
        let root = project::root();
        let module = |program: &PathBuf| {
            let program = plain(program)?;
            let ending = program.extension()?.to_owned();
            let folder = program.parent()?.to_owned();
            let is_ours = folder.starts_with(&root) && INTERPRETED.iter().any(|it| *it == ending);
            is_ours.then_some((folder, ending))
        };
        let modules = programs.iter().filter_map(module).collect();
        let known = eval.sources().into_iter().chain(programs);
        Self {
            known: known.filter_map(|path| plain(&path)).collect(),
            modules,
            written: eval.output_folder(),
        }
    }

    /// Adds earlier sources: a deleted file may reappear.
    pub(super) fn and(mut self, earlier: Self) -> Self {
        self.known.extend(earlier.known);
        self.modules.extend(earlier.modules);
        self
    }

    /// The current state of the files.
    pub(super) fn state(&self) -> SourceState {
        let mut state = SourceState::default();
        for path in &self.known {
            self.walk(path, |_| true, &mut state);
        }
        for (folder, ending) in &self.modules {
            let is_module = |path: &Path| path.extension() == Some(ending);
            self.walk(folder, is_module, &mut state);
        }
        state
    }

    /// Whether all changed files are part of the cache key.
    pub(super) fn cache_knows(&self, then: &SourceState, now: &SourceState) -> bool {
        let is_known = |path: &PathBuf| self.known.iter().any(|known| path.starts_with(known));
        now.others(then).iter().all(is_known)
    }

    fn walk(&self, top: &Path, is_match: impl Fn(&Path) -> bool, state: &mut SourceState) {
        let enters = |entry: &DirEntry| {
            if entry.depth() == 0 || !entry.file_type().is_dir() {
                return true;
            }
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy());
            let is_tool = ["CACHEDIR.TAG", "pyvenv.cfg"];
            let is_tool = is_tool.iter().any(|name| path.join(name).is_file());
            !(name.starts_with('.') || name == "node_modules" || is_tool || path == self.written)
        };
        let walk = WalkDir::new(top).follow_links(true).into_iter();
        let entries = walk.filter_entry(enters).flatten().take(MOST);
        for entry in entries.filter(|entry| entry.file_type().is_file() && is_match(entry.path())) {
            // A file deleted meanwhile shows up as missing.
            if let Ok(about) = entry.metadata() {
                let seen = (about.modified().ok(), about.len());
                state.0.insert(entry.into_path(), seen);
            }
        }
    }
}

/// The path without `..`, because a spec may refer to a watched folder as `../data.jsonl`.
fn plain(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    // After a symbolic link, `..` is a different folder.
    let [real, meant] = [&path, &plain].map(|path| path.canonicalize().ok());
    Some(if real == meant { plain } else { path })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path();
        std::fs::create_dir_all(top.join("evals")).unwrap();
        std::fs::write(top.join("a.jsonl"), "").unwrap();
        let check = |path: &str, expect: &str| {
            assert_eq!(plain(&top.join(path)), Some(top.join(expect)), "{path}");
        };
        check("evals/../a.jsonl", "a.jsonl");
        check("./a.jsonl", "a.jsonl");
        check("evals/../gone.jsonl", "gone.jsonl");
        check("evals", "evals");
    }
}
