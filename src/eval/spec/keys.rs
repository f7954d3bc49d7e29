//! The keys of a spec, as serde reads them. The only types that face the YAML.

use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::cache::CacheKey;
use super::tagged::{Rest, Tagged, TaggedKind};
use crate::agent::Agent;
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::error::inside;
use crate::eval::registry::{KeepKey, agents, benchmarks, scorers};
use crate::eval::{Answers, Assert, Errors, Flips};
use crate::scorer::Scorer;
use crate::verdict::gate::Gate;

/// A whole spec, but for the keys that only kinds of benchmarks and agents know: those are [`ChosenParts`](super::parts::ChosenParts).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecFile {
    pub(super) name: Option<String>,
    pub(super) benchmark: Tagged<dyn Benchmark, BenchmarkKeys>,
    #[serde(default, deserialize_with = "prompt")]
    pub(super) prompt: Prompt,
    pub(super) agent: Tagged<dyn Agent>,
    pub(super) extract: Option<Value>,
    pub(super) scorer: Option<ScorerKeys>,
    pub(super) scorers: Option<Vec<ScorerKeys>>,
    #[serde(default)]
    pub(super) limits: LimitsKeys,
    pub(super) errors: Option<ErrorsKey>,
    pub(super) shuffle: Option<ShuffleKeys>,
    pub(super) epochs: Option<u32>,
    #[serde(default)]
    pub(super) snapshot: SnapshotKeys,
    #[serde(default, deserialize_with = "gates")]
    pub(super) gates: Vec<Gate>,
    pub(super) output_root: Option<PathBuf>,
    #[serde(default)]
    pub(super) redact: Vec<String>,
    pub(super) keep_scratch: Option<KeepKey>,
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

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsKeys {
    pub(super) concurrency: Option<usize>,
    pub(super) timeout_s: Option<f64>,
    pub(super) sample_timeout_s: Option<f64>,
    pub(super) deadline_s: Option<f64>,
    pub(super) budget: Option<BudgetKeys>,
    pub(super) requests_per_minute: Option<f64>,
    pub(super) tokens_per_minute: Option<f64>,
    pub(super) ramp_up_s: Option<f64>,
    pub(super) retries: Option<u32>,
    pub(super) backoff_s: Option<f64>,
    pub(super) max_output_bytes: Option<u64>,
    pub(super) limit: Option<usize>,
    pub(super) fail_fast: Option<bool>,
    pub(super) keep_going: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetKeys {
    pub(super) cost_usd: Option<f64>,
    pub(super) tokens: Option<u64>,
    pub(super) requests: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShuffleKeys {
    pub(super) seed: u64,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotKeys {
    #[serde(default)]
    pub(super) assert: AssertKey,
    pub(super) answers: Option<AnswersKey>,
    pub(super) flips: Option<FlipsKey>,
    pub(super) confirm: Option<u32>,
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
#[serde(rename_all = "snake_case")]
pub(super) enum AnswersKey {
    Plain,
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
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorsKey {
    Infrastructure,
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
#[serde(rename_all = "snake_case")]
pub(super) enum FlipsKey {
    Gate,
    Confirm,
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
                _ => Err(E::unknown_variant(name, &["official", "concise", "none"])),
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

/// A list of gates; an error is about one of them.
fn gates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Gate>, D::Error> {
    struct GatesVisitor;
    impl<'de> serde::de::Visitor<'de> for GatesVisitor {
        type Value = Vec<Gate>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Gate>, A::Error> {
            let mut gates = Vec::new();
            while let Some(text) = list.next_element::<String>()? {
                let gate = text.parse().map_err(|error| {
                    A::Error::custom(inside(&format!("[{}]", gates.len()), error))
                })?;
                gates.push(gate);
            }
            Ok(gates)
        }
    }
    deserializer.deserialize_seq(GatesVisitor)
}
