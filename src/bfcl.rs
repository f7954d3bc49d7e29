//! The Berkeley Function Calling Leaderboard: data, checker, benchmark and files.
//!
//! What lower modules use of it is in this file; `without` replaces it if the feature is off.

pub(crate) mod checker;
pub(crate) mod data;
pub(crate) mod form;

pub(crate) mod benchmark;
pub(crate) mod export;
pub(crate) mod multi_turn;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::benchmark::Benchmark;
use crate::data::{Record, hub};
use crate::error::{Error, Result, Under};
use crate::scorer;
use crate::scorer::Entry;
use crate::store::files::SUMMARY;
use crate::store::{Manifest, RunDir};
use crate::verdict::summary::Summary;
use benchmark::Bfcl;
use benchmark::tally::BfclTally;

/// The scorers of function calls.
pub(crate) const SCORERS: &[Entry] = &[
    scorer::calls::ast_match::ENTRY,
    checker::ENTRY,
    multi_turn::ENTRY,
    scorer::calls::trajectory::ENTRY,
];

/// The benchmark in a folder; relative paths start from `folder`. Errors refer to the spec key of the same name.
pub(crate) fn benchmark(
    folder: &Path,
    path: Option<&Path>,
    python: Option<&Path>,
    categories: Option<Vec<String>>,
    ids: Option<Vec<String>>,
    weights: BTreeMap<String, f64>,
) -> Result<Arc<dyn Benchmark>> {
    let mut bfcl = match (path, python) {
        (Some(path), _) => Bfcl::open(hub::resolve(path, folder)).under("path")?,
        (None, Some(python)) => {
            let package = multi_turn::Package::of(python, folder);
            Bfcl::open(package.under("python").under("environment")?.data())?
        }
        (None, None) => {
            let error = Error::usage("neither `path` nor `environment` is given");
            return Err(error.hint(
                "name the leaderboard's data, `path: ../bfcl`, or the Python that has the package `bfcl-eval`, \
                 `environment: { python: ../.venv/bin/python }`",
            ));
        }
    };
    if let Some(python) = python {
        bfcl = bfcl.python_in(python, folder);
    }
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

/// The metrics so far.
pub(crate) struct Metrics {
    tally: BfclTally,
    weights: Map<String, Value>,
}

impl Metrics {
    /// The metrics of a run's benchmark; `None` for users' own benchmarks and those without metrics.
    pub(crate) fn of(parent: &Manifest, dir: &RunDir) -> Option<Self> {
        if parent.benchmark != "bfcl" {
            return None;
        }
        // Take the weights from the parent's metrics, which exist even for an eval without a spec.
        let summary = Summary::read(&dir.file(SUMMARY)).ok();
        let weights =
            summary.and_then(|summary| summary.metrics.get("weights")?.as_object().cloned());
        Some(Self {
            tally: BfclTally::default(),
            weights: weights.unwrap_or_default(),
        })
    }

    /// Counts a record.
    pub(crate) fn add(&mut self, record: &Record) {
        self.tally.add(record);
    }

    /// The metrics as in a summary.
    pub(crate) fn finish(self) -> Map<String, Value> {
        let weights = self.weights.into_iter();
        let weights = weights.filter_map(|(name, weight)| Some((name, weight.as_f64()?)));
        self.tally.finish(&weights.collect())
    }
}
