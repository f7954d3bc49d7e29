//! `TrialParts`: what the trials of one eval leave in one run of nextest, where each is a process of its own.
//!
//! A trial leaves a small run directory, its part, in `<output root>/.parts/$NEXTEST_RUN_ID/<eval>/`. The gates put the parts
//! together. Where some are missing, because a partition or a filter left them out or the run was stopped, those that are
//! there become a run directory like any other, which is [a part](crate::store::RunPart) of its eval: whoever resumes it asks
//! what is missing, and `merge` takes it for one of the shards. Nothing that was paid for stays where nobody looks.
//!
//! Nobody tells when a run of nextest is over. It is known by the process that starts the trials, which the first of them
//! notes: as long as that one lives, others leave its parts alone.

use std::fs::{self, DirEntry, File, FileType};
use std::path::{Path, PathBuf};

use super::Cut;
use super::merge::{GatherHow, MergePlace, Pieces, gather};
use super::siblings::BEGUN;
use crate::error::{Error, Result};
use crate::run::CiPolicy;
use crate::store::events::Kind;
use crate::store::files::{JOURNAL, is_made_by_run};
use crate::store::left::holds_only;
use crate::store::places::PartPlaces;
use crate::store::{RunDir, RunPart, RunStatus, stamp_of};
use crate::system::process::mark::ProcessMark;
use crate::system::project::shown;
use crate::system::remove::{self, make_new_folder};
use crate::text::{name, shell_word};

/// The folder of all parts.
const PARTS: &str = ".parts";
/// Beside the parts: who puts them together holds it. No part has such a name, nor has an eval.
const LOCK: &str = "lock~";
/// Beside the evals: who starts the trials.
const RUNNER: &str = "runner~";
/// What trials note beside their parts and evals.
const NOTES: [&str; 3] = [LOCK, RUNNER, BEGUN];
/// Behind the name of a part: the answers of a test that was repeated, which count in no figure.
pub(crate) const AGAIN: &str = ".again";

/// The parts of an eval in one run of nextest.
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
            folder: root.join(PARTS).join(run_id).join(name::file_name(eval)),
        }
    }

    /// Where the part of a sample is.
    pub(crate) fn part(&self, id: &str) -> PathBuf {
        self.folder.join(name::file_name(id))
    }

    /// What all parts, and the run that they become, have in common.
    pub(crate) fn invocation(&self) -> String {
        format!("nextest-{}", self.run_id)
    }

    /// The part of the sample at this place of the dataset.
    pub(crate) fn cut(&self, place: usize) -> Cut {
        Cut {
            part: RunPart {
                nextest: Some(self.run_id.clone()),
                whole: true,
                ..RunPart::default()
            },
            places: vec![place],
        }
    }

    /// Notes who starts the trials.
    pub(crate) fn note_runner(&self) {
        let Some(folder) = self.folder.parent() else {
            return;
        };
        // Without it the parts are put together a little early by whoever comes.
        if let Some(runner) = ProcessMark::of_parent()
            && fs::create_dir_all(folder).is_ok()
            && let Ok(mut file) = File::create_new(folder.join(RUNNER))
        {
            let _ = std::io::Write::write_all(&mut file, runner.to_string().as_bytes());
        }
    }

    /// Puts the parts together, as far as they came to their end: the run directory that they become, which is a part of its
    /// eval unless they are all of it; `None` where there are none. What was answered in one that did not is a run directory
    /// of its own, to be resumed. Whoever calls this holds the [lock](Self::lock).
    ///
    /// # Errors
    /// When they cannot be read or the run directory cannot be written. The parts are there as before then.
    pub(crate) fn gather(&self) -> Result<Option<PathBuf>> {
        let mut finished = Vec::new();
        let mut others = Vec::new();
        for part in self.parts() {
            if is_finished(&part) {
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

    /// Makes a run directory of a part that did not come to its end.
    fn set_aside(&self, part: &RunDir) -> Result<()> {
        let manifest = part.manifest()?;
        let name = format!("{}_{}", stamp_of(&manifest.started_at), manifest.run_id);
        // It takes the place of the empty folder.
        let moved = make_new_folder(&self.root, &name).and_then(|at| fs::rename(part.path(), at));
        moved.map_err(|error| Error::io("move", part.path(), &error))
    }

    /// Makes room for the part of a sample that is asked again. If something was answered before, that becomes a run directory
    /// of its own, unless it is a repeated test, which counts in no figure.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub(crate) fn make_room(&self, part: &Path) -> Result<()> {
        match RunDir::open(part) {
            Ok(dir) if is_repeat(part) || paid_nothing(&dir) => dir.remove(),
            Ok(dir) => self.set_aside(&dir)?,
            // Without a manifest: of a run that was killed as it began, if it is one.
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
        let Some(making) = place.begin()? else {
            return Ok(place.open()?.path().to_owned());
        };
        let mut gathered = gather(pieces, making.dir(), &how)?;
        gathered.manifest.invocation = self.invocation();
        gathered.write(making.dir())?;
        let path = making.path().to_owned();
        making.finish()?;
        Ok(path)
    }

    /// Keeps all others from putting the parts together as long as the file is open.
    ///
    /// # Errors
    /// When there can be no such file.
    pub(crate) fn lock(&self) -> Result<File> {
        let (file, path) = self.lock_file()?;
        file.lock().map_err(|error| {
            Error::infrastructure(format!("cannot lock `{}`: {error}", path.display()))
        })?;
        Ok(file)
    }

    /// The same unless somebody does already.
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

    /// The parts that came to their end.
    pub(crate) fn finished(&self) -> Vec<RunDir> {
        self.parts().filter(is_finished).collect()
    }

    /// Removes the parts that are in a run now, those without an answer, and repeated tests; then the folders around them
    /// where nothing else is.
    pub(crate) fn clear(&self) {
        for path in folders(&self.folder) {
            let Ok(part) = RunDir::open(&path) else {
                continue;
            };
            if !part.is_going_on()
                && (is_repeat(&path) || is_finished(&part) || paid_nothing(&part))
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

    /// As [`gather`](Self::gather), of whoever comes by: what is to be known of it.
    fn gather_told(&self) -> Option<String> {
        let folder = shown(&self.folder);
        let gathered = self.try_lock().and_then(|lock| match lock {
            Some(_lock) => self.gather(),
            None => Ok(None),
        });
        match gathered {
            Ok(dir) => dir.map(|dir| {
                format!(
                    "what was left by a run of nextest is a run directory now: {}",
                    shown(&dir)
                )
            }),
            Err(error) => Some(format!(
                "`{folder}` was left by a run of nextest, and cannot be put together: {}; if it is worth nothing: rm -r {}",
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

/// Whether a part is of a test that was repeated.
fn is_repeat(part: &Path) -> bool {
    let name = part.file_name().unwrap_or_default();
    name.as_encoded_bytes().ends_with(AGAIN.as_bytes())
}

/// Whether nobody replied in a part, neither the agent nor a judge. One whose journal cannot be read is not known to be such.
fn paid_nothing(part: &RunDir) -> bool {
    use Kind::{Ended, Failed, JudgeFailed, Progress, Started};
    holds_only(
        &part.file(JOURNAL),
        &[Started, Progress, Failed, JudgeFailed, Ended],
    )
}

/// Puts together what runs of nextest that are over left below a folder of runs: what is to be known of it.
pub fn gather_left(root: &Path) -> Vec<String> {
    let mut told = Vec::new();
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
            told.extend(parts.gather_told());
        }
        // Of a run without a part: what its trials noted.
        remove::if_all_ours(&run, &|path, kind| {
            path == Path::new(RUNNER) && kind.is_file()
        });
    }
    let _ = fs::remove_dir(root.join(PARTS));
    told
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

/// Whether a part came to its end.
pub(crate) fn is_finished(part: &RunDir) -> bool {
    let manifest = part.manifest();
    manifest.is_ok_and(|manifest| manifest.status == RunStatus::Finished)
}
