//! The processes of an agent: who is asked next, and what is to be done when one falls.
//!
//! When a process ends, nobody knows which of its requests was the reason. All of them become suspects and are
//! asked again, alone: a suspect that makes its process fall once more is guilty, and nobody else is harmed.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::driver::Driver;
use crate::agent::command::cancelled;
use crate::data::{AgentError, FailureKind};
use crate::system::cancel::Cancel;
use crate::system::lock::lock;

/// So many samples in a row that make a process fall, each alone and with no answer in between, are the
/// program's fault and not theirs.
const MOST_FALLEN: usize = 5;
/// How often one who waits looks whether the run was stopped.
const GLANCE: Duration = Duration::from_millis(100);

/// A sample and its epoch.
pub(super) type Key = (String, u32);

pub(super) struct Pool {
    places: Vec<Mutex<Option<Arc<Driver>>>>,
    in_flight: usize,
    state: Mutex<State>,
    /// Somebody may find a place now.
    freed: Condvar,
}

#[derive(Default)]
struct State {
    loads: Vec<Load>,
    /// Samples whose process fell, and how often.
    suspects: HashMap<Key, u32>,
    /// How many suspects wait for a place of their own.
    lonely: usize,
    /// The place that gets no more requests, so that it becomes free for a suspect.
    reserved: Option<usize>,
    /// Guilty samples since the last answer.
    fallen: BTreeSet<String>,
    /// Whether no process can be used any more.
    is_broken: bool,
}

/// What a process has to do.
#[derive(Clone, Default)]
struct Load {
    requests: usize,
    /// Whether its only request is a suspect.
    alone: bool,
    started: bool,
}

/// The right to ask one process one thing.
pub(super) struct Lease<'a> {
    pool: &'a Pool,
    place: usize,
}

impl Pool {
    pub(super) fn new(processes: usize, in_flight: usize) -> Self {
        Self {
            places: (0..processes).map(|_| Mutex::default()).collect(),
            in_flight,
            state: Mutex::new(State {
                loads: vec![Load::default(); processes],
                ..State::default()
            }),
            freed: Condvar::new(),
        }
    }

    /// Waits for a place to ask `key`.
    pub(super) fn lease(&self, key: &Key, cancel: &Cancel) -> Result<Lease<'_>, AgentError> {
        let mut state = lock(&self.state);
        let alone = state.suspects.contains_key(key);
        state.lonely += usize::from(alone);
        let found = loop {
            if state.is_broken {
                // Told once, by whoever found it out.
                break Err(cancelled());
            }
            if cancel.is_cancelled() {
                break Err(cancelled());
            }
            let found = if alone {
                state.find_idle()
            } else {
                state.find(self.in_flight)
            };
            if let Some(place) = found {
                break Ok(place);
            }
            let waited = self.freed.wait_timeout(state, GLANCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        if alone {
            state.lonely -= 1;
            if state.lonely == 0 {
                state.reserved = None;
            }
        }
        let place = found?;
        let load = &mut state.loads[place];
        load.requests += 1;
        load.alone = alone;
        load.started = true;
        Ok(Lease { pool: self, place })
    }

    /// `key` was answered.
    pub(super) fn answered(&self, key: &Key) {
        let mut state = lock(&self.state);
        state.fallen.clear();
        state.suspects.remove(key);
    }

    /// The process fell while it had `key`; says what that means for it. So many times are `free`.
    pub(super) fn fell(&self, key: &Key, failure: AgentError, free: u32) -> AgentError {
        let mut state = lock(&self.state);
        let times = state.suspects.entry(key.clone()).or_default();
        *times += 1;
        if *times <= free || failure.kind == FailureKind::Lost {
            return AgentError {
                kind: FailureKind::Lost,
                ..failure
            };
        }
        state.fallen.insert(key.0.clone());
        if state.fallen.len() >= MOST_FALLEN {
            let message = format!(
                "{} samples in a row had the program end, the last time it {}",
                state.fallen.len(),
                failure.message
            );
            drop(state);
            return self.give_up(FailureKind::Unusable, AgentError { message, ..failure });
        }
        failure
    }

    /// No process can be used any more. The first one to find out tells; for the others the run is over.
    pub(super) fn give_up(&self, kind: FailureKind, reason: AgentError) -> AgentError {
        let was_broken = std::mem::replace(&mut lock(&self.state).is_broken, true);
        self.freed.notify_all();
        if was_broken {
            return cancelled();
        }
        AgentError { kind, ..reason }
    }

    /// A run begins: what was wrong in an earlier one may be mended.
    pub(super) fn renew(&self) {
        let mut state = lock(&self.state);
        state.is_broken = false;
        state.fallen.clear();
        state.suspects.clear();
    }

    /// Ends every process that has nothing to do, and waits until they are gone.
    pub(super) fn close(&self) {
        let idle = |place: &usize| lock(&self.state).loads[*place].requests == 0;
        self.end((0..self.places.len()).filter(idle));
    }

    fn end(&self, places: impl Iterator<Item = usize>) {
        let drivers: Vec<_> = places
            .filter_map(|place| lock(&self.places[place]).take())
            .collect();
        // All at once; then they are waited for.
        for driver in &drivers {
            driver.close();
        }
        for driver in drivers {
            driver.join();
        }
    }
}

impl State {
    /// The place with the least to do that takes one more.
    fn find(&self, in_flight: usize) -> Option<usize> {
        let takes_more = |(place, load): &(usize, &Load)| {
            load.requests < in_flight && !load.alone && self.reserved != Some(*place)
        };
        let loads = self.loads.iter().enumerate();
        let least = loads
            .filter(takes_more)
            .min_by_key(|(_, load)| (load.requests, !load.started));
        least.map(|(place, _)| place)
    }

    /// A place with nothing to do. If there is none, one gets nothing more to do.
    fn find_idle(&mut self) -> Option<usize> {
        let loads = || self.loads.iter().enumerate();
        let idle = loads().filter(|(_, load)| load.requests == 0);
        if let Some((place, _)) = idle.min_by_key(|(_, load)| !load.started) {
            return Some(place);
        }
        if self.reserved.is_none() {
            let least = loads().min_by_key(|(_, load)| load.requests);
            self.reserved = least.map(|(place, _)| place);
        }
        None
    }
}

impl Lease<'_> {
    /// The process of this place; `start` starts it when there is none.
    pub(super) fn driver(
        &self,
        start: impl FnOnce() -> Result<Driver, AgentError>,
    ) -> Result<Arc<Driver>, AgentError> {
        let mut place = lock(&self.pool.places[self.place]);
        if let Some(driver) = place.as_ref().filter(|driver| !driver.is_over()) {
            return Ok(Arc::clone(driver));
        }
        *place = None;
        let driver = Arc::new(start().inspect_err(|_| {
            // Those that run are asked first.
            lock(&self.pool.state).loads[self.place].started = false;
        })?);
        *place = Some(Arc::clone(&driver));
        Ok(driver)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.pool.state);
        let load = &mut state.loads[self.place];
        load.requests -= 1;
        load.alone = false;
        let for_all = state.lonely > 0;
        drop(state);
        if for_all {
            self.pool.freed.notify_all();
        } else {
            self.pool.freed.notify_one();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.end(0..self.places.len());
    }
}
