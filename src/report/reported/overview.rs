//! `RunOverview`: a one-line overview of a run, from its manifest and its summary.
//!
//! Neither is checked against the records, so that listing a thousand runs only reads a thousand small files; open the
//! run itself for verified figures.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::subject_of;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::store::files::SUMMARY;
use crate::store::{Manifest, RunDir, RunPart, RunStatus};
use crate::system::file::read_plain;
use crate::system::project::display;
use crate::text::shell_word;
use crate::verdict::result::{Verdict, lacks_baseline};
use crate::verdict::summary::Subject;

/// A one-line overview of a run. Unknown members are `null`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunOverview {
    /// Its directory, absolute.
    pub run_dir: PathBuf,
    /// Its id.
    pub run_id: String,
    /// The eval's name.
    pub eval: String,
    /// The benchmark's name.
    pub benchmark: String,
    /// The agent in the spec, such as `openai`.
    pub agent: Option<String>,
    /// The model requested by the spec.
    pub model: Option<String>,
    /// The file name of the agent's program or recording, such as `agent.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Its state: `finished`, `interrupted`, `stopped`, `running` (in progress) or `killed`.
    pub status: OverviewStatus,
    /// The tier, if the run was one.
    pub tier: Option<String>,
    /// Its shard, if the run is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<RunPart>,
    /// Whether the run covers less than its eval.
    pub partial: bool,
    /// Start, RFC 3339.
    pub started_at: String,
    /// End, RFC 3339.
    pub ended_at: Option<String>,
    /// Wall time in seconds.
    pub duration_s: Option<f64>,
    /// Number of records: samples times epochs.
    pub samples: Option<u64>,
    /// Records scored by the first scorer.
    pub scored: Option<u64>,
    /// Correct records.
    pub correct: Option<u64>,
    /// correct / scored, 0 to 1.
    pub accuracy: Option<f64>,
    /// Range of the accuracy over all possible missing verdicts.
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % confidence interval.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Samples that should have a verdict but have none.
    pub errors: Option<u64>,
    /// Cost of the agent's answers in USD.
    pub cost_usd: Option<f64>,
    /// Numbers of gates by result.
    pub gates: Option<GateCounts>,
    /// Exit status of the run.
    pub exit_code: Option<Exit>,
    /// The change of accuracy since the baseline.
    #[serde(skip)]
    pub change: Option<OverviewChange>,
    /// The commit that it ran at.
    #[serde(skip)]
    pub commit: Option<String>,
    /// What its verdicts are about.
    #[serde(skip)]
    pub(in crate::report) subject: Subject,
}

/// The change of a run since its baseline.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct OverviewChange {
    /// The ids of the accepted runs.
    pub runs: Vec<String>,
    /// The rise of accuracy.
    pub difference: f64,
    /// Its 95 % confidence interval.
    pub difference_ci95: [f64; 2],
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OverviewStatus {
    /// Every sample finished.
    Finished,
    /// A signal ended it early.
    Interrupted,
    /// It stopped early for another reason.
    Stopped,
    /// In progress.
    Running,
    /// It was killed: `run --resume` continues it.
    Killed,
}

/// Numbers of gates by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GateCounts {
    /// Passed gates.
    pub passed: usize,
    /// Failed gates.
    pub failed: usize,
    /// Gates without a definite result.
    pub inconclusive: usize,
    /// Gates that do not apply to this run.
    pub ignored: usize,
    /// Those among the passed that were not checked, as there is no baseline yet.
    #[serde(skip)]
    pub unchecked: usize,
}

/// The parts read of `summary.json`; slices and figures of scorers, which are most of it, are skipped.
#[derive(Deserialize)]
struct SummaryOverview {
    #[serde(default)]
    partial: bool,
    samples: u64,
    scored: u64,
    correct: u64,
    errors: u64,
    accuracy: Option<f64>,
    accuracy_bounds: Option<[f64; 2]>,
    accuracy_ci95: Option<[f64; 2]>,
    usage: OverviewCost,
    gates: Vec<OverviewGate>,
    exit_code: Exit,
    #[serde(default)]
    change: Option<OverviewChange>,
}

#[derive(Deserialize)]
struct OverviewCost {
    cost_usd: Option<f64>,
}

#[derive(Deserialize)]
struct OverviewGate {
    verdict: Verdict,
    #[serde(default)]
    message: String,
}

impl RunOverview {
    /// Reads the overview of a run.
    ///
    /// # Errors
    /// If the manifest cannot be read, or the summary of a finished run is missing or damaged.
    pub fn of(dir: &RunDir) -> Result<Self> {
        let manifest = dir.manifest()?;
        let status = status(dir, &manifest);
        let is_over = !matches!(status, OverviewStatus::Running | OverviewStatus::Killed);
        let summary = is_over.then(|| summary(dir)).transpose()?;
        let summary = summary.as_ref();
        let agent = manifest.config.get("agent");
        let of_agent = |key: &str| text(agent?.get(key)?);
        Ok(Self {
            agent: of_agent("type").or_else(|| text(agent?)),
            model: of_agent("model"),
            program: super::program(&manifest),
            partial: summary.map_or(!manifest.whole, |summary| summary.partial),
            samples: summary.map(|summary| summary.samples),
            scored: summary.map(|summary| summary.scored),
            correct: summary.map(|summary| summary.correct),
            accuracy: summary.and_then(|summary| summary.accuracy),
            accuracy_bounds: summary.and_then(|summary| summary.accuracy_bounds),
            accuracy_ci95: summary.and_then(|summary| summary.accuracy_ci95),
            errors: summary.map(|summary| summary.errors),
            cost_usd: summary.and_then(|summary| summary.usage.cost_usd),
            gates: summary.map(|summary| {
                let gates = summary.gates.iter();
                counted(gates.map(|gate| (gate.verdict, &*gate.message)))
            }),
            exit_code: summary.map(|summary| summary.exit_code),
            change: summary.and_then(|summary| summary.change.clone()),
            subject: subject_of(&manifest),
            commit: manifest.git_sha,
            run_dir: dir.path().to_owned(),
            run_id: manifest.run_id,
            tier: manifest.tier,
            part: manifest.part,
            eval: manifest.eval,
            benchmark: manifest.benchmark,
            status,
            started_at: manifest.started_at,
            ended_at: manifest.ended_at,
            duration_s: manifest.duration_s,
        })
    }
}

fn status(dir: &RunDir, manifest: &Manifest) -> OverviewStatus {
    match manifest.status {
        RunStatus::Finished => OverviewStatus::Finished,
        RunStatus::Interrupted => OverviewStatus::Interrupted,
        RunStatus::Stopped => OverviewStatus::Stopped,
        RunStatus::Running if dir.is_going_on() => OverviewStatus::Running,
        RunStatus::Running => OverviewStatus::Killed,
    }
}

fn summary(dir: &RunDir) -> Result<SummaryOverview> {
    let path = dir.file(SUMMARY);
    let unreadable = |error: &dyn std::fmt::Display| {
        let message = format!("cannot read `{}`: {error}", display(&path));
        let repair = format!("cargo evaltest repair {}", shell_word(&display(dir.path())));
        Error::usage(message).hint(repair)
    };
    let text = read_plain(&path).map_err(|error| unreadable(&error))?;
    serde_json::from_slice(&text).map_err(|error| unreadable(&error))
}

/// Counts gates by result, given as verdicts and messages.
pub(in crate::report) fn counted<'a>(
    results: impl IntoIterator<Item = (Verdict, &'a str)>,
) -> GateCounts {
    let mut counts = GateCounts::default();
    for (verdict, message) in results {
        counts.unchecked += usize::from(lacks_baseline(verdict, message));
        *match verdict {
            Verdict::Passed => &mut counts.passed,
            Verdict::Failed => &mut counts.failed,
            Verdict::Inconclusive => &mut counts.inconclusive,
            Verdict::Ignored => &mut counts.ignored,
        } += 1;
    }
    counts
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
