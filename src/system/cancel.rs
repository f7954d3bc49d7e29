//! A flag that stops a run, and wakes everything that waits on a file descriptor.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::system::lock::lock;
use crate::system::pipe::Bell;

/// Set once, by a signal or by the runner; cheap to clone and to ask.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    flag: AtomicBool,
    /// Rings from the moment of cancelling on. `None` where the system has no descriptor left.
    bell: Option<Bell>,
    /// Flags that are set with this one.
    children: Mutex<Vec<Weak<Inner>>>,
    /// What is done at the moment of cancelling.
    hooks: Mutex<Hooks>,
}

#[derive(Default)]
struct Hooks(Vec<Box<dyn FnOnce() + Send>>);

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} hooks", self.0.len())
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self(Arc::new(Inner {
            flag: AtomicBool::new(false),
            bell: Bell::new().ok(),
            children: Mutex::default(),
            hooks: Mutex::default(),
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
    #[must_use]
    pub fn child(&self) -> Self {
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
        if let Some(bell) = &self.0.bell {
            bell.ring();
        }
        let hooks = std::mem::take(&mut lock(&self.0.hooks).0);
        for hook in hooks {
            hook();
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

    /// Does something once at the moment of cancelling, on the thread that cancels; at once when that was before.
    /// For waits that no descriptor wakes. Kept as long as the flag is.
    pub(crate) fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        let mut hooks = lock(&self.0.hooks);
        // Whoever sets the flag does so before taking the hooks.
        if !self.is_cancelled() {
            hooks.0.push(Box::new(hook));
            return;
        }
        drop(hooks);
        hook();
    }

    /// A handle that tells whether another flag is this one, and keeps neither.
    #[cfg(feature = "http")]
    pub(crate) fn handle(&self) -> Handle {
        Handle(Arc::downgrade(&self.0))
    }

    /// A descriptor that turns readable when the flag is set; for `poll`.
    pub(crate) fn wake_fd(&self) -> Option<BorrowedFd<'_>> {
        self.0.bell.as_ref().map(Bell::wake_fd)
    }
}

/// Which flag it was; see [`Cancel::handle`].
#[cfg(feature = "http")]
#[derive(Debug)]
pub(crate) struct Handle(Weak<Inner>);

#[cfg(feature = "http")]
impl Handle {
    /// Whether it is a handle of this flag.
    pub(crate) fn is_of(&self, flag: &Cancel) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&flag.0))
    }

    /// Whether somebody still holds the flag.
    pub(crate) fn is_held(&self) -> bool {
        self.0.strong_count() > 0
    }
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

    #[cfg(feature = "http")]
    #[test]
    fn a_hook_is_called_once_also_when_it_comes_late() {
        use std::sync::atomic::AtomicU32;

        let flag = Cancel::new();
        let called = Arc::new(AtomicU32::new(0));
        let hook = || {
            let called = Arc::clone(&called);
            move || {
                called.fetch_add(1, Ordering::SeqCst);
            }
        };
        flag.on_cancel(hook());
        flag.child().on_cancel(hook());
        let handle = flag.handle();
        assert!(handle.is_of(&flag.clone()) && handle.is_held() && !handle.is_of(&Cancel::new()));
        flag.cancel();
        flag.cancel();
        assert_eq!(called.load(Ordering::SeqCst), 1, "the child was gone");
        flag.on_cancel(hook());
        assert_eq!(called.load(Ordering::SeqCst), 2);
        drop(flag);
        assert!(!handle.is_held());
    }
}
