//! A cancellation flag that also wakes waits on file descriptors.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::system::lock;
use crate::system::process::Bell;

/// Set once, by a signal or by the runner; cheap to clone and to check.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    flag: AtomicBool,
    /// Becomes readable on cancellation. `None` if no descriptor is available.
    bell: Option<Bell>,
    /// Flags that are set together with this one.
    children: Mutex<Vec<Weak<Inner>>>,
    /// Functions to call on cancellation.
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

    /// A flag that is set together with this one, but not vice versa: stopping one run must not stop the next.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::new();
        let mut children = lock(&self.0.children);
        children.retain(|child| child.strong_count() > 0);
        children.push(Arc::downgrade(&child.0));
        drop(children);
        // The parent may have been set just before the child was added.
        if self.is_cancelled() {
            child.cancel();
        }
        child
    }

    /// Sets the flag permanently and wakes all waiters.
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

    /// Calls `hook` once on cancellation, on the cancelling thread; immediately if already cancelled. For waits that a
    /// descriptor cannot wake. Stored as long as the flag exists.
    pub(crate) fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        let mut hooks = lock(&self.0.hooks);
        // The flag is always set before the hooks are taken.
        if !self.is_cancelled() {
            hooks.0.push(Box::new(hook));
            return;
        }
        drop(hooks);
        hook();
    }

    /// A weak handle to identify this flag.
    #[cfg(feature = "http")]
    pub(crate) fn handle(&self) -> Handle {
        Handle(Arc::downgrade(&self.0))
    }

    /// A descriptor for `poll` that becomes readable when the flag is set.
    pub(crate) fn wake_fd(&self) -> Option<BorrowedFd<'_>> {
        self.0.bell.as_ref().map(Bell::wake_fd)
    }
}

/// Identifies a flag; see [`Cancel::handle`].
#[cfg(feature = "http")]
#[derive(Debug)]
pub(crate) struct Handle(Weak<Inner>);

#[cfg(feature = "http")]
impl Handle {
    /// Whether it is a handle of this flag.
    pub(crate) fn is_of(&self, flag: &Cancel) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&flag.0))
    }

    /// Whether the flag still exists.
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
