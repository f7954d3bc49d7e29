//! Merges the parts of a run, asked on several machines, into the run that one machine would have left.
//!
//! Each part's `places.json` has the places of its samples in the dataset. So the merge detects duplicates and gaps
//! however the eval was split, and writes the records in dataset order. It verifies everything: what it copies is
//! hashed on the way, the rest before.
//!
//! The run is made next to its final path and renamed when complete. Leftovers of a killed merge are removed by the
//! next.

mod found;
mod gather;
mod pieces;

use std::fs;
use std::fs::{File, TryLockError};
use std::io::ErrorKind::AlreadyExists;
use std::path::{Path, PathBuf};

use crate::data::history::HistoryAnswers;
use crate::error::{Error, Result};
use crate::eval::registry::Registry;
use crate::eval::{Eval, plan, spec};
use crate::run::history::RunHistory;
use crate::run::record::gathered;
use crate::run::record::reload::reload;
use crate::run::{CiPolicy, history};
use crate::snapshot::AnswerSheet;
use crate::store::files::{JOURNAL, MANIFEST, RECORDS, SUMMARY};
use crate::store::journal::is_held;
use crate::store::{
    Manifest, RunDir, RunStatus, UNFINISHED, files, read_lean_records, run_id_of, stamp_of,
};
use crate::system::file::{absolute, is_at, make_root};
use crate::system::project::display;
use crate::text::hash::Hasher;
use crate::text::shell_word;
use crate::verdict::alert::Alerts;
use crate::verdict::conclude::Run;
use crate::verdict::summary::Summary;

pub use found::{FoundParts, found_parts};
pub(crate) use gather::{GatherHow, gather};
pub(crate) use pieces::Pieces;

/// How parts are merged.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// The run directory of the result; by default in the folder where parts were searched, or next to the first.
    pub output: Option<PathBuf>,
    /// Whether this is CI, and what is allowed there.
    pub ci: CiPolicy,
    /// Ignore an existing baseline.
    pub ignore_baseline: bool,
    /// Add the run to the history of its eval.
    pub history: bool,
}

/// Merges the parts of an eval; an existing merge is judged again.
///
/// # Errors
/// When a part is of another run or was changed, when two have the same sample or a sample is missing, and when the run
/// directory cannot be written. Nothing is left then.
pub fn merge(parts: FoundParts, options: &MergeOptions) -> Result<Run> {
    let FoundParts {
        dirs,
        folder,
        notices,
        ..
    } = parts;
    let mut dirs = dirs.into_iter();
    let first = dirs
        .next()
        .ok_or_else(|| Error::usage("there is no part"))?;
    let root = folder.or_else(|| first.path().parent().map(PathBuf::from));
    let mut pieces = Pieces::of(first)?;
    dirs.try_for_each(|dir| pieces.add(dir))?;
    pieces.notices.splice(0..0, notices);
    pieces.refuse_incomplete()?;
    let eval = eval_of(&pieces.manifest);
    let eval = eval.as_ref();
    let reporter = MergeReporter::of(&pieces.manifest, eval, options.history)?;
    let place = MergePlace::of(&pieces, options.output.as_deref(), root)?;
    if place.is_merged()? {
        return again(&place.open()?, pieces.into_notices(), options, &reporter);
    }
    let Some(builder) = place.begin()? else {
        return again(&place.open()?, pieces.into_notices(), options, &reporter);
    };
    let how = GatherHow {
        run_id: place.run_id().to_owned(),
        names_parts: true,
        eval,
        ci: options.ci,
        keeps_answers: options.history,
        ignores_baseline: options.ignore_baseline,
    };
    let mut gathered = gather(pieces, builder.dir(), &how)?;
    builder.path().clone_into(&mut gathered.run.dir);
    let notices = gathered::reading_notices(&gathered.run);
    gathered.run.notices.extend(notices);
    let answers = gathered.answers.take();
    reporter.add(&gathered.manifest, &mut gathered.run, answers);
    let (manifest, mut run) = gathered.write(builder.dir())?;
    builder.finish()?;
    reporter.alert(&manifest, &mut run);
    Ok(run)
}

/// Judges an existing merge again.
fn again(
    dir: &RunDir,
    mut notices: Vec<String>,
    options: &MergeOptions,
    reporter: &MergeReporter<'_>,
) -> Result<Run> {
    notices.push(format!(
        "these parts are merged already: {}",
        display(dir.path())
    ));
    notices.extend(dir.check()?);
    let mut run = reload(dir, None, options.ci)?;
    run.notices = notices;
    run.notices.extend(gathered::reading_notices(&run));
    if !options.history {
        let known = Summary::read(&dir.file(SUMMARY))?;
        run.summary.set_alerts(known.alerts);
        return Ok(run);
    }
    let mut manifest = dir.manifest()?;
    let mut answers = AnswerSheet::default();
    for record in read_lean_records(&dir.file(RECORDS))? {
        answers.add(&record?);
    }
    reporter.add(&manifest, &mut run, answers.finish());
    manifest.artifacts.extend(run.write_summary(dir)?);
    manifest.write(dir)?;
    reporter.alert(&manifest, &mut run);
    Ok(run)
}

/// The eval of a run, if its spec is here: it may compute metrics, and has alerts.
fn eval_of(manifest: &Manifest) -> Option<Eval> {
    let spec = spec::spec_of_run(manifest)?;
    spec::load_of(&spec, &Registry::new(), &manifest.overrides, &manifest.eval).ok()
}

/// Reports a merged run as if it had run in one piece.
struct MergeReporter<'a> {
    history: Option<RunHistory>,
    eval: Option<&'a Eval>,
}

impl<'a> MergeReporter<'a> {
    /// For a run with this manifest; `is_point` adds it to the history.
    ///
    /// # Errors
    /// When it cannot be added to a history.
    fn of(manifest: &Manifest, eval: Option<&'a Eval>, is_point: bool) -> Result<Self> {
        let history = is_point.then(|| {
            let alerts = eval.map_or_else(Alerts::default, |eval| eval.alerting.alerts.clone());
            RunHistory::new(&manifest.snapshot_folder(), &manifest.eval, alerts)
        });
        if let Some(history) = &history {
            let whole = manifest.part.as_ref();
            let whole = whole.map_or(manifest.whole, |part| part.whole);
            history.check(!whole, None)?;
        }
        Ok(Self { history, eval })
    }

    /// Adds the run to the history, if requested, before its summary, which contains alerts, is written.
    fn add(&self, manifest: &Manifest, run: &mut Run, answers: Option<HistoryAnswers>) {
        let Some(history) = &self.history else {
            return;
        };
        let mut notices = std::mem::take(&mut run.notices);
        if self.eval.is_none() {
            notices.push("alerts are not evaluated: their spec does not exist here".to_owned());
        }
        history.add(manifest, run, answers, &mut |text| {
            notices.push(text.to_owned());
        });
        run.notices = notices;
    }

    /// Sends alerts, after all files of the run are written.
    fn alert(&self, manifest: &Manifest, run: &mut Run) {
        let Some(eval) = self.eval.filter(|_| self.history.is_some()) else {
            return;
        };
        let mut notices = std::mem::take(&mut run.notices);
        match plan::secret::redactor(eval, &plan::scorers(eval)) {
            Ok(redactor) => {
                let redacted = |text: &str| redactor.text(text, &mut 0).into_owned();
                let mut notice = |text: &str| notices.push(redacted(text));
                history::notify(eval, manifest, run, (&redacted, &mut notice));
            }
            Err(error) => notices.push(error.message().to_owned()),
        }
        run.notices = notices;
    }
}

// Builds a run directory next to its final path, one process at a time.
//
// The builder locks the folder itself, before anything is in it. The folder of a killed merge is unlocked: the next
// merge takes it over and empties it. So no folder is removed that another process has just made.

/// Retries if other processes move or remove the folder while it is being opened.
const TRIES: u32 = 100;

/// A run directory that is being built next to its final path; removed unless finished.
pub(crate) struct RunBuilder {
    path: PathBuf,
    dir: RunDir,
    is_whole: bool,
    /// Held as long as it is open.
    _lock: File,
}

impl RunBuilder {
    /// For a run that will be at this path.
    ///
    /// # Errors
    /// When another process is building it, or the folder next to the path cannot be made.
    fn begin(path: &Path) -> Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(UNFINISHED);
        let staging_dir = PathBuf::from(name);
        let busy = || {
            let message = format!("another process merges into `{}`", display(path));
            Error::usage(message).hint("wait until it finishes")
        };
        for _ in 0..TRIES {
            match fs::create_dir_all(&staging_dir) {
                Ok(()) => {}
                // It existed a moment ago.
                Err(error) if error.kind() == AlreadyExists && !staging_dir.exists() => continue,
                Err(error) => return Err(elsewhere(Error::io("create", &staging_dir, &error))),
            }
            let Ok(lock) = File::open(&staging_dir) else {
                // It was moved into place.
                continue;
            };
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(busy()),
                // Some file systems have no locks.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            if !is_at(&lock, &staging_dir) {
                continue;
            }
            if is_held(&staging_dir.join(JOURNAL)) {
                return Err(busy());
            }
            empty(&staging_dir)?;
            return Ok(Self {
                path: path.to_owned(),
                dir: RunDir::create_at(&staging_dir)?,
                is_whole: false,
                _lock: lock,
            });
        }
        Err(busy())
    }

    /// Where it is being built.
    pub(crate) fn dir(&self) -> &RunDir {
        &self.dir
    }

    /// Its final path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the complete run into place.
    pub(crate) fn finish(mut self) -> Result<()> {
        let renamed = fs::rename(self.dir.path(), &self.path);
        renamed.map_err(|error| Error::io("create", &self.path, &error))?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for RunBuilder {
    fn drop(&mut self) {
        if !self.is_whole {
            // Written by this merge: it found the folder empty, and holds its lock.
            self.dir.remove();
        }
    }
}

/// Removes leftovers of a killed merge.
fn empty(staging_dir: &Path) -> Result<()> {
    let failed = |error| Error::io("remove", staging_dir, &error);
    let entries =
        fs::read_dir(staging_dir).map_err(|error| Error::io("read", staging_dir, &error))?;
    let entries = entries.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let is_of_merge = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && files::is_of_run(&name.to_string_lossy())
    };
    if let Some(other) = entries.iter().find(|entry| !is_of_merge(entry)) {
        let message = format!(
            "`{}` exists already and is not from a merge",
            display(&other.path())
        );
        return Err(Error::usage(message).hint("move it, or write to another directory: `-o DIR`"));
    }
    let mut paths = entries.into_iter().map(|entry| entry.path());
    paths.try_for_each(fs::remove_file).map_err(failed)
}

/// Adds a hint to build the run elsewhere if the folder of the parts is not writable.
fn elsewhere(error: Error) -> Error {
    if error.hint_text().is_some() {
        return error;
    }
    error.hint("write to a directory that can be created: `-o DIR`")
}

/// The path of a merged run, which depends only on its parts.
pub(crate) struct MergePlace {
    run_id: String,
    path: PathBuf,
    /// Whether the result stopped early, as one of the pieces did.
    is_open: bool,
}

impl MergePlace {
    /// For these pieces, in a folder of runs, unless it is given.
    pub(crate) fn of(
        pieces: &Pieces,
        output: Option<&Path>,
        root: Option<PathBuf>,
    ) -> Result<Self> {
        let mut hasher = Hasher::default();
        // A part that was resumed since is a different one.
        for piece in &pieces.all {
            let records = piece.records.as_deref().unwrap_or_default();
            hasher = hasher.part(&piece.run_id).part(records);
        }
        let number = u64::from_be_bytes(hasher.first_bytes());
        let run_id = run_id_of(&pieces.manifest.eval, number);
        let path = match (output, root) {
            (Some(output), _) => absolute(output)?,
            (None, Some(root)) => {
                make_root(&root)?;
                let ended = pieces.manifest.ended_at.as_deref();
                let stamp = stamp_of(ended.unwrap_or(&pieces.manifest.started_at));
                root.join(format!("{stamp}_{run_id}"))
            }
            (None, None) => {
                return Err(Error::usage("the parts have no folder").hint("write one: `-o DIR`"));
            }
        };
        Ok(Self {
            run_id,
            path,
            is_open: pieces.is_open(),
        })
    }

    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Whether the run already exists.
    ///
    /// # Errors
    /// When something else exists there.
    pub(crate) fn is_merged(&self) -> Result<bool> {
        let path = display(&self.path);
        let is_empty = || fs::read_dir(&self.path).is_ok_and(|mut all| all.next().is_none());
        match fs::symlink_metadata(&self.path) {
            Err(_) => return Ok(false),
            Ok(about) if about.is_dir() && is_empty() => return Ok(false),
            Ok(_) => {}
        }
        let other = |what: &str| {
            Error::usage(format!("`{path}` {what}")).hint("write to another directory: `-o DIR`")
        };
        if !self.path.join(MANIFEST).is_file() {
            return Err(other("exists already and is not a run directory"));
        }
        let dir = self.open()?;
        let manifest = dir.manifest()?;
        if manifest.run_id != self.run_id || manifest.merged.is_empty() {
            return Err(other("is another run"));
        }
        let odd = match dir.check() {
            // A run with lost files may have been restored incompletely.
            Ok(_) if manifest.status == RunStatus::Finished || self.is_open => return Ok(true),
            Ok(_) => "some of their answers are missing".to_owned(),
            Err(error) => error.message().to_owned(),
        };
        let message = format!("`{path}` was merged from these shards and is damaged: {odd}");
        Err(Error::usage(message).hint(format!(
            "nothing is lost: move it away and merge again: mv {} {}",
            shell_word(&path),
            shell_word(&format!("{path}-damaged"))
        )))
    }

    pub(crate) fn open(&self) -> Result<RunDir> {
        RunDir::open(&self.path)
    }

    /// Creates the directory in which the run is built, next to its path; `None` if another process has just finished
    /// the run.
    ///
    /// # Errors
    /// When it cannot be created, another process is building it, or something else exists there.
    pub(crate) fn begin(&self) -> Result<Option<RunBuilder>> {
        let builder = RunBuilder::begin(&self.path)?;
        // Another process finished it before the check.
        Ok(if self.is_merged()? {
            None
        } else {
            Some(builder)
        })
    }
}
