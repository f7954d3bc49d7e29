//! `InFlight`: limits how many agents the pools of all evals have in flight together.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::system::lock::lock;

/// How often a waiter checks whether its run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// As many slots as `--test-threads` says.
pub(super) struct InFlight {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A taken slot, released on drop.
#[must_use]
pub(super) struct InFlightGuard<'a>(&'a InFlight);

impl InFlight {
    pub(super) fn new(permits: usize) -> Self {
        Self {
            free: Mutex::new(permits),
            freed: Condvar::new(),
        }
    }

    /// Waits for a slot; `None` if the caller's run is stopped.
    pub(super) fn take(&self, is_stopped: impl Fn() -> bool) -> Option<InFlightGuard<'_>> {
        let mut free = lock(&self.free);
        loop {
            if is_stopped() {
                return None;
            }
            if *free > 0 {
                *free -= 1;
                return Some(InFlightGuard(self));
            }
            let waited = self.freed.wait_timeout(free, POLL_INTERVAL);
            free = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::tests::wait::until;

    #[test]
    fn no_more_are_taken_than_there_are() {
        let permits = InFlight::new(2);
        let (taken, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let _guard = permits.take(|| false);
                    let now = taken.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    until("both are taken", || most.load(Ordering::SeqCst) >= 2);
                    std::thread::sleep(Duration::from_millis(5));
                    taken.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 2);
        assert_eq!(*lock(&permits.free), 2);
    }

    #[test]
    fn who_is_stopped_waits_no_longer() {
        let permits = InFlight::new(1);
        let held = permits.take(|| false);
        let stopped = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| permits.take(|| stopped.load(Ordering::SeqCst)).is_none());
            stopped.store(true, Ordering::SeqCst);
            assert!(waits.join().unwrap());
        });
        drop(held);
    }
}
