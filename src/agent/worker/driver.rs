//! The thread that talks with one process, and the way to it.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::cell::Cell;
use super::request::{Refusal, Reply, Request};
use super::talk::{Setup, Talk};
use crate::data::{AgentError, FailureKind, Output};
use crate::system::lock::lock;
use crate::system::pipe;
use crate::system::process::launch::NotStarted;
use crate::system::process::worker::Worker;

/// A process that was started.
pub(super) struct Driver {
    orders: Arc<Orders>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Where it is, in a sandbox.
    cell: Option<Cell>,
}

/// What the thread is told.
pub(super) struct Orders {
    inbox: Mutex<Inbox>,
    wake: (PipeReader, PipeWriter),
}

#[derive(Default)]
pub(super) struct Inbox {
    pub(super) requests: Vec<Request>,
    /// Those who want to know when the process is ready.
    pub(super) probes: Vec<Sender<Reply>>,
    pub(super) close: bool,
    /// Whether the thread takes no more orders.
    over: bool,
}

impl Orders {
    pub(super) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.0.as_fd()
    }

    /// Waits for the first order.
    fn wait_for_one(&self) {
        pipe::wait_until_readable(&self.wake.0);
    }

    /// What came since the last time.
    pub(super) fn take(&self) -> Inbox {
        let mut inbox = self.inbox();
        if !inbox.is_empty() {
            // One byte for every time that the inbox was filled.
            let _ = (&self.wake.0).read(&mut [0]);
        }
        let close = inbox.close;
        let taken = std::mem::take(&mut *inbox);
        inbox.close = false;
        Inbox { close, ..taken }
    }

    /// Takes no more orders; gives those that came too late.
    fn end(&self) -> Inbox {
        let mut inbox = self.inbox();
        let over = true;
        std::mem::replace(
            &mut *inbox,
            Inbox {
                over,
                ..Inbox::default()
            },
        )
    }

    /// Gives an order; false when the thread takes none.
    fn give(&self, order: impl FnOnce(&mut Inbox)) -> bool {
        let mut inbox = self.inbox();
        if inbox.over {
            return false;
        }
        let was_empty = inbox.is_empty();
        order(&mut inbox);
        if was_empty {
            // At most one byte is in the pipe, so this neither blocks nor fails.
            let _ = (&self.wake.1).write(&[1]);
        }
        true
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        lock(&self.inbox)
    }
}

impl Inbox {
    fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.probes.is_empty() && !self.close
    }
}

impl Driver {
    /// Starts a process and follows it, on a thread of its own: a sandbox ends with the thread that made it.
    pub(super) fn start(
        begin: impl FnOnce() -> Result<Worker, NotStarted> + Send + 'static,
        cell: Option<Cell>,
        setup: Setup,
    ) -> Result<Self, AgentError> {
        let no_thread = |reason: io::Error| {
            let message = format!("there is no thread to talk with it: {reason}");
            error(FailureKind::NotStarted, message)
        };
        let orders = Arc::new(Orders {
            inbox: Mutex::default(),
            wake: io::pipe().map_err(no_thread)?,
        });
        let own = Arc::clone(&orders);
        let (tell, started) = channel();
        let follow = move || {
            let worker = match begin() {
                Ok(worker) => worker,
                Err(reason) => {
                    let _ = tell.send(Err(reason));
                    return;
                }
            };
            let _ = tell.send(Ok(()));
            // If it ends at once, whoever had it started is told so.
            own.wait_for_one();
            let fallen = Talk::new(worker, &own, setup).run();
            let late = own.end();
            // The process is gone before anybody asks elsewhere.
            fallen.tell(&late);
        };
        let thread = std::thread::Builder::new()
            .name("evaltest-worker".to_owned())
            .spawn(follow)
            .map_err(no_thread)?;
        let lost = || NotStarted::new("its thread ended".to_owned());
        let started = started.recv().unwrap_or_else(|_| Err(lost()));
        started.map_err(super::not_started)?;
        Ok(Self {
            orders,
            thread: Mutex::new(Some(thread)),
            cell,
        })
    }

    /// Where it is, in a sandbox.
    pub(super) fn cell(&self) -> Option<&Cell> {
        self.cell.as_ref()
    }

    /// Hands a request over; false when the process is gone.
    pub(super) fn ask(&self, request: Request) -> bool {
        self.orders.give(|inbox| inbox.requests.push(request))
    }

    /// Waits until the process is ready.
    pub(super) fn ready(&self) -> Result<(), Refusal> {
        let (probe, reply) = channel();
        if !self.orders.give(|inbox| inbox.probes.push(probe)) {
            return Err(Refusal::Unsent);
        }
        reply
            .recv()
            .unwrap_or(Err(Refusal::Unsent))
            .map(|_: Output| ())
    }

    /// Whether the process is gone, or about to be.
    pub(super) fn is_over(&self) -> bool {
        self.orders.inbox().over
    }

    /// Has the process end when what it has is answered, without waiting for that.
    pub(super) fn close(&self) {
        self.orders.give(|inbox| inbox.close = true);
    }

    /// Waits until the process is gone.
    pub(super) fn join(&self) {
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// A failure in the words of the agent.
pub(super) fn error(kind: FailureKind, message: impl Into<String>) -> AgentError {
    AgentError::of(kind, message)
}
