//! `FirstAttempts`: stops a run early if every attempt fails in the same way from the start.
//!
//! With a missing module, a wrong path or an unset key, each sample would fail in the same way, and cost time and
//! money. If one of the first attempts gives an answer or fails differently, the run continues.

use std::sync::Mutex;

use crate::data::{AgentError, FailureKind, FailureManner};
use crate::eval::Eval;
use crate::system::lock;

/// Stop after this many identical failures, if all attempts so far failed that way.
pub(in crate::run) const MOST: u32 = 10;

/// Tracks the first attempts of a run.
pub(in crate::run) struct FirstAttempts(Mutex<Begin>);

/// What the attempts showed so far.
enum Begin {
    Nothing,
    /// All of them failed in this way; the count.
    Repeated(FailureManner, u32),
    /// Some attempt went differently, or the check is off.
    Enough,
}

impl FirstAttempts {
    /// For a run of this eval.
    pub(in crate::run) fn of(eval: &Eval) -> Self {
        let agent = &eval.agent;
        if eval.limits.keep_going || agent.asks_endpoint() || agent.is_deterministic() {
            Self::unwatched()
        } else {
            Self::watched()
        }
    }

    /// For a new run, with the check on.
    pub(in crate::run) fn watched() -> Self {
        Self(Mutex::new(Begin::Nothing))
    }

    /// For a run that continues whatever the first attempts show.
    pub(in crate::run) fn unwatched() -> Self {
        Self(Mutex::new(Begin::Enough))
    }

    /// Records an attempt that gave an answer.
    pub(in crate::run) fn answered(&self) {
        *lock(&self.0) = Begin::Enough;
    }

    /// Records a failed attempt. `true`, once, if the agent always fails in the same way.
    pub(in crate::run) fn failed(&self, error: &AgentError) -> bool {
        if !is_the_agents(error.kind) {
            return false;
        }
        let mut state = lock(&self.0);
        let way = FailureManner::of(error);
        let times = match &*state {
            Begin::Nothing => 1,
            Begin::Repeated(known, times) if known.is_like(&way) => times + 1,
            Begin::Repeated(..) | Begin::Enough => MOST + 1,
        };
        *state = if times < MOST {
            Begin::Repeated(way, times)
        } else {
            Begin::Enough
        };
        times == MOST
    }
}

/// Whether a failure of this kind is the agent's. Other failures say nothing about it, or have their own rules.
fn is_the_agents(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Failed
            | FailureKind::NotFound
            | FailureKind::NotStarted
            | FailureKind::Exited
            | FailureKind::NoOutput
            | FailureKind::BadOutput
            | FailureKind::OutputTooLarge
            | FailureKind::TimedOut
            | FailureKind::Panicked
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(kind: FailureKind, stderr: Option<&str>) -> AgentError {
        AgentError {
            stderr_tail: stderr.map(str::to_owned),
            ..AgentError::of(kind, "told")
        }
    }

    /// Checks after how many of these failures the run stops, if it does.
    fn check(failures: impl Iterator<Item = AgentError>, expect: Option<usize>) {
        let first = FirstAttempts::watched();
        let failures: Vec<_> = failures.collect();
        let stops = failures.iter().position(|error| first.failed(error));
        assert_eq!(stops.map(|place| place + 1), expect, "{failures:?}");
    }

    #[test]
    fn stops_after_ten_repeated_failures() {
        use FailureKind::{Attachment, Busy, Exited, Failed, NoOutput};
        let repeated = |n: usize| (0..n).map(|_| error(Exited, None));
        check(repeated(9), None);
        check(repeated(30), Some(10));
        // Digits and everything before the last line are ignored.
        let lines = (0..10).map(|n| error(Exited, Some(&format!("at {n}\nx{n}: no module\n\n"))));
        check(lines, Some(10));
        let words = |n: u8| char::from(b'a' + n).to_string();
        check((0..20).map(|n| error(Exited, Some(&words(n)))), None);
        check((0..20).map(|n| AgentError::of(Failed, words(n))), None);
        check(
            (0..20).map(|n| AgentError::of(NoOutput, words(n))),
            Some(10),
        );
        let other = AgentError {
            exit_code: Some(3),
            ..error(Exited, None)
        };
        check(repeated(9).chain([other]).chain(repeated(30)), None);
        // Failures that are not the agent's count neither way.
        let strange = [error(Attachment, None), error(Busy, None)];
        check(strange.into_iter().chain(repeated(10)), Some(12));
        check((0..20).map(|_| error(Busy, None)), None);
    }

    #[test]
    fn one_answer_is_enough_to_go_on() {
        let first = FirstAttempts::watched();
        first.failed(&error(FailureKind::Exited, None));
        first.answered();
        let more = (0..20).any(|_| first.failed(&error(FailureKind::Exited, None)));
        assert!(!more);
        let unwatched = FirstAttempts::unwatched();
        let stops = (0..20).any(|_| unwatched.failed(&error(FailureKind::Exited, None)));
        assert!(!stops);
    }
}
