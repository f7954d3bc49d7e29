//! `EarlierReplies`: what earlier rescores of a run were told, which did not come to their end. In memory there is where
//! it stands in their journals.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use crate::data::JudgeCall;
use crate::error::Result;
use crate::store::events::places::{JournalPlaces, PlaceList};
use crate::store::events::{self, StoredEvent};

/// What earlier rescores of a run were told.
#[derive(Default)]
pub(super) struct EarlierReplies(Vec<JournalPlaces>);

impl EarlierReplies {
    /// Adds what is in a journal.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn add(&mut self, journal: &Path) -> Result<()> {
        let mut list = PlaceList::default();
        events::each(journal, &mut |line| {
            let of = mark(&line.event.sample_id, line.event.epoch);
            if line.event.into_said().is_some() {
                list.add(of, line.place);
            }
            Ok(())
        })?;
        self.0.push(list.open(journal)?);
        Ok(())
    }

    /// What was said of an answer.
    ///
    /// # Errors
    /// When a journal cannot be read again.
    pub(super) fn of(&self, id: &str, epoch: u32) -> Result<Vec<JudgeCall>> {
        let mut said = Vec::new();
        for journal in &self.0 {
            let events = journal.events(mark(id, epoch))?;
            let events = events.into_iter().map(|event| event.known);
            // Two answers may have one mark.
            let own = events.filter(|event| event.sample_id == id && event.epoch == epoch);
            said.extend(own.filter_map(StoredEvent::into_said));
        }
        Ok(said)
    }
}

fn mark(id: &str, epoch: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    (id, epoch).hash(&mut hasher);
    hasher.finish()
}
