//! `JudgeClient`: where the scorers of one question ask judges.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::slot::Called;
use super::{JudgeJournal, Judging};
use crate::data::{JudgeCall, JurorVote, Unread};
use crate::run::session::question::CONFIRM;
use crate::scorer::ask::client::{AgentClient, AskOutcome, JudgeRequest};
use crate::store::journal::{Kind, StoredEvent};
use crate::system::lock;

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Subject<'a> {
    /// The id of the sample.
    pub(in crate::run) id: &'a str,
    pub(in crate::run) epoch: u32,
    /// Whether the answer only confirms a flip.
    pub(in crate::run) confirms: bool,
}

impl Subject<'_> {
    /// The event of a request to a judge about this subject, without the reply.
    pub(super) fn event(&self, call: &JudgeCall, kind: Kind) -> StoredEvent {
        let mut event = StoredEvent::of_judge(self.id, self.epoch, call, kind);
        if self.confirms {
            event.attempt = CONFIRM;
        }
        event
    }
}

/// The client for one question.
pub(in crate::run) struct JudgeClient<'a> {
    judging: &'a Judging,
    journal: &'a dyn JudgeJournal,
    subject: Subject<'a>,
    /// Known replies of judges to this question.
    known: Vec<JudgeCall>,
    /// Whether the known replies come from another run, which is being rescored.
    is_stored: bool,
    /// The requests of this run, in order.
    calls: Mutex<Vec<JudgeCall>>,
    stopped: AtomicBool,
}

impl<'a> JudgeClient<'a> {
    pub(in crate::run) fn new(
        judging: &'a Judging,
        journal: &'a dyn JudgeJournal,
        subject: Subject<'a>,
        known: Vec<JudgeCall>,
    ) -> Self {
        Self {
            judging,
            journal,
            subject,
            known,
            is_stored: false,
            calls: Mutex::default(),
            stopped: AtomicBool::new(false),
        }
    }

    /// Marks the known replies as those of another run.
    #[must_use]
    pub(in crate::run) fn stored(self) -> Self {
        Self {
            is_stored: true,
            ..self
        }
    }

    /// The requests made, and whether the run stopped before every reply came: then there is no verdict.
    pub(in crate::run) fn finish(self) -> (Vec<JudgeCall>, bool) {
        let calls = self.calls.into_inner();
        let calls = calls.unwrap_or_else(std::sync::PoisonError::into_inner);
        (calls, self.stopped.into_inner())
    }

    fn keep(&self, call: JudgeCall) {
        lock(&self.calls).push(call);
    }

    /// A new call for a request.
    fn call(scorer: &str, request: &JudgeRequest<'_>) -> JudgeCall {
        JudgeCall {
            scorer: scorer.to_owned(),
            key: request.key.clone(),
            repeat: request.repeat,
            again: request.again,
            form: request.form,
            length: request.length,
            ..JudgeCall::default()
        }
    }

    /// A known reply, if there is one.
    fn known(&self, call: JudgeCall, request: &JudgeRequest<'_>) -> Option<JudgeCall> {
        let mut replies = self
            .known
            .iter()
            .filter(|known| known.replies_to(&call.key));
        // Two scorers may have asked the same, such as a judge on its own and in a jury: each gets its own reply.
        let own = replies.clone().find(|known| known.scorer == call.scorer);
        if let Some(known) = own.or_else(|| replies.next()) {
            return Some(JudgeCall {
                scorer: call.scorer,
                repeat: call.repeat,
                again: call.again,
                length: call.length,
                unread: None,
                vote: None,
                stored: known.stored || self.is_stored,
                ..known.clone()
            });
        }
        let cache = self.judging.cache.as_ref()?;
        let (output, latency_s) = cache.recall(&self.subject, request)?;
        let call = JudgeCall {
            output: Some(output),
            latency_s,
            cached: true,
            ..call
        };
        // Recorded like any reply, so that a resumed run knows it even if the cache is gone.
        self.journal
            .record_reply(&self.subject, &call)
            .then_some(call)
    }
}

impl AgentClient for JudgeClient<'_> {
    fn stops(&self) -> bool {
        let stops = self.judging.stopper.is_stopped();
        if stops {
            self.stopped.store(true, Ordering::Relaxed);
        }
        stops
    }

    fn recall(&self, scorer: &str, request: &JudgeRequest<'_>) -> Option<AskOutcome> {
        let known = self.known(Self::call(scorer, request), request)?;
        let result = AskOutcome::again(&known);
        self.keep(known);
        Some(result)
    }

    fn ask(&self, scorer: &str, request: &JudgeRequest<'_>) -> AskOutcome {
        if self.stops() {
            return AskOutcome::Stopped;
        }
        let mut call = Self::call(scorer, request);
        let slot = self.judging.slot(request.agent, scorer, request.policy);
        let called = slot.ask(
            self.judging,
            self.journal,
            &self.subject,
            request,
            &mut call,
        );
        match called {
            Called::FormRefused => return AskOutcome::FormRefused,
            Called::Stopped => {
                self.stopped.store(true, Ordering::Relaxed);
                return AskOutcome::Stopped;
            }
            Called::Failed => {}
            Called::Reply => {
                if let Some(cache) = &self.judging.cache {
                    cache.remember(&self.subject, request, &call);
                }
            }
        }
        let result = AskOutcome::again(&call);
        self.keep(call);
        result
    }

    fn unread(&self, scorer: &str, request: &JudgeRequest<'_>, reason: Unread) {
        let mut calls = lock(&self.calls);
        let of = |call: &&mut JudgeCall| call.key == request.key && call.scorer == scorer;
        if let Some(call) = calls.iter_mut().rev().find(of) {
            call.unread = Some(reason);
        }
    }

    fn voted(&self, scorer: &str, vote: JurorVote) {
        let mut calls = lock(&self.calls);
        let first = |call: &&mut JudgeCall| call.repeat == 0 && call.scorer == scorer;
        if let Some(call) = calls.iter_mut().rev().find(first) {
            call.vote = Some(Box::new(vote));
        }
    }

    fn sample_id(&self) -> Option<&str> {
        Some(self.subject.id)
    }
}
