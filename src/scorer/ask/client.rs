//! `AgentClient`: sends a scorer's requests to agents.
//!
//! A scorer that asks a model is otherwise pure: it passes its request to the desk and gets the reply. The desk of a
//! run applies its journal, limits and cache, so that a reply is on disk before the scorer sees it, and a paid reply is
//! not requested again. Without a run there is the [`DirectClient`].

mod direct;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::data::{
    AgentError, Attachment, FailureKind, JudgeCall, JurorVote, Output, ReplyForm, Unread,
};
use crate::scorer::Answer;
use direct::DirectClient;

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
