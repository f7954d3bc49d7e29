//! The runs of a project: the one that is named, the last one, all that are over.

use std::path::{Path, PathBuf};

use evaltest::engine::eval::spec;
use evaltest::engine::run::restored::{Readable, readable};
use evaltest::engine::store::{DEFAULT_OUTPUT_ROOT, Manifest, RunDir, RunStatus, runs_in};
use evaltest::engine::system::project::shown;
use evaltest::engine::text::clean;
use evaltest::{Error, Registry, Result};

use crate::{console, discover, run_ids};

/// The run in a directory, or the last one where none is named; its files are those that it wrote.
pub(crate) fn named_or_last(named: Option<&Path>) -> Result<RunDir> {
    believed(match named {
        Some(path) => open_run(path)?,
        None => last_run()?,
    })
}

/// As [`open_run`]; its files are those that it wrote, or were made again from its journal where it was killed.
pub(crate) fn read_run(named: &Path) -> Result<RunDir> {
    believed(open_run(named)?)
}

/// As [`named_or_last`], for who only looks at it: what is wrong with its files is told.
pub(crate) fn seen_run(named: Option<&Path>) -> Result<RunDir> {
    let dir = match named {
        Some(path) => open_run(path)?,
        None => last_run()?,
    };
    believed(dir.clone()).or_else(|error| {
        let hint = error.hint_text().map(|hint| format!("; {hint}"));
        let hint = hint.unwrap_or_default();
        console::note(&clean(&format!("{}{hint}", error.message())));
        Ok(dir)
    })
}

fn believed(dir: RunDir) -> Result<RunDir> {
    let Readable { dir, notices } = readable(dir)?;
    for notice in notices {
        console::note(&clean(&notice));
    }
    Ok(dir)
}

/// The run in a directory, or the last one of the eval of this name.
pub(crate) fn open_run(named: &Path) -> Result<RunDir> {
    let name = named.to_string_lossy();
    let name = name.trim_end_matches('/');
    // A folder of data may have the name, too.
    if named.components().count() != 1 || named.join("manifest.json").exists() {
        return RunDir::open(named);
    }
    let last = ended_runs(None)?
        .into_iter()
        .filter(|run| run.manifest.eval == name)
        .max_by(|one, other| one.manifest.ended_at.cmp(&other.manifest.ended_at));
    match last {
        Some(run) => Ok(run.dir),
        None => RunDir::open(&run_ids::found(named)?),
    }
}

/// The last run that is over; of several in one command the one that ended last.
fn last_run() -> Result<RunDir> {
    let mut ended = Vec::new();
    for dir in last_runs(None)? {
        let end = dir.manifest()?.ended_at;
        ended.push((end, dir));
    }
    ended.sort_by(|one, other| one.0.cmp(&other.0));
    let last = ended
        .pop()
        .ok_or_else(|| Error::usage("there is no run").hint("cargo evaltest run"))?;
    if !ended.is_empty() {
        let others: Vec<_> = ended.iter().map(|(_, dir)| shown(dir.path())).collect();
        console::note(&format!(
            "the same command ran other evals, to be named: {}",
            others.join(", ")
        ));
    }
    Ok(last.1)
}

/// Every folder in which the project's specs leave runs.
pub(crate) fn output_roots() -> Result<Vec<PathBuf>> {
    let mut roots = vec![discover::root()?.join(DEFAULT_OUTPUT_ROOT)];
    for path in discover::find()
        .map(|found| found.specs)
        .unwrap_or_default()
    {
        if let Ok(eval) = spec::load(&path, &Registry::new(), &[])
            && eval.has_output_root()
        {
            roots.push(eval.output_folder());
        }
    }
    roots.sort();
    roots.dedup();
    Ok(roots)
}

/// A run that is over.
pub(crate) struct EndedRun {
    pub(crate) dir: RunDir,
    pub(crate) manifest: Manifest,
}

/// The folders that hold runs: this one, or all of the project.
fn roots(root: Option<&Path>) -> Result<Vec<PathBuf>> {
    match root {
        Some(root) => Ok(vec![root.to_owned()]),
        None => output_roots(),
    }
}

/// The finished runs below `root`, or in all folders of the project's runs.
pub(crate) fn ended_runs(root: Option<&Path>) -> Result<Vec<EndedRun>> {
    let mut runs = Vec::new();
    for dir in roots(root)?.iter().flat_map(|root| runs_in(root)) {
        // A run that is broken or still going on is not the last one that could be accepted.
        if let Ok(manifest) = dir.manifest()
            && manifest.status != RunStatus::Running
        {
            runs.push(EndedRun { dir, manifest });
        }
    }
    Ok(runs)
}

/// Those of them that the last command made.
pub(crate) fn last_runs(root: Option<&Path>) -> Result<Vec<RunDir>> {
    let runs = ended_runs(root)?;
    let last = runs
        .iter()
        .max_by(|one, other| one.manifest.ended_at.cmp(&other.manifest.ended_at))
        .map(|run| run.manifest.invocation.clone());
    let Some(last) = last else {
        let root = shown(&roots(root)?[0]);
        return Err(Error::usage(format!("there is no run in `{root}`")).hint("cargo evaltest run"));
    };
    Ok(runs
        .into_iter()
        .filter(|run| run.manifest.invocation == last)
        .map(|run| run.dir)
        .collect())
}
