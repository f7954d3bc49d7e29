//! `JudgeSlot`: one judge of a run, with its throttle.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::client::Subject;
use super::{JudgeJournal, Judging};
use crate::agent::Agent;
use crate::data::task::{JudgeTurn, Visible};
use crate::data::{
    AgentError, FailureKind, JudgeCall, Output, ReplyForm, Sample, Task, TaskFile, Unread,
};
use crate::eval::limits::budget::UsedUp;
use crate::eval::limits::{Budget, Limits};
use crate::run::ask::attempt::{check_size, truncate};
use crate::run::ask::repeated_failures::FirstAttempts;
use crate::run::ask::retry::Tries;
use crate::run::ask::scratch::new_folder;
use crate::run::ask::thread_pool::{WorkerPool, guarded};
use crate::run::ask::throttle::{NoTurn, Throttle};
use crate::scorer::ask::client::{
    JudgeRequest, OptionalJuror, RequestPolicy, of_judge, refuses_form,
};
use crate::system::clock;
use crate::system::lock;
use crate::text::file_name;

/// A judge and its state.
pub(super) struct JudgeSlot {
    agent: Arc<dyn Agent>,
    /// Its name in messages.
    name: String,
    throttle: Throttle,
    pool: WorkerPool,
    first: FirstAttempts,
    limits: Limits,
    /// Whether the endpoint refused a form, and whether that was reported.
    refused_form: AtomicBool,
    notified_form: AtomicBool,
    optional: Option<OptionalJudge>,
}

/// A judge whose jury can go on without it.
struct OptionalJudge {
    jury: String,
    /// How many judges of the jury may be out.
    most: usize,
    state: Mutex<JudgeAvailability>,
}

/// Whether it can judge.
#[derive(Default)]
struct JudgeAvailability {
    /// Whether it is counted as out.
    counted: bool,
    /// Why it is no longer asked.
    out: Option<AgentError>,
}

impl OptionalJudge {
    /// For the jury judge with the scorer name `scorer`.
    fn of(optional: &OptionalJuror, scorer: &str) -> Self {
        let jury = scorer.strip_suffix(&*optional.judge);
        Self {
            jury: jury.unwrap_or(scorer).trim_end_matches('/').to_owned(),
            most: optional.most,
            state: Mutex::default(),
        }
    }

    /// Whether the jury goes on without it. If `error` is given, it is not asked again and callers get that error.
    fn leave_out(&self, judging: &Judging, error: Option<&AgentError>) -> bool {
        let mut state = lock(&self.state);
        let may = state.counted || judging.out.one_more(&self.jury, self.most);
        if may {
            state.counted = true;
            state.out = state.out.take().or_else(|| error.cloned());
        }
        may
    }

    fn is_out(&self) -> Option<AgentError> {
        lock(&self.state).out.clone()
    }
}

/// The result of a request.
pub(super) enum Called {
    /// A reply, which is recorded.
    Reply,
    /// The endpoint does not support the form.
    FormRefused,
    /// No reply; the error is in the call.
    Failed,
    /// The run has stopped.
    Stopped,
}

impl JudgeSlot {
    pub(super) fn new(
        judging: &Judging,
        agent: &Arc<dyn Agent>,
        scorer: &str,
        policy: &RequestPolicy,
    ) -> Self {
        let run = &judging.limits;
        let rate = |rate: f64| rate / f64::from(judging.parts);
        let limits = Limits {
            timeout: policy.timeout.unwrap_or(run.timeout),
            sample_timeout: None,
            // The agent's throttle enforces the run's budget.
            budget: Budget::default(),
            requests_per_minute: policy.requests_per_minute.map(rate),
            tokens_per_minute: policy.tokens_per_minute.map(rate),
            retries: policy
                .retries
                .or(run.own_retries)
                .unwrap_or_else(|| agent.default_retries()),
            own_retries: policy.retries,
            ..run.clone()
        };
        let name = format!("judge `{scorer}`");
        let is_watched = !(run.keep_going || agent.asks_endpoint() || agent.is_deterministic());
        Self {
            throttle: Throttle::new(
                &limits,
                None,
                UsedUp::default(),
                judging.started,
                Arc::clone(&judging.stopper),
            )
            .of(&name)
            .with_emitter(judging.budget.emitter()),
            pool: WorkerPool::new(Arc::clone(agent)),
            first: if is_watched {
                FirstAttempts::watched()
            } else {
                FirstAttempts::unwatched()
            },
            agent: Arc::clone(agent),
            name,
            limits,
            refused_form: AtomicBool::new(false),
            notified_form: AtomicBool::new(false),
            optional: policy
                .optional
                .as_ref()
                .map(|optional| OptionalJudge::of(optional, scorer)),
        }
    }

    pub(super) fn is_of(&self, agent: &Arc<dyn Agent>) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.agent), Arc::as_ptr(agent))
    }

    /// Asks until there is a reply or no attempt is left. The result goes into `call`, and a reply into the journal.
    pub(super) fn ask(
        &self,
        judging: &Judging,
        journal: &dyn JudgeJournal,
        subject: &Subject<'_>,
        request: &JudgeRequest<'_>,
        call: &mut JudgeCall,
    ) -> Called {
        if let Some(error) = self.optional.as_ref().and_then(OptionalJudge::is_out) {
            call.error = Some(journal.unanswered(subject, call, &error));
            return Called::Failed;
        }
        let mut tries = Tries::new(subject.id, subject.epoch, &self.limits, 0);
        loop {
            let waiting = clock::now();
            let turn = self.throttle.turn(tries.longest_wait());
            tries.waited(clock::since(waiting));
            let turn = match turn {
                Ok(turn) => turn,
                Err(NoTurn::Stopped) => return Called::Stopped,
                Err(NoTurn::TooLate) => {
                    let error = tries.waited_too_long();
                    call.error = error.map(|error| journal.failed(subject, call, &error, false));
                    return Called::Failed;
                }
            };
            let is_affordable = judging.budget.purchase();
            if !is_affordable {
                let nothing = Err(AgentError::of(FailureKind::Cancelled, "not asked"));
                self.throttle.finish(&turn, subject.id, &nothing, false);
                return Called::Stopped;
            }
            call.attempts = tries.begin();
            let started = clock::now();
            let reply = self.attempt(judging, subject, request, call);
            call.latency_s = clock::since(started).as_secs_f64();
            self.throttle.finish(&turn, subject.id, &reply, false);
            judging.budget.paid(&reply);
            if matches!(&reply, Err(error) if error.kind == FailureKind::Shortage) {
                tries.take_back();
                call.attempts = tries.started();
                continue;
            }
            let error = match reply {
                Ok(output) => {
                    self.first.answered();
                    call.form = self.recorded_form(&output).unwrap_or(call.form);
                    call.output = Some(output);
                    self.notify_form(journal, request.form);
                    return if journal.record_reply(subject, call) {
                        Called::Reply
                    } else {
                        Called::Stopped
                    };
                }
                Err(error) => error,
            };
            if is_the_runs(judging, &error) {
                return Called::Stopped;
            }
            if Unread::of_failure(&error).is_some() {
                // This is a reply of sorts: the caller asks once more, instead of a retry.
                self.first.answered();
                call.error = Some(journal.failed(subject, call, &error, false));
                return Called::Failed;
            }
            if request.may_fall_back && refuses_form(&error) {
                journal.unanswered(subject, call, &error);
                self.refused_form.store(true, Ordering::Relaxed);
                return Called::FormRefused;
            }
            let is_repeated = self.first.failed(&error);
            let is_everyones = self.throttle.is_everyones(&error);
            let hold = self.throttle.rate_limit_pause();
            let (error, pause) = tries.failed(error, is_everyones, hold);
            let clean = journal.failed(subject, call, &error, pause.is_some());
            let named = self.named(&clean);
            match error.kind {
                FailureKind::Misconfigured | FailureKind::Unusable
                    if self.leaves(judging, journal, &clean) =>
                {
                    call.error = Some(clean);
                    return Called::Failed;
                }
                FailureKind::Misconfigured => {
                    judging.stopper.misconfigured(&named);
                    return Called::Stopped;
                }
                FailureKind::Unusable => {
                    judging.stopper.unusable(&named);
                    return Called::Stopped;
                }
                _ if is_repeated && !self.is_optional(judging) => {
                    judging.stopper.judge_repeated_failure(&named);
                }
                _ => {}
            }
            let Some(pause) = pause else {
                call.error = Some(clean);
                return Called::Failed;
            };
            judging.stopper.pause(pause);
        }
    }

    /// Whether its jury goes on without it, though it may be asked again.
    fn is_optional(&self, judging: &Judging) -> bool {
        let optional = self.optional.as_ref();
        optional.is_some_and(|optional| optional.leave_out(judging, None))
    }

    /// Whether its jury goes on without it, because every request will fail in this way. Reported once.
    fn leaves(&self, judging: &Judging, journal: &dyn JudgeJournal, error: &AgentError) -> bool {
        let Some(optional) = &self.optional else {
            return false;
        };
        let is_news = optional.is_out().is_none();
        let leaves = optional.leave_out(judging, Some(error));
        if leaves && is_news {
            journal.notice(&format!(
                "{}: {}: it is no longer called, and its jury continues without it; fix it, then \
                 `cargo evaltest rescore RUN_DIR --spec SPEC` asks it alone",
                self.name, error.message
            ));
        }
        leaves
    }

    /// Reports once that the endpoint replies in another form than the first one tried. Waits for such a reply, as
    /// refusing every form says nothing about forms.
    fn notify_form(&self, journal: &dyn JudgeJournal, form: ReplyForm) {
        let what = match form {
            ReplyForm::Tool => "the endpoint accepts no schema: asked with a tool",
            ReplyForm::Text => "the endpoint accepts neither schema nor tool: asked in plain text",
            _ => return,
        };
        let is_news = self.refused_form.load(Ordering::Relaxed)
            && !self.notified_form.swap(true, Ordering::Relaxed);
        if is_news {
            journal.notice(&format!("{}: {what}", self.name));
        }
    }

    /// The form of a recorded reply, which only the recording knows.
    fn recorded_form(&self, output: &Output) -> Option<ReplyForm> {
        let form = output.metadata.get(ReplyForm::KEY)?.as_str()?;
        let is_recorded = !self.agent.recordings().is_empty();
        ReplyForm::of(form).filter(|_| is_recorded)
    }

    /// Makes one attempt.
    fn attempt(
        &self,
        judging: &Judging,
        subject: &Subject<'_>,
        request: &JudgeRequest<'_>,
        call: &JudgeCall,
    ) -> Result<Output, AgentError> {
        let attempt = call.attempts;
        let needs_folder = self.agent.needs_scratch() || !request.files.is_empty();
        let folder = needs_folder.then(|| make_folder(judging, subject, request, attempt));
        let folder = folder.transpose()?;
        let files = match &folder {
            Some(folder) => folder.copy(request)?,
            None => Vec::new(),
        };
        let task = Task {
            talk: None,
            turn: None,
            visible: Arc::new(Visible::of(&Sample::new(
                subject.id,
                request.prompt.as_str(),
            ))),
            prompt: request.prompt.as_str().into(),
            files,
            options: Arc::clone(&request.options),
            scratch: folder.as_ref().map(|folder| folder.0.clone()),
            // Another draw for each epoch and each repeat.
            epoch: subject
                .epoch
                .saturating_mul(request.repeats)
                .saturating_add(request.repeat),
            again: request.again,
            judge: Some(JudgeTurn {
                scorer: call.scorer.as_str().into(),
                epoch: subject.epoch,
                repeat: request.repeat,
            }),
            attempt,
            deadline: self.deadline(judging),
            cancel: judging.stopper.cancel(),
            base_urls: None,
            live: None,
            progress: None,
            hidden: Arc::clone(&judging.hidden),
        };
        let reply = if self.agent.keeps_deadline() {
            guarded(&*self.agent, &task)
        } else {
            self.pool.ask(task, &judging.stopper)
        };
        let reply = reply.and_then(|output| check_size(output, &self.limits));
        reply.map_err(|mut error| {
            truncate(&mut error);
            of_judge(error)
        })
    }

    fn deadline(&self, judging: &Judging) -> Option<Instant> {
        let own = clock::now().checked_add(self.limits.timeout);
        let run = judging.stopper.deadline();
        [own, run].into_iter().flatten().min()
    }

    /// The error with the judge's name, for reports about the run.
    fn named(&self, error: &AgentError) -> AgentError {
        AgentError {
            message: format!("{}: {}", self.name, error.message),
            ..error.clone()
        }
    }
}

/// Creates the folder of an attempt.
fn make_folder(
    judging: &Judging,
    subject: &Subject<'_>,
    request: &JudgeRequest<'_>,
    attempt: u32,
) -> Result<Folder, AgentError> {
    let (id, epoch) = (file_name(subject.id), subject.epoch);
    let key = &request.key[..request.key.len().min(8)];
    let name = format!("{id}.judge.{key}.{epoch}.{attempt}");
    new_folder(&judging.scratch, &name).map(Folder)
}

/// Whether the error is the run's end rather than this question's.
fn is_the_runs(judging: &Judging, error: &AgentError) -> bool {
    match error.kind {
        FailureKind::Cancelled => true,
        FailureKind::TimedOut => judging.stopper.is_past_deadline(),
        FailureKind::Misconfigured => judging.stopper.is_stopped(),
        _ => false,
    }
}

/// The folder of an attempt, made by [`new_folder`] and removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn copy(&self, request: &JudgeRequest<'_>) -> Result<Vec<TaskFile>, AgentError> {
        let path: &Path = &self.0;
        request
            .files
            .iter()
            .map(|file| file.copy_into(path))
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
