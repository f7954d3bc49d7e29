//! `Eval` and its builder: a benchmark, an agent, scorers, limits and gates.

pub(crate) mod alerts;
mod folders;
pub(crate) mod limits;
pub(crate) mod perturb;
pub(crate) mod plan;
pub(crate) mod registry;
pub(crate) mod spec;
pub(crate) mod tiers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::agent::{Agent, Conversation, RecordedCalls};
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::data::record::perturb::Perturb;
use crate::data::{AgentError, FailureKind, Sample, Variant};
use crate::error::Result;
use crate::eval::limits::SharedBudget;
use crate::eval::tiers::{Promotion, Tiers};
use crate::scorer::Scorer;
use crate::scorer::extract::{Extract, Extraction};
use crate::store::cache::{CacheUse, Settings};
use crate::system::process::group::is_from_outside;
use crate::text::hash::Hasher;
use crate::text::setting::Override;
use crate::verdict::gate::Gate;

pub use crate::eval::limits::Budget;
pub(crate) use crate::eval::limits::Limits;

/// One evaluation: a benchmark, an agent, scorers and gates.
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
    /// The agent and prompt, if the spec has several.
    pub(crate) variant: Variant,
    /// The budget shared by all variants of the spec, if there are several.
    pub(crate) shared_budget: Option<Arc<SharedBudget>>,
    pub(crate) benchmark: Arc<dyn Benchmark>,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) prompt: Prompt,
    pub(crate) extract: Option<Extract>,
    pub(crate) scorers: Vec<Arc<dyn Scorer>>,
    pub(crate) limits: Limits,
    pub(crate) errors: Errors,
    pub(crate) shuffle: Option<u64>,
    pub(crate) cluster: Option<String>,
    /// Number of epochs.
    pub(crate) epochs: u32,
    pub(crate) perturb: Option<Perturb>,
    /// The tiers of the spec.
    pub(crate) tiers: Tiers,
    /// The selected tier, if any.
    pub(crate) requested_tier: Option<String>,
    /// Whether to run tier by tier up to the selected one, with the condition for continuing.
    pub(crate) progressive: Option<Promotion>,
    pub(crate) snapshot: SnapshotConfig,
    /// Whether the snapshot folder follows the eval's name.
    default_snapshots: bool,
    pub(crate) gates: Vec<Gate>,
    /// Whether it asks for no gates, so that nothing has to decide a run.
    pub(crate) no_gates: bool,
    pub(crate) alerting: alerts::Alerting,
    pub(crate) output_root: Option<PathBuf>,
    pub(crate) redact: Vec<String>,
    /// Values passed to the agent that must not be written anywhere.
    pub(crate) secrets: Vec<String>,
    pub(crate) agent_options: Arc<Map<String, Value>>,
    pub(crate) keep_scratch: KeepScratch,
    pub(crate) cache: Settings,
    /// How calls of models are recorded, if they are.
    pub(crate) record: Option<RecordedCalls>,
    /// The spec that defines the eval.
    pub(crate) spec: Option<PathBuf>,
    /// Overrides of spec keys by the command line.
    pub(crate) overrides: Vec<Override>,
    /// File, line and column of each of `gates`, for errors; `None` for those not in a spec.
    pub(crate) gate_places: Vec<Option<String>>,
    /// The same for `scorers`.
    pub(crate) scorer_places: Vec<Option<String>>,
    /// The same for the `sees` of each scorer.
    pub(crate) sees_places: Vec<Option<String>>,
    /// The parsed spec for the manifest; builder evals describe themselves.
    pub(crate) config: Value,
    /// Notes for the user from building the eval.
    pub(crate) notices: Vec<String>,
}

/// What makes a sample's test fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Assert {
    /// A sample fails if it turned wrong since the baseline, subject to [`Flips`]; without a baseline, gates or the
    /// verdict decide.
    #[default]
    Baseline,
    /// A sample fails if its answer or verdict differs from the snapshot.
    Exact,
    /// A sample fails if it is wrong.
    Correct,
    /// A sample fails only if its agent failed.
    Off,
}

impl Assert {
    /// Whether failed assertions also affect the exit code of `cargo evaltest`.
    pub(crate) fn decides(self) -> bool {
        matches!(self, Self::Exact | Self::Correct)
    }
}

/// The result of a test under `cargo test` if its sample was correct in the baseline and is wrong now: correct in more
/// than half of the baseline's answers, and in at most half of the current ones.
///
/// False alarm rates for an unchanged agent of whose samples 5, 15 or 30 % have a random result with probability one
/// half, with one answer to each of 40 and of 165 samples:
///
/// | | 40 samples | 165 samples |
/// |---|---|---|
/// | `gate` | at most alpha and 1 point | at most alpha and 1 point |
/// | `confirm` (twice) | 12, 34, 58 % | 57, 80, 96 % |
/// | `fail` | 37, 77, 96 % | 89, 99, 100 % |
///
/// With any of them `cargo evaltest` prints flips, and only gates decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flips {
    /// The `no_regression` gates on a slice with the sample decide: the sample fails if one of them fails. It also
    /// fails on its own if the agent is deterministic, or if it was correct in every answer of a baseline of five or
    /// more and is wrong now and in `confirm` (10) further answers. Without such a gate, because the eval has none or
    /// only some samples are selected, it works like [`Confirm`](Self::Confirm).
    #[default]
    Gate,
    /// The sample fails if it is wrong in `confirm` (2) further answers.
    Confirm,
    /// The sample fails.
    Fail,
}

/// Whether snapshots contain questions and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answers {
    /// Plain text.
    Plain,
    /// Only ids, verdicts, and digests keyed by all questions and answers of the dataset, so that single guesses
    /// cannot be verified.
    Masked,
}

/// The snapshot settings of an eval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SnapshotConfig {
    /// What makes a sample's test fail.
    pub assert: Assert,
    /// Whether questions and answers are readable; by default the benchmark decides.
    pub answers: Option<Answers>,
    /// What happens to a sample that was correct and is wrong now.
    pub flips: Flips,
    /// Number of further answers under `cargo test` before it fails, if not the default.
    pub confirm: Option<u32>,
    /// Their folder.
    pub folder: PathBuf,
}

impl Eval {
    /// An eval of `benchmark` with `agent`, named after the benchmark.
    pub fn new(benchmark: impl Benchmark + 'static, agent: impl Agent + 'static) -> Self {
        Self::from_parts(Arc::new(benchmark), Arc::new(agent))
    }

    pub(crate) fn from_parts(benchmark: Arc<dyn Benchmark>, agent: Arc<dyn Agent>) -> Self {
        let name = benchmark.name().to_owned();
        let agent = if benchmark.has_conversations() && !agent.answers_conversations() {
            let conversation = Conversation::of(agent);
            Arc::new(match benchmark.tools() {
                Some(tools) => conversation.benchmark_tools(tools),
                None => conversation,
            })
        } else {
            agent
        };
        Self {
            snapshot: SnapshotConfig {
                folder: crate::system::project::package_root()
                    .join("tests/snapshots")
                    .join(&name),
                ..SnapshotConfig::default()
            },
            name,
            variant: Variant::default(),
            shared_budget: None,
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
            perturb: None,
            tiers: Tiers::default(),
            requested_tier: None,
            progressive: None,
            gates: Vec::new(),
            no_gates: false,
            alerting: alerts::Alerting::default(),
            output_root: None,
            redact: Vec::new(),
            secrets: Vec::new(),
            agent_options: Arc::default(),
            keep_scratch: KeepScratch::Never,
            cache: Settings::default(),
            record: None,
            spec: None,
            overrides: Vec::new(),
            gate_places: Vec::new(),
            scorer_places: Vec::new(),
            sees_places: Vec::new(),
            config: Value::Null,
            notices: Vec::new(),
        }
    }

    /// Sets the eval's name, which is the first part of its test names.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        if self.default_snapshots {
            self.snapshot.folder.set_file_name(&self.name);
        }
        self
    }

    /// Sets the prompt preset.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = prompt;
        self
    }

    /// Sets the extraction of predictions from answers.
    #[must_use]
    pub fn extract(mut self, extract: Extract) -> Self {
        self.extract = Some(extract);
        self
    }

    /// Adds a scorer; the first one is the deciding one.
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

    /// Asks for no gates, as `gates: []` in a spec: no run is compared with the baseline by default, and with `CI` set
    /// a run that decides nothing still passes. `error_rate <= 0.05` holds all the same.
    #[must_use]
    pub fn no_gates(mut self) -> Self {
        self.gates.clear();
        self.no_gates = true;
        self
    }

    /// Records the calls that the agent makes to models, and replays them; see [`RecordedCalls`]. A closure gets the
    /// address to call by [`Task::base_url`](crate::Task::base_url).
    #[must_use]
    pub fn record(mut self, calls: RecordedCalls) -> Self {
        self.record = Some(calls);
        self
    }

    /// Sets the number of samples in flight at once.
    #[must_use]
    pub fn concurrency(mut self, samples: usize) -> Self {
        self.limits.concurrency = samples.max(1);
        self
    }

    /// Sets the timeout of one attempt.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = timeout;
        self
    }

    /// Sets the time for a whole conversation; [`timeout`](Self::timeout) is then that for one turn of it.
    #[must_use]
    pub fn conversation_timeout(mut self, timeout: Duration) -> Self {
        self.limits.conversation_timeout = Some(timeout);
        self
    }

    /// Sets the timeout of all attempts of a sample including pauses, for each epoch.
    #[must_use]
    pub fn sample_timeout(mut self, timeout: Duration) -> Self {
        self.limits.sample_timeout = Some(timeout);
        self
    }

    /// Sets the time that a sample may wait for rate limits (429) in all; it ends when that is over.
    #[must_use]
    pub fn rate_limit_wait(mut self, wait: Duration) -> Self {
        self.limits.rate_limit_wait = Some(wait);
        self
    }

    /// Sets the maximum duration of the run.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.limits.deadline = Some(deadline);
        self
    }

    /// Sets the budget of the run.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.limits.budget = budget;
        self
    }

    /// Sets the maximum number of attempts per minute, evenly spaced.
    #[must_use]
    pub fn requests_per_minute(mut self, requests: f64) -> Self {
        self.limits.requests_per_minute = Some(requests);
        self
    }

    /// Sets the maximum number of input and output tokens per minute, as reported by the agent.
    #[must_use]
    pub fn tokens_per_minute(mut self, tokens: f64) -> Self {
        self.limits.tokens_per_minute = Some(tokens);
        self
    }

    /// Sets the number of retries of a failed attempt, and the pause before the first one.
    #[must_use]
    pub fn retries(mut self, retries: u32, backoff: Duration) -> Self {
        self.limits.retries = retries;
        self.limits.own_retries = Some(retries);
        self.limits.backoff = backoff;
        self
    }

    /// Sets how a sample without an answer is counted; by default as an environment error. See [`Errors`] for failures
    /// that are not the agent's fault.
    #[must_use]
    pub fn errors(mut self, errors: Errors) -> Self {
        self.errors = errors;
        self
    }

    /// Shuffles the samples in an order determined by `seed`.
    #[must_use]
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.shuffle = Some(seed);
        self
    }

    /// Declares that samples with the same value in a column (metadata, possibly nested, or a slice) are dependent,
    /// such as questions on one passage. Intervals and `no_regression` treat each group as one unit; a sample without
    /// a value is a group of its own.
    #[must_use]
    pub fn cluster(mut self, column: impl Into<String>) -> Self {
        self.cluster = Some(column.into());
        self
    }

    /// Sets what makes a sample's test fail.
    #[must_use]
    pub fn assert(mut self, assert: Assert) -> Self {
        self.snapshot.assert = assert;
        self
    }

    /// Sets whether snapshots contain questions and answers.
    #[must_use]
    pub fn answers(mut self, answers: Answers) -> Self {
        self.snapshot.answers = Some(answers);
        self
    }

    /// Sets the result of a test whose sample was correct in the baseline and is wrong now.
    #[must_use]
    pub fn flips(mut self, flips: Flips) -> Self {
        self.snapshot.flips = flips;
        self
    }

    /// Sets the number of further answers under `cargo test` before a flipped sample fails; 2 by default, or 10 if
    /// gates would decide (see [`Flips`]).
    #[must_use]
    pub fn confirm(mut self, times: u32) -> Self {
        self.snapshot.confirm = Some(times);
        self
    }

    /// Sets the snapshot folder; `tests/snapshots/<eval>` by default.
    #[must_use]
    pub fn snapshots(mut self, folder: impl Into<PathBuf>) -> Self {
        self.snapshot.folder = folder.into();
        self.default_snapshots = false;
        self
    }

    /// Sets the folder of run directories; `evaltest-runs` in the project's root by default.
    #[must_use]
    pub fn output_root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.output_root = Some(folder.into());
        self
    }

    /// Sets the use of the answer cache; off by default.
    #[must_use]
    pub fn cache(mut self, usage: CacheUse) -> Self {
        self.cache.usage = usage;
        self
    }

    /// Sets the folder of the answer cache; `.cache` in the folder of runs by default.
    #[must_use]
    pub fn cached_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache.folder = Some(folder.into());
        self
    }

    /// Redacts matches of this regular expression in everything that is written.
    #[must_use]
    pub fn redact(mut self, pattern: impl Into<String>) -> Self {
        self.redact.push(pattern.into());
        self
    }

    /// All samples of its benchmark, regardless of limits.
    ///
    /// # Errors
    /// If the dataset cannot be read.
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

    /// The spec that the eval was read from.
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

    /// The eval for a manifest: its spec, or the known settings of a builder eval.
    pub(crate) fn describe(&self) -> Value {
        if !self.config.is_null() {
            return self.config.clone();
        }
        let gates: Vec<_> = self.gates.iter().map(ToString::to_string).collect();
        let mut benchmark = serde_json::json!({ "type": self.benchmark.name() });
        if let Some(column) = &self.cluster {
            benchmark["cluster"] = column.as_str().into();
        }
        let mut described = serde_json::json!({
            "name": self.name,
            "benchmark": benchmark,
            "epochs": self.epochs,
            "limits": self.limits.describe(),
            "errors": self.errors.as_str(),
            "tiers": self.tiers.describe(),
        });
        if let Some(perturb) = &self.perturb {
            described["perturb"] = serde_json::json!(perturb);
        }
        if self.given_gates().is_some() {
            described["gates"] = gates.into();
        }
        described
    }

    /// Its own gates; `None` if it says nothing of gates.
    pub(crate) fn given_gates(&self) -> Option<&[Gate]> {
        (self.no_gates || self.has_own_gates()).then_some(&*self.gates)
    }

    /// Whether the eval has its own gates: then a single wrong answer fails nothing.
    pub(crate) fn has_own_gates(&self) -> bool {
        !self.gates.is_empty()
    }

    /// Whether snapshots mask questions and answers. GAIA asks not to republish its answers.
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

/// How a sample counts if its agent gave no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Errors {
    /// As an infrastructure error, excluded from shares of right and wrong answers.
    #[default]
    Infrastructure,
    /// As a wrong answer, if the agent itself failed: it ended with an exit code other than 0 or by a signal of its
    /// own, returned an error, panicked, gave no answer, too long a one or an unreadable one, or took longer than
    /// `limits.timeout_s`. The record is `scored`, with a score of 0 and the error.
    ///
    /// Failures that are not the agent's stay errors: a program that is missing or was ended by the system, an endpoint
    /// that is down, busy or silent, an attachment that cannot be read. An agent that fails because *its* endpoint is
    /// down cannot be told from one that fails by itself, and is wrong.
    Wrong,
}

impl Errors {
    /// The word in a spec, and in the configuration of a run.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Infrastructure => "infrastructure",
            Self::Wrong => "wrong",
        }
    }

    /// Reads it from the configuration of a run.
    pub(crate) fn of_config(config: &Value) -> Self {
        match config.get("errors").and_then(Value::as_str) {
            Some("wrong") => Self::Wrong,
            _ => Self::Infrastructure,
        }
    }

    /// Adds it to the hash of the scorers: runs that count failures differently are neither compared nor merged.
    pub(crate) fn mark(self, hash: String) -> String {
        match self {
            Self::Infrastructure => hash,
            Self::Wrong => {
                let marked = Hasher::default().part(hash).part("errors");
                marked.part(self.as_str()).short()
            }
        }
    }

    /// Whether a sample whose last attempt failed with this error is wrong.
    pub(crate) fn are_wrong(self, error: &AgentError, agent: &dyn Agent) -> bool {
        let is_own = match error.kind {
            FailureKind::Failed
            | FailureKind::NoOutput
            | FailureKind::BadOutput
            | FailureKind::OutputTooLarge
            | FailureKind::Panicked => true,
            // The sender is unknown, but programs do not send these themselves.
            FailureKind::Exited => !error.signal.is_some_and(is_from_outside),
            // A silent endpoint is an outage.
            FailureKind::TimedOut => !agent.asks_endpoint(),
            _ => false,
        };
        self == Self::Wrong && is_own && error.party.is_none()
    }
}

/// Which scratch folders of attempts are kept for inspection. Files that the agent itself writes there are not
/// redacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum KeepScratch {
    /// None.
    #[default]
    Never,
    /// Those of failed attempts.
    Failed,
    /// All.
    Always,
}

impl Eval {
    /// Asks only the first samples, after shuffling.
    #[must_use]
    pub fn limit(mut self, samples: usize) -> Self {
        self.limits.limit = Some(samples);
        self
    }

    /// Asks each sample this often, 1 to 1000; default 1. A sample stays one test, whose verdict is that of the
    /// majority; see [`EpochFigures`](crate::verdict::summary::EpochFigures) for figures over several answers.
    #[must_use]
    pub fn epochs(mut self, epochs: u32) -> Self {
        self.epochs = epochs;
        self
    }

    /// Asks each sample once more in these ways, so that the run says how much accuracy each costs:
    /// [`Gate::drop`](crate::Gate::drop). All other figures, the baseline and the snapshots are of the questions as they are.
    ///
    /// ```
    /// use evaltest::dataset::{Perturb, PerturbKind};
    /// # use evaltest::{Eval, Gate};
    /// # fn perturbed(eval: Eval) -> Eval {
    /// eval.perturb(Perturb::new(7, [PerturbKind::Typos]))
    ///     .gate(Gate::drop(PerturbKind::Typos, 0.1))
    /// # }
    /// ```
    #[must_use]
    pub fn perturb(mut self, perturb: Perturb) -> Self {
        self.perturb = Some(perturb);
        self
    }

    /// Adds a size for `cargo evaltest run --tier NAME`: this many samples, or all (`None`). A smaller tier is a subset
    /// of the larger, and each has a proportional share of every slice.
    ///
    /// ```
    /// # use evaltest::{Eval, Gate, Output, Task, Qa};
    /// # fn tiers(eval: Eval) -> Eval {
    /// eval.tier("quick", 5).tier("full", None)
    ///     .gate(Gate::error_rate(0.02).tier("quick"))
    /// # }
    /// ```
    #[must_use]
    pub fn tier(mut self, name: impl Into<String>, samples: impl Into<Option<usize>>) -> Self {
        self.tiers.add(name.into(), samples.into());
        self
    }

    /// Whether the command line asks for fewer samples than the eval has.
    pub(crate) fn is_limited(&self) -> bool {
        let mut overrides = self.overrides.iter();
        overrides.any(|change| change.key == "limits.limit")
    }
}
