//! `Tries`: the attempts at a question within its time; decides whether and when a failed one is repeated.

use std::fmt::Write as _;
use std::time::Duration;

use crate::data::{AgentError, EndedBy, FailureKind};
use crate::eval::limits::Limits;
use crate::text::hash::Hasher;

/// Extra repeats, besides `limits.retries`, for attempts refused by a rate limit or ended by an outage: the sample is
/// not at fault. None for a refused sample if the user wrote `retries: 0`: who asks for one request gets one.
const MOST_REFUSED: u32 = 50;

/// Extra repeats, besides `limits.retries`, for attempts that failed because of other samples.
const MOST_LOST: u32 = 3;

/// The attempts at a question.
pub(in crate::run) struct Tries<'a> {
    id: &'a str,
    epoch: u32,
    limits: &'a Limits,
    /// Attempts in an earlier part of the run.
    earlier: u32,
    /// All started attempts, earlier ones included.
    started: u32,
    /// Attempts refused by a rate limit or ended by an outage.
    refused: u32,
    /// Attempts that failed because of other samples.
    lost: u32,
    limited: RateLimited,
    time: SampleTime,
}

/// What rate limits did to the attempts.
#[derive(Default)]
struct RateLimited {
    /// The refusal of the last attempt, if it is repeated.
    refusal: Option<AgentError>,
    /// The time waited so far.
    waited: Duration,
}

impl<'a> Tries<'a> {
    /// For a sample's question in one epoch.
    pub(in crate::run) fn new(id: &'a str, epoch: u32, limits: &'a Limits, earlier: u32) -> Self {
        Self {
            id,
            epoch,
            limits,
            earlier,
            started: earlier,
            refused: 0,
            lost: 0,
            limited: RateLimited::default(),
            time: SampleTime::new(limits.sample_timeout),
        }
    }

    /// How many attempts were started.
    pub(in crate::run) fn started(&self) -> u32 {
        self.started
    }

    /// Starts another attempt and returns its number, from 1.
    pub(in crate::run) fn begin(&mut self) -> u32 {
        self.started += 1;
        self.limited.refusal = None;
        self.started
    }

    /// Undoes the last start: nothing was asked.
    pub(in crate::run) fn take_back(&mut self) {
        self.started = self.started.saturating_sub(1);
    }

    /// The time the sample has left, if there is a limit.
    pub(in crate::run) fn remaining(&self) -> Option<Duration> {
        self.time.remaining()
    }

    /// Deducts the time of an attempt or a pause.
    pub(in crate::run) fn took(&mut self, took: Duration) {
        self.time.take(took);
    }

    /// Counts the time waited for a turn, if a rate limit was the reason.
    pub(in crate::run) fn waited(&mut self, waited: Duration) {
        if self.limited.refusal.is_some() {
            self.limited.waited = self.limited.waited.saturating_add(waited);
        }
    }

    /// How long the next attempt may be waited for, if a rate limit is the reason.
    pub(in crate::run) fn longest_wait(&self) -> Option<Duration> {
        self.limited.refusal.as_ref()?;
        Some(
            self.limits
                .rate_limit_wait?
                .saturating_sub(self.limited.waited),
        )
    }

    /// The error of a question that was waited for too long.
    pub(in crate::run) fn waited_too_long(&mut self) -> Option<AgentError> {
        let error = self.limited.refusal.take()?;
        let most = self.limits.rate_limit_wait?;
        Some(Self::over(error, "the next attempt would come later", most))
    }

    /// Handles a failed attempt; `is_everyones` if it counts against no sample, `hold` if nobody is asked for so long
    /// because of a rate limit. Returns the error, with what ended the
    /// attempts if this was the last, and otherwise how long to wait.
    pub(in crate::run) fn failed(
        &mut self,
        mut error: AgentError,
        is_everyones: bool,
        hold: Duration,
    ) -> (AgentError, Option<Duration>) {
        let is_limited = is_everyones && error.kind == FailureKind::RateLimited;
        if let Some(most) = self.limits.rate_limit_wait.filter(|_| is_limited) {
            return self.limited(error, most, hold);
        }
        let is_final = error.kind == FailureKind::RateLimited && self.limits.own_retries == Some(0);
        let is_refused = is_everyones && !is_final && self.refused < MOST_REFUSED;
        self.refused += u32::from(is_refused);
        let is_lost = error.kind == FailureKind::Lost && self.lost < MOST_LOST;
        self.lost += u32::from(is_lost);
        if is_refused || is_lost {
            // The throttle decides how long to pause.
            return self.within_time(error, Duration::ZERO);
        }
        let counted = self.started - self.earlier - self.refused - self.lost;
        if !error.is_transient() {
            return (error, None);
        }
        if counted > self.limits.retries {
            error.ended_by = error.ended_by.or(Some(EndedBy::Retries));
            return (error, None);
        }
        let pause = backoff(self.limits.backoff, counted, self.id, self.epoch);
        let pause = pause.max(error.retry_after().unwrap_or_default());
        self.within_time(error, pause)
    }

    /// Schedules another attempt after a rate limit, unless the wait for it would be longer than what is left of `most`.
    fn limited(
        &mut self,
        error: AgentError,
        most: Duration,
        hold: Duration,
    ) -> (AgentError, Option<Duration>) {
        let remaining = most.saturating_sub(self.limited.waited).as_secs_f64();
        let asked = error.retry_after_s.unwrap_or_default();
        if remaining > 0.0 && asked <= remaining && hold.as_secs_f64() <= remaining {
            self.refused += 1;
            self.limited.refusal = Some(error.clone());
            // The throttle decides how long to pause.
            return self.within_time(error, Duration::ZERO);
        }
        let why = if asked > remaining {
            format!("it asks for a pause of {asked} s")
        } else {
            format!("{:.1} s were waited", self.limited.waited.as_secs_f64())
        };
        (Self::over(error, &why, most), None)
    }

    /// The error that ends a sample which waited as long as it may.
    fn over(mut error: AgentError, why: &str, most: Duration) -> AgentError {
        let most = most.as_secs_f64();
        let _ = write!(
            error.message,
            "; {why}, and `limits.rate_limit_wait_s` is {most}"
        );
        error.ended_by = error.ended_by.or(Some(EndedBy::RateLimitWait));
        error
    }

    /// Schedules another attempt after a pause, unless the sample's time is too short.
    fn within_time(&self, error: AgentError, pause: Duration) -> (AgentError, Option<Duration>) {
        if self.remaining().is_some_and(|remaining| pause >= remaining) {
            let attempts = self.started - self.earlier;
            return (self.time.timed_out(attempts, &error), None);
        }
        (error, Some(pause))
    }
}

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(30);

/// `first * 2^(failures - 1)`, at most 30 s, less up to a quarter, so that samples that failed together (the endpoint
/// was down) do not return together. The reduction depends only on the sample and epoch, so that runs are repeatable.
fn backoff(first: Duration, failures: u32, id: &str, epoch: u32) -> Duration {
    let factor = 1_u32
        .checked_shl(failures.saturating_sub(1))
        .unwrap_or(u32::MAX);
    let pause = first.saturating_mul(factor).min(LONGEST);
    let spread = Hasher::default()
        .part(id)
        .part(failures.to_le_bytes())
        .part(epoch.to_le_bytes())
        .short();
    let share = u32::from_str_radix(&spread[..4], 16).unwrap_or_default();
    pause.mul_f64(1.0 - f64::from(share) / 65_536.0 / 4.0)
}

/// The time that a sample has left. Waiting for a turn does not count.
struct SampleTime {
    limit: Option<Duration>,
    remaining: Duration,
}

impl SampleTime {
    fn new(limit: Option<Duration>) -> Self {
        Self {
            remaining: limit.unwrap_or(Duration::MAX),
            limit,
        }
    }

    /// The remaining time, if there is a limit.
    fn remaining(&self) -> Option<Duration> {
        self.limit.map(|_| self.remaining)
    }

    /// Deducts the time of an attempt or a pause.
    fn take(&mut self, took: Duration) {
        self.remaining = self.remaining.saturating_sub(took);
    }

    /// The error of a sample without time for another attempt.
    fn timed_out(&self, attempts: u32, last: &AgentError) -> AgentError {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks how often a question that always fails in this way is asked, and what ends it.
    fn check(
        kind: FailureKind,
        is_everyones: bool,
        sample_timeout: Option<Duration>,
        expect: (u32, Option<EndedBy>),
    ) {
        check_with(2, kind, is_everyones, sample_timeout, expect);
    }

    /// The same with this number of `limits.retries`.
    fn check_with(
        retries: u32,
        kind: FailureKind,
        is_everyones: bool,
        sample_timeout: Option<Duration>,
        expect: (u32, Option<EndedBy>),
    ) {
        let limits = Limits {
            retries,
            own_retries: Some(retries),
            sample_timeout,
            ..Limits::default()
        };
        // Attempts of an earlier part only shift the numbers.
        let mut tries = Tries::new("a", 0, &limits, 7);
        loop {
            let number = tries.begin();
            tries.took(Duration::from_mins(1));
            let error = AgentError::of(kind, "no");
            let (error, pause) = tries.failed(error, is_everyones, Duration::ZERO);
            if pause.is_none() {
                assert_eq!((number - 7, error.ended_by), expect, "{kind:?}");
                return;
            }
        }
    }

    #[test]
    fn a_failure_that_is_not_the_samples_is_repeated_more_often() {
        let retries = Some(EndedBy::Retries);
        check(FailureKind::TimedOut, false, None, (1, None));
        check(FailureKind::Exited, false, None, (3, retries));
        check(FailureKind::Lost, false, None, (MOST_LOST + 3, retries));
        let all = MOST_REFUSED + 3;
        check(FailureKind::RateLimited, true, None, (all, retries));
    }

    #[test]
    fn without_retries_a_rate_limited_sample_is_asked_once() {
        let retries = Some(EndedBy::Retries);
        check_with(0, FailureKind::RateLimited, true, None, (1, retries));
        // An endpoint that is not there was not asked.
        let all = MOST_REFUSED + 1;
        check_with(0, FailureKind::Unreachable, true, None, (all, retries));
    }

    #[test]
    fn a_sample_waits_for_rate_limits_as_long_as_its_time_says() {
        let check = |most: u64, asked: Option<f64>, hold: u64, expect: (u32, &str)| {
            let limits = Limits {
                rate_limit_wait: Some(Duration::from_secs(most)),
                own_retries: Some(0),
                ..Limits::default()
            };
            let mut tries = Tries::new("a", 0, &limits, 0);
            let (number, error) = loop {
                tries.waited(Duration::from_secs(hold));
                let number = tries.begin();
                let mut error = AgentError::of(FailureKind::RateLimited, "no");
                error.retry_after_s = asked;
                let (error, pause) = tries.failed(error, true, Duration::from_secs(hold));
                if pause.is_none() {
                    break (number, error);
                }
            };
            assert_eq!(
                (number, error.message.as_str()),
                expect,
                "{most} {asked:?} {hold}"
            );
            assert_eq!(error.ended_by, Some(EndedBy::RateLimitWait));
        };
        let end = "and `limits.rate_limit_wait_s` is";
        check(0, None, 0, (1, &format!("no; 0.0 s were waited, {end} 0")));
        check(
            60,
            Some(61.0),
            60,
            (1, &format!("no; it asks for a pause of 61 s, {end} 60")),
        );
        check(
            60,
            Some(20.0),
            20,
            (4, &format!("no; it asks for a pause of 20 s, {end} 60")),
        );
        // More often than without a limit on the time.
        check(
            500,
            None,
            7,
            (72, &format!("no; 497.0 s were waited, {end} 500")),
        );
    }

    #[test]
    fn no_attempt_begins_that_the_sample_has_no_time_for() {
        let time = Some(Duration::from_secs(100));
        let expect = (2, Some(EndedBy::SampleTimeout));
        check(FailureKind::Exited, false, time, expect);
        check(FailureKind::RateLimited, true, time, expect);
    }

    #[test]
    fn doubles_and_stays_below_the_longest() {
        let first = Duration::from_secs(1);
        for (failures, most) in [(1, 1.0), (2, 2.0), (3, 4.0), (40, 30.0)] {
            let pause = backoff(first, failures, "a", 0).as_secs_f64();
            assert!(pause <= most && pause >= most * 0.75, "{failures}: {pause}");
        }
        assert_eq!(backoff(Duration::ZERO, 1, "a", 0), Duration::ZERO);
    }
}
