//! Orders for the thread that talks with a process, and how it is woken for them.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard};

use super::request::{WorkerReply, WorkerRequest};
use crate::system::lock::lock;
use crate::system::pipe;

/// What the thread is told.
pub(super) struct Orders {
    inbox: Mutex<Inbox>,
    wake: (PipeReader, PipeWriter),
}

#[derive(Default)]
pub(super) struct Inbox {
    pub(super) requests: Vec<WorkerRequest>,
    /// Those who want to know when the process is ready.
    pub(super) probes: Vec<Sender<WorkerReply>>,
    pub(super) close: bool,
    /// Whether the thread takes no more orders.
    pub(super) over: bool,
}

impl Orders {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            inbox: Mutex::default(),
            wake: io::pipe()?,
        })
    }

    pub(super) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.0.as_fd()
    }

    /// Waits for the first order.
    pub(super) fn wait_for_one(&self) {
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
    pub(super) fn end(&self) -> Inbox {
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
    pub(super) fn give(&self, order: impl FnOnce(&mut Inbox)) -> bool {
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

    pub(super) fn inbox(&self) -> MutexGuard<'_, Inbox> {
        lock(&self.inbox)
    }
}

impl Inbox {
    fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.probes.is_empty() && !self.close
    }
}
