//! `Eval` and its builder: a benchmark, an agent, scorers, limits and gates under one name.

pub(crate) mod alerts;
mod errors;
mod folders;
mod keep_scratch;
pub(crate) mod limits;
pub(crate) mod plan;
pub(crate) mod registry;
mod size;
pub(crate) mod spec;
pub(crate) mod tiers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::data::{Sample, Variant};
use crate::error::Result;
pub use crate::eval::errors::Errors;
pub(crate) use crate::eval::keep_scratch::KeepScratch;
pub use crate::eval::limits::Budget;
pub(crate) use crate::eval::limits::Limits;
use crate::eval::limits::purse::Purse;
use crate::eval::tiers::{Promotion, Tiers};
use crate::scorer::Scorer;
use crate::scorer::extract::{Extract, Extraction};
use crate::store::cache::{CacheUse, Settings};
use crate::text::setting::Override;
use crate::verdict::gate::Gate;

/// One evaluation: what is asked, who answers, who judges, and what must hold.
///
/// ```no_run
/// use std::time::Duration;
///
/// use evaltest::{Eval, Gaia, Gate, Output, Task};
///
/// fn main() -> evaltest::Result<evaltest::Conclusion> {
///     let agent = |task: &Task| Ok(Output::text(task.question().len().to_string()));
///     let gaia = Eval::new(Gaia::open("data/gaia")?.levels([1]), agent)
///         .gate(Gate::accuracy(0.60))
///         .concurrency(8)
///         .sample_timeout(Duration::from_secs(120))
///         .cached_in("answers");
///     evaltest::run([gaia])
/// }
/// ```
#[derive(Clone)]
pub struct Eval {
    pub(crate) name: String,
    /// Which of the agents and prompts of its spec it has, where that names several.
    pub(crate) variant: Variant,
    /// What all variants of the spec have used up, if it is one of several.
    pub(crate) purse: Option<Arc<Purse>>,
    pub(crate) benchmark: Arc<dyn Benchmark>,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) prompt: Prompt,
    pub(crate) extract: Option<Extract>,
    pub(crate) scorers: Vec<Arc<dyn Scorer>>,
    pub(crate) limits: Limits,
    pub(crate) errors: Errors,
    pub(crate) shuffle: Option<u64>,
    pub(crate) cluster: Option<String>,
    /// How often each sample is asked.
    pub(crate) epochs: u32,
    /// The sizes in which it can be run.
    pub(crate) tiers: Tiers,
    /// The one that runs, if it is one.
    pub(crate) asked_tier: Option<String>,
    /// Whether the run goes on tier by tier up to that one, and what it must meet for that.
    pub(crate) progressive: Option<Promotion>,
    pub(crate) snapshot: SnapshotConfig,
    /// Whether the snapshots' folder follows the eval's name.
    default_snapshots: bool,
    pub(crate) gates: Vec<Gate>,
    pub(crate) alerting: alerts::Alerting,
    pub(crate) output_root: Option<PathBuf>,
    pub(crate) redact: Vec<String>,
    /// Values that were passed to the agent and must not be written anywhere.
    pub(crate) secrets: Vec<String>,
    pub(crate) agent_options: Arc<Map<String, Value>>,
    pub(crate) keep_scratch: KeepScratch,
    pub(crate) cache: Settings,
    /// Where the eval was defined.
    pub(crate) spec: Option<PathBuf>,
    /// What the command line set otherwise than the spec.
    pub(crate) overrides: Vec<Override>,
    /// File, line and column of the first of `gates`, for errors; nothing for those that a spec does not hold.
    pub(crate) gate_places: Vec<Option<String>>,
    /// The same of `scorers`.
    pub(crate) scorer_places: Vec<Option<String>>,
    /// The same of what each of them `sees`.
    pub(crate) sees_places: Vec<Option<String>>,
    /// The spec as it was understood, for the manifest; builder evals describe themselves.
    pub(crate) config: Value,
    /// What people should know of how it came to be.
    pub(crate) notices: Vec<String>,
}

/// What makes a sample's test fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Assert {
    /// A sample fails if it turned wrong since the baseline and [`Flips`] say so; without one, gates or the verdict.
    #[default]
    Baseline,
    /// A sample fails if its answer or verdict differs from the snapshot at all.
    Exact,
    /// A sample fails if it is wrong.
    Correct,
    /// Only a failing agent fails a sample.
    Off,
}

impl Assert {
    /// Whether failed assertions decide the exit code of `cargo evaltest` too.
    pub(crate) fn decides(self) -> bool {
        matches!(self, Self::Exact | Self::Correct)
    }
}

/// What becomes of a sample under `cargo test` that was correct in the baseline and is wrong now: of more than half of
/// the baseline's answers, and of at most half of now's.
///
/// How often they are red for an agent that did not change, of whose samples 5, 15 or 30 % are right by the toss of a
/// coin, measured with one answer to each of 40 and of 165 samples:
///
/// | | 40 samples | 165 samples |
/// |---|---|---|
/// | `gate` | at most alpha and 1 point | at most alpha and 1 point |
/// | `confirm` (twice) | 12, 34, 58 % | 57, 80, 96 % |
/// | `fail` | 37, 77, 96 % | 89, 99, 100 % |
///
/// Whichever it is, `cargo evaltest` prints flips, and only gates decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flips {
    /// The `no_regression` gates decide whose slice holds the sample: it fails if one of them fails. On its own it
    /// fails if the agent says that it is deterministic, or if it was right in every answer of a baseline of five or
    /// more and is wrong now and `confirm` (10) times more. Where no such gate is asked, because the eval has none or
    /// only some samples are selected, it is as [`Confirm`](Self::Confirm).
    #[default]
    Gate,
    /// It fails if it is wrong `confirm` (2) times more.
    Confirm,
    /// It fails.
    Fail,
}

/// Whether snapshots show what was asked and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answers {
    /// As they are.
    Plain,
    /// Ids, verdicts, and digests keyed by all questions and answers of the dataset: no lone guess can be tried on them.
    Masked,
}

/// Snapshots of an eval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SnapshotConfig {
    /// What makes a sample's test fail.
    pub assert: Assert,
    /// Whether what was asked and answered is shown; the benchmark decides unless this is set.
    pub answers: Option<Answers>,
    /// What becomes of a sample that was correct and is wrong.
    pub flips: Flips,
    /// How often it is asked again under `cargo test` before it fails, if not as often as is usual.
    pub confirm: Option<u32>,
    /// Where they are.
    pub folder: PathBuf,
}

impl Eval {
    /// An eval of `benchmark` with `agent`, named after the benchmark.
    pub fn new(benchmark: impl Benchmark + 'static, agent: impl Agent + 'static) -> Self {
        Self::from_parts(Arc::new(benchmark), Arc::new(agent))
    }

    pub(crate) fn from_parts(benchmark: Arc<dyn Benchmark>, agent: Arc<dyn Agent>) -> Self {
        let name = benchmark.name().to_owned();
        Self {
            snapshot: SnapshotConfig {
                folder: crate::system::project::package_root()
                    .join("tests/snapshots")
                    .join(&name),
                ..SnapshotConfig::default()
            },
            name,
            variant: Variant::default(),
            purse: None,
            default_snapshots: true,
            benchmark,
            prompt: Prompt::Default,
            extract: None,
            scorers: Vec::new(),
            limits: Limits {
                retries: agent.default_retries(),
                ..Limits::default()
            },
            agent,
            errors: Errors::default(),
            shuffle: None,
            cluster: None,
            epochs: 1,
            tiers: Tiers::default(),
            asked_tier: None,
            progressive: None,
            gates: Vec::new(),
            alerting: alerts::Alerting::default(),
            output_root: None,
            redact: Vec::new(),
            secrets: Vec::new(),
            agent_options: Arc::default(),
            keep_scratch: KeepScratch::Never,
            cache: Settings::default(),
            spec: None,
            overrides: Vec::new(),
            gate_places: Vec::new(),
            scorer_places: Vec::new(),
            sees_places: Vec::new(),
            config: Value::Null,
            notices: Vec::new(),
        }
    }

    /// Gives the eval a name of its own, which is the first part of its tests' names.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        if self.default_snapshots {
            self.snapshot.folder.set_file_name(&self.name);
        }
        self
    }

    /// Chooses the prompt preset.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = prompt;
        self
    }

    /// Chooses how predictions are taken from answers.
    #[must_use]
    pub fn extract(mut self, extract: Extract) -> Self {
        self.extract = Some(extract);
        self
    }

    /// Adds a scorer; the first decides.
    #[must_use]
    pub fn scorer(mut self, scorer: impl Scorer + 'static) -> Self {
        self.scorers.push(Arc::new(scorer));
        self
    }

    /// Adds a gate.
    #[must_use]
    pub fn gate(mut self, gate: Gate) -> Self {
        self.gates.push(gate);
        self
    }

    /// How many samples are in flight at once.
    #[must_use]
    pub fn concurrency(mut self, samples: usize) -> Self {
        self.limits.concurrency = samples.max(1);
        self
    }

    /// How long one attempt may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = timeout;
        self
    }

    /// How long all attempts of a sample may take together, with the pauses between them; in each epoch anew.
    #[must_use]
    pub fn sample_timeout(mut self, timeout: Duration) -> Self {
        self.limits.sample_timeout = Some(timeout);
        self
    }

    /// How long the whole run may take.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.limits.deadline = Some(deadline);
        self
    }

    /// What the whole run may use up.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.limits.budget = budget;
        self
    }

    /// How many attempts may begin in a minute, evenly spread.
    #[must_use]
    pub fn requests_per_minute(mut self, requests: f64) -> Self {
        self.limits.requests_per_minute = Some(requests);
        self
    }

    /// How many tokens answers may take in a minute, read and written, as the agent tells.
    #[must_use]
    pub fn tokens_per_minute(mut self, tokens: f64) -> Self {
        self.limits.tokens_per_minute = Some(tokens);
        self
    }

    /// How often a failed attempt is repeated, and the pause before the first repetition.
    #[must_use]
    pub fn retries(mut self, retries: u32, backoff: Duration) -> Self {
        self.limits.retries = retries;
        self.limits.own_retries = Some(retries);
        self.limits.backoff = backoff;
        self
    }

    /// What a sample counts as whose agent gave no answer; by default an error of the surroundings. See [`Errors`] for
    /// what an agent cannot help.
    #[must_use]
    pub fn errors(mut self, errors: Errors) -> Self {
        self.errors = errors;
        self
    }

    /// Puts the samples into an order that depends on `seed` alone.
    #[must_use]
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.shuffle = Some(seed);
        self
    }

    /// Says that samples with the same value in a column (metadata, which may be nested, or a slice) go wrong together,
    /// as those on one passage. Intervals and `no_regression` count each group once, and a sample without a value.
    #[must_use]
    pub fn cluster(mut self, column: impl Into<String>) -> Self {
        self.cluster = Some(column.into());
        self
    }

    /// What makes a sample's test fail.
    #[must_use]
    pub fn assert(mut self, assert: Assert) -> Self {
        self.snapshot.assert = assert;
        self
    }

    /// Whether snapshots show what was asked and answered.
    #[must_use]
    pub fn answers(mut self, answers: Answers) -> Self {
        self.snapshot.answers = Some(answers);
        self
    }

    /// What becomes of a sample under `cargo test` that was correct in the baseline and is wrong now.
    #[must_use]
    pub fn flips(mut self, flips: Flips) -> Self {
        self.snapshot.flips = flips;
        self
    }

    /// How often a flipped sample is asked again under `cargo test` before it fails; default 2, and 10 where otherwise
    /// the gates would decide (see [`Flips`]).
    #[must_use]
    pub fn confirm(mut self, times: u32) -> Self {
        self.snapshot.confirm = Some(times);
        self
    }

    /// Where the snapshots are; default `tests/snapshots/<eval>`.
    #[must_use]
    pub fn snapshots(mut self, folder: impl Into<PathBuf>) -> Self {
        self.snapshot.folder = folder.into();
        self.default_snapshots = false;
        self
    }

    /// The folder of run directories; default `evaltest-runs` in the project's root.
    #[must_use]
    pub fn output_root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.output_root = Some(folder.into());
        self
    }

    /// What is done with answers that were given before; by default nothing.
    #[must_use]
    pub fn cache(mut self, usage: CacheUse) -> Self {
        self.cache.usage = usage;
        self
    }

    /// The folder of answers; default `.cache` in that of runs.
    #[must_use]
    pub fn cached_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache.folder = Some(folder.into());
        self
    }

    /// Blanks what matches this regular expression in everything that is written.
    #[must_use]
    pub fn redact(mut self, pattern: impl Into<String>) -> Self {
        self.redact.push(pattern.into());
        self
    }

    /// The samples of its benchmark, all of them, whatever the limits are.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn samples(&self) -> Result<Vec<Sample>> {
        let samples = self.benchmark.samples();
        samples.map_err(|error| error.at(format_args!("eval `{}`", self.name)))
    }

    /// The eval's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The benchmark's name.
    pub fn benchmark_name(&self) -> &str {
        self.benchmark.name()
    }

    /// The spec the eval was read from.
    pub fn spec_path(&self) -> Option<&Path> {
        self.spec.as_deref()
    }

    pub(crate) fn extraction(&self) -> Extraction {
        let given = self.extract.clone();
        Extraction {
            is_given: given.is_some(),
            extract: given.unwrap_or_else(|| self.benchmark.extract()),
        }
    }

    /// The eval for a manifest: its spec, or what a builder eval can tell of itself.
    pub(crate) fn describe(&self) -> Value {
        if !self.config.is_null() {
            return self.config.clone();
        }
        let gates: Vec<_> = self.gates.iter().map(ToString::to_string).collect();
        let mut benchmark = serde_json::json!({ "type": self.benchmark.name() });
        if let Some(column) = &self.cluster {
            benchmark["cluster"] = column.as_str().into();
        }
        serde_json::json!({
            "name": self.name,
            "benchmark": benchmark,
            "epochs": self.epochs,
            "limits": self.limits.describe(),
            "errors": self.errors.as_str(),
            "gates": gates,
            "tiers": self.tiers.describe(),
        })
    }

    /// Whether the eval says itself what must hold: then a wrong answer alone fails nothing.
    pub(crate) fn has_own_gates(&self) -> bool {
        !self.gates.is_empty()
    }

    /// Whether snapshots hide what was asked and answered. GAIA asks not to republish its answers.
    pub(crate) fn masks_answers(&self) -> bool {
        match self.snapshot.answers {
            Some(answers) => answers == Answers::Masked,
            None => self.benchmark.is_gated(),
        }
    }
}

impl std::fmt::Debug for Eval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Eval")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
