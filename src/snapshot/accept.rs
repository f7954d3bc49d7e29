//! Making whole runs the baseline.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::baseline::{BaselineFile, FILE, Judges, read_to_add};
use super::pool::{PooledRun, Roll};
use super::{Content, EpochContent, SampleContent, SnapshotHeader, epoch, path};
use crate::data::Record;
use crate::error::{Error, Result};
use crate::store::{Manifest, RunDir, RunStatus, read_records};
use crate::text::escape_line_ends;
use crate::verdict::baseline::BaselineRun;
use crate::verdict::gate::{DEFAULT_ERROR_RATE, Metric};
use crate::verdict::poll;
use crate::verdict::result::Verdict;
use crate::verdict::run::MEND;
use crate::verdict::summary::Summary;

/// The name of [`ATTRIBUTES`] beside snapshots.
pub const ATTRIBUTES_FILE: &str = ".gitattributes";

/// Has git leave the line ends of snapshots as they are, on every machine.
pub const ATTRIBUTES: &str = "*.snap text eol=lf\n_baseline.json text eol=lf\n";

/// How runs become the baseline.
#[derive(Clone, Debug, Default)]
pub struct Acceptance {
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
    /// Samples that ended in an error: their snapshots stay as they were.
    pub errors: Vec<String>,
    /// Samples that ended in an error, and of which there was no snapshot that is still comparable.
    pub missing: Vec<String>,
    /// Samples that lack an answer which the baseline counts as none.
    pub incomplete: Vec<String>,
    /// What people should know of the files of the runs.
    pub notices: Vec<String>,
}

/// Makes runs of one eval its baseline: all snapshots in `folder` are replaced, or get further answers.
///
/// Nothing is written where a manifest says: whoever accepts knows where the eval has its snapshots. Only files that
/// evaltest wrote are removed.
///
/// The runs count in their order, as if the first were accepted and each of the others added.
///
/// # Errors
/// When there is a run that does not cover its eval or lacks answers (unless [`partial`](Acceptance::partial)), ended
/// without a single answer, or cannot count together with another. Nothing is changed then.
pub fn accept(dirs: &[RunDir], folder: &Path, how: &Acceptance) -> Result<Accepted> {
    let manifests = dirs.iter().map(RunDir::manifest);
    let manifests = manifests.collect::<Result<Vec<_>>>()?;
    let mut notices = Vec::new();
    for (dir, manifest) in dirs.iter().zip(&manifests) {
        refuse_unfit(dir, manifest, how.partial)?;
        notices.extend(dir.check()?);
    }
    let Some(first) = manifests.first() else {
        return Err(Error::usage("no run is named").hint("cargo evaltest accept RUN_DIR"));
    };
    refuse_twice(&manifests)?;
    let eval = first.eval.clone();
    let mut baseline = if how.add {
        let (file, contents) = read_to_add(folder)?;
        NewBaseline::of(file, contents)
    } else {
        NewBaseline::new(first.scorer_hash.clone(), key_of(first))
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
        baseline.add(dir, manifest, folder, how.partial)?;
    }
    if baseline.contents.is_empty() {
        let shown = dirs[0].path().display();
        return Err(
            Error::usage(format!("run `{shown}` has no answer to accept"))
                .hint(format!("cargo evaltest show {shown}")),
        );
    }
    let accepted = baseline.write(eval, folder.to_owned())?;
    Ok(Accepted {
        notices,
        ..accepted
    })
}

/// What a run that is added says of a sample.
struct NewSample {
    content: Content,
    header: SnapshotHeader,
    /// What is known of it already.
    before: Option<Content>,
    /// Whether that is of another question or ground truth.
    is_of_another: bool,
}

/// Names the dataset that keys the snapshots of a run, if they are masked.
fn key_of(manifest: &Manifest) -> Option<String> {
    manifest.mask_id.clone().filter(|_| manifest.masked)
}

/// A baseline while runs are added to it.
struct NewBaseline {
    scorer_hash: String,
    /// Names the dataset that keys the snapshots, where they are masked.
    mask_id: Option<String>,
    runs: Vec<PooledRun>,
    /// The models that served judges in any of them.
    judges: Judges,
    contents: BTreeMap<String, Content>,
    /// What stands above the snapshots, as far as the runs that are added know.
    headers: BTreeMap<String, SnapshotHeader>,
    errors: Vec<String>,
    missing: Vec<String>,
    incomplete: Vec<String>,
}

impl NewBaseline {
    fn new(scorer_hash: String, mask_id: Option<String>) -> Self {
        Self {
            scorer_hash,
            mask_id,
            runs: Vec::new(),
            judges: Judges::new(),
            contents: BTreeMap::new(),
            headers: BTreeMap::new(),
            errors: Vec::new(),
            missing: Vec::new(),
            incomplete: Vec::new(),
        }
    }

    fn of(file: BaselineFile, contents: BTreeMap<String, Content>) -> Self {
        Self {
            runs: file.runs,
            judges: file.judges,
            contents,
            ..Self::new(file.scorer_hash, file.mask_id)
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
            let content = |record: &Record| EpochContent::of(record, manifest.masked);
            let contents = records.iter().map(content).collect();
            let Some((record, SampleContent { content, .. })) =
                records.first().zip(SampleContent::majority(contents))
            else {
                continue;
            };
            let id = record.sample_id.clone();
            roll.add(&id, &content, &records);
            if records.iter().any(|record| record.result.status.is_error()) {
                errors.insert(id.clone());
            }
            let before = match self.contents.get(&id) {
                Some(before) => Some(before.clone()),
                // An outage must not overwrite what is known of a sample.
                None if self.runs.is_empty() && errors.contains(&id) => {
                    Content::read(&path(folder, &id)).ok().flatten()
                }
                None => None,
            };
            let is_of_another = before.as_ref().is_some_and(|before| !before.is_of(record));
            let before = if manifest.masked && !is_of_another {
                before.map(|before| epoch::hidden(before, record))
            } else {
                before
            };
            let header = SnapshotHeader::of(record, manifest.masked);
            let sample = NewSample {
                content,
                header,
                before,
                is_of_another,
            };
            samples.insert(id, sample);
        }
        for (scorer, models) in &manifest.judge_models {
            let known = self.judges.entry(scorer.clone()).or_default();
            known.extend(models.keys().cloned());
        }
        let run = roll.finish();
        let Some(last) = self.runs.last() else {
            self.begin(run, samples, &errors, folder);
            return Ok(());
        };
        if self.scorer_hash != manifest.scorer_hash {
            return Err(run.another(last, "scorer, extraction or `errors`"));
        }
        let key = key_of(manifest);
        if key.is_some() != self.mask_id.is_some() {
            return Err(run.another(last, "`snapshot.answers`"));
        }
        for other in &self.runs {
            run.check_joins(other, partial)?;
        }
        if key != self.mask_id || samples.values().any(|sample| sample.is_of_another) {
            return Err(run.another(last, "dataset"));
        }
        self.join(run, samples, &errors);
        Ok(())
    }

    /// Takes the first run. An outage must not overwrite what is known of a sample, if that is still comparable.
    fn begin(
        &mut self,
        run: PooledRun,
        samples: BTreeMap<String, NewSample>,
        errors: &HashSet<String>,
        folder: &Path,
    ) {
        let before = super::baseline::file(&folder.join(FILE)).ok().flatten();
        let is_same = before.is_none_or(|before| before.scorer_hash == self.scorer_hash);
        let epochs = run.epochs as usize;
        for (id, sample) in samples {
            self.headers.insert(id.clone(), sample.header);
            let content = sample.content;
            if !errors.contains(&id) {
                self.contents.insert(id, content);
                continue;
            }
            let is_comparable = is_same && !sample.is_of_another;
            match sample.before.filter(|_| is_comparable) {
                Some(old) => {
                    self.contents.insert(id.clone(), old.kept(epochs));
                    self.errors.push(id);
                }
                None if content.is_answered() => {
                    self.contents.insert(id.clone(), content);
                    self.incomplete.push(id);
                }
                None => self.missing.push(id),
            }
        }
        self.runs.push(run);
    }

    /// Adds the answers of a further run to those that are there.
    fn join(
        &mut self,
        run: PooledRun,
        samples: BTreeMap<String, NewSample>,
        errors: &HashSet<String>,
    ) {
        let before = self.answers();
        let all = before + run.epochs as usize;
        for (
            id,
            NewSample {
                content, header, ..
            },
        ) in samples
        {
            self.headers.entry(id.clone()).or_insert(header);
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
        let file = BaselineFile::new(
            self.runs,
            self.scorer_hash,
            self.mask_id,
            self.judges,
            &self.contents,
        );
        // A later run may have asked them.
        let mut missing = self.missing;
        missing.retain(|id| !self.contents.contains_key(id));
        let mut changed = 0;
        let mut known = HashSet::new();
        for (id, content) in &self.contents {
            let path = path(&folder, id);
            if Content::read(&path).ok().flatten().as_ref() != Some(content) {
                // Of a sample that was not asked this time the snapshot itself tells.
                let header = self.headers.get(id).cloned();
                let masked = file.mask_id.is_some();
                let header = header.or_else(|| SnapshotHeader::read(&path).filter(|_| !masked));
                content.write(&path, &header.unwrap_or_else(|| SnapshotHeader::bare(id)))?;
                changed += 1;
            }
            let pending = super::update::pending(&path);
            if is_own(&pending) {
                let _ = std::fs::remove_file(pending);
            }
            known.insert(path);
        }
        let attributes = folder.join(ATTRIBUTES_FILE);
        if !attributes.exists() {
            crate::system::file::write_atomically(&attributes, ATTRIBUTES.as_bytes())?;
        }
        let removed = remove_unknown(&folder, &known)?;
        let mut text = serde_json::to_vec_pretty(&file).map_err(|error| {
            Error::infrastructure(format!("the baseline cannot be written: {error}"))
        })?;
        escape_line_ends(&mut text, 0);
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
            missing,
            incomplete: self.incomplete,
            folder,
            notices: Vec::new(),
        })
    }
}

/// Refuses a run of which no baseline can be made.
fn refuse_unfit(dir: &RunDir, manifest: &Manifest, partial: bool) -> Result<()> {
    let shown = dir.path().display();
    if manifest.masked && manifest.mask_id.is_none() {
        return Err(Error::usage(format!(
            "run `{shown}` was made by an older evaltest, and masked snapshots of it would not hide its answers"
        ))
        .hint("run the eval again: cargo evaltest run --ignore-baseline, then cargo evaltest accept"));
    }
    if let Some(early) = &manifest.early_stop
        && early.look < early.looks
    {
        return Err(Error::usage(format!(
            "run `{shown}` can be no baseline: its gates were sure before all samples were asked"
        ))
        .hint(format!(
            "ask all of it, which is so without a baseline to compare with: {} --ignore-baseline, then cargo evaltest \
             accept",
            manifest.run_again()
        )));
    }
    if manifest.status != RunStatus::Finished {
        let reason = manifest.stop_reason.as_deref().unwrap_or("it was killed");
        let answered = Summary::read(&dir.file("summary.json"));
        let answered = answered.map_or(true, |summary| summary.has_answers());
        let hint = if answered && !reason.contains(MEND) {
            format!("cargo evaltest run --resume {shown}")
        } else {
            // The agent that is mended is another one.
            format!(
                "mend what stopped it, and run the eval anew: {}",
                manifest.run_again()
            )
        };
        return Err(Error::usage(format!("run `{shown}` did not finish: {reason}")).hint(hint));
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
        None => (rate > DEFAULT_ERROR_RATE).then(|| format!("error_rate <= {DEFAULT_ERROR_RATE}")),
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
    .hint(if summary.has_answers() {
        format!("ask again what failed: cargo evaltest run --resume {asked}; or accept what there is with `--partial`")
    } else {
        format!("mend what failed, and run the eval anew: {}", manifest.run_again())
    }))
}

/// Refuses a run that is named twice.
fn refuse_twice(manifests: &[Manifest]) -> Result<()> {
    let mut seen = HashSet::new();
    let mut runs = manifests.iter();
    match runs.find(|run| !seen.insert((&run.run_id, &run.started_at))) {
        None => Ok(()),
        Some(run) => Err(Error::usage(format!(
            "run `{}` would count twice: it is given twice",
            run.run_id
        ))
        .hint("name each run once; for another run ask anew: cargo evaltest run")),
    }
}

/// Whether a file is a snapshot that evaltest wrote: what another program keeps beside them is not ours to remove.
fn is_own(path: &Path) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|about| about.is_file());
    is_file && SnapshotHeader::is_own(path)
}

/// Removes snapshots of samples that are no longer there, and what waits for review beside them.
fn remove_unknown(folder: &Path, known: &HashSet<PathBuf>) -> Result<usize> {
    let mut removed = 0;
    let files = WalkDir::new(folder)
        .min_depth(2)
        .max_depth(2)
        .into_iter()
        .flatten();
    for entry in files {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy();
        let is_snapshot = name.ends_with(".snap");
        let is_over = is_snapshot && !known.contains(path) || name.ends_with(".snap.new");
        if is_over && is_own(path) {
            std::fs::remove_file(path).map_err(|error| Error::io("remove", path, &error))?;
            removed += usize::from(is_snapshot);
            let _ = path.parent().map(std::fs::remove_dir);
        }
    }
    Ok(removed)
}
