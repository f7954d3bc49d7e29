#![doc = include_str!("generate.md")]

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::benchmark::Benchmark;
use crate::benchmark::generate::{Generate, GenerateDraft};
use crate::error::{Result, Under};
use crate::eval::registry::BuiltIn;
use crate::eval::registry::recipe::{Recipe, Surroundings};
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
    reference: Option<PathBuf>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::items::checks")
    )]
    #[serde(default)]
    checks: Option<Map<String, Value>>,
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
        reference: given.reference,
        checks: given.checks.unwrap_or_default(),
        solver: None,
    };
    Ok(Arc::new(Generate::of(draft, surroundings.folder)?))
}
