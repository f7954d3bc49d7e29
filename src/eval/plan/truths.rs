//! Attachments that would reveal the answers to an agent: the dataset itself, the spec, snapshots, runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::super::plan;
use crate::data::{AgentError, Attachment};
use crate::eval::Eval;
use crate::store::files::{JOURNAL, MANIFEST, RECORDS};
use crate::system::file::{is_copy, is_same};
use crate::system::project::display;

/// The files with the answers of an eval.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truths {
    /// Files of the dataset, and folders with such.
    dataset: Vec<PathBuf>,
    /// The files among them, and `metadata.*` in those folders.
    dataset_files: Vec<PathBuf>,
    /// The others, each with a description.
    others: Vec<(PathBuf, &'static str)>,
}

impl Truths {
    pub(crate) fn of(eval: &Eval) -> Self {
        let found = |path: PathBuf| path.canonicalize().ok();
        let others = plan::answers(eval).into_iter();
        let dataset = eval.benchmark.paths();
        Self {
            // A link in a folder has its name only there.
            dataset_files: dataset
                .iter()
                .flat_map(|path| metadata(path))
                .filter_map(found)
                .collect(),
            dataset: dataset.into_iter().filter_map(found).collect(),
            others: others
                .filter_map(|(path, what)| Some((found(path)?, what)))
                .collect(),
        }
    }

    /// The file of an attachment.
    ///
    /// # Errors
    /// As [`Attachment::resolve`], and when it is one of these files.
    pub(crate) fn resolve(&self, file: &Attachment) -> Result<PathBuf, AgentError> {
        let found = file.resolve()?;
        match self.leak(file, &found) {
            None => Ok(found),
            Some(what) => {
                let reason = format!("it is {what}, and would show the agent the answers");
                Err(file.error(&found, &reason))
            }
        }
    }

    /// A notice about a path that a sandbox lets an agent read: that it reveals answers, or that the part that does
    /// stays hidden.
    pub(super) fn notice(&self, read: &Path) -> Option<String> {
        let found = read.canonicalize().ok()?;
        let dataset = self.dataset.iter().map(|path| (path, "the dataset"));
        let others = self.others.iter().map(|(path, what)| (path, *what));
        let all: Vec<_> = dataset.chain(others).collect();
        let display = display(read);
        // A sandbox hides by name.
        let is_leaked = |(path, _): &&(&PathBuf, _)| {
            *path != &found && (found.starts_with(path) || is_same_or_copy(&found, path))
        };
        let of_folders = self.dataset_files.iter().map(|path| (path, "the dataset"));
        let named = all.iter().copied().chain(of_folders);
        if let Some((_, what)) = named.collect::<Vec<_>>().iter().find(is_leaked) {
            return Some(format!(
                "`sandbox.read` hands the agent `{display}`, which is {what} and contains the answers: remove it"
            ));
        }
        let hidden = all.iter().filter(|(path, _)| path.starts_with(&found));
        let hidden: BTreeSet<_> = hidden.map(|(_, what)| *what).collect();
        let hidden = hidden.into_iter().collect::<Vec<_>>().join(", ");
        (!hidden.is_empty()).then(|| {
            format!("`sandbox.read` names `{display}`: files in it stay hidden ({hidden})")
        })
    }

    /// A description of a file that reveals answers.
    fn leak(&self, file: &Attachment, found: &Path) -> Option<&'static str> {
        let is_dataset = |path: &PathBuf| is_same_or_copy(found, path);
        if self.dataset_files.iter().any(is_dataset) {
            return Some("the dataset");
        }
        // Except a folder that contains the dataset's own.
        let root = file.root.canonicalize().unwrap_or_default();
        let mut others = self.others.iter();
        let other = others.find(|(path, _)| {
            (found.starts_with(path) || is_same_or_copy(found, path)) && !root.starts_with(path)
        });
        if let Some((_, what)) = other {
            return Some(what);
        }
        let folders = found.ancestors().skip(1);
        let mut inside = folders.take_while(|folder| folder.starts_with(&root));
        inside.find_map(|folder| {
            let has = |name: &str| folder.join(name).exists();
            if has(MANIFEST) && (has(RECORDS) || has(JOURNAL)) {
                return Some("of a run directory");
            }
            has(crate::snapshot::BASELINE_FILE).then_some("of a snapshot folder")
        })
    }
}

/// Whether a file has the content of another: it is the same file under any name, or a copy.
fn is_same_or_copy(found: &Path, path: &Path) -> bool {
    is_same(found, path) || is_copy(found, path)
}

/// A file itself; for a folder, the files in it that are datasets, not attachments.
fn metadata(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let files = WalkDir::new(path).into_iter().flatten();
    let files = files.map(walkdir::DirEntry::into_path);
    files
        .filter(|path| path.file_stem().is_some_and(|stem| stem == "metadata"))
        .collect()
}
