//! Work that is done beside other work.

use std::thread::{Builder, Scope};

/// Does something on a thread of its own, or when it is waited for if there is none to be had.
pub(crate) fn beside<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl Fn() -> T + Send + Copy + 'scope,
) -> impl FnOnce() -> T {
    let thread = Builder::new().spawn_scoped(scope, work).ok();
    move || {
        let done = thread.and_then(|thread| thread.join().ok());
        done.unwrap_or_else(work)
    }
}
