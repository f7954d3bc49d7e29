//! `WorkerPool`: a pool of threads for agents that cannot be stopped, such as closures.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::agent::Agent;
use crate::data::{AgentError, FailureKind, Output, Task};
use crate::run::session::stop::Stopper;
use crate::system::clock;
use crate::system::lock;
use crate::system::panics;
use crate::system::shortage::Shortage;

type AgentResult = Result<Output, AgentError>;
/// A task and the channel for its answer; `None` ends the thread.
type Job = Option<(Task, Sender<AgentResult>)>;

/// How often a waiting worker checks whether the run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A pool of threads for agents that cannot be stopped.
pub(in crate::run) struct WorkerPool {
    agent: Arc<dyn Agent>,
    workers: Arc<Mutex<Workers>>,
    /// Abandoned attempts that still run.
    abandoned: Arc<AtomicUsize>,
}

/// The idle threads.
#[derive(Default)]
struct Workers {
    idle: Vec<Sender<Job>>,
    closed: bool,
}

impl WorkerPool {
    pub(in crate::run) fn new(agent: Arc<dyn Agent>) -> Self {
        Self {
            agent,
            workers: Arc::default(),
            abandoned: Arc::default(),
        }
    }

    /// Asks on a pool thread, which is abandoned when time is up or the run stops.
    pub(in crate::run) fn ask(&self, task: Task, stopper: &Stopper) -> AgentResult {
        let allowed = task
            .deadline
            .map(|end| end.saturating_duration_since(clock::now()));
        let deadline = task.deadline;
        let answer = self.start(task)?;
        loop {
            let remaining = deadline.map_or(POLL_INTERVAL, |end| {
                end.saturating_duration_since(clock::now())
            });
            match answer.recv_timeout(remaining.min(POLL_INTERVAL)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(AgentError::of(
                        FailureKind::Panicked,
                        "the agent's thread died",
                    ));
                }
                Err(RecvTimeoutError::Timeout) if stopper.is_stopped() => {
                    return Err(AgentError::of(
                        FailureKind::Cancelled,
                        "the run was stopped",
                    ));
                }
                Err(RecvTimeoutError::Timeout) if remaining.is_zero() => {
                    stopper.abandoned(self.abandon(answer));
                    let seconds = (allowed.unwrap_or_default().as_secs_f64() * 1e3).round() / 1e3;
                    let message = format!("did not answer within {seconds} s");
                    return Err(AgentError::of(FailureKind::TimedOut, message));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn start(&self, task: Task) -> Result<Receiver<AgentResult>, AgentError> {
        let (reply, answer) = channel();
        let mut job = Some((task, reply));
        loop {
            let Some(worker) = lock(&self.workers).idle.pop() else {
                break;
            };
            match worker.send(job) {
                Ok(()) => return Ok(answer),
                Err(unsent) => job = unsent.0,
            }
        }
        let (worker, jobs) = channel::<Job>();
        let (agent, workers, own) = (
            Arc::clone(&self.agent),
            Arc::clone(&self.workers),
            worker.clone(),
        );
        let work = move || {
            while let Ok(Some((task, reply))) = jobs.recv() {
                let mut answer = guarded(&*agent, &task);
                // The agent may have given up because time is up; on a busy machine its answer can arrive before the
                // worker checks the clock.
                if task.deadline.is_some_and(|end| clock::now() >= end) {
                    let message = "answered after the time limit";
                    answer = Err(AgentError::of(FailureKind::TimedOut, message));
                }
                // Free the slot before the answer arrives, so that the next job finds it.
                let mut workers = lock(&workers);
                let closed = workers.closed;
                if !closed {
                    workers.idle.push(own.clone());
                }
                drop(workers);
                let _ = reply.send(answer);
                if closed {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("evaltest-agent".to_owned())
            .spawn(work);
        thread.map_err(|error| {
            let what = "no thread for the agent";
            match Shortage::of(&error) {
                Some(shortage) => {
                    AgentError::of(FailureKind::Shortage, format!("{what}: {shortage}"))
                }
                None => AgentError::of(FailureKind::NotStarted, format!("{what}: {error}")),
            }
        })?;
        // A new thread takes its first job.
        let _ = worker.send(job);
        Ok(answer)
    }

    /// Counts an attempt as abandoned until it ends; returns the number of abandoned attempts.
    fn abandon(&self, answer: Receiver<AgentResult>) -> usize {
        let abandoned = Arc::clone(&self.abandoned);
        let count = abandoned.fetch_add(1, Ordering::SeqCst) + 1;
        let watch = move || {
            let _ = answer.recv();
            abandoned.fetch_sub(1, Ordering::SeqCst);
        };
        // Without a thread to watch it, it stays counted, which is the safe side.
        let _ = std::thread::Builder::new().spawn(watch);
        count
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        let mut workers = lock(&self.workers);
        workers.closed = true;
        for worker in workers.idle.drain(..) {
            let _ = worker.send(None);
        }
    }
}

/// Calls the agent; a panic becomes a failure.
pub(in crate::run) fn guarded(agent: &dyn Agent, task: &Task) -> AgentResult {
    panics::catch(|| agent.answer(task)).unwrap_or_else(|reason| {
        Err(AgentError::of(
            FailureKind::Panicked,
            format!("the agent {reason}"),
        ))
    })
}
