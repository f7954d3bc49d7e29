//! `Rate`: a limit per minute.

use std::time::Duration;

/// For spread rates, the capacity of the bucket as a time: waking up for each single request of a fast rate would cost
/// too much, and the timer would lag behind.
const STEP_S: f64 = 0.01;

/// A token bucket that fills evenly and holds a short time's worth. Taking more than there is leaves a debt to fill
/// first, as the size of an answer is known only afterwards. Over any time `t`, no more is taken than comes in `t` plus
/// that short time, except for the last taking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    per_second: f64,
    capacity: f64,
    level: f64,
    /// The time at which `level` was computed.
    at: Duration,
}

impl Rate {
    /// Whole requests per minute, evenly spread: no two start at once, below a hundred per second.
    pub(super) fn spread(rate: f64) -> Self {
        Self::holding(rate, STEP_S)
    }

    /// An amount per minute; one second's worth may be taken at once.
    pub(super) fn per_minute(rate: f64) -> Self {
        Self::holding(rate, 1.0)
    }

    /// Holds this many seconds' worth, and at least one.
    fn holding(rate: f64, seconds: f64) -> Self {
        let per_second = rate / 60.0;
        let capacity = (per_second * seconds).max(1.0);
        Self {
            per_second,
            capacity,
            level: capacity,
            at: Duration::ZERO,
        }
    }

    /// How long until `amount`, or at most the capacity, may be taken.
    pub(super) fn wait(&mut self, now: Duration, amount: f64) -> Duration {
        self.fill(now);
        let missing = amount.min(self.capacity) - self.level;
        // Do not wait for a rounding error.
        if missing <= 1e-9 * self.capacity {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(missing / self.per_second).unwrap_or(Duration::MAX)
    }

    /// Takes an amount; a negative amount is given back.
    pub(super) fn take(&mut self, now: Duration, amount: f64) {
        self.fill(now);
        self.level = (self.level - amount).min(self.capacity);
    }

    fn fill(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.level = (self.level + passed * self.per_second).min(self.capacity);
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn requests_are_spread_over_the_minute() {
        let mut rate = Rate::spread(30.0);
        let mut now = Duration::ZERO;
        let mut times = Vec::new();
        for _ in 0..4 {
            now += rate.wait(now, 1.0);
            rate.take(now, 1.0);
            times.push(now.as_secs());
        }
        assert_eq!(times, [0, 2, 4, 6]);
        // Unused time does not accumulate.
        now += 600 * SECOND;
        rate.take(now, 1.0);
        assert_eq!(rate.wait(now, 1.0), 2 * SECOND);
    }

    #[test]
    fn fast_requests_are_spread_too() {
        // How many start at once, and after how many milliseconds the next.
        fn check(per_minute: f64, at_once: u32, wait: u64) {
            let mut rate = Rate::spread(per_minute);
            let now = 3 * SECOND;
            for _ in 0..at_once {
                assert_eq!(rate.wait(now, 1.0), Duration::ZERO, "{per_minute}");
                rate.take(now, 1.0);
            }
            let waits = rate.wait(now, 1.0).as_secs_f64() * 1000.0;
            assert!(
                (waits - crate::stats::as_f64(wait)).abs() < 1e-6,
                "{per_minute}: {waits}"
            );
        }
        check(120.0, 1, 500);
        check(600.0, 1, 100);
        check(6000.0, 1, 10);
        // At most one wake-up per 10 ms over time.
        check(60_000.0, 10, 1);
    }

    #[test]
    fn a_debt_is_paid_before_more_is_taken() {
        let mut rate = Rate::per_minute(600.0);
        assert_eq!(rate.wait(Duration::ZERO, 0.0), Duration::ZERO);
        rate.take(Duration::ZERO, 110.0);
        assert_eq!(rate.wait(Duration::ZERO, 0.0), 10 * SECOND);
        rate.take(SECOND, -10.0);
        assert_eq!(rate.wait(SECOND, 0.0), 8 * SECOND);
        // More than the capacity waits until the bucket is full.
        assert_eq!(rate.wait(SECOND, 1e9), 9 * SECOND);
    }

    #[test]
    fn never_more_than_the_rate_over_any_minute() {
        let mut rate = Rate::spread(90.0);
        let mut now = Duration::ZERO;
        let mut times = Vec::new();
        for turn in 0..1000_u64 {
            // Comes late now and then.
            now += rate.wait(now, 1.0) + Duration::from_millis(turn * 7919 % 13 * 100);
            rate.take(now, 1.0);
            times.push(now);
        }
        for (place, start) in times.iter().enumerate() {
            let within = times[place..]
                .iter()
                .take_while(|at| **at < *start + 60 * SECOND);
            assert!(within.count() <= 91, "from {start:?}");
        }
    }
}
