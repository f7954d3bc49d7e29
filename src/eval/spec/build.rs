//! Builds an eval from the keys of a spec: resolves paths, looks up names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::keys::{ScorerKeys, SpecFile, WebhookKeys};
use super::limits::limits;
use super::parts::ChosenParts;
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::data::ItemPart;
use crate::data::Variant;
use crate::error::{Error, Result, Under};
use crate::eval::plan::check_scorer_names;
use crate::eval::plan::secret::KeyVariables;
use crate::eval::registry::scorers::{self, Context};
use crate::eval::registry::{MadeAgent, Registry, Surroundings};
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
        secrets,
        keep_scratch,
        concurrency,
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
    eval.snapshot.assert = spec.snapshot.assert.0;
    eval.snapshot.answers = spec.snapshot.answers.map(Into::into);
    eval.snapshot.flips = spec.snapshot.flips.map(Into::into).unwrap_or_default();
    eval.snapshot.confirm = spec.snapshot.confirm;
    eval.snapshot.folder = snapshots(folder, spec.snapshot.path, &name, variant);
    eval.output_root = spec.output_root.map(|root| file::tidy(&folder.join(root)));
    eval.cache = spec
        .cache
        .map(|key| key.settings(folder))
        .unwrap_or_default();
    eval.redact = spec.redact;
    eval.secrets = secrets;
    eval.agent_options = Arc::new(options);
    eval.keep_scratch = keep_scratch
        .or(spec.keep_scratch.map(Into::into))
        .unwrap_or_default();
    eval.spec = Some(path.clone());
    eval.config = config;
    // An invalid pattern is a mistake in the spec: report it before anything starts.
    for (item, pattern) in eval.redact.iter().enumerate() {
        let compiled = crate::text::redact::Redactor::new(std::slice::from_ref(pattern), &[]);
        compiled.under(item).under("redact")?;
    }
    Ok(eval)
}

fn check_prompt(eval: &Eval) -> Result<()> {
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
        let message = format!("the agent is `none`, and the benchmark `{benchmark}` has no items");
        return Err(Error::usage(message).hint(
            "take `benchmark: { type: items, path: … }` or `aime`, or name an agent that answers",
        ));
    }
    if !has_scorers {
        let message = format!(
            "the agent is `none`, and the scorer of `{benchmark}` judges answers: nobody gives one"
        );
        return Err(Error::usage(message)
            .hint("name who judges the items: `scorer: { type: judge, rubric: aime, agent: … }`"));
    }
    // The end of a solution is not a predicted answer.
    eval.extract.get_or_insert_with(Extract::none);
    Ok(Some(parts))
}
