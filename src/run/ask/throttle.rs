//! `Throttle`: the clock of the [`Governor`], and the threads that wait for it.
//!
//! One thread at a time waits for the governor, at the head of a queue; the others sleep until it is their turn.
//! A thousand threads that wait for a rate limit thus cost nothing.

mod pauses;

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::in_flight::Flight;
use crate::data::output::LONGEST_RETRY_AFTER;
use crate::data::{AgentError, FailureKind, Output};
use crate::eval::Eval;
use crate::eval::limits::budget::UsedUp;
use crate::eval::limits::governor::{Admission, Governor, Hold, Over, Permit, QuestionEnd};
use crate::eval::limits::purse::Purse;
use crate::eval::limits::{Budget, Limits};
use crate::report::event::Event;
use crate::run::session::emitter::Emitter;
use crate::run::session::stop::Stopper;
use crate::system::clock;
use crate::system::lock::lock;
use pauses::{PauseNews, Pauses};

/// How often whoever is at the head of the queue looks whether the run was stopped.
const GLANCE: Duration = Duration::from_millis(100);

/// Lets questions through as the limits allow.
pub(in crate::run) struct Throttle {
    stopper: Arc<Stopper>,
    rules: Mutex<Rules>,
    /// A question ended.
    ended: Condvar,
    /// Held by the one who waits.
    head: Mutex<()>,
    started: Instant,
    /// Whom it lets through, if that is not the agent.
    name: Option<String>,
    /// By whom pauses are told.
    emitter: Option<Arc<Emitter>>,
    has_budget: bool,
    /// Whom the budget is shared with, and as whom.
    purse: Option<(Arc<Purse>, String)>,
}

struct Rules {
    governor: Governor,
    /// What was last said of an agent that is out.
    outage: String,
    pauses: Pauses,
}

/// A question that may be asked; counted as in flight until [`Throttle::asked`].
#[must_use]
pub(in crate::run) struct Turn(Permit, Flight);

impl Throttle {
    /// `concurrency` is that of the limits unless it is given. The run has used up `spent` since it `started`.
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
            purse: None,
        }
    }

    /// Of an eval that may share its budget with others.
    #[must_use]
    pub(in crate::run) fn sharing(self, eval: &Eval) -> Self {
        let purse = eval.purse.as_ref().filter(|_| self.has_budget);
        let purse = purse.map(|purse| (Arc::clone(purse), eval.name.clone()));
        let throttle = Self { purse, ..self };
        // What it used up before is told.
        throttle.governed(&mut lock(&throttle.rules), |_| ());
        throttle
    }

    /// Has the governor act who knows what others have of the budget.
    fn governed<T>(&self, rules: &mut Rules, act: impl FnOnce(&mut Governor) -> T) -> T {
        let governor = &mut rules.governor;
        match &self.purse {
            None => act(governor),
            Some((purse, eval)) => purse.act(eval, |others| {
                governor.beside(others);
                let done = act(governor);
                (governor.share(), done)
            }),
        }
    }

    /// Of a judge, for messages.
    #[must_use]
    pub(in crate::run) fn of(self, name: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            ..self
        }
    }

    /// Tells of pauses by this emitter.
    #[must_use]
    pub(in crate::run) fn told_by(self, emitter: Option<&Arc<Emitter>>) -> Self {
        Self {
            emitter: emitter.cloned(),
            ..self
        }
    }

    /// By whom pauses are told.
    pub(in crate::run) fn emitter(&self) -> Option<&Arc<Emitter>> {
        self.emitter.as_ref()
    }

    /// Tells of a pause; with nothing locked, for who listens may be slow. The agent, or the judge, said this last.
    fn tell(&self, news: PauseNews, said: &str) {
        let Some(emitter) = &self.emitter else {
            return;
        };
        let eval = emitter.eval();
        let who = self.name.as_deref().unwrap_or("the agent");
        match news {
            PauseNews::Begins { hold, pause, first } => {
                let (why, said) = match hold {
                    Hold::Out => ("answers nobody", said),
                    // What is known is of an outage.
                    Hold::Refused => ("refuses because of a rate limit", ""),
                };
                emitter.emit(&Event::Waiting {
                    eval,
                    who,
                    why,
                    said: &emitter.redacted(said),
                    pause,
                    first,
                });
            }
            PauseNews::Over(waited) => emitter.emit(&Event::WentOn { eval, who, waited }),
        }
    }

    /// Waits until a judge may be asked at the expense of this budget; `false` if none may be any more. It is counted as
    /// in flight until [`paid`](Self::paid).
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
            let waited = self.ended.wait_timeout(rules, GLANCE);
            rules = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A judge was asked at the expense of this budget.
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

    /// Waits until the limits let another question be asked. `None` when none may be asked any more: the run has
    /// been stopped, or ends.
    pub(in crate::run) fn turn(&self) -> Option<Turn> {
        let (over, outage) = match self.wait()? {
            Ok(permit) => return Some(Turn(permit, Flight::begin())),
            Err(over) => (over, lock(&self.rules).outage.clone()),
        };
        self.stopper.over_for(self.name.as_deref(), &over, &outage);
        None
    }

    /// Waits until a question may be asked. `None` when the run was stopped meanwhile.
    fn wait(&self) -> Option<Result<Permit, Over>> {
        let _turn = lock(&self.head);
        let mut rules = lock(&self.rules);
        loop {
            if self.stopper.is_stopped() {
                return None;
            }
            let now = clock::since(self.started);
            let until = match self.governed(&mut rules, |governor| governor.admit(now)) {
                Admission::Go(permit) => return Some(Ok(permit)),
                Admission::Over(over) => return Some(Err(over)),
                Admission::Wait(until) => until,
            };
            let hold = rules.governor.hold();
            if let Some(news) = rules.pauses.begins(now, hold) {
                let said = rules.outage.clone();
                drop(rules);
                self.tell(news, &said);
                rules = lock(&self.rules);
                continue;
            }
            let pause = until.map_or(GLANCE, |until| until.saturating_sub(now).min(GLANCE));
            let waited = self.ended.wait_timeout(rules, pause);
            rules = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The sample `id` was asked.
    pub(in crate::run) fn asked(
        &self,
        Turn(permit, flight): &Turn,
        id: &str,
        answer: &Result<Output, AgentError>,
    ) {
        let mut rules = lock(&self.rules);
        let end = match answer {
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
            self.tell(news, "");
        }
        // Only the head of the queue waits.
        self.ended.notify_one();
    }

    /// How long this machine has had no room for a single question, with nothing in flight that would make some.
    pub(in crate::run) fn lacks_room_for(&self) -> Duration {
        lock(&self.rules).governor.lacks_room_for()
    }

    /// The keys of limits that held nothing because no answer tells what it took.
    pub(in crate::run) fn unkept(&self, limits: &Limits) -> Vec<&'static str> {
        lock(&self.rules).governor.unkept(limits)
    }

    /// Whether a failure counts against no sample: the agent refuses, or answers nobody now. All questions wait then.
    pub(in crate::run) fn is_everyones(&self, error: &AgentError) -> bool {
        error.kind == FailureKind::RateLimited && error.is_transient()
            || is_out(error) && lock(&self.rules).governor.is_out()
    }
}

/// How long the agent wants to be left alone, if it is refused because it asks too often or its server is overloaded,
/// and nobody waits that long.
fn sends_away(error: &AgentError) -> Option<Duration> {
    let is_refused = matches!(error.kind, FailureKind::RateLimited | FailureKind::Busy);
    let seconds = error.retry_after_s.filter(|_| is_refused)?;
    let pause = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    (seconds > LONGEST_RETRY_AFTER).then_some(pause)
}

/// Whether all questions have to wait, and fewer are asked from then on. A server that is overloaded and says for how
/// long wants the same.
fn is_rate_limited(error: &AgentError) -> bool {
    let is_busy = error.kind == FailureKind::Busy && error.retry_after_s.is_some();
    error.is_transient() && (error.kind == FailureKind::RateLimited || is_busy && !is_out(error))
}

/// Whether the agent was not there for anybody: it could not be reached, or whoever stands before it says so. What it
/// says itself, such as 500, may be the fault of the sample.
fn is_out(error: &AgentError) -> bool {
    let is_closed = matches!(error.http_status, Some(502 | 503 | 529));
    error.is_transient() && (error.kind == FailureKind::Unreachable || is_closed)
}
