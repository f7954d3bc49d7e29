#![doc = include_str!("gaia.md")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::benchmark::Benchmark;
use crate::benchmark::gaia::{Gaia, HUB};
use crate::data::{dataset, hub};
use crate::error::{Result, Under};
use crate::eval::registry::BuiltIn;
use crate::eval::registry::recipe::{Recipe, Surroundings};

pub(super) const ENTRY: Recipe<GaiaKeys, Arc<dyn Benchmark>> = Recipe {
    about: BuiltIn {
        name: "gaia",
        summary: "questions for a general assistant, or any of your own in GAIA's layout",
        page: include_str!("gaia.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct GaiaKeys {
    /// Without it, the dataset as it is published.
    path: Option<PathBuf>,
    split: Option<String>,
    levels: Option<Vec<Value>>,
    ids: Option<Vec<String>>,
    #[serde(default)]
    columns: GaiaColumnKeys,
}

/// Names of columns, where they differ from what is looked for.
#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct GaiaColumnKeys {
    /// The column with the question.
    prompt: Option<String>,
    /// The column with the right answer.
    ground_truth: Option<String>,
    /// The column with the sample's id.
    id: Option<String>,
    /// The column with the level.
    level: Option<String>,
    /// The column with the name of the attached file.
    file_name: Option<String>,
    /// The column with the path of the attached file.
    file_path: Option<String>,
}

fn make(keys: GaiaKeys, surroundings: &Surroundings<'_>) -> Result<Arc<dyn Benchmark>> {
    // Without a path, the error is about the name of the benchmark.
    let key = keys.path.as_ref().map_or("type", |_| "path");
    Ok(Arc::new(gaia(keys, surroundings.folder).under(key)?))
}

fn gaia(keys: GaiaKeys, folder: &Path) -> Result<Gaia> {
    let path = keys.path.unwrap_or_else(|| HUB.into());
    let mut gaia = Gaia::open(hub::resolve(&path, folder))?.columns(columns(keys.columns));
    if let Some(split) = keys.split {
        gaia = gaia.split(split);
    }
    if let Some(levels) = keys.levels {
        let text = |level: Value| match level {
            Value::String(text) => text,
            other => other.to_string(),
        };
        gaia = gaia.levels(levels.into_iter().map(text));
    }
    if let Some(ids) = keys.ids {
        gaia = gaia.ids(ids);
    }
    Ok(gaia)
}

fn columns(keys: GaiaColumnKeys) -> dataset::Columns {
    let GaiaColumnKeys {
        prompt,
        ground_truth,
        id,
        level,
        file_name,
        file_path,
    } = keys;
    dataset::Columns {
        prompt,
        ground_truth,
        id,
        level,
        file_name,
        file_path,
    }
}
