//! The processes of an agent: which one to ask next, and what to do when one dies.
//!
//! When a process ends, it is unknown which of its requests was the reason. All of them become suspects and are retried
//! alone: a suspect whose process dies again is guilty, and no other request is affected.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::agent::command::cancelled;
use crate::data::{AgentError, FailureKind};
use crate::system::cancel::Cancel;
use crate::system::lock;

/// If this many samples in a row kill a process, each alone and with no answer in between, the program is at fault.
const MOST_FALLEN: usize = 5;
/// How often a waiter checks whether the run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How often in a row a program may fail to become ready.
const MOST_STARTS: u32 = 3;
/// How often a task is retried because its process was killed, though it was the only one there.
const MOST_KILLS: u32 = 3;
/// The pause before it is started again.
const PAUSE: Duration = Duration::from_millis(100);

/// Why there is no answer.
#[derive(Debug)]
pub(in crate::agent) enum WorkerRefusal {
    /// For a reason of this request.
    Own(AgentError),
    /// The process ended or had to be ended while it had the request; another may have been the reason.
    Fell(AgentError),
    /// The process had to be ended while this was its only request.
    Guilty(AgentError),
    /// The process was killed during the request, by someone or for lack of memory.
    Killed(AgentError),
    /// The request was never sent.
    Unsent,
    /// The process did not become ready.
    NotReady(AgentError),
    /// It speaks another version of the protocol.
    Foreign(AgentError),
}

/// A process of a pool.
pub(in crate::agent) trait Pooled {
    /// Whether it is gone, or about to be.
    fn is_over(&self) -> bool;
    /// Has it end after its current requests, without waiting.
    fn close(&self);
    /// Waits until it is gone.
    fn join(&self);
}

/// A sample and its epoch.
pub(in crate::agent) type Key = (String, u32);

pub(in crate::agent) struct Pool<D: Pooled> {
    places: Vec<Mutex<Option<Arc<D>>>>,
    in_flight: usize,
    state: Mutex<State>,
    /// Signalled when a slot may be free.
    freed: Condvar,
}

#[derive(Default)]
struct State {
    loads: Vec<Load>,
    /// Samples whose process died, and how often.
    suspects: HashMap<Key, u32>,
    /// How many requests wait for a certain process.
    placed: usize,
    /// How many suspects wait for a process of their own.
    lonely: usize,
    /// The process that gets no more requests, so that it becomes free for a suspect.
    reserved: Option<usize>,
    /// Guilty samples since the last answer.
    fallen: BTreeSet<String>,
    /// Whether no process can be used any more.
    is_broken: bool,
}

/// The requests of a process.
#[derive(Clone, Default)]
struct Load {
    requests: usize,
    /// Whether its only request is a suspect.
    alone: bool,
    started: bool,
}

/// The right to send one request to one process.
pub(in crate::agent) struct Lease<'a, D: Pooled> {
    pool: &'a Pool<D>,
    place: usize,
}

impl<D: Pooled> Pool<D> {
    pub(in crate::agent) fn new(processes: usize, in_flight: usize) -> Self {
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

    /// Waits for a slot to ask `key`, in the process `at` a place if that is given.
    pub(in crate::agent) fn lease(
        &self,
        key: &Key,
        at: Option<usize>,
        cancel: &Cancel,
    ) -> Result<Lease<'_, D>, AgentError> {
        let mut state = lock(&self.state);
        let alone = state.suspects.contains_key(key);
        state.lonely += usize::from(alone);
        state.placed += usize::from(at.is_some());
        let found = loop {
            if state.is_broken {
                // Reported only by the first to find out.
                break Err(cancelled());
            }
            if cancel.is_cancelled() {
                break Err(cancelled());
            }
            let found = match at {
                Some(place) => state.takes(place, self.in_flight, alone).then_some(place),
                None if alone => state.find_idle(),
                None => state.find(self.in_flight),
            };
            if let Some(place) = found {
                break Ok(place);
            }
            let waited = self.freed.wait_timeout(state, POLL_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        state.placed -= usize::from(at.is_some());
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
    pub(in crate::agent) fn answered(&self, key: &Key) {
        let mut state = lock(&self.state);
        state.fallen.clear();
        state.suspects.remove(key);
    }

    /// The process died while it had `key`; returns the error for it. The first `free` times are retried.
    fn fell(&self, key: &Key, failure: AgentError, free: u32) -> AgentError {
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
                "the program ended on {} samples in a row; the last time it {}",
                state.fallen.len(),
                failure.message
            );
            drop(state);
            return self.give_up(FailureKind::Unusable, AgentError { message, ..failure });
        }
        failure
    }

    /// The error for a refusal; `None` if the task is to be sent again. `starts` counts failed starts.
    pub(in crate::agent) fn after(
        &self,
        refusal: WorkerRefusal,
        key: &Key,
        starts: &mut u32,
    ) -> Option<AgentError> {
        match refusal {
            WorkerRefusal::Own(failure) => Some(failure),
            WorkerRefusal::Fell(failure) => Some(self.fell(key, failure, 1)),
            WorkerRefusal::Guilty(failure) => Some(self.fell(key, failure, 0)),
            WorkerRefusal::Killed(failure) => Some(self.fell(key, failure, MOST_KILLS)),
            WorkerRefusal::Unsent => None,
            WorkerRefusal::NotReady(failure) if failure.kind == FailureKind::Shortage => {
                Some(failure)
            }
            WorkerRefusal::NotReady(failure) => {
                *starts += 1;
                if failure.kind == FailureKind::NotFound || *starts >= MOST_STARTS {
                    return Some(self.give_up(FailureKind::Unusable, failure));
                }
                std::thread::sleep(PAUSE * *starts);
                None
            }
            WorkerRefusal::Foreign(failure) => {
                Some(self.give_up(FailureKind::Misconfigured, failure))
            }
        }
    }

    /// Marks all processes as unusable. The first caller gets the reason; for the others the run is cancelled.
    fn give_up(&self, kind: FailureKind, reason: AgentError) -> AgentError {
        let was_broken = std::mem::replace(&mut lock(&self.state).is_broken, true);
        self.freed.notify_all();
        if was_broken {
            return cancelled();
        }
        AgentError { kind, ..reason }
    }

    /// Resets the state for a new run: earlier faults may be fixed.
    pub(in crate::agent) fn renew(&self) {
        let mut state = lock(&self.state);
        state.is_broken = false;
        state.fallen.clear();
        state.suspects.clear();
    }

    /// Ends every idle process, and waits until they are gone.
    pub(in crate::agent) fn close(&self) {
        let idle = |place: &usize| lock(&self.state).loads[*place].requests == 0;
        self.end((0..self.places.len()).filter(idle));
    }

    fn end(&self, places: impl Iterator<Item = usize>) {
        let drivers: Vec<_> = places
            .filter_map(|place| lock(&self.places[place]).take())
            .collect();
        // Close all first, then wait.
        for driver in &drivers {
            driver.close();
        }
        for driver in drivers {
            driver.join();
        }
    }
}

impl State {
    /// The least busy process that accepts one more request.
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

    /// Whether the process at a place takes one more request.
    fn takes(&self, place: usize, in_flight: usize, alone: bool) -> bool {
        let load = &self.loads[place];
        let most = if alone { 1 } else { in_flight };
        load.requests < most && !load.alone
    }

    /// An idle process. If there is none, reserves one, which gets no more requests.
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

impl<D: Pooled> Lease<'_, D> {
    /// The place of the process.
    pub(in crate::agent) fn place(&self) -> usize {
        self.place
    }

    /// The process of this slot, started with `start` if there is none.
    pub(in crate::agent) fn driver(
        &self,
        start: impl FnOnce() -> Result<D, AgentError>,
    ) -> Result<Arc<D>, AgentError> {
        let mut place = lock(&self.pool.places[self.place]);
        if let Some(driver) = place.as_ref().filter(|driver| !driver.is_over()) {
            return Ok(Arc::clone(driver));
        }
        *place = None;
        let driver = Arc::new(start().inspect_err(|_| {
            // Running processes are preferred.
            lock(&self.pool.state).loads[self.place].started = false;
        })?);
        *place = Some(Arc::clone(&driver));
        Ok(driver)
    }
}

impl<D: Pooled> Drop for Lease<'_, D> {
    fn drop(&mut self) {
        let mut state = lock(&self.pool.state);
        let load = &mut state.loads[self.place];
        load.requests -= 1;
        load.alone = false;
        // Who waits for one place is not helped by another.
        let for_all = state.lonely > 0 || state.placed > 0;
        drop(state);
        if for_all {
            self.pool.freed.notify_all();
        } else {
            self.pool.freed.notify_one();
        }
    }
}

impl<D: Pooled> Drop for Pool<D> {
    fn drop(&mut self) {
        self.end(0..self.places.len());
    }
}
