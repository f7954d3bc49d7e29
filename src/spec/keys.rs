//! The keys of a spec, as serde reads them. The only types that face the YAML.

use std::path::PathBuf;

use serde::de::MapAccess;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::agents::{HttpKeys, OpenAiKeys};
use super::benchmarks::{AimeKeys, BfclKeys, Gsm8kKeys, QaKeys};
use super::cache::CacheKey;
use super::confinement::{SandboxKeys, UlimitKeys};
use super::custom::CustomKeys;
use super::tagged::{BuiltIns, Tagged};
use crate::eval::{Answers, Assert, KeepScratch};
use crate::prompt::Prompt;
use crate::verdict::gate::Gate;

/// A whole spec.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecFile {
    pub(super) name: Option<String>,
    pub(super) benchmark: Tagged<BenchmarkKeys>,
    #[serde(default, deserialize_with = "prompt")]
    pub(super) prompt: Prompt,
    pub(super) agent: Tagged<AgentKeys>,
    pub(super) extract: Option<Value>,
    pub(super) scorer: Option<Tagged<NoBuiltIn>>,
    pub(super) scorers: Option<Vec<Tagged<NoBuiltIn>>>,
    #[serde(default)]
    pub(super) limits: LimitsKeys,
    pub(super) shuffle: Option<ShuffleKeys>,
    pub(super) epochs: Option<u32>,
    #[serde(default)]
    pub(super) snapshot: SnapshotKeys,
    #[serde(default)]
    pub(super) gates: Vec<Gate>,
    pub(super) output_root: Option<PathBuf>,
    #[serde(default)]
    pub(super) redact: Vec<String>,
    pub(super) keep_scratch: Option<KeepKey>,
    pub(super) cache: Option<CacheKey>,
}

/// Built-in benchmarks.
pub(super) enum BenchmarkKeys {
    Gaia(GaiaKeys),
    Qa(QaKeys),
    Gsm8k(Gsm8kKeys),
    Aime(AimeKeys),
    Bfcl(BfclKeys),
    Custom(CustomKeys),
}

impl BenchmarkKeys {
    /// The name behind `type`.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Gaia(_) => "gaia",
            Self::Qa(_) => "qa",
            Self::Gsm8k(_) => "gsm8k",
            Self::Aime(_) => "aime",
            Self::Bfcl(_) => "bfcl",
            Self::Custom(_) => "custom",
        }
    }
}

impl BuiltIns for BenchmarkKeys {
    const WHAT: &'static str = "benchmark";
    const NAMES: &'static [&'static str] = &["gaia", "qa", "gsm8k", "aime", "bfcl", "custom"];

    fn read<'de, A: MapAccess<'de>>(name: &str, rest: A) -> Option<Result<Self, A::Error>> {
        let rest = MapAccessDeserializer::new(rest);
        Some(match name {
            "gaia" => GaiaKeys::deserialize(rest).map(Self::Gaia),
            "qa" => QaKeys::deserialize(rest).map(Self::Qa),
            "gsm8k" => Gsm8kKeys::deserialize(rest).map(Self::Gsm8k),
            "bfcl" => BfclKeys::deserialize(rest).map(Self::Bfcl),
            "aime" => AimeKeys::deserialize(rest).map(Self::Aime),
            "custom" => CustomKeys::deserialize(rest).map(Self::Custom),
            _ => return None,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GaiaKeys {
    /// Without it, the dataset as it is published.
    pub(super) path: Option<PathBuf>,
    pub(super) split: Option<String>,
    pub(super) levels: Option<Vec<Value>>,
    pub(super) ids: Option<Vec<String>>,
    #[serde(default)]
    pub(super) columns: ColumnKeys,
}

/// Names of columns, where they differ from what is looked for.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnKeys {
    pub(super) prompt: Option<String>,
    pub(super) ground_truth: Option<String>,
    pub(super) id: Option<String>,
    pub(super) level: Option<String>,
    pub(super) file_name: Option<String>,
    pub(super) file_path: Option<String>,
}

/// Built-in agents.
pub(super) enum AgentKeys {
    Command(CommandKeys),
    Worker(WorkerKeys),
    OpenAi(Box<OpenAiKeys>),
    Http(Box<HttpKeys>),
    Replay(ReplayKeys),
    Echo(EchoKeys),
    Demo(DemoKeys),
}

impl BuiltIns for AgentKeys {
    const WHAT: &'static str = "agent";
    const NAMES: &'static [&'static str] = &[
        "command", "worker", "openai", "http", "replay", "echo", "demo",
    ];

    fn read<'de, A: MapAccess<'de>>(name: &str, rest: A) -> Option<Result<Self, A::Error>> {
        let rest = MapAccessDeserializer::new(rest);
        Some(match name {
            "command" => CommandKeys::deserialize(rest).map(Self::Command),
            "worker" => WorkerKeys::deserialize(rest).map(Self::Worker),
            "openai" => OpenAiKeys::deserialize(rest).map(|keys| Self::OpenAi(Box::new(keys))),
            "http" => HttpKeys::deserialize(rest).map(|keys| Self::Http(Box::new(keys))),
            "replay" => ReplayKeys::deserialize(rest).map(Self::Replay),
            "echo" => EchoKeys::deserialize(rest).map(Self::Echo),
            "demo" => DemoKeys::deserialize(rest).map(Self::Demo),
            _ => return None,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandKeys {
    #[serde(default)]
    pub(super) command: Vec<String>,
    /// A line for `sh -c`, instead of `command`.
    pub(super) shell: Option<String>,
    #[serde(default)]
    pub(super) input: Form,
    #[serde(default)]
    pub(super) output: Form,
    #[serde(default)]
    pub(super) env: Vec<String>,
    #[serde(default)]
    pub(super) cwd: CwdKey,
    pub(super) sandbox: Option<SandboxKeys>,
    #[serde(default)]
    pub(super) ulimits: UlimitKeys,
    #[serde(default)]
    pub(super) options: Map<String, Value>,
    pub(super) keep_scratch: Option<KeepKey>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkerKeys {
    #[serde(default)]
    pub(super) command: Vec<String>,
    pub(super) processes: Option<usize>,
    pub(super) in_flight: Option<usize>,
    #[serde(default)]
    pub(super) handshake: bool,
    pub(super) start_timeout_s: Option<f64>,
    pub(super) close_timeout_s: Option<f64>,
    #[serde(default)]
    pub(super) env: Vec<String>,
    #[serde(default)]
    pub(super) scratch: bool,
    pub(super) sandbox: Option<SandboxKeys>,
    #[serde(default)]
    pub(super) ulimits: UlimitKeys,
    #[serde(default)]
    pub(super) options: Map<String, Value>,
    pub(super) keep_scratch: Option<KeepKey>,
}

/// How a prompt goes in or an answer comes out.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Form {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CwdKey {
    /// The spec's folder.
    #[default]
    Spec,
    Scratch,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeepKey {
    Failed,
    Always,
    Never,
}

impl From<KeepKey> for KeepScratch {
    fn from(key: KeepKey) -> Self {
        match key {
            KeepKey::Failed => Self::Failed,
            KeepKey::Always => Self::Always,
            KeepKey::Never => Self::Never,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayKeys {
    pub(super) path: PathBuf,
    #[serde(default)]
    pub(super) fields: ReplayFields,
    #[serde(default)]
    pub(super) options: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayFields {
    pub(super) id: Option<String>,
    pub(super) answer: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EchoKeys {
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) options: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DemoKeys {
    #[serde(default)]
    pub(super) options: Map<String, Value>,
}

/// Scorers are made from a name and options, whether they are built in or registered.
pub(super) enum NoBuiltIn {}

impl BuiltIns for NoBuiltIn {
    const WHAT: &'static str = "scorer";
    const NAMES: &'static [&'static str] = &[];

    fn read<'de, A: MapAccess<'de>>(_: &str, _: A) -> Option<Result<Self, A::Error>> {
        None
    }
}

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
    pub(super) confirm: Option<u32>,
    pub(super) path: Option<PathBuf>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct AssertKey(pub(super) Assert);

impl<'de> Deserialize<'de> for AssertKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const WORDS: &[&str] = &["baseline", "exact", "correct", "off"];
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
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
        deserializer.deserialize_any(Visitor).map(Self)
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

/// A preset's name or `{ template: … }`.
fn prompt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Prompt, D::Error> {
    struct Visitor;
    impl<'de> serde::de::Visitor<'de> for Visitor {
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
    deserializer.deserialize_any(Visitor)
}
