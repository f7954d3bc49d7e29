//! From the keys of a spec to an eval: paths are resolved, names are looked up.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::keys::{ScorerKeys, SpecFile};
use super::limits::limits;
use super::tagged::Tagged;
use crate::benchmark::prompt::Prompt;
use crate::error::Error;
use crate::eval::plan::check_scorer_names;
use crate::eval::registry::scorers::{self, Context};
use crate::eval::registry::{MadeAgent, Placed, Registry, Surroundings, anywhere};
use crate::eval::{Eval, Limits};
use crate::scorer::Scorer;
use crate::scorer::extract::Extract;
use crate::system::file;
use crate::verdict::gate::{self, Gate};

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
    let surroundings = Surroundings {
        folder,
        registry,
        max_output_bytes: limits.max_output_bytes,
    };
    let benchmark = spec.benchmark.0.make(&surroundings)?;
    let MadeAgent {
        agent,
        options,
        secrets,
        keep_scratch,
        concurrency,
    } = spec.agent.0.make(&surroundings)?;
    if spec.limits.concurrency.is_none() {
        limits.concurrency = concurrency.unwrap_or(limits.concurrency);
    }
    if spec.limits.retries.is_none() {
        limits.retries = agent.default_retries();
    }
    let mut eval = Eval::from_parts(benchmark, agent);
    if let Some(name) = spec.name {
        crate::eval::plan::check_name(&name).map_err(|error| (error, "name".to_owned()))?;
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
    crate::eval::plan::check_epochs(eval.epochs).map_err(|error| (error, "epochs".to_owned()))?;
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
    eval.secrets = secrets;
    eval.agent_options = Arc::new(options);
    eval.keep_scratch = keep_scratch
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

fn scorer(
    Tagged(ScorerKeys { name, options }): Tagged<ScorerKeys>,
    folder: &Path,
    registry: &Registry,
) -> Placed<Arc<dyn Scorer>> {
    let context = Context {
        folder,
        registry: Some(registry),
    };
    scorers::by_name(&name, &options, &context).map_err(|error| (error, name))
}
