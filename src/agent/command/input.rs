//! What an agent reads from stdin.

use std::borrow::Cow;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::data::conversation::transcript;
use crate::data::task::BaseUrls;
use crate::data::{AgentError, FailureKind, Task};
use crate::text::json_line;

/// The form in which a program gets its task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// The prompt, as it is.
    #[default]
    Text,
    /// One line of JSON with `id`, `prompt`, `question`, `files`, `metadata`, `tools`, `options`, `epoch`, `attempt`
    /// and, if there are any, `scratch` and `base_urls`.
    Json,
}

/// The JSON form. Its keys are stable for agents: add, never rename.
#[derive(Serialize)]
struct Request<'a> {
    id: &'a str,
    prompt: &'a str,
    question: &'a str,
    files: Vec<File<'a>>,
    metadata: &'a Map<String, Value>,
    tools: &'a [Value],
    options: &'a Map<String, Value>,
    epoch: u32,
    attempt: u32,
    /// The conversation, if it is one, and its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    messages: &'a [Value],
    /// The file by which clients of MCP find the server of the tools, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp: Option<String>,
    /// A folder for this attempt alone, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    scratch: Option<String>,
    /// Where models are called, if calls are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_urls: Option<&'a BaseUrls>,
}

#[derive(Serialize)]
struct File<'a> {
    name: &'a str,
    path: String,
}

impl Input {
    /// The bytes for one task.
    pub(in crate::agent) fn encode(self, task: &Task) -> Result<Vec<u8>, AgentError> {
        match self {
            Self::Text => Ok(prompt(task).into_owned().into_bytes()),
            Self::Json => json(task),
        }
    }
}

/// What is asked, as text: the prompt, or a conversation so far.
pub(super) fn prompt(task: &Task) -> Cow<'_, str> {
    match task.messages() {
        [] | [_] => task.prompt().into(),
        messages => transcript(messages).into(),
    }
}

fn json(task: &Task) -> Result<Vec<u8>, AgentError> {
    let mut files = Vec::with_capacity(task.files().len());
    for file in task.files() {
        let path = absolute(&file.path)?;
        files.push(File {
            name: &file.name,
            path,
        });
    }
    let request = Request {
        id: task.id(),
        prompt: task.prompt(),
        question: task.question(),
        files,
        metadata: task.metadata(),
        tools: task.tools(),
        options: task.options(),
        epoch: task.epoch(),
        attempt: task.attempt(),
        session: task.session(),
        turn: task.turn(),
        messages: task.messages(),
        mcp: task
            .server()
            .map(|server| absolute(&server.config))
            .transpose()?,
        scratch: task.scratch().map(absolute).transpose()?,
        base_urls: task.base_urls.as_deref(),
    };
    let mut line = json_line(&request).map_err(|error| {
        let message = format!("the task cannot be written as JSON: {error}");
        AgentError::of(FailureKind::NotStarted, message)
    })?;
    line.push(b'\n');
    Ok(line)
}

fn absolute(path: &Path) -> Result<String, AgentError> {
    let path = super::absolute(path)?;
    // A lossy path would name a file that does not exist.
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("the path `{}` is not UTF-8", path.display());
        AgentError::of(FailureKind::Attachment, message)
    })
}
