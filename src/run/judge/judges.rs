//! `Judging`: the judges of a run, whoever of its questions they are asked about.
//!
//! A scorer that asks an agent hands what is to be asked to the [`JudgeDesk`] of its question. It looks whether an
//! earlier part of the run, or the run that is scored anew, had the reply already; then into the cache; else a
//! [`JudgeSeat`] asks, one for each judge, with limits, repetitions and a throttle of its own. The budget is the run's. What
//! was said is in the [books](JudgeBooks) before the scorer sees it.

mod desk;
mod kept;
mod seat;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::agent::Agent;
use crate::data::{AgentError, JudgeCall};
use crate::eval::limits::Limits;
use crate::run::ask::throttle::Throttle;
use crate::run::session::stop::Stopper;
use crate::scorer::ask::desk::Patience;
use crate::store::RunDir;
use crate::store::events::{Kind, StoredEvent};
use crate::store::files::SCRATCH;
use crate::system::lock::lock;
use crate::text::redact::Redactor;
use seat::JudgeSeat;

pub(in crate::run) use desk::{JudgeDesk, Subject};
pub(in crate::run) use kept::KeptReplies;

/// Has judges asked.
pub(in crate::run) struct Judging {
    /// Those of the run.
    pub(in crate::run) limits: Limits,
    /// How many runs elsewhere ask the same judges at the same time, this one included.
    pub(in crate::run) parts: u32,
    pub(in crate::run) stopper: Arc<Stopper>,
    /// That of the agent, which keeps the budget of all.
    pub(in crate::run) purse: Arc<Throttle>,
    pub(in crate::run) cache: Option<KeptReplies>,
    /// What a sandboxed judge must not see.
    pub(in crate::run) hidden: Arc<[PathBuf]>,
    /// Where folders of attempts are made.
    pub(in crate::run) scratch: PathBuf,
    pub(in crate::run) started: Instant,
    pub(in crate::run) seats: Seats,
    pub(in crate::run) out: JudgesOut,
}

/// By the name of a jury, how many of its judges cannot judge at all.
#[derive(Default)]
pub(in crate::run) struct JudgesOut(Mutex<BTreeMap<String, usize>>);

impl JudgesOut {
    /// Whether one more of a jury may be out, of which `most` may; it is out then.
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
pub(in crate::run) struct Seats(Mutex<Vec<Arc<JudgeSeat>>>);

/// Where it is written down what judges say.
pub(in crate::run) trait JudgeBooks: Sync {
    /// Blanks what must not be written.
    fn redactor(&self) -> &Redactor;

    /// Adds to the journal; `false` if that could not be written, and so the run stops.
    fn append(&self, event: &StoredEvent) -> bool;

    /// Tells people of a request without a reply, which is written down. `again` if it is repeated.
    fn tell_failed(&self, subject: &Subject<'_>, call: &JudgeCall, error: &AgentError, again: bool);

    /// Tells people something of a judge.
    fn notice(&self, notice: &str);

    /// Writes down a reply, redacted; `false` if it could not be written. What is not on disk was not said.
    fn said(&self, subject: &Subject<'_>, call: &JudgeCall) -> bool {
        let mut event = subject.event(call, Kind::Judged);
        let mut clean = call.output.clone().unwrap_or_default();
        self.redactor().output(&mut clean, &mut event.redacted);
        event.output = Some(clean);
        self.append(&event)
    }

    /// Writes down a request without a reply, as when an endpoint does not know its form, which is no failure: the next
    /// is tried. Gives its error, redacted.
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

    /// The same of a request that failed, with its news.
    fn failed(
        &self,
        subject: &Subject<'_>,
        call: &JudgeCall,
        error: &AgentError,
        again: bool,
    ) -> AgentError {
        let clean = self.unanswered(subject, call, error);
        self.tell_failed(subject, call, &clean, again);
        clean
    }
}

impl Judging {
    /// Of a run in this directory, with no cache and nothing hidden.
    pub(in crate::run) fn new(
        limits: Limits,
        stopper: &Arc<Stopper>,
        purse: &Arc<Throttle>,
        dir: &RunDir,
        started: Instant,
    ) -> Self {
        Self {
            limits,
            parts: 1,
            stopper: Arc::clone(stopper),
            purse: Arc::clone(purse),
            cache: None,
            hidden: Arc::default(),
            scratch: dir.file(SCRATCH),
            started,
            seats: Seats::default(),
            out: JudgesOut::default(),
        }
    }

    /// The seat of a judge; made when it is first asked.
    fn seat(&self, agent: &Arc<dyn Agent>, scorer: &str, patience: &Patience) -> Arc<JudgeSeat> {
        let mut seats = lock(&self.seats.0);
        if let Some(seat) = seats.iter().find(|seat| seat.is_of(agent)) {
            return Arc::clone(seat);
        }
        let seat = Arc::new(JudgeSeat::new(self, agent, scorer, patience));
        seats.push(Arc::clone(&seat));
        seat
    }
}
