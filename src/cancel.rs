//! A flag that stops a run, and wakes everything that waits on a file descriptor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, by a signal or by the runner; cheap to clone and to ask.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    flag: AtomicBool,
    /// Readable from the moment of cancelling on. `None` where the system has no descriptor left.
    wake: Option<OwnedFd>,
}

impl Default for Cancel {
    fn default() -> Self {
        use rustix::event::{EventfdFlags, eventfd};
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok();
        Self(Arc::new(Inner {
            flag: AtomicBool::new(false),
            wake,
        }))
    }
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag and wakes every waiter, for good.
    pub fn cancel(&self) {
        self.0.flag.store(true, Ordering::SeqCst);
        if let Some(wake) = &self.0.wake {
            // A failed write means the counter is full: then it is readable already.
            let _ = rustix::io::write(wake, &1_u64.to_ne_bytes());
        }
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.flag.load(Ordering::SeqCst)
    }

    /// A descriptor that turns readable when the flag is set; for `poll`.
    pub(crate) fn wake_fd(&self) -> Option<BorrowedFd<'_>> {
        self.0.wake.as_ref().map(AsFd::as_fd)
    }
}
