//! Specs: YAML to [`Eval`].
//!
//! `keys` holds the types that serde reads, `tagged` the `{ type: …, … }` maps, `parts` the benchmark and the agent,
//! whose keys only the registry knows; `places` and `problem` locate mistakes. A spec with several agents or prompts
//! (`matrix`) is several evals; each is read as if the spec had that one alone.

use std::cell::LazyCell;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::MapAccess;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::agent::RecordedCalls;
use crate::data::Variant;
use crate::data::yaml_places::{YamlPlaces, with_spellings};
use crate::error::{Error, KeyPath, Result, Step};
use crate::eval::Eval;
use crate::eval::limits::SharedBudget;
use crate::eval::registry::Registry;
use crate::eval::tiers::Tiers;
use crate::store::Manifest;
use crate::store::cache::{CacheUse, Settings};
use crate::system::file;
use crate::system::project::current_root;
use crate::text::yaml;
use crate::text::yaml::YamlError;
use build::Around;
use keys::{ByName, SpecFile};
use matrix::SpecMatrix;
use parts::{ChosenParts, PartsOf};

mod broken;
mod build;
mod builder;
mod keys;
mod limits;
mod matrix;
#[cfg(test)]
mod mutations;
mod names;
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
pub use names::{likely_names, names};
pub(crate) use problem::explain;

impl Eval {
    /// Reads a spec that names only built-in benchmarks, agents and scorers.
    ///
    /// # Errors
    /// With file, line and column when the spec is wrong, or with the path of a file that it names and that is missing.
    /// For several agents or prompts, use [`Eval::all_from_yaml`].
    pub fn from_yaml(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_yaml_with(path, &Registry::new())
    }

    /// Reads a spec that may also name what is registered.
    pub fn from_yaml_with(path: impl AsRef<Path>, registry: &Registry) -> Result<Self> {
        load(&in_package(path.as_ref()), registry, &overrides()?)
    }

    /// The evals of a spec: one for each of its `agents` with each of its `prompts`, or a single one.
    ///
    /// ```no_run
    /// fn main() -> evaltest::Result<evaltest::Conclusion> {
    ///     evaltest::run(evaltest::Eval::all_from_yaml("evals/gaia.yaml")?)
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`Eval::from_yaml`].
    pub fn all_from_yaml(path: impl AsRef<Path>) -> Result<Vec<Self>> {
        Self::all_from_yaml_with(path, &Registry::new())
    }

    /// The same for a spec that may also name what is registered.
    pub fn all_from_yaml_with(path: impl AsRef<Path>, registry: &Registry) -> Result<Vec<Self>> {
        load_all(&in_package(path.as_ref()), registry, &overrides()?)
    }
}

fn in_package(path: &Path) -> PathBuf {
    if path.is_relative() {
        crate::system::project::package_root().join(path)
    } else {
        path.to_owned()
    }
}

/// Reads a spec of one eval and applies overrides.
///
/// # Errors
/// See [`Eval::from_yaml`].
pub fn load(path: &Path, registry: &Registry, overrides: &[Override]) -> Result<Eval> {
    parse(&text_of(path)?, path, registry, overrides)
}

/// The evals of a spec.
///
/// # Errors
/// See [`Eval::from_yaml`].
pub fn load_all(path: &Path, registry: &Registry, overrides: &[Override]) -> Result<Vec<Eval>> {
    let text = text_of(path)?;
    parse_of(&text, SpecSource::File(path), registry, overrides, None)
}

/// Any of the evals of a spec, for what they have in common: dataset, scorers, limits, folders of runs and answers.
///
/// # Errors
/// See [`Eval::from_yaml`].
pub fn load_any(path: &Path, registry: &Registry, overrides: &[Override]) -> Result<Eval> {
    let text = text_of(path)?;
    let source = SpecSource::File(path);
    first(
        parse_of(&text, source, registry, overrides, Some(&|_| true))?,
        path,
    )
}

/// The eval of this name in a spec; for a spec of one eval that one, whatever its name is now.
///
/// # Errors
/// As [`Eval::from_yaml`], and when no variant of the spec has the name.
pub fn load_of(
    path: &Path,
    registry: &Registry,
    overrides: &[Override],
    eval: &str,
) -> Result<Eval> {
    let text = text_of(path)?;
    let wanted = &eval[Variant::family_of(eval).len()..];
    let is_wanted = |variant: &Variant| variant.to_string() == wanted;
    let source = SpecSource::File(path);
    let found = parse_of(&text, source, registry, overrides, Some(&is_wanted))?;
    first(found, path).map_err(|_| {
        Error::usage(format!(
            "{}: the spec no longer has variant `{}`",
            path.display(),
            wanted.escape_debug()
        ))
        .hint("cargo evaltest list")
    })
}

fn first(evals: Vec<Eval>, path: &Path) -> Result<Eval> {
    let mut evals = evals.into_iter();
    evals.next().ok_or_else(|| {
        Error::usage(format!("{}: the spec has no eval", path.display()))
            .hint("cargo evaltest list")
    })
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
                "{path}:1:1: the spec is UTF-16 (by its byte order mark), not UTF-8"
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

/// Whether a YAML text is meant as a spec: it names a benchmark or an agent. Broken YAML counts if it mentions them, so
/// that a mistake in a spec is reported and not taken for another program's file.
pub fn is_spec(text: &str) -> bool {
    // In broken text, finding `agent` also finds `agents`.
    const KEYS: [&str; 3] = ["benchmark", "agent", "agents"];
    let text = without_mark(text);
    match yaml::read_json(text) {
        Ok(Value::Object(map)) => KEYS.iter().any(|key| map.contains_key(*key)),
        Ok(_) => false,
        Err(_) => KEYS.iter().any(|key| text.contains(key)),
    }
}

/// Whether a YAML file belongs to another program. Invalid YAML does not: it may be a spec, and its mistake must be
/// reported. Several documents do.
pub fn is_other(text: &str) -> bool {
    let is_yaml = || {
        let text = without_mark(text);
        yaml::read_json(text).is_ok() || YamlPlaces::of(text).second_document().is_some()
    };
    !is_spec(text) && is_yaml()
}

/// The text without a byte order mark, which the parser would take for a part of the first key.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn read(text: &str) -> std::result::Result<(SpecFile, ChosenParts), YamlError> {
    let read = |text: &str| {
        let spec = yaml::read(text)?;
        let parts = yaml::read_by(PartsOf(&spec), text)?;
        Ok((spec, parts))
    };
    match with_spellings(text) {
        // The positions of errors are those of the text itself.
        Some(spelled) => read(&spelled).map_err(|error| read(text).err().unwrap_or(error)),
        None => read(text),
    }
}

/// The same for a value.
fn read_value(value: &Value) -> serde_json::Result<(SpecFile, ChosenParts)> {
    let message = |(error, _)| error;
    let spec = yaml::from_json(PhantomData, value.clone()).map_err(message)?;
    let parts = yaml::from_json(PartsOf(&spec), value.clone()).map_err(message)?;
    Ok((spec, parts))
}

/// As [`load`], for a spec that is not a file; `path` is where it would be.
pub fn parse(text: &str, path: &Path, registry: &Registry, overrides: &[Override]) -> Result<Eval> {
    one(
        parse_of(text, SpecSource::File(path), registry, overrides, None)?,
        path,
    )
}

/// As [`load_all`], for a spec that is not a file.
pub fn parse_all(
    text: &str,
    path: &Path,
    registry: &Registry,
    overrides: &[Override],
) -> Result<Vec<Eval>> {
    parse_of(text, SpecSource::File(path), registry, overrides, None)
}

/// As [`parse`], for a spec made only of flags: no error refers to a file that does not exist.
pub fn of_flags(
    text: &str,
    path: &Path,
    registry: &Registry,
    overrides: &[Override],
) -> Result<Eval> {
    one(
        parse_of(text, SpecSource::Flags(path), registry, overrides, None)?,
        path,
    )
}

/// The only eval of a spec.
fn one(mut evals: Vec<Eval>, path: &Path) -> Result<Eval> {
    let is_one = evals.len() == 1 && evals[0].variant().is_none();
    match evals.pop() {
        Some(eval) if is_one => Ok(eval),
        last => {
            let names = evals.iter().chain(&last).map(Eval::name);
            let names: Vec<&str> = names.collect();
            let names = names.join("`, `");
            let path = path.display();
            let message = format!(
                "{path}: the spec names several agents or prompts, and its evals are `{names}`"
            );
            Err(Error::usage(message).hint(
                "in Rust `Eval::all_from_yaml` reads them; with one `agent` and one `prompt` it is one eval",
            ))
        }
    }
}

/// The source of a text.
#[derive(Clone, Copy)]
enum SpecSource<'a> {
    File(&'a Path),
    /// The flags of a command; the path is where the spec would be.
    Flags(&'a Path),
}

/// The evals of a spec, or only the wanted variants.
fn parse_of(
    text: &str,
    source: SpecSource<'_>,
    registry: &Registry,
    overrides: &[Override],
    wanted: Option<&dyn Fn(&Variant) -> bool>,
) -> Result<Vec<Eval>> {
    let text = without_mark(text);
    let (SpecSource::File(path) | SpecSource::Flags(path)) = source;
    let explain = |error| problem::explain(path, text, &error);
    let (spec, parts) = read(text).map_err(explain)?;
    let spelled = with_spellings(text);
    let value = yaml::read_json(spelled.as_deref().unwrap_or(text)).map_err(explain)?;
    let places = LazyCell::new(|| YamlPlaces::of(text));
    let place = |path: &KeyPath| {
        let is_given = overrides.iter().any(|change| change.decides(path, &places));
        places.at(path).filter(|_| !is_given)
    };
    let placed = |error: Error| {
        let error = overrides::wrong_path(error, overrides);
        match (error.key_path().and_then(place), source) {
            (_, SpecSource::Flags(_)) => error,
            (Some(place), _) => error.at(format_args!("{}:{place}", path.display())),
            (None, _) => error.at(path.display()),
        }
    };
    let written = SpecMatrix::of(&spec).map_err(placed)?;
    check_mode(&value, overrides).map_err(placed)?;
    let value = overrides::apply(value, overrides)?;
    let read_again = || {
        if overrides.is_empty() {
            return read(text).map_err(explain);
        }
        read_value(&value).map_err(|error| {
            let given: Vec<_> = overrides.iter().map(ToString::to_string).collect();
            let given = given.join("`, `");
            let place = match source {
                SpecSource::File(path) => format!("{} with `{given}`", path.display()),
                SpecSource::Flags(_) => format!("`{given}`"),
            };
            problem::explain_override(&place, &error.to_string())
        })
    };
    let (spec, parts) = if overrides.is_empty() {
        (spec, parts)
    } else {
        read_again()?
    };
    let matrix = SpecMatrix::of(&spec).map_err(placed)?;
    let mut read = Some((spec, parts));
    let mut evals = Vec::<Eval>::new();
    for variant in matrix.variants() {
        // For a spec of one eval, the name does not matter.
        if !matrix.is_empty() && wanted.is_some_and(|wanted| !wanted(&variant)) {
            continue;
        }
        let (mut spec, mut parts) = match read.take() {
            Some(read) => read,
            None => read_again()?,
        };
        let gates = matrix.gates(std::mem::take(&mut spec.gates), &variant, &written);
        let mut gates = gates.map_err(placed)?;
        spec.choose(&variant);
        parts.choose(&variant);
        let config = matrix::config(value.clone(), &variant, &gates);
        let around = Around {
            path,
            registry,
            variant: &variant,
            benchmark: evals.first().map(|eval| Arc::clone(&eval.benchmark)),
        };
        let own = std::mem::take(&mut gates.gates);
        let eval = build::build(spec, parts, config, own, around);
        let mut eval =
            eval.map_err(|error| placed(error.moved(|at| gates.written(at, &variant))))?;
        eval.overrides = overrides.to_vec();
        eval.notices.extend(gates.unasked.iter().map(|gate| {
            format!("gate `{gate}` is not evaluated: the command line replaces the variant that it names")
        }));
        // A gate that matches no sample, and a scorer that needs more of a sample, are found with the dataset, when
        // this text is gone.
        let file = eval.spec.as_deref().unwrap_or(path).display();
        let place_of = |path: KeyPath| Some(format!("{file}:{}", place(&path)?));
        let item = |list: &str, item| place_of(KeyPath::from_iter([list.into(), Step::Item(item)]));
        let gate = |at| {
            gates.written(
                &KeyPath::from_iter(["gates".into(), Step::Item(at)]),
                &variant,
            )
        };
        eval.gate_places = (0..eval.gates.len()).map(|at| place_of(gate(at))).collect();
        let alone = || place_of(KeyPath::from_iter(["scorer"]));
        let scorers = (0..eval.scorers.len()).map(|at| item("scorers", at).or_else(alone));
        eval.scorer_places = scorers.collect();
        let sees = |at| {
            let listed = KeyPath::from_iter(["scorers".into(), Step::Item(at), "sees".into()]);
            let alone = KeyPath::from_iter(["scorer", "sees"]);
            let path = [listed, alone].into_iter().find(|path| places.has(path));
            path.and_then(place_of)
        };
        eval.sees_places = (0..eval.scorers.len()).map(sees).collect();
        evals.push(eval);
        // One is enough if any will do.
        if wanted.is_some() {
            break;
        }
    }
    share_budget(&mut evals, &matrix);
    Ok(evals)
}

/// Refuses a mode for a spec that records nothing.
fn check_mode(spec: &Value, overrides: &[Override]) -> Result<()> {
    let is_of_record = |change: &Override| change.key == "record.mode";
    if overrides.iter().any(is_of_record) && spec.get("record").is_none_or(Value::is_null) {
        return Err(RecordedCalls::missing());
    }
    Ok(())
}

/// Makes variants share one budget.
fn share_budget(evals: &mut [Eval], matrix: &SpecMatrix) {
    if matrix.is_empty() {
        return;
    }
    let names = evals.first().map(Eval::family).unwrap_or_default();
    let names = matrix
        .variants()
        .iter()
        .map(|variant| format!("{names}{variant}"))
        .collect();
    let shared_budget = Arc::new(SharedBudget::new(names));
    for eval in evals {
        eval.shared_budget = Some(Arc::clone(&shared_budget));
    }
}

/// The variable that carries a `Drive` as JSON.
pub const VARIABLE: &str = "EVALTEST_DRIVE";

/// The parts of a command's request that concern specs.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Wishes {
    overrides: Vec<Override>,
}

/// The overrides for specs read by this process.
fn overrides() -> Result<Vec<Override>> {
    let Ok(text) = std::env::var(VARIABLE) else {
        return Ok(Vec::new());
    };
    let wishes: Wishes = serde_json::from_str(&text).map_err(|error| other_version(&error))?;
    Ok(wishes.overrides)
}

/// The error for a request that cannot be read.
pub(crate) fn other_version(error: &serde_json::Error) -> Error {
    Error::usage(format!("{VARIABLE} is from another version: {error}"))
}

/// The eval of a run whose spec is missing, from the manifest alone.
pub fn of_config(manifest: &Manifest, registry: &Registry, overrides: &[Override]) -> Result<Eval> {
    let path = manifest.spec.clone().unwrap_or_default();
    // Which of several agents it is, is fixed.
    let is_decided = |change: &&Override| {
        let mut keys = change.key.split('.');
        !keys
            .next()
            .is_some_and(|key| key == "agents" || key == "prompts")
    };
    let overrides: Vec<_> = overrides.iter().filter(is_decided).cloned().collect();
    let mut eval = parse(&manifest.config.to_string(), &path, registry, &overrides)?;
    if let Some(variant) = &manifest.variant {
        eval.name = format!("{}{variant}", eval.name);
        eval.variant = variant.clone();
        eval.snapshot.folder.clone_from(&manifest.snapshots);
    }
    Ok(eval)
}

/// The spec in the project around the current folder, if it is of the run's eval: a run directory may come from
/// elsewhere, and the current checkout is meant. Else the one that the run was made from, if it exists. `None` for a
/// run without a spec, and if neither exists.
pub fn spec_of_run(manifest: &Manifest) -> Option<PathBuf> {
    let inside = manifest.spec_in_project.as_ref();
    let here = inside.and_then(|inside| Some(current_root()?.join(inside)));
    let here = here.filter(|spec| spec.is_file());
    // Another project may have another eval in a file of this name.
    let is_of_run =
        |spec: &PathBuf| names(spec).is_ok_and(|names| names.of(&manifest.eval).is_some());
    let own = here.clone().filter(is_of_run);
    let there = manifest.spec.clone().filter(|spec| spec.is_file());
    own.or(there).or(here)
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct TierKeys {
    /// Number of samples, from 1; all by default.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    limit: Option<usize>,
}

/// Tiers as the keys say.
fn tiers(keys: ByName<TierKeys>) -> Result<Tiers> {
    let tiers = keys.into_entries().into_iter();
    Tiers::checked(tiers.map(|(name, keys)| (name, keys.limit)))
}

/// The key `cache` of a spec.
enum CacheKey {
    Off,
    On(Option<PathBuf>),
}

impl CacheKey {
    /// A relative path starts at `folder`.
    fn settings(self, folder: &Path) -> Settings {
        match self {
            Self::Off => Settings::default(),
            Self::On(path) => Settings {
                usage: CacheUse::On,
                folder: path.map(|path| folder.join(path)),
            },
        }
    }
}

impl<'de> Deserialize<'de> for CacheKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CacheVisitor;
        impl<'de> serde::de::Visitor<'de> for CacheVisitor {
            type Value = CacheKey;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`cache: true`, `cache: false` or `cache: { path: DIR }`")
            }

            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<CacheKey, E> {
                Ok(if on {
                    CacheKey::On(None)
                } else {
                    CacheKey::Off
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CacheKey, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Keys {
                    path: PathBuf,
                }
                let keys = Keys::deserialize(MapAccessDeserializer::new(map))?;
                Ok(CacheKey::On(Some(keys.path)))
            }
        }
        deserializer.deserialize_any(CacheVisitor)
    }
}
