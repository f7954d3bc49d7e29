//! `DirectClient`: asks without a run, as in `score` and in custom tests.

use std::sync::{Arc, LazyLock};
use std::thread::sleep;
use std::time::Duration;

use super::{AgentClient, AskOutcome, JudgeRequest, of_judge, refuses_form};
use crate::data::task::{JudgeTurn, Visible};
use crate::data::{AgentError, FailureKind, Output, Sample, Task, Unread};
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::system::panics;
use crate::system::temporary_folder::TemporaryFolder;

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
    };
    panics::catch(|| request.agent.answer(&task))
        .unwrap_or_else(|reason| Err(AgentError::of(FailureKind::Panicked, reason)))
        .map_err(of_judge)
}
