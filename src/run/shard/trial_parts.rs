//! `TrialParts`: the files that the trials of one eval leave in a nextest run, where each is a process.
//!
//! A trial leaves a small run directory, its part, in `<output root>/.parts/$NEXTEST_RUN_ID/<eval>/`. The gates put the
//! parts together. If some are missing, because of a partition, a filter or a stop, the others become an ordinary run
//! directory that is [a part](crate::store::RunPart) of its eval: resuming it asks what is missing, and `merge` takes
//! it as a shard. No paid answer stays hidden.
//!
//! There is no signal for the end of a nextest run. The first trial notes the process that starts the trials; while
//! that process lives, others leave its parts alone.

use std::fs::{self, DirEntry, File, FileType};
use std::path::{Path, PathBuf};

use super::ShardCoverage;
use super::merge::{GatherHow, MergePlace, Pieces, gather};
use super::siblings::STARTED;
use crate::error::{Error, Result};
use crate::run::CiPolicy;
use crate::store::abandoned::holds_only;
use crate::store::files::{JOURNAL, is_made_by_run};
use crate::store::journal::Kind;
use crate::store::places::PartPlaces;
use crate::store::{RunDir, RunPart, stamp_of};
use crate::system::file::remove;
use crate::system::file::remove::make_new_folder;
use crate::system::process::ProcessMark;
use crate::system::project::display;
use crate::text;
use crate::text::shell_word;

/// The folder of all parts.
const PARTS: &str = ".parts";
/// Next to the parts: locked by the process that puts them together. No part or eval has such a name.
const LOCK: &str = "lock~";
/// Next to the evals: the process that starts the trials.
const RUNNER: &str = "runner~";
/// Files that trials leave next to their parts and evals.
const NOTES: [&str; 3] = [LOCK, RUNNER, STARTED];
/// Suffix of a part with the answers of a repeated test, which count in no figure.
pub(crate) const AGAIN: &str = ".again";

/// The parts of an eval in one nextest run.
pub(crate) struct TrialParts {
    /// The folder of run directories.
    root: PathBuf,
    run_id: String,
    folder: PathBuf,
}

impl TrialParts {
    pub(crate) fn of(root: &Path, run_id: &str, eval: &str) -> Self {
        Self {
            root: root.to_owned(),
            run_id: run_id.to_owned(),
            folder: root.join(PARTS).join(run_id).join(text::file_name(eval)),
        }
    }

    /// The path of a sample's part.
    pub(crate) fn part(&self, id: &str) -> PathBuf {
        self.folder.join(text::file_name(id))
    }

    /// The invocation shared by all parts and the run that they become.
    pub(crate) fn invocation(&self) -> String {
        format!("nextest-{}", self.run_id)
    }

    /// The part of the sample at this dataset place.
    pub(crate) fn coverage(&self, place: usize) -> ShardCoverage {
        ShardCoverage {
            part: RunPart {
                nextest: Some(self.run_id.clone()),
                whole: true,
                ..RunPart::default()
            },
            places: vec![place],
        }
    }

    /// Notes the process that starts the trials.
    pub(crate) fn note_runner(&self) {
        let Some(folder) = self.folder.parent() else {
            return;
        };
        // Without it, the next process may put the parts together a little early.
        if let Some(runner) = ProcessMark::of_parent()
            && fs::create_dir_all(folder).is_ok()
            && let Ok(mut file) = File::create_new(folder.join(RUNNER))
        {
            let _ = std::io::Write::write_all(&mut file, runner.to_string().as_bytes());
        }
    }

    /// Puts the finished parts together and returns the resulting run directory, a part of its eval unless complete;
    /// `None` without parts. Answers of an unfinished part become a run directory of their own, to be resumed. The
    /// caller holds the [lock](Self::lock).
    ///
    /// # Errors
    /// When they cannot be read or the run directory cannot be written. The parts stay unchanged.
    pub(crate) fn gather(&self) -> Result<Option<PathBuf>> {
        let mut finished = Vec::new();
        let mut others = Vec::new();
        for part in self.parts() {
            if part.is_finished() {
                let places = PartPlaces::read(&part)?.places;
                finished.push((places, part));
            } else if !paid_nothing(&part) {
                others.push(part);
            }
        }
        finished.sort_by(|one, other| one.0.cmp(&other.0));
        let mut finished = finished.into_iter().map(|(_, part)| part);
        let gathered = match finished.next() {
            Some(first) => {
                let mut pieces = Pieces::of(first)?;
                finished.try_for_each(|part| pieces.add(part))?;
                Some(self.gather_pieces(pieces)?)
            }
            None => None,
        };
        others.iter().try_for_each(|part| self.set_aside(part))?;
        self.clear();
        Ok(gathered)
    }

    /// Makes a run directory of an unfinished part.
    fn set_aside(&self, part: &RunDir) -> Result<()> {
        let manifest = part.manifest()?;
        let name = format!("{}_{}", stamp_of(&manifest.started_at), manifest.run_id);
        // It replaces the empty folder.
        let moved = make_new_folder(&self.root, &name).and_then(|at| fs::rename(part.path(), at));
        moved.map_err(|error| Error::io("move", part.path(), &error))
    }

    /// Makes room for the part of a sample that is asked again. Existing answers become a run directory of their own,
    /// unless from a repeated test, which counts in no figure.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub(crate) fn make_room(&self, part: &Path) -> Result<()> {
        match RunDir::open(part) {
            Ok(dir) if is_repeat(part) || paid_nothing(&dir) => dir.remove(),
            Ok(dir) => self.set_aside(&dir)?,
            // Without a manifest: of a run killed as it started, if it is one.
            Err(_) => drop(remove::if_all_ours(part, &is_made_by_run)),
        }
        Ok(())
    }

    fn gather_pieces(&self, pieces: Pieces) -> Result<PathBuf> {
        let place = MergePlace::of(&pieces, None, Some(self.root.clone()))?;
        let how = GatherHow {
            run_id: place.run_id().to_owned(),
            names_parts: false,
            keeps_answers: false,
            eval: None,
            ci: CiPolicy::default(),
            ignores_baseline: !pieces.is_complete(),
        };
        let Some(builder) = place.begin()? else {
            return Ok(place.open()?.path().to_owned());
        };
        let mut gathered = gather(pieces, builder.dir(), &how)?;
        gathered.manifest.invocation = self.invocation();
        gathered.write(builder.dir())?;
        let path = builder.path().to_owned();
        builder.finish()?;
        Ok(path)
    }

    /// Locks out other processes from putting the parts together while the file is open.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub(crate) fn lock(&self) -> Result<File> {
        let (file, path) = self.lock_file()?;
        file.lock().map_err(|error| {
            Error::infrastructure(format!("cannot lock `{}`: {error}", path.display()))
        })?;
        Ok(file)
    }

    /// The same, unless another process holds it.
    fn try_lock(&self) -> Result<Option<File>> {
        let (file, _) = self.lock_file()?;
        Ok(file.try_lock().is_ok().then_some(file))
    }

    fn lock_file(&self) -> Result<(File, PathBuf)> {
        fs::create_dir_all(&self.folder)
            .map_err(|error| Error::io("create", &self.folder, &error))?;
        let path = self.folder.join(LOCK);
        let file = File::create(&path).map_err(|error| Error::io("create", &path, &error))?;
        Ok((file, path))
    }

    /// The finished parts.
    pub(crate) fn finished(&self) -> Vec<RunDir> {
        self.parts().filter(RunDir::is_finished).collect()
    }

    /// Removes parts that are now in a run, those without an answer, and repeated tests; then the folders around them
    /// that are empty.
    pub(crate) fn clear(&self) {
        for path in folders(&self.folder) {
            let Ok(part) = RunDir::open(&path) else {
                continue;
            };
            if !part.is_going_on()
                && (is_repeat(&path) || part.is_finished() || paid_nothing(&part))
            {
                part.remove();
            }
        }
        let is_note = |path: &Path, kind: FileType| {
            kind.is_file() && NOTES.iter().any(|name| path == Path::new(name))
        };
        remove::if_all_ours(&self.folder, &is_note);
        let Some(run) = self.folder.parent() else {
            return;
        };
        remove::if_all_ours(run, &is_note);
        let _ = fs::remove_dir(self.root.join(PARTS));
    }

    /// Like [`gather`](Self::gather), for any later process; returns a notice.
    fn gather_and_report(&self) -> Option<String> {
        let folder = display(&self.folder);
        let gathered = self.try_lock().and_then(|lock| match lock {
            Some(_lock) => self.gather(),
            None => Ok(None),
        });
        match gathered {
            Ok(dir) => dir.map(|dir| {
                format!(
                    "an unfinished nextest run is now a run directory: {}",
                    display(&dir)
                )
            }),
            Err(error) => Some(format!(
                "`{folder}` was left by a nextest run and cannot be merged: {}; if you do not need it: rm -r {}",
                error.message(),
                shell_word(&folder)
            )),
        }
    }

    fn parts(&self) -> impl Iterator<Item = RunDir> + use<> {
        let own = folders(&self.folder).into_iter();
        let own = own.filter(|path| !is_repeat(path));
        own.filter_map(|path| RunDir::open(&path).ok())
    }
}

/// Whether a part is of a repeated test.
fn is_repeat(part: &Path) -> bool {
    let name = part.file_name().unwrap_or_default();
    name.as_encoded_bytes().ends_with(AGAIN.as_bytes())
}

/// Whether a part has no replies from the agent or a judge. `false` if its journal cannot be read.
fn paid_nothing(part: &RunDir) -> bool {
    use Kind::{Ended, Failed, JudgeFailed, Progress, Started};
    holds_only(
        &part.file(JOURNAL),
        &[Started, Progress, Failed, JudgeFailed, Ended],
    )
}

/// Puts together what finished nextest runs left below a folder of runs; returns notices.
pub fn gather_abandoned(root: &Path) -> Vec<String> {
    let mut messages = Vec::new();
    for run in folders(&root.join(PARTS)) {
        let runner = fs::read_to_string(run.join(RUNNER)).ok();
        let runner = runner.and_then(|text| ProcessMark::parse(&text));
        if runner.is_some_and(|runner| runner.is_alive()) {
            continue;
        }
        let run_id = run.file_name().unwrap_or_default().to_string_lossy();
        for folder in folders(&run) {
            let parts = TrialParts {
                root: root.to_owned(),
                run_id: run_id.clone().into_owned(),
                folder,
            };
            messages.extend(parts.gather_and_report());
        }
        // A run without parts: the notes of its trials.
        remove::if_all_ours(&run, &|path, kind| {
            path == Path::new(RUNNER) && kind.is_file()
        });
    }
    let _ = fs::remove_dir(root.join(PARTS));
    messages
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut paths: Vec<_> = entries
        .filter(is_folder)
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}
