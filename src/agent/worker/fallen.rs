//! A process that has ended: its open requests, and the reply to each of them.

use std::process::ExitStatus;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::agent::command::in_seconds;
use crate::agent::worker::orders::Inbox;
use crate::agent::worker::pool::WorkerRefusal;
use crate::agent::worker::{Open, WorkerReply, WorkerRequest};
use crate::data::{AgentError, FailureKind};
use crate::system::process::Tail;
use crate::system::process::group::{how_it_ended, signal_of};

/// The requests of an ended process, and how it ended.
pub(super) struct Fallen {
    pub(super) open: Vec<Open>,
    pub(super) waiting: Vec<WorkerRequest>,
    pub(super) probes: Vec<Sender<WorkerReply>>,
    pub(super) open_reply: AgentError,
    /// Whether the only open request is known to be the reason.
    pub(super) is_own: bool,
    /// Whether it did not end by itself.
    pub(super) is_killed: bool,
    pub(super) not_ready: Option<Refused>,
    pub(super) stderr: Tail,
}

/// Why a process was never ready.
pub(super) struct Refused {
    pub(super) error: AgentError,
    pub(super) is_foreign: bool,
}

impl Fallen {
    /// Replies to all waiting requests.
    pub(super) fn notify(self, late: &Inbox) {
        let not_ready = || match &self.not_ready {
            None => WorkerRefusal::Unsent,
            Some(Refused { error, is_foreign }) if *is_foreign => {
                WorkerRefusal::Foreign(error.clone())
            }
            Some(Refused { error, .. }) => WorkerRefusal::NotReady(error.clone()),
        };
        for request in self.waiting.iter().chain(&late.requests) {
            let _ = request.reply.send(Err(not_ready()));
        }
        for probe in self.probes.iter().chain(&late.probes) {
            let _ = probe.send(Err(not_ready()));
        }
        for open in self.open {
            let stderr_tail = self.stderr.since(open.stderr_before);
            let refusal = if open.overdue.is_some() {
                let allowed = open.request.allowed.unwrap_or_default();
                let failure = AgentError {
                    stderr_tail,
                    ..timed_out(allowed)
                };
                WorkerRefusal::Own(failure)
            } else {
                let failure = AgentError {
                    stderr_tail,
                    ..self.open_reply.clone()
                };
                match &self.not_ready {
                    Some(Refused {
                        is_foreign: true, ..
                    }) => WorkerRefusal::Foreign(failure),
                    _ if self.is_own => WorkerRefusal::Guilty(failure),
                    _ if self.is_killed => WorkerRefusal::Killed(failure),
                    _ => WorkerRefusal::Fell(failure),
                }
            };
            open.end(Err(refusal));
        }
    }
}

pub(in crate::agent) fn timed_out(allowed: Duration) -> AgentError {
    let message = format!("did not answer in {}", in_seconds(allowed));
    AgentError::of(FailureKind::TimedOut, message)
}

/// The error for a conversation whose process is gone.
pub(in crate::agent) fn session_lost() -> AgentError {
    let message = "ended and lost the conversation that it remembered";
    AgentError::of(FailureKind::Lost, message)
}

/// The error for a process that ended by itself.
pub(in crate::agent) fn ended(status: Option<ExitStatus>) -> AgentError {
    match status {
        None => AgentError::of(FailureKind::Exited, "closed its stdout"),
        Some(status) => AgentError {
            exit_code: status.code(),
            signal: signal_of(status),
            ..AgentError::of(FailureKind::Exited, how_it_ended(status))
        },
    }
}
