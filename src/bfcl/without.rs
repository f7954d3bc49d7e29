//! Stub of the leaderboard's interface for builds without the feature.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::benchmark::Benchmark;
use crate::data::Record;
use crate::error::{Error, Result};
use crate::scorer::Entry;
use crate::store::{Manifest, RunDir};

/// No scorer of calls.
pub(crate) const SCORERS: &[Entry] = &[];

/// Whether this build has it.
#[cfg(test)]
pub(crate) const IS_BUILT: bool = false;

/// The error that the feature is missing.
pub(crate) fn benchmark(
    _: &Path,
    _: Option<&Path>,
    _: Option<&Path>,
    _: Option<Vec<String>>,
    _: Option<Vec<String>>,
    _: BTreeMap<String, f64>,
) -> Result<Arc<dyn Benchmark>> {
    let error = Error::usage("benchmark `bfcl` needs the cargo feature `bfcl` of evaltest");
    let error = error.hint("`cargo add --dev evaltest --features bfcl`, or use `cargo evaltest`");
    Err(error.under("type"))
}

/// No benchmark has metrics in this build.
pub(crate) enum Metrics {}

impl Metrics {
    pub(crate) fn of(_: &Manifest, _: &RunDir) -> Option<Self> {
        None
    }

    pub(crate) fn add(&mut self, _: &Record) {
        match *self {}
    }

    pub(crate) fn finish(self) -> Map<String, Value> {
        match self {}
    }
}
