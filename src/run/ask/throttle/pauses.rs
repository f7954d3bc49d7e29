//! `Pauses`: decides which pauses that the agent demands are reported. Pure.

use std::time::Duration;

use crate::eval::limits::governor::Hold;

/// Rate limit pauses up to this long are usual, and not reported.
const MIN_REPORTED_PAUSE: Duration = Duration::from_secs(2);

/// The last report.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// Since when and until when nothing is asked.
    reported: Option<(Duration, Duration)>,
}

/// What to report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PauseNews {
    /// A pause begins, of this length.
    Begins {
        hold: Hold,
        pause: Duration,
        first: bool,
    },
    /// The pause is over; its length.
    Over(Duration),
}

impl Pauses {
    /// Nothing is asked from now until this time, if the agent is the reason.
    pub(super) fn begins(
        &mut self,
        now: Duration,
        hold: Option<(Hold, Duration)>,
    ) -> Option<PauseNews> {
        let (hold, until) = hold?;
        let pause = until.saturating_sub(now);
        let is_news = match self.reported {
            Some((_, known)) => until > known,
            None => hold == Hold::Out || pause >= MIN_REPORTED_PAUSE,
        };
        if !is_news {
            return None;
        }
        let first = self.reported.is_none();
        let since = self.reported.map_or(now, |(since, _)| since);
        self.reported = Some((since, until));
        Some(PauseNews::Begins { hold, pause, first })
    }

    /// A question ended; `holds` if the agent still demands a pause.
    pub(super) fn ends(&mut self, now: Duration, holds: bool) -> Option<PauseNews> {
        let (since, _) = self.reported.filter(|_| !holds)?;
        self.reported = None;
        Some(PauseNews::Over(now.saturating_sub(since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rate_limit_pause_is_not_reported() {
        let seconds = Duration::from_secs;
        let mut pauses = Pauses::default();
        let mut reported = |now: u64, hold: Option<(Hold, u64)>| {
            let hold = hold.map(|(hold, until)| (hold, seconds(until)));
            match pauses.begins(seconds(now), hold)? {
                PauseNews::Begins { first, pause, .. } => Some((first, pause.as_secs())),
                PauseNews::Over(_) => None,
            }
        };
        assert_eq!(reported(0, None), None);
        assert_eq!(reported(0, Some((Hold::Refused, 1))), None);
        assert_eq!(reported(2, Some((Hold::Out, 3))), Some((true, 1)));
        assert_eq!(reported(2, Some((Hold::Out, 3))), None);
        assert_eq!(reported(3, Some((Hold::Out, 5))), Some((false, 2)));
        assert_eq!(pauses.ends(seconds(6), true), None);
        let over = PauseNews::Over(seconds(4));
        assert_eq!(pauses.ends(seconds(6), false), Some(over));
        assert_eq!(pauses.ends(seconds(7), false), None);
    }
}
