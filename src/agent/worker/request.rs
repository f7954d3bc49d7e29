//! A request to a process, and its result.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use crate::data::task::Live;
use crate::data::{AgentError, Output};
use crate::system::cancel::Cancel;
use crate::system::clock;

/// A task to be sent to a process.
#[derive(Clone)]
pub(super) struct WorkerRequest {
    pub(super) id: String,
    /// The task as a line.
    pub(super) line: Arc<Vec<u8>>,
    /// The time for the answer, from the moment the line is sent.
    pub(super) allowed: Option<Duration>,
    pub(super) cancel: Cancel,
    pub(super) live: Option<Live>,
    /// Records its progress messages.
    pub(super) progress: Option<Live>,
    pub(super) reply: Sender<WorkerReply>,
}

pub(super) type WorkerReply = Result<Output, WorkerRefusal>;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum WorkerRefusal {
    /// For a reason of this request.
    Own(AgentError),
    /// The process ended or had to be ended while it had the request; another may have been the reason.
    Fell(AgentError),
    /// The process had to be ended while this was its only request.
    Guilty(AgentError),
    /// The process was killed during the request, by someone or for lack of memory.
    Killed(AgentError),
    /// The request was never sent.
    Unsent,
    /// The process did not become ready.
    NotReady(AgentError),
    /// It speaks another version of the protocol.
    Foreign(AgentError),
}

/// A request that was sent.
pub(super) struct Open {
    pub(super) request: WorkerRequest,
    pub(super) deadline: Option<Instant>,
    /// Since when its time is over and the program knows.
    pub(super) overdue: Option<Instant>,
    /// How many bytes the process had written to stderr before.
    pub(super) stderr_before: u64,
    /// The bytes of its progress messages.
    pub(super) chatter: usize,
}

impl Open {
    pub(super) fn new(request: WorkerRequest, stderr_before: u64) -> Self {
        let now = clock::now();
        Self {
            deadline: request.allowed.and_then(|allowed| now.checked_add(allowed)),
            request,
            overdue: None,
            stderr_before,
            chatter: 0,
        }
    }

    /// Ends it with a reply. The caller may be gone.
    pub(super) fn end(self, reply: WorkerReply) {
        let _ = self.request.reply.send(reply);
    }
}
