//! `Throttle`: drives the [`Governor`] by the clock and queues the waiting threads.
//!
//! Only the thread at the head of the queue waits for the governor; the others sleep until it is their turn. So a
//! thousand threads waiting for a rate limit cost nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use crate::data::output::LONGEST_RETRY_AFTER;
use crate::data::{AgentError, FailureKind, Output, Usage};
use crate::eval::Eval;
use crate::eval::limits::budget::UsedUp;
use crate::eval::limits::governor::{Admission, Governor, Hold, Over, Permit, QuestionEnd};
use crate::eval::limits::{Budget, Limits, SharedBudget};
use crate::report::event::Event;
use crate::run::session::emitter::Emitter;
use crate::run::session::stop::Stopper;
use crate::system::{clock, lock};

/// How often the head of the queue checks whether the run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Lets questions through as the limits allow.
pub(in crate::run) struct Throttle {
    stopper: Arc<Stopper>,
    rules: Mutex<Rules>,
    /// Signalled when a question ends.
    ended: Condvar,
    /// Held by the thread that waits for the governor.
    head: Mutex<()>,
    started: Instant,
    /// The name of the judge it throttles; `None` for the agent.
    name: Option<String>,
    /// Reports pauses.
    emitter: Option<Arc<Emitter>>,
    has_budget: bool,
    /// The shared budget, and this eval's name in it.
    shared_budget: Option<(Arc<SharedBudget>, String)>,
}

struct Rules {
    governor: Governor,
    /// The last error of an agent with an outage.
    outage: String,
    pauses: Pauses,
}

/// Permission to ask; counted as in flight until [`Throttle::finish`].
#[must_use]
pub(in crate::run) struct Turn(Permit, Flight);

/// Why a question may not be asked.
pub(in crate::run) enum NoTurn {
    /// The run was stopped or is ending.
    Stopped,
    /// Its turn does not come in the time that it may wait.
    TooLate,
}

impl Throttle {
    /// `concurrency` overrides that of the limits. The run has used up `spent` since it `started`.
    pub(in crate::run) fn new(
        limits: &Limits,
        concurrency: Option<usize>,
        spent: UsedUp,
        started: Instant,
        stopper: Arc<Stopper>,
    ) -> Self {
        let limits = &Limits {
            concurrency: concurrency.unwrap_or(limits.concurrency),
            ..limits.clone()
        };
        Self {
            stopper,
            rules: Mutex::new(Rules {
                governor: Governor::new(limits, spent),
                outage: String::new(),
                pauses: Pauses::default(),
            }),
            ended: Condvar::new(),
            head: Mutex::new(()),
            started,
            name: None,
            emitter: None,
            has_budget: limits.budget != Budget::default(),
            shared_budget: None,
        }
    }

    /// For an eval that may share its budget with others.
    #[must_use]
    pub(in crate::run) fn sharing(self, eval: &Eval) -> Self {
        let shared_budget = eval.shared_budget.as_ref().filter(|_| self.has_budget);
        let shared_budget =
            shared_budget.map(|shared_budget| (Arc::clone(shared_budget), eval.name.clone()));
        let throttle = Self {
            shared_budget,
            ..self
        };
        // Reports what it used up before.
        throttle.governed(&mut lock(&throttle.rules), |_| ());
        throttle
    }

    /// Runs `act` on the governor, updated with what the others used of the budget.
    fn governed<T>(&self, rules: &mut Rules, act: impl FnOnce(&mut Governor) -> T) -> T {
        let governor = &mut rules.governor;
        match &self.shared_budget {
            None => act(governor),
            Some((shared_budget, eval)) => shared_budget.act(eval, |others| {
                governor.set_others(others);
                let done = act(governor);
                (governor.share(), done)
            }),
        }
    }

    /// Names the judge, for messages.
    #[must_use]
    pub(in crate::run) fn of(self, name: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            ..self
        }
    }

    /// Reports pauses through this emitter.
    #[must_use]
    pub(in crate::run) fn with_emitter(self, emitter: Option<&Arc<Emitter>>) -> Self {
        Self {
            emitter: emitter.cloned(),
            ..self
        }
    }

    /// The emitter that reports pauses.
    pub(in crate::run) fn emitter(&self) -> Option<&Arc<Emitter>> {
        self.emitter.as_ref()
    }

    /// Reports a pause, with no lock held, as listeners may be slow. `last_message` is the last error of the agent or judge.
    fn notify(&self, news: PauseNews, last_message: &str) {
        let Some(emitter) = &self.emitter else {
            return;
        };
        let eval = emitter.eval();
        let who = self.name.as_deref().unwrap_or("the agent");
        match news {
            PauseNews::Begins { hold, pause, first } => {
                let (why, last_message) = match hold {
                    Hold::Out => ("does not answer", last_message),
                    // The text is about an outage.
                    Hold::Refused => ("refuses because of a rate limit", ""),
                };
                emitter.emit(&Event::Waiting {
                    eval,
                    who,
                    why,
                    last_message: &emitter.redacted(last_message),
                    pause,
                    first,
                });
            }
            PauseNews::Over(waited) => emitter.emit(&Event::WentOn { eval, who, waited }),
        }
    }

    /// Waits until this budget allows asking a judge; `false` if it never will. Counted as in flight until
    /// [`paid`](Self::paid).
    pub(in crate::run) fn purchase(&self) -> bool {
        if !self.has_budget {
            return !self.stopper.is_stopped();
        }
        let mut rules = lock(&self.rules);
        loop {
            if self.stopper.is_stopped() {
                return false;
            }
            match self.governed(&mut rules, Governor::buy) {
                Ok(true) => return true,
                Ok(false) => {}
                Err(over) => {
                    drop(rules);
                    self.stopper.over(&over, "");
                    return false;
                }
            }
            let waited = self.ended.wait_timeout(rules, POLL_INTERVAL);
            rules = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Charges a judge's reply to this budget.
    pub(in crate::run) fn paid(&self, reply: &Result<Output, AgentError>) {
        if !self.has_budget {
            return;
        }
        let mut rules = lock(&self.rules);
        self.governed(&mut rules, |governor| match reply {
            Ok(output) => governor.bought(output.usage.as_ref()),
            Err(_) => governor.returned(),
        });
        drop(rules);
        self.ended.notify_all();
    }

    /// Waits until the limits allow another request of a conversation; `false` if they never will.
    pub(in crate::run) fn go_on(&self) -> bool {
        let mut rules = lock(&self.rules);
        loop {
            if self.stopper.is_stopped() {
                return false;
            }
            let now = clock::since(self.started);
            let until = match self.governed(&mut rules, |governor| governor.go_on(now)) {
                Ok(None) => return true,
                Ok(Some(until)) => until,
                Err(over) => {
                    drop(rules);
                    self.stopper.over(&over, "");
                    return false;
                }
            };
            let pause = until.saturating_sub(now).min(POLL_INTERVAL);
            let waited = self.ended.wait_timeout(rules, pause);
            rules = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Charges a reply of a conversation.
    pub(in crate::run) fn replied(&self, usage: Option<&Usage>) {
        let now = clock::since(self.started);
        let mut rules = lock(&self.rules);
        self.governed(&mut rules, |governor| governor.replied(now, usage));
    }

    /// Waits until the limits allow another question, for at most the time `longest`.
    pub(in crate::run) fn turn(&self, longest: Option<Duration>) -> Result<Turn, NoTurn> {
        let (over, outage) = match self.wait(longest)? {
            Ok(permit) => return Ok(Turn(permit, Flight::begin())),
            Err(over) => (over, lock(&self.rules).outage.clone()),
        };
        self.stopper.over_for(self.name.as_deref(), &over, &outage);
        Err(NoTurn::Stopped)
    }

    /// Waits until a question may be asked.
    fn wait(&self, longest: Option<Duration>) -> Result<Result<Permit, Over>, NoTurn> {
        let end = longest.map(|longest| clock::since(self.started).saturating_add(longest));
        let _turn = self.head_of_queue(end).ok_or(NoTurn::TooLate)?;
        let mut rules = lock(&self.rules);
        loop {
            if self.stopper.is_stopped() {
                return Err(NoTurn::Stopped);
            }
            let now = clock::since(self.started);
            let until = match self.governed(&mut rules, |governor| governor.try_acquire(now)) {
                Admission::Go(permit) => return Ok(Ok(permit)),
                Admission::Over(over) => return Ok(Err(over)),
                Admission::Wait(until) => until,
            };
            if end.is_some_and(|end| until.unwrap_or(now) > end || now >= end) {
                return Err(NoTurn::TooLate);
            }
            let hold = rules.governor.hold();
            if let Some(news) = rules.pauses.begins(now, hold) {
                let last_message = rules.outage.clone();
                drop(rules);
                self.notify(news, &last_message);
                rules = lock(&self.rules);
                continue;
            }
            let pause = until.map_or(POLL_INTERVAL, |until| {
                until.saturating_sub(now).min(POLL_INTERVAL)
            });
            let waited = self.ended.wait_timeout(rules, pause);
            rules = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits to be the one that is next; `None` if that takes longer than until `end`.
    fn head_of_queue(&self, end: Option<Duration>) -> Option<MutexGuard<'_, ()>> {
        let Some(end) = end else {
            return Some(lock(&self.head));
        };
        loop {
            match self.head.try_lock() {
                Ok(head) => return Some(head),
                Err(TryLockError::Poisoned(head)) => return Some(head.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            let remaining = end.saturating_sub(clock::since(self.started));
            if remaining.is_zero() {
                return None;
            }
            std::thread::sleep(remaining.min(POLL_INTERVAL));
        }
    }

    /// Ends the request of sample `id`; `is_charged` if its usage was charged reply by reply.
    pub(in crate::run) fn finish(
        &self,
        Turn(permit, flight): &Turn,
        id: &str,
        answer: &Result<Output, AgentError>,
        is_charged: bool,
    ) {
        let mut rules = lock(&self.rules);
        let end = match answer {
            Ok(_) if is_charged => QuestionEnd::Conversed,
            Ok(output) => QuestionEnd::Answered(output.usage.as_ref()),
            Err(error) => match sends_away(error) {
                Some(pause) => QuestionEnd::SentAway(pause),
                None if error.kind == FailureKind::Shortage => {
                    rules.outage.clone_from(&error.message);
                    let is_alone = flight.is_alone();
                    QuestionEnd::Short { is_alone }
                }
                None if is_rate_limited(error) => QuestionEnd::RateLimited(error.retry_after()),
                None if is_out(error) => {
                    rules.outage.clone_from(&error.message);
                    QuestionEnd::Out(id, error.retry_after())
                }
                None => QuestionEnd::Failed,
            },
        };
        flight.end(!matches!(end, QuestionEnd::Short { .. }));
        let now = clock::since(self.started);
        self.governed(&mut rules, |governor| governor.finish(now, permit, end));
        let holds = rules.governor.hold().is_some();
        let news = rules.pauses.ends(now, holds);
        drop(rules);
        if let Some(news) = news {
            self.notify(news, "");
        }
        // Only the head of the queue waits.
        self.ended.notify_one();
    }

    /// How long nobody is asked because of a rate limit.
    pub(in crate::run) fn rate_limit_pause(&self) -> Duration {
        match lock(&self.rules).governor.hold() {
            Some((Hold::Refused, until)) => until.saturating_sub(clock::since(self.started)),
            _ => Duration::ZERO,
        }
    }

    /// How long this machine has had no room for a single question, with nothing in flight that could free some.
    pub(in crate::run) fn lacks_room_for(&self) -> Duration {
        lock(&self.rules).governor.lacks_room_for()
    }

    /// Notices on limits that count less than was used, because not every answer reports its usage.
    pub(in crate::run) fn unenforced(&self, limits: &Limits) -> Vec<String> {
        lock(&self.rules).governor.unenforced(limits)
    }

    /// Whether a failure counts against no sample, as the agent refuses or is unreachable for all. All questions wait
    /// then.
    pub(in crate::run) fn is_everyones(&self, error: &AgentError) -> bool {
        error.kind == FailureKind::RateLimited && error.is_transient()
            || is_out(error) && lock(&self.rules).governor.is_out()
    }
}

/// The pause the agent asks for when rate limited or overloaded, if it is too long to wait for.
fn sends_away(error: &AgentError) -> Option<Duration> {
    let is_refused = matches!(error.kind, FailureKind::RateLimited | FailureKind::Busy);
    let seconds = error.retry_after_s.filter(|_| is_refused)?;
    let pause = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    (seconds > LONGEST_RETRY_AFTER).then_some(pause)
}

/// Whether all questions must pause, with fewer at once afterwards. An overloaded server that says for how long is
/// treated the same.
fn is_rate_limited(error: &AgentError) -> bool {
    let is_busy = error.kind == FailureKind::Busy && error.retry_after_s.is_some();
    error.is_transient() && (error.kind == FailureKind::RateLimited || is_busy && !is_out(error))
}

/// Whether the agent was unreachable for everyone: no connection, or a proxy in front of it says so. Its own errors,
/// such as 500, may be the sample's fault.
fn is_out(error: &AgentError) -> bool {
    let is_closed = matches!(error.http_status, Some(502 | 503 | 529));
    error.is_transient() && (error.kind == FailureKind::Unreachable || is_closed)
}

// A question in flight, of any run of this program or of a judge.
//
// A run that has no room for its only question waits for others to end, as they may free some. If there is no other,
// it does not wait. A failure for want of room is immediate, so a question that is in flight for longer had room.

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

/// Rate limit pauses up to this long are usual, and not reported.
const MIN_REPORTED_PAUSE: Duration = Duration::from_secs(2);

/// The last report.
#[derive(Debug, Default)]
struct Pauses {
    /// Since when and until when nothing is asked.
    reported: Option<(Duration, Duration)>,
}

/// What to report.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PauseNews {
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
    fn begins(&mut self, now: Duration, hold: Option<(Hold, Duration)>) -> Option<PauseNews> {
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
    fn ends(&mut self, now: Duration, holds: bool) -> Option<PauseNews> {
        let (since, _) = self.reported.filter(|_| !holds)?;
        self.reported = None;
        Some(PauseNews::Over(now.saturating_sub(since)))
    }
}

#[cfg(test)]
mod in_flight_tests {
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

#[cfg(test)]
mod pauses_tests {
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
