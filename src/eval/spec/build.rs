//! Builds an eval from the keys of a spec: resolves paths, looks up names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::keys::{
    PerturbKeys, RecordKeys, ScorerKeys, SnapshotKeys, SpecFile, ToolsKeys, UserKeys, WebhookKeys,
};
use super::limits::{limits, parse_seconds};
use super::parts::ChosenParts;
use crate::agent::Agent;
use crate::agent::conversation::{Conversation, MockTools, SimulatedUser, WorkerEnvironment};
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::data::ItemPart;
use crate::data::Variant;
use crate::error::{Error, Result, Under};
use crate::eval::plan::check_scorer_names;
use crate::eval::plan::secret::KeyVariables;
use crate::eval::registry::scorers::{self, Context};
use crate::eval::registry::{MadeAgent, Registry, Surroundings, of_value};
use crate::eval::{Eval, Limits};
use crate::scorer::Scorer;
use crate::scorer::extract::Extract;
use crate::system::file;
use crate::verdict::gate::{self, Gate};

/// The folder of an eval's snapshots, relative to that of its spec.
pub(super) fn snapshots(
    folder: &Path,
    key: Option<PathBuf>,
    eval: &str,
    variant: &Variant,
) -> PathBuf {
    let snapshots = key.unwrap_or_else(|| Path::new("snapshots").join(eval));
    let snapshots = file::tidy(&folder.join(snapshots));
    // Each variant has its own baseline, whatever the folder's name is.
    match (variant.to_string(), snapshots.file_name()) {
        (sign, _) if sign.is_empty() => snapshots,
        (sign, Some(name)) => {
            let mut name = name.to_owned();
            name.push(sign);
            snapshots.with_file_name(name)
        }
        (sign, None) => snapshots.join(sign),
    }
}

/// What an eval needs besides its spec.
pub(super) struct Around<'a> {
    pub(super) path: &'a Path,
    pub(super) registry: &'a Registry,
    pub(super) variant: &'a Variant,
    /// The benchmark of another variant of the spec, to be shared.
    pub(super) benchmark: Option<Arc<dyn Benchmark>>,
}

pub(super) fn build(
    spec: SpecFile,
    parts: ChosenParts,
    config: Value,
    gates: Vec<Gate>,
    around: Around<'_>,
) -> Result<Eval> {
    let Around {
        path,
        registry,
        variant,
        benchmark,
    } = around;
    KeyVariables::of(&config).check_not_plain(&config)?;
    let path = file::absolute(path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut limits = limits(&spec.limits, &Limits::default()).under("limits")?;
    let surroundings = Surroundings {
        folder,
        registry,
        max_output_bytes: limits.max_output_bytes,
        has_scorers: spec.scorer.is_some() || spec.scorers.is_some(),
    };
    let benchmark = match benchmark {
        Some(benchmark) => benchmark,
        None => parts.benchmark.make(&surroundings).under("benchmark")?,
    };
    let missing = || Error::usage("the spec has no agent").hint("add `agent: echo`");
    let MadeAgent {
        agent,
        options,
        mut secrets,
        keep_scratch,
        concurrency,
        ..
    } = parts
        .agent
        .ok_or_else(missing)?
        .make(&surroundings)
        .under("agent")?;
    if spec.limits.concurrency.is_none() {
        limits.concurrency = concurrency.unwrap_or(limits.concurrency);
    }
    if spec.limits.retries.is_none() {
        limits.retries = agent.default_retries();
    }
    let parties = (spec.user, spec.tools);
    let agent = conversing(agent, &*benchmark, parties, &surroundings, &mut secrets)?;
    let mut eval = Eval::from_parts(benchmark, agent);
    let name = match spec.name {
        Some(name) => {
            crate::eval::plan::check_name(&name).under("name")?;
            name
        }
        None => super::names::name_of(&path)?,
    };
    eval.name = format!("{name}{variant}");
    eval.variant = variant.clone();
    eval.cluster = spec.benchmark.rest.cluster;
    eval.prompt = spec.prompt.unwrap_or_default();
    check_prompt(&eval).under("prompt")?;
    eval.extract = match spec.extract {
        None => None,
        Some(value) => Some(Extract::from_value(&value).under("extract")?),
    };
    let item_parts = judged_parts(&mut eval, surroundings.has_scorers).under("agent")?;
    let context = Context {
        folder,
        registry: Some(registry),
        item_parts: item_parts.as_deref(),
    };
    eval.scorers = scorers_of(spec.scorer, spec.scorers, &context)?;
    check_scorer_names(&eval.scorers).under("scorers")?;
    if let Some(tiers) = spec.tiers {
        eval.tiers = super::tiers(tiers).under("tiers")?;
    }
    eval.no_gates = gates.is_empty() && config.get("gates").is_some();
    eval.gates = gate::of_tiers(gates, !eval.tiers.is_empty());
    gate::check_unique(&eval.gates).under("gates")?;
    eval.alerting.alerts = spec.alerts.checked()?;
    eval.alerting.webhook = spec.webhook.map(WebhookKeys::made).transpose()?;
    eval.limits = limits;
    eval.errors = spec.errors.map(Into::into).unwrap_or_default();
    eval.shuffle = spec.shuffle.map(|shuffle| shuffle.seed);
    eval.epochs = spec.epochs.unwrap_or(1);
    crate::eval::plan::check_epochs(eval.epochs).under("epochs")?;
    eval.perturb = spec
        .perturb
        .map(PerturbKeys::made)
        .transpose()
        .under("perturb")?;
    set_snapshot(&mut eval, spec.snapshot, folder, &name);
    eval.spec = Some(path.clone());
    eval.output_root = spec.output_root.map(|root| file::tidy(&folder.join(root)));
    let cache = spec.cache.map(|key| key.settings(folder));
    eval.cache = cache.unwrap_or_default();
    eval.record = spec.record.map(RecordKeys::made);
    eval.check_record()?;
    eval.redact = spec.redact;
    eval.secrets = secrets;
    eval.agent_options = Arc::new(options);
    eval.keep_scratch = keep_scratch
        .or(spec.keep_scratch.map(Into::into))
        .unwrap_or_default();
    eval.config = config;
    check_patterns(&eval.redact).under("redact")?;
    Ok(eval)
}

/// An invalid pattern is a mistake in the spec: it is reported before anything starts.
fn check_patterns(redact: &[String]) -> Result<()> {
    for (item, pattern) in redact.iter().enumerate() {
        let compiled = crate::text::redact::Redactor::new(std::slice::from_ref(pattern), &[]);
        compiled.under(item)?;
    }
    Ok(())
}

/// Sets what the keys of `snapshot` say.
fn set_snapshot(eval: &mut Eval, keys: SnapshotKeys, folder: &Path, name: &str) {
    eval.snapshot.assert = keys.assert.0;
    eval.snapshot.answers = keys.answers.map(Into::into);
    eval.snapshot.flips = keys.flips.map(Into::into).unwrap_or_default();
    eval.snapshot.confirm = keys.confirm;
    eval.snapshot.folder = snapshots(folder, keys.path, name, &eval.variant);
}

/// The agent with the user and the tools of its conversations.
fn conversing(
    agent: Arc<dyn Agent>,
    benchmark: &dyn Benchmark,
    (user, tools): (Option<UserKeys>, Option<ToolsKeys>),
    surroundings: &Surroundings<'_>,
    secrets: &mut Vec<String>,
) -> Result<Arc<dyn Agent>> {
    let given = [("user", user.is_some()), ("tools", tools.is_some())];
    if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given)
        && !benchmark.has_conversations()
    {
        let name = benchmark.name();
        let message =
            format!("`{key}` has no effect: the samples of `{name}` are not conversations");
        let error = Error::usage(message)
            .hint("remove it, or use `benchmark: { type: conversations, path: … }`");
        return Err(error.of_key(key));
    }
    if !benchmark.has_conversations() || agent.answers_conversations() {
        return Ok(agent);
    }
    let by_server = tools.as_ref().is_some_and(|tools| tools.mcp == Some(true));
    check_server(&*agent, tools.is_some(), by_server).under("tools")?;
    let mut conversation = Conversation::of(agent);
    if let Some(own) = benchmark.tools() {
        if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            let name = benchmark.name();
            let error = Error::usage(format!("`{key}` has no effect: `{name}` has its own"));
            return Err(error.hint("remove it").of_key(key));
        }
        conversation = conversation.benchmark_tools(own);
    }
    if let Some(keys) = user {
        let made: MadeAgent = of_value(&keys.agent, surroundings)
            .under("agent")
            .under("user")?;
        secrets.extend(made.secrets);
        let mut user = SimulatedUser::of(made.agent, made.options);
        if let Some(turns) = keys.max_turns {
            user = user.max_turns(not_zero("max_turns", turns).under("user")?);
        }
        if let Some(stop) = keys.stop {
            if stop.trim().is_empty() {
                let error =
                    Error::usage("`stop` is blank, so the user could never end a conversation");
                let error = error.hint("write a text such as `stop: '###STOP###'`, or remove it");
                return Err(error.under("stop").under("user"));
            }
            user = user.stop(stop);
        }
        conversation = conversation.user(user);
    }
    if let Some(keys) = tools {
        conversation = with_tools(conversation, keys, surroundings, secrets).under("tools")?;
    }
    Ok(Arc::new(conversation))
}

/// Whether an agent can be offered the tools in this way.
fn check_server(agent: &dyn Agent, has_tools: bool, by_server: bool) -> Result<()> {
    if by_server && !agent.takes_server() {
        let error = Error::usage(
            "`mcp: true` is for the agents `acp`, `command` and `worker`, without `sandbox`",
        )
        .hint("remove `mcp`: other agents get the tools with each message");
        return Err(error.of_key("mcp").under("mcp"));
    }
    if has_tools && !by_server && agent.executes_calls() {
        let error =
            Error::usage("the agent calls tools itself, so it would never see those of `tools`");
        return Err(error.hint("add `mcp: true` to `tools`"));
    }
    Ok(())
}

fn not_zero(key: &str, count: u32) -> Result<u32> {
    if count == 0 {
        let error = Error::usage(format!("`{key}` is 0")).hint(format!("write `{key}: 10`"));
        return Err(error.under(key));
    }
    Ok(count)
}

fn with_tools(
    mut conversation: Conversation,
    keys: ToolsKeys,
    surroundings: &Surroundings<'_>,
    secrets: &mut Vec<String>,
) -> Result<Conversation> {
    conversation = match (keys.environment, keys.mock) {
        (Some(_), Some(_)) => {
            let error = Error::usage("both `environment` and `mock` are given");
            return Err(error
                .hint("remove one of them")
                .of_key("mock")
                .under("mock"));
        }
        (None, None) => {
            let error = Error::usage("neither `environment` nor `mock` is given");
            return Err(error.hint(
                "write `mock: tools.yaml`, or `environment: { type: worker, command: […] }`",
            ));
        }
        (Some(value), None) => {
            let made: MadeAgent = of_value(&value, surroundings).under("environment")?;
            let worker = made.worker.ok_or_else(|| {
                let error = Error::usage("an environment is a `worker`");
                error
                    .hint("write `environment: { type: worker, command: [python3, tools.py] }`")
                    .under("environment")
            })?;
            secrets.extend(made.secrets);
            let environment = WorkerEnvironment::of(worker);
            conversation.environment(if keys.replayable == Some(false) {
                environment.not_replayable()
            } else {
                environment
            })
        }
        (None, Some(mock)) => {
            let path = surroundings.folder.join(mock);
            conversation.environment(MockTools::open(path).under("mock")?)
        }
    };
    if keys.mcp == Some(true) {
        conversation = conversation.serve_tools();
    }
    if let Some(steps) = keys.max_steps {
        conversation = conversation.max_steps(not_zero("max_steps", steps)?);
    }
    if let Some(timeout) = parse_seconds("tool_timeout_s", keys.tool_timeout_s, 0.001)? {
        conversation = conversation.tool_timeout(timeout);
    }
    Ok(conversation)
}

fn check_prompt(eval: &Eval) -> Result<()> {
    let is_own = !matches!(eval.prompt, Prompt::Default | Prompt::None);
    if is_own && eval.benchmark.has_conversations() {
        let error =
            Error::usage("a conversation has no prompt: the agent receives the user's messages");
        return Err(error.hint("remove `prompt`, and put instructions into `system` of the sample"));
    }
    let checked = eval.prompt.check(&*eval.benchmark);
    match eval.prompt {
        Prompt::Template(_) => checked.under("template"),
        _ => checked,
    }
}

/// The scorers of a spec; the first decides.
fn scorers_of(
    one: Option<ScorerKeys>,
    several: Option<Vec<ScorerKeys>>,
    context: &Context<'_>,
) -> Result<Vec<Arc<dyn Scorer>>> {
    match (one, several) {
        (Some(_), Some(_)) => {
            let error = Error::usage("both `scorer` and `scorers` are given");
            let error = error.hint("write all of them into `scorers`");
            Err(error.of_key("scorers"))
        }
        (Some(one), None) => Ok(vec![scorer(&one, context).under("scorer")?]),
        (None, Some(list)) => list
            .iter()
            .enumerate()
            .map(|(item, one)| scorer(one, context).under(item))
            .collect::<Result<_>>()
            .under("scorers"),
        (None, None) => Ok(Vec::new()),
    }
}

fn scorer(keys: &ScorerKeys, context: &Context<'_>) -> Result<Arc<dyn Scorer>> {
    scorers::by_name(&keys.name, &keys.rest, context)
}

/// The parts of the items to judge if no agent is asked.
///
/// # Errors
/// When the benchmark has none, or no scorer judges them.
fn judged_parts(eval: &mut Eval, has_scorers: bool) -> Result<Option<Vec<ItemPart>>> {
    let Some(parts) = eval.agent.item_parts().map(<[ItemPart]>::to_vec) else {
        return Ok(None);
    };
    let benchmark = eval.benchmark.name();
    if !eval.benchmark.has_items() {
        let message = format!("agent `none` needs a benchmark with items; `{benchmark}` has none");
        return Err(Error::usage(message).hint(
            "take `benchmark: { type: items, path: … }` or `aime`, or name an agent that answers",
        ));
    }
    if !has_scorers {
        let message = format!(
            "the agent is `none`, and the scorer of `{benchmark}` judges answers, which no agent gives"
        );
        return Err(Error::usage(message).hint(
            "write a scorer that judges items: `scorer: { type: judge, rubric: aime, agent: … }`",
        ));
    }
    // The end of a solution is not a predicted answer.
    eval.extract.get_or_insert_with(Extract::none);
    Ok(Some(parts))
}
