//! Recreates the scorers of a run from its manifest.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::extraction_of;
use crate::error::{Error, Result};
use crate::eval::registry::Registry;
use crate::eval::registry::agents::none::item_parts;
use crate::eval::registry::scorers::{self, Context};
use crate::eval::{Budget, plan, spec};
use crate::scorer::Scorer;
use crate::scorer::extract::Extract;
use crate::scorer::hash::scorers_hash;
use crate::store::Manifest;

/// The scorers of a run.
pub struct Origin {
    /// The scorers; the first decides.
    pub scorers: Vec<Arc<dyn Scorer>>,
    /// The same as a spec writes them, or their names if there is no spec.
    pub specs: Vec<Value>,
}

/// The scorers of a run with the same options: those of its spec, else of its benchmark. The hash in the manifest tells
/// whether they are the same.
///
/// # Errors
/// When they cannot be made: a user's own scorer, or options that are no longer known.
pub fn scorers_of(manifest: &Manifest) -> Result<Origin> {
    let extraction = extraction_of(manifest)?;
    let are_the_same =
        |scorers: &[Arc<dyn Scorer>]| scorers_hash(&extraction, scorers) == manifest.scorers_hash;
    let spec = spec::spec_of_run(manifest);
    let folder = spec.as_deref().and_then(Path::parent);
    let item_parts = manifest.config.get("agent").and_then(item_parts);
    let context = Context {
        folder: folder.unwrap_or(Path::new(".")),
        registry: None,
        item_parts: item_parts.as_deref(),
    };
    let specs = named(&manifest.config, &manifest.scorers);
    let made = specs
        .iter()
        .map(|value| scorers::from_value(value, &context))
        .collect::<Result<Vec<_>>>();
    if let Ok(scorers) = &made
        && are_the_same(scorers)
    {
        let scorers = scorers.clone();
        return Ok(Origin { scorers, specs });
    }
    let eval = spec.and_then(|spec| {
        let overrides = &manifest.overrides;
        let eval = spec::load_of(&spec, &Registry::new(), overrides, &manifest.eval);
        eval.ok().filter(plan::judges_answers)
    });
    let scorers = eval.as_ref().map(plan::scorers).unwrap_or_default();
    if are_the_same(&scorers) {
        return Ok(Origin { scorers, specs });
    }
    let names = manifest.scorers.join("`, `");
    let run = &manifest.run_id;
    Err(match made {
        Ok(_) => Error::usage(format!(
            "run `{run}` was judged by `{names}` with options or a version that this program does not \
             know"
        ))
        .hint(
            "use the scorers of a spec: `--spec SPEC`; or name the scorer with its options: \
             `--scorer gaia`, or `--scorer '{ type: substring, compat: true }'`",
        ),
        Err(error) => unknown(&specs, error),
    })
}

/// The current scorers of a spec, with its extraction, if any, and its budget.
///
/// # Errors
/// When the spec cannot be read, or has no scorer.
pub fn scorers_of_spec(path: &Path) -> Result<(Origin, Option<Extract>, Budget)> {
    let eval = spec::load_any(path, &Registry::new(), &[])?;
    if !plan::judges_answers(&eval) {
        let message = format!("{}: the spec has no scorer", path.display());
        return Err(Error::usage(message).hint("add one: `scorer: gaia`"));
    }
    let scorers = plan::scorers(&eval);
    let names: Vec<&str> = scorers.iter().map(Scorer::name).collect();
    let specs = named(&eval.config, &names);
    Ok((Origin { scorers, specs }, eval.extract, eval.limits.budget))
}

/// The scorers as the spec writes them, else only their names.
fn named(config: &Value, names: &[impl AsRef<str>]) -> Vec<Value> {
    if let Some(scorer) = config.get("scorer").filter(|scorer| !scorer.is_null()) {
        return vec![scorer.clone()];
    }
    match config.get("scorers").and_then(Value::as_array) {
        Some(list) => list.clone(),
        None => names.iter().map(|name| name.as_ref().into()).collect(),
    }
}

/// The error if one of the scorers is not built in; other errors are unchanged.
fn unknown(specs: &[Value], error: Error) -> Error {
    let names = specs
        .iter()
        .filter_map(|spec| spec.get("type").unwrap_or(spec).as_str());
    let mut strangers = names.filter(|name| scorers::entry(name).is_none());
    match strangers.next() {
        None => error,
        Some(name) => Error::usage(format!(
            "scorer `{name}` is not built in, so this program cannot score with it"
        ))
        .hint(
            "name another: `--scorer gaia`; see `cargo evaltest scorers --list`; from Rust \
             `evaltest::engine::run::rescore` takes any scorer",
        ),
    }
}
