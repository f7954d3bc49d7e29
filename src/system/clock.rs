//! The clock of timeouts, which stands still while this process does: stopped by `SIGSTOP`, or asleep with its machine.
//!
//! The system's monotonic clock goes on while a process is stopped, and on some systems while the machine sleeps. What
//! an agent did meanwhile nobody could read; so that time is nobody's. A thread looks at the clock twice a second; when
//! it was not looked at for much longer, the process was not running. Whoever looks first, that thread or one that
//! keeps a deadline, sees the gap.
//!
//! [`now`] is the system's time less all gaps. It is compared with times of this clock alone.

use std::sync::{Mutex, Once};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

use super::lock::lock;

/// How often the clock is looked at.
const TICK: Duration = Duration::from_millis(500);
/// A process that runs looks at it more often than this, however busy its machine is.
const GAP: Duration = Duration::from_secs(3);

static CLOCK: Mutex<Clock> = Mutex::new(Clock {
    seen: None,
    lost: Duration::ZERO,
});

/// What is known of the time in which this process did not run.
struct Clock {
    /// When it was looked at last; `None` while no thread does so regularly.
    seen: Option<Instant>,
    lost: Duration,
}

impl Clock {
    /// The time of this clock at a time of the system's.
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

/// Looks at the clock from now on. Whoever asks for the time has it looked at, so that nobody can forget to.
fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Before the thread is on its way: it may be stopped with the process before it looks for the first time.
        lock(&CLOCK).seen = Some(Instant::now());
        let watch = || loop {
            std::thread::sleep(TICK);
            look();
        };
        let thread = std::thread::Builder::new()
            .name("evaltest-clock".to_owned())
            .spawn(watch);
        if thread.is_err() {
            // Without it the clock is the system's.
            lock(&CLOCK).seen = None;
        }
    });
}

/// The time.
pub(crate) fn now() -> Instant {
    watch();
    look()
}

fn look() -> Instant {
    let mut clock = lock(&CLOCK);
    clock.at(Instant::now())
}

/// The time since a time of this clock.
pub(crate) fn since(time: Instant) -> Duration {
    now().saturating_duration_since(time)
}

/// For how long this process did not run so far, as far as it was noticed.
#[cfg(feature = "http")]
pub(crate) fn lost() -> Duration {
    let mut clock = lock(&CLOCK);
    clock.at(Instant::now());
    clock.lost
}

/// The time of the system's clock at a time of this one, for those who know only that.
pub(crate) fn of_system(time: Instant) -> Instant {
    time.checked_add(lock(&CLOCK).lost).unwrap_or(time)
}

/// The date, within what dates can be written: a clock that is wrong stops no run.
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
    fn it_stands_still_while_nobody_looks_at_it() {
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
