//! The keys of a spec, as serde reads them. The only types that face the YAML.

mod alerts;
mod record;

use std::marker::PhantomData;
use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::CacheKey;
use super::TierKeys;
use super::tagged::{Rest, Tagged, TaggedKind};
use crate::agent::Agent;
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::data::record::perturb::{Perturb, PerturbKind};
use crate::error::{Result, Under, inside};
use crate::eval::alerts::Webhook;
use crate::eval::registry::{KeepKey, agents, benchmarks, scorers};
use crate::eval::{Answers, Assert, Errors, Flips};
use crate::scorer::Scorer;
use crate::verdict::gate::Gate;
use alerts::alerts;

pub(super) use alerts::{SpecAlerts, given_alerts};
pub(super) use record::RecordKeys;

/// A whole spec, but for the keys that only kinds of benchmarks and agents know: those are [`ChosenParts`](super::parts::ChosenParts).
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct SpecFile {
    /// The eval's name in test names, run directories and snapshots; by default the file's name.
    pub(super) name: Option<String>,
    /// The questions and how they are scored: a kind with its keys.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::benchmark")
    )]
    pub(super) benchmark: Tagged<dyn Benchmark, BenchmarkKeys>,
    /// The prompt around a question: `official`, `concise`, `none` or `{ template: "…{prompt}…" }`; by default the
    /// benchmark's own instructions.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::prompt")
    )]
    #[serde(default, deserialize_with = "given_prompt")]
    pub(super) prompt: Option<Prompt>,
    /// Several named prompts instead of `prompt`: each becomes an eval `NAME+PROMPT`, and one table ranks them.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::prompts")
    )]
    #[serde(default, deserialize_with = "given")]
    pub(super) prompts: Option<ByName<PromptKey>>,
    /// The agent that answers: a kind with its keys.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::agent")
    )]
    #[serde(default, deserialize_with = "given")]
    pub(super) agent: Option<Tagged<dyn Agent>>,
    /// Several named agents instead of `agent`: each becomes an eval `NAME@AGENT` with its own run directory and
    /// baseline. They share `limits.budget`, and one table ranks them. A gate can name one: `accuracy[agent=small] >=
    /// 0.6`.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::agents")
    )]
    #[serde(default, deserialize_with = "given")]
    pub(super) agents: Option<ByName<Tagged<dyn Agent>>>,
    /// The agent that plays the user in conversations with a scenario.
    pub(super) user: Option<UserKeys>,
    /// What executes tool calls in conversations.
    pub(super) tools: Option<ToolsKeys>,
    /// How to extract the prediction from the agent's answer; by default as the benchmark or the scorer does.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::optional_extract")
    )]
    #[serde(default)]
    pub(super) extract: Option<Value>,
    /// The scorer of predictions; by default the benchmark's own. Not together with `scorers`.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::optional_scorer")
    )]
    #[serde(default)]
    pub(super) scorer: Option<ScorerKeys>,
    /// Several scorers: all verdicts are recorded, the first decides.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::scorers")
    )]
    #[serde(default)]
    pub(super) scorers: Option<Vec<ScorerKeys>>,
    /// Limits of a run: time, cost, concurrency.
    #[serde(default)]
    pub(super) limits: LimitsKeys,
    /// How to count answers that failed because of the agent itself.
    pub(super) errors: Option<ErrorsKey>,
    /// Shuffles the samples.
    pub(super) shuffle: Option<ShuffleKeys>,
    /// How often to ask each sample, 1 to 1000; 1 by default. `accuracy` counts all answers; `pass@3`, `pass^3` and
    /// `majority` combine the answers of a sample.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 1000, "default" = 1)))]
    pub(super) epochs: Option<u32>,
    /// Asks each sample again in perturbed forms and measures the accuracy lost to each: `drop(typos) <= 0.1`. All
    /// other figures, the baseline and the snapshots use the unchanged questions.
    pub(super) perturb: Option<PerturbKeys>,
    /// Named subsets of the eval for `run --tier NAME`. Each is part of the next larger one, stratified by the first
    /// slice. A gate can name one: `error_rate[tier=quick] <= 0.02`.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::tiers")
    )]
    #[serde(default, deserialize_with = "given")]
    pub(super) tiers: Option<ByName<TierKeys>>,
    /// The committed baseline: when a sample's test fails, and what snapshots contain.
    #[serde(default)]
    pub(super) snapshot: SnapshotKeys,
    /// Conditions that the run must meet, each a text. Without an `error_rate` gate, `error_rate <= 0.05` is added;
    /// without this key, an eval with a baseline also gets `no_regression`. `[]` means no gates.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::gates")
    )]
    #[serde(default, deserialize_with = "gates")]
    pub(super) gates: Vec<SpecGate>,
    /// Alerts on the eval's history, each a text, checked by `run --history` and `trend`. `looks: 30` among them sets
    /// how many runs share one alpha.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::alerts")
    )]
    #[serde(default, deserialize_with = "alerts")]
    pub(super) alerts: SpecAlerts,
    /// Where to send alerts: a JSON request to an address from a variable.
    pub(super) webhook: Option<WebhookKeys>,
    /// The folder of run directories, from the spec's folder; `evaltest-runs` in the project's root by default.
    pub(super) output_root: Option<PathBuf>,
    /// Regular expressions: what they match is blanked in everything that is written.
    #[serde(default)]
    pub(super) redact: Vec<String>,
    /// Which scratch folders of attempts stay on disk; `never` by default.
    pub(super) keep_scratch: Option<KeepKey>,
    /// Records the calls that the agent makes to models, and replays them without a model: for the agents `command` and
    /// `worker`.
    pub(super) record: Option<RecordKeys>,
    /// Keeps answers and asks nothing twice to which nothing changed: `true`, or `{ path: DIR }`; off by default.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::cache")
    )]
    #[serde(default)]
    pub(super) cache: Option<CacheKey>,
}

/// The key of every benchmark that names the column of groups.
pub(super) const CLUSTER: &str = "cluster";

/// The keys that all benchmarks have.
#[derive(Default)]
pub(super) struct BenchmarkKeys {
    pub(super) cluster: Option<String>,
}

impl Rest for BenchmarkKeys {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        if key != CLUSTER {
            return map.next_value::<IgnoredAny>().map(drop);
        }
        if self.cluster.is_some() {
            return Err(A::Error::duplicate_field(CLUSTER));
        }
        self.cluster = map.next_value()?;
        Ok(())
    }
}

impl TaggedKind for dyn Agent {
    const WHAT: &'static str = "agent";
    const EXAMPLE: &'static str = agents::BUILT_IN[0].name;

    fn names() -> impl Iterator<Item = &'static str> {
        agents::BUILT_IN.iter().map(|about| about.name)
    }
}

impl TaggedKind for dyn Benchmark {
    const WHAT: &'static str = "benchmark";
    const EXAMPLE: &'static str = benchmarks::BUILT_IN[0].name;

    fn names() -> impl Iterator<Item = &'static str> {
        benchmarks::BUILT_IN.iter().map(|about| about.name)
    }
}

impl TaggedKind for dyn Scorer {
    const WHAT: &'static str = "scorer";
    const EXAMPLE: &'static str = "gaia";

    fn names() -> impl Iterator<Item = &'static str> {
        scorers::names()
    }
}

/// Scorers are made from a name and options, whether they are built in or registered.
pub(super) type ScorerKeys = Tagged<dyn Scorer, Map<String, Value>>;

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct UserKeys {
    /// What plays the user: a kind with its keys.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::agent")
    )]
    pub(super) agent: Value,
    /// After how many turns a conversation ends, if the user does not end it; 10 by default.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(super) max_turns: Option<u32>,
    /// What the user writes to end a conversation; `###STOP###` by default.
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "type": "string", "pattern": r"^\s*$" })))]
    pub(super) stop: Option<String>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ToolsKeys {
    /// A program that executes calls and has a state: the agent `worker` with its keys.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::agent")
    )]
    #[serde(default)]
    pub(super) environment: Option<Value>,
    /// A YAML file with tools and their results, in place of a program.
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("minLength" = 1)))]
    #[serde(default, deserialize_with = "given")]
    pub(super) mock: Option<PathBuf>,
    /// In how many replies of one turn the agent may call tools; 20 by default. One more ends the conversation.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(super) max_steps: Option<u32>,
    /// Seconds for one call; 30 by default.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0.001, "maximum" = 1_000_000_000)))]
    pub(super) tool_timeout_s: Option<f64>,
    /// Whether the tools are offered by a server of the Model Context Protocol, to agents that call tools themselves.
    pub(super) mcp: Option<bool>,
    /// Whether the same calls in a new session have the same results, so that an interrupted conversation can go on;
    /// by default. `false` for calls that act for real.
    pub(super) replayable: Option<bool>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsKeys {
    /// Samples in flight at once, from 1; 8 by default, for a `worker` as many as it takes.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(super) concurrency: Option<usize>,
    /// Seconds that one attempt may take.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0.001, "maximum" = 1_000_000_000)))]
    pub(super) timeout_s: Option<f64>,
    /// Seconds that a whole conversation may take; `timeout_s` is then the time for one turn of it.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0.001, "maximum" = 1_000_000_000)))]
    pub(super) conversation_timeout_s: Option<f64>,
    /// Seconds that all attempts of a sample may take together, with the pauses between them; no bound by default.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0.001, "maximum" = 1_000_000_000)))]
    pub(super) sample_timeout_s: Option<f64>,
    /// Seconds that the whole run may take; then it ends with exit code 3 and can be resumed. No bound by default.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0.001, "maximum" = 1_000_000_000)))]
    pub(super) deadline_s: Option<f64>,
    /// What the whole run may use up; then it ends with exit code 3 and can be resumed. No bound by default.
    pub(super) budget: Option<BudgetKeys>,
    /// Attempts that may begin in a minute, evenly spread, above 0; no bound by default.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub(super) requests_per_minute: Option<f64>,
    /// Tokens that answers may take in a minute, read and written, above 0; no bound by default.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub(super) tokens_per_minute: Option<f64>,
    /// Seconds at the start until `concurrency` samples are in flight; 0.2 ms for each by default.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1_000_000_000)))]
    pub(super) ramp_up_s: Option<f64>,
    /// How often a failed attempt is repeated; 0 by default, 4 for the agents `openai` and `http`. Wrong answers and
    /// timeouts are not. A rate limit (429) counts only where this is 0: then nothing is asked twice.
    pub(super) retries: Option<u32>,
    /// Seconds that a sample may wait for rate limits (429) in all; none of these is a retry meanwhile. When they are
    /// over, or `Retry-After` asks for more, the sample ends. By default 50 refusals are waited for, with `retries: 0` none.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1_000_000_000)))]
    pub(super) rate_limit_wait_s: Option<f64>,
    /// Seconds of the pause before the first repetition; it doubles each time, up to 30 s.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1_000_000_000)))]
    pub(super) backoff_s: Option<f64>,
    /// Bytes that an agent may print as its answer, from 1.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(super) max_output_bytes: Option<u64>,
    /// Ask only the first samples, after shuffling, from 1; all by default. Such a run is a whole one: its gates
    /// count.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(super) limit: Option<usize>,
    /// Stop at the first sample whose agent failed.
    pub(super) fail_fast: Option<bool>,
    /// Keep going even if the first 10 attempts of an agent all fail with the same error.
    pub(super) keep_going: Option<bool>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetKeys {
    /// US dollars, as the agent tells the cost of its answers, above 0.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub(super) cost_usd: Option<f64>,
    /// Tokens, read and written, as the agent tells, from 1.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(super) tokens: Option<u64>,
    /// Attempts, from 1.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(super) requests: Option<u64>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ShuffleKeys {
    /// A whole number from 0, of which alone the order depends.
    pub(super) seed: u64,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct PerturbKeys {
    /// A whole number from 0, on which alone, with kind and sample, the texts depend.
    seed: u64,
    /// In which ways: `typos` in words, an `irrelevant_context` before the question, `reordered_options` of a
    /// multiple-choice question, and in conversations a call of a tool that fails once (`tool_error`, `tool_timeout`).
    #[cfg_attr(feature = "schema", schemars(extend("minItems" = 1, "uniqueItems" = true)))]
    kinds: Vec<PerturbKind>,
    /// The share of a question's words that get a typo, at least one word: above 0, up to 1; 0.1 by default.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1, "default" = 0.1)))]
    rate: Option<f64>,
}

impl PerturbKeys {
    /// What they ask for.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub(super) fn made(self) -> Result<Perturb> {
        let perturb = Perturb::new(self.seed, self.kinds);
        let perturb = match self.rate {
            Some(rate) => perturb.rate(rate),
            None => perturb,
        };
        perturb.check().map(|()| perturb)
    }
}

#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotKeys {
    /// What makes a sample's test fail.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "super::schema::fields::assert")
    )]
    #[serde(default)]
    pub(super) assert: AssertKey,
    /// Whether snapshots show what was asked and answered; by default as the benchmark asks for: masked for GAIA,
    /// else plain.
    pub(super) answers: Option<AnswersKey>,
    /// What becomes of a sample under `cargo test` that was correct in the baseline and is wrong now.
    pub(super) flips: Option<FlipsKey>,
    /// How often a flipped sample is asked again before it fails; 2 by default, 10 where the gates decide.
    pub(super) confirm: Option<u32>,
    /// The folder of snapshots, from the spec's folder; `snapshots/NAME` by default.
    pub(super) path: Option<PathBuf>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct AssertKey(pub(super) Assert);

impl<'de> Deserialize<'de> for AssertKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const WORDS: &[&str] = &["baseline", "exact", "correct", "off"];
        struct AssertVisitor;
        impl serde::de::Visitor<'_> for AssertVisitor {
            type Value = Assert;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`baseline`, `exact`, `correct` or `off`")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Assert, E> {
                match word {
                    "baseline" => Ok(Assert::Baseline),
                    "exact" => Ok(Assert::Exact),
                    "correct" => Ok(Assert::Correct),
                    "off" => Ok(Assert::Off),
                    _ => Err(E::unknown_variant(word, WORDS)),
                }
            }

            // YAML 1.1 reads a bare `off` as false, and so do some editors.
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<Assert, E> {
                Ok(if on { Assert::Baseline } else { Assert::Off })
            }
        }
        deserializer.deserialize_any(AssertVisitor).map(Self)
    }
}

#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum AnswersKey {
    /// As they are.
    Plain,
    /// Ids, verdicts, and keyed digests: no question and no answer.
    Masked,
}

impl From<AnswersKey> for Answers {
    fn from(key: AnswersKey) -> Self {
        match key {
            AnswersKey::Plain => Self::Plain,
            AnswersKey::Masked => Self::Masked,
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorsKey {
    /// An error of the surroundings, no wrong answer; the default.
    Infrastructure,
    /// Failures of the agent itself are wrong answers: a crash, no answer, one that cannot be read, its own timeout.
    Wrong,
}

impl From<ErrorsKey> for Errors {
    fn from(key: ErrorsKey) -> Self {
        match key {
            ErrorsKey::Infrastructure => Self::Infrastructure,
            ErrorsKey::Wrong => Self::Wrong,
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum FlipsKey {
    /// The `no_regression` gates decide whose slice holds the sample; the default. Without such a gate as `confirm`.
    Gate,
    /// It fails if it is wrong `confirm` times more.
    Confirm,
    /// It fails at once.
    Fail,
}

impl From<FlipsKey> for Flips {
    fn from(key: FlipsKey) -> Self {
        match key {
            FlipsKey::Gate => Self::Gate,
            FlipsKey::Confirm => Self::Confirm,
            FlipsKey::Fail => Self::Fail,
        }
    }
}

/// Values by names of the user's, in the order in which they are written.
pub(super) struct ByName<T>(Vec<(String, T)>);

impl<T> ByName<T> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn into_entries(self) -> Vec<(String, T)> {
        self.0
    }

    pub(super) fn take(self, name: &str) -> Option<T> {
        let mut entries = self.0.into_iter();
        Some(entries.find(|(known, _)| known == name)?.1)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByName<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByNameVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for ByNameVisitor<T> {
            type Value = ByName<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByName<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(ByName(entries))
            }
        }
        deserializer.deserialize_map(ByNameVisitor(PhantomData))
    }
}

/// A key that may be left out, and has a value where it is there.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// One of several prompts.
pub(super) struct PromptKey(pub(super) Prompt);

impl<'de> Deserialize<'de> for PromptKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        prompt(deserializer).map(Self)
    }
}

fn given_prompt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Prompt>, D::Error> {
    prompt(deserializer).map(Some)
}

/// A preset's name or `{ template: … }`.
fn prompt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Prompt, D::Error> {
    struct PromptVisitor;
    impl<'de> serde::de::Visitor<'de> for PromptVisitor {
        type Value = Prompt;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("`official`, `concise`, `none` or `{ template: \"… {prompt}\" }`")
        }

        fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Prompt, E> {
            match name {
                "official" => Ok(Prompt::Official),
                "concise" => Ok(Prompt::Concise),
                "none" => Ok(Prompt::None),
                _ => Err(E::unknown_variant(name, Prompt::PRESETS)),
            }
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Prompt, A::Error> {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Keys {
                template: String,
            }
            let keys = Keys::deserialize(MapAccessDeserializer::new(map))?;
            Ok(Prompt::Template(keys.template))
        }
    }
    deserializer.deserialize_any(PromptVisitor)
}

/// A gate as the spec writes it. With several agents or prompts, what is read as a slice here may name one of them.
pub(super) struct SpecGate {
    pub(super) text: String,
    pub(super) gate: Gate,
}

/// A list of gates; an error is about one of them.
pub(super) fn gates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SpecGate>, D::Error> {
    struct GatesVisitor;
    impl<'de> serde::de::Visitor<'de> for GatesVisitor {
        type Value = Vec<SpecGate>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<SpecGate>, A::Error> {
            let mut gates = Vec::new();
            while let Some(text) = list.next_element::<String>()? {
                let gate = text.parse().map_err(|error| {
                    A::Error::custom(inside(&format!("[{}]", gates.len()), error))
                })?;
                gates.push(SpecGate { text, gate });
            }
            Ok(gates)
        }
    }
    deserializer.deserialize_seq(GatesVisitor)
}

/// Whom a spec tells of an alert.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct WebhookKeys {
    /// The variable that has the address, which is a secret.
    url_env: String,
    /// What is sent, as JSON: `{eval}`, `{alert}`, `{message}`, `{commit}`, `{accuracy}` and `{run}` in its texts are filled in.
    /// `{ text: … }` by default, as Slack, Mattermost and others take it.
    template: Option<Value>,
}

impl WebhookKeys {
    pub(super) fn made(self) -> Result<Webhook> {
        let webhook = Webhook {
            url_env: self.url_env,
            template: self.template,
        };
        webhook.check().under("webhook")?;
        Ok(webhook)
    }
}
