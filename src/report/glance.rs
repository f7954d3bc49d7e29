//! `RunGlance`: a run in one line, from its manifest and its summary.
//!
//! Neither is checked against the records: a list of a thousand runs reads a thousand small files, and whoever needs to
//! believe a figure asks for the run itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::store::files::SUMMARY;
use crate::store::{Manifest, RunDir, RunPart, RunStatus};
use crate::system::file::read_plain;
use crate::system::project::shown;
use crate::text::shell_word;
use crate::verdict::result::Verdict;

/// A run in one line. A member is `null` where the run does not say.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunGlance {
    /// Its directory, absolute.
    pub run_dir: PathBuf,
    /// Its id.
    pub run_id: String,
    /// The eval's name.
    pub eval: String,
    /// The benchmark's name.
    pub benchmark: String,
    /// The agent as the spec names it, such as `openai`.
    pub agent: Option<String>,
    /// The model that the spec asks for.
    pub model: Option<String>,
    /// How it stands: `finished`, `interrupted`, `stopped`, `running` (somebody is at it) or `killed`.
    pub status: GlanceStatus,
    /// The tier that ran, if it was one.
    pub tier: Option<String>,
    /// What it is a part of, if others complete it: a shard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<RunPart>,
    /// Whether less was asked than the eval as it is defined.
    pub partial: bool,
    /// Start, RFC 3339.
    pub started_at: String,
    /// End, RFC 3339.
    pub ended_at: Option<String>,
    /// Wall time in seconds.
    pub duration_s: Option<f64>,
    /// Records: samples, times epochs.
    pub samples: Option<u64>,
    /// Of those, the ones that the first scorer judged.
    pub scored: Option<u64>,
    /// Of those, the correct ones.
    pub correct: Option<u64>,
    /// correct / scored, 0 to 1.
    pub accuracy: Option<f64>,
    /// What it could be had every sample a verdict.
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % confidence interval.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Samples without the verdict that they should have.
    pub errors: Option<u64>,
    /// What the agent's answers cost, in USD.
    pub cost_usd: Option<f64>,
    /// How many gates came out how.
    pub gates: Option<GateCounts>,
    /// How the run ended.
    pub exit_code: Option<Exit>,
}

/// How a run stands, seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GlanceStatus {
    /// Every sample ended.
    Finished,
    /// A signal ended it early.
    Interrupted,
    /// It stopped early for another reason.
    Stopped,
    /// Somebody is at it.
    Running,
    /// It was killed: `run --resume` goes on with it.
    Killed,
}

/// How many gates came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GateCounts {
    /// Gates that hold.
    pub passed: usize,
    /// Gates that do not.
    pub failed: usize,
    /// Gates that the run cannot decide.
    pub inconclusive: usize,
    /// Gates that do not apply to this run.
    pub ignored: usize,
}

/// What is read of `summary.json`: slices and figures of scorers are most of it, and are passed over.
#[derive(Deserialize)]
struct SummaryGlance {
    #[serde(default)]
    partial: bool,
    samples: u64,
    scored: u64,
    correct: u64,
    errors: u64,
    accuracy: Option<f64>,
    accuracy_bounds: Option<[f64; 2]>,
    accuracy_ci95: Option<[f64; 2]>,
    usage: GlanceCost,
    gates: Vec<GlanceGate>,
    exit_code: Exit,
}

#[derive(Deserialize)]
struct GlanceCost {
    cost_usd: Option<f64>,
}

#[derive(Deserialize)]
struct GlanceGate {
    verdict: Verdict,
}

impl RunGlance {
    /// Looks at a run.
    ///
    /// # Errors
    /// A manifest that cannot be read, or a summary that a run which is over does not have, or has damaged.
    pub fn of(dir: &RunDir) -> Result<Self> {
        let manifest = dir.manifest()?;
        let status = status(dir, &manifest);
        let is_over = !matches!(status, GlanceStatus::Running | GlanceStatus::Killed);
        let summary = is_over.then(|| summary(dir)).transpose()?;
        let summary = summary.as_ref();
        let agent = manifest.config.get("agent");
        let of_agent = |key: &str| text(agent?.get(key)?);
        Ok(Self {
            agent: of_agent("type").or_else(|| text(agent?)),
            model: of_agent("model"),
            partial: summary.map_or(!manifest.whole, |summary| summary.partial),
            samples: summary.map(|summary| summary.samples),
            scored: summary.map(|summary| summary.scored),
            correct: summary.map(|summary| summary.correct),
            accuracy: summary.and_then(|summary| summary.accuracy),
            accuracy_bounds: summary.and_then(|summary| summary.accuracy_bounds),
            accuracy_ci95: summary.and_then(|summary| summary.accuracy_ci95),
            errors: summary.map(|summary| summary.errors),
            cost_usd: summary.and_then(|summary| summary.usage.cost_usd),
            gates: summary.map(|summary| counted(summary.gates.iter().map(|gate| gate.verdict))),
            exit_code: summary.map(|summary| summary.exit_code),
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

fn status(dir: &RunDir, manifest: &Manifest) -> GlanceStatus {
    match manifest.status {
        RunStatus::Finished => GlanceStatus::Finished,
        RunStatus::Interrupted => GlanceStatus::Interrupted,
        RunStatus::Stopped => GlanceStatus::Stopped,
        RunStatus::Running if dir.is_going_on() => GlanceStatus::Running,
        RunStatus::Running => GlanceStatus::Killed,
    }
}

fn summary(dir: &RunDir) -> Result<SummaryGlance> {
    let path = dir.file(SUMMARY);
    let told = |error: &dyn std::fmt::Display| {
        let message = format!("cannot read `{}`: {error}", shown(&path));
        let repair = format!("cargo evaltest repair {}", shell_word(&shown(dir.path())));
        Error::usage(message).hint(repair)
    };
    let text = read_plain(&path).map_err(|error| told(&error))?;
    serde_json::from_slice(&text).map_err(|error| told(&error))
}

/// How many gates came out how.
pub(super) fn counted(verdicts: impl IntoIterator<Item = Verdict>) -> GateCounts {
    let mut counts = GateCounts::default();
    for verdict in verdicts {
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
