//! Builds the benchmark from a spec.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::benchmark::Bfcl;
use crate::benchmark::Benchmark;
use crate::data::hub;
use crate::error::{Result, Under};

/// The benchmark in a folder; relative paths start from `folder`. Errors refer to the spec key of the same name.
pub(crate) fn benchmark(
    folder: &Path,
    path: &Path,
    categories: Option<Vec<String>>,
    ids: Option<Vec<String>>,
    weights: BTreeMap<String, f64>,
) -> Result<Arc<dyn Benchmark>> {
    let mut bfcl = Bfcl::open(hub::resolve(path, folder)).under("path")?;
    if let Some(categories) = categories {
        // Check names here, so that the error has the line of the spec.
        for (item, name) in categories.iter().enumerate() {
            bfcl.check(name).under(item).under("categories")?;
        }
        bfcl = bfcl.categories(categories);
    }
    if let Some(ids) = ids {
        bfcl = bfcl.ids(ids);
    }
    bfcl = bfcl.weights(weights);
    bfcl.check_weights()?;
    Ok(Arc::new(bfcl))
}
