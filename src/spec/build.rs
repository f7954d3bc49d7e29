//! From the keys of a spec to an eval: paths are resolved, names are looked up.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

#[cfg(feature = "http")]
use super::agents;
use super::keys::{
    AgentKeys, BenchmarkKeys, ColumnKeys, CommandKeys, CwdKey, Form, GaiaKeys, NoBuiltIn, SpecFile,
};
use super::limits::limits;
use super::tagged::{BuiltIns, Tagged};
use super::{benchmarks, custom, worker};
use crate::agent::Agent;
use crate::agent::command::{Command, Cwd, Input, Reply};
use crate::agent::demo::Demo;
use crate::agent::echo::Echo;
use crate::agent::replay::Replay;
use crate::benchmark::Benchmark;
use crate::benchmark::gaia::{Gaia, HUB};
use crate::data::dataset::Columns;
use crate::data::hub;
use crate::error::{Error, Result, nearest};
use crate::eval::{Eval, KeepScratch, Limits};
use crate::extract::Extract;
use crate::plan::check_scorer_names;
use crate::prompt::Prompt;
use crate::registry::{Options, Registry};
use crate::scorer::{self, Scorer};
use crate::system::{file, variables};
use crate::verdict::gate::{self, Gate};

/// An error with the text in the spec that it is about, to find its line; see `problem::line_of`.
pub(super) type Placed<T> = std::result::Result<T, (Error, String)>;

/// Puts no line on an error.
pub(super) fn anywhere(error: Error) -> (Error, String) {
    (error, String::new())
}

/// What an agent's keys say beside the agent itself.
#[derive(Default)]
pub(super) struct AgentParts {
    pub(super) options: Map<String, Value>,
    pub(super) secrets: Vec<String>,
    pub(super) keep_scratch: Option<KeepScratch>,
    /// How many samples it answers at once, unless `limits.concurrency` says otherwise.
    pub(super) concurrency: Option<usize>,
}

pub(super) fn build(
    spec: SpecFile,
    config: Value,
    path: &Path,
    registry: &Registry,
) -> Placed<Eval> {
    let path = file::absolute(path).map_err(anywhere)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut limits =
        limits(&spec.limits, &Limits::default()).map_err(|(key, error)| (error, key.to_owned()))?;
    let benchmark = benchmark(spec.benchmark, folder, registry)?;
    let (agent, parts) = agent(spec.agent, folder, &limits, registry)?;
    if spec.limits.concurrency.is_none() {
        limits.concurrency = parts.concurrency.unwrap_or(limits.concurrency);
    }
    if spec.limits.retries.is_none() {
        limits.retries = agent.default_retries();
    }
    let mut eval = Eval::from_parts(benchmark, agent);
    if let Some(name) = spec.name {
        crate::plan::check_name(&name).map_err(|error| (error, "name".to_owned()))?;
        eval.name = name;
    }
    eval.prompt = spec.prompt;
    eval.prompt.check(&*eval.benchmark).map_err(|error| {
        let word = match eval.prompt {
            Prompt::Template(_) => "template",
            _ => "official",
        };
        (error, word.to_owned())
    })?;
    eval.extract = match spec.extract {
        None => None,
        Some(value) => {
            let made = Extract::from_value(&value);
            Some(made.map_err(|error| (error, "extract".to_owned()))?)
        }
    };
    eval.scorers = match (spec.scorer, spec.scorers) {
        (Some(_), Some(_)) => {
            let error = Error::usage("both `scorer` and `scorers` are given");
            return Err((
                error.hint("write all of them into `scorers`"),
                "scorers".to_owned(),
            ));
        }
        (Some(one), None) => vec![scorer(one, folder, registry)?],
        (None, Some(list)) => list
            .into_iter()
            .map(|one| scorer(one, folder, registry))
            .collect::<Placed<_>>()?,
        (None, None) => Vec::new(),
    };
    check_scorer_names(&eval.scorers).map_err(|error| (error, "scorers".to_owned()))?;
    gate::check_unique(&spec.gates)
        .map_err(|error| (error, second_of_a_name(&spec.gates, &config)))?;
    eval.gates = spec.gates;
    eval.limits = limits;
    eval.shuffle = spec.shuffle.map(|shuffle| shuffle.seed);
    eval.epochs = spec.epochs.unwrap_or(1);
    crate::plan::check_epochs(eval.epochs).map_err(|error| (error, "epochs".to_owned()))?;
    eval.snapshot.assert = spec.snapshot.assert.0;
    eval.snapshot.answers = spec.snapshot.answers.map(Into::into);
    eval.snapshot.confirm = spec.snapshot.confirm.unwrap_or(2);
    let snapshots = spec
        .snapshot
        .path
        .unwrap_or_else(|| Path::new("snapshots").join(&eval.name));
    eval.snapshot.folder = folder.join(snapshots);
    eval.output_root = spec.output_root.map(|root| folder.join(root));
    eval.cache = spec
        .cache
        .map(|key| key.settings(folder))
        .unwrap_or_default();
    eval.redact = spec.redact;
    eval.secrets = parts.secrets;
    eval.agent_options = Arc::new(parts.options);
    eval.keep_scratch = parts
        .keep_scratch
        .or(spec.keep_scratch.map(Into::into))
        .unwrap_or_default();
    eval.spec = Some(path.clone());
    eval.config = config;
    // A pattern that cannot be compiled is a mistake in the spec: say so before anything starts.
    for pattern in &eval.redact {
        crate::text::redact::Redactor::new(std::slice::from_ref(pattern), &[])
            .map_err(|error| (error, pattern.clone()))?;
    }
    Ok(eval)
}

/// The text of the first gate whose name an earlier one has.
fn second_of_a_name(gates: &[Gate], config: &Value) -> String {
    let repeated = |place: &usize| {
        let earlier = &gates[..*place];
        earlier
            .iter()
            .any(|gate| gate.name() == gates[*place].name())
    };
    let text = |place: usize| config["gates"][place].as_str().map(str::to_owned);
    (0..gates.len())
        .find(repeated)
        .and_then(text)
        .unwrap_or_default()
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> (Error, String) {
    let known: Vec<&str> = known.collect();
    let error = Error::unregistered(format!("unknown {what} `{name}`"));
    let list = known.join("`, `");
    let error = match nearest(name, known) {
        Some(near) => error.hint(format!("did you mean `{near}`? legal names: `{list}`")),
        None => error.hint(format!(
            "legal names: `{list}`; one of your own is registered in a test binary with `Registry`"
        )),
    };
    (error, name.to_owned())
}

fn benchmark(
    tagged: Tagged<BenchmarkKeys>,
    folder: &Path,
    registry: &Registry,
) -> Placed<Arc<dyn Benchmark>> {
    match tagged {
        Tagged::BuiltIn(keys) => Ok(match keys {
            BenchmarkKeys::Gaia(keys) => {
                let shown = keys.path.as_ref();
                // Without a path, the line that names the benchmark is what it is about.
                let shown =
                    shown.map_or_else(|| "gaia".to_owned(), |path| path.display().to_string());
                Arc::new(gaia(keys, folder).map_err(|error| (error, shown))?)
            }
            BenchmarkKeys::Qa(keys) => Arc::new(benchmarks::qa(keys, folder)?),
            BenchmarkKeys::Gsm8k(keys) => Arc::new(benchmarks::gsm8k(keys, folder)?),
            BenchmarkKeys::Aime(keys) => Arc::new(benchmarks::aime(keys, folder)?),
            BenchmarkKeys::Bfcl(keys) => benchmarks::bfcl(keys, folder)?,
            BenchmarkKeys::Custom(keys) => Arc::new(custom::custom(keys, folder, registry)?),
        }),
        Tagged::Other { name, options } => {
            let options = Options::new(format!("benchmark `{name}`"), options, folder);
            let made = registry.make_benchmark(&name, &options);
            let known = BenchmarkKeys::NAMES
                .iter()
                .copied()
                .chain(registry.benchmark_names());
            made.ok_or_else(|| unknown("benchmark", &name, known))?
                .map_err(|error| (error, name))
        }
    }
}

fn gaia(keys: GaiaKeys, folder: &Path) -> Result<Gaia> {
    let path = keys.path.unwrap_or_else(|| HUB.into());
    let mut gaia = Gaia::open(hub::resolve(&path, folder))?.columns(columns(keys.columns));
    if let Some(split) = keys.split {
        gaia = gaia.split(split);
    }
    if let Some(levels) = keys.levels {
        let text = |level: Value| match level {
            Value::String(text) => text,
            other => other.to_string(),
        };
        gaia = gaia.levels(levels.into_iter().map(text));
    }
    if let Some(ids) = keys.ids {
        gaia = gaia.ids(ids);
    }
    Ok(gaia)
}

fn columns(keys: ColumnKeys) -> Columns {
    let ColumnKeys {
        prompt,
        ground_truth,
        id,
        level,
        file_name,
        file_path,
    } = keys;
    Columns {
        prompt,
        ground_truth,
        id,
        level,
        file_name,
        file_path,
    }
}

fn agent(
    tagged: Tagged<AgentKeys>,
    folder: &Path,
    limits: &Limits,
    registry: &Registry,
) -> Placed<(Arc<dyn Agent>, AgentParts)> {
    match tagged {
        Tagged::BuiltIn(AgentKeys::Command(keys)) => command(keys, folder, limits),
        Tagged::BuiltIn(AgentKeys::Worker(keys)) => worker::worker(keys, folder, limits),
        #[cfg(feature = "http")]
        Tagged::BuiltIn(AgentKeys::OpenAi(keys)) => {
            let parts = AgentParts {
                options: keys.options.clone(),
                ..AgentParts::default()
            };
            Ok((Arc::new(agents::openai(*keys, folder, limits)?), parts))
        }
        #[cfg(feature = "http")]
        Tagged::BuiltIn(AgentKeys::Http(keys)) => {
            let parts = AgentParts {
                options: keys.options.clone(),
                ..AgentParts::default()
            };
            Ok((Arc::new(agents::http(*keys, folder, limits)?), parts))
        }
        #[cfg(not(feature = "http"))]
        Tagged::BuiltIn(AgentKeys::Http(keys)) => {
            drop(keys);
            Err(without_http("http"))
        }
        #[cfg(not(feature = "http"))]
        Tagged::BuiltIn(AgentKeys::OpenAi(keys)) => {
            drop(keys);
            Err(without_http("openai"))
        }
        Tagged::BuiltIn(AgentKeys::Replay(keys)) => {
            let shown = keys.path.display().to_string();
            let path = folder.join(&keys.path);
            let replay = Replay::open(
                &path,
                keys.fields.id.as_deref(),
                keys.fields.answer.as_deref(),
            )
            .map_err(|error| (error, shown))?;
            Ok((
                Arc::new(replay),
                AgentParts {
                    options: keys.options,
                    ..AgentParts::default()
                },
            ))
        }
        Tagged::BuiltIn(AgentKeys::Echo(keys)) => {
            let parts = AgentParts {
                options: keys.options,
                ..AgentParts::default()
            };
            Ok((Arc::new(Echo::new(keys.text)), parts))
        }
        Tagged::BuiltIn(AgentKeys::Demo(keys)) => {
            let parts = AgentParts {
                options: keys.options,
                ..AgentParts::default()
            };
            Ok((Arc::new(Demo), parts))
        }
        Tagged::Other { name, options } => {
            let common = options.get("options").and_then(Value::as_object).cloned();
            let options = Options::new(format!("agent `{name}`"), options, folder);
            let made = registry.make_agent(&name, &options);
            let known = AgentKeys::NAMES
                .iter()
                .copied()
                .chain(registry.agent_names());
            let agent = made.ok_or_else(|| unknown("agent", &name, known))?;
            let parts = AgentParts {
                options: common.unwrap_or_default(),
                ..AgentParts::default()
            };
            Ok((agent.map_err(|error| (error, name))?, parts))
        }
    }
}

/// The error for an agent that this build of the library does not have.
#[cfg(not(feature = "http"))]
fn without_http(name: &str) -> (Error, String) {
    let message =
        format!("agent `{name}` in a spec needs the feature `http` of the crate `evaltest`");
    let error = Error::usage(message).hint(
        "write `evaltest = { version = \"…\", features = [\"http\"] }` into `Cargo.toml`, or run it with \
         `cargo evaltest`, which has the feature",
    );
    (error, name.to_owned())
}

fn command(
    keys: CommandKeys,
    folder: &Path,
    limits: &Limits,
) -> Placed<(Arc<dyn Agent>, AgentParts)> {
    let wrong =
        |message: &str, hint: &str| (Error::usage(message).hint(hint), "type: command".to_owned());
    let argv = match (keys.command.is_empty(), keys.shell) {
        (false, None) => keys.command,
        (true, Some(line)) => vec!["/bin/sh".to_owned(), "-c".to_owned(), line],
        (true, None) => {
            return Err(wrong(
                "agent.command is missing",
                "write `command: [python3, agent.py]`",
            ));
        }
        (false, Some(_)) => {
            return Err(wrong(
                "agent has both `command` and `shell`",
                "remove one of them",
            ));
        }
    };
    let input = match keys.input {
        Form::Text => Input::Text,
        Form::Json => Input::Json,
    };
    let output = match keys.output {
        Form::Text => Reply::Text,
        Form::Json => Reply::Json,
    };
    let cwd = match keys.cwd {
        CwdKey::Spec => Cwd::Folder(folder.to_owned()),
        CwdKey::Scratch => Cwd::Scratch,
    };
    let vars = variables::from_dot_env(&keys.env, folder).map_err(anywhere)?;
    let command = Command::new(argv, folder)
        .input(input)
        .output(output)
        .env(keys.env)
        .vars(vars)
        .cwd(cwd)
        .max_output_bytes(limits.max_output_bytes)
        .ulimits(keys.ulimits.limits()?);
    let command = match keys.sandbox {
        Some(sandbox) => command.sandbox(sandbox.sandbox()?),
        None => command,
    };
    let parts = AgentParts {
        options: keys.options,
        secrets: command.secret_values(),
        keep_scratch: keys.keep_scratch.map(Into::into),
        concurrency: None,
    };
    Ok((Arc::new(command), parts))
}

fn scorer(
    tagged: Tagged<NoBuiltIn>,
    folder: &Path,
    registry: &Registry,
) -> Placed<Arc<dyn Scorer>> {
    let Tagged::Other { name, options } = tagged;
    let context = scorer::Context {
        folder,
        registry: Some(registry),
    };
    scorer::by_name(&name, &options, &context).map_err(|error| (error, name))
}
