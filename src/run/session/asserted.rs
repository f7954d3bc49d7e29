//! `Asserted`: compares each sample of a run with its snapshot under `exact`, as `cargo test` does.
//!
//! Done when the run is over: the records are on disk in dataset order then, and are read again one by one.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::data::Record;
use crate::error::Result;
use crate::eval::plan::Plan;
use crate::report::terminal::LISTED;
use crate::snapshot::assertion::{self, SnapshotDifference};
use crate::snapshot::{self, EpochContent, SampleContent, SnapshotHeader};
use crate::store::files::RECORDS;
use crate::store::{RunDir, read_records};
use crate::text::clean;
use crate::verdict::poll;

/// The result of the assertions.
#[derive(Default)]
pub(in crate::run) struct Asserted {
    /// The ids of samples whose assertion failed.
    pub(in crate::run) failed: Vec<String>,
    /// Their differences by id, up to the number that a report lists.
    pub(in crate::run) differences: BTreeMap<String, String>,
}

impl Asserted {
    /// From results found elsewhere.
    pub(in crate::run) fn known(failed: Vec<String>) -> Self {
        Self {
            failed,
            differences: BTreeMap::new(),
        }
    }

    /// Asserts every sample of a run that has all of its answers. New snapshots are left to insta.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub(in crate::run) fn of(plan: &Plan, dir: &RunDir) -> Result<Self> {
        let mut asserted = Self::default();
        for sample in poll::samples(read_records(&dir.file(RECORDS))?) {
            let records = sample?;
            if poll::is_open(&records) {
                continue;
            }
            let Some(record) = poll::representative(&records) else {
                continue;
            };
            let difference = match assert(plan, record, &records) {
                Ok(None) => continue,
                Ok(Some(difference)) => description(&difference),
                Err(error) => error.to_string(),
            };
            if asserted.failed.len() < LISTED {
                let id = record.sample_id.clone();
                asserted.differences.insert(id, difference);
            }
            asserted.failed.push(record.sample_id.clone());
        }
        Ok(asserted)
    }
}

fn assert(plan: &Plan, record: &Record, records: &[Record]) -> Result<Option<SnapshotDifference>> {
    let content = |record: &Record| EpochContent::of(record, plan.stored_parts());
    let Some(content) = SampleContent::majority(records.iter().map(content).collect()) else {
        return Ok(None);
    };
    let path = snapshot::path(&plan.eval.snapshot.folder, &record.sample_id);
    assertion::exact(
        &path,
        &content,
        &SnapshotHeader::of(record, plan.eval.masks_answers()),
    )
}

/// The difference as text. Without a snapshot there is no difference.
fn description(difference: &SnapshotDifference) -> String {
    let mut description = difference.title().to_owned();
    if !difference.is_new {
        for line in difference.display.lines() {
            let _ = write!(description, "\n{}", clean(line));
        }
    }
    description
}
