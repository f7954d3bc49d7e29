//! `AgentCaller`: makes one attempt. Prepares the task, calls the agent and measures the time.
//!
//! An agent that enforces deadlines itself is called on the worker's thread. Any other, such as a closure, cannot be
//! killed: it runs on a thread of the [`WorkerPool`], which is abandoned when time is up.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::progress::ProgressLog;
use super::scratch::{AttemptFiles, ScratchFolders};
use super::thread_pool::{WorkerPool, guarded};
use crate::agent::recorded::CallsEnded;
use crate::agent::recorded::recorder::Recorder;
use crate::agent::reply::usage;
use crate::benchmark::prompt::Prompt;
use crate::data::ItemPart;
use crate::data::conversation::{Script, Talk, TalkBudget, TalkJournal};
use crate::data::task::Visible;
use crate::data::{AgentError, EndedBy, FailureKind, Output, Sample, Task, Usage};
use crate::eval::limits::Limits;
use crate::eval::plan::Plan;
use crate::run::session::emitter::Emitter;
use crate::run::session::question::{CONFIRM, Question};
use crate::run::session::stop::Stopper;
use crate::store::RunDir;
use crate::system::shortage::{self, Room};
use crate::system::{clock, lock};

/// Files that one attempt has open at once while it is prepared.
const FILES: usize = 2;

/// Calls the agent.
pub(in crate::run) struct AgentCaller {
    plan: Arc<Plan>,
    stopper: Arc<Stopper>,
    emitter: Arc<Emitter>,
    pool: WorkerPool,
    scratch: ScratchFolders,
    /// Records or replays calls of models, if the eval wants that.
    recorder: Option<Arc<Recorder>>,
}

/// Where the journal has what happens in an attempt.
pub(in crate::run) struct AttemptLogs {
    pub(in crate::run) progress: ProgressLog,
    pub(in crate::run) talk: TalkJournal,
    pub(in crate::run) budget: TalkBudget,
}

/// The result of an attempt.
pub(in crate::run) struct Attempted {
    pub(in crate::run) result: Result<Output, AgentError>,
    /// How long it took, in seconds.
    pub(in crate::run) latency_s: f64,
    /// Whether each request of it was charged by itself.
    pub(in crate::run) is_charged: bool,
    /// Whether a call of a model was replayed.
    pub(in crate::run) is_recorded: bool,
}

impl Attempted {
    /// An attempt for which the agent was not called.
    pub(in crate::run) fn failed(error: AgentError) -> Self {
        Self {
            result: Err(error),
            latency_s: 0.0,
            is_charged: false,
            is_recorded: false,
        }
    }
}

/// The item itself as the answer, without asking anyone.
pub(in crate::run) fn rendered(parts: &[ItemPart], sample: &Sample) -> Result<Output, AgentError> {
    let text = ItemPart::rendered(parts, sample);
    let nothing = || AgentError::of(FailureKind::Failed, "the item has none of the shown fields");
    let output = Output::text(text.ok_or_else(nothing)?);
    Ok(output.usage(Usage::tokens(0, 0).cost_usd(0.0)))
}

impl AgentCaller {
    pub(in crate::run) fn new(
        plan: Arc<Plan>,
        dir: &RunDir,
        stopper: Arc<Stopper>,
        emitter: Arc<Emitter>,
        recorder: Option<Arc<Recorder>>,
    ) -> Self {
        Self {
            recorder,
            pool: WorkerPool::new(Arc::clone(&plan.eval.agent)),
            scratch: ScratchFolders::new(Arc::clone(&plan), dir),
            plan,
            stopper,
            emitter,
        }
    }

    /// What is to be said of the recorded calls at the end of the run.
    pub(in crate::run) fn recorder_notices(&self) -> Vec<String> {
        self.recorder
            .as_ref()
            .map_or_else(Vec::new, |recorder| recorder.notices())
    }

    /// Reserves room for the files of an attempt. The files that its agent opens need room of their own.
    pub(in crate::run) fn room() -> Result<Room, AgentError> {
        shortage::room_for_files(FILES)
            .map_err(|shortage| AgentError::of(FailureKind::Shortage, shortage.to_string()))
    }

    /// Asks once, with room for its files. `sample_remaining` is the time that the sample has left, if there is a limit.
    pub(in crate::run) fn attempt(
        &self,
        question: &Question,
        attempt: u32,
        sample_remaining: Option<Duration>,
        room: Room,
        logs: &AttemptLogs,
    ) -> Attempted {
        let progress = &logs.progress;
        if let Some(parts) = self.plan.eval.agent.item_parts() {
            let rendered = rendered(parts, &question.item.sample);
            return Attempted {
                result: rendered.and_then(|output| check_size(output, &self.plan.eval.limits)),
                latency_s: 0.0,
                is_charged: false,
                is_recorded: false,
            };
        }
        let AttemptFiles { folder, files } = match self.scratch.prepare(question, attempt) {
            Ok(prepared) => prepared,
            // The scratch folder is ours: without one, no sample can be asked.
            Err(error) if error.kind == FailureKind::NotStarted => {
                self.stopper.unprepared(&error);
                let error = AgentError::of(FailureKind::Cancelled, error.message);
                return Attempted::failed(error);
            }
            Err(error) => return Attempted::failed(error),
        };
        // The agent takes room of its own.
        drop(room);
        let agent = &self.plan.eval.agent;
        let started = clock::now();
        let talk = self.talk(question, logs);
        let is_charged = talk.is_some();
        let deadline = self.deadline(started, sample_remaining, talk.as_deref());
        let begin = |recorder: &Arc<Recorder>| {
            let cancel = self.stopper.cancel();
            recorder.begin(question.id(), question.epoch, deadline, cancel)
        };
        let calls = match self.recorder.as_ref().map(begin).transpose() {
            Ok(calls) => calls,
            Err(error) => return Attempted::failed(error),
        };
        let task = Task {
            deadline,
            base_urls: calls.as_ref().map(|calls| calls.urls()),
            talk,
            turn: None,
            // Made per attempt: stored for every sample, it would hold each question twice.
            visible: Arc::new(Visible::of(&question.item.sample)),
            prompt: question.prompt(&self.plan),
            files,
            options: Arc::clone(&self.plan.eval.agent_options),
            scratch: folder.clone(),
            epoch: question.epoch,
            again: question.again(),
            judge: None,
            attempt,
            cancel: self.stopper.cancel(),
            live: self.emitter.live(question.id()),
            progress: Some(progress.live()),
            hidden: Arc::clone(&self.plan.hidden),
        };
        let recorded = agent.recorded_latency_s(&task);
        let answer = if agent.keeps_deadline() {
            guarded(&**agent, &task)
        } else {
            self.pool.ask(task, &self.stopper)
        };
        progress.end();
        // Waiting for the rate of the run is no time of the agent.
        let waited = Duration::from_micros(logs.budget.waited_us.load(Ordering::Relaxed));
        let took = clock::since(started).saturating_sub(waited);
        let latency_s = recorded.unwrap_or(took.as_secs_f64());
        let (answer, is_recorded) = match calls {
            // An answer that confirms a flip is not the one that is recorded.
            Some(calls) => {
                let ended = calls.end(answer.is_ok(), attempt != CONFIRM);
                replayed(answer, &ended)
            }
            None => (answer, false),
        };
        let answer = answer.map(usage::checked);
        let answer = answer.and_then(|output| check_size(output, &self.plan.eval.limits));
        let result = answer.map_err(|mut error| {
            truncate(&mut error);
            let is_last = error.kind == FailureKind::TimedOut
                && self.timeout(sample_remaining) == EndedBy::SampleTimeout;
            if is_last {
                error.message += ", which `limits.sample_timeout_s` left";
            }
            error.ended_by = error.ended_by.or(match error.kind {
                FailureKind::TimedOut => Some(self.timeout(sample_remaining)),
                FailureKind::OutputTooLarge => Some(EndedBy::MaxOutputBytes),
                _ => None,
            });
            error
        });
        if let Some(folder) = folder {
            self.scratch.tidy(&folder, result.is_err());
        }
        Attempted {
            result,
            latency_s,
            is_charged,
            is_recorded,
        }
    }

    /// The deadline of an attempt that starts now: the earliest of its own timeout, the sample's and the run's. A
    /// timeout beyond the range of the clock is ignored.
    fn deadline(
        &self,
        now: Instant,
        sample_remaining: Option<Duration>,
        talk: Option<&Talk>,
    ) -> Option<Instant> {
        let limits = &self.plan.eval.limits;
        let own = match talk {
            None => now.checked_add(limits.timeout),
            Some(talk) => now.checked_add(talk.whole),
        };
        let sample = sample_remaining.and_then(|remaining| now.checked_add(remaining));
        let run = self.stopper.deadline();
        [own, sample, run].into_iter().flatten().min()
    }

    /// The conversation that a question is, if the agent holds it.
    fn talk(&self, question: &Question, logs: &AttemptLogs) -> Option<Arc<Talk>> {
        let eval = &self.plan.eval;
        let driver = eval.agent.conversation()?;
        let script = Script::of(&question.item.sample)?;
        let longest = driver.longest(&script, eval.limits.timeout);
        Some(Arc::new(Talk {
            script: script.into(),
            timeout: eval.limits.timeout,
            whole: eval.limits.conversation_timeout.unwrap_or(longest),
            in_words: !matches!(eval.prompt, Prompt::None),
            fault: question.fault,
            earlier: lock(&question.messages).clone(),
            journal: logs.talk.clone(),
            budget: logs.budget.clone(),
        }))
    }

    /// Which of the two timeouts comes first.
    fn timeout(&self, sample_remaining: Option<Duration>) -> EndedBy {
        match sample_remaining {
            Some(remaining) if remaining < self.plan.eval.limits.timeout => EndedBy::SampleTimeout,
            _ => EndedBy::Timeout,
        }
    }
}

/// The answer of an agent whose calls were recorded, and whether one was replayed: a call that is not recorded fails it,
/// whatever the agent made of that.
fn replayed(
    answer: Result<Output, AgentError>,
    calls: &CallsEnded,
) -> (Result<Output, AgentError>, bool) {
    let stderr = |answer: &Result<Output, AgentError>| {
        let error = answer.as_ref().err()?;
        error.stderr_tail.clone()
    };
    let is_cancelled = answer
        .as_ref()
        .is_err_and(|error| error.kind == FailureKind::Cancelled);
    let answer = match (&calls.failure, &calls.note) {
        _ if is_cancelled => answer,
        (Some(failure), _) => Err(AgentError {
            stderr_tail: stderr(&answer),
            ..failure.clone()
        }),
        (None, Some(note)) => answer.map_err(|error| AgentError {
            message: format!("{}; {note}", error.message),
            ..error
        }),
        (None, None) => answer,
    };
    (answer, calls.is_recorded)
}

/// Refuses an answer that is too long.
pub(in crate::run) fn check_size(output: Output, limits: &Limits) -> Result<Output, AgentError> {
    let limit = limits.max_output_bytes;
    if output.conversation.is_some() {
        // The limit is that of each reply.
        let replies = output
            .messages
            .iter()
            .filter(|message| message["role"] == "assistant");
        let longest = replies.map(|reply| reply.to_string().len()).max();
        return match longest.filter(|longest| *longest as u64 > limit) {
            Some(longest) => Err(too_large(longest, limit)),
            None => Ok(output),
        };
    }
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
    Err(too_large(size, limit))
}

fn too_large(size: usize, limit: u64) -> AgentError {
    let message = format!("answered {size} bytes, more than `limits.max_output_bytes` ({limit})");
    AgentError::of(FailureKind::OutputTooLarge, message)
}

/// Truncates an agent's error text, to which `max_output_bytes` does not apply.
pub(in crate::run) fn truncate(error: &mut AgentError) {
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
