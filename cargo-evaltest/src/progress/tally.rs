//! `RunTally`: a run's progress, from its events and a clock. Pure.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use evaltest::engine::figure::{Count, Seconds, Usd};
use evaltest::engine::report::Event;
use evaltest::engine::report::terminal::errors_of;
use evaltest::engine::text::clean;

use super::MadeItems;

/// Minimum number of answers for an estimate of the rate; or the number in flight, if larger.
const FEW: u64 = 3;

/// The progress of a run.
#[derive(Debug, Default)]
pub(super) struct RunTally {
    pub(super) eval: String,
    /// The noun of what is counted.
    pub(super) what: &'static str,
    pub(super) total: u64,
    pub(super) done: u64,
    pub(super) correct: u64,
    pub(super) errors: u64,
    pub(super) spent: AnswerCosts,
    /// Counts of generated items, in place of right and wrong answers.
    pub(super) items: Option<MadeItems>,
    /// Samples requested in this part of the run; never those that were answered before.
    in_flight: HashSet<(String, u32)>,
    most_at_once: u64,
    /// Answers with a real latency: not from the cache or an earlier part of the run.
    timed: u64,
    began: Option<Instant>,
    waited: Duration,
    waiting: Option<Pause>,
}

/// The cost of answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AnswerCosts {
    pub(super) tokens: Option<u64>,
    pub(super) cost_usd: Option<f64>,
}

/// A pause in which no requests are sent.
#[derive(Debug)]
struct Pause {
    since: Instant,
    until: Instant,
    why: String,
}

impl AnswerCosts {
    pub(super) fn add(&mut self, other: Self) {
        if let Some(tokens) = other.tokens {
            let sum = self.tokens.unwrap_or(0);
            self.tokens = Some(sum.saturating_add(tokens));
        }
        if let Some(usd) = other.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + usd);
        }
    }

    /// The costs as texts; the more important last.
    pub(super) fn parts(self) -> impl Iterator<Item = String> {
        let tokens = self.tokens;
        let tokens = tokens.map(|tokens| format!("{} tokens", Count(tokens)));
        let cost = self.cost_usd.map(|usd| Usd(usd).to_string());
        tokens.into_iter().chain(cost)
    }
}

impl RunTally {
    pub(super) fn new(items: Option<MadeItems>) -> Self {
        Self {
            items,
            ..Self::default()
        }
    }

    /// Updates the state for an event at time `now`.
    pub(super) fn event(&mut self, event: &Event<'_>, now: Instant) {
        match event {
            Event::RunStarted {
                eval,
                samples,
                epochs,
                ..
            } => {
                let items = self.items.take().map(|_| MadeItems::default());
                *self = Self {
                    eval: match items {
                        Some(_) => format!("generating {}", clean(eval)),
                        None => clean(eval),
                    },
                    what: match (&items, *epochs > 1) {
                        (Some(_), _) => "items",
                        (None, true) => "answers",
                        (None, false) => "samples",
                    },
                    items,
                    total: *samples as u64 * u64::from(*epochs),
                    ..Self::default()
                };
            }
            Event::AnswerRefused { id, epoch, .. } => {
                if let Some(items) = &mut self.items {
                    items.refused(id, *epoch);
                }
            }
            Event::SampleStarted { id, epoch } => {
                self.began.get_or_insert(now);
                self.in_flight.insert(((*id).to_owned(), *epoch));
                self.most_at_once = self.most_at_once.max(self.in_flight.len() as u64);
            }
            Event::SampleFinished { record } => {
                let outcome = &record.result;
                self.done += 1;
                if record.perturb.is_none() {
                    self.correct += u64::from(outcome.is_correct());
                    self.errors += u64::from(outcome.status.is_error());
                }
                if let Some(items) = &mut self.items {
                    items.ended(record);
                }
                let in_flight = (record.sample_id.clone(), record.epoch);
                if !self.in_flight.remove(&in_flight) || outcome.cached {
                    return;
                }
                self.timed += 1;
                // A judge reply from storage was not requested again.
                let judges = outcome
                    .judged
                    .iter()
                    .filter(|call| !(call.cached || call.stored));
                let judges = judges.filter_map(|call| call.output.as_ref()?.usage.as_ref());
                for usage in outcome.usage.iter().chain(judges) {
                    self.spent.add(AnswerCosts {
                        tokens: [usage.input_tokens, usage.output_tokens]
                            .into_iter()
                            .flatten()
                            .reduce(u64::saturating_add),
                        cost_usd: usage.cost_usd,
                    });
                }
            }
            Event::Waiting {
                who, why, pause, ..
            } => {
                let since = self.waiting.as_ref().map_or(now, |pause| pause.since);
                self.waiting = Some(Pause {
                    since,
                    until: now + *pause,
                    why: format!("{} {why}", clean(who)),
                });
            }
            Event::WentOn { .. } => {
                if let Some(pause) = self.waiting.take() {
                    self.waited += now.saturating_duration_since(pause.since);
                }
            }
            _ => {}
        }
    }

    /// Details besides the number of finished answers, the most important first.
    pub(super) fn parts(&self, now: Instant) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some(pause) = &self.waiting {
            let remaining = pause.until.saturating_duration_since(now).as_secs_f64();
            let remaining = Seconds::whole(remaining.ceil());
            parts.push(format!("{}: waiting, {remaining}", pause.why));
        }
        if let Some(items) = &self.items {
            parts.extend(items.parts());
        } else {
            parts.push(format!("{} correct", self.correct));
        }
        if self.errors > 0 || self.items.is_none() {
            parts.push(errors_of(self.errors));
        }
        if self.waiting.is_none() {
            parts.extend(self.remaining(now));
        }
        let mut spent: Vec<_> = self.spent.parts().collect();
        spent.reverse();
        parts.extend(spent);
        parts.extend(self.per_second(now).map(rate));
        parts
    }

    /// Answers per second, once it can be estimated.
    fn per_second(&self, now: Instant) -> Option<f64> {
        let began = self.began?;
        if self.timed < self.most_at_once.max(FEW) {
            return None;
        }
        let elapsed = now.saturating_duration_since(began);
        let seconds = elapsed.saturating_sub(self.waited).as_secs_f64();
        (seconds > 0.0).then(|| f64::from(u32::try_from(self.timed).unwrap_or(u32::MAX)) / seconds)
    }

    /// Estimated remaining time, assuming that no answer comes from the cache.
    fn remaining(&self, now: Instant) -> Option<String> {
        let rest = self.total.saturating_sub(self.done);
        let rest = f64::from(u32::try_from(rest).unwrap_or(u32::MAX));
        let per_second = self.per_second(now).filter(|_| rest > 0.0)?;
        let remaining = Seconds::whole((rest / per_second).ceil());
        Some(format!("{remaining} left"))
    }
}

/// `2.1/s`, `12/min`, `3.0/h`
fn rate(per_second: f64) -> String {
    if per_second >= 100.0 {
        format!("{per_second:.0}/s")
    } else if per_second >= 1.0 {
        format!("{per_second:.1}/s")
    } else if per_second * 60.0 >= 1.0 {
        format!("{:.1}/min", per_second * 60.0)
    } else {
        format!("{:.1}/h", per_second * 3600.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evaltest::{Record, Score};

    struct Clock {
        tally: RunTally,
        began: Instant,
    }

    impl Clock {
        fn new(total: u64) -> Self {
            let tally = RunTally {
                total,
                ..RunTally::default()
            };
            let began = Instant::now();
            Self { tally, began }
        }

        fn at(&self, seconds: u64) -> Instant {
            self.began + Duration::from_secs(seconds)
        }

        fn in_flight(&mut self, id: &str, seconds: u64) {
            let now = self.at(seconds);
            let event = Event::SampleStarted { id, epoch: 0 };
            self.tally.event(&event, now);
        }

        fn ended(&mut self, id: &str, seconds: u64, cached: bool) {
            let mut record = Record::scored(id, Score::binary(true));
            record.result.cached = cached;
            let now = self.at(seconds);
            self.tally
                .event(&Event::SampleFinished { record: &record }, now);
        }

        fn says(&self, seconds: u64) -> String {
            self.tally.parts(self.at(seconds)).join(", ")
        }
    }

    #[test]
    fn nothing_is_foretold_before_a_few_answers() {
        let mut clock = Clock::new(10);
        for (number, id) in ["a", "b", "c"].into_iter().enumerate() {
            let seconds = number as u64 * 2;
            assert_eq!(clock.says(seconds), format!("{number} correct, 0 errors"));
            clock.in_flight(id, seconds);
            clock.ended(id, seconds + 2, false);
        }
        assert_eq!(clock.says(6), "3 correct, 0 errors, 14 s left, 30.0/min");
    }

    #[test]
    fn what_was_known_before_tells_nothing_of_the_rest() {
        let mut clock = Clock::new(100);
        for number in 0..40 {
            let id = number.to_string();
            // Half of it from the cache, half from an earlier part of the run.
            if number % 2 == 0 {
                clock.in_flight(&id, 0);
            }
            clock.ended(&id, 0, true);
        }
        assert_eq!(clock.says(1), "40 correct, 0 errors");
    }

    #[test]
    fn outage_is_reported_and_does_not_slow_estimate() {
        let mut clock = Clock::new(6);
        for id in ["a", "b", "c"] {
            clock.in_flight(id, 0);
            clock.ended(id, 3, false);
        }
        let waiting = Event::Waiting {
            eval: "e",
            who: "the agent",
            why: "does not answer",
            last_message: "no",
            pause: Duration::from_secs(8),
            first: true,
        };
        let now = clock.at(3);
        clock.tally.event(&waiting, now);
        assert_eq!(
            clock.says(5),
            "the agent does not answer: waiting, 6 s, 3 correct, 0 errors, 36.0/min"
        );
        let now = clock.at(13);
        let waited = Duration::from_secs(10);
        clock.tally.event(
            &Event::WentOn {
                eval: "e",
                who: "the agent",
                waited,
            },
            now,
        );
        assert_eq!(clock.says(13), "3 correct, 0 errors, 3 s left, 1.0/s");
    }
}
