//! `AgentRequests`: gets the answer to one question. Repeats attempts until there is an answer or the sample's time is up.
//!
//! Looks into the [cache](Cached) first. Each attempt waits for its turn at the [throttle](Throttle); the
//! [caller](AgentCaller) makes it and the ledger records the result. [`Tries`] decides whether a failed attempt is
//! repeated.

pub(crate) mod attempt;
pub(crate) mod cached;
pub(crate) mod identity;
pub(crate) mod progress;
pub(crate) mod question_order;
pub(crate) mod repeated_failures;
pub(crate) mod retry;
pub(crate) mod scratch;
pub(crate) mod thread_pool;
pub(crate) mod throttle;
pub(crate) mod validation;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::record::Ledger;
use super::session::emitter::Emitter;
use super::session::question::{CONFIRM, Question};
use super::session::stop::Stopper;
use crate::data::conversation::{TalkBudget, TurnMessage};
use crate::data::{AgentError, FailureKind};
use crate::eval::limits::governor::LONGEST_SHORTAGE;
use crate::eval::plan::Plan;
use crate::report::event::Event;
use crate::store::journal::past::Answered;
use crate::system::clock;
use crate::system::process::group::was_terminated;
use crate::text::redact::Blanked;
use attempt::{AgentCaller, AttemptLogs, Attempted, check_size};
use cached::Cached;
use repeated_failures::FirstAttempts;
use retry::Tries;
use throttle::{NoTurn, Throttle};

/// If this machine has no room for a single question for this long, a notice says so.
const STUCK: Duration = Duration::from_secs(2);

/// When a whole job is ended, as by Slurm or systemd, the signal reaches the agent at most this long before evaltest.
const END_OF_JOB: Duration = Duration::from_secs(1);

/// Asks the agent one question, with retries.
pub(super) struct AgentRequests {
    pub(super) plan: Arc<Plan>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) stopper: Arc<Stopper>,
    pub(super) emitter: Arc<Emitter>,
    pub(super) throttle: Arc<Throttle>,
    /// The cache of answers, if this run reads or writes it.
    pub(super) cache: Option<Cached>,
    pub(super) caller: AgentCaller,
    /// Detects an agent that fails in the same way from the start.
    pub(super) first: FirstAttempts,
    /// Whether the notice that this machine has little room was given.
    pub(super) notified_shortage: AtomicBool,
    /// Whether the notice that it has no room at all was given.
    pub(super) notified_stuck: AtomicBool,
}

/// The result of asking a question.
pub(super) enum Ended {
    /// There is an answer, and it is on disk.
    Answered(Answered),
    /// No attempt gave an answer; this is the last failure.
    Failed {
        error: AgentError,
        latency_s: f64,
        attempts: u32,
        /// Whether the failure counts as a wrong answer.
        is_wrong: bool,
        /// Whether a call of a model was replayed.
        is_recorded: bool,
    },
    /// The run stopped first.
    Stopped { attempts: u32 },
}

/// What to do after an attempt.
enum Next {
    Ended(Box<Ended>),
    /// Try again after this pause.
    Again(Duration),
}

impl AgentRequests {
    /// Asks until there is an answer or no attempt is left. `earlier` is the number of attempts in an earlier part of
    /// the run.
    pub(super) fn ask(&self, question: &Question, earlier: u32) -> Ended {
        let key = self.cache.as_ref().and_then(|cache| cache.key(question));
        let recalled = key.as_deref().and_then(|key| self.recall(key, earlier));
        let mut recalled = recalled.or_else(|| self.rendered(question, earlier));
        let mut claim = None;
        if let (None, Some(cache), Some(key)) = (&recalled, &self.cache, key.as_deref()) {
            // Waits no longer than an answer may take.
            let end = clock::now().checked_add(self.plan.eval.limits.timeout);
            (recalled, claim) = cache.await_turn(key, earlier, || {
                self.stopper.is_stopped()
                    || self.stopper.is_past_deadline()
                    || end.is_some_and(|end| clock::now() >= end)
            });
        }
        if let Some(answer) = recalled {
            // Journalled like any answer, so that a resumed run knows it even if the cache is gone.
            return match self.ledger.answered(question, &answer) {
                Some(_) => Ended::Answered(answer),
                None => Ended::Stopped { attempts: earlier },
            };
        }
        let mut tries = Tries::new(
            question.id(),
            question.epoch,
            &self.plan.eval.limits,
            earlier,
        );
        // Whether the journal has a start event for an attempt that this machine had no room for.
        let mut is_noted = false;
        loop {
            // Waiting for a turn does not count as latency.
            let waiting = clock::now();
            let turn = self.throttle.turn(tries.longest_wait());
            tries.waited(clock::since(waiting));
            let turn = match turn {
                Ok(turn) => turn,
                Err(no_turn) => {
                    if is_noted {
                        self.ledger.not_started(question, tries.started());
                    }
                    return self.without_turn(&no_turn, question, &mut tries);
                }
            };
            let room = match AgentCaller::room() {
                Ok(room) => room,
                Err(error) => {
                    let failed = Err(error.clone());
                    self.throttle.finish(&turn, question.id(), &failed, false);
                    self.is_short(&error);
                    continue;
                }
            };
            let attempt = tries.begin();
            if !is_noted {
                self.ledger.started(question, attempt);
            }
            let started = clock::now();
            let logs = self.logs(question, attempt, &question.messages);
            let attempted = self
                .caller
                .attempt(question, attempt, tries.remaining(), room, &logs);
            tries.took(clock::since(started));
            self.throttle.finish(
                &turn,
                question.id(),
                &attempted.result,
                attempted.is_charged,
            );
            if let Err(error) = &attempted.result
                && self.is_short(error)
            {
                tries.take_back();
                is_noted = true;
                continue;
            }
            is_noted = false;
            let ended @ (latency_s, recorded) = (attempted.latency_s, attempted.is_recorded);
            let next = match attempted.result {
                Ok(output) => {
                    self.first.answered();
                    let answer = Answered {
                        output,
                        latency_s,
                        attempts: attempt,
                        redacted: 0,
                        cached: false,
                        cached_from: None,
                        recorded,
                    };
                    let ended = self.answered(question, answer, key.as_deref());
                    // Whether it was stored or not: the waiters check.
                    if let Some(claim) = claim.take() {
                        claim.answered();
                    }
                    Next::Ended(Box::new(ended))
                }
                Err(error) => self.failed(&mut tries, question, error, ended),
            };
            match next {
                Next::Ended(ended) => return *ended,
                Next::Again(pause) => {
                    self.stopper.pause(pause);
                    tries.took(pause);
                }
            }
        }
    }

    /// Asks once more, to distinguish a flip from flakiness. The answer counts in no metric.
    pub(super) fn confirm(&self, question: &Question) -> Result<Answered, AgentError> {
        let Attempted {
            result,
            latency_s,
            is_recorded,
            ..
        } = loop {
            let Ok(turn) = self.throttle.turn(None) else {
                let message = "not asked again: the run ends";
                return Err(AgentError::of(FailureKind::Cancelled, message));
            };
            let attempted = AgentCaller::room().map_or_else(Attempted::failed, |room| {
                // Another conversation, of which nothing was said yet.
                let logs = self.logs(question, CONFIRM, &Arc::default());
                self.caller.attempt(question, CONFIRM, None, room, &logs)
            });
            self.throttle.finish(
                &turn,
                question.id(),
                &attempted.result,
                attempted.is_charged,
            );
            let is_short = |error: &AgentError| self.is_short(error);
            if !attempted.result.as_ref().is_err_and(is_short) {
                break attempted;
            }
        };
        let output = result.map_err(|mut error| {
            self.plan.redactor.agent_error(&mut error, &mut 0);
            error
        })?;
        let answer = Answered {
            output,
            latency_s,
            attempts: 1,
            redacted: 0,
            cached: false,
            cached_from: None,
            recorded: is_recorded,
        };
        self.ledger.answered_again(question, &answer);
        Ok(answer)
    }

    /// Where an attempt is recorded.
    fn logs(
        &self,
        question: &Question,
        attempt: u32,
        messages: &Arc<Mutex<Vec<TurnMessage>>>,
    ) -> AttemptLogs {
        AttemptLogs {
            progress: self.ledger.progress(question, attempt),
            talk: self.ledger.talk(question, attempt, messages),
            budget: self.budget(),
        }
    }

    /// The limits of one conversation, whose first request was allowed with its turn.
    fn budget(&self) -> TalkBudget {
        let (first, throttle) = (AtomicBool::new(true), Arc::clone(&self.throttle));
        let charged = Arc::clone(&self.throttle);
        let waited_us = Arc::<AtomicU64>::default();
        let waited = Arc::clone(&waited_us);
        let allows = move || {
            let started = clock::now();
            let is_allowed = first.swap(false, Ordering::Relaxed) || throttle.go_on();
            let us = clock::since(started).as_micros();
            waited.fetch_add(u64::try_from(us).unwrap_or(u64::MAX), Ordering::Relaxed);
            is_allowed
        };
        TalkBudget {
            allows: Arc::new(allows),
            charge: Arc::new(move |usage| charged.replied(usage)),
            waited_us,
        }
    }

    /// Whether this machine had no room to ask. Gives a notice once, and another if that lasts.
    fn is_short(&self, error: &AgentError) -> bool {
        if error.kind != FailureKind::Shortage {
            return false;
        }
        let why = error.message.split("; hint: ").next().unwrap_or_default();
        if !self.notified_shortage.swap(true, Ordering::Relaxed) {
            let notice = format!(
                "this machine is short of resources, so fewer questions run in parallel: {why}"
            );
            self.emitter.notice(&notice);
        }
        if self.throttle.lacks_room_for() >= STUCK
            && !self.notified_stuck.swap(true, Ordering::Relaxed)
        {
            let most = LONGEST_SHORTAGE.as_secs();
            self.emitter.notice(&format!(
                "this machine has no resources for a single question; the run ends if this lasts {most} s: {why}"
            ));
        }
        true
    }

    /// Gives a notice for limits that count less than was used, because not every answer reports its usage.
    pub(super) fn notify_unenforced_limits(&self) {
        for notice in self.throttle.unenforced(&self.plan.eval.limits) {
            self.emitter.notice(&notice);
        }
    }

    /// Returns the item itself where that is the answer: no request, no turn, no attempt. An empty or oversized item
    /// fails like an attempt.
    fn rendered(&self, question: &Question, earlier: u32) -> Option<Answered> {
        let eval = &self.plan.eval;
        let output = attempt::rendered(eval.agent.item_parts()?, &question.item.sample).ok()?;
        Some(Answered {
            output: check_size(output, &eval.limits).ok()?,
            latency_s: 0.0,
            attempts: earlier,
            redacted: 0,
            cached: false,
            cached_from: None,
            recorded: false,
        })
    }

    /// Returns the cached answer. One that is too long for the current limits is asked again, and fails as it would
    /// without a cache.
    fn recall(&self, key: &str, earlier: u32) -> Option<Answered> {
        let answer = self.cache.as_ref()?.recall(key, earlier)?;
        let output = check_size(answer.output, &self.plan.eval.limits).ok()?;
        Some(Answered { output, ..answer })
    }

    /// Handles an attempt that gave an answer: it is written to disk before it is scored.
    fn answered(&self, question: &Question, answer: Answered, key: Option<&str>) -> Ended {
        let Some(redacted) = self.ledger.answered(question, &answer) else {
            // The disk is full. An answer that is not on disk does not count, and is asked again.
            let attempts = answer.attempts;
            return Ended::Stopped { attempts };
        };
        if redacted == 0
            && let (Some(cache), Some(key)) = (&self.cache, key)
        {
            cache.remember(question, key, &answer);
        }
        Ended::Answered(answer)
    }

    /// Whether the agent was ended together with the whole run. That is not its own failure; no further attempt is
    /// made.
    fn ends_with_the_job(&self, error: &AgentError) -> bool {
        if !was_terminated(error.signal, error.exit_code) {
            return false;
        }
        self.stopper.pause(END_OF_JOB);
        self.stopper.is_stopped()
    }

    /// Handles an attempt that gave no answer.
    fn failed(
        &self,
        tries: &mut Tries<'_>,
        question: &Question,
        error: AgentError,
        (latency_s, is_recorded): (f64, bool),
    ) -> Next {
        let attempts = tries.started();
        let stopped = Next::Ended(Box::new(Ended::Stopped { attempts }));
        let is_the_runs = match error.kind {
            FailureKind::Cancelled => true,
            // The run's time is up, not the sample's: a resumed run asks it again.
            FailureKind::TimedOut => self.stopper.is_past_deadline(),
            // Reported once, by the first sample that hit it.
            FailureKind::Misconfigured => self.stopper.is_stopped(),
            _ => false,
        };
        if is_the_runs || self.ends_with_the_job(&error) {
            return stopped;
        }
        let is_wrong = {
            let eval = &self.plan.eval;
            eval.errors.are_wrong(&error, &*eval.agent)
        };
        let mut blanked = Blanked::default();
        self.plan
            .redactor
            .agent_error(&mut error.clone(), &mut blanked);
        self.plan.redactor.note(question.id(), &blanked);
        let is_repeated = self.first.failed(&error);
        let is_everyones = self.throttle.is_everyones(&error);
        let hold = self.throttle.rate_limit_pause();
        let (error, pause) = tries.failed(error, is_everyones, hold);
        let clean = self.ledger.failed(question, attempts, &error, latency_s);
        if error.kind == FailureKind::Misconfigured {
            self.stopper.misconfigured(&error);
            return stopped;
        }
        self.emitter.emit(&Event::AttemptFailed {
            id: question.id(),
            epoch: question.epoch,
            attempt: attempts,
            error: &clean,
            retry: pause.is_some(),
        });
        if error.kind == FailureKind::Unusable {
            self.stopper.unusable(&clean);
        }
        if is_repeated {
            self.stopper.repeated_failure(&clean);
        }
        match pause {
            Some(pause) => Next::Again(pause),
            None => Next::Ended(Box::new(Ended::Failed {
                error,
                latency_s,
                attempts,
                is_wrong,
                is_recorded,
            })),
        }
    }

    /// The end of a question that may not be asked: the run stops, or it would have to wait for a rate limit for too long.
    fn without_turn(&self, why: &NoTurn, question: &Question, tries: &mut Tries<'_>) -> Ended {
        let attempts = tries.started();
        let error = tries.waited_too_long();
        let Some(error) = error.filter(|_| matches!(why, NoTurn::TooLate)) else {
            return Ended::Stopped { attempts };
        };
        let clean = self.ledger.failed(question, attempts, &error, 0.0);
        self.emitter.emit(&Event::AttemptFailed {
            id: question.id(),
            epoch: question.epoch,
            attempt: attempts,
            error: &clean,
            retry: false,
        });
        let eval = &self.plan.eval;
        let is_wrong = eval.errors.are_wrong(&error, &*eval.agent);
        Ended::Failed {
            error,
            latency_s: 0.0,
            attempts,
            is_wrong,
            is_recorded: false,
        }
    }
}
