//! `Rate`: so much in a minute, and no more.

use std::time::Duration;

/// A bucket that fills evenly and holds what comes in a second, or one whole request. Taking more than there is
/// leaves a debt, which must be filled up before anything is taken again: what an answer takes is known only
/// afterwards. Over any time `t` no more goes out than fits into `t` and one second, besides the last taking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    per_second: f64,
    capacity: f64,
    level: f64,
    /// When `level` was right.
    at: Duration,
}

impl Rate {
    /// So much in a minute; the bucket holds at least `least`.
    pub(super) fn per_minute(rate: f64, least: f64) -> Self {
        let per_second = rate / 60.0;
        let capacity = per_second.max(least);
        Self {
            per_second,
            capacity,
            level: capacity,
            at: Duration::ZERO,
        }
    }

    /// How long until `amount` may be taken, or as much as the bucket can hold.
    pub(super) fn wait(&mut self, now: Duration, amount: f64) -> Duration {
        self.fill(now);
        let missing = amount.min(self.capacity) - self.level;
        // What rounding leaves is no reason to wait.
        if missing <= 1e-9 * self.capacity {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(missing / self.per_second).unwrap_or(Duration::MAX)
    }

    /// Takes something, or with a negative amount gives it back.
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
        let mut rate = Rate::per_minute(30.0, 1.0);
        let mut now = Duration::ZERO;
        let mut times = Vec::new();
        for _ in 0..4 {
            now += rate.wait(now, 1.0);
            rate.take(now, 1.0);
            times.push(now.as_secs());
        }
        assert_eq!(times, [0, 2, 4, 6]);
        // Time that passed unused is not made up for.
        now += 600 * SECOND;
        rate.take(now, 1.0);
        assert_eq!(rate.wait(now, 1.0), 2 * SECOND);
    }

    #[test]
    fn a_debt_is_paid_before_more_is_taken() {
        let mut rate = Rate::per_minute(600.0, 1.0);
        assert_eq!(rate.wait(Duration::ZERO, 0.0), Duration::ZERO);
        rate.take(Duration::ZERO, 110.0);
        assert_eq!(rate.wait(Duration::ZERO, 0.0), 10 * SECOND);
        rate.take(SECOND, -10.0);
        assert_eq!(rate.wait(SECOND, 0.0), 8 * SECOND);
        // More than the bucket holds is waited for until it is full.
        assert_eq!(rate.wait(SECOND, 1e9), 9 * SECOND);
    }

    #[test]
    fn never_more_than_the_rate_over_any_minute() {
        let mut rate = Rate::per_minute(90.0, 1.0);
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
            assert!(within.count() <= 92, "from {start:?}");
        }
    }
}
