//! One sample in one epoch: attempts until there is an answer, in the time that it has.

use std::time::{Duration, Instant};

use super::attempt::CONFIRM;
use super::outcome::{failed, record, skipped};
use super::throttle::SampleTime;
use super::{Session, retry};
use crate::data::{AgentError, EndedBy, FailureKind, Outcome, Record};
use crate::event::Event;
use crate::plan::Item;
use crate::store::events::{Kind, StoredEvent};

/// So often an attempt that a rate limit refused or an outage ended is repeated besides `limits.retries`: the sample is
/// not to blame.
const MOST_REFUSED: u32 = 50;

/// So often an attempt that failed for the sake of other samples is repeated besides `limits.retries`.
const MOST_LOST: u32 = 3;

impl Session {
    /// Asks until there is an answer or no attempt is left.
    pub(super) fn ask(&self, question: (&Item, u32), earlier: u32) -> Outcome {
        let (item, epoch) = question;
        let limits = &self.plan.eval.limits;
        let id = &item.sample.id;
        let key = self.key(question);
        if let Some(key) = &key
            && let Some(outcome) = self.recall(question, key, earlier)
        {
            return outcome;
        }
        let mut attempt = earlier;
        // Attempts that a rate limit refused or an outage ended, and those that came to nothing for the sake of other
        // samples.
        let (mut refused, mut lost) = (0, 0);
        let mut time = SampleTime::new(limits.sample_timeout);
        loop {
            // Waiting for it is nobody's latency.
            let Some(turn) = self.turn() else {
                return skipped(attempt);
            };
            attempt += 1;
            self.journal(&StoredEvent::new(id, epoch, attempt, Kind::Started));
            let started = Instant::now();
            let (answer, latency) = self.attempt(question, attempt, time.left());
            time.take(started.elapsed());
            self.asked(&turn, id, &answer);
            let mut error = match answer {
                Ok(output) => {
                    // On disk before it is scored; redacted, while the scorer sees the real answer.
                    let mut event = StoredEvent::new(id, epoch, attempt, Kind::Answered);
                    let mut clean = output.clone();
                    self.plan.redactor.output(&mut clean, &mut event.redacted);
                    event.output = Some(clean);
                    event.latency_s = Some(latency);
                    if !self.journal(&event) {
                        // The disk is full. What is not on disk was not said, and is asked again.
                        return skipped(attempt);
                    }
                    if event.redacted == 0
                        && let Some(key) = &key
                    {
                        self.remember(question, key, &output, latency);
                    }
                    return self.judge(item, output, latency, attempt);
                }
                Err(error) if error.kind == FailureKind::Cancelled => return skipped(attempt),
                // The run's time is up, not the sample's: it is asked again when the run is resumed.
                Err(error) if error.kind == FailureKind::TimedOut && self.is_past_deadline() => {
                    return skipped(attempt);
                }
                // Told once, by the first sample that met it.
                Err(error) if error.kind == FailureKind::Misconfigured && self.is_stopped() => {
                    return skipped(attempt);
                }
                Err(error) => error,
            };
            let is_refused = error.kind == FailureKind::RateLimited && error.is_transient();
            let is_refused = is_refused || self.is_outage(&error);
            let is_refused = is_refused && refused < MOST_REFUSED;
            refused += u32::from(is_refused);
            let is_lost = error.kind == FailureKind::Lost && lost < MOST_LOST;
            lost += u32::from(is_lost);
            let counted = attempt - earlier - refused - lost;
            let mut retry =
                is_refused || is_lost || error.is_transient() && counted <= limits.retries;
            let pause = if is_refused || is_lost {
                // The throttle knows how long to leave the agent alone.
                Duration::ZERO
            } else {
                let pause = retry::backoff(limits.backoff, counted, id, epoch);
                pause.max(error.retry_after().unwrap_or_default())
            };
            if error.ended_by.is_none() && error.is_transient() && !retry {
                error.ended_by = Some(EndedBy::Retries);
            }
            if retry && time.left().is_some_and(|left| pause >= left) {
                error = time.timed_out(attempt - earlier, &error);
                retry = false;
            }
            if error.kind == FailureKind::Misconfigured {
                self.journal_failure(question, (attempt, latency), &error);
                self.stop_misconfigured(&error.message);
                return skipped(attempt);
            }
            self.attempt_failed(question, (attempt, latency), &error, retry);
            if !retry {
                return failed(error, latency, attempt);
            }
            self.pause(pause);
            time.take(pause);
        }
    }

    /// Journals an attempt without an answer; gives its error, redacted.
    fn journal_failure(
        &self,
        (item, epoch): (&Item, u32),
        (attempt, latency): (u32, f64),
        error: &AgentError,
    ) -> AgentError {
        let mut clean = error.clone();
        self.plan.redactor.agent_error(&mut clean, &mut 0);
        let mut event = StoredEvent::new(&item.sample.id, epoch, attempt, Kind::Failed);
        event.error = Some(clean.clone());
        event.latency_s = Some(latency);
        self.journal(&event);
        clean
    }

    /// Journals an attempt without an answer, and tells of it.
    fn attempt_failed(
        &self,
        (item, epoch): (&Item, u32),
        (attempt, latency): (u32, f64),
        error: &AgentError,
        retry: bool,
    ) {
        let id = &item.sample.id;
        let clean = self.journal_failure((item, epoch), (attempt, latency), error);
        self.emit(&Event::AttemptFailed {
            id,
            epoch,
            attempt,
            error: &clean,
            retry,
        });
        if error.kind == FailureKind::Unusable {
            self.stop(&clean.with_stderr(), false);
        }
    }

    /// Asks a sample once more, to tell a flip from flakiness. The answer counts in no metric.
    pub(crate) fn confirm(&self, place: usize) -> std::result::Result<Record, AgentError> {
        let item = self.plan.items[place].unpack();
        let id = &item.sample.id.clone();
        let Some(turn) = self.turn() else {
            let message = "not asked again: the run ends";
            return Err(AgentError::of(FailureKind::Cancelled, message));
        };
        let (answer, latency) = self.attempt((&item, 0), CONFIRM, None);
        self.asked(&turn, id, &answer);
        let mut output = answer.map_err(|mut error| {
            self.plan.redactor.agent_error(&mut error, &mut 0);
            error
        })?;
        let mut event = StoredEvent::new(id, 0, CONFIRM, Kind::Confirmed);
        let raw = output.clone();
        self.plan.redactor.output(&mut output, &mut event.redacted);
        event.output = Some(output);
        event.latency_s = Some(latency);
        self.journal(&event);
        let judged = self.judge(&item, raw, latency, 1);
        let mut record = record(&self.plan, item, 0, judged);
        self.plan.redactor.record(&mut record);
        let mut event = StoredEvent::new(id, 0, CONFIRM, Kind::Confirmed);
        event.result = Some(Outcome {
            output: None,
            ..record.result.clone()
        });
        self.journal(&event);
        Ok(record)
    }

    /// Waits, unless the run stops.
    fn pause(&self, pause: Duration) {
        let end = Instant::now() + pause;
        while !self.is_stopped() && !self.is_past_deadline() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }
}
