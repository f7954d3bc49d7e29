#![doc = include_str!("generate.md")]

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::benchmark::Benchmark;
use crate::benchmark::generate::{Generate, GenerateDraft, ItemSolver};
use crate::error::{Error, Result, Under};
use crate::eval::registry::BuiltIn;
use crate::eval::registry::recipe::{Recipe, Surroundings};
use crate::eval::registry::scorers::{Context, by_name};
use crate::scorer::item::checks::CheckMode;
use crate::scorer::item::keys;

pub(super) const ENTRY: Recipe<GenerateKeys, Arc<dyn Benchmark>> = Recipe {
    about: BuiltIn {
        name: "generate",
        summary: "items of data that agents write: problems, dialogues, documents, checked one by one",
        page: include_str!("generate.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct GenerateKeys {
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::items::ready")
    )]
    #[serde(default)]
    ready: Option<String>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::items::name")
    )]
    #[serde(default)]
    name: Option<String>,
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100_000)))]
    count: Option<u64>,
    seed: Option<u64>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::items::topics")
    )]
    #[serde(default)]
    topics: Option<Value>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::items::fields")
    )]
    #[serde(default)]
    fields: Option<Value>,
    template: Option<String>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::items::reference")
    )]
    #[serde(default)]
    reference: Option<Value>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::items::checks")
    )]
    #[serde(default)]
    checks: Option<Map<String, Value>>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::items::solver")
    )]
    #[serde(default)]
    solver: Option<Map<String, Value>>,
}

fn make(given: GenerateKeys, surroundings: &Surroundings<'_>) -> Result<Arc<dyn Benchmark>> {
    let fields = given.fields.as_ref().filter(|fields| !fields.is_null());
    let draft = GenerateDraft {
        ready: given.ready,
        name: given.name,
        count: given.count,
        seed: given.seed,
        topics: given.topics,
        fields: fields.map(keys).transpose().under("fields")?,
        template: given.template,
        references: references(given.reference.as_ref()).under("reference")?,
        checks: given.checks.unwrap_or_default(),
        solver: given
            .solver
            .map(|keys| solver(keys, surroundings))
            .transpose()
            .under("solver")?,
    };
    Ok(Arc::new(Generate::of(draft, surroundings.folder)?))
}

/// The files of references: one, or a list of them.
fn references(given: Option<&Value>) -> Result<Vec<PathBuf>> {
    let one = |value: &Value| match value.as_str().filter(|path| !path.trim().is_empty()) {
        Some(path) => Ok(PathBuf::from(path)),
        None => Err(Error::usage(format!("`{value}` names no file"))
            .hint("write `reference: items.json`, or a list of files")),
    };
    match given {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) if !list.is_empty() => {
            let paths = list.iter().enumerate();
            paths
                .map(|(place, value)| one(value).under(place))
                .collect()
        }
        Some(value) => Ok(vec![one(value)?]),
    }
}

/// The solver of the key: a scorer with one more option.
fn solver(mut keys: Map<String, Value>, surroundings: &Surroundings<'_>) -> Result<ItemSolver> {
    const ON: &str = "on_disagreement";
    let mode = match keys.shift_remove(ON).filter(|mode| !mode.is_null()) {
        None => CheckMode::Refuse,
        Some(value) => {
            let mode = CheckMode::of(&value).filter(|mode| *mode != CheckMode::Off);
            mode.ok_or_else(|| {
                let error = Error::usage(format!("`{value}` is not `refuse` or `note`"));
                error.hint("write `on_disagreement: note`").under(ON)
            })?
        }
    };
    let context = Context {
        folder: surroundings.folder,
        registry: Some(surroundings.registry),
        item_parts: None,
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let shows = keys.get("shows").and_then(Value::as_array);
    let answer = keys.get("answer").and_then(text);
    Ok(ItemSolver {
        shows: shows.map(|names| names.iter().filter_map(text).collect()),
        answer,
        scorer: by_name("solver", &keys, &context)?,
        mode,
    })
}
