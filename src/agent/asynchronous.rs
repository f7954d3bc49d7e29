//! Async closures and functions as agents (feature `tokio`).
//!
//! The runner's threads poll the futures themselves, so these need not be `Send`; timers, sockets and spawned tasks
//! live on a small runtime shared by all attempts of the agent. Polling instead of `block_on` lets an eval run inside
//! another runtime, where `block_on` would panic.

use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use once_cell::sync::OnceCell;
use tokio::runtime::{Builder, Handle, Runtime};

use super::Agent;
use crate::data::{AgentError, FailureKind, Output, Task};
use crate::system::clock;

/// How often a waiting future checks whether the run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Makes an async closure or function an agent.
///
/// A future without an answer at the end of its attempt's time, or when the run is stopped, is dropped.
///
/// ```
/// use evaltest::agent::asynchronous;
/// use evaltest::{AgentError, Output, Task};
///
/// async fn ask(task: &Task) -> Result<Output, AgentError> {
///     tokio::time::sleep(std::time::Duration::from_millis(1)).await;
///     Ok(task.question().to_uppercase().into())
/// }
///
/// let agent = asynchronous(ask);
/// let client = "a client of yours";
/// let agent = asynchronous(async move |task: &Task| Ok(format!("{client}: {}", task.prompt()).into()));
/// ```
///
/// The closure is called on threads of evaltest. Tasks that it spawned on a runtime of your own progress only while
/// that runtime is not blocked: on a single-threaded runtime, start the eval with
/// `tokio::task::spawn_blocking(move || eval.run())`.
pub fn asynchronous<F>(ask: F) -> Asynchronous<F>
where
    F: AsyncFn(&Task) -> Result<Output, AgentError> + Send + Sync,
{
    Asynchronous {
        ask,
        handle: None,
        runtime: OnceCell::new(),
    }
}

/// An async closure as an agent; see [`asynchronous`].
pub struct Asynchronous<F> {
    ask: F,
    /// The user's runtime.
    handle: Option<Handle>,
    /// Our own runtime, started on demand.
    runtime: OnceCell<Background>,
}

/// A runtime that may be dropped anywhere, also inside another one.
struct Background(Option<Runtime>);

impl<F> Asynchronous<F> {
    /// Uses the timers, sockets and tasks of this runtime, instead of its own.
    #[must_use]
    pub fn on(mut self, runtime: Handle) -> Self {
        self.handle = Some(runtime);
        self
    }

    fn handle(&self) -> Result<&Handle, AgentError> {
        if let Some(handle) = &self.handle {
            return Ok(handle);
        }
        let runtime = self.runtime.get_or_try_init(Background::start);
        let runtime = runtime.map_err(|error| {
            let message = format!("the async runtime cannot be started: {error}");
            AgentError::of(FailureKind::NotStarted, message)
        })?;
        runtime.0.as_ref().map(Runtime::handle).ok_or_else(|| {
            let message = "the async runtime has ended";
            AgentError::of(FailureKind::NotStarted, message)
        })
    }
}

impl<F> Agent for Asynchronous<F>
where
    F: AsyncFn(&Task) -> Result<Output, AgentError> + Send + Sync,
{
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        // Entered before the future is created, so that it is left after the future is dropped.
        let _inside = self.handle()?.enter();
        let mut future = pin!((self.ask)(task));
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
                return answer;
            }
            if task.cancel.is_cancelled() {
                let message = "the run was interrupted";
                return Err(AgentError::of(FailureKind::Cancelled, message));
            }
            let remaining = task
                .deadline
                .map(|end| end.saturating_duration_since(clock::now()));
            if remaining.is_some_and(|remaining| remaining.is_zero()) {
                let message = "did not answer in time";
                return Err(AgentError::of(FailureKind::TimedOut, message));
            }
            thread::park_timeout(
                remaining.map_or(POLL_INTERVAL, |remaining| remaining.min(POLL_INTERVAL)),
            );
        }
    }
}

impl Background {
    fn start() -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("evaltest-tokio")
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Waiting for its tasks would panic inside another runtime.
            runtime.shutdown_background();
        }
    }
}

/// Wakes the thread that polls.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_future_that_is_late_is_dropped() {
        struct Dropped<'a>(&'a AtomicUsize);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let dropped = AtomicUsize::new(0);
        let agent = asynchronous(async |task: &Task| {
            let _dropped = Dropped(&dropped);
            if task.prompt() == "wait" {
                tokio::time::sleep(Duration::from_mins(1)).await;
            }
            Ok(Output::text("4"))
        });
        assert_eq!(
            agent
                .answer(&Task::for_test("2+2?"))
                .unwrap()
                .text
                .as_deref(),
            Some("4")
        );
        let mut task = Task::for_test("wait");
        task.deadline = Some(clock::now() + Duration::from_millis(20));
        let failure = agent.answer(&task).unwrap_err();
        assert_eq!(failure.kind, FailureKind::TimedOut);
        task.deadline = None;
        task.cancel.cancel();
        let failure = agent.answer(&task).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cancelled);
        assert_eq!(dropped.load(Ordering::SeqCst), 3);
    }
}
