//! The clock for timeouts, which pauses while this process does: stopped by `SIGSTOP`, or suspended with its machine.
//!
//! The system's monotonic clock continues while a process is stopped, and on some systems during suspension. The
//! process cannot read an agent's output in that time, so it is not counted. A thread reads the clock twice a second;
//! a much longer gap means that the process was not running. The first reader after the gap detects it.
//!
//! [`now`] is the system's time minus all gaps. Only compare it with times of this clock.

use std::sync::{Mutex, Once};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

use super::lock;

/// Interval of readings.
const TICK: Duration = Duration::from_millis(500);
/// Minimum length of a gap; a running process reads the clock more often, even on a busy machine.
const GAP: Duration = Duration::from_secs(3);

static CLOCK: Mutex<Clock> = Mutex::new(Clock {
    seen: None,
    lost: Duration::ZERO,
});

/// The detected gaps.
struct Clock {
    /// Time of the last reading; `None` while no thread reads regularly.
    seen: Option<Instant>,
    lost: Duration,
}

impl Clock {
    /// Converts a time of the system's clock to this clock.
    fn at(&mut self, time: Instant) -> Instant {
        if let Some(seen) = self.seen {
            let gap = time.saturating_duration_since(seen);
            if gap > GAP {
                self.lost += gap.saturating_sub(TICK);
            }
            self.seen = Some(seen.max(time));
        }
        time.checked_sub(self.lost).unwrap_or(time)
    }
}

/// Starts the reading thread. Called by every query, so that it cannot be forgotten.
fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Set it before the thread starts, in case the process is stopped before its first reading.
        lock(&CLOCK).seen = Some(Instant::now());
        let watch = || loop {
            std::thread::sleep(TICK);
            read_clock();
        };
        let thread = std::thread::Builder::new()
            .name("evaltest-clock".to_owned())
            .spawn(watch);
        if thread.is_err() {
            // Without the thread, use the system's clock.
            lock(&CLOCK).seen = None;
        }
    });
}

/// The current time of this clock.
pub(crate) fn now() -> Instant {
    watch();
    read_clock()
}

fn read_clock() -> Instant {
    let mut clock = lock(&CLOCK);
    clock.at(Instant::now())
}

/// The time since an earlier time of this clock.
pub(crate) fn since(time: Instant) -> Duration {
    now().saturating_duration_since(time)
}

/// The total length of the gaps detected so far.
#[cfg(feature = "http")]
pub(crate) fn lost() -> Duration {
    let mut clock = lock(&CLOCK);
    clock.at(Instant::now());
    clock.lost
}

/// Converts a time of this clock to the system's clock.
pub(crate) fn of_system(time: Instant) -> Instant {
    time.checked_add(lock(&CLOCK).lost).unwrap_or(time)
}

/// The current date, clamped to representable dates, so that a wrong clock cannot stop a run.
pub(crate) fn timestamp() -> Timestamp {
    of_date(SystemTime::now())
}

fn of_date(time: SystemTime) -> Timestamp {
    let is_past = time < SystemTime::UNIX_EPOCH;
    let limit = if is_past {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    Timestamp::try_from(time).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stops_while_nobody_reads_it() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut clock = Clock {
            seen: Some(start),
            lost: Duration::ZERO,
        };
        assert_eq!(clock.at(start + second), start + second);
        // Stopped for an hour.
        assert_eq!(clock.at(start + 3601 * second), start + second + TICK);
        assert_eq!(clock.at(start + 3602 * second), start + 2 * second + TICK);
        let mut unwatched = Clock {
            seen: None,
            lost: Duration::ZERO,
        };
        assert_eq!(unwatched.at(start + 9 * second), start + 9 * second);
    }

    #[test]
    fn whoever_asks_for_the_time_has_the_clock_watched() {
        now();
        assert!(lock(&CLOCK).seen.is_some());
    }

    #[test]
    fn no_date_is_too_late_to_be_written() {
        let check = |seconds: u64, expect: &str| {
            let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
            let date = of_date(time.unwrap());
            assert_eq!(format!("{date:.0}"), expect);
        };
        check(0, "1970-01-01T00:00:00Z");
        // The last second of 9999, and the year 11000.
        check(253_402_300_799, "9999-12-30T22:00:00Z");
        check(284_000_000_000, "9999-12-30T22:00:00Z");
    }
}
