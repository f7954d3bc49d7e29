#![doc = include_str!("items.md")]

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use crate::benchmark::Benchmark;
use crate::benchmark::items::{ItemColumns, Items};
use crate::error::Result;
use crate::eval::registry::BuiltIn;
use crate::eval::registry::recipe::{Recipe, Surroundings};

pub(super) const ENTRY: Recipe<ItemsKeys, Arc<dyn Benchmark>> = Recipe {
    about: BuiltIn {
        name: "items",
        summary: "generated or collected items: problem, answer, solution, topic",
        page: include_str!("items.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ItemsKeys {
    path: PathBuf,
    #[serde(default)]
    columns: ItemColumnKeys,
    ids: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ItemColumnKeys {
    /// The column with what is asked.
    problem: Option<String>,
    /// The column with the right answer.
    answer: Option<String>,
    /// The column with the way to it.
    solution: Option<String>,
    /// The column with the topic.
    topic: Option<String>,
    /// The column with the item's id.
    id: Option<String>,
}

fn make(keys: ItemsKeys, surroundings: &Surroundings<'_>) -> Result<Arc<dyn Benchmark>> {
    let ItemColumnKeys {
        problem,
        answer,
        solution,
        topic,
        id,
    } = keys.columns;
    let items = surroundings.open(&keys.path, Items::open)?;
    let items = items.columns(ItemColumns {
        problem,
        answer,
        solution,
        topic,
        id,
    });
    Ok(Arc::new(match keys.ids {
        Some(ids) => items.ids(ids),
        None => items,
    }))
}
