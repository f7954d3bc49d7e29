//! Accepts whole runs as the baseline.

mod new_baseline;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::snapshot::history::{AcceptedAnswers, HistoryFile, accept_line};
use crate::snapshot::{Content, SnapshotHeader};
use crate::store::files::SUMMARY;
use crate::store::{Manifest, RunDir, RunStatus, going_on};
use crate::system::clock;
use crate::system::file::lines::PlacedLines;
use crate::system::project::display;
use crate::text::shell_word;
use crate::verdict::baseline::BaselineRun;
use crate::verdict::conclude::FIX_HINT;
use crate::verdict::gate::{DEFAULT_ERROR_RATE, ERROR_RATE, Gate};
use crate::verdict::result::Verdict;
use crate::verdict::summary::Summary;
use new_baseline::{NewBaseline, key_of};

/// Options for accepting runs.
#[derive(Clone, Debug, Default)]
pub struct Acceptance {
    /// Accept runs that cover only a part of the eval, or lack more answers than its `error_rate` allows.
    pub partial: bool,
    /// Accept runs that failed gates which need no baseline, also `error_rate`.
    pub failed_gates: bool,
    /// Add them to the runs of the existing baseline.
    pub add: bool,
}

/// The result of accepting runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The name of the eval.
    pub eval: String,
    /// The snapshot folder.
    pub folder: PathBuf,
    /// The runs of the new baseline.
    pub runs: Vec<BaselineRun>,
    /// Number of snapshots in the new baseline.
    pub samples: usize,
    /// Snapshots that are correct by majority.
    pub correct: usize,
    /// Snapshots without a verdict, such as those of samples without a ground truth.
    pub unscored: usize,
    /// Snapshots written because they are new or differ.
    pub changed: usize,
    /// Snapshots removed because their samples are no longer in the eval.
    pub removed: usize,
    /// Samples that ended in an error; their snapshots are unchanged.
    pub errors: Vec<String>,
    /// Samples that ended in an error and have no comparable snapshot.
    pub missing: Vec<String>,
    /// Samples that lack an answer, which the baseline counts as no verdict.
    pub incomplete: Vec<String>,
    /// Notices about the files of the runs.
    pub notices: Vec<String>,
}

/// Makes runs of one eval its baseline: all snapshots in `folder` are replaced, or get further answers.
///
/// The folder is never taken from a manifest: the caller knows where the eval has its snapshots. Only files written by
/// evaltest are removed.
///
/// The runs are accepted in order: the first replaces the baseline, and each of the others is added.
///
/// # Errors
/// If a run does not cover its eval or lacks answers (unless [`partial`](Acceptance::partial)), ended without a single
/// answer, or cannot be combined with another. Nothing is changed then.
pub fn accept(dirs: &[RunDir], folder: &Path, how: &Acceptance) -> Result<Accepted> {
    let manifests = dirs.iter().map(RunDir::manifest);
    let manifests = manifests.collect::<Result<Vec<_>>>()?;
    let mut notices = Vec::new();
    for (dir, manifest) in dirs.iter().zip(&manifests) {
        refuse_unfit(dir, manifest, how.partial)?;
        notices.extend(dir.check()?);
        let summary = Summary::read(&dir.file(SUMMARY))?;
        refuse_recorded(dir, manifest, &summary)?;
        if !how.partial && !how.failed_gates {
            refuse_errors(dir, manifest, &summary)?;
        }
        refuse_unscored(dir, &summary)?;
        notices.extend(failed_gates(dir, &summary, how)?);
    }
    let Some(first) = manifests.first() else {
        return Err(Error::usage("no run given").hint("cargo evaltest accept RUN_DIR"));
    };
    refuse_twice(&manifests)?;
    let eval = first.eval.clone();
    let drafts = Drafts::new(dirs[0].path())?;
    let mut baseline = if how.add {
        NewBaseline::of_accepted(folder, drafts)?
    } else {
        NewBaseline::new(first.scorer_hash.clone(), key_of(first), drafts)
    };
    for (dir, manifest) in dirs.iter().zip(&manifests) {
        if manifest.eval != eval {
            return Err(Error::usage(format!(
                "run `{}` is of eval `{}`, not of `{eval}`",
                dir.path().display(),
                manifest.eval
            ))
            .hint("accept the runs of each eval separately"));
        }
        baseline.add(dir, manifest, folder, how.partial)?;
    }
    if baseline.is_empty() {
        let display = dirs[0].path().display();
        return Err(
            Error::usage(format!("run `{display}` has no answer to accept"))
                .hint(format!("cargo evaltest show {display}")),
        );
    }
    let (accepted, answers) = baseline.write(eval, folder.to_owned())?;
    notices.extend(accepted.notices.iter().cloned());
    notices.extend(remember(dirs, &manifests, &accepted, &answers));
    Ok(Accepted {
        notices,
        ..accepted
    })
}

/// Adds the acceptance to the history of the eval; returns notices. Failures do not affect the baseline.
fn remember(
    dirs: &[RunDir],
    manifests: &[Manifest],
    accepted: &Accepted,
    answers: &AcceptedAnswers,
) -> Vec<String> {
    let Some((dir, manifest)) = dirs.last().zip(manifests.last()) else {
        return Vec::new();
    };
    let history = HistoryFile::of(&accepted.folder, &accepted.eval);
    let now = clock::timestamp();
    let line = accept_line(dir, manifest, &accepted.runs, answers, now);
    let added = line.and_then(|line| {
        let before = history.read()?;
        history.append(&line)?;
        Ok(before)
    });
    match added {
        Ok(before) => before
            .notices()
            .into_iter()
            .chain(before.ahead_of(now))
            .collect(),
        Err(error) => vec![format!(
            "the baseline is accepted, but not added to the history: {}",
            error.message()
        )],
    }
}

/// Refuses a run that failed a gate which needs no baseline, unless it is to be accepted; a notice names failed gates.
fn failed_gates(dir: &RunDir, summary: &Summary, how: &Acceptance) -> Result<Option<String>> {
    let failed = summary.gates.iter();
    let failed: Vec<_> = failed
        .filter(|it| it.verdict == Verdict::Failed)
        .map(|it| &it.gate)
        .collect();
    // A run that lacks answers is refused without `partial`.
    let is_refused =
        |gate: &Gate| gate.is_of_quality() && !(how.partial && gate.metric().is(ERROR_RATE));
    let named = |gates: &[&Gate]| {
        let gates: Vec<_> = gates.iter().map(|gate| format!("`{gate}`")).collect();
        gates.join(", ")
    };
    let refused: Vec<_> = failed.iter().copied().filter(|it| is_refused(it)).collect();
    let display = dir.path().display();
    if !how.failed_gates && !refused.is_empty() {
        let what = match refused.len() {
            1 => "a gate that needs",
            _ => "gates that need",
        };
        return Err(Error::usage(format!(
            "run `{display}` failed {what} no baseline: {}",
            named(&refused)
        ))
        .hint("fix the agent and run the eval again, or accept this run with `--failed-gates`"));
    }
    let notice = format!("run `{display}` failed {} and is accepted", named(&failed));
    Ok((!failed.is_empty()).then_some(notice))
}

/// Refuses a run that replayed calls of models: its answers are those of another day.
fn refuse_recorded(dir: &RunDir, manifest: &Manifest, summary: &Summary) -> Result<()> {
    if summary.recorded == 0 {
        return Ok(());
    }
    let message = format!(
        "run `{}` cannot become a baseline: {} of its {} answers used recorded model calls",
        dir.path().display(),
        summary.recorded,
        summary.samples
    );
    let spec = manifest.spec.as_ref();
    let spec = spec.map_or_else(String::new, |spec| {
        format!(" {}", shell_word(&display(spec)))
    });
    Err(Error::usage(message).hint(format!(
        "call the models: cargo evaltest run{spec} --record, then cargo evaltest accept"
    )))
}

/// Refuses a run without a single verdict: nothing could ever be compared with it.
fn refuse_unscored(dir: &RunDir, summary: &Summary) -> Result<()> {
    if summary.scored > 0 || summary.unscored == 0 {
        return Ok(());
    }
    let message = format!(
        "run `{}` has no verdict to compare with: its samples are unscored",
        dir.path().display()
    );
    Err(Error::usage(message).hint("look for the ground truths: cargo evaltest list --stats"))
}

/// Refuses a run that its manifest shows to be unfit as a baseline.
fn refuse_unfit(dir: &RunDir, manifest: &Manifest, partial: bool) -> Result<()> {
    manifest.refuse_part(dir, "a baseline needs whole runs")?;
    let display = dir.path().display();
    if manifest.masked && manifest.mask_id.is_none() {
        return Err(Error::usage(format!(
            "run `{display}` was made by an older evaltest, and its masked snapshots would not hide its answers"
        ))
        .hint("run the eval again: cargo evaltest run --ignore-baseline, then cargo evaltest accept"));
    }
    if let Some(early) = &manifest.early_stop
        && early.analysis < early.analyses
    {
        return Err(Error::usage(format!(
            "run `{display}` cannot become a baseline: its gates were decided before all samples were asked"
        ))
        .hint(format!(
            "ask all samples by ignoring the baseline: {} --ignore-baseline, then cargo evaltest accept",
            manifest.run_again()
        )));
    }
    if let Some(tier) = &manifest.tier
        && manifest.progressive.as_ref().is_some_and(|run| run.ended)
    {
        return Err(Error::usage(format!(
            "run `{display}` cannot become a baseline: it ended at tier `{tier}`, before all samples were asked"
        ))
        .hint(format!("ask all of them: {}", manifest.run_again())));
    }
    if manifest.status == RunStatus::Running && dir.is_going_on() {
        return Err(going_on(&display.to_string()));
    }
    if manifest.status != RunStatus::Finished {
        let reason = manifest.stop_reason.as_deref().unwrap_or("it was killed");
        let answered = Summary::read(&dir.file(SUMMARY));
        let answered = answered.map_or(true, |summary| summary.has_answers());
        let hint = if answered && !reason.contains(FIX_HINT) {
            format!("cargo evaltest run --resume {display}")
        } else {
            // Fixing the agent makes it a different agent.
            format!(
                "fix the cause, then run the eval again: {}",
                manifest.run_again()
            )
        };
        return Err(Error::usage(format!("run `{display}` did not finish: {reason}")).hint(hint));
    }
    if manifest.mixed {
        let why = manifest.why_mixed();
        return Err(
            Error::usage(format!("run `{display}` cannot become a baseline: {why}"))
                .hint("ask the current agent everything: cargo evaltest run"),
        );
    }
    if partial {
        return Ok(());
    }
    if !manifest.whole {
        return Err(Error::usage(format!(
            "run `{display}` asked only a part of eval `{}`; a baseline needs a whole run",
            manifest.eval
        ))
        .hint("run `cargo evaltest run` without `--limit`, `--filter` or `--failed`, or accept with `--partial`"));
    }
    if let (Some(tier), Some(largest)) = (&manifest.tier, &manifest.below_tier) {
        return Err(Error::usage(format!(
            "run `{display}` is of tier `{tier}`, and a baseline needs the largest tier, `{largest}`: it would lack the \
             other samples"
        ))
        .hint(format!(
            "{} --tier {largest}, then cargo evaltest accept; or accept the tier with `--partial`",
            manifest.run_again()
        )));
    }
    Ok(())
}

/// Refuses a run that lacks more answers than its `error_rate` allows.
fn refuse_errors(dir: &RunDir, manifest: &Manifest, summary: &Summary) -> Result<()> {
    let display = dir.path().display();
    let gates = summary.gates.iter();
    let mut own = gates.filter(|gate| gate.gate.metric().is(ERROR_RATE));
    let rate = summary.error_rate.unwrap_or_default();
    let broken = match own.clone().find(|gate| gate.verdict == Verdict::Failed) {
        Some(failed) => Some(failed.gate.to_string()),
        // A gate on a slice says nothing about the whole.
        None if own.any(|gate| gate.gate.name() == "error_rate") => None,
        None => (rate > DEFAULT_ERROR_RATE).then(|| format!("error_rate <= {DEFAULT_ERROR_RATE}")),
    };
    let Some(broken) = broken else {
        return Ok(());
    };
    // A rescored run asked no questions itself.
    let resumable = manifest.parent.as_deref().unwrap_or(dir.path()).display();
    Err(Error::usage(format!(
        "run `{display}` has too many errors to be a baseline: {} of {} {}, and `{broken}` allows fewer",
        summary.errors,
        summary.samples - summary.skipped,
        match summary.epochs {
            Some(_) => "answers",
            None => "samples",
        },
    ))
    .hint(if summary.has_answers() {
        format!("ask failed samples again: cargo evaltest run --resume {resumable}; or accept the other answers with `--partial`")
    } else {
        format!("fix the cause, then run the eval again: {}", manifest.run_again())
    }))
}

/// Refuses a run that is given twice.
fn refuse_twice(manifests: &[Manifest]) -> Result<()> {
    let mut seen = HashSet::new();
    let mut runs = manifests.iter();
    match runs.find(|run| !seen.insert((&run.run_id, &run.started_at))) {
        None => Ok(()),
        Some(run) => Err(Error::usage(format!(
            "run `{}` would count twice: it is given twice",
            run.run_id
        ))
        .hint("pass each run once; for another run: cargo evaltest run")),
    }
}

/// Size of the write buffer in bytes.
const WRITTEN: usize = 1 << 17;

/// Size of the read buffer in bytes; small, as runs may have their samples in different orders.
const READ: usize = 1 << 14;

/// A snapshot of a baseline under construction.
#[derive(Serialize, Deserialize)]
struct Draft {
    content: Content,
    /// Its header, if one of the added runs has it.
    header: Option<SnapshotHeader>,
}

/// The snapshots of a baseline under construction.
struct Drafts {
    places: HashMap<Box<str>, u64>,
    /// An unnamed temporary file, removed on drop.
    file: BufWriter<File>,
    length: u64,
    /// Bytes that are flushed and can be read.
    written: u64,
    reader: PlacedLines,
}

impl Drafts {
    /// No drafts yet; the file is created in this folder, or in the temporary folder if it is not writable.
    fn new(folder: &Path) -> Result<Self> {
        let begin = || {
            let file = tempfile::NamedTempFile::new_in(folder);
            let file = file.or_else(|_| tempfile::NamedTempFile::new())?;
            let reader = PlacedLines::new(file.reopen()?, READ);
            Ok((file.into_file(), reader))
        };
        let (file, reader) = begin().map_err(|error| failed(&error))?;
        Ok(Self {
            places: HashMap::new(),
            file: BufWriter::with_capacity(WRITTEN, file),
            length: 0,
            written: 0,
            reader,
        })
    }

    fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn has(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Stores the draft of a sample, replacing any earlier one.
    fn put(&mut self, id: &str, draft: &Draft) -> Result<()> {
        let written = serde_json::to_vec(draft).map_err(std::io::Error::from);
        let written = written.and_then(|mut line| {
            line.push(b'\n');
            self.file.write_all(&line)?;
            Ok(line.len() as u64)
        });
        let written = written.map_err(|error| failed(&error))?;
        self.places.insert(id.into(), self.length);
        self.length += written;
        Ok(())
    }

    /// The draft of a sample.
    fn get(&mut self, id: &str) -> Result<Option<Draft>> {
        let Some(place) = self.places.get(id).copied() else {
            return Ok(None);
        };
        self.read(place).map(Some)
    }

    /// The samples, in the order in which their drafts can be [read](Self::read).
    fn take_places(&mut self) -> Vec<(Box<str>, u64)> {
        let mut places: Vec<_> = std::mem::take(&mut self.places).into_iter().collect();
        places.sort_unstable_by_key(|(_, place)| *place);
        places
    }

    /// The draft at an offset.
    fn read(&mut self, place: u64) -> Result<Draft> {
        let mut read = || {
            if place >= self.written {
                self.file.flush()?;
                self.written = self.length;
            }
            Ok(serde_json::from_slice(&self.reader.line(place)?)?)
        };
        read().map_err(|error| failed(&error))
    }
}

fn failed(error: &std::io::Error) -> Error {
    Error::infrastructure(format!("cannot write the baseline: {error}"))
        .hint("free some space and accept again; files already written stay")
}
