//! Specs: YAML to [`Eval`].
//!
//! `keys` holds the types that serde reads, `tagged` the `{ type: …, … }` maps, `parts` the benchmark and the agent, whose
//! keys only the registry knows; `places` and `problem` say where a mistake stands.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeSeed;
use serde_json::Value;

use crate::error::{Error, KeyPath, Result, Step};
use crate::eval::Eval;
use crate::eval::plan;
use crate::eval::registry::Registry;
use crate::system::file;
use crate::text::yaml::{self, YamlError};

mod broken;
mod build;
mod builder;
mod cache;
pub(crate) mod driven;
mod keys;
mod limits;
mod misplaced;
#[cfg(test)]
mod mutations;
mod of_run;
mod overrides;
#[cfg(test)]
mod pages;
mod parts;
mod problem;
#[cfg(feature = "schema")]
pub(crate) mod schema;
mod tagged;

pub(crate) use crate::text::setting::Override;
pub(crate) use builder::override_built;
pub(crate) use limits::budget_of;
pub use of_run::spec_of_run;

use crate::data::yaml_places::YamlPlaces;
use keys::SpecFile;
use parts::{ChosenParts, PartsOf};

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
    parse(&text_of(path)?, path, registry, overrides)
}

fn text_of(path: &Path) -> Result<String> {
    let bytes = file::read_given(path).map_err(|error| {
        Error::io("read the spec", path, &error).hint("cargo evaltest init writes an example")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let valid = String::from_utf8_lossy(valid);
        let line = valid.split('\n').count();
        let column = valid.chars().rev().take_while(|&c| c != '\n').count() + 1;
        let bytes = error.as_bytes();
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            let path = path.display();
            return Error::usage(format!(
                "{path}:1:1: by its byte order mark the spec is UTF-16, and not UTF-8"
            ))
            .hint(format!(
                "convert the file: `iconv -f UTF-16 -t UTF-8 '{path}'`"
            ));
        }
        Error::usage(format!(
            "{}:{line}:{column}: the spec is not valid UTF-8",
            path.display()
        ))
        .hint(format!(
            "convert the file: `iconv -f LATIN1 -t UTF-8 '{}'`",
            path.display()
        ))
    })
}

/// What a spec calls its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpecNames {
    /// The eval.
    pub eval: String,
    /// Its benchmark.
    pub benchmark: String,
    /// The folder of its snapshots.
    pub snapshots: PathBuf,
}

/// The names that stand in a spec, also where it names what is not registered here.
pub fn names(path: &Path) -> Result<SpecNames> {
    let text = text_of(path)?;
    let text = without_mark(&text);
    let (spec, _) = read(text).map_err(|error| problem::explain(path, text, &error))?;
    let eval = match spec.name {
        Some(name) => name,
        None => name_of(path)?,
    };
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    Ok(SpecNames {
        snapshots: build::snapshots(folder, spec.snapshot.path, &eval),
        eval,
        benchmark: spec.benchmark.name,
    })
}

/// What the eval of a spec may be called that cannot be read: by its `name:`, if it has one, and by its file.
pub fn likely_names(path: &Path) -> Vec<String> {
    let bytes = file::read_plain(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let text = without_mark(&text);
    let given = match yaml::read_json(text) {
        Ok(value) => value["name"].as_str().map(str::to_owned),
        Err(_) => text.lines().find_map(|line| {
            let value = line.strip_prefix("name:")?.split(" #").next()?;
            Some(value.trim().trim_matches(['"', '\'']).to_owned())
        }),
    };
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let names = given.into_iter().chain(name_of(path).ok()).chain(stem);
    names.filter(|name| !name.is_empty()).collect()
}

/// Whether a text of YAML is meant as a spec: it names a benchmark or an agent. What is broken YAML is one if it speaks of
/// them, so that a mistake in a spec is told and does not make it pass for another program's file.
pub fn is_spec(text: &str) -> bool {
    const KEYS: [&str; 2] = ["benchmark", "agent"];
    let text = without_mark(text);
    match yaml::read_json(text) {
        Ok(Value::Object(map)) => KEYS.iter().any(|key| map.contains_key(*key)),
        Ok(_) => false,
        Err(_) => KEYS.iter().any(|key| text.contains(key)),
    }
}

/// The name of an eval whose spec gives none: that of its file, with `-` for what no name may have.
fn name_of(path: &Path) -> Result<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let legal = |c: char| if plan::is_name_part(c) { c } else { '-' };
    let name: String = stem.chars().map(legal).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() {
        return Err(
            Error::usage("the eval has no name, and its file's name makes none")
                .hint("add `name: NAME`, of letters, digits, `-`, `_` and `.`"),
        );
    }
    Ok(name.to_owned())
}

/// The text without the mark that editors of Windows begin files with: the parser takes it for a part of the first key.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
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
    parse_of(text, SpecSource::File(path), registry, overrides)
}

/// As [`parse`], for a spec that is nothing but flags: no error blames a file that nobody wrote.
pub fn of_flags(
    text: &str,
    path: &Path,
    registry: &Registry,
    overrides: &[Override],
) -> Result<Eval> {
    parse_of(text, SpecSource::Flags(path), registry, overrides)
}

/// Where a text comes from.
#[derive(Clone, Copy)]
enum SpecSource<'a> {
    File(&'a Path),
    /// The flags of a command; the path is where the spec would be.
    Flags(&'a Path),
}

fn parse_of(
    text: &str,
    source: SpecSource<'_>,
    registry: &Registry,
    overrides: &[Override],
) -> Result<Eval> {
    let text = without_mark(text);
    let (SpecSource::File(path) | SpecSource::Flags(path)) = source;
    let explain = |error| problem::explain(path, text, &error);
    let (mut spec, mut parts) = read(text).map_err(explain)?;
    let mut value = yaml::read_json(text).map_err(explain)?;
    if !overrides.is_empty() {
        value = overrides::apply(value, overrides)?;
        (spec, parts) = read_value(&value).map_err(|error| {
            let given: Vec<_> = overrides.iter().map(ToString::to_string).collect();
            let given = given.join("`, `");
            let place = match source {
                SpecSource::File(path) => format!("{} with `{given}`", path.display()),
                SpecSource::Flags(_) => format!("`{given}`"),
            };
            problem::explain_override(&place, &error.to_string())
        })?;
    }
    let places = LazyCell::new(|| YamlPlaces::of(text));
    let place = |path: &KeyPath| {
        let is_given = overrides.iter().any(|change| change.decides(path, &places));
        places.at(path).filter(|_| !is_given)
    };
    let eval = build::build(spec, parts, value, path, registry);
    let mut eval = eval.map_err(|error| {
        let error = overrides::wrong_path(error, overrides);
        match (error.key_path().and_then(place), source) {
            (_, SpecSource::Flags(_)) => error,
            (Some(place), _) => error.at(format_args!("{}:{place}", path.display())),
            (None, _) => error.at(path.display()),
        }
    })?;
    eval.overrides = overrides.to_vec();
    // A gate that no sample matches, and a scorer that lacks something of a sample, are found with the dataset, when this
    // text is gone.
    let file = eval.spec.as_deref().unwrap_or(path).display();
    let told = |path: KeyPath| Some(format!("{file}:{}", place(&path)?));
    let item = |list: &str, item| told(KeyPath::from_iter([list.into(), Step::Item(item)]));
    eval.gate_places = (0..eval.gates.len()).map(|at| item("gates", at)).collect();
    let alone = || told(KeyPath::from_iter(["scorer"]));
    let scorers = (0..eval.scorers.len()).map(|at| item("scorers", at).or_else(alone));
    eval.scorer_places = scorers.collect();
    let sees = |at| {
        let listed = KeyPath::from_iter(["scorers".into(), Step::Item(at), "sees".into()]);
        let alone = KeyPath::from_iter(["scorer", "sees"]);
        let path = [listed, alone].into_iter().find(|path| places.has(path));
        path.and_then(told)
    };
    eval.sees_places = (0..eval.scorers.len()).map(sees).collect();
    Ok(eval)
}
