//! `Flight`: a question in flight, of any run of this program or of a judge.
//!
//! A run that has no room for its only question waits for others to end, as they may free some. If there is no other,
//! it does not wait. A failure for want of room is immediate, so a question that is in flight for longer had room.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::system::clock;
use crate::system::lock::lock;

/// A question in flight for longer than this found room.
const FLASH: Duration = Duration::from_secs(1);
/// Others that found room this recently still count, though none may be in flight right now.
const LATELY: Duration = Duration::from_secs(4);

static FLIGHTS: Mutex<Flights> = Mutex::new(Flights::new());

/// All questions in flight in this program.
struct Flights {
    next: u64,
    /// When each started, the oldest first.
    started: BTreeMap<u64, Instant>,
    /// When the last one that had found room ended.
    ended: Option<Instant>,
}

/// A question in flight, until this is dropped or [`Flight::end`] is called.
pub(in crate::run) struct Flight(u64);

impl Flights {
    const fn new() -> Self {
        Self {
            next: 0,
            started: BTreeMap::new(),
            ended: None,
        }
    }

    fn begin(&mut self, now: Instant) -> u64 {
        let number = self.next;
        self.next += 1;
        self.started.insert(number, now);
        number
    }

    fn is_alone(&self, number: u64, now: Instant) -> bool {
        let since = |time: Instant| now.saturating_duration_since(time);
        let mut others = self.started.iter().filter(|(other, _)| **other != number);
        let longest = others.next().map(|(_, started)| since(*started));
        longest.is_none_or(|longest| longest < FLASH)
            && self.ended.is_none_or(|ended| since(ended) >= LATELY)
    }

    fn end(&mut self, number: u64, found_room: bool, now: Instant) {
        self.started.remove(&number);
        if found_room {
            self.ended = Some(now);
        }
    }
}

impl Flight {
    pub(in crate::run) fn begin() -> Self {
        Self(lock(&FLIGHTS).begin(clock::now()))
    }

    /// Whether no other question could free any room.
    pub(in crate::run) fn is_alone(&self) -> bool {
        lock(&FLIGHTS).is_alone(self.0, clock::now())
    }

    /// Ends the flight; `found_room` says whether it had room.
    pub(in crate::run) fn end(&self, found_room: bool) {
        lock(&FLIGHTS).end(self.0, found_room, clock::now());
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        lock(&FLIGHTS).started.remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_in_flight_for_long_or_was_lately_is_company() {
        let (mut flights, start) = (Flights::new(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let own = flights.begin(at(0));
        assert!(flights.is_alone(own, at(9)));
        // Another run that has no room either.
        let other = flights.begin(at(9));
        assert!(flights.is_alone(own, at(9)));
        assert!(!flights.is_alone(own, at(10)), "it found room");
        flights.end(other, true, at(11));
        assert!(!flights.is_alone(own, at(12)));
        assert!(flights.is_alone(own, at(15)));
        let other = flights.begin(at(15));
        flights.end(other, false, at(15));
        assert!(flights.is_alone(own, at(15)));
    }
}
