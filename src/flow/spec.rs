//! `FlowSpec`: the definition of a flow, from a YAML file, flags, or both.
//!
//! ```yaml
//! name: aime
//! generate: { agent: …, count: 30, reference: real.json }   # keys of the benchmark `generate`; or `items: mine.json`
//! judge: { agent: …, rubric: aime }                         # keys of the scorer `judge`
//! winrate: { pairs: 20 }                                    # keys of the scorer `pairwise`
//! gates: [mean(judge.total) >= 4.0]
//! limits: { concurrency: 8 }                                # of each stage
//! ```

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::figures::FlowStage;
use crate::error::{Error, Result};
use crate::eval::spec::explain;
use crate::generate::per_minute;
use crate::system::file::{absolute, read_given};
use crate::system::project::display;
use crate::text::redact::Redactor;
use crate::text::yaml;
use crate::verdict::gate::{ERROR_RATE, Gate, REVIEWED};

/// The built-in flow, which needs no file.
pub const READY_FLOW: &str = "aime";

/// Default number of items.
const COUNT: u64 = 30;

/// Default maximum of compared pairs.
const PAIRS: u64 = 20;

/// The default gates.
const GATES: [&str; 3] = [
    "mean(judge.total) >= 4.0",
    "accuracy(judge) >= 0.8",
    "mean(pairwise.win) >= 0.45",
];

/// The default criteria for comparing two problems.
const CRITERIA: &str = "Which of the two is the better contest problem: correct and solvable as it is stated, clear, \
                        original, and worth the time of somebody who trains for such a contest? If both are as good, it \
                        is a tie.";

/// The command line flags of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowFlags {
    /// The generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Value>,
    /// The items to start from, an absolute path, in place of a generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// The only stage to run on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<FlowStage>,
    /// The judge; or an object with it as `agent`, and further keys of the scorer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Value>,
    /// The real items: an absolute path of a file, or a dataset of the Hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// How many pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// How many items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Seconds between two requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_s: Option<f64>,
    /// The random seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl FlowFlags {
    /// Redacts secrets.
    pub(super) fn redacted(self, redactor: &Redactor) -> Self {
        let blank = |value: Option<Value>| {
            value.map(|mut value| {
                redactor.config(&mut value);
                value
            })
        };
        Self {
            agent: blank(self.agent),
            judge: blank(self.judge),
            ..self
        }
    }
}

/// A flow as a file has it: items are generated, judged, compared with real ones and reported.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct FlowFile {
    /// Its name, used in file names; by default the file's name.
    name: Option<String>,
    /// How items are made: the keys of the benchmark `generate` (`ready`, `count`, `reference`, …), and its `agent`.
    generate: Option<Map<String, Value>>,
    /// A file of items that are there already, in place of `generate`, from the file's folder.
    items: Option<PathBuf>,
    /// Who gives points: the keys of the scorer `judge` (`rubric`, `calibration`, …), its `agent` among them, by
    /// default the generator.
    judge: Option<Map<String, Value>>,
    /// Who compares with real items: the keys of the scorer `pairwise` (`pairs`, `criteria`, …), and `reference`, the file
    /// of real items, if `generate` has none. By default `agent` is that of `judge`.
    winrate: Option<Map<String, Value>>,
    /// Conditions that the stages must meet. One belongs to the stage whose scorer it names (`judge`, `pairwise`,
    /// `reviewed`), `error_rate` to each, any other to `generate`, or with `items` to `judge`.
    gates: Option<Vec<String>>,
    /// Bounds of each stage, as `limits` of a spec.
    #[serde(default)]
    limits: Map<String, Value>,
    /// The folder of flows, from the file's folder; `evaltest-runs` in the project's root by default.
    output_root: Option<PathBuf>,
    /// Regular expressions: what they match is blanked in everything that is written.
    #[serde(default)]
    redact: Vec<String>,
    /// Keeps answers and asks nothing twice, as `cache` of a spec.
    cache: Option<Value>,
}

/// The definition of a flow.
#[derive(Clone, Debug)]
pub(super) struct FlowSpec {
    /// The name of the flow.
    pub(super) name: String,
    /// The spec file, if there is one.
    pub(super) path: Option<PathBuf>,
    /// The folder that relative paths resolve against.
    pub(super) folder: PathBuf,
    /// Keys of the benchmark `generate`.
    pub(super) generate: Map<String, Value>,
    /// The file to start from, if no items are generated.
    pub(super) items: Option<PathBuf>,
    /// The only stage to run on it, if not all are.
    pub(super) only: Option<FlowStage>,
    /// The generator; null if there is none.
    pub(super) agent: Value,
    /// Keys of the scorer `judge`, its agent included.
    pub(super) judge: Map<String, Value>,
    /// Whether the generator judges because no judge is named.
    pub(super) judges_itself: bool,
    /// Keys of the scorer `pairwise`; `None` without real items.
    pub(super) winrate: Option<Map<String, Value>>,
    /// The gates as written, each with its stage; `None` means every stage.
    pub(super) gates: Vec<(Option<FlowStage>, String)>,
    /// Bounds of each stage.
    pub(super) limits: Map<String, Value>,
    pub(super) output_root: Option<PathBuf>,
    pub(super) redact: Vec<String>,
    pub(super) cache: Option<Value>,
    pub(super) count: u64,
    pub(super) seed: Option<u64>,
}

impl FlowSpec {
    /// Reads a file, flags, or both; flags take precedence.
    ///
    /// # Errors
    /// If a key is wrong or missing.
    pub(super) fn read(path: Option<&Path>, flags: &FlowFlags) -> Result<Self> {
        let (file, path, folder) = match path {
            Some(path) => {
                let path = absolute(path)?;
                let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
                (file_of(&path)?, Some(path), folder)
            }
            None => (FlowFile::ready(), None, absolute(Path::new("."))?),
        };
        let at = |error: Error| match &path {
            Some(path) => error.at(path.display()),
            None => error,
        };
        let items = flags.items.as_ref().map(PathBuf::from).or(file.items);
        let items = items.map(|items| folder.join(items));
        let made = Made::of(file.generate, items.is_none(), flags).map_err(at)?;
        let Made {
            mut generate,
            agent,
            count,
        } = made;
        let seed = generate.get("seed").and_then(Value::as_u64).or(flags.seed);
        let mut judge = file.judge.unwrap_or_default();
        let mut winrate = file.winrate.unwrap_or_default();
        let only = flags.only;
        let of_winrate = only == Some(FlowStage::Winrate);
        match flags.judge.clone() {
            Some(Value::Object(keys)) if keys.contains_key("agent") => {
                let judged = if of_winrate { &mut winrate } else { &mut judge };
                if keys.contains_key("choices") {
                    judged.remove("rubric");
                }
                judged.extend(keys);
            }
            agent => set(&mut judge, "agent", agent),
        }
        set(&mut winrate, "pairs", flags.pairs.map(Value::from));
        if let Some(reference) = winrate.remove("reference") {
            generate.entry("reference").or_insert(reference);
        }
        let judges_itself = !judge.contains_key("agent") && !agent.is_null();
        if judges_itself {
            judge.insert("agent".to_owned(), agent.clone());
        }
        if !(judge.contains_key("agent") || of_winrate && winrate.contains_key("agent")) {
            return Err(at(Error::usage("no judge for the items").hint(
                "add `--judge '{type: openai, base_url: \"http://127.0.0.1:8000/v1\", model: NAME}'`",
            )));
        }
        let given = file
            .gates
            .unwrap_or_else(|| GATES.map(str::to_owned).into());
        let gates = given.into_iter().map(|gate| Ok((stage_of(&gate)?, gate)));
        let gates = gates.collect::<Result<Vec<_>>>().map_err(at)?;
        let mut limits = file.limits;
        if let Some(delay) = flags.delay_s {
            let rate = per_minute(delay)?;
            limits.insert("requests_per_minute".to_owned(), rate.clone());
            if let Some(Value::Object(solver)) = generate.get_mut("solver") {
                solver.insert("requests_per_minute".to_owned(), rate.clone());
            }
            judge.insert("requests_per_minute".to_owned(), rate);
        }
        let ready = generate.get("ready").and_then(Value::as_str);
        let name = file.name.or_else(|| match &items {
            Some(items) => Some(name_of(items)),
            None => ready.map(str::to_owned),
        });
        let mut spec = Self {
            name: name.unwrap_or_else(|| READY_FLOW.to_owned()),
            path,
            folder,
            items,
            only,
            agent,
            judge,
            judges_itself,
            winrate: None,
            gates,
            limits,
            output_root: file.output_root,
            redact: file.redact,
            cache: file.cache,
            count,
            seed,
            generate,
        };
        spec.winrate = spec.pairwise(winrate);
        if of_winrate && spec.winrate.is_none() {
            return Err(
                Error::usage("no real items to compare with").hint("add `--reference PATH`")
            );
        }
        spec.assign_gates();
        Ok(spec)
    }

    /// Gives gates on existing items to the stage that judges them, and leaves out those of stages that are not run.
    fn assign_gates(&mut self) {
        if self.items.is_some() {
            let judges = self.only.unwrap_or(FlowStage::Judge);
            for (stage, _) in &mut self.gates {
                if *stage == Some(FlowStage::Generate) {
                    *stage = Some(judges);
                }
            }
        }
        let skipped = [FlowStage::Judge, FlowStage::Winrate];
        let skipped = skipped.map(|stage| self.skip_reason(stage).map(|_| stage));
        self.gates
            .retain(|(stage, _)| stage.is_none() || !skipped.contains(stage));
    }

    /// Why this stage is not run, if so.
    pub(super) fn skip_reason(&self, stage: FlowStage) -> Option<String> {
        match (stage, self.only, &self.items) {
            (FlowStage::Generate, _, Some(items)) => {
                Some(format!("the items come from `{}`", display(items)))
            }
            (_, Some(only), _) if stage.reads_items() && stage != only => {
                Some(format!("only `{}` was requested", only.as_str()))
            }
            (FlowStage::Winrate, ..) if self.winrate.is_none() => {
                Some("no real items given (`--reference`)".to_owned())
            }
            _ => None,
        }
    }

    /// The source of the real items, as named in the spec.
    pub(super) fn reference(&self) -> Option<&str> {
        self.generate.get("reference")?.as_str()
    }

    /// The keys of the comparison; `None` if there is nothing to compare with.
    fn pairwise(&self, mut keys: Map<String, Value>) -> Option<Map<String, Value>> {
        if !keys.contains_key("against") {
            let reference = self.generate.get("reference")?.clone();
            let against = serde_json::json!({
                "benchmark": { "type": "items", "path": reference },
                "text": "item",
            });
            keys.insert("against".to_owned(), against);
        }
        let mut or = |key: &str, value: Value| {
            keys.entry(key.to_owned()).or_insert(value);
        };
        if let Some(agent) = self.judge.get("agent") {
            or("agent", agent.clone());
        }
        or("criteria", CRITERIA.into());
        or("pairs", self.count.min(PAIRS).into());
        or("seed", self.seed.unwrap_or_default().into());
        if let Some(rate) = self.judge.get("requests_per_minute") {
            or("requests_per_minute", rate.clone());
        }
        Some(keys)
    }

    /// The gates of a stage.
    pub(super) fn gates_of(&self, stage: FlowStage) -> Vec<&str> {
        // A review by people has no answers that could fail.
        let asks = stage != FlowStage::Review;
        let is_own = |of: &Option<FlowStage>| of.map_or(asks, |of| of == stage);
        let own = self.gates.iter().filter(|(of, _)| is_own(of));
        own.map(|(_, gate)| gate.as_str()).collect()
    }

    /// The maximum number of compared pairs.
    pub(super) fn pairs(&self) -> u64 {
        let pairs = self.winrate.as_ref().and_then(|keys| keys.get("pairs"));
        pairs.and_then(Value::as_u64).unwrap_or_default()
    }
}

/// What makes the items.
struct Made {
    /// The keys of the benchmark, without the agent; of existing items at most their `reference`.
    generate: Map<String, Value>,
    agent: Value,
    /// How many items; of existing ones as many as there are.
    count: u64,
}

impl Made {
    fn of(
        generate: Option<Map<String, Value>>,
        is_generated: bool,
        flags: &FlowFlags,
    ) -> Result<Self> {
        let mut generate = generate.unwrap_or_default();
        let reference = flags.reference.clone().map(Value::from);
        set(&mut generate, "reference", reference);
        if !is_generated {
            generate.retain(|key, _| key == "reference");
            return Ok(Self {
                generate,
                agent: Value::Null,
                count: u64::MAX,
            });
        }
        set(&mut generate, "agent", flags.agent.clone());
        set(&mut generate, "count", flags.count.map(Value::from));
        set(&mut generate, "seed", flags.seed.map(Value::from));
        let agent = generate.remove("agent").ok_or_else(|| {
            Error::usage("no agent to generate items").hint(
                "add `--agent '{type: openai, base_url: \"http://127.0.0.1:8000/v1\", model: NAME}'`, or start from a \
                 file of items: `--items FILE`",
            )
        })?;
        let count = match generate.get("count") {
            None => COUNT,
            Some(count) => count.as_u64().filter(|count| *count > 0).ok_or_else(|| {
                Error::usage(format!("`count` is {count}, but must be 1 or more"))
                    .hint("set the number of items: `--count 30`")
            })?,
        };
        generate.insert("count".to_owned(), count.into());
        Ok(Self {
            generate,
            agent,
            count,
        })
    }
}

/// Sets a key, if there is a value for it.
fn set(map: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        map.insert(key.to_owned(), value);
    }
}

/// The name of a file without its extension, as the name of a flow.
fn name_of(items: &Path) -> String {
    let stem = items.file_stem().unwrap_or_default().to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let name = stem.chars().map(|c| if is_plain(c) { c } else { '-' });
    let name: String = name.collect();
    let name = name.trim_matches('-');
    if name.is_empty() {
        "items".to_owned()
    } else {
        name.to_owned()
    }
}

impl FlowFile {
    /// The built-in flow.
    fn ready() -> Self {
        let ready = Map::from_iter([("ready".to_owned(), READY_FLOW.into())]);
        let judge = Map::from_iter([("rubric".to_owned(), READY_FLOW.into())]);
        Self {
            name: None,
            generate: Some(ready),
            items: None,
            judge: Some(judge),
            winrate: None,
            gates: None,
            limits: Map::new(),
            output_root: None,
            redact: Vec::new(),
            cache: None,
        }
    }
}

fn file_of(path: &Path) -> Result<FlowFile> {
    let bytes = read_given(path).map_err(|error| Error::io("read", path, &error))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::usage(format!("`{}` is not UTF-8 text", path.display()))
            .hint("name a flow in YAML, or `aime`, which needs no file")
    })?;
    let text = text.trim_start_matches('\u{feff}');
    let mut file: FlowFile =
        yaml::read(text).map_err(|error| another(text, path, explain(path, text, &error)))?;
    let path_of = path.display();
    if file.generate.is_none() && file.items.is_none() {
        let message = format!("{path_of}: the flow has neither `generate` nor `items`");
        return Err(Error::usage(message)
            .hint("add `generate: { ready: aime, agent: … }`, or `items: FILE`"));
    }
    if file.generate.is_some() && file.items.is_some() {
        let message = format!("{path_of}: the flow has both `generate` and `items`");
        return Err(Error::usage(message)
            .hint("remove one: items are either generated or read from a file"));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    file.name.get_or_insert_with(|| name.into_owned());
    if let Some(judge) = &mut file.judge
        && let Some(kind) = judge.remove("type")
        && kind != "judge"
    {
        let message = format!("`judge` of a flow must be the scorer `judge`, not `{kind}`");
        return Err(Error::usage(message)
            .at(path.display())
            .hint("run other scorers on the items: a spec with `benchmark: { type: items, … }`"));
    }
    Ok(file)
}

/// The error for the spec of an eval in place of a flow.
fn another(text: &str, path: &Path, error: Error) -> Error {
    if crate::eval::spec::is_spec(text) {
        let path = path.display();
        return Error::usage(format!(
            "{path}: this is the spec of an eval, not of a flow"
        ))
        .hint(format!("cargo evaltest run {path}"));
    }
    error
}

/// The stage of a gate, by the scorer it names; `None` means every stage.
fn stage_of(gate: &str) -> Result<Option<FlowStage>> {
    let names = [
        ("pairwise", FlowStage::Winrate),
        ("judge", FlowStage::Judge),
    ];
    let gate: Gate = gate.parse()?;
    let metric = gate.metric();
    if metric.is(REVIEWED) {
        return Ok(Some(FlowStage::Review));
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = metric.argument().split(|c| !is_word(c)).collect();
    let named = names.iter().find(|(name, _)| words.contains(name));
    Ok(match named {
        Some((_, stage)) => Some(*stage),
        None if metric.is(ERROR_RATE) => None,
        None => Some(FlowStage::Generate),
    })
}

/// The JSON schema (draft 2020-12) of a flow in YAML, derived from its type.
#[cfg(feature = "schema")]
pub fn flow_schema() -> Value {
    let mut schema = schemars::schema_for!(FlowFile).to_value();
    schema["title"] = "A flow of `cargo evaltest flow`".into();
    schema["oneOf"] = serde_json::json!([{ "required": ["generate"] }, { "required": ["items"] }]);
    schema
}
