//! `Noting`: ureq's default connector, which also records that a connection is new, and paces connecting.

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::deadline::{Deadline, Timed};
use super::failure::short;
use crate::system::clock;
use crate::system::lock;
use crate::system::shortage::{self, Shortage};
use ureq::Error;
use ureq::unversioned::transport::{
    ConnectionDetails, Connector, DefaultConnector, Transport, time,
};

thread_local! {
    /// Whether this thread's request opened a new connection. ureq connects on the calling thread.
    static FRESH: Cell<bool> = const { Cell::new(false) };
}

/// Minimum interval between new connections: 500 at once overflow the accept queue of most servers (a few hundred),
/// and the system then retries after a second.
const GAP: Duration = Duration::from_micros(200);
/// Number of connections without an interval.
const BURST: u32 = 32;

/// Maximum descriptors needed to connect.
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

/// When the next connection may be opened.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<Option<Instant>>);

impl Pace {
    /// The delay of a connection requested now.
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
            // At this stage, before anything was read, it has no other meaning.
            Err(Error::Io(error)) => Err(match Shortage::of(&error) {
                Some(shortage) => short(shortage),
                None => Error::Io(error),
            }),
            connected => Ok(connected?.map(|system| Timed::new(system).boxed())),
        }
    }
}

/// The time of the clock for deadlines.
fn now() -> time::Instant {
    time::Instant::Exact(clock::now())
}

/// The result of `work`, and whether it opened a new connection.
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
        // After a pause there is no delay.
        assert_eq!(pace.turn(now + Duration::from_secs(1)), Duration::ZERO);
    }
}
