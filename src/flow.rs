//! Flows: generate items, or take a file of them, judge them, compare them with real ones, and report the results.
//!
//! Each stage is an eval with its own run directory in the flow's folder. Results are collected as plain data
//! ([`figures`]); conclusions are sentences of `sentences.yaml`, chosen by gates and intervals ([`findings`]); reports
//! consist of blocks rendered as Markdown and HTML ([`report`]).

mod driver;
pub(crate) mod figures;
mod findings;
mod plan;
mod report;
mod spec;
mod stage_run;
mod stages;
mod state;

pub use driver::{Flow, FlowEnd, FlowHost, FlowNews};
pub use plan::FlowPlan;
#[cfg(feature = "schema")]
pub use spec::flow_schema;
pub use spec::{FlowFlags, READY_FLOW};
pub use state::{FlowState, StageState, StageStatus};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::data::reviews::{POINTS, ReviewStatus, ReviewedFigures, Verifications};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::figure::{Interval, Share};
use crate::generate::{GeneratedFiles, GenerationStatistics, generate, write_generated};
use crate::report::event::Observer;
use crate::run::drive::{Drive, Prepared};
use crate::store::RunDir;
use crate::system::cancel::Cancel;
use crate::system::file::read_plain;
use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
use crate::verdict::result::Verdict;
use crate::verdict::summary::Summary;
use figures::{
    CountedShare, DimensionPoints, FlowGate, FlowStage, GeneratedItems, ItemCheckCount, PointMean,
    ReviewedItems, TopicCount,
};
use stage_run::StageRun;

/// The result of the generating stage.
#[derive(Debug)]
struct GeneratedStage {
    /// The run directory.
    dir: RunDir,
    /// The item file.
    items: Option<PathBuf>,
    report: Option<PathBuf>,
    /// The figures of the stage.
    figures: GeneratedItems,
    /// Why it stopped early, if it did.
    stopped: Option<String>,
    /// How the stage ended.
    exit: Exit,
}

impl GeneratedStage {
    /// Whether later stages have items; else why there are none.
    fn for_stages(&self) -> std::result::Result<(), String> {
        match (&self.stopped, &self.items) {
            (Some(why), _) => {
                let line = why.lines().next().unwrap_or_default();
                Err(format!("generating stopped early: {line}"))
            }
            (None, Some(_)) if self.figures.accepted > 0 => Ok(()),
            _ => Err(self.figures.failure.clone().unwrap_or_default()),
        }
    }

    /// The names of the written files.
    fn file_names(&self) -> Vec<String> {
        let paths = [&self.items, &self.report].into_iter().flatten();
        let names = paths.filter_map(|path| path.file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }
}

/// Runs the stage.
fn run(
    drive: &Drive,
    prepared: Prepared,
    cancel: &Cancel,
    observer: Arc<Observer<'static>>,
) -> Result<GeneratedStage> {
    let made = generate(drive, prepared, cancel, observer)?;
    let dir = RunDir::open(&made.run.dir)?;
    of_files(dir, made.files)
}

/// The result of a finished run; writes its files again, unchanged.
fn made(dir: &RunDir) -> Result<GeneratedStage> {
    of_files(dir.clone(), write_generated(dir)?)
}

fn of_files(dir: RunDir, files: GeneratedFiles) -> Result<GeneratedStage> {
    let run = stage_run::StageRun::read(&dir)?;
    let mut figures = figures(&files.statistics);
    figures.failure = failure(&figures, &run.failures());
    let own = if figures.failure.is_some() {
        Exit::Infrastructure
    } else {
        Exit::Passed
    };
    Ok(GeneratedStage {
        stopped: files.statistics.stop_reason.clone(),
        items: Some(files.items),
        report: Some(files.report),
        exit: own.max(run.exit()),
        figures,
        dir,
    })
}

/// Why there is no item, if there is none.
fn failure(figures: &GeneratedItems, failures: &str) -> Option<String> {
    if figures.accepted > 0 {
        return None;
    }
    let mut message = "no item was accepted".to_owned();
    if figures.refused > 0 {
        message = format!("{message}: each reply was refused");
    }
    if figures.errors > 0 {
        let (errors, requested) = (figures.errors, figures.requested);
        message = format!("{message}; {errors} of {requested} without a reply ({failures})");
    }
    Some(message)
}

fn figures(of: &GenerationStatistics) -> GeneratedItems {
    let checks = of.checks.iter().map(|check| ItemCheckCount {
        name: check.name.clone(),
        passed: CountedShare::of(check.checked.saturating_sub(check.failed), check.checked),
    });
    let topics = of.topics.topics.iter().map(|topic| TopicCount {
        topic: topic.topic.clone(),
        requested: topic.requested,
        reached: CountedShare::of(topic.reached, of.items.accepted),
    });
    let solver = of.solver.as_ref();
    GeneratedItems {
        requested: of.items.requested,
        accepted: of.items.accepted,
        errors: of.items.errors,
        failure: None,
        refused: of.replies.refused,
        reasons: of.replies.reasons.clone(),
        checks: checks.collect(),
        topics: topics.collect(),
        topics_p: of.topics.p,
        solver: solver.map(|solver| CountedShare::of(solver.agrees, solver.solved)),
    }
}

/// The default gate.
const GATE: &str = "reviewed.approved >= 0.9";

/// The verifications of items, with the verdicts of their gates.
struct FlowReviews {
    items: ReviewedItems,
    gates: Vec<FlowGate>,
    exit: Exit,
}

/// The verifications of the items of a file; `None` if there are none.
///
/// # Errors
/// With the line that is not a verification, or is one of another version.
fn reviews(
    items: &Path,
    judge: Option<&StageRun>,
    gates: Option<&[&str]>,
) -> Result<Option<FlowReviews>> {
    let stem = items.file_stem().unwrap_or_default().to_string_lossy();
    let path = items.with_file_name(format!("{stem}_verifications.json"));
    let Some(found) = Verifications::read(&path)? else {
        return Ok(None);
    };
    let ids = ids(items)?;
    let judged = judge.map(StageRun::passes).transpose()?.unwrap_or_default();
    let judged: HashMap<String, bool> = judged.into_iter().collect();
    let figures = ReviewedFigures::read(&path, &ids, &|id| judged.get(id).copied())?;
    let Some(figures) = figures else {
        return Ok(None);
    };
    let entries = found.0.into_iter().map(|(_, entry)| entry);
    let entries = entries.filter(|entry| ids.contains(&entry.problem_id));
    let entries: Vec<_> = entries.collect();
    let n = entries.len() as u64;
    let of = |status: ReviewStatus| {
        let with = entries.iter().filter(|entry| entry.status == status);
        CountedShare::of(with.count() as u64, n)
    };
    let mut points = BTreeMap::<&String, Vec<f64>>::new();
    for (name, score) in entries.iter().flat_map(|entry| &entry.scores) {
        points.entry(name).or_default().push(f64::from(*score));
    }
    let scale = Some(POINTS.map(f64::from));
    let dimensions = points.into_iter().map(|(name, points)| DimensionPoints {
        name: name.clone(),
        points: PointMean::of(&points, scale),
    });
    let agreement = figures.agreement.as_ref().map(|agreement| {
        format!(
            "People and the judge agree on {} of {} items ({}): approved by people, passed by the judge.",
            Share(agreement.share),
            agreement.n,
            Interval(agreement.ci95.map(Share)).ci95()
        )
    });
    let items = ReviewedItems {
        reviewed: CountedShare::of(n, ids.len() as u64),
        approved: of(ReviewStatus::Approved),
        rejected: of(ReviewStatus::Rejected),
        needs_revision: of(ReviewStatus::NeedsRevision),
        dimensions: dimensions.collect(),
        agreement,
    };
    let mut summary = Summary::of("review", &[]);
    summary.reviewed = Some(figures);
    let facts = Facts::of(summary);
    let gates = gates.unwrap_or(&[GATE]).iter().map(|gate| {
        let checked = gate.parse::<Gate>()?.check(&facts);
        Ok(FlowGate {
            stage: FlowStage::Review,
            gate: checked.gate.to_string(),
            verdict: checked.verdict,
            value: checked.value,
            threshold: checked.threshold,
            message: checked.message,
            default: false,
        })
    });
    let gates = gates.collect::<Result<Vec<_>>>()?;
    let exit = Exit::worst(gates.iter().map(|gate| match gate.verdict {
        Verdict::Failed => Exit::Failed,
        Verdict::Inconclusive => Exit::Infrastructure,
        Verdict::Passed | Verdict::Ignored => Exit::Passed,
    }));
    Ok(Some(FlowReviews { items, gates, exit }))
}

/// The ids of the items of a file.
fn ids(items: &Path) -> Result<HashSet<String>> {
    let bytes = read_plain(items).map_err(|error| Error::io("read", items, &error))?;
    // One array, or lines of JSON.
    let mut values = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
    let all = values.try_fold(Vec::new(), |mut all, value| {
        match value? {
            Value::Array(items) => all.extend(items),
            item => all.push(item),
        }
        Ok::<_, serde_json::Error>(all)
    });
    let all = all.map_err(|error| {
        Error::usage(format!(
            "`{}` is not a file of items: {error}",
            items.display()
        ))
    })?;
    let ids = all.iter().filter_map(|item| item.get("id"));
    let id = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    Ok(ids.map(id).collect())
}
