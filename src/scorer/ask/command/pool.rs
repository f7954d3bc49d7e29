//! A limited pool of judging processes, each for one answer at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::system::lock;
use crate::system::process::worker::WorkerProcess;

/// Idle processes, and how many more may be started.
pub(super) struct ProcessPool {
    state: Mutex<PoolState>,
    freed: Condvar,
}

struct PoolState {
    idle: Vec<WorkerProcess>,
    /// How many leases are available besides those for `idle`.
    free: usize,
}

/// The right to use one process.
pub(super) struct ProcessLease<'a> {
    pool: &'a ProcessPool,
    /// The process; `None` if it is not started yet. A process that is still here at the end is reused.
    pub(super) worker: Option<WorkerProcess>,
}

impl ProcessPool {
    pub(super) fn new(processes: usize) -> Self {
        Self {
            state: Mutex::new(PoolState {
                idle: Vec::new(),
                free: processes,
            }),
            freed: Condvar::new(),
        }
    }

    /// Waits for an idle process, or for the right to start one.
    pub(super) fn lease(&self) -> ProcessLease<'_> {
        let mut state = self.state();
        loop {
            // The most recently used one: its memory is warm, and no more are started than needed.
            if let Some(worker) = state.idle.pop() {
                let worker = Some(worker);
                return ProcessLease { pool: self, worker };
            }
            if state.free > 0 {
                state.free -= 1;
                let worker = None;
                return ProcessLease { pool: self, worker };
            }
            state = self
                .freed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        lock(&self.state)
    }
}

impl Drop for ProcessLease<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        match self.worker.take() {
            Some(worker) => state.idle.push(worker),
            None => state.free += 1,
        }
        drop(state);
        self.pool.freed.notify_one();
    }
}

impl Drop for ProcessPool {
    fn drop(&mut self) {
        let mut state = self.state();
        // Tell all to exit first; dropping them waits for each.
        state.idle.iter_mut().for_each(WorkerProcess::dismiss);
        state.idle.clear();
    }
}
