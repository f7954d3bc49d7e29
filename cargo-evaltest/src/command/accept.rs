//! `cargo evaltest accept`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use evaltest::engine::eval::spec;
use evaltest::engine::snapshot::accept;
use evaltest::engine::store::{DEFAULT_OUTPUT_ROOT, Manifest, RunDir, RunStatus, runs_in};
use evaltest::engine::system::project::shown;
use evaltest::engine::text::clean;
use evaltest::{Error, Exit, Registry, Result};
use serde_json::Value;

use crate::{console, discover};

/// Make a whole run the baseline: replace the snapshots of its eval
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// The run directory; when left out the last finished run in `evaltest-runs` and the project's output
    /// roots, with all evals that ran in the same command
    run_dir: Option<PathBuf>,

    /// Look for the last run in this folder instead, as it was given to `run`
    #[arg(long, value_name = "DIR", conflicts_with = "run_dir")]
    output_root: Option<PathBuf>,

    /// The folder of the eval's snapshots, if it is not where the run says
    #[arg(long, value_name = "DIR", requires = "run_dir")]
    snapshots: Option<PathBuf>,

    /// Accept a run that covers only a part of its eval; the other snapshots are removed
    #[arg(long)]
    partial: bool,
}

pub(crate) fn run(args: &AcceptArgs) -> Result<Exit> {
    let dirs = match &args.run_dir {
        Some(path) => vec![RunDir::open(path)?],
        None => last_runs(args.output_root.as_deref())?,
    };
    for dir in &dirs {
        let folder = match &args.snapshots {
            Some(folder) => folder.clone(),
            None => here(&dir.manifest()?)?,
        };
        let accepted = accept(dir, Some(&folder), args.partial)?;
        console::print(|out| {
            writeln!(
                out,
                "{}: {} is the baseline now: {} samples, {} correct; {} snapshots written, {} removed in {}",
                clean(&accepted.eval),
                shown(dir.path()),
                accepted.samples,
                accepted.correct,
                accepted.changed,
                accepted.removed,
                shown(&accepted.folder)
            )?;
            for id in &accepted.errors {
                writeln!(
                    out,
                    "  {} ended in an error; its snapshot stays as it was",
                    clean(id)
                )?;
            }
            notes(dir, out)?;
            writeln!(out, "  next: git add {}", shown(&accepted.folder))
        })?;
    }
    Ok(Exit::Passed)
}

/// What people should know of the run that they accept.
fn notes(dir: &RunDir, out: &mut dyn Write) -> io::Result<()> {
    let Ok(manifest) = dir.manifest() else {
        return Ok(());
    };
    let gates = manifest.config.get("gates").and_then(Value::as_array);
    let gates = || gates.into_iter().flatten().filter_map(Value::as_str);
    if !manifest.overrides.is_empty() {
        let changes: Vec<_> = manifest
            .overrides
            .iter()
            .map(|change| clean(&change.key))
            .collect();
        writeln!(
            out,
            "  note: this run was told otherwise than its spec: {}",
            changes.join(", ")
        )?;
    }
    if !gates().any(|gate| gate.starts_with("no_regression")) {
        writeln!(
            out,
            "  note: no gate compares with the baseline yet; add to `gates`: no_regression(alpha=0.05)"
        )?;
    }
    Ok(())
}

/// The folder of snapshots, which must be on this machine.
fn here(manifest: &Manifest) -> Result<PathBuf> {
    let folder = manifest.snapshot_folder();
    if folder.ancestors().skip(1).take(2).any(Path::is_dir) {
        return Ok(folder);
    }
    Err(Error::usage(format!(
        "the snapshots of eval `{}` should be in `{}`, which is not on this machine",
        manifest.eval,
        folder.display()
    ))
    .hint("name their folder: cargo evaltest accept RUN_DIR --snapshots DIR"))
}

/// Every folder in which the project's specs leave runs.
fn output_roots() -> Result<Vec<PathBuf>> {
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

/// The finished runs of the last command below `root`, or in all folders of the project's runs.
fn last_runs(root: Option<&Path>) -> Result<Vec<RunDir>> {
    let roots = match root {
        Some(root) => vec![root.to_owned()],
        None => output_roots()?,
    };
    let mut runs = Vec::new();
    for dir in roots.iter().flat_map(|root| runs_in(root)) {
        // A run that is broken or still going on is not the last one that could be accepted.
        if let Ok(manifest) = dir.manifest()
            && manifest.status != RunStatus::Running
        {
            let ended = manifest.ended_at.clone().unwrap_or_default();
            runs.push((ended, manifest.invocation.clone(), dir));
        }
    }
    let last = runs
        .iter()
        .max_by(|one, other| one.0.cmp(&other.0))
        .map(|run| run.1.clone());
    let Some(last) = last else {
        return Err(
            Error::usage(format!("there is no run in `{}`", shown(&roots[0])))
                .hint("cargo evaltest run"),
        );
    };
    Ok(runs
        .into_iter()
        .filter(|run| run.1 == last)
        .map(|run| run.2)
        .collect())
}
