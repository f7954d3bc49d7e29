//! Answers that were given before: taken instead of asking, and kept after asking.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::Session;
use super::outcome::skipped;
use crate::data::{Outcome, Output};
use crate::event::Event;
use crate::plan::{Item, Plan};
use crate::store::cache::CacheUse;
use crate::store::cache::answers::{AnswerCache, Notice};
use crate::store::cache::key::Asked;
use crate::store::events::{Kind, StoredEvent};
use crate::system::lock::lock;
use crate::system::panics;

/// The cache of a run.
pub(super) struct Cached {
    answers: AnswerCache,
    usage: CacheUse,
    /// What the agent was when the run began.
    fingerprint: String,
    /// The agent is not any more what it was then.
    changed: AtomicBool,
}

impl Cached {
    /// The cache that the plan's eval wants. Why there is none although it wants one is a notice of the plan.
    pub(super) fn open(plan: &mut Plan) -> Option<Self> {
        let eval = &plan.eval;
        if eval.cache.usage == CacheUse::Off {
            return None;
        }
        let Some(fingerprint) = fingerprint(plan) else {
            plan.notices.push(
                "the cache is off: the agent does not say when its answers may change \
                 (`Agent::fingerprint`)"
                    .to_owned(),
            );
            return None;
        };
        Some(Self {
            answers: AnswerCache::new(eval.cache_folder()),
            usage: eval.cache.usage,
            fingerprint,
            changed: AtomicBool::new(false),
        })
    }

    /// Makes the folder, once that of the run is there.
    pub(super) fn prepare(&self) {
        self.answers.prepare();
    }
}

/// What the agent says that it is; one that panics says nothing.
fn fingerprint(plan: &Plan) -> Option<String> {
    panics::catch(|| plan.eval.agent.fingerprint()).ok()?
}

impl Session {
    /// The key of a question's answer. `None` if it is neither looked for nor kept.
    pub(super) fn key(&self, (item, epoch): (&Item, u32)) -> Option<String> {
        let cache = self.cache.as_ref()?;
        if cache.changed.load(Ordering::Relaxed) {
            return None;
        }
        if fingerprint(&self.plan).as_ref() != Some(&cache.fingerprint) {
            cache.changed.store(true, Ordering::Relaxed);
            let notice = "the agent changed while it ran: from now on the cache is left alone";
            self.notice(cache.answers.once("changed", notice));
            return None;
        }
        let eval = &self.plan.eval;
        let asked = Asked {
            fingerprint: &cache.fingerprint,
            spec: eval.config.get("agent").unwrap_or(&Value::Null),
            options: &eval.agent_options,
            prompt: &self.plan.prompt(item),
            sample: &item.sample,
            epoch,
        };
        // What cannot be read will fail its sample.
        asked.key().ok()
    }

    /// What became of a question whose answer was given before.
    pub(super) fn recall(
        &self,
        (item, epoch): (&Item, u32),
        key: &str,
        attempts: u32,
    ) -> Option<Outcome> {
        let cache = self.cache.as_ref()?;
        if cache.usage != CacheUse::On {
            return None;
        }
        let (answer, notice) = cache.answers.get(key);
        self.notice(notice);
        let (output, latency) = answer?;
        // One that is too long by now is asked again, and fails as it would without a cache.
        let output = self.check_size(output).ok()?;
        // Journalled as any answer, so that a resumed run knows it, whatever becomes of the cache.
        let mut event = StoredEvent::new(&item.sample.id, epoch, attempts, Kind::Answered);
        let mut clean = output.clone();
        self.plan.redactor.output(&mut clean, &mut event.redacted);
        event.output = Some(clean);
        event.latency_s = Some(latency);
        event.cached = true;
        if !self.journal(&event) {
            return Some(skipped(attempts));
        }
        let mut outcome = self.judge(item, output, latency, attempts);
        outcome.cached = true;
        Some(outcome)
    }

    /// Keeps an answer, unless what was asked changed meanwhile.
    pub(super) fn remember(
        &self,
        question: (&Item, u32),
        key: &str,
        output: &Output,
        latency: f64,
    ) {
        let Some(cache) = &self.cache else { return };
        if self.key(question).as_deref() == Some(key) {
            self.notice(cache.answers.put(key, output, latency));
        }
    }

    /// Tells something, at once and at the end.
    pub(super) fn notice(&self, notice: Notice) {
        let Some(notice) = notice else { return };
        let notice = self.plan.redactor.text(&notice, &mut 0).into_owned();
        self.emit(&Event::Notice {
            eval: &self.plan.eval.name,
            notice: &notice,
        });
        lock(&self.noticed).push(notice);
    }
}
