//! `Judging`: the judges of a run, shared by all of its questions.
//!
//! A scorer that asks an agent passes its request to the [`JudgeClient`] of its question. That looks for a reply of an
//! earlier part of the run, or of the run being rescored, then in the cache; otherwise a [`JudgeSlot`] asks. There is
//! one per judge, with its own limits, retries and throttle; the budget is the run's. A reply is in the
//! [books](JudgeBooks) before the scorer sees it.

mod client;
mod reply_cache;
mod slot;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::agent::Agent;
use crate::data::{AgentError, JudgeCall};
use crate::eval::limits::Limits;
use crate::run::ask::throttle::Throttle;
use crate::run::session::stop::Stopper;
use crate::scorer::ask::client::RequestPolicy;
use crate::store::RunDir;
use crate::store::events::{Kind, StoredEvent};
use crate::store::files::SCRATCH;
use crate::system::lock;
use crate::text::redact::Redactor;
use slot::JudgeSlot;

pub(in crate::run) use client::{JudgeClient, Subject};
pub(in crate::run) use reply_cache::ReplyCache;

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
