//! `Alongside`: the files beside a program that it may read, such as modules that it imports and prompts.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::system::project;

/// Languages whose modules are files beside a program.
const INTERPRETED: [&str; 12] = [
    "py", "js", "mjs", "cjs", "ts", "rb", "pl", "php", "lua", "sh", "jl", "r",
];
/// Endings of prompts.
const PROMPTS: [&str; 9] = [
    "txt", "md", "prompt", "tmpl", "j2", "jinja", "jinja2", "mustache", "hbs",
];
/// Maximum number of files checked in a folder.
const MOST: usize = 20_000;

/// The folders of programs in the project, each with the ending of its modules.
#[derive(Clone, Debug, Default)]
pub struct Alongside(BTreeSet<(PathBuf, OsString)>);

impl Alongside {
    /// Alongside those of these files that are programs.
    pub fn of(files: &[PathBuf]) -> Self {
        let root = project::root();
        let folder = |program: &PathBuf| {
            let program = plain(program)?;
            let ending = program.extension()?.to_owned();
            let folder = program.parent()?.to_owned();
            let is_ours = folder.starts_with(&root) && INTERPRETED.iter().any(|it| *it == ending);
            is_ours.then_some((folder, ending))
        };
        Self(files.iter().filter_map(folder).collect())
    }

    /// Adds others.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Visits modules and prompts in these folders and below, except in `written`.
    pub fn visit(&self, written: &Path, mut each: impl FnMut(DirEntry)) {
        for (folder, ending) in &self.0 {
            let is_read = |path: &Path| {
                let found = path.extension();
                found.is_some_and(|found| found == ending || PROMPTS.iter().any(|it| *it == found))
            };
            let found = files_below(folder, written);
            found.filter(|it| is_read(it.path())).for_each(&mut each);
        }
    }
}

/// The files in a folder and below, or the file itself; without hidden folders, those of tools and of runs, and `written`.
pub fn files_below(top: &Path, written: &Path) -> impl Iterator<Item = DirEntry> {
    let enters = move |entry: &DirEntry| {
        if entry.depth() == 0 || !entry.file_type().is_dir() {
            return true;
        }
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy());
        // The last is in each run directory.
        let is_tool = ["CACHEDIR.TAG", "pyvenv.cfg", "events.jsonl"];
        let is_tool = is_tool.iter().any(|name| path.join(name).is_file());
        !(name.starts_with('.') || name == "node_modules" || is_tool || path == written)
    };
    let walk = WalkDir::new(top).follow_links(true).sort_by_file_name();
    let entries = walk.into_iter().filter_entry(enters).flatten().take(MOST);
    entries.filter(|entry| entry.file_type().is_file())
}

/// The path without `..`, because a spec may refer to a folder as `../data.jsonl`.
pub fn plain(path: &Path) -> Option<PathBuf> {
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
