//! `Judging`: the judges of a run, shared by all of its questions.
//!
//! A scorer that asks an agent passes its request to the [`JudgeClient`] of its question. That looks for a reply of an
//! earlier part of the run, or of the run being rescored, then in the cache; otherwise a [`JudgeSlot`] asks. There is
//! one per judge, with its own limits, retries and throttle; the budget is the run's. A reply is in the
//! [books](JudgeBooks) before the scorer sees it.

mod client;
mod slot;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::Value;

use crate::agent::Agent;
use crate::data::{AgentError, JudgeCall, Output};
use crate::eval::limits::Limits;
use crate::eval::plan::Plan;
use crate::run::ask::throttle::Throttle;
use crate::run::session::emitter::Emitter;
use crate::run::session::stop::Stopper;
use crate::scorer::ask::client::{JudgeRequest, RequestPolicy};
use crate::store::RunDir;
use crate::store::cache::CacheUse;
use crate::store::cache::answers::{AnswerCache, Notice};
use crate::store::files::SCRATCH;
use crate::store::journal::{Kind, StoredEvent};
use crate::system::{file, lock, panics};
use crate::text::hash::Hasher;
use crate::text::redact::Redactor;
use slot::JudgeSlot;

pub(in crate::run) use client::{JudgeClient, Subject};

/// Runs the requests to judges.
pub(in crate::run) struct Judging {
    /// The limits of the run.
    pub(in crate::run) limits: Limits,
    /// How many runs, this one included, ask the same judges at the same time.
    pub(in crate::run) parts: u32,
    pub(in crate::run) stopper: Arc<Stopper>,
    /// The agent's throttle, which enforces the shared budget.
    pub(in crate::run) budget: Arc<Throttle>,
    pub(in crate::run) cache: Option<ReplyCache>,
    /// Paths that a sandboxed judge must not see.
    pub(in crate::run) hidden: Arc<[PathBuf]>,
    /// The parent of attempt folders.
    pub(in crate::run) scratch: PathBuf,
    pub(in crate::run) started: Instant,
    pub(in crate::run) slots: JudgeSlots,
    pub(in crate::run) out: JudgesOut,
}

/// How many judges of each jury cannot judge at all, by the jury's name.
#[derive(Default)]
pub(in crate::run) struct JudgesOut(Mutex<BTreeMap<String, usize>>);

impl JudgesOut {
    /// Counts one more judge of a jury as out, if fewer than `most` are.
    fn one_more(&self, jury: &str, most: usize) -> bool {
        let mut juries = lock(&self.0);
        let out = juries.entry(jury.to_owned()).or_default();
        let may = *out < most;
        *out += usize::from(may);
        may
    }
}

/// One for each judge that was asked.
#[derive(Default)]
pub(in crate::run) struct JudgeSlots(Mutex<Vec<Arc<JudgeSlot>>>);

/// Records the replies of judges.
pub(in crate::run) trait JudgeJournal: Sync {
    /// Redacts what is written.
    fn redactor(&self) -> &Redactor;

    /// Appends to the journal; `false` if that fails, which stops the run.
    fn append(&self, event: &StoredEvent) -> bool;

    /// Reports a recorded request without a reply. `again` if it is repeated.
    fn notify_failed(
        &self,
        subject: &Subject<'_>,
        call: &JudgeCall,
        error: &AgentError,
        again: bool,
    );

    /// Gives a notice about a judge.
    fn notice(&self, notice: &str);

    /// Records a reply, redacted; `false` if that fails. A reply that is not on disk does not count.
    fn record_reply(&self, subject: &Subject<'_>, call: &JudgeCall) -> bool {
        let mut event = subject.event(call, Kind::Judged);
        let mut clean = call.output.clone().unwrap_or_default();
        self.redactor().output(&mut clean, &mut event.redacted);
        event.output = Some(clean);
        self.append(&event)
    }

    /// Records a request without a reply that is no failure, as when an endpoint does not support a form and the next
    /// is tried. Returns its error, redacted.
    fn unanswered(
        &self,
        subject: &Subject<'_>,
        call: &JudgeCall,
        error: &AgentError,
    ) -> AgentError {
        let mut clean = error.clone();
        self.redactor().agent_error(&mut clean, &mut 0);
        let mut event = subject.event(call, Kind::JudgeFailed);
        event.error = Some(clean.clone());
        self.append(&event);
        clean
    }

    /// Records and reports a request that failed.
    fn failed(
        &self,
        subject: &Subject<'_>,
        call: &JudgeCall,
        error: &AgentError,
        again: bool,
    ) -> AgentError {
        let clean = self.unanswered(subject, call, error);
        self.notify_failed(subject, call, &clean, again);
        clean
    }
}

impl Judging {
    /// For a run in this directory, with no cache and nothing hidden.
    pub(in crate::run) fn new(
        limits: Limits,
        stopper: &Arc<Stopper>,
        budget: &Arc<Throttle>,
        dir: &RunDir,
        started: Instant,
    ) -> Self {
        Self {
            limits,
            parts: 1,
            stopper: Arc::clone(stopper),
            budget: Arc::clone(budget),
            cache: None,
            hidden: Arc::default(),
            scratch: dir.file(SCRATCH),
            started,
            slots: JudgeSlots::default(),
            out: JudgesOut::default(),
        }
    }

    /// The slot of a judge, created when it is first asked.
    fn slot(&self, agent: &Arc<dyn Agent>, scorer: &str, policy: &RequestPolicy) -> Arc<JudgeSlot> {
        let mut slots = lock(&self.slots.0);
        if let Some(slot) = slots.iter().find(|slot| slot.is_of(agent)) {
            return Arc::clone(slot);
        }
        let slot = Arc::new(JudgeSlot::new(self, agent, scorer, policy));
        slots.push(Arc::clone(&slot));
        slot
    }
}

// The cache of judges' replies across runs.
//
// The key identifies the judge completely: the identity of its agent (for an endpoint, its address too), the judge's
// configuration, and the exact prompt. Nothing is cached for a judge that does not identify itself.

/// A run's cache, as its judges use it.
pub(in crate::run) struct ReplyCache {
    answers: AnswerCache,
    usage: CacheUse,
    /// The name of this run for later runs that reuse its replies.
    requested_by: Option<String>,
    plan: Arc<Plan>,
    emitter: Arc<Emitter>,
}

impl ReplyCache {
    pub(in crate::run) fn new(
        answers: AnswerCache,
        usage: CacheUse,
        requested_by: Option<String>,
        (plan, emitter): (Arc<Plan>, Arc<Emitter>),
    ) -> Self {
        Self {
            answers,
            usage,
            requested_by,
            plan,
            emitter,
        }
    }

    /// The cached reply, if it may be used, with its original latency in seconds.
    fn recall(&self, subject: &Subject<'_>, request: &JudgeRequest<'_>) -> Option<(Output, f64)> {
        // Confirming a flip needs a new reply, like the agent's new answer.
        if self.usage != CacheUse::On || subject.confirms {
            return None;
        }
        let (cached, notice) = self.answers.get(&key(subject, request)?);
        self.notify(notice);
        let cached = cached?;
        Some((cached.output, cached.latency_s))
    }

    /// Caches a reply, except one that confirms a flip (only the first counts) or contains a secret.
    fn remember(&self, subject: &Subject<'_>, request: &JudgeRequest<'_>, call: &JudgeCall) {
        if subject.confirms {
            return;
        }
        if let (Some(key), Some(output)) = (key(subject, request), &call.output) {
            let mut secrets = 0;
            self.plan.redactor.output(&mut output.clone(), &mut secrets);
            if secrets > 0 {
                return;
            }
            let requested_by = self.requested_by.clone();
            let put = self.answers.put(&key, output, call.latency_s, requested_by);
            self.notify(put);
        }
    }

    fn notify(&self, notice: Notice) {
        if let Some(notice) = notice {
            self.emitter.notice(&notice);
        }
    }
}

/// The key of a reply; `None` if it is not known what may change it.
fn key(subject: &Subject<'_>, request: &JudgeRequest<'_>) -> Option<String> {
    let agent = panics::catch(|| request.agent.fingerprint()).ok()??;
    let mut hash = Hasher::default()
        .part("evaltest judge's reply")
        .part(agent)
        .part(&request.key)
        .part(request.form.as_str())
        .part(&request.prompt)
        .part(Value::Object((*request.options).clone()).to_string())
        .part(subject.id)
        .part(subject.epoch.to_le_bytes());
    for attached in request.files {
        let path = attached.resolve().ok()?;
        hash = hash.part(&attached.name).part(file::hash(&path).ok()?);
    }
    Some(hash.hex())
}
