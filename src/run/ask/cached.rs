//! The cache of answers: reused instead of asking, stored after asking.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::eval::plan::Plan;
use crate::run::judge::judges::KeptReplies;
use crate::run::session::emitter::Emitter;
use crate::run::session::question::Question;
use crate::store::cache::CacheUse;
use crate::store::cache::answers::{AnswerCache, Notice};
use crate::store::cache::claim::{CacheClaim, Claimed, claim};
use crate::store::cache::key::AskedFor;
use crate::store::events::past::Answered;
use crate::system::panics;

/// How often a waiter checks whether another run has the answer.
const GLANCE: Duration = Duration::from_millis(25);

/// The answer cache of a run.
pub(in crate::run) struct Cached {
    plan: Arc<Plan>,
    emitter: Arc<Emitter>,
    answers: AnswerCache,
    usage: CacheUse,
    /// The name of this run for later runs that reuse its answers.
    asked_by: Option<String>,
    /// The agent's fingerprint when the run started.
    fingerprint: String,
    /// Whether the agent has changed since.
    changed: AtomicBool,
}

impl Cached {
    /// Opens the cache if the plan's eval wants one. If it cannot be opened, a notice says why.
    pub(in crate::run) fn open(plan: &Arc<Plan>, emitter: &Arc<Emitter>) -> Option<Self> {
        let eval = &plan.eval;
        if eval.cache.usage == CacheUse::Off {
            return None;
        }
        let Some(fingerprint) = fingerprint(plan) else {
            emitter.note(
                "the cache is off: the agent does not say when its answers may change \
                 (`Agent::fingerprint`)",
            );
            return None;
        };
        Some(Self {
            plan: Arc::clone(plan),
            emitter: Arc::clone(emitter),
            answers: AnswerCache::new(eval.cache_folder()),
            usage: eval.cache.usage,
            asked_by: None,
            fingerprint,
            changed: AtomicBool::new(false),
        })
    }

    /// Creates the cache folder, once the run's folder exists; `asked_by` names the run.
    pub(in crate::run) fn prepare(&mut self, asked_by: String) {
        self.asked_by = Some(asked_by);
        self.answers.prepare();
    }

    /// The same cache, for the replies of judges.
    pub(in crate::run) fn replies(&self) -> KeptReplies {
        KeptReplies::new(
            AnswerCache::new(self.plan.eval.cache_folder()),
            self.usage,
            self.asked_by.clone(),
            (Arc::clone(&self.plan), Arc::clone(&self.emitter)),
        )
    }

    /// The cache key of a question. `None` if it is neither looked up nor stored.
    pub(in crate::run) fn key(&self, question: &Question) -> Option<String> {
        let is_nobodys = self.plan.eval.agent.shown_parts().is_some();
        if is_nobodys || self.changed.load(Ordering::Relaxed) {
            return None;
        }
        if fingerprint(&self.plan).as_ref() != Some(&self.fingerprint) {
            self.changed.store(true, Ordering::Relaxed);
            let notice = "the agent changed while it ran: from now on the cache is left alone";
            self.tell(self.answers.once("changed", notice));
            return None;
        }
        let eval = &self.plan.eval;
        let asked = AskedFor {
            fingerprint: &self.fingerprint,
            spec: eval.config.get("agent").unwrap_or(&Value::Null),
            options: &eval.agent_options,
            prompt: &question.prompt(&self.plan),
            sample: &question.item.sample,
            epoch: question.epoch,
            again: question.again(),
        };
        // An attachment that cannot be read will fail its sample.
        asked.key().ok()
    }

    /// The cached answer, if it may be used. `attempts` is the number of attempts in this run.
    pub(in crate::run) fn recall(&self, key: &str, attempts: u32) -> Option<Answered> {
        if self.usage != CacheUse::On {
            return None;
        }
        let (answer, notice) = self.answers.get(key);
        self.tell(notice);
        let kept = answer?;
        Some(Answered {
            output: kept.output,
            latency_s: kept.latency_s,
            attempts,
            redacted: 0,
            cached: true,
            cached_from: kept.asked_by,
        })
    }

    /// Waits while the same question is being asked elsewhere, in this run or another. Gives the answer or the right to
    /// ask, or neither where each asks on its own. `is_over` ends the wait.
    pub(in crate::run) fn await_turn(
        &self,
        key: &str,
        attempts: u32,
        is_over: impl Fn() -> bool,
    ) -> (Option<Answered>, Option<CacheClaim>) {
        if self.usage != CacheUse::On {
            return (None, None);
        }
        let path = self.answers.path(key);
        let mut waited = None;
        loop {
            let claimed = claim(&path, waited.take());
            // It may have been stored since the last check.
            let (ours, is_ours) = match claimed {
                Claimed::Ours(claim) => (Some(claim), true),
                Claimed::Nobodys => (None, true),
                Claimed::Theirs(file) => {
                    waited = Some(file);
                    (None, is_over())
                }
            };
            if is_ours {
                let answer = self.recall(key, attempts);
                return match (answer, ours) {
                    (Some(answer), Some(claim)) => {
                        claim.answered();
                        (Some(answer), None)
                    }
                    (answer, ours) => (answer, ours),
                };
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// Stores an answer, unless the agent or the question changed meanwhile.
    pub(in crate::run) fn remember(&self, question: &Question, key: &str, answer: &Answered) {
        if self.key(question).as_deref() == Some(key) {
            let asked_by = self.asked_by.clone();
            let put = self
                .answers
                .put(key, &answer.output, answer.latency_s, asked_by);
            self.tell(put);
        }
    }

    fn tell(&self, notice: Notice) {
        if let Some(notice) = notice {
            self.emitter.notice(&notice);
        }
    }
}

/// The fingerprint that the agent reports; `None` if it panics.
pub(in crate::run) fn fingerprint(plan: &Plan) -> Option<String> {
    panics::catch(|| plan.eval.agent.fingerprint()).ok()?
}
