#![doc = include_str!("bfcl.md")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use crate::benchmark::Benchmark;
#[cfg(feature = "bfcl")]
use crate::bfcl::benchmark::Bfcl;
#[cfg(not(feature = "bfcl"))]
use crate::error::Error;
use crate::error::Result;
#[cfg(feature = "bfcl")]
use crate::error::Under;
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
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(feature = "bfcl"),
    expect(dead_code, reason = "read to tell mistakes in keys all the same")
)]
pub(super) struct BfclKeys {
    path: PathBuf,
    categories: Option<Vec<String>>,
    ids: Option<Vec<String>>,
    #[serde(default)]
    weights: BTreeMap<String, f64>,
}

#[cfg(feature = "bfcl")]
fn make(keys: BfclKeys, surroundings: &Surroundings<'_>) -> Result<Arc<dyn Benchmark>> {
    let mut bfcl = surroundings.open(&keys.path, Bfcl::open)?;
    if let Some(categories) = keys.categories {
        // Found here, so that the error has the line in the spec.
        for (item, name) in categories.iter().enumerate() {
            bfcl.check(name).under(item).under("categories")?;
        }
        bfcl = bfcl.categories(categories);
    }
    if let Some(ids) = keys.ids {
        bfcl = bfcl.ids(ids);
    }
    bfcl = bfcl.weights(keys.weights);
    bfcl.check_weights()?;
    Ok(Arc::new(bfcl))
}

#[cfg(not(feature = "bfcl"))]
fn make(_: BfclKeys, _: &Surroundings<'_>) -> Result<Arc<dyn Benchmark>> {
    let error = Error::usage("benchmark `bfcl` needs the cargo feature `bfcl` of evaltest");
    let error = error.hint("`cargo add --dev evaltest --features bfcl`, or use `cargo evaltest`");
    Err(error.under("type"))
}
