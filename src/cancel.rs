//! A flag that stops a run, and wakes everything that waits on a file descriptor.

use std::io::{PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, by a signal or by the runner; cheap to clone and to ask.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    flag: AtomicBool,
    /// Readable from the moment of cancelling on. `None` where the system has no descriptor left.
    wake: Option<(PipeReader, PipeWriter)>,
}

impl Default for Cancel {
    fn default() -> Self {
        let wake = std::io::pipe().ok();
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
        if self.0.flag.swap(true, Ordering::SeqCst) {
            return;
        }
        if let Some((_, writer)) = &self.0.wake {
            // One byte, written once: the pipe is empty, so this neither blocks nor fails.
            let _ = (&mut &*writer).write(&[1]);
        }
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.flag.load(Ordering::SeqCst)
    }

    /// A descriptor that turns readable when the flag is set; for `poll`.
    pub(crate) fn wake_fd(&self) -> Option<BorrowedFd<'_>> {
        self.0.wake.as_ref().map(|(reader, _)| reader.as_fd())
    }
}
