//! One attempt: a task is prepared, the agent is asked, and time is kept.
//!
//! An agent that keeps deadlines itself is called on the worker's thread. Any other, such as a closure,
//! cannot be killed: it runs on a thread of the [`Bench`] that is left behind when time is up.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Attempted, Session};
use crate::agent::Agent;
use crate::data::task::Visible;
use crate::data::{AgentError, EndedBy, FailureKind, Output, Task, TaskFile};
use crate::eval::KeepScratch;
use crate::plan::Item;
use crate::system::panics;
use crate::text::name;

type Reply = std::result::Result<Output, AgentError>;
/// A task with the way back for its answer; `None` ends the thread.
type Job = Option<(Task, Sender<Reply>)>;

/// The number of an attempt that confirms a flip; real attempts begin at 1.
pub(super) const CONFIRM: u32 = 0;

/// How often a waiting worker looks whether the run was stopped.
const GLANCE: Duration = Duration::from_millis(100);

/// Threads on which agents run that cannot be stopped.
pub(super) struct Bench {
    agent: Arc<dyn Agent>,
    seats: Arc<Mutex<Seats>>,
    /// Attempts that were left behind and still run.
    abandoned: Arc<AtomicUsize>,
}

/// The threads that wait for work.
#[derive(Default)]
struct Seats {
    idle: Vec<Sender<Job>>,
    closed: bool,
}

impl Bench {
    pub(super) fn new(agent: Arc<dyn Agent>) -> Self {
        Self {
            agent,
            seats: Arc::default(),
            abandoned: Arc::default(),
        }
    }

    fn start(&self, task: Task) -> Result<Receiver<Reply>, AgentError> {
        let (reply, answer) = channel();
        let mut job = Some((task, reply));
        loop {
            let idle = self
                .seats
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .idle
                .pop();
            let Some(seat) = idle else { break };
            match seat.send(job) {
                Ok(()) => return Ok(answer),
                Err(unsent) => job = unsent.0,
            }
        }
        let (seat, jobs) = channel::<Job>();
        let (agent, seats, own) = (
            Arc::clone(&self.agent),
            Arc::clone(&self.seats),
            seat.clone(),
        );
        let work = move || {
            while let Ok(Some((task, reply))) = jobs.recv() {
                let mut answer = guarded(&*agent, &task);
                // It may have given up because time is up; on a busy machine that arrives before the worker
                // has seen the clock.
                if task.deadline.is_some_and(|end| Instant::now() >= end) {
                    let message = "answered after its time was up";
                    answer = Err(AgentError::of(FailureKind::TimedOut, message));
                }
                // The seat is free before the answer arrives, so that the next job finds it.
                let mut seats = seats.lock().unwrap_or_else(PoisonError::into_inner);
                let closed = seats.closed;
                if !closed {
                    seats.idle.push(own.clone());
                }
                drop(seats);
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
            AgentError::of(
                FailureKind::NotStarted,
                format!("no thread for the agent: {error}"),
            )
        })?;
        // A thread that just started takes its first job.
        let _ = seat.send(job);
        Ok(answer)
    }

    /// Counts an attempt as left behind until it ends; returns how many there are.
    fn abandon(&self, answer: Receiver<Reply>) -> usize {
        let abandoned = Arc::clone(&self.abandoned);
        let count = abandoned.fetch_add(1, Ordering::SeqCst) + 1;
        let watch = move || {
            let _ = answer.recv();
            abandoned.fetch_sub(1, Ordering::SeqCst);
        };
        // Without a thread to watch it, it stays counted: that errs on the safe side.
        let _ = std::thread::Builder::new().spawn(watch);
        count
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.closed = true;
        for seat in seats.idle.drain(..) {
            let _ = seat.send(None);
        }
    }
}

/// Adds or removes a scratch folder, one thread at a time: all of them stand in one folder, for whose lock
/// threads that meet in the kernel spin, at more CPU than starting the agent takes.
fn in_turn<T>(change: impl FnOnce() -> T) -> T {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    change()
}

/// Calls the agent; a panic is a failure.
fn guarded(agent: &dyn Agent, task: &Task) -> Reply {
    panics::catch(|| agent.answer(task)).unwrap_or_else(|reason| {
        Err(AgentError::of(
            FailureKind::Panicked,
            format!("the agent {reason}"),
        ))
    })
}

/// Cuts what an agent says of its failure: that is not limited by `max_output_bytes`.
fn cut(error: &mut AgentError) {
    const MOST: usize = 1 << 16;
    if error.message.len() > MOST {
        let end = error.message.floor_char_boundary(MOST);
        error.message.truncate(end);
        error.message.push('…');
    }
    if let Some(tail) = &mut error.stderr_tail
        && tail.len() > MOST
    {
        *tail = tail[tail.ceil_char_boundary(tail.len() - MOST)..].to_owned();
    }
}

impl Session {
    /// Asks once.
    pub(super) fn attempt(
        &self,
        (item, epoch): (&Item, u32),
        attempt: u32,
        sample_left: Option<Duration>,
    ) -> Attempted {
        let scratch = match self.prepare((item, epoch), attempt) {
            Ok(prepared) => prepared,
            // The scratch folder is ours: without one, no sample can be asked.
            Err(error) if error.kind == FailureKind::NotStarted => {
                self.stop(&error.message, false);
                return (
                    Err(AgentError::of(FailureKind::Cancelled, error.message)),
                    0.0,
                );
            }
            Err(error) => return (Err(error), 0.0),
        };
        let (folder, files) = scratch;
        let started = Instant::now();
        let task = Task {
            // Made for each attempt: kept for every sample it would hold each question twice.
            visible: Arc::new(Visible::of(&item.sample)),
            prompt: self.plan.prompt(item),
            files,
            options: Arc::clone(&self.plan.eval.agent_options),
            scratch: folder.clone(),
            epoch,
            attempt,
            deadline: self.deadline(started, sample_left),
            cancel: self.options.cancel.clone(),
            live: self.live(item),
            hidden: Arc::clone(&self.plan.hidden),
        };
        let recorded = self.plan.eval.agent.recorded_latency_s(&task);
        let answer = if self.plan.eval.agent.keeps_deadline() {
            guarded(&*self.plan.eval.agent, &task)
        } else {
            self.ask_on_bench(task)
        };
        let latency = recorded.unwrap_or_else(|| started.elapsed().as_secs_f64());
        let answer = match answer {
            Ok(output) => self.check_size(output),
            failed => failed,
        };
        let answer = answer.map_err(|mut error| {
            cut(&mut error);
            let is_last = error.kind == FailureKind::TimedOut
                && self.timeout(sample_left) == EndedBy::SampleTimeout;
            if is_last {
                error.message += ", which `limits.sample_timeout_s` left";
            }
            error.ended_by = error.ended_by.or(match error.kind {
                FailureKind::TimedOut => Some(self.timeout(sample_left)),
                FailureKind::OutputTooLarge => Some(EndedBy::MaxOutputBytes),
                _ => None,
            });
            error
        });
        if let Some(folder) = folder {
            self.tidy(&folder, answer.is_err());
        }
        (answer, latency)
    }

    /// When an attempt that starts now has timed out: the earliest of its own end, that of its sample and that of
    /// the run. A timeout beyond what the clock can count is none.
    fn deadline(&self, now: Instant, sample_left: Option<Duration>) -> Option<Instant> {
        let own = now.checked_add(self.plan.eval.limits.timeout);
        let sample = sample_left.and_then(|left| now.checked_add(left));
        let run = self.throttle.deadline();
        [own, sample, run].into_iter().flatten().min()
    }

    fn ask_on_bench(&self, task: Task) -> Reply {
        let allowed = task
            .deadline
            .map(|end| end.saturating_duration_since(Instant::now()));
        let deadline = task.deadline;
        let answer = self.bench.start(task)?;
        loop {
            let left = deadline.map_or(GLANCE, |end| end.saturating_duration_since(Instant::now()));
            match answer.recv_timeout(left.min(GLANCE)) {
                Ok(reply) => return reply,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(AgentError::of(
                        FailureKind::Panicked,
                        "the agent's thread died",
                    ));
                }
                Err(RecvTimeoutError::Timeout) if self.is_stopped() => {
                    return Err(AgentError::of(
                        FailureKind::Cancelled,
                        "the run was stopped",
                    ));
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    let limits = &self.plan.eval.limits;
                    let abandoned = self.bench.abandon(answer);
                    if abandoned > limits.concurrency {
                        let reason = format!(
                            "{abandoned} attempts ran out of time and still run: a closure cannot be killed; \
                             have it ask `task.is_cancelled()`"
                        );
                        self.stop(&reason, false);
                    }
                    let seconds = (allowed.unwrap_or_default().as_secs_f64() * 1e3).round() / 1e3;
                    let message = format!("did not answer within {seconds} s");
                    return Err(AgentError::of(FailureKind::TimedOut, message));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Which of the two timeouts came first.
    fn timeout(&self, sample_left: Option<Duration>) -> EndedBy {
        match sample_left {
            Some(left) if left < self.plan.eval.limits.timeout => EndedBy::SampleTimeout,
            _ => EndedBy::Timeout,
        }
    }

    pub(super) fn check_size(&self, output: Output) -> Reply {
        let limit = self.plan.eval.limits.max_output_bytes;
        let json = |values: &[serde_json::Value]| -> usize {
            if values.is_empty() {
                0
            } else {
                values.iter().map(|value| value.to_string().len()).sum()
            }
        };
        let size = output.text.as_ref().map_or(0, String::len)
            + json(&output.messages)
            + json(&output.tool_calls);
        if size as u64 <= limit {
            return Ok(output);
        }
        let message =
            format!("answered {size} bytes, more than `limits.max_output_bytes` ({limit})");
        Err(AgentError::of(FailureKind::OutputTooLarge, message))
    }

    /// Makes the scratch folder and copies the attachments into it.
    fn prepare(
        &self,
        (item, epoch): (&Item, u32),
        attempt: u32,
    ) -> Result<(Option<PathBuf>, Vec<TaskFile>), AgentError> {
        let needs_folder = self.plan.eval.agent.needs_scratch() || !item.sample.files.is_empty();
        if !needs_folder {
            return Ok((None, Vec::new()));
        }
        let attempt = if attempt == CONFIRM {
            "confirm".to_owned()
        } else {
            attempt.to_string()
        };
        let epoch = match self.plan.eval.epochs {
            1 => String::new(),
            _ => format!(".{epoch}"),
        };
        let name = format!("{}{epoch}.{attempt}", name::file_name(&item.sample.id));
        let folder = self.dir.file("scratch").join(name);
        let made = in_turn(|| std::fs::create_dir_all(&folder));
        made.map_err(|error| {
            AgentError::of(
                FailureKind::NotStarted,
                format!("cannot make `{}`: {error}", folder.display()),
            )
        })?;
        let copies = item.sample.files.iter().map(|file| file.copy_into(&folder));
        match copies.collect::<Result<Vec<_>, _>>() {
            Ok(files) => Ok((Some(folder), files)),
            Err(error) => {
                self.tidy(&folder, true);
                Err(error)
            }
        }
    }

    fn tidy(&self, folder: &Path, failed: bool) {
        let keep = match self.plan.eval.keep_scratch {
            KeepScratch::Always => true,
            KeepScratch::Failed => failed,
            KeepScratch::Never => false,
        };
        if !keep {
            // What cannot be removed (an agent may have taken the rights away) stays; it harms nothing.
            if in_turn(|| std::fs::remove_dir(folder)).is_err() {
                let _ = std::fs::remove_dir_all(folder);
            }
        }
    }
}
