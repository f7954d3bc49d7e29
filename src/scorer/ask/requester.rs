//! `VerdictRequester`: asks an agent for a verdict, in a form that its endpoint supports, and once more if the reply cannot
//! be read.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::client::{AskOutcome, JudgeRequest, NamedClient, RequestPolicy};
use super::judge::prompt::{self, Exhibit};
use super::judge::reading::{ReadStatus, Reading};
use super::judge::reply::Reply;
use super::judge::rubric::Grading;
use super::judge::schema;
use super::judge::{LastWord, UnreadReply};
use crate::agent::Agent;
use crate::data::{Attachment, ReplyForm, Unread};
use crate::error::Error;
use crate::scorer::ResolvedAgent;

/// The forms in the order they are tried.
const FORMS: [ReplyForm; 3] = [ReplyForm::Schema, ReplyForm::Tool, ReplyForm::Text];

/// An agent that a scorer asks.
pub(super) struct ScorerAgent {
    pub(super) agent: Arc<dyn Agent>,
    /// Identifies the agent, independent of its address.
    pub(super) identity: String,
    /// Options added to every task of the agent.
    pub(super) options: Arc<Map<String, Value>>,
    /// Values that must not be recorded.
    pub(super) secrets: Vec<String>,
    pub(super) policy: RequestPolicy,
}

impl ScorerAgent {
    /// The agent named in options, with this identity.
    pub(super) fn named(result: ResolvedAgent, identity: String, policy: RequestPolicy) -> Self {
        let ResolvedAgent {
            agent,
            options,
            mut secrets,
        } = result;
        secrets.extend(agent.secrets());
        Self {
            agent,
            identity,
            options: Arc::new(options),
            secrets,
            policy,
        }
    }

    /// An agent constructed in Rust.
    pub(super) fn built(agent: impl Agent + 'static) -> Self {
        Self {
            identity: agent.fingerprint().unwrap_or_default(),
            options: Arc::default(),
            secrets: agent.secrets(),
            policy: RequestPolicy::default(),
            agent: Arc::new(agent),
        }
    }
}

/// Asks an agent for verdicts.
pub(super) struct VerdictRequester {
    pub(super) model: ScorerAgent,
    form: FormLadder,
    /// The task options for each form.
    task_options: [OnceLock<Arc<Map<String, Value>>>; FORMS.len()],
}

/// The methods of a scorer that asks one [`ScorerAgent`].
macro_rules! forward_model {
    ($self:ident => $model:expr) => {
        fn agents(&$self) -> Vec<std::sync::Arc<dyn $crate::agent::Agent>> {
            vec![std::sync::Arc::clone(&$model.agent)]
        }

        fn secrets(&$self) -> Vec<String> {
            $model.secrets.clone()
        }
    };
}

pub(super) use forward_model;

/// A question to the judge. All questions of one asker have the same grading.
pub(super) struct Inquiry<'a> {
    pub(super) grading: &'a Grading,
    /// The canonical text of the grading.
    pub(super) canonical: &'a str,
    pub(super) exhibits: &'a [Exhibit<'a>],
    /// Files that are not part of an exhibit.
    pub(super) files: &'a [Attachment],
    /// Characters of the judged text.
    pub(super) length: u64,
    pub(super) repeat: u32,
    /// The number of repeats.
    pub(super) repeats: u32,
    /// The key of the request, given how often it was asked before.
    pub(super) key: &'a (dyn Fn(u32) -> String + Sync),
}

/// Tracks which reply form the endpoint supports.
struct FormLadder {
    /// The index in [`FORMS`] of the form to start with.
    first: u8,
    /// 1 plus the index of the form that got a reply; 0 before the first reply.
    proven: AtomicU8,
}

impl FormLadder {
    /// Starts with the first form if the agent accepts reply forms, otherwise with plain text.
    fn of(agent: &dyn Agent) -> Self {
        Self {
            first: if agent.takes_reply_form() { 0 } else { 2 },
            proven: AtomicU8::new(0),
        }
    }

    /// The index of the form that got a reply, if any.
    fn proven(&self) -> Option<u8> {
        self.proven.load(Ordering::Relaxed).checked_sub(1)
    }

    /// The index of the form to try first.
    fn now(&self) -> u8 {
        self.proven().unwrap_or(self.first)
    }

    /// Records that the endpoint replied in this form. Earlier forms are ruled out only now: a sample that is refused
    /// in every form tells nothing about forms.
    fn replied(&self, place: u8) {
        self.proven.store(place + 1, Ordering::Relaxed);
    }
}

/// The reading of a reply, or why it cannot be read.
type ReadReply = Result<Reading, UnreadReply>;

/// Why there is no verdict.
pub(super) enum NoVerdict {
    /// The judge's reply cannot be read.
    Unread(UnreadReply),
    /// The judge did not reply.
    Failed(String),
    /// The run is stopping.
    Stopped,
}

impl NoVerdict {
    /// The error of a scorer without a verdict.
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Unread(reply) => {
                let word = reply.reason.as_str();
                let message = format!("{word}: the judge was asked twice, and {}", reply.why());
                Error::infrastructure(message).because(word)
            }
            Self::Failed(message) => {
                Error::infrastructure(format!("the judge gave no reply: {message}"))
            }
            Self::Stopped => Error::infrastructure("the run stopped before the judge replied"),
        }
    }
}

impl VerdictRequester {
    /// An asker for this model.
    pub(super) fn of(model: ScorerAgent) -> Self {
        Self {
            form: FormLadder::of(&*model.agent),
            model,
            task_options: Default::default(),
        }
    }

    /// The reading of the reply; asks once more if it cannot be read.
    pub(super) fn reading(
        &self,
        client: &NamedClient<'_>,
        inquiry: &Inquiry<'_>,
    ) -> Result<Reading, NoVerdict> {
        let mut unread = None;
        for again in [0, 1] {
            match self.ask(client, inquiry, again)? {
                Ok(reading) => return Ok(reading),
                Err(reply) => unread = Some(reply),
            }
        }
        let nothing = || UnreadReply {
            reason: Unread::NoResponse,
            last: LastWord::Reply(String::new()),
        };
        Err(NoVerdict::Unread(unread.unwrap_or_else(nothing)))
    }

    /// Makes one request, in a form that the endpoint supports.
    fn ask(
        &self,
        client: &NamedClient<'_>,
        inquiry: &Inquiry<'_>,
        again: u32,
    ) -> Result<ReadReply, NoVerdict> {
        let grading = inquiry.grading;
        let key = (inquiry.key)(again);
        let request = |place: u8| {
            let form = FORMS[usize::from(place)];
            let prompt = prompt::prompt(grading, inquiry.canonical, inquiry.exhibits, form);
            JudgeRequest {
                agent: &self.model.agent,
                key: key.clone(),
                prompt: match again {
                    0 => prompt,
                    _ => prompt::again(&prompt, grading),
                },
                options: self.task_options(grading, place),
                files: inquiry.files,
                form,
                may_fall_back: form != ReplyForm::Text && self.form.proven() != Some(place),
                repeat: inquiry.repeat,
                repeats: inquiry.repeats,
                again,
                policy: &self.model.policy,
                length: inquiry.length,
            }
        };
        let mut place = self.form.now();
        // A recorded reply counts in any form, and does not tell which form the endpoint supports now.
        let last = self.form.proven().unwrap_or(2);
        let mut first = None;
        for earlier in place..=last {
            let request = request(earlier);
            if let Some(result) = client.client.recall(client.scorer, &request)
                && let Some(read) = read(grading, client, &request, result)?
            {
                return Ok(read);
            }
            first.get_or_insert(request);
        }
        loop {
            let request = first.take().unwrap_or_else(|| request(place));
            let result = client.client.ask(client.scorer, &request);
            if matches!(result, AskOutcome::Reply(_)) {
                self.form.replied(place);
            }
            match read(grading, client, &request, result)? {
                Some(read) => return Ok(read),
                None => place += 1,
            }
        }
    }

    fn task_options(&self, grading: &Grading, place: u8) -> Arc<Map<String, Value>> {
        let place = usize::from(place);
        let options = self.task_options[place].get_or_init(|| {
            let mut options = Map::clone(&self.model.options);
            options.extend(schema::options(grading, FORMS[place]));
            Arc::new(options)
        });
        Arc::clone(options)
    }
}

/// Reads a reply; `None` if the form was refused.
fn read(
    grading: &Grading,
    client: &NamedClient<'_>,
    request: &JudgeRequest<'_>,
    result: AskOutcome,
) -> Result<Option<ReadReply>, NoVerdict> {
    let (reason, last_word) = match result {
        AskOutcome::FormRefused => return Ok(None),
        AskOutcome::Stopped => return Err(NoVerdict::Stopped),
        AskOutcome::Failed(error) => match Unread::of_failure(&error) {
            Some(reason) => (reason, LastWord::Error(error.message)),
            None => return Err(NoVerdict::Failed(error.message)),
        },
        AskOutcome::Reply(output) => {
            let reply = Reply::of(&output);
            let reading = reply.read(grading);
            match reading.status {
                ReadStatus::Read => return Ok(Some(Ok(reading))),
                ReadStatus::Unreadable(reason) => (reason, LastWord::Reply(reply.excerpt())),
            }
        }
    };
    client.client.unread(client.scorer, request, reason);
    Ok(Some(Err(UnreadReply {
        reason,
        last: last_word,
    })))
}
