//! `Governor`: decides when the next question may be asked.

use std::fmt;
use std::time::Duration;

use super::budget::{Exhausted, UsedUp, tokens};
use super::{Budget, BudgetShare, Limits, Outage, Window};
use crate::data::Usage;
use crate::data::output::LONGEST_RETRY_AFTER;

/// The longest pause for an agent that refuses everything without saying for how long.
const LONGEST_BACKOFF: Duration = Duration::from_mins(1);

/// The run ends after this many rounds of refusals without an answer: some minutes with the usual backoff.
const MOST_REFUSALS: u32 = 15;

/// How long to wait for a machine that has no room for a single question, as other programs may end. Waiting longer
/// means a limit that nobody changes.
pub(crate) const LONGEST_SHORTAGE: Duration = Duration::from_secs(30);

/// The shortest and longest pause between tries meanwhile.
const SHORT_PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Decides when the next question may be asked. All times are since the start of the run.
#[derive(Clone, Debug)]
pub(crate) struct Governor {
    window: Window,
    requests: Option<Rate>,
    tokens: Option<Rate>,
    budget: Budget,
    spent: UsedUp,
    /// What the others that share the budget have used.
    others: BudgetShare,
    deadline: Option<Duration>,
    /// The longest pause that a rate limit may ask of all.
    rate_limit_wait: Option<Duration>,
    /// The end of the pause that the agent asked for.
    quiet: Duration,
    /// The first pause if the agent does not say how long.
    backoff: Duration,
    /// Rounds of refusals since the last answer.
    refusals: u32,
    short: Shortness,
    /// The requested pause, if it is too long to wait for.
    sent_away: Option<Duration>,
    outage: Outage,
    in_flight: usize,
    /// Requests of judges, which have their own governors but share the budget.
    bought: usize,
}

/// Consecutive questions that this machine had no room for.
#[derive(Clone, Copy, Debug, Default)]
struct Shortness {
    tries: u32,
    /// Since when nothing else was in flight that could free room.
    alone: Option<Duration>,
    /// How long that had lasted at the last try.
    lasted: Duration,
}

/// Whether a question may be asked.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission {
    /// Yes. Return the permit with [`Governor::finish`].
    Go(Permit),
    /// Not before this time; with `None`, not before another question ends.
    Wait(Option<Duration>),
    /// No more questions may be asked.
    Over(Over),
}

/// The permit of a question in flight.
#[derive(Debug, PartialEq)]
pub(crate) struct Permit {
    requested: Duration,
    /// Tokens taken from the rate in advance.
    tokens: f64,
}

/// Why no more questions may be asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Over {
    /// The run took too long.
    Deadline(Duration),
    /// The budget is used up.
    Budget(Exhausted),
    /// The budget is used up, in part by others that share it.
    SharedBudget(Exhausted),
    /// The agent refuses every question because of a rate limit.
    Refused,
    /// The agent asks for a pause of this length.
    SentAway(Duration),
    /// The agent has an outage.
    Out,
    /// This machine has no room to ask.
    Short,
}

/// Why nothing is asked for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The agent has an outage.
    Out,
    /// The agent refuses because of a rate limit.
    Refused,
}

/// How a question ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum QuestionEnd<'a> {
    /// With an answer, which used this.
    Answered(Option<&'a Usage>),
    /// With a conversation, whose replies were [charged](Governor::replied) one by one.
    Conversed,
    /// With a rate limit refusal; with the requested pause, if given.
    RateLimited(Option<Duration>),
    /// The same, with a pause too long to wait for: asking again would only make matters worse.
    SentAway(Duration),
    /// The agent was unreachable or out of order for this sample.
    Out(&'a str, Option<Duration>),
    /// Not asked: this machine had no room for it.
    Short {
        /// Whether no other question of this program is in flight that could free any.
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
            rate_limit_wait: limits.longest_rate_limit_wait(),
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

    /// Sets what the others that share the budget have used.
    pub(crate) fn set_others(&mut self, others: &BudgetShare) {
        self.others = others.clone();
    }

    /// Its own share of the budget.
    pub(crate) fn share(&self) -> BudgetShare {
        BudgetShare {
            spent: self.spent.total(),
            in_flight: self.in_flight + self.bought,
        }
    }

    /// Whether a question may be asked now.
    pub(crate) fn try_acquire(&mut self, now: Duration) -> Admission {
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
        if self.outage.is_exhausted() {
            return Admission::Over(Over::Out);
        }
        if self.outage.is_on() && self.in_flight > 0 {
            // One probe at a time is enough.
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
            requested: now,
            tokens: expected,
        })
    }

    /// Ends a question.
    pub(crate) fn finish(&mut self, now: Duration, permit: &Permit, end: QuestionEnd<'_>) {
        if !matches!(end, QuestionEnd::Short { .. }) {
            self.short = Shortness::default();
        }
        let took = match end {
            QuestionEnd::Answered(usage) => {
                self.spent.agent.add(usage);
                self.answered();
                usage.and_then(tokens).unwrap_or(0)
            }
            QuestionEnd::Conversed => {
                self.answered();
                0
            }
            QuestionEnd::RateLimited(retry_after) => {
                if self.window.halve(now, permit.requested, self.in_flight) {
                    self.refusals += 1;
                }
                self.outage.replied();
                // A sample that is asked to wait longer ends, and the others need not wait for it.
                let most = self.rate_limit_wait.unwrap_or(Duration::MAX);
                self.be_quiet(now, self.refusals, retry_after, most);
                0
            }
            QuestionEnd::Out(sample, retry_after) => {
                let tries = self.outage.failed(sample, permit.requested, now);
                if retry_after.is_some() {
                    self.window.halve(now, permit.requested, self.in_flight);
                }
                if tries > 0 || retry_after.is_some() {
                    self.be_quiet(now, tries, retry_after, Duration::MAX);
                }
                0
            }
            QuestionEnd::Failed => {
                self.outage.replied();
                0
            }
            QuestionEnd::Short { is_alone } => {
                self.spent.agent.requests = self.spent.agent.requests.saturating_sub(1);
                self.window.halve(now, permit.requested, self.in_flight);
                // Another question's end makes room; if there is none, another program must.
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

    fn answered(&mut self) {
        self.window.grow();
        self.refusals = 0;
        self.outage.answered();
    }

    /// Whether a conversation in flight may ask once more; `Some` is the time until which it has to wait. It waits for no
    /// other cost, as others may wait for its own.
    pub(crate) fn go_on(&mut self, now: Duration) -> Result<Option<Duration>, Over> {
        if let Some(over) = self.exhausted() {
            return Err(over);
        }
        if now < self.quiet {
            return Ok(Some(self.quiet));
        }
        if let Some(rate) = &mut self.requests {
            let wait = rate.wait(now, 1.0);
            if !wait.is_zero() {
                return Ok(Some(now.saturating_add(wait)));
            }
            rate.take(now, 1.0);
        }
        self.spent.agent.requests += 1;
        Ok(None)
    }

    /// A reply in a conversation used this.
    pub(crate) fn replied(&mut self, now: Duration, usage: Option<&Usage>) {
        self.spent.agent.add(usage);
        if let Some(rate) = &mut self.tokens {
            rate.take(
                now,
                crate::stats::as_f64(usage.and_then(tokens).unwrap_or(0)),
            );
        }
    }

    /// How long this machine has had no room for a single question, with nothing in flight that could free some.
    pub(crate) fn lacks_room_for(&self) -> Duration {
        self.short.lasted
    }

    /// Notes that this machine had no room for the only question of this run.
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

    /// Whether a judge may be asked on this budget; reserves the expected cost until [`bought`](Self::bought). `false`:
    /// not before questions in flight have reported their cost.
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

    /// A judge replied with this usage.
    pub(crate) fn bought(&mut self, usage: Option<&Usage>) {
        self.returned();
        self.spent.judges.add(usage);
    }

    /// A request to a judge failed.
    pub(crate) fn returned(&mut self) {
        self.bought = self.bought.saturating_sub(1);
    }

    fn exhausted(&self) -> Option<Over> {
        if self.budget == Budget::default() {
            return None;
        }
        let own = self.spent.total();
        // The others may report their usage while this agent does not.
        if let Some(why) = own.unreported(&self.budget) {
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

    /// Notices on limits that count less than was used, because not every answer reports its usage.
    pub(crate) fn unenforced(&self, limits: &Limits) -> Vec<String> {
        self.spent.agent.unenforced(limits)
    }

    /// Why nothing is asked, and until when, if the agent is the reason.
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

    /// Whether the agent has an outage, for which no sample is at fault.
    pub(crate) fn is_out(&self) -> bool {
        self.outage.is_on()
    }

    /// Pauses requests after this many failed rounds.
    fn be_quiet(
        &mut self,
        now: Duration,
        rounds: u32,
        requested: Option<Duration>,
        most: Duration,
    ) {
        let own = self.pause(rounds);
        let longest = Duration::from_secs_f64(LONGEST_RETRY_AFTER);
        let pause = requested.map_or(own, |requested| requested.min(longest).max(own));
        let until = now.saturating_add(pause.min(most));
        self.quiet = self.quiet.max(until);
    }

    /// The pause after this many failed rounds.
    fn pause(&self, rounds: u32) -> Duration {
        let doubled = rounds.saturating_sub(1).min(20);
        let pause = self.backoff.saturating_mul(1 << doubled);
        pause.min(LONGEST_BACKOFF)
    }

    /// The time, limited by the deadline.
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
                write!(f, "{why}, shared by all variants of the spec")
            }
            Self::Refused => write!(
                f,
                "the agent's rate limit refused {MOST_REFUSALS} requests in a row"
            ),
            Self::SentAway(pause) => {
                let seconds = pause.as_secs();
                write!(f, "the agent asks for a pause of {seconds} s")
            }
            Self::Out => f.write_str("the agent does not answer"),
            Self::Short => write!(
                f,
                "this machine had no free resources for a single question for {} s",
                LONGEST_SHORTAGE.as_secs()
            ),
        }
    }
}

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
mod tests;

#[cfg(test)]
mod rate_tests {
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
