//! `Window`: how many questions may be in flight. Grows at the start and shrinks on rate limit refusals.

use std::time::Duration;

use crate::stats::as_f64;

/// At the start, slots open at this interval: an endpoint loses connections if more come at once than its queue holds.
const OPENING: Duration = Duration::from_micros(200);

/// How many questions may be in flight.
///
/// At first the slots open one by one. A rate limit refusal halves the window; an answer grows it by the inverse of its
/// size, so by one per round of answers. Refusals of questions asked before the window was halved belong to the same
/// congestion and do not halve it again. Source: V. Jacobson, *Congestion avoidance and control*, SIGCOMM 1988.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    most: usize,
    /// The interval at which slots open.
    opening: Duration,
    /// At most `most`.
    size: f64,
    halved: Option<Duration>,
}

impl Window {
    pub(super) fn new(most: usize, ramp_up: Option<Duration>) -> Self {
        let most = most.max(1);
        let places = u32::try_from(most).unwrap_or(u32::MAX);
        Self {
            most,
            opening: ramp_up.map_or(OPENING, |ramp_up| ramp_up / places),
            size: as_f64(most as u64),
            halved: None,
        }
    }

    /// How many may be in flight now, at least one; and when there will be one more, if that depends on time alone.
    pub(super) fn places(&self, now: Duration) -> (usize, Option<Duration>) {
        let open = now.as_nanos().checked_div(self.opening.as_nanos());
        let open = open.map_or(self.most, |open| {
            usize::try_from(open).map_or(self.most, |open| open.saturating_add(1))
        });
        let size = floor(self.size).clamp(1, self.most);
        if open >= size {
            return (size, None);
        }
        let next = u32::try_from(open).unwrap_or(u32::MAX);
        (open, Some(self.opening.saturating_mul(next)))
    }

    /// A question was answered.
    pub(super) fn grow(&mut self) {
        self.size = (self.size + 1.0 / self.size).min(as_f64(self.most as u64));
    }

    /// A question asked at `requested`, one of `in_flight`, was refused because of a rate limit. Returns whether the window
    /// was halved.
    pub(super) fn halve(&mut self, now: Duration, requested: Duration, in_flight: usize) -> bool {
        if self.halved.is_some_and(|halved| requested <= halved) {
            return false;
        }
        let used = as_f64(in_flight as u64).min(self.size);
        self.size = (used / 2.0).max(1.0);
        // Questions asked from now on reflect the smaller window.
        self.halved = Some(now);
        true
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at least 1 and at most a number of places"
)]
fn floor(size: f64) -> usize {
    size as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn places_open_one_by_one_at_the_start() {
        let window = Window::new(500, None);
        assert_eq!(window.places(Duration::ZERO), (1, Some(MS / 5)));
        assert_eq!(window.places(10 * MS), (51, Some(51 * MS / 5)));
        assert_eq!(window.places(100 * MS), (500, None));
        let slow = Window::new(10, Some(10_000 * MS));
        assert_eq!(slow.places(2500 * MS), (3, Some(3000 * MS)));
        assert_eq!(
            Window::new(7, Some(Duration::ZERO)).places(Duration::ZERO),
            (7, None)
        );
        assert_eq!(Window::new(0, None).places(MS).0, 1);
    }

    #[test]
    fn refusals_halve_it_once_and_answers_open_it_again() {
        let mut window = Window::new(64, Some(Duration::ZERO));
        let mut halvings = 0;
        // All 64 in flight are refused.
        for _ in 0..64 {
            halvings += u32::from(window.halve(100 * MS, 50 * MS, 64));
        }
        assert_eq!(halvings, 1);
        assert_eq!(window.places(100 * MS).0, 32);
        window.halve(200 * MS, 150 * MS, 20);
        assert_eq!(
            window.places(200 * MS).0,
            10,
            "half of those that were in flight"
        );
        for _ in 0..11 {
            window.grow();
        }
        assert_eq!(
            window.places(200 * MS).0,
            11,
            "one more for a round of answers"
        );
        for _ in 0..10_000 {
            window.grow();
        }
        assert_eq!(window.places(200 * MS).0, 64);
        for turn in 1..20 {
            window.halve(1000 * MS * turn + MS, 1000 * MS * turn, 1);
        }
        assert_eq!(window.places(MS).0, 1, "never none");
    }
}
