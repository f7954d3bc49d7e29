//! Reviews of a run by people, read from its directory. They may come long after the run, so they are not part of what
//! the run wrote.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::files::{RECORDS, VERIFICATIONS};
use super::{Manifest, RunDir, read_lean_records};
use crate::data::Record;
use crate::data::reviews::ReviewedFigures;
use crate::error::Result;

impl RunDir {
    /// The figures of its reviews; `None` if nothing was reviewed.
    ///
    /// # Errors
    /// With the line of the file that is no verification, and when the records cannot be read.
    pub(crate) fn reviewed(&self, manifest: &Manifest) -> Result<Option<ReviewedFigures>> {
        let path = self.path().join(VERIFICATIONS);
        if !path.exists() {
            return Ok(None);
        }
        let judge = manifest.first_judge();
        let first = manifest.scorers.first().map(String::as_str);
        let (mut ids, mut judged) = (HashSet::new(), HashMap::new());
        for record in read_lean_records(&self.file(RECORDS))? {
            let record = record?;
            if record.epoch > 0 {
                continue;
            }
            if let Some(passes) = judge.and_then(|judge| verdict(&record, judge, first)) {
                judged.insert(record.sample_id.clone(), passes);
            }
            ids.insert(record.sample_id);
        }
        ReviewedFigures::read(&path, &ids, &|id| judged.get(id).copied())
    }
}

/// Whether a scorer accepts an answer, if it decides that.
fn verdict(record: &Record, scorer: &str, first: Option<&str>) -> Option<bool> {
    let result = &record.result;
    if result.is_failure_as_wrong() {
        return None;
    }
    match result.scores.get(scorer) {
        Some(score) => score.get("correct").and_then(Value::as_bool),
        None if first == Some(scorer) => result.score.as_ref().map(|score| score.correct),
        None => None,
    }
}
