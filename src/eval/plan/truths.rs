//! Attachments that would hand an agent the answers: the dataset itself, the spec, snapshots, runs.

use std::path::{Path, PathBuf};

use super::place;
use crate::data::{AgentError, Attachment};
use crate::eval::Eval;

/// Where the answers of an eval stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truths {
    /// Files of the dataset, and folders in which it is `metadata.*`.
    dataset: Vec<PathBuf>,
    /// The others, each with what it is.
    others: Vec<(PathBuf, &'static str)>,
}

impl Truths {
    pub(crate) fn of(eval: &Eval) -> Self {
        let found = |path: PathBuf| path.canonicalize().ok();
        let others = place::answers(eval).into_iter();
        Self {
            dataset: eval
                .benchmark
                .paths()
                .into_iter()
                .filter_map(found)
                .collect(),
            others: others
                .filter_map(|(path, what)| Some((found(path)?, what)))
                .collect(),
        }
    }

    /// The file of an attachment.
    ///
    /// # Errors
    /// As [`Attachment::resolve`], and where it is one of these files.
    pub(crate) fn resolve(&self, file: &Attachment) -> Result<PathBuf, AgentError> {
        let found = file.resolve()?;
        match self.told(file, &found) {
            None => Ok(found),
            Some(what) => {
                let reason = format!("it is {what}, and would tell the agent the answers");
                Err(file.error(&found, &reason))
            }
        }
    }

    /// What a file is that tells answers.
    fn told(&self, file: &Attachment, found: &Path) -> Option<&'static str> {
        let is_metadata = || found.file_stem().is_some_and(|stem| stem == "metadata");
        let is_dataset = |path: &PathBuf| {
            found == path || is_metadata() && found.parent().is_some_and(|at| at.starts_with(path))
        };
        if self.dataset.iter().any(is_dataset) {
            return Some("the dataset");
        }
        // A folder that holds the dataset's own is none of these.
        let root = file.root.canonicalize().unwrap_or_default();
        let mut others = self.others.iter();
        let other = others.find(|(path, _)| found.starts_with(path) && !root.starts_with(path));
        if let Some((_, what)) = other {
            return Some(what);
        }
        let folders = found.ancestors().skip(1);
        let mut inside = folders.take_while(|folder| folder.starts_with(&root));
        inside.find_map(|folder| {
            let has = |name: &str| folder.join(name).exists();
            if has("manifest.json") && (has("samples.jsonl") || has("events.jsonl")) {
                return Some("of a run directory");
            }
            has(crate::snapshot::BASELINE_FILE).then_some("of a snapshot folder")
        })
    }
}
