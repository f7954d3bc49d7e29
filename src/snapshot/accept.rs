//! Making whole runs the baseline.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::baseline::{BaselineFile, FILE, read_to_add};
use super::pool::{PooledRun, Roll};
use super::{Content, path};
use crate::data::Record;
use crate::error::{Error, Result};
use crate::store::{Manifest, RunDir, RunStatus, read_records};
use crate::verdict::baseline::BaselineRun;
use crate::verdict::gate::Metric;
use crate::verdict::poll;
use crate::verdict::result::Verdict;
use crate::verdict::summary::Summary;

/// How runs become the baseline.
#[derive(Clone, Debug, Default)]
pub struct Acceptance {
    /// Where the snapshots are, if not where the first run says.
    pub folder: Option<PathBuf>,
    /// Take runs that cover only a part of the eval, or lack more answers than its `error_rate` allows.
    pub partial: bool,
    /// Count them together with the runs that are the baseline already.
    pub add: bool,
}

/// What accepting runs changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The eval's name.
    pub eval: String,
    /// The folder of snapshots.
    pub folder: PathBuf,
    /// The runs that are the baseline now.
    pub runs: Vec<BaselineRun>,
    /// Snapshots in the new baseline.
    pub samples: usize,
    /// How many of them are correct, by most of their answers.
    pub correct: usize,
    /// Snapshots that were written because they are new or differ.
    pub changed: usize,
    /// Snapshots of samples that are no longer in the eval.
    pub removed: usize,
    /// Samples that ended in an error: their snapshots stay as they were, if they are still comparable.
    pub errors: Vec<String>,
    /// Samples that lack an answer which the baseline counts as none.
    pub incomplete: Vec<String>,
}

/// The error rate that a run may have, unless the eval has a gate of its own.
const ERROR_RATE: f64 = 0.05;

/// Makes runs of one eval its baseline: all snapshots are replaced, or get further answers.
///
/// The runs count in their order, as if the first were accepted and each of the others added.
///
/// # Errors
/// When there is a run that does not cover its eval or lacks answers (unless [`partial`](Acceptance::partial)), ended
/// without a single answer, or cannot count together with another. Nothing is changed then.
pub fn accept(dirs: &[RunDir], how: &Acceptance) -> Result<Accepted> {
    let manifests = dirs.iter().map(RunDir::manifest);
    let manifests = manifests.collect::<Result<Vec<_>>>()?;
    for (dir, manifest) in dirs.iter().zip(&manifests) {
        refuse_unfit(dir, manifest, how.partial)?;
    }
    let Some(first) = manifests.first() else {
        return Err(Error::usage("no run is named").hint("cargo evaltest accept RUN_DIR"));
    };
    let eval = first.eval.clone();
    let folder = how.folder.clone();
    let folder = folder.unwrap_or_else(|| first.snapshots.clone());
    let mut baseline = if how.add {
        let (file, contents) = read_to_add(&folder)?;
        NewBaseline::of(file, contents)
    } else {
        NewBaseline::new(first.scorer_hash.clone())
    };
    for (dir, manifest) in dirs.iter().zip(&manifests) {
        if manifest.eval != eval {
            return Err(Error::usage(format!(
                "run `{}` is of eval `{}`, not of `{eval}`",
                dir.path().display(),
                manifest.eval
            ))
            .hint("accept the runs of each eval by themselves"));
        }
        baseline.add(dir, manifest, &folder, how.partial)?;
    }
    if baseline.contents.is_empty() {
        let shown = dirs[0].path().display();
        return Err(
            Error::usage(format!("run `{shown}` has no answer to accept"))
                .hint(format!("cargo evaltest show {shown}")),
        );
    }
    baseline.write(eval, folder)
}

/// A baseline while runs are added to it.
struct NewBaseline {
    scorer_hash: String,
    runs: Vec<PooledRun>,
    contents: BTreeMap<String, Content>,
    errors: Vec<String>,
    incomplete: Vec<String>,
}

impl NewBaseline {
    fn new(scorer_hash: String) -> Self {
        Self {
            scorer_hash,
            runs: Vec::new(),
            contents: BTreeMap::new(),
            errors: Vec::new(),
            incomplete: Vec::new(),
        }
    }

    fn of(file: BaselineFile, contents: BTreeMap<String, Content>) -> Self {
        Self {
            runs: file.runs,
            contents,
            ..Self::new(file.scorer_hash)
        }
    }

    /// How many answers each sample has.
    fn answers(&self) -> usize {
        self.runs.iter().map(|run| run.epochs as usize).sum()
    }

    /// Adds a run.
    fn add(
        &mut self,
        dir: &RunDir,
        manifest: &Manifest,
        folder: &Path,
        partial: bool,
    ) -> Result<()> {
        let mut roll = Roll::of(manifest);
        let mut samples = BTreeMap::new();
        let mut errors = HashSet::new();
        for records in poll::samples(read_records(&dir.file("samples.jsonl"))?) {
            let records = records?;
            let content = |record: &Record| (record.epoch, Content::of(record, manifest.masked));
            let contents = records.iter().map(content).collect();
            let Some((id, content)) = records
                .first()
                .map(|record| record.sample_id.clone())
                .zip(Content::majority(contents))
            else {
                continue;
            };
            roll.add(&id, &content, &records);
            if records.iter().any(|record| record.result.status.is_error()) {
                errors.insert(id.clone());
            }
            samples.insert(id, content);
        }
        let run = roll.finish();
        let Some(last) = self.runs.last() else {
            self.begin(run, samples, &errors, folder);
            return Ok(());
        };
        if self.scorer_hash != manifest.scorer_hash {
            return Err(run.another(last, "scorer or extraction"));
        }
        for other in &self.runs {
            run.check_joins(other, partial)?;
        }
        let is_another = |(id, old): (&String, &Content)| {
            samples.get(id).is_some_and(|new| {
                new.input_hash != old.input_hash || new.target_hash != old.target_hash
            })
        };
        if self.contents.iter().any(is_another) {
            return Err(run.another(last, "dataset"));
        }
        self.join(run, samples, &errors);
        Ok(())
    }

    /// Takes the first run. An outage must not overwrite what is known of a sample, if that is still comparable.
    fn begin(
        &mut self,
        run: PooledRun,
        samples: BTreeMap<String, Content>,
        errors: &HashSet<String>,
        folder: &Path,
    ) {
        let before = super::baseline::file(&folder.join(FILE)).ok().flatten();
        let is_same = before.is_none_or(|before| before.scorer_hash == self.scorer_hash);
        let epochs = run.epochs as usize;
        for (id, content) in samples {
            if !errors.contains(&id) {
                self.contents.insert(id, content);
                continue;
            }
            let old = Content::read(&path(folder, &id)).ok().flatten();
            let old = old.filter(|old| {
                is_same
                    && old.input_hash == content.input_hash
                    && old.target_hash == content.target_hash
            });
            match old {
                Some(old) => {
                    self.contents.insert(id.clone(), old.kept(epochs));
                    self.errors.push(id);
                }
                None if content.is_answered() => {
                    self.contents.insert(id.clone(), content);
                    self.incomplete.push(id);
                }
                None => self.errors.push(id),
            }
        }
        self.runs.push(run);
    }

    /// Adds the answers of a further run to those that are there.
    fn join(
        &mut self,
        run: PooledRun,
        samples: BTreeMap<String, Content>,
        errors: &HashSet<String>,
    ) {
        let before = self.answers();
        let all = before + run.epochs as usize;
        for (id, content) in samples {
            if errors.contains(&id) {
                self.incomplete.push(id.clone());
            }
            match self.contents.get_mut(&id) {
                Some(old) => old.answers.extend(content.answers),
                None if content.is_answered() || !errors.contains(&id) => {
                    self.contents.insert(id, content.with_answers(all));
                }
                None => {}
            }
        }
        for content in self.contents.values_mut() {
            // Not asked by this run.
            content.answers.resize(all, None);
        }
        self.runs.push(run);
    }

    /// Writes the snapshots and `_baseline.json`.
    fn write(self, eval: String, folder: PathBuf) -> Result<Accepted> {
        let file = BaselineFile::new(self.runs, self.scorer_hash, &self.contents);
        let mut changed = 0;
        let mut known = HashSet::new();
        for (id, content) in &self.contents {
            let path = path(&folder, id);
            if Content::read(&path).ok().flatten().as_ref() != Some(content) {
                content.write(&path, id)?;
                changed += 1;
            }
            let _ = std::fs::remove_file(super::update::pending(&path));
            known.insert(path);
        }
        let removed = remove_unknown(&folder, &known)?;
        let mut text = serde_json::to_vec_pretty(&file).map_err(|error| {
            Error::infrastructure(format!("the baseline cannot be written: {error}"))
        })?;
        text.push(b'\n');
        crate::system::file::write_atomically(&folder.join(FILE), &text)?;
        Ok(Accepted {
            eval,
            runs: file.runs.iter().map(PooledRun::known).collect(),
            samples: file.samples,
            correct: file.correct,
            changed,
            removed,
            errors: self.errors,
            incomplete: self.incomplete,
            folder,
        })
    }
}

/// Refuses a run of which no baseline can be made.
fn refuse_unfit(dir: &RunDir, manifest: &Manifest, partial: bool) -> Result<()> {
    let shown = dir.path().display();
    if manifest.status != RunStatus::Finished {
        let reason = manifest.stop_reason.as_deref().unwrap_or("it was killed");
        return Err(
            Error::usage(format!("run `{shown}` did not finish: {reason}"))
                .hint(format!("cargo evaltest run --resume {shown}")),
        );
    }
    if manifest.mixed {
        return Err(Error::usage(format!(
            "run `{shown}` can be no baseline: its agent was changed between its parts"
        ))
        .hint("cargo evaltest run asks the agent of now everything"));
    }
    if partial {
        return Ok(());
    }
    if !manifest.whole {
        return Err(Error::usage(format!(
            "run `{shown}` asked only a part of eval `{}`; a baseline is made of whole runs",
            manifest.eval
        ))
        .hint("run `cargo evaltest run` without `--limit`, `--filter` or `--failed`, or accept with `--partial`"));
    }
    let summary = Summary::read(&dir.file("summary.json"))?;
    let gates = summary.gates.iter();
    let mut own = gates.filter(|gate| *gate.gate.metric() == Metric::ErrorRate);
    let rate = summary.error_rate.unwrap_or_default();
    let broken = match own.clone().find(|gate| gate.verdict == Verdict::Failed) {
        Some(failed) => Some(failed.gate.to_string()),
        // One for a slice says nothing of the whole.
        None if own.any(|gate| gate.gate.name() == "error_rate") => None,
        None => (rate > ERROR_RATE).then(|| format!("error_rate <= {ERROR_RATE}")),
    };
    let Some(broken) = broken else {
        return Ok(());
    };
    // What was scored again asked nothing itself.
    let asked = manifest.parent.as_deref().unwrap_or(dir.path()).display();
    Err(Error::usage(format!(
        "run `{shown}` lacks too many answers to be a baseline: {} of {}, against `{broken}`",
        summary.errors,
        summary.samples - summary.skipped,
    ))
    .hint(format!(
        "ask again what failed: cargo evaltest run --resume {asked}; or accept what there is with `--partial`"
    )))
}

/// Removes snapshots of samples that are no longer there.
fn remove_unknown(folder: &Path, known: &HashSet<PathBuf>) -> Result<usize> {
    let mut removed = 0;
    let files = WalkDir::new(folder)
        .min_depth(2)
        .max_depth(2)
        .into_iter()
        .flatten();
    for entry in files {
        let path = entry.path();
        let is_snapshot = path
            .extension()
            .is_some_and(|extension| extension == "snap");
        if is_snapshot && !known.contains(path) {
            std::fs::remove_file(path).map_err(|error| Error::io("remove", path, &error))?;
            removed += 1;
            let _ = path.parent().map(std::fs::remove_dir);
        }
    }
    Ok(removed)
}
