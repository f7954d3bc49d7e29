//! `cargo evaltest accept`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::report::document::Document;
use evaltest::engine::report::terminal;
use evaltest::engine::snapshot::{Acceptance, Accepted, accept};
use evaltest::engine::store::{Manifest, RunDir};
use evaltest::engine::system::project::{commit_step, display};
use evaltest::engine::text::{Override, clean};
use evaltest::{Error, Exit, Result};
use serde_json::Value;

use crate::baselines::snapshot_folder;
use crate::console;
use crate::runs::{last_runs, open_run};

/// Make a run the baseline
///
/// Replaces the snapshots of its eval. Takes a complete run, or several complete runs of one agent.
///
/// After each intended change, accept the latest run of the merged version, or several such runs together. Do not pick the
/// run that looks best: an unchanged agent would look worse in every later run.
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// The run directories. Several of one eval form one baseline; each must be a separate run of the same agent.
    /// Default: the runs of all evals from the last command that finished
    #[arg(value_name = "RUN_DIR|NAME")]
    run_dirs: Vec<PathBuf>,

    /// Add the runs to the current baseline: more answers per sample detect smaller drops
    #[arg(long)]
    add: bool,

    /// Look for the last run in this folder, as given to `run`
    #[arg(long, value_name = "DIR", conflicts_with = "run_dirs")]
    output_root: Option<PathBuf>,

    /// Where to write the snapshots of a run whose eval is not in this project
    #[arg(long, value_name = "DIR", requires = "run_dirs")]
    snapshots: Option<PathBuf>,

    /// Accept a run that covers only a part of its eval (the other snapshots are removed), or one with more errors than
    /// its gate `error_rate` allows
    #[arg(long)]
    partial: bool,

    /// Accept a run that failed a gate which needs no baseline, such as `accuracy >= 0.9` or `error_rate <= 0.05`; without
    /// it the run is refused
    #[arg(long)]
    failed_gates: bool,
}

pub(crate) fn run(args: &AcceptArgs) -> Result<Exit> {
    let dirs = match args.run_dirs.as_slice() {
        [] => last_runs(args.output_root.as_deref())?,
        paths => paths
            .iter()
            .map(|path| open_run(path))
            .collect::<Result<_>>()?,
    };
    let evals = by_eval(dirs)?;
    if let (Some(folder), [_, _, ..]) = (&args.snapshots, evals.as_slice()) {
        return Err(Error::usage(format!(
            "`{}` cannot hold the snapshots of {} evals",
            display(folder),
            evals.len()
        ))
        .hint("accept the runs of each eval separately"));
    }
    for (manifest, dirs) in evals {
        let folder = match &args.snapshots {
            Some(folder) => folder.clone(),
            None => snapshot_folder(&dirs[0], &manifest)?,
        };
        let how = Acceptance {
            partial: args.partial,
            failed_gates: args.failed_gates,
            add: args.add,
        };
        let accepted = accept(&dirs, &folder, &how)?;
        for notice in &accepted.notices {
            console::note(&clean(notice));
        }
        console::print_document(&text(&accepted, &dirs))?;
    }
    Ok(Exit::Passed)
}

/// Groups the runs by eval, with the manifest of the first run of each.
fn by_eval(dirs: Vec<RunDir>) -> Result<Vec<(Manifest, Vec<RunDir>)>> {
    let mut evals: Vec<(Manifest, Vec<RunDir>)> = Vec::new();
    for dir in dirs {
        let manifest = dir.manifest()?;
        match evals
            .iter_mut()
            .find(|(other, _)| other.eval == manifest.eval)
        {
            Some((_, dirs)) => dirs.push(dir),
            None => evals.push((manifest, vec![dir])),
        }
    }
    Ok(evals)
}

fn text(accepted: &Accepted, dirs: &[RunDir]) -> Document {
    let folder = display(&accepted.folder);
    let are = match (accepted.runs.as_slice(), dirs) {
        ([_], [dir]) => format!("{} is", display(dir.path())),
        (runs, _) => format!("{} runs together are", runs.len()),
    };
    let unscored = match accepted.unscored {
        0 => String::new(),
        unscored => format!(", {unscored} without a verdict"),
    };
    let mut text = Document::new(format!(
        "{}: {are} now the baseline, {} of {} {}{unscored}",
        accepted.eval,
        accepted.correct,
        accepted.samples - accepted.unscored,
        // The verdict of a snapshot is that of most of its answers.
        match accepted.runs.as_slice() {
            [run] if run.epochs == 1 => "correct",
            _ => "samples correct in most of their answers",
        }
    ));
    text.paragraph(format!(
        "snapshots: {} written, {} removed in {folder}",
        accepted.changed, accepted.removed
    ));
    if let runs @ [_, _, ..] = accepted.runs.as_slice() {
        text.list(runs.iter().map(|run| {
            let epochs = terminal::epochs(run.epochs);
            format!("run {}{epochs}", run.run_id)
        }));
    }
    for (ids, what) in [
        (
            &accepted.errors,
            "ended in an error; its snapshot stays as it was",
        ),
        (&accepted.missing, "ended in an error and has no snapshot"),
        (
            &accepted.incomplete,
            "lacks an answer, which its snapshot shows as a dot",
        ),
    ] {
        text.list(ids.iter().map(|id| format!("{id} {what}")));
    }
    if let Some(dir) = dirs.last() {
        notes(dir, &mut text);
    }
    text.paragraph(format!("next: {}", commit_step(&accepted.folder)));
    text
}

/// Notes on a run that is being accepted.
fn notes(dir: &RunDir, text: &mut Document) {
    let Ok(manifest) = dir.manifest() else {
        return;
    };
    // That a run recorded calls is no other way to ask.
    let changes = manifest.overrides.iter();
    let changes = changes.filter(|change| change.key != "record.mode");
    let changes = changes.map(|change| match &*change.key {
        // This is not a key that users can set.
        Override::DRAWN_SEED => "shuffle.seed",
        key => key,
    });
    let changes = changes.collect::<Vec<_>>().join(", ");
    if !changes.is_empty() {
        text.note(format!(
            "command-line options changed the spec for this run: {changes}"
        ));
    }
    // A rescored run drops its comparing gates, so use those of its parent.
    let parent = manifest.parent.as_deref().map(RunDir::open);
    let parent = parent.and_then(|dir| dir.and_then(|dir| dir.manifest()).ok());
    let compares = |manifest: &Manifest| {
        // By default, a gate compares.
        let Some(gates) = manifest.config.get("gates") else {
            return true;
        };
        let mut gates = gates
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        gates.any(|gate| gate.starts_with("no_regression"))
    };
    let may_compare = manifest.parent.is_some() && parent.is_none();
    if !may_compare && !parent.iter().chain([&manifest]).any(compares) {
        let add = match &manifest.spec {
            Some(_) => "to `gates`: no_regression(alpha=0.05)",
            None => "to the eval: `.gate(Gate::no_regression())`",
        };
        text.note(format!("no gate compares with the baseline yet; add {add}"));
    }
}
