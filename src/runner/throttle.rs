//! `Throttle`: the clock of the [`Governor`], and the threads that wait for it.
//!
//! One thread at a time waits for the governor, at the head of a queue; the others sleep until it is their turn.
//! A thousand threads that wait for a rate limit thus cost nothing.

use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use super::Session;
use crate::data::output::LONGEST_RETRY_AFTER;
use crate::data::{AgentError, EndedBy, FailureKind, Output};
use crate::limits::Limits;
use crate::limits::budget::Spent;
use crate::limits::governor::{Admission, End, Governor, Over, Permit};
use crate::system::lock::lock;

/// How often whoever is at the head of the queue looks whether the run was stopped.
const GLANCE: Duration = Duration::from_millis(100);

/// Lets questions through as the limits allow.
pub(super) struct Throttle {
    governor: Mutex<Governor>,
    /// A question ended.
    ended: Condvar,
    /// Held by the one who waits.
    head: Mutex<()>,
    started: Instant,
    deadline: Option<Instant>,
    /// What was last said of an agent that is out.
    outage: Mutex<String>,
}

impl Throttle {
    /// `concurrency` is that of the limits unless it is given. The run has used up `spent`, and has begun `ago`.
    pub(super) fn new(
        limits: &Limits,
        concurrency: Option<usize>,
        (spent, ago): (Spent, Duration),
    ) -> Self {
        let started = Instant::now();
        let started = started.checked_sub(ago).unwrap_or(started);
        let limits = &Limits {
            concurrency: concurrency.unwrap_or(limits.concurrency),
            ..limits.clone()
        };
        Self {
            governor: Mutex::new(Governor::new(limits, spent)),
            ended: Condvar::new(),
            head: Mutex::new(()),
            started,
            outage: Mutex::default(),
            deadline: limits.deadline.and_then(|limit| started.checked_add(limit)),
        }
    }

    /// When the run must end.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Waits until a question may be asked. `None` when the run was stopped meanwhile.
    fn wait(&self, is_stopped: impl Fn() -> bool) -> Option<Result<Permit, Over>> {
        let _turn = lock(&self.head);
        let mut governor = lock(&self.governor);
        loop {
            if is_stopped() {
                return None;
            }
            let now = self.started.elapsed();
            let until = match governor.admit(now) {
                Admission::Go(permit) => return Some(Ok(permit)),
                Admission::Over(over) => return Some(Err(over)),
                Admission::Wait(until) => until,
            };
            let pause = until.map_or(GLANCE, |until| until.saturating_sub(now).min(GLANCE));
            let waited = self.ended.wait_timeout(governor, pause);
            governor = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    fn finish(&self, permit: &Permit, end: End<'_>) {
        lock(&self.governor).finish(self.started.elapsed(), permit, end);
        // Only the head of the queue waits.
        self.ended.notify_one();
    }
}

/// A question that may be asked; counted as in flight until [`Session::asked`].
#[must_use]
pub(super) struct Turn(Permit);

impl Session {
    /// Waits until the limits let another question be asked. `None` when none may be asked any more: the run has
    /// been stopped, or ends.
    pub(super) fn turn(&self) -> Option<Turn> {
        match self.throttle.wait(|| self.is_stopped())? {
            Ok(permit) => Some(Turn(permit)),
            Err(over @ Over::Out) => {
                let last = lock(&self.throttle.outage).clone();
                self.note_stop(&format!("{over}; the last time: {last}"));
                None
            }
            Err(over @ (Over::Budget(_) | Over::Refused | Over::SentAway(_))) => {
                // What is in flight is paid for, and comes to its end.
                self.note_stop(&over.to_string());
                None
            }
            Err(over @ Over::Deadline(_)) => {
                self.stop(&over.to_string(), false);
                None
            }
        }
    }

    /// The sample `id` was asked.
    pub(super) fn asked(&self, Turn(permit): &Turn, id: &str, answer: &Result<Output, AgentError>) {
        let end = match answer {
            Ok(output) => End::Answered(output.usage.as_ref()),
            Err(error) => match sends_away(error) {
                Some(pause) => End::SentAway(pause),
                None if is_rate_limited(error) => End::RateLimited(error.retry_after()),
                None if is_out(error) => {
                    lock(&self.throttle.outage).clone_from(&error.message);
                    End::Out(id, error.retry_after())
                }
                None => End::Failed,
            },
        };
        self.throttle.finish(permit, end);
    }

    /// Tells of limits that held nothing because no answer tells what it took.
    pub(super) fn note_unkept_limits(&self) {
        let unkept = lock(&self.throttle.governor).unkept(&self.plan.eval.limits);
        for key in unkept {
            let notice = format!("`limits.{key}` could not be kept: no answer tells what it took");
            self.notice(Some(notice));
        }
    }

    /// Whether a failure is that of an agent which answers nobody now. All questions wait then, and it counts against
    /// none.
    pub(super) fn is_outage(&self, error: &AgentError) -> bool {
        is_out(error) && lock(&self.throttle.governor).is_out()
    }

    /// Whether the time of the whole run is up; stops it then.
    pub(super) fn is_past_deadline(&self) -> bool {
        let Some(deadline) = self.throttle.deadline() else {
            return false;
        };
        let is_past = Instant::now() >= deadline;
        if is_past {
            let limit = self.plan.eval.limits.deadline.unwrap_or_default();
            self.stop(&Over::Deadline(limit).to_string(), false);
        }
        is_past
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

/// The time that a sample has left, of which waiting for a turn takes nothing.
pub(super) struct SampleTime {
    limit: Option<Duration>,
    left: Duration,
}

impl SampleTime {
    pub(super) fn new(limit: Option<Duration>) -> Self {
        Self {
            left: limit.unwrap_or(Duration::MAX),
            limit,
        }
    }

    /// What is left, if there is a limit.
    pub(super) fn left(&self) -> Option<Duration> {
        self.limit.map(|_| self.left)
    }

    /// Takes the time that an attempt or a pause took.
    pub(super) fn take(&mut self, took: Duration) {
        self.left = self.left.saturating_sub(took);
    }

    /// The error of a sample that has no time for another attempt.
    pub(super) fn timed_out(&self, attempts: u32, last: &AgentError) -> AgentError {
        let seconds = self.limit.unwrap_or_default().as_secs_f64();
        let message = format!(
            "no answer within {seconds} s (`limits.sample_timeout_s`), in {attempts} attempts; the last: {}",
            last.message
        );
        AgentError {
            kind: FailureKind::TimedOut,
            message,
            ended_by: Some(EndedBy::SampleTimeout),
            ..last.clone()
        }
    }
}
