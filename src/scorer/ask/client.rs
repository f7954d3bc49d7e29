//! `AgentClient`: sends a scorer's requests to agents.
//!
//! A scorer that asks a model is otherwise pure: it passes its request to the desk and gets the reply. The desk of a
//! run applies its journal, limits and cache, so that a reply is on disk before the scorer sees it, and a paid reply is
//! not requested again. Without a run there is the [`DirectClient`].

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::data::task::{JudgeTurn, Visible};
use crate::data::{
    AgentError, Attachment, FailureKind, JudgeCall, JurorVote, Output, ReplyForm, Sample, Task,
    Unread,
};
use crate::scorer::Answer;
use crate::system::cancel::Cancel;
use crate::system::file::TemporaryFolder;
use crate::system::{clock, panics};

/// Sends the requests about one answer.
pub(crate) trait AgentClient: Sync {
    /// The stored reply to this request, if there is one.
    fn recall(&self, scorer: &str, request: &JudgeRequest<'_>) -> Option<AskOutcome>;

    /// Sends a request; `scorer` is the name under which it is recorded.
    fn ask(&self, scorer: &str, request: &JudgeRequest<'_>) -> AskOutcome;

    /// Records that the reply to this request is no verdict.
    fn unread(&self, scorer: &str, request: &JudgeRequest<'_>, reason: Unread);

    /// Whether the run is stopping: anything that waits should give up, without a verdict.
    fn stops(&self) -> bool {
        false
    }

    /// Records the vote of a judge in a jury.
    fn voted(&self, scorer: &str, vote: JurorVote) {
        let _ = (scorer, vote);
    }

    /// The id of the judged sample, if known.
    fn sample_id(&self) -> Option<&str> {
        None
    }
}

/// A request to a judge.
pub(crate) struct JudgeRequest<'a> {
    pub(crate) agent: &'a Arc<dyn Agent>,
    /// A hash of the question and of the judge's identity, as far as it is known before the reply. It does not depend
    /// on the address or the reply form.
    pub(crate) key: String,
    /// The whole prompt.
    pub(crate) prompt: String,
    /// The task options: the agent's own, and those that request the reply form.
    pub(crate) options: Arc<Map<String, Value>>,
    pub(crate) files: &'a [Attachment],
    pub(crate) form: ReplyForm,
    /// Whether another form can be tried if the endpoint does not support this one.
    pub(crate) may_fall_back: bool,
    pub(crate) repeat: u32,
    /// The number of repeats.
    pub(crate) repeats: u32,
    pub(crate) again: u32,
    pub(crate) policy: &'a RequestPolicy,
    /// Characters of the judged text.
    pub(crate) length: u64,
}

/// Retries, timeout and rate limits for the agent that a scorer asks. The run's limits apply to unset fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RequestPolicy {
    pub(crate) retries: Option<u32>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) requests_per_minute: Option<f64>,
    pub(crate) tokens_per_minute: Option<f64>,
    pub(crate) optional: Option<OptionalJuror>,
}

/// A judge in a jury that can do without it: its total failure does not end the run while enough other judges work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OptionalJuror {
    /// Its name in the jury.
    pub(crate) judge: String,
    /// How many judges may fail.
    pub(crate) most: usize,
}

/// The result of a request.
#[derive(Debug)]
pub(crate) enum AskOutcome {
    /// The reply.
    Reply(Box<Output>),
    /// The endpoint does not support the form.
    FormRefused,
    /// No reply, and no retries remain.
    Failed(Box<AgentError>),
    /// The run is stopping.
    Stopped,
}

impl AskOutcome {
    /// The result of a recorded call.
    pub(crate) fn again(call: &JudgeCall) -> Self {
        match (&call.output, &call.error) {
            (None, Some(error)) => Self::Failed(Box::new(error.clone())),
            (reply, _) => Self::Reply(Box::new(reply.clone().unwrap_or_default())),
        }
    }
}

/// A desk with the name under which a scorer's requests are recorded.
#[derive(Clone, Copy)]
pub(crate) struct NamedClient<'a> {
    pub(crate) client: &'a dyn AgentClient,
    pub(crate) scorer: &'a str,
}

impl<'a> NamedClient<'a> {
    /// The desk of an answer; without a run, a desk that just asks the agent, with this scorer's name.
    pub(super) fn of(answer: &Answer<'a>, scorer: &'a str) -> Self {
        let direct = Self {
            client: &DirectClient,
            scorer,
        };
        answer.client.unwrap_or(direct)
    }
}

impl fmt::Debug for NamedClient<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the desk of `{}`", self.scorer)
    }
}

/// Whether an endpoint refused an unsupported parameter, such as `response_format` or `tool_choice`. A wrong key or
/// address fails in any form.
pub(crate) fn refuses_form(error: &AgentError) -> bool {
    matches!(error.http_status, Some(400 | 415 | 422 | 501))
}

/// The failure of a judge, reworded so that a missing command is the judge's and not the agent's.
pub(crate) fn of_judge(error: AgentError) -> AgentError {
    const NOT_FOUND: &str = "command not found";
    match error.message.strip_prefix(NOT_FOUND) {
        Some(rest) if error.kind == FailureKind::NotFound => AgentError {
            message: format!("the judge's {NOT_FOUND}{rest}"),
            ..error
        },
        _ => error,
    }
}

/// The default time limit of a request.
const TIMEOUT: Duration = Duration::from_mins(10);
/// The pause before the first retry, and the longest pause.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(30)];

/// Asks directly, retries transient failures, and stores nothing.
pub(crate) struct DirectClient;

impl AgentClient for DirectClient {
    fn recall(&self, _: &str, _: &JudgeRequest<'_>) -> Option<AskOutcome> {
        None
    }

    fn ask(&self, scorer: &str, request: &JudgeRequest<'_>) -> AskOutcome {
        let retries = request.policy.retries;
        let retries = retries.unwrap_or_else(|| request.agent.default_retries());
        let mut pause = PAUSES[0];
        for attempt in 1.. {
            let error = match attempt_once(scorer, request, attempt) {
                Ok(output) => return AskOutcome::Reply(Box::new(output)),
                Err(error) => error,
            };
            if Unread::of_failure(&error).is_some() {
                return AskOutcome::Failed(Box::new(error));
            }
            if request.may_fall_back && refuses_form(&error) {
                return AskOutcome::FormRefused;
            }
            if !error.is_transient() || attempt > retries {
                return AskOutcome::Failed(Box::new(error));
            }
            sleep(error.retry_after().unwrap_or_default().max(pause));
            pause = (pause * 2).min(PAUSES[1]);
        }
        AskOutcome::Stopped
    }

    fn unread(&self, _: &str, _: &JudgeRequest<'_>, _: Unread) {}
}

fn attempt_once(
    scorer: &str,
    request: &JudgeRequest<'_>,
    attempt: u32,
) -> Result<Output, AgentError> {
    static NOBODY: LazyLock<Cancel> = LazyLock::new(Cancel::new);
    let scratch = request
        .agent
        .needs_scratch()
        .then(TemporaryFolder::new)
        .transpose()
        .map_err(|error| {
            let message = format!("cannot make a folder for the judge: {error}");
            AgentError::of(FailureKind::NotStarted, message)
        })?;
    let timeout = request.policy.timeout.unwrap_or(TIMEOUT);
    let task = Task {
        talk: None,
        turn: None,
        visible: Arc::new(Visible::of(&Sample::new(&*request.key, &*request.prompt))),
        prompt: request.prompt.as_str().into(),
        files: Vec::new(),
        options: Arc::clone(&request.options),
        scratch: scratch.as_ref().map(|scratch| scratch.path().to_owned()),
        epoch: request.repeat,
        again: request.again,
        judge: Some(JudgeTurn {
            scorer: scorer.into(),
            epoch: 0,
            repeat: request.repeat,
        }),
        attempt,
        deadline: clock::now().checked_add(timeout),
        cancel: NOBODY.clone(),
        live: None,
        progress: None,
        hidden: Arc::default(),
        base_urls: None,
    };
    panics::catch(|| request.agent.answer(&task))
        .unwrap_or_else(|reason| Err(AgentError::of(FailureKind::Panicked, reason)))
        .map_err(of_judge)
}
