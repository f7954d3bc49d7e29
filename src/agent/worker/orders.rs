//! Orders for the thread that talks with a process, and how it is woken.

use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard};

use super::{WorkerReply, WorkerRequest};
use crate::system::lock;
use crate::system::process::Bell;

/// A queue of orders for the thread.
pub(super) struct Orders {
    inbox: Mutex<Inbox>,
    /// Rings while the inbox is not empty.
    bell: Bell,
}

#[derive(Default)]
pub(super) struct Inbox {
    pub(super) requests: Vec<WorkerRequest>,
    /// Lines that no reply follows.
    pub(super) lines: Vec<Vec<u8>>,
    /// Callers that wait for the process to be ready.
    pub(super) probes: Vec<Sender<WorkerReply>>,
    pub(super) close: bool,
    /// Whether the thread accepts no more orders.
    pub(super) over: bool,
}

impl Orders {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            inbox: Mutex::default(),
            bell: Bell::new()?,
        })
    }

    pub(super) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// Waits for the first order.
    pub(super) fn wait_for_one(&self) {
        self.bell.wait();
    }

    /// Takes what came since the last call.
    pub(super) fn take(&self) -> Inbox {
        let mut inbox = self.inbox();
        if !inbox.is_empty() {
            // It rang once for every time that the inbox was filled.
            self.bell.silence();
        }
        let close = inbox.close;
        let taken = std::mem::take(&mut *inbox);
        inbox.close = false;
        Inbox { close, ..taken }
    }

    /// Accepts no more orders; returns those that came too late.
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

    /// Gives an order; `false` if the thread accepts none.
    pub(super) fn give(&self, order: impl FnOnce(&mut Inbox)) -> bool {
        let mut inbox = self.inbox();
        if inbox.over {
            return false;
        }
        let was_empty = inbox.is_empty();
        order(&mut inbox);
        if was_empty {
            self.bell.ring();
        }
        true
    }

    pub(super) fn inbox(&self) -> MutexGuard<'_, Inbox> {
        lock(&self.inbox)
    }
}

impl Inbox {
    fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.lines.is_empty() && self.probes.is_empty() && !self.close
    }
}
