#![doc = include_str!("bfcl.md")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use crate::benchmark::Benchmark;
use crate::bfcl;
use crate::error::Result;
use crate::eval::registry::BuiltIn;
use crate::eval::registry::recipe::{Recipe, Surroundings};

pub(super) const ENTRY: Recipe<BfclKeys, Arc<dyn Benchmark>> = Recipe {
    about: BuiltIn {
        name: "bfcl",
        summary: "function calling: the Berkeley Function Calling Leaderboard",
        page: include_str!("bfcl.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct BfclKeys {
    path: Option<PathBuf>,
    environment: Option<EnvironmentKeys>,
    categories: Option<Vec<String>>,
    ids: Option<Vec<String>>,
    #[serde(default)]
    weights: BTreeMap<String, f64>,
}

/// What runs the simulators of multi-turn categories.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct EnvironmentKeys {
    /// The Python that has the package `bfcl-eval`, from the spec's folder.
    python: PathBuf,
}

fn make(keys: BfclKeys, surroundings: &Surroundings<'_>) -> Result<Arc<dyn Benchmark>> {
    let BfclKeys {
        path,
        environment,
        categories,
        ids,
        weights,
    } = keys;
    let python = environment.map(|keys| keys.python);
    bfcl::benchmark(
        surroundings.folder,
        path.as_deref(),
        python.as_deref(),
        categories,
        ids,
        weights,
    )
}
