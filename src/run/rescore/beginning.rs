//! Announces the samples to the scorers before any is scored.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use super::line::Rejudge;
use crate::error::{Error, Result};
use crate::eval::limits::Limits;
use crate::scorer::{self, Scorer as _};
use crate::store::files::RECORDS;
use crate::store::{Manifest, RunDir};
use crate::system::file::open_plain;
use crate::system::project::display;

/// The part of a record to read.
#[derive(Deserialize)]
struct IdOnly {
    sample_id: String,
}

/// Announces the samples to the scorers.
///
/// # Errors
/// When one of them cannot judge these.
pub(super) fn begin(dir: &RunDir, parent: &Manifest, judge: &Rejudge) -> Result<()> {
    if !super::asks(&judge.scorers) {
        return Ok(());
    }
    let ids = ids(&dir.file(RECORDS))?;
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    // In a partial run the other ids are not known.
    if parent.whole && Limits::of_config(&parent.config).limit.is_none() {
        let all: HashSet<&str> = ids.iter().copied().collect();
        let mut scorers = judge.scorers.iter();
        scorers.try_for_each(|scorer| scorer.check_samples(&|id| all.contains(id)))?;
    }
    let prepared = scorer::begin(
        &judge.scorers,
        &judge.extraction,
        &ids,
        &parent.answers_from(),
    );
    prepared.map_err(|(_, error)| error)
}

/// The ids of a run, each once.
fn ids(path: &Path) -> Result<Vec<String>> {
    let failed = |error: std::io::Error| Error::io("read", path, &error);
    let file = BufReader::with_capacity(1 << 17, open_plain(path).map_err(failed)?);
    let mut ids: Vec<String> = Vec::new();
    for (number, line) in (1..).zip(file.lines()) {
        let line = line.map_err(failed)?;
        let record: IdOnly = serde_json::from_str(&line).map_err(|error| {
            let error = Error::usage(format!("not a record: {error}"));
            let number: u64 = number;
            error.at(format_args!("{}:{number}", display(path)))
        })?;
        // The epochs of a sample are adjacent.
        if ids.last() != Some(&record.sample_id) {
            ids.push(record.sample_id);
        }
    }
    Ok(ids)
}
