//! `EarlierPart`: what an earlier part of a run left, by slot.
//!
//! Memory holds only positions in the journal; an entry is read when its question comes up.

use std::collections::HashMap;
use std::path::Path;

use crate::error::Result;
use crate::eval::limits::budget::UsedUp;
use crate::eval::plan::Plan;
use crate::store::journal::StoredEvent;
use crate::store::journal::past::{EarlierState, Past};
use crate::store::journal::places::{JournalPlaces, PlaceList};

/// Collects what an earlier part of a run left while its journal is read.
pub(in crate::run) struct EarlierPart<'a> {
    plan: &'a Plan,
    /// Places of samples by id. Built on the first event, as a new run has none.
    samples: HashMap<&'a str, usize>,
    failures_count: bool,
    state: Vec<EarlierState>,
    lines: PlaceList,
    spent: UsedUp,
}

/// The same, after reading everything.
pub(in crate::run) struct Earlier {
    /// By slot; empty for a new run.
    pub(in crate::run) state: Vec<EarlierState>,
    /// The used budget.
    pub(in crate::run) spent: UsedUp,
    pub(in crate::run) lines: EarlierLines,
}

/// Reads the entries from the journal.
pub(in crate::run) struct EarlierLines {
    places: JournalPlaces,
    failures_count: bool,
}

impl<'a> EarlierPart<'a> {
    /// For an empty journal; `failures_count` if a failure counts as an end.
    pub(in crate::run) fn new(plan: &'a Plan, failures_count: bool) -> Self {
        Self {
            plan,
            samples: HashMap::new(),
            failures_count,
            state: Vec::new(),
            lines: PlaceList::default(),
            spent: UsedUp::default(),
        }
    }

    /// Adds the event whose line is at an offset.
    pub(in crate::run) fn add(&mut self, event: &StoredEvent, place: u64) {
        self.spent.add(event);
        if !event.kind.is_of_past() {
            return;
        }
        let Some(slot) = self.slot(event) else {
            return;
        };
        let state = &mut self.state[slot];
        *state = state.with(event, self.failures_count);
        self.lines.add(slot as u64, place);
    }

    /// What is known of each slot; empty if the journal has nothing.
    pub(in crate::run) fn known(self) -> Vec<EarlierState> {
        self.state
    }

    /// Opens the journal for reading entries.
    pub(in crate::run) fn open(self, journal: &Path) -> Result<Earlier> {
        Ok(Earlier {
            state: self.state,
            spent: self.spent,
            lines: EarlierLines {
                places: self.lines.open(journal)?,
                failures_count: self.failures_count,
            },
        })
    }

    /// The slot of an event, if it is one of this eval.
    fn slot(&mut self, event: &StoredEvent) -> Option<usize> {
        let plan = self.plan;
        let (trial, trials) = (event.epoch as usize, plan.trials());
        if self.samples.is_empty() {
            let ids = plan.items.iter().map(|item| &*item.id);
            self.samples = ids.zip(0..).collect();
            self.state = vec![EarlierState::Nothing; plan.items.len() * trials];
        }
        let place = self.samples.get(&*event.sample_id)?;
        (trial < trials).then_some(place * trials + trial)
    }
}

impl EarlierLines {
    /// What is known of a question.
    ///
    /// # Errors
    /// When the journal cannot be read again.
    pub(in crate::run) fn past(&self, slot: usize) -> Result<Past> {
        let events = self.places.events(slot as u64)?;
        Ok(Past::of(events, self.failures_count))
    }
}
