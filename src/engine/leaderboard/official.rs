//! Judges a run with the official program of the function-calling leaderboard, `bfcl evaluate`.
//!
//! [`judge`] exports the answers (`bfcl::export`), runs the program on them in its own folder and environment, and
//! reads its score files. Its verdicts are compared with the run's, sample by sample ([`OfficialAgreement`]);
//! [`record`] makes a run directory from them, whose gates then also count what is not judged here: `multi_turn`,
//! `memory`, `web_search`.
//!
//! No model is asked. The program still sets up a model's interface, and some need a key for that: it gets
//! placeholders, never the user's keys.

mod agreement;
mod program;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::bfcl::checker;
use crate::bfcl::export::{self, BfclExport, ExportOptions, Scores};
use crate::error::{Error, Result};
use crate::eval::Budget;
use crate::run::rescore::{Rescore, rescore_with_verdicts};
use crate::store::files::RECORDS;
use crate::store::{RunDir, read_records};
use crate::system::cancel::Cancel;
use crate::system::file::remove;
use crate::system::project::display;
use crate::verdict::conclude::Run;

pub use agreement::{CategoryAgreement, Disagreement, OfficialAgreement};

/// How to run the official program.
#[derive(Clone, Debug)]
pub struct OfficialProgram {
    /// The program, looked up like in a shell.
    pub program: PathBuf,
    /// The timeout.
    pub timeout: Duration,
    /// The folder for the exported files and the score files; it must not contain such files yet.
    pub folder: PathBuf,
}

/// The result of the official program.
#[derive(Clone, Debug)]
pub struct OfficialOutcome {
    /// What was exported.
    pub exported: BfclExport,
    /// The agreement of both sides' verdicts.
    pub agreement: OfficialAgreement,
    /// The official score files.
    pub scores: PathBuf,
    verdicts: BTreeMap<String, Scores>,
}

/// The folder of the official score files, next to the exported ones.
const SCORES: &str = "score-official";

/// Whether the program can be started; exports and starts nothing.
///
/// # Errors
/// With the command that installs it.
pub fn check(official: &OfficialProgram) -> Result<()> {
    program::check(official)
}

/// Judges the answers of a run with the official program.
///
/// # Errors
/// When it is missing, cannot be started, ends with an error, takes too long or leaves no verdicts.
pub fn judge(
    dir: &RunDir,
    options: &ExportOptions,
    official: &OfficialProgram,
    cancel: &Cancel,
) -> Result<OfficialOutcome> {
    program::check(official)?;
    let folder = &official.folder;
    let run = (&dir.manifest()?, &*display(dir.path()));
    let records = read_records(&dir.file(RECORDS))?;
    let exported = export::write(records, run, options, folder)?;
    let categories: Vec<&str> = exported
        .categories
        .iter()
        .filter(|one| one.is_official)
        .map(|one| one.category.as_str())
        .collect();
    if categories.is_empty() {
        return Err(Error::usage(
            "the run has no answer in a category that the official program knows",
        )
        .hint("cargo evaltest list --categories"));
    }
    program::run(official, &options.model.name, &categories, SCORES, cancel)
        .map_err(|error| explain(error, &exported))?;
    let scores = folder.join(SCORES);
    let verdicts = read(&scores, &exported, options)?;
    let mut agreement = OfficialAgreement::new(&options.model.name);
    for record in read_records(&dir.file(RECORDS))? {
        let record = record?;
        let is_exported = record.epoch == 0 && export::is_answered(record.result.status);
        let verdict = export::category(&record)
            .ok()
            .and_then(|category| Some((category, verdicts.get(category)?)));
        if let Some((category, scores)) = verdict.filter(|_| is_exported) {
            agreement.add(&record, category, &scores.of(&record.sample_id));
        }
    }
    Ok(OfficialOutcome {
        exported,
        agreement,
        scores,
        verdicts,
    })
}

/// Makes a run directory from a run with the official verdicts, in the run's folder of run directories unless another
/// is given.
///
/// # Errors
/// As [`rescore`](crate::run::rescore::rescore()).
pub fn record(dir: &RunDir, judged: &OfficialOutcome, output_root: Option<PathBuf>) -> Result<Run> {
    let mut verdicts = HashMap::new();
    for record in read_records(&dir.file(RECORDS))? {
        let record = record?;
        let scores = export::category(&record)
            .ok()
            .and_then(|category| judged.verdicts.get(category));
        if let Some(scores) = scores {
            let verdict = serde_json::to_value(scores.of(&record.sample_id));
            verdicts.insert(record.sample_id, verdict.unwrap_or_default());
        }
    }
    let how = Rescore {
        scorers: vec![Arc::new(checker::BfclScorer::default())],
        specs: Vec::new(),
        extract: None,
        budget: Budget::default(),
        output_root,
    };
    rescore_with_verdicts(dir, how, verdicts)
}

/// Explains an expected exception whose message does not show the reason.
fn explain(error: Error, exported: &BfclExport) -> Error {
    if error.hint_text().is_some() || exported.crashes.is_empty() {
        return error;
    }
    error.hint(format!(
        "it ends with an exception on the answers of `{}`",
        exported.crashes.join("`, `")
    ))
}

/// Reads the official score files: one per exported category, with the same number of answers.
fn read(
    folder: &Path,
    exported: &BfclExport,
    options: &ExportOptions,
) -> Result<BTreeMap<String, Scores>> {
    let unusable = |message: String| {
        Error::infrastructure(format!("the official program succeeded, but {message}"))
            .hint("is it version 2026.3.23? `pip show bfcl-eval`")
    };
    if !folder.is_dir() {
        return Err(unusable("wrote no score file".to_owned()));
    }
    let files = export::score_files(folder, Some(&options.model.folder()))?;
    let mut verdicts = BTreeMap::new();
    for one in exported.categories.iter().filter(|one| one.is_official) {
        let name = &one.category;
        let path = files
            .get(name)
            .ok_or_else(|| unusable(format!("wrote no score file of `{name}`")))?;
        let scores = export::scores(path).map_err(|error| unusable(error.message().to_owned()))?;
        if scores.total != one.results as u64 {
            return Err(unusable(format!(
                "judged {} answers of `{name}`, not {}",
                scores.total, one.results
            )));
        }
        verdicts.insert(name.clone(), scores);
    }
    Ok(verdicts)
}

/// Removes the files of an earlier call from a folder: those with names of [`export::write`] and of the official
/// program.
///
/// # Errors
/// When a file cannot be removed.
pub fn clear(folder: &Path) -> Result<()> {
    let removed = remove::ours_in(folder, &|path, kind| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !["result", "score", SCORES]
            .iter()
            .any(|top| path.starts_with(top))
        {
            return path == Path::new(export::GUIDE);
        }
        let is_of_category = name.starts_with("BFCL_v4_") && name.ends_with(".json");
        let is_table = name.starts_with("data_") && name.ends_with(".csv");
        kind.is_dir() || is_of_category || is_table
    });
    removed
        .map(drop)
        .map_err(|error| Error::io("remove", folder, &error))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_exported_files_and_official_scores_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let official = folder.path().join("official");
        let put = |names: &[&str]| {
            for name in names {
                let path = official.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
        };
        let ours = [
            "submission.md",
            "result/model/non_live/BFCL_v4_simple_python_result.json",
            "score/data_overall.csv",
            "score-official/model/live/BFCL_v4_live_simple_score.json",
        ];
        put(&ours);
        clear(&official).unwrap();
        assert!(!official.exists());
        clear(&official).unwrap();
        put(&ours);
        let theirs = ["result/notes.md", "mine/BFCL_v4_simple_python_result.json"];
        put(&theirs);
        clear(&official).unwrap();
        assert!(theirs.iter().all(|name| official.join(name).is_file()));
        assert!(!ours.iter().any(|name| official.join(name).exists()));
    }
}
