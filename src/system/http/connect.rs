//! `Noting`: ureq's own way to connect, which notes that a connection is a fresh one, and takes its time.

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::deadline::{Deadline, Timed};
use super::failure::short;
use crate::system::clock;
use crate::system::lock::lock;
use crate::system::shortage::{self, Shortage};
use ureq::Error;
use ureq::unversioned::transport::{
    ConnectionDetails, Connector, DefaultConnector, Transport, time,
};

thread_local! {
    /// Whether the request of this thread asked for a fresh connection. ureq connects on the thread that asks.
    static FRESH: Cell<bool> = const { Cell::new(false) };
}

/// The time between connections when there are many: 500 at once overflow the queue of most servers, which holds
/// some hundred; the system then tries the others again after a second.
const GAP: Duration = Duration::from_micros(200);
/// So many are made without a gap.
const BURST: u32 = 32;

/// Descriptors that connecting takes at most.
const DESCRIPTORS: usize = 4;

#[derive(Debug)]
pub(super) struct Noting {
    system: DefaultConnector,
    pace: Arc<Pace>,
}

impl Noting {
    pub(super) fn new(pace: Arc<Pace>) -> Self {
        Self {
            system: DefaultConnector::default(),
            pace,
        }
    }
}

/// When the next connection may be made.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<Option<Instant>>);

impl Pace {
    /// How long to wait for a turn that is asked for now.
    fn turn(&self, now: Instant) -> Duration {
        let mut next = lock(&self.0);
        let earliest = now.checked_sub(GAP * BURST).unwrap_or(now);
        let turn = next.map_or(earliest, |next| next.max(earliest));
        *next = Some(turn + GAP);
        turn.saturating_duration_since(now)
    }
}

impl Connector<()> for Noting {
    type Out = Box<dyn Transport>;

    fn connect(
        &self,
        details: &ConnectionDetails,
        _: Option<()>,
    ) -> Result<Option<Self::Out>, Error> {
        FRESH.set(true);
        let wait = self.pace.turn(Instant::now());
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
        let _room = shortage::room(DESCRIPTORS).map_err(short)?;
        let connected = Deadline::current().patiently(details.timeout, |timeout| {
            let details = ConnectionDetails {
                uri: details.uri,
                addrs: details.addrs.clone(),
                config: details.config,
                request_level: details.request_level,
                resolver: details.resolver,
                now: now(),
                timeout,
                current_time: Arc::new(now),
                run_connector: Arc::clone(&details.run_connector),
                register_shutdown: Arc::clone(&details.register_shutdown),
            };
            self.system.connect(&details, None)
        });
        match connected {
            // Here, where nothing was read yet, it means nothing else.
            Err(Error::Io(error)) => Err(match Shortage::of(&error) {
                Some(shortage) => short(shortage),
                None => Error::Io(error),
            }),
            connected => Ok(connected?.map(|system| Timed::new(system).boxed())),
        }
    }
}

/// The time by the clock of deadlines.
fn now() -> time::Instant {
    time::Instant::Exact(clock::now())
}

/// What `work` gives, and whether it had a fresh connection made.
pub(super) fn noted<T>(work: impl FnOnce() -> T) -> (T, bool) {
    FRESH.set(false);
    let done = work();
    (done, FRESH.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_connections_are_made_at_once_and_many_one_after_the_other() {
        let (pace, now) = (Pace::default(), Instant::now());
        let waits: Vec<_> = (0..500).map(|_| pace.turn(now)).collect();
        assert!(waits[..32].iter().all(Duration::is_zero));
        assert_eq!(waits[499], GAP * (499 - BURST));
        // Whoever pauses may go on at once.
        assert_eq!(pace.turn(now + Duration::from_secs(1)), Duration::ZERO);
    }
}
