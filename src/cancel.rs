//! A flag that stops a run, and wakes everything that waits on a file descriptor.

use std::io::{PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Set once, by a signal or by the runner; cheap to clone and to ask.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    flag: AtomicBool,
    /// Readable from the moment of cancelling on. `None` where the system has no descriptor left.
    wake: Option<(PipeReader, PipeWriter)>,
    /// Flags that are set with this one.
    children: Mutex<Vec<Weak<Inner>>>,
}

impl Default for Cancel {
    fn default() -> Self {
        let wake = std::io::pipe().ok();
        Self(Arc::new(Inner {
            flag: AtomicBool::new(false),
            wake,
            children: Mutex::default(),
        }))
    }
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that is set with this one, while setting it leaves this one alone: a run that stops for
    /// a reason of its own must not stop the next.
    pub(crate) fn child(&self) -> Self {
        let child = Self::new();
        let mut children = lock(&self.0.children);
        children.retain(|child| child.strong_count() > 0);
        children.push(Arc::downgrade(&child.0));
        drop(children);
        // Whoever set the flag before it knew of the child did not set the child's.
        if self.is_cancelled() {
            child.cancel();
        }
        child
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
        let children = std::mem::take(&mut *lock(&self.0.children));
        for child in children.iter().filter_map(Weak::upgrade) {
            Self(child).cancel();
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

/// Locks; a list of flags cannot be half changed.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_follows_and_does_not_lead() {
        let parent = Cancel::new();
        let (one, other) = (parent.child(), parent.child());
        one.cancel();
        assert!(one.is_cancelled() && !parent.is_cancelled() && !other.is_cancelled());
        parent.cancel();
        assert!(other.is_cancelled());
        assert!(parent.child().is_cancelled());
    }
}
