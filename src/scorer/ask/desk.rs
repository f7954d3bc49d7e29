//! `Desk`: where a scorer has an agent asked.
//!
//! A scorer that asks a model is as pure as any other, but for its desk: it hands over what is to be asked, and gets
//! what was said. Behind the desk of a run are its journal, its limits and its cache, so that a reply is on disk before
//! the scorer sees it, and one that was paid for is not asked for again. Without a run there is the [`LoneDesk`].

mod lone;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::data::{
    AgentError, Attachment, FailureKind, JudgeCall, JurorVote, Output, ReplyForm, Unread,
};
use crate::scorer::Answer;
use lone::LoneDesk;

/// Has agents asked for one answer that is judged.
pub(crate) trait Desk: Sync {
    /// What was said to this before, and need not be asked for.
    fn recall(&self, scorer: &str, request: &JudgeRequest<'_>) -> Option<Heard>;

    /// Asks; `scorer` is the name under which that is recorded.
    fn ask(&self, scorer: &str, request: &JudgeRequest<'_>) -> Heard;

    /// Notes that the reply to this request is no verdict.
    fn unread(&self, scorer: &str, request: &JudgeRequest<'_>, reason: Unread);

    /// Whether whoever waits for something else gives up, for the run stops: then there is no verdict.
    fn stops(&self) -> bool {
        false
    }

    /// Notes what a judge says as one of a jury.
    fn voted(&self, scorer: &str, vote: JurorVote) {
        let _ = (scorer, vote);
    }

    /// The id of the sample whose answer is judged, where it is known.
    fn sample_id(&self) -> Option<&str> {
        None
    }
}

/// What a judge is asked.
pub(crate) struct JudgeRequest<'a> {
    pub(crate) agent: &'a Arc<dyn Agent>,
    /// What it is asked, and who it is, as far as that is known before it replies: a hash that is the same wherever the
    /// request is sent to, and in whatever form.
    pub(crate) key: String,
    /// The whole prompt.
    pub(crate) prompt: String,
    /// What the agent's task brings along: options of its own, and what makes it reply in this form.
    pub(crate) options: Arc<Map<String, Value>>,
    pub(crate) files: &'a [Attachment],
    pub(crate) form: ReplyForm,
    /// Whether there is another form to try if the endpoint does not know this one.
    pub(crate) may_fall_back: bool,
    pub(crate) repeat: u32,
    /// How many repeats there are.
    pub(crate) repeats: u32,
    pub(crate) again: u32,
    pub(crate) patience: &'a Patience,
    /// Characters of what is judged.
    pub(crate) length: u64,
}

/// How patient a scorer is with the agent that it asks; where it says nothing, the run's limits hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Patience {
    pub(crate) retries: Option<u32>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) requests_per_minute: Option<f64>,
    pub(crate) tokens_per_minute: Option<f64>,
    pub(crate) spared: Option<Spared>,
}

/// A judge that is one of several, who go on without it: that it cannot judge at all is no reason to end the run while
/// enough of the others can.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spared {
    /// Its name among them.
    pub(crate) judge: String,
    /// So many of them may be out.
    pub(crate) most: usize,
}

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Heard {
    /// It said this.
    Said(Box<Output>),
    /// The endpoint does not know the form.
    FormRefused,
    /// It said nothing, and was asked as often as it may be.
    Failed(Box<AgentError>),
    /// Nobody is asked any more.
    Stopped,
}

impl Heard {
    /// What came of a call of before.
    pub(crate) fn again(call: &JudgeCall) -> Self {
        match (&call.output, &call.error) {
            (None, Some(error)) => Self::Failed(Box::new(error.clone())),
            (said, _) => Self::Said(Box::new(said.clone().unwrap_or_default())),
        }
    }
}

/// A desk with the name under which a scorer's requests are recorded.
#[derive(Clone, Copy)]
pub(crate) struct NamedDesk<'a> {
    pub(crate) desk: &'a dyn Desk,
    pub(crate) scorer: &'a str,
}

impl<'a> NamedDesk<'a> {
    /// The desk of an answer; without a run nobody gives it one, and the scorer of this name has its agent asked all the
    /// same.
    pub(super) fn of(answer: &Answer<'a>, scorer: &'a str) -> Self {
        let lone = Self {
            desk: &LoneDesk,
            scorer,
        };
        answer.desk.unwrap_or(lone)
    }
}

impl fmt::Debug for NamedDesk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the desk of `{}`", self.scorer)
    }
}

/// Whether an endpoint refuses what it does not know, as `response_format` or `tool_choice`. A wrong key or address
/// stays wrong in any form.
pub(crate) fn refuses_form(error: &AgentError) -> bool {
    matches!(error.http_status, Some(400 | 415 | 422 | 501))
}

/// The failure of a judge, which says that it is the judge's command that is not there, and not the agent's.
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
