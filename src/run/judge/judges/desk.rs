//! `JudgeDesk`: where the scorers of one question ask judges.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::seat::Called;
use super::{JudgeBooks, Judging};
use crate::data::{JudgeCall, JurorVote, Unread};
use crate::run::session::question::CONFIRM;
use crate::scorer::ask::desk::{Desk, Heard, JudgeRequest};
use crate::store::events::{Kind, StoredEvent};
use crate::system::lock::lock;

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
pub(in crate::run) struct JudgeDesk<'a> {
    judging: &'a Judging,
    books: &'a dyn JudgeBooks,
    subject: Subject<'a>,
    /// Known replies of judges to this question.
    known: Vec<JudgeCall>,
    /// Whether the known replies come from another run, which is being rescored.
    is_stored: bool,
    /// The requests of this run, in order.
    calls: Mutex<Vec<JudgeCall>>,
    stopped: AtomicBool,
}

impl<'a> JudgeDesk<'a> {
    pub(in crate::run) fn new(
        judging: &'a Judging,
        books: &'a dyn JudgeBooks,
        subject: Subject<'a>,
        known: Vec<JudgeCall>,
    ) -> Self {
        Self {
            judging,
            books,
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
        let kept = self.judging.cache.as_ref()?;
        let (output, latency_s) = kept.recall(&self.subject, request)?;
        let call = JudgeCall {
            output: Some(output),
            latency_s,
            cached: true,
            ..call
        };
        // Recorded like any reply, so that a resumed run knows it even if the cache is gone.
        self.books.said(&self.subject, &call).then_some(call)
    }
}

impl Desk for JudgeDesk<'_> {
    fn stops(&self) -> bool {
        let stops = self.judging.stopper.is_stopped();
        if stops {
            self.stopped.store(true, Ordering::Relaxed);
        }
        stops
    }

    fn recall(&self, scorer: &str, request: &JudgeRequest<'_>) -> Option<Heard> {
        let known = self.known(Self::call(scorer, request), request)?;
        let asked = Heard::again(&known);
        self.keep(known);
        Some(asked)
    }

    fn ask(&self, scorer: &str, request: &JudgeRequest<'_>) -> Heard {
        if self.stops() {
            return Heard::Stopped;
        }
        let mut call = Self::call(scorer, request);
        let seat = self.judging.seat(request.agent, scorer, request.patience);
        let called = seat.ask(self.judging, self.books, &self.subject, request, &mut call);
        match called {
            Called::FormRefused => return Heard::FormRefused,
            Called::Stopped => {
                self.stopped.store(true, Ordering::Relaxed);
                return Heard::Stopped;
            }
            Called::Failed => {}
            Called::Said => {
                if let Some(kept) = &self.judging.cache {
                    kept.remember(&self.subject, request, &call);
                }
            }
        }
        let asked = Heard::again(&call);
        self.keep(call);
        asked
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
