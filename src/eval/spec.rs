//! Specs: YAML to [`Eval`].
//!
//! `keys` holds the types that serde reads, `tagged` the `{ type: …, … }` maps, `parts` the benchmark and the agent, whose
//! keys only the registry knows; `places` and `problem` say where a mistake stands.

use std::cell::LazyCell;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeSeed;
use serde_json::Value;

use crate::error::{Error, KeyPath, Result, Step};
use crate::eval::Eval;
use crate::eval::registry::Registry;
use crate::text::yaml::{self, YamlError};

mod build;
mod builder;
mod cache;
pub(crate) mod driven;
mod keys;
mod limits;
#[cfg(test)]
mod mutations;
mod overrides;
#[cfg(test)]
mod pages;
mod parts;
mod places;
mod problem;
mod tagged;

pub(crate) use crate::text::setting::Override;
pub(crate) use builder::override_built;

use keys::SpecFile;
use parts::{ChosenParts, PartsOf};
use places::SpecPlaces;

impl Eval {
    /// Reads a spec that names only built-in benchmarks, agents and scorers.
    ///
    /// # Errors
    /// With file, line and column when the spec is wrong, or with the path of what it names and is missing.
    pub fn from_yaml(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_yaml_with(path, &Registry::new())
    }

    /// Reads a spec that may also name what is registered.
    pub fn from_yaml_with(path: impl AsRef<Path>, registry: &Registry) -> Result<Self> {
        let path = path.as_ref();
        let path = if path.is_relative() {
            crate::system::project::package_root().join(path)
        } else {
            path.to_owned()
        };
        load(&path, registry, &driven::overrides()?)
    }
}

/// Reads a spec and applies overrides.
///
/// # Errors
/// As [`Eval::from_yaml`].
pub fn load(path: &Path, registry: &Registry, overrides: &[Override]) -> Result<Eval> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::io("read the spec", path, &error).hint("cargo evaltest init writes an example")
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let valid = String::from_utf8_lossy(valid);
        let line = valid.split('\n').count();
        let column = valid.chars().rev().take_while(|&c| c != '\n').count() + 1;
        Error::usage(format!(
            "{}:{line}:{column}: the spec is not valid UTF-8",
            path.display()
        ))
        .hint(format!(
            "convert the file: `iconv -f LATIN1 -t UTF-8 '{}'`",
            path.display()
        ))
    })?;
    parse(&text, path, registry, overrides)
}

/// The names of a spec's eval and benchmark, also where it names what is not registered here.
pub fn names(path: &Path) -> Result<(String, String)> {
    let text =
        std::fs::read_to_string(path).map_err(|error| Error::io("read the spec", path, &error))?;
    let (spec, _) = read(&text).map_err(|error| problem::explain(path, &text, &error))?;
    let benchmark = spec.benchmark.name;
    Ok((spec.name.unwrap_or_else(|| benchmark.clone()), benchmark))
}

fn read(text: &str) -> std::result::Result<(SpecFile, ChosenParts), YamlError> {
    let spec = yaml::read(text)?;
    let parts = yaml::read_by(PartsOf(&spec), text)?;
    Ok((spec, parts))
}

/// The same of a value.
fn read_value(value: &Value) -> serde_json::Result<(SpecFile, ChosenParts)> {
    let spec = SpecFile::deserialize(value)?;
    let parts = PartsOf(&spec).deserialize(value)?;
    Ok((spec, parts))
}

/// As [`load`], for a spec that is not a file; `path` is where it would be.
pub fn parse(text: &str, path: &Path, registry: &Registry, overrides: &[Override]) -> Result<Eval> {
    let explain = |error| problem::explain(path, text, &error);
    let (mut spec, mut parts) = read(text).map_err(explain)?;
    let mut value = yaml::read_json(text).map_err(explain)?;
    if !overrides.is_empty() {
        value = overrides::apply(value, overrides)?;
        (spec, parts) = read_value(&value).map_err(|error| {
            let given: Vec<_> = overrides.iter().map(ToString::to_string).collect();
            problem::explain_override(path, &given.join("`, `"), &error.to_string())
        })?;
    }
    let places = LazyCell::new(|| SpecPlaces::of(text));
    let place = |path: &KeyPath| {
        let is_given = overrides.iter().any(|change| change.decides(path, &places));
        places.at(path).filter(|_| !is_given)
    };
    let eval = build::build(spec, parts, value, path, registry);
    let mut eval = eval.map_err(|error| match error.key_path().and_then(place) {
        Some(place) => error.at(format_args!("{}:{place}", path.display())),
        None => error.at(path.display()),
    })?;
    eval.overrides = overrides.to_vec();
    // A gate that no sample matches is found with the dataset, when this text is gone.
    let file = eval.spec.as_deref().unwrap_or(path).display();
    let gates = 0..eval.gates.len();
    let gates = gates.map(|item| place(&KeyPath::from_iter(["gates".into(), Step::Item(item)])));
    eval.gate_places = gates
        .map(|place| Some(format!("{file}:{}", place?)))
        .collect();
    Ok(eval)
}
