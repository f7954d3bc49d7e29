//! The cache of answers: reused instead of asking, stored after asking.

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::eval::Eval;
use crate::eval::plan::Plan;
use crate::run::judge::judges::ReplyCache;
use crate::run::session::emitter::Emitter;
use crate::run::session::question::Question;
use crate::store::cache::CacheKeyInput;
use crate::store::cache::CacheUse;
use crate::store::cache::answers::{AnswerCache, Notice};
use crate::store::cache::{CacheClaim, Claimed, claim};
use crate::store::journal::past::Answered;
use crate::system::file::alongside::Alongside;
use crate::system::lock;
use crate::system::panics;
use crate::system::process::FileHashes;
use crate::text::hash::Hasher;

/// How often a waiter checks whether another run has the answer.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// The answer cache of a run.
pub(in crate::run) struct Cached {
    plan: Arc<Plan>,
    emitter: Arc<Emitter>,
    answers: AnswerCache,
    usage: CacheUse,
    /// The name of this run for later runs that reuse its answers.
    requested_by: Option<String>,
    /// The agent's fingerprint when the run started, with the files beside its program.
    fingerprint: String,
    alongside: FilesAlongside,
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
                "the cache is off: the agent has no fingerprint that shows when its answers may change \
                 (`Agent::fingerprint`)",
            );
            return None;
        };
        let alongside = FilesAlongside::of(&plan.eval);
        Some(Self {
            plan: Arc::clone(plan),
            emitter: Arc::clone(emitter),
            answers: AnswerCache::new(eval.cache_folder()),
            usage: eval.cache.usage,
            requested_by: None,
            fingerprint: alongside.with(fingerprint),
            alongside,
            changed: AtomicBool::new(false),
        })
    }

    /// Creates the cache folder, once the run's folder exists; `requested_by` names the run.
    pub(in crate::run) fn prepare(&mut self, requested_by: String) {
        self.requested_by = Some(requested_by);
        self.answers.prepare();
    }

    /// The same cache, for the replies of judges.
    pub(in crate::run) fn replies(&self) -> ReplyCache {
        ReplyCache::new(
            AnswerCache::new(self.plan.eval.cache_folder()),
            self.usage,
            self.requested_by.clone(),
            (Arc::clone(&self.plan), Arc::clone(&self.emitter)),
        )
    }

    /// The cache key of a question. `None` if it is neither looked up nor stored.
    pub(in crate::run) fn key(&self, question: &Question) -> Option<String> {
        let is_nobodys = self.plan.eval.agent.item_parts().is_some();
        if is_nobodys || self.changed.load(Ordering::Relaxed) {
            return None;
        }
        let now = fingerprint(&self.plan).map(|agent| self.alongside.with(agent));
        if now.as_ref() != Some(&self.fingerprint) || self.alongside.has_changed() {
            self.changed.store(true, Ordering::Relaxed);
            let notice = "the agent or a file next to its program changed during the run: the cache is no longer used";
            self.notify(self.answers.once("changed", notice));
            return None;
        }
        let eval = &self.plan.eval;
        let input = CacheKeyInput {
            fingerprint: &self.fingerprint,
            spec: eval.config.get("agent").unwrap_or(&Value::Null),
            options: &eval.agent_options,
            prompt: &question.prompt(&self.plan),
            sample: &question.item.sample,
            epoch: question.epoch,
            again: question.again(),
            fault: question.fault.map(|fault| (fault.turn, fault.message)),
        };
        // An attachment that cannot be read will fail its sample.
        input.key().ok()
    }

    /// The cached answer, if it may be used. `attempts` is the number of attempts in this run.
    pub(in crate::run) fn recall(&self, key: &str, attempts: u32) -> Option<Answered> {
        if self.usage != CacheUse::On {
            return None;
        }
        let (answer, notice) = self.answers.get(key);
        self.notify(notice);
        let cached = answer?;
        Some(Answered {
            output: cached.output,
            latency_s: cached.latency_s,
            attempts,
            redacted: 0,
            cached: true,
            cached_from: cached.requested_by,
            recorded: false,
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
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Stores an answer, unless the agent or the question changed meanwhile.
    pub(in crate::run) fn remember(&self, question: &Question, key: &str, answer: &Answered) {
        if self.key(question).as_deref() == Some(key) {
            let requested_by = self.requested_by.clone();
            let put = self
                .answers
                .put(key, &answer.output, answer.latency_s, requested_by);
            self.notify(put);
        }
    }

    fn notify(&self, notice: Notice) {
        if let Some(notice) = notice {
            self.emitter.notice(&notice);
        }
    }
}

/// Modules and prompts beside the agent's program, as they were when the run started.
struct FilesAlongside {
    alongside: Alongside,
    written: PathBuf,
    hashes: FileHashes,
    /// Of all contents; empty without files.
    hash: String,
    /// When they are read again: rarely where that takes long.
    next: Mutex<Instant>,
}

impl FilesAlongside {
    /// The part of a run that may be spent on reading them again.
    const EFFORT: u32 = 20;

    fn of(eval: &Eval) -> Self {
        let mut files = Self {
            alongside: Alongside::of(&eval.agent_files()),
            written: eval.output_folder(),
            hashes: FileHashes::default(),
            hash: String::new(),
            next: Mutex::new(Instant::now()),
        };
        files.hash = files.read();
        files
    }

    fn read(&self) -> String {
        let started = Instant::now();
        let mut found = false;
        let mut hash = Hasher::default();
        self.alongside.visit(&self.written, |entry| {
            if let Some(content) = self.hashes.file(entry.path()) {
                found = true;
                let path = entry.path().as_os_str().as_encoded_bytes();
                hash = std::mem::take(&mut hash).part(path).part(content);
            }
        });
        *lock(&self.next) = Instant::now() + started.elapsed() * Self::EFFORT;
        if found { hash.hex() } else { String::new() }
    }

    /// A fingerprint of the agent and these files.
    fn with(&self, agent: String) -> String {
        match &*self.hash {
            "" => agent,
            hash => format!("{agent} {hash}"),
        }
    }

    fn has_changed(&self) -> bool {
        let is_due = Instant::now() >= *lock(&self.next);
        is_due && self.read() != self.hash
    }
}

/// The fingerprint that the agent reports; `None` if it panics.
pub(in crate::run) fn fingerprint(plan: &Plan) -> Option<String> {
    panics::catch(|| plan.eval.agent.fingerprint()).ok()?
}
