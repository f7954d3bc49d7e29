//! `Governor`: when the next question may be asked.

use std::fmt;
use std::time::Duration;

use super::budget::{Exhausted, UsedUp, tokens};
use super::outage::Outage;
use super::purse::BudgetShare;
use super::rate::Rate;
use super::window::Window;
use super::{Budget, Limits};
use crate::data::Usage;
use crate::data::output::LONGEST_RETRY_AFTER;

/// An agent that refuses everything, and does not say for how long, is left alone for no longer.
const LONGEST_BACKOFF: Duration = Duration::from_mins(1);

/// After so many rounds of refusals without an answer the run ends: with the usual backoff after some minutes.
const MOST_REFUSALS: u32 = 15;

/// For so long a machine that has no room for a single question is waited for: other programs may end. Whoever waits
/// longer waits for a limit that nobody changes.
pub(crate) const LONGEST_SHORTAGE: Duration = Duration::from_secs(30);

/// Meanwhile it is tried this often, from the shortest pause to the longest.
const SHORT_PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Says when the next question may be asked. All times are since the start of the run.
#[derive(Clone, Debug)]
pub(crate) struct Governor {
    window: Window,
    requests: Option<Rate>,
    tokens: Option<Rate>,
    budget: Budget,
    spent: UsedUp,
    /// What others have who share the budget.
    others: BudgetShare,
    deadline: Option<Duration>,
    /// Until when the agent wants to be left alone.
    quiet: Duration,
    /// How long it is left alone when it does not say so, at first.
    backoff: Duration,
    /// Rounds of refusals since the last answer.
    refusals: u32,
    short: Shortness,
    /// How long it wants to be left alone, if that is longer than anybody waits.
    sent_away: Option<Duration>,
    outage: Outage,
    in_flight: usize,
    /// Requests of judges, which have governors of their own and the same budget.
    bought: usize,
}

/// Questions in a row that this machine had no room for.
#[derive(Clone, Copy, Debug, Default)]
struct Shortness {
    tries: u32,
    /// Since when nothing else was in flight that could make room.
    alone: Option<Duration>,
    /// How long that was so when it was tried last.
    lasted: Duration,
}

/// Whether a question may be asked.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission {
    /// It may. The permit goes back with [`Governor::finish`].
    Go(Permit),
    /// Not before this time; with `None`, not before another question ends.
    Wait(Option<Duration>),
    /// None may any more.
    Over(Over),
}

/// What a question that is in flight was given.
#[derive(Debug, PartialEq)]
pub(crate) struct Permit {
    asked: Duration,
    /// What was taken from the rate of tokens beforehand.
    tokens: f64,
}

/// Why no question may be asked any more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Over {
    /// The run took too long.
    Deadline(Duration),
    /// The budget is used up.
    Budget(Exhausted),
    /// The budget is used up, by others who share it, too.
    SharedBudget(Exhausted),
    /// The agent refuses every question because of a rate limit.
    Refused,
    /// The agent wants to be left alone for so long.
    SentAway(Duration),
    /// The agent answers nobody.
    Out,
    /// This machine has no room to ask.
    Short,
}

/// Why nothing is asked for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The agent answers nobody.
    Out,
    /// It refuses because of a rate limit.
    Refused,
}

/// How a question ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum QuestionEnd<'a> {
    /// With an answer, which took this.
    Answered(Option<&'a Usage>),
    /// The agent was refused because it asks too often; perhaps it was told how long to wait.
    RateLimited(Option<Duration>),
    /// The same, and it is to wait longer than anybody does: asking on would only make matters worse.
    SentAway(Duration),
    /// The agent could not be reached, or was out of order, for this sample.
    Out(&'a str, Option<Duration>),
    /// It was not asked, for this machine had no room for it.
    Short {
        /// Whether no other question is in flight that could give any back, of this run or of another one in this
        /// program.
        is_alone: bool,
    },
    /// In any other way.
    Failed,
}

impl Governor {
    /// The governor of a run that has used up `spent` before.
    pub(crate) fn new(limits: &Limits, spent: UsedUp) -> Self {
        Self {
            window: Window::new(limits.concurrency, limits.ramp_up),
            requests: limits.requests_per_minute.map(Rate::spread),
            tokens: limits.tokens_per_minute.map(Rate::per_minute),
            budget: limits.budget,
            spent,
            others: BudgetShare::default(),
            deadline: limits.deadline,
            quiet: Duration::ZERO,
            backoff: limits.backoff,
            refusals: 0,
            short: Shortness::default(),
            sent_away: None,
            outage: Outage::new(limits.concurrency),
            in_flight: 0,
            bought: 0,
        }
    }

    /// Others who share the budget have this of it.
    pub(crate) fn beside(&mut self, others: &BudgetShare) {
        self.others = others.clone();
    }

    /// What it has of the budget itself.
    pub(crate) fn share(&self) -> BudgetShare {
        BudgetShare {
            spent: self.spent.total(),
            in_flight: self.in_flight + self.bought,
        }
    }

    /// Whether a question may be asked now.
    pub(crate) fn admit(&mut self, now: Duration) -> Admission {
        if let Some(deadline) = self.deadline.filter(|deadline| now >= *deadline) {
            return Admission::Over(Over::Deadline(deadline));
        }
        if let Some(over) = self.exhausted() {
            return Admission::Over(over);
        }
        if let Some(pause) = self.sent_away {
            return Admission::Over(Over::SentAway(pause));
        }
        if self.refusals >= MOST_REFUSALS {
            return Admission::Over(Over::Refused);
        }
        if self.lacks_room_for() >= LONGEST_SHORTAGE {
            return Admission::Over(Over::Short);
        }
        if self.outage.is_hopeless() {
            return Admission::Over(Over::Out);
        }
        if self.outage.is_on() && self.in_flight > 0 {
            // One that is tried says enough.
            return Admission::Wait(None);
        }
        let (places, next) = self.window.places(now);
        if self.in_flight >= places {
            return Admission::Wait(next);
        }
        if self.is_pledged() {
            return Admission::Wait(None);
        }
        if self.tokens.is_some() && self.spent.agent.is_blind_to_tokens(self.in_flight) {
            return Admission::Wait(None);
        }
        if now < self.quiet {
            return Admission::Wait(Some(self.earlier(self.quiet)));
        }
        let expected = self.spent.agent.mean_tokens();
        let rates = [(&mut self.requests, 1.0), (&mut self.tokens, 1.0)];
        let waits = rates.into_iter().map(|(rate, amount)| {
            rate.as_mut()
                .map_or(Duration::ZERO, |rate| rate.wait(now, amount))
        });
        let wait = waits.max().unwrap_or_default();
        if !wait.is_zero() {
            return Admission::Wait(Some(self.earlier(now.saturating_add(wait))));
        }
        for (rate, amount) in [(&mut self.requests, 1.0), (&mut self.tokens, expected)] {
            if let Some(rate) = rate {
                rate.take(now, amount);
            }
        }
        self.in_flight += 1;
        self.spent.agent.requests += 1;
        Admission::Go(Permit {
            asked: now,
            tokens: expected,
        })
    }

    /// A question ended.
    pub(crate) fn finish(&mut self, now: Duration, permit: &Permit, end: QuestionEnd<'_>) {
        if !matches!(end, QuestionEnd::Short { .. }) {
            self.short = Shortness::default();
        }
        let took = match end {
            QuestionEnd::Answered(usage) => {
                self.spent.agent.add(usage);
                self.window.grow();
                self.refusals = 0;
                self.outage.answered();
                usage.and_then(tokens).unwrap_or(0)
            }
            QuestionEnd::RateLimited(retry_after) => {
                if self.window.halve(now, permit.asked, self.in_flight) {
                    self.refusals += 1;
                }
                self.outage.replied();
                self.be_quiet(now, self.refusals, retry_after);
                0
            }
            QuestionEnd::Out(sample, retry_after) => {
                let tries = self.outage.failed(sample, permit.asked, now);
                if retry_after.is_some() {
                    self.window.halve(now, permit.asked, self.in_flight);
                }
                if tries > 0 || retry_after.is_some() {
                    self.be_quiet(now, tries, retry_after);
                }
                0
            }
            QuestionEnd::Failed => {
                self.outage.replied();
                0
            }
            QuestionEnd::Short { is_alone } => {
                self.spent.agent.requests = self.spent.agent.requests.saturating_sub(1);
                self.window.halve(now, permit.asked, self.in_flight);
                // The end of another makes room; where there is none, somebody else must.
                if self.in_flight <= 1 {
                    self.is_short(now, is_alone);
                }
                0
            }
            QuestionEnd::SentAway(pause) => {
                self.sent_away = self.sent_away.max(Some(pause));
                0
            }
        };
        if let Some(rate) = &mut self.tokens {
            rate.take(now, crate::stats::as_f64(took) - permit.tokens);
        }
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// How long this machine has had no room for a single question, with nothing in flight that would make some.
    pub(crate) fn lacks_room_for(&self) -> Duration {
        self.short.lasted
    }

    /// This machine had no room for the only question of this run.
    fn is_short(&mut self, now: Duration, is_alone: bool) {
        let tries = self.short.tries.saturating_add(1);
        let alone = is_alone.then(|| self.short.alone.unwrap_or(now));
        self.short = Shortness {
            tries,
            alone,
            lasted: alone.map_or(Duration::ZERO, |since| now.saturating_sub(since)),
        };
        let (shortest, longest) = SHORT_PAUSES;
        let pause = self.pause(tries).clamp(shortest, longest);
        self.quiet = self.quiet.max(now.saturating_add(pause));
    }

    /// Whether a judge may be asked at the expense of this budget; it takes what it will cost from what is left, and
    /// gives back with [`bought`](Self::bought). `false`: not before what is in flight has told its cost.
    pub(crate) fn buy(&mut self) -> Result<bool, Over> {
        if let Some(over) = self.exhausted() {
            return Err(over);
        }
        if self.is_pledged() {
            return Ok(false);
        }
        self.bought += 1;
        self.spent.judges.requests += 1;
        Ok(true)
    }

    /// A judge replied, which took this.
    pub(crate) fn bought(&mut self, usage: Option<&Usage>) {
        self.returned();
        self.spent.judges.add(usage);
    }

    /// A judge was asked to no end.
    pub(crate) fn returned(&mut self) {
        self.bought = self.bought.saturating_sub(1);
    }

    fn exhausted(&self) -> Option<Over> {
        if self.budget == Budget::default() {
            return None;
        }
        let own = self.spent.total();
        // Others may tell what they take, and this agent not.
        if let Some(why) = own.untold(&self.budget) {
            return Some(Over::Budget(why));
        }
        let mut total = own.clone();
        total.join(&self.others.spent);
        let why = total.exhausts(&self.budget)?;
        Some(if total.requests > own.requests {
            Over::SharedBudget(why)
        } else {
            Over::Budget(why)
        })
    }

    fn is_pledged(&self) -> bool {
        let in_flight = self.in_flight + self.bought;
        let has_any = self.budget != Budget::default() && in_flight + self.others.in_flight > 0;
        let own = self.spent.total();
        has_any && own.is_pledged(&self.budget, in_flight, &self.others)
    }

    /// The limits that held nothing because no answer tells what it took.
    pub(crate) fn unkept(&self, limits: &Limits) -> Vec<&'static str> {
        self.spent.agent.unkept(limits)
    }

    /// Why nothing is asked, and until when, if the agent is why.
    pub(crate) fn hold(&self) -> Option<(Hold, Duration)> {
        let hold = if self.outage.is_on() {
            Hold::Out
        } else if self.refusals > 0 {
            Hold::Refused
        } else {
            return None;
        };
        Some((hold, self.quiet))
    }

    /// Whether the agent answers nobody, so that no sample is to blame for it.
    pub(crate) fn is_out(&self) -> bool {
        self.outage.is_on()
    }

    /// Leaves the agent alone, after so many rounds to no end.
    fn be_quiet(&mut self, now: Duration, rounds: u32, asked: Option<Duration>) {
        let own = self.pause(rounds);
        let longest = Duration::from_secs_f64(LONGEST_RETRY_AFTER);
        let pause = asked.map_or(own, |asked| asked.min(longest).max(own));
        self.quiet = self.quiet.max(now.saturating_add(pause));
    }

    /// The pause after so many rounds to no end.
    fn pause(&self, rounds: u32) -> Duration {
        let doubled = rounds.saturating_sub(1).min(20);
        let pause = self.backoff.saturating_mul(1 << doubled);
        pause.min(LONGEST_BACKOFF)
    }

    /// Nobody waits beyond the deadline.
    fn earlier(&self, time: Duration) -> Duration {
        self.deadline.map_or(time, |deadline| time.min(deadline))
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline(deadline) => {
                let seconds = deadline.as_secs_f64();
                write!(f, "{seconds} s are over (`limits.deadline_s`)")
            }
            Self::Budget(why) => why.fmt(f),
            Self::SharedBudget(why) => {
                write!(f, "{why}, which all variants of the spec share")
            }
            Self::Refused => write!(
                f,
                "the agent refuses every question because of a rate limit, {MOST_REFUSALS} times in a row"
            ),
            Self::SentAway(pause) => {
                let seconds = pause.as_secs();
                write!(f, "the agent wants to be left alone for {seconds} s")
            }
            Self::Out => f.write_str("the agent answers nobody"),
            Self::Short => write!(
                f,
                "this machine had no room for a single question for {} s",
                LONGEST_SHORTAGE.as_secs()
            ),
        }
    }
}

#[cfg(test)]
mod tests;
