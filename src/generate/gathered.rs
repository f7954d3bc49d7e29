//! What a run made, record by record.

use std::collections::HashMap;

use super::item::GeneratedItem;
use super::statistics::{GenerationStatistics, GenerationTally, model_of};
use crate::error::Result;
use crate::store::events::{self, Kind};
use crate::store::files::{JOURNAL, RECORDS, SUMMARY};
use crate::store::{RunDir, read_records};
use crate::verdict::summary::Summary;

/// Shows every item that was accepted, in the order of the prompts, and gives the figures of all.
pub(super) fn gathered(
    dir: &RunDir,
    see: &mut dyn FnMut(&GeneratedItem) -> Result<()>,
) -> Result<GenerationStatistics> {
    let manifest = dir.manifest()?;
    let summary = Summary::read(&dir.file(SUMMARY))?;
    let times = times(dir)?;
    let model = model_of(&manifest.config);
    let mut tally = GenerationTally::default();
    for record in read_records(&dir.file(RECORDS))? {
        let record = record?;
        let time = times.get(&(record.sample_id.clone(), record.epoch));
        let item = GeneratedItem::of(&record, model, time.map(String::as_str));
        tally.add(&record, item.as_ref());
        if let Some(item) = &item {
            see(item)?;
        }
    }
    Ok(tally.figures(&manifest, &summary))
}

/// When the reply came that counted, of each sample in each epoch.
fn times(dir: &RunDir) -> Result<HashMap<(String, u32), String>> {
    let mut heard = HashMap::new();
    let mut times = HashMap::new();
    events::each(&dir.file(JOURNAL), &mut |line| {
        let event = line.event;
        let key = (event.sample_id, event.epoch);
        match event.kind {
            Kind::Answered => {
                heard.insert(key, event.time);
            }
            Kind::Scored => {
                if let Some(time) = heard.remove(&key) {
                    times.insert(key, time);
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(times)
}
