//! `Stopper`: decides whether the run continues, and why not.
//!
//! A run that *stops* starts no more samples, and running agents are killed. One that *ends* starts none either, but
//! questions in flight, which are paid for, finish; the throttle lets nothing through. The first reason counts.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::data::{AgentError, Record};
use crate::error::Error;
use crate::eval::limits::Limits;
use crate::eval::limits::governor::Over;
use crate::run::ask::repeated_failures::MOST;
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::system::lock;
use crate::text::redact::Redactor;
use crate::verdict::conclude::FIX_HINT;
use crate::verdict::facts::Stop;

/// Decides whether a run continues.
pub(in crate::run) struct Stopper {
    /// Set when the run stops; also from outside, by a person or the system.
    cancel: Cancel,
    reason: Mutex<Option<Reason>>,
    deadline: Option<Deadline>,
    fail_fast: bool,
    /// The most abandoned attempts that may still run.
    most_abandoned: usize,
    /// An endpoint's messages may contain a key.
    redactor: Redactor,
}

/// The run's own reason to stop.
struct Reason {
    text: String,
    stop: Stop,
    /// Whether a test reported it.
    reported: bool,
}

/// When the run must end.
struct Deadline {
    limit: Duration,
    end: Instant,
}

/// Why a run ended early.
pub(in crate::run) struct Stopped {
    pub(in crate::run) stop: Stop,
    /// As text.
    pub(in crate::run) reason: String,
}

impl Stopper {
    /// What stops only this run, such as `fail_fast`, must not stop the next one: the run has its own flag, which
    /// `cancel` also sets but not vice versa.
    pub(in crate::run) fn new(cancel: &Cancel, limits: &Limits, started: Instant) -> Self {
        let end = |limit| {
            let end = started.checked_add(limit)?;
            Some(Deadline { limit, end })
        };
        Self {
            cancel: cancel.child(),
            reason: Mutex::new(None),
            deadline: limits.deadline.and_then(end),
            fail_fast: limits.fail_fast,
            most_abandoned: limits.concurrency,
            redactor: Redactor::default(),
        }
    }

    /// Redacts secrets in the reason.
    pub(in crate::run) fn redacted(self, redactor: &Redactor) -> Self {
        Self {
            redactor: redactor.clone(),
            ..self
        }
    }

    pub(in crate::run) fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The flag that agents watch.
    pub(in crate::run) fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// When the run must end.
    pub(in crate::run) fn deadline(&self) -> Option<Instant> {
        self.deadline.as_ref().map(|deadline| deadline.end)
    }

    /// Whether the time of the whole run is up; if so, stops it.
    pub(in crate::run) fn is_past_deadline(&self) -> bool {
        let Some(Deadline { limit, end }) = &self.deadline else {
            return false;
        };
        let is_past = clock::now() >= *end;
        if is_past {
            self.stop(&Over::Deadline(*limit).to_string());
        }
        is_past
    }

    /// Waits, unless the run stops.
    pub(in crate::run) fn pause(&self, pause: Duration) {
        let end = clock::now() + pause;
        while !self.is_stopped() && !self.is_past_deadline() {
            let remaining = end.saturating_duration_since(clock::now());
            if remaining.is_zero() {
                return;
            }
            std::thread::sleep(remaining.min(Duration::from_millis(50)));
        }
    }

    /// No more questions may be asked. `outage` is the last error of an agent with an outage.
    pub(in crate::run) fn over(&self, over: &Over, outage: &str) {
        self.over_for(None, over, outage);
    }

    /// The same; `whom` names the judge if it is not the agent.
    pub(in crate::run) fn over_for(&self, whom: Option<&str>, over: &Over, outage: &str) {
        let why = match whom {
            Some(whom) => over.to_string().replacen("the agent", whom, 1),
            None => over.to_string(),
        };
        match over {
            Over::Deadline(_) => self.stop(&why),
            Over::Out | Over::Short => self.end(&format!("{why}; last error: {outage}")),
            Over::Budget(_) | Over::SharedBudget(_) | Over::Refused | Over::SentAway(_) => {
                self.end(&why);
            }
        }
    }

    /// Sees a new record: one without an answer stops a `fail_fast` run.
    pub(in crate::run) fn recorded(&self, record: &Record) {
        let result = &record.result;
        let has_failed = result.status.is_error() || result.is_failure_as_wrong();
        if has_failed && self.fail_fast {
            let id = &record.sample_id;
            self.stop(&format!("sample `{id}` failed and `fail_fast` is set"));
        }
    }

    /// The journal cannot be written.
    pub(in crate::run) fn unwritten(&self, error: &Error) {
        self.stop(error.message());
    }

    /// A question cannot be read again.
    pub(in crate::run) fn unreadable(&self, error: &Error) {
        self.stop(error.message());
    }

    /// No sample can be asked, as a scratch folder cannot be made.
    pub(in crate::run) fn unprepared(&self, error: &AgentError) {
        self.stop(&error.message);
    }

    /// The agent's program fails in the same way for every sample.
    pub(in crate::run) fn unusable(&self, error: &AgentError) {
        self.stop(&error.with_stderr());
    }

    /// The first attempts of the run all failed in the same way.
    pub(in crate::run) fn repeated_failure(&self, error: &AgentError) {
        let how = error.with_stderr();
        self.stop(&format!(
            "the first {MOST} attempts failed in the same way: {how}; {FIX_HINT}, or start again with `cargo evaltest run \
             --keep-going`"
        ));
    }

    /// A judge's first requests of the run all failed in the same way. The answers are there.
    pub(in crate::run) fn judge_repeated_failure(&self, error: &AgentError) {
        let how = error.with_stderr();
        self.stop(&format!(
            "{how}: its first {MOST} requests failed in the same way; hint: fix it and continue with `--resume`; or score \
             the answers by another one with `cargo evaltest rescore DIR --spec SPEC`"
        ));
    }

    /// The run is restored without asking.
    pub(in crate::run) fn restored(&self, stop: Stop, reason: &str) {
        self.set(reason, stop);
        self.cancel.cancel();
    }

    /// Every gate is sure: the remaining questions are not needed.
    pub(in crate::run) fn sure(&self, reason: &str) {
        self.set(reason, Stop::Sure);
    }

    /// No sample can be answered with this eval's settings.
    pub(in crate::run) fn misconfigured(&self, error: &AgentError) {
        self.set(&error.message, Stop::Misconfigured);
        self.cancel.cancel();
    }

    /// Too many attempts ran out of time and were abandoned.
    pub(in crate::run) fn abandoned(&self, attempts: usize) {
        if attempts > self.most_abandoned {
            self.stop(&format!(
                "{attempts} attempts ran out of time and still run: a closure cannot be killed; \
                 have it ask `task.is_cancelled()`"
            ));
        }
    }

    /// The mistake in the eval that stopped the run; only for the first caller.
    pub(in crate::run) fn unreported_mistake(&self) -> Option<String> {
        let mut reason = lock(&self.reason);
        let reason = reason
            .as_mut()
            .filter(|reason| reason.stop == Stop::Misconfigured && !reason.reported)?;
        reason.reported = true;
        Some(reason.text.clone())
    }

    /// Why the run ended early, if it did.
    pub(in crate::run) fn stopped(&self) -> Option<Stopped> {
        match &*lock(&self.reason) {
            Some(reason) => Some(Stopped {
                stop: reason.stop,
                reason: reason.text.clone(),
            }),
            // Stopped from outside.
            None => self.is_stopped().then(|| Stopped {
                stop: Stop::Interrupted,
                reason: "interrupted".to_owned(),
            }),
        }
    }

    fn stop(&self, reason: &str) {
        self.set(reason, Stop::Early);
        self.cancel.cancel();
    }

    fn end(&self, reason: &str) {
        self.set(reason, Stop::Early);
    }

    fn set(&self, reason: &str, stop: Stop) {
        lock(&self.reason).get_or_insert_with(|| Reason {
            text: self.redactor.text(reason, &mut 0).into_owned(),
            stop,
            reported: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::FailureKind;
    use crate::eval::limits::Limits;

    fn stopper(change: impl FnOnce(&mut Limits)) -> (Cancel, Stopper) {
        let (mut limits, cancel) = (Limits::default(), Cancel::new());
        change(&mut limits);
        let stopper = Stopper::new(&cancel, &limits, clock::now());
        (cancel, stopper)
    }

    fn check(stopper: &Stopper, is_stopped: bool, expect: Option<(Stop, &str)>) {
        assert_eq!(stopper.is_stopped(), is_stopped, "{expect:?}");
        let stopped = stopper.stopped();
        let stopped = stopped.as_ref().map(|it| (it.stop, it.reason.as_str()));
        assert_eq!(stopped, expect);
    }

    #[test]
    fn whoever_stops_it_from_outside_interrupts_it() {
        let (cancel, stopper) = stopper(|_| {});
        check(&stopper, false, None);
        cancel.cancel();
        check(&stopper, true, Some((Stop::Interrupted, "interrupted")));
    }

    #[test]
    fn the_first_reason_counts_and_stops_no_other_run() {
        let (cancel, stopper) = stopper(|limits| limits.concurrency = 1);
        stopper.abandoned(1);
        stopper.over(&Over::Refused, "");
        let refused = Over::Refused.to_string();
        let expect = Some((Stop::Early, refused.as_str()));
        check(&stopper, false, expect);
        stopper.abandoned(2);
        check(&stopper, true, expect);
        assert!(!cancel.is_cancelled());
    }

    #[test]
    fn mistake_is_reported_once() {
        let (_, stopper) = stopper(|_| {});
        stopper.misconfigured(&AgentError::of(FailureKind::Misconfigured, "no such model"));
        let expect = Some((Stop::Misconfigured, "no such model"));
        check(&stopper, true, expect);
        assert_eq!(
            stopper.unreported_mistake().as_deref(),
            Some("no such model")
        );
        assert_eq!(stopper.unreported_mistake(), None);
        check(&stopper, true, expect);
    }

    #[test]
    fn a_deadline_stops_it_when_it_is_checked() {
        let (_, patient) = stopper(|limits| limits.deadline = Some(Duration::from_secs(99)));
        assert!(!patient.is_past_deadline());
        check(&patient, false, None);
        let limit = Duration::ZERO;
        let (_, late) = stopper(|limits| limits.deadline = Some(limit));
        assert!(late.is_past_deadline());
        let reason = Over::Deadline(limit).to_string();
        check(&late, true, Some((Stop::Early, &reason)));
    }
}
