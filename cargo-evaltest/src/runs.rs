//! Selects runs of a project: the named one, the last one, or all finished ones.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evaltest::engine::data::Variant;
use evaltest::engine::eval::spec;
use evaltest::engine::report::reported::overview::RunOverview;
use evaltest::engine::run::parts::gather_abandoned;
use evaltest::engine::run::restored::{Readable, readable};
use evaltest::engine::store::{
    DEFAULT_OUTPUT_ROOT, Manifest, RunDir, RunStatus, files, lost_runs_in, runs_in, stamp_and_id,
    stamp_of,
};
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};
use evaltest::{Error, Registry, Result};

use crate::{console, discover, run_ids};

/// The named run, or the last one; its files must be unchanged since the run.
pub(crate) fn named_or_last(named: Option<&Path>) -> Result<RunDir> {
    believed(match named {
        Some(path) => open_run(path)?,
        None => last_run()?,
    })
}

/// The runs that `view` begins with, and the folders with all runs.
pub(crate) struct WatchedRuns {
    pub(crate) named: Vec<RunDir>,
    pub(crate) roots: Vec<PathBuf>,
}

/// The named runs without checking their files; by default those in progress, if any.
pub(crate) fn watched_runs(named: &[PathBuf]) -> Result<WatchedRuns> {
    let named = named.iter().map(|path| open_run(path));
    let mut named = named.collect::<Result<Vec<_>>>()?;
    let roots = roots(None)?;
    if named.is_empty() {
        let all: Vec<_> = roots.iter().flat_map(|root| runs_in(root)).collect();
        if all.is_empty() {
            return Err(no_run());
        }
        named = all.into_iter().filter(RunDir::is_going_on).collect();
    }
    Ok(WatchedRuns { named, roots })
}

fn no_run() -> Error {
    Error::usage("no run found").hint("cargo evaltest run")
}

/// Like [`open_run`], but checks that its files are unchanged, or repairs them from the journal if it was killed.
pub(crate) fn read_run(named: &Path) -> Result<RunDir> {
    believed(open_run(named)?)
}

/// Like [`open_run`] for commands that only display the run: prints problems with its files.
pub(crate) fn seen_run(named: &Path) -> Result<RunDir> {
    let dir = open_run(named)?;
    believed(dir.clone()).or_else(|error| {
        let hint = error.hint_text().map(|hint| format!("; {hint}"));
        let hint = hint.unwrap_or_default();
        console::note(&clean(&format!("{}{hint}", error.message())));
        Ok(dir)
    })
}

/// Prints a note if the run is a shard.
pub(crate) fn note_part(dir: &RunDir) -> Result<()> {
    let manifest = dir.manifest_unverified()?;
    if let Some(part) = &manifest.part {
        let (own, all) = (manifest.selected, manifest.samples);
        console::note(&format!("{}: {own} of {all} samples", part.description()));
    }
    Ok(())
}

fn believed(dir: RunDir) -> Result<RunDir> {
    let Readable { dir, notices } = readable(dir)?;
    for notice in notices {
        console::note(&clean(&notice));
    }
    Ok(dir)
}

/// The run in a directory, or the last one of the eval with this name.
pub(crate) fn open_run(named: &Path) -> Result<RunDir> {
    open_run_or(named, None)
}

/// Like [`open_run`], for a name that may also mean something else, which an error mentions.
pub(crate) fn open_run_or(named: &Path, other: Option<&str>) -> Result<RunDir> {
    let name = named.to_string_lossy();
    let name = name.trim_end_matches('/');
    // A data folder may have the eval's name.
    if named.components().count() != 1 || named.join(files::MANIFEST).exists() {
        return RunDir::open(named);
    }
    let runs = known_runs(None)?;
    let of_eval = |run: &&KnownRun| run.manifest.eval == name;
    if let Some(run) = newest(runs.iter().filter(of_eval)) {
        return Ok(run.dir.clone());
    }
    // A spec with several agents or prompts has several evals under its name.
    let variants = runs.iter().map(|run| run.manifest.eval.as_str());
    let variants = variants.filter(|eval| Variant::family_of(eval) == name);
    let variants: BTreeSet<&str> = variants.collect();
    if !variants.is_empty() {
        let variants: Vec<&str> = variants.into_iter().collect();
        let message = format!(
            "`{}` has several agents or prompts, each with its own runs",
            clean(name)
        );
        let variants = clean(&variants.join("`, `"));
        return Err(Error::usage(message).hint(format!("name one: `{variants}`")));
    }
    RunDir::open(&run_ids::found_or(named, other)?)
}

/// The directory of the run with this name, or of the last one of the eval with this name. A path is returned unchanged.
pub(crate) fn run_folder(named: &Path) -> Result<PathBuf> {
    if named.components().count() != 1 || named.join(files::MANIFEST).exists() {
        return Ok(named.to_owned());
    }
    Ok(open_run(named)?.path().to_owned())
}

/// The last run, with a note if its command ran several.
fn last_run() -> Result<RunDir> {
    let last = LastRun::find()?;
    last.note_others(|_| "add its name".to_owned());
    Ok(last.dir)
}

/// The last run; of several from one command the one that was killed, or ended last.
pub(crate) struct LastRun {
    pub(crate) dir: RunDir,
    eval: String,
    /// What to type for each other run of the command: its eval, or its directory if the eval is the same.
    others: Vec<String>,
}

impl LastRun {
    pub(crate) fn find() -> Result<Self> {
        let mut ended = Vec::new();
        for dir in last_runs(None)? {
            let manifest = dir.manifest()?;
            let end = manifest.ended_at;
            ended.push(((end.is_none(), end), manifest.eval, dir));
        }
        ended.sort_by(|one, other| one.0.cmp(&other.0));
        let (_, eval, dir) = ended.pop().ok_or_else(no_run)?;
        let others = ended.into_iter().map(|(_, other, dir)| {
            if other == eval {
                display(dir.path())
            } else {
                other
            }
        });
        Ok(Self {
            others: others.collect(),
            dir,
            eval,
        })
    }

    /// Prints a note if the command ran several evals; `hint` says what to type for another.
    pub(crate) fn note_others(&self, hint: impl Fn(&str) -> String) {
        let Some(first) = self.others.first() else {
            return;
        };
        let names = self.others.join("`, `");
        let which = match self.others.len() {
            1 => format!("For `{names}`"),
            _ => format!("For another (`{names}`)"),
        };
        let count = self.others.len() + 1;
        let text = format!(
            "the last command ran {count} evals; this is `{}`. {which}: {}",
            self.eval,
            hint(&shell_word(first))
        );
        console::note(&clean(&text));
    }
}

/// The runs to compare: the named ones; with one name, that run and the last run of its eval; without names, the last
/// run and the previous one of the same eval. Their files must be unchanged since the run.
pub(crate) fn compared_runs(named: &[PathBuf]) -> Result<Vec<RunDir>> {
    let pair = match named {
        [] => before_and_last(last_run()?)?,
        [one] if is_baseline(one) => {
            let last = last_run()?;
            [baseline_of(&last)?, last]
        }
        [one] => {
            let dir = open_run(one)?;
            let manifest = dir.manifest()?;
            let of_eval = last_of(&manifest.eval, |_| true)?;
            let is_same = |last: &KnownRun| last.manifest.run_id == manifest.run_id;
            match of_eval {
                Some(last) if !is_same(&last) => [dir, last.dir],
                // An eval's name stands for its last run.
                Some(last) if one.as_os_str() == manifest.eval.as_str() => {
                    before_and_last(last.dir)?
                }
                _ => {
                    let message = format!(
                        "run `{}` is the last one of eval `{}`, so there is no later run to compare it with",
                        clean(&manifest.run_id),
                        clean(&manifest.eval)
                    );
                    return Err(
                        Error::usage(message).hint("name two: `cargo evaltest runs` lists them")
                    );
                }
            }
        }
        several => {
            let read = |path: &PathBuf| match several.iter().find(|path| !is_baseline(path)) {
                Some(run) if is_baseline(path) => believed(baseline_of(&open_run(run)?)?),
                _ => read_run(path),
            };
            return several.iter().map(read).collect();
        }
    };
    pair.into_iter().map(believed).collect()
}

/// The name of the accepted run.
pub(crate) const BASELINE: &str = "baseline";

/// Whether the name means the accepted run, not an eval or a folder of that name.
fn is_baseline(named: &Path) -> bool {
    named.as_os_str() == BASELINE && !named.exists() && !discover::is_eval(BASELINE)
}

/// The last accepted run of the baseline of a run, if it is still there.
pub(crate) fn baseline_of(dir: &RunDir) -> Result<RunDir> {
    let baseline = dir.manifest_unverified()?.baseline.unwrap_or_default();
    let ids: Vec<&str> = baseline.split(", ").filter(|id| !id.is_empty()).collect();
    if let Some(run) = newest_of(&ids)? {
        return Ok(run);
    }
    let ids: Vec<_> = ids.iter().map(|id| clean(id)).collect();
    Err(Error::usage(match &ids[..] {
        [] => "the run was not compared with a baseline".to_owned(),
        ids => format!(
            "the run of the baseline, `{}`, is no longer here",
            ids.join("`, `")
        ),
    })
    .hint("name another run: `cargo evaltest runs` lists them"))
}

/// A run and the previous one of the same eval.
fn before_and_last(last: RunDir) -> Result<[RunDir; 2]> {
    let manifest = last.manifest()?;
    let is_before = |run: &KnownRun| {
        run.manifest.run_id != manifest.run_id && run.manifest.started_at <= manifest.started_at
    };
    if let Some(before) = last_of(&manifest.eval, is_before)? {
        return Ok([before.dir, last]);
    }
    let message = format!(
        "eval `{}` has no run before `{}`",
        clean(&manifest.eval),
        clean(&manifest.run_id)
    );
    Err(Error::usage(message)
        .hint("run it once more, or name two runs: `cargo evaltest runs` lists them"))
}

/// The last run of an eval for which `holds` is true.
fn last_of(eval: &str, holds: impl Fn(&KnownRun) -> bool) -> Result<Option<KnownRun>> {
    let mut runs = known_runs(None)?;
    runs.retain(|run| run.manifest.eval == eval && holds(run));
    let last = newest(runs.iter()).map(|run| run.manifest.run_id.clone());
    let place = runs
        .iter()
        .position(|run| Some(&run.manifest.run_id) == last.as_ref());
    Ok(place.map(|place| runs.swap_remove(place)))
}

/// All output folders of the project's specs.
pub(crate) fn output_roots() -> Result<Vec<PathBuf>> {
    let mut roots = vec![discover::root()?.join(DEFAULT_OUTPUT_ROOT)];
    for path in discover::find()
        .map(|found| found.specs)
        .unwrap_or_default()
    {
        if let Ok(eval) = spec::load_any(&path, &Registry::new(), &[])
            && eval.has_output_root()
        {
            roots.push(eval.output_folder());
        }
    }
    roots.sort();
    roots.dedup();
    for root in &roots {
        gather_parts(root);
    }
    Ok(roots)
}

/// Merges the parts that nextest runs left below a folder, and prints a note.
pub(crate) fn gather_parts(root: &Path) {
    for notice in gather_abandoned(root) {
        console::note(&clean(&notice));
    }
}

/// A run that is not in progress, with its manifest.
struct KnownRun {
    dir: RunDir,
    manifest: Manifest,
}

impl KnownRun {
    fn is_over(&self) -> bool {
        self.manifest.status != RunStatus::Running
    }
}

/// The folders with runs: `root`, or all of the project.
fn roots(root: Option<&Path>) -> Result<Vec<PathBuf>> {
    match root {
        Some(root) => {
            gather_parts(root);
            Ok(vec![root.to_owned()])
        }
        None => output_roots(),
    }
}

/// The runs below `root`, or in all output folders. A run in progress is excluded, with a note if it started last.
///
/// # Errors
/// If the last run has an unreadable manifest: an older run must not be taken for it.
fn known_runs(root: Option<&Path>) -> Result<Vec<KnownRun>> {
    let (mut runs, mut unread) = (Vec::new(), Vec::new());
    for root in roots(root)? {
        for dir in runs_in(&root) {
            match dir.manifest() {
                Ok(manifest) => runs.push(KnownRun { dir, manifest }),
                Err(error) => unread.push((named_stamp(dir.path()), error)),
            }
        }
        for path in lost_runs_in(&root) {
            if let Err(error) = RunDir::open(&path) {
                unread.push((named_stamp(&path), error));
            }
        }
    }
    // A merged run stands for its parts.
    let merged = runs.iter().flat_map(|run| &run.manifest.merged);
    let merged: BTreeSet<_> = merged.map(|part| part.run_id.clone()).collect();
    runs.retain(|run| run.manifest.part.is_none() || !merged.contains(&run.manifest.run_id));
    let last = runs.iter().map(|run| &run.manifest.started_at).max();
    let last = last.map(|started| stamp_of(started)).unwrap_or_default();
    let newest = unread.into_iter().max_by(|one, other| one.0.cmp(&other.0));
    if let Some((stamp, error)) = newest
        && stamp >= last
    {
        return Err(error);
    }
    let (going_on, known): (Vec<_>, Vec<_>) = runs
        .into_iter()
        .partition(|run| !run.is_over() && run.dir.is_going_on());
    for run in going_on {
        if stamp_of(&run.manifest.started_at) >= last {
            let name = display(run.dir.path());
            console::note(&format!("run `{}` is in progress: skipped", clean(&name)));
        }
    }
    Ok(known)
}

/// One-line summaries of runs, and the number of older runs omitted.
pub(crate) struct RunOverviews {
    pub(crate) runs: Vec<RunOverview>,
    pub(crate) older: usize,
}

/// Summaries of the newest runs below `root` or in the project, of one eval or of all. Prints a note for unreadable
/// runs.
pub(crate) fn run_overviews(
    root: Option<&Path>,
    eval: Option<&str>,
    most: usize,
) -> Result<RunOverviews> {
    let mut dirs: Vec<_> = roots(root)?.iter().flat_map(|root| runs_in(root)).collect();
    // Folder names start with the time; for renamed folders use the manifest's.
    let started = |dir: &RunDir| match named_stamp(dir.path()) {
        stamp if stamp.is_empty() => dir
            .manifest()
            .map_or(stamp, |manifest| stamp_of(&manifest.started_at)),
        stamp => stamp,
    };
    dirs.sort_by_cached_key(|dir| Reverse((started(dir), dir.path().to_owned())));
    let mut found = RunOverviews {
        runs: Vec::new(),
        older: 0,
    };
    for dir in &dirs {
        let is_wanted =
            |name: &str| eval.is_none_or(|eval| [name, Variant::family_of(name)].contains(&eval));
        if found.runs.len() == most && eval.is_none() {
            found.older += 1;
            continue;
        }
        match RunOverview::of(dir) {
            Ok(run) if !is_wanted(&run.eval) => {}
            Ok(_) if found.runs.len() == most => found.older += 1,
            Ok(run) => found.runs.push(run),
            Err(error) => {
                let hint = error.hint_text().map(|hint| format!("; hint: {hint}"));
                let hint = hint.unwrap_or_default();
                console::note(&clean(&format!("{}{hint}", error.message())));
            }
        }
    }
    // Names have seconds alone.
    found
        .runs
        .sort_by(|one, other| other.started_at.cmp(&one.started_at));
    Ok(found)
}

/// The time in the name of a run directory; empty if it was renamed.
fn named_stamp(path: &Path) -> String {
    stamp_and_id(path).map_or_else(String::new, |(stamp, _)| stamp.to_owned())
}

/// The newest of some runs: the one that ended last, unless a later one was killed.
fn newest<'a>(runs: impl Iterator<Item = &'a KnownRun> + Clone) -> Option<&'a KnownRun> {
    let ended = runs.clone().filter(|run| run.is_over());
    let ended = ended.max_by(|one, other| one.manifest.ended_at.cmp(&other.manifest.ended_at));
    let killed = runs.filter(|run| !run.is_over());
    let killed =
        killed.max_by(|one, other| one.manifest.started_at.cmp(&other.manifest.started_at));
    match (ended, killed) {
        (Some(ended), Some(killed)) if killed.manifest.started_at < ended.manifest.started_at => {
            Some(ended)
        }
        (ended, killed) => killed.or(ended),
    }
}

/// The newest of the runs with these ids that is still there.
fn newest_of(ids: &[&str]) -> Result<Option<RunDir>> {
    let mut runs = known_runs(None)?;
    runs.retain(|run| ids.contains(&&*run.manifest.run_id));
    Ok(newest(runs.iter()).map(|run| run.dir.clone()))
}

/// The runs of the last command.
pub(crate) fn last_runs(root: Option<&Path>) -> Result<Vec<RunDir>> {
    let runs = known_runs(root)?;
    let Some(last) = newest(runs.iter()).map(|run| run.manifest.invocation.clone()) else {
        let root = display(&roots(root)?[0]);
        return Err(Error::usage(format!("no run found in `{root}`")).hint("cargo evaltest run"));
    };
    Ok(runs
        .into_iter()
        .filter(|run| run.manifest.invocation == last)
        .map(|run| run.dir)
        .collect())
}
