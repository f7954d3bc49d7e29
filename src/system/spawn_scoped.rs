//! Concurrent work in a scope.

use std::thread::{Builder, Scope};

/// Runs work on its own thread, or when the result is requested if no thread can be spawned.
pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl Fn() -> T + Send + Copy + 'scope,
) -> impl FnOnce() -> T {
    let thread = Builder::new().spawn_scoped(scope, work).ok();
    move || {
        let done = thread.and_then(|thread| thread.join().ok());
        done.unwrap_or_else(work)
    }
}
