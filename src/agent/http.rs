//! The `http` agent: any endpoint that takes and returns JSON.
//!
//! `template` makes the body from a task; the answer is found in the reply by JSON pointers ([`Places`]). One attempt is one request; retries and stopping the run work as for
//! [`OpenAi`](super::openai::OpenAi).

mod template;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::endpoint::{Endpoint, forward_endpoint, sets_endpoint};
use super::{Agent, endpoint};
use crate::agent::reply::marks::is_error;
use crate::agent::reply::{Json, Marks, ReportedFigures};
use crate::data::{AgentError, FailureKind, Finish, Output, Task};
use crate::error::{Error, Result, Under};
use crate::system::http::{HttpReply, Url};
use crate::system::process::excerpt::beginning;
use template::{JsonTemplate, Placeholder, UrlTemplate};

/// An example of an address.
const EXAMPLE: &str = "http://127.0.0.1:9000/answer";
/// The default body.
const BODY: &str = r#"{"id": "{id}", "prompt": "{prompt}", "question": "{question}", "files": "{files}",
    "metadata": "{metadata}", "tools": "{tools}", "options": "{options}", "epoch": "{epoch}", "attempt": "{attempt}"}"#;

/// An agent behind an address.
///
/// ```no_run
/// use evaltest::agent::Http;
/// use serde_json::json;
///
/// # fn main() -> evaltest::Result<()> {
/// let agent = Http::new("http://127.0.0.1:9000/answer")?
///     .body(&json!({"question": "{prompt}", "id": "{id}"}))?
///     .header("Authorization", "Bearer ${MY_KEY}", ".")?;
/// # let _: &dyn evaltest::Agent = &agent;
/// # Ok(())
/// # }
/// ```
///
/// In every text of the body, `{prompt}`, `{question}` and `{id}` are replaced by texts of the sample, `{epoch}` and
/// `{attempt}` by numbers, `{messages}`, `{tools}`, `{options}`, `{metadata}`, `{files}` (names and paths) and
/// `{file_contents}` (names and base64) by JSON. A text that is only a placeholder becomes the value itself; elsewhere
/// it is written out. `{{prompt}}` is a literal `{prompt}`.
#[derive(Debug)]
pub struct Http {
    pub(in crate::agent) endpoint: Endpoint,
    url: UrlTemplate,
    body: Option<JsonTemplate>,
    places: Places,
}

impl Http {
    /// An endpoint that is asked with `POST`. In its path and query, `{id}` and the other placeholders of texts and
    /// numbers are replaced, percent-encoded.
    ///
    /// # Errors
    /// When the address is invalid, or the environment names a proxy or certificates that cannot be used.
    pub fn new(url: &str) -> Result<Self> {
        Self::with_method("POST", url)
    }

    /// As [`Http::new`], with another method. `GET`, `HEAD` and `DELETE` send no body.
    ///
    /// # Errors
    /// As [`Http::new`], and when the method is invalid.
    pub fn with_method(method: &str, url: &str) -> Result<Self> {
        let method = method.to_ascii_uppercase();
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            let error = Error::usage(format!("`{method}` is not an HTTP method"));
            return Err(error.hint("write `method: POST`").under("method"));
        }
        let template = UrlTemplate::new(url, EXAMPLE).under("url")?;
        let display = Url::new(template.display(), EXAMPLE).under("url")?;
        let mut endpoint = Endpoint::new(&method, display).under("url")?;
        let has_body = !matches!(method.as_str(), "GET" | "HEAD" | "DELETE");
        let body = if has_body {
            endpoint.header("Content-Type", "application/json", []);
            let body: Value = serde_json::from_str(BODY)
                .map_err(|error| Error::usage(format!("the default body is not JSON: {error}")))?;
            Some(JsonTemplate::new(&body)?)
        } else {
            None
        };
        endpoint.header("Accept", "application/json", []);
        Ok(Self {
            endpoint,
            url: template,
            body,
            places: Places::default(),
        })
    }

    /// The body; by default the JSON that a `command` agent gets.
    ///
    /// # Errors
    /// When it has an unknown placeholder, or the method sends no body.
    pub fn body(mut self, body: &Value) -> Result<Self> {
        if self.body.is_none() {
            let error = Error::usage("a request with this method cannot have a `body`");
            let error = error.hint("remove `body`, or write `method: POST`");
            return Err(error.of_key("body"));
        }
        self.body = Some(JsonTemplate::new(body).under("body")?);
        Ok(self)
    }

    sets_endpoint!();

    /// Where to find things in the reply.
    #[must_use]
    pub fn places(mut self, places: Places) -> Self {
        self.places = places;
        self
    }
}

impl Http {
    /// Reads a success reply.
    pub(in crate::agent) fn read(&self, reply: &HttpReply) -> Result<Output, AgentError> {
        self.places.read(&reply.body).map_err(|fault| match fault {
            Fault::Error(error) if reply.encoding().is_some() => {
                let encoding = reply.encoding().unwrap_or_default();
                let message = format!("{}, packed with `{encoding}`", error.message);
                self.endpoint.garbled(&message)
            }
            Fault::Error(error) if error.kind != FailureKind::Failed => {
                self.endpoint.with_address(error)
            }
            Fault::Error(error) => error,
            Fault::Api(error) => self.endpoint.refused_within(&error, reply),
        })
    }

    /// Whether the options of a task are in its request.
    pub(crate) fn sends_options(&self) -> bool {
        let body = self.body.as_ref();
        body.is_some_and(|body| body.holds(Placeholder::Options))
    }
}

impl Agent for Http {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let unsendable = |error: Error| AgentError::of(FailureKind::Misconfigured, error.message());
        let body = self.body.as_ref().map(|body| body.fill(task)).transpose()?;
        let body = body.map(|body| body.to_string().into_bytes());
        let url = self.url.fill(task).map_err(unsendable)?;
        let reply = self.endpoint.ask(task, url.as_ref(), body.as_deref())?;
        let output = self.read(&reply)?;
        self.endpoint.answered();
        Ok(output)
    }

    fn fingerprint(&self) -> Option<String> {
        let keys = self
            .endpoint
            .fingerprint("http")
            .part("url", format_args!("{:?}", self.url))
            .part("body", format_args!("{:?}", self.body))
            .part("places", format_args!("{:?}", self.places));
        Some(keys.hex())
    }

    fn takes_messages(&self) -> bool {
        let body = self.body.as_ref();
        body.is_some_and(|body| body.holds(Placeholder::Messages))
    }

    forward_endpoint!(self);

    fn takes_base_urls(&self) -> bool {
        false
    }
}

/// How many bytes of an unreadable reply are shown.
const EXCERPT_BYTES: usize = 200;
/// How many bytes of an agent's own error are shown.
const ERROR_BYTES: usize = 1000;

/// JSON pointers into a reply. Only the answer is required.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The answer: a text, a number, `true`, `false`, or anything else as JSON; `null` is no answer. `None`: the reply
    /// is the answer, as text.
    pub answer: Option<String>,
    /// The conversation, a list.
    pub messages: String,
    /// Tool calls, a list.
    pub tool_calls: String,
    /// An object with `input_tokens` or `prompt_tokens`, `output_tokens` or `completion_tokens`, and `cost_usd`.
    pub usage: String,
    /// A text that says why there is no answer; the attempt then fails.
    pub error: String,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            answer: Some("/answer".to_owned()),
            messages: "/messages".to_owned(),
            tool_calls: "/tool_calls".to_owned(),
            usage: "/usage".to_owned(),
            error: "/error".to_owned(),
        }
    }
}

/// Why a reply is no answer.
#[derive(Debug)]
enum Fault {
    Error(AgentError),
    /// An error in the form of an API, whose code says what it is.
    Api(Value),
}

impl From<AgentError> for Fault {
    fn from(error: AgentError) -> Self {
        Self::Error(error)
    }
}

impl Places {
    /// Reads a reply.
    fn read(&self, body: &[u8]) -> Result<Output, Fault> {
        let begins = || beginning(body.trim_ascii_start(), EXCERPT_BYTES);
        let bad = |reason: String| {
            AgentError::of(FailureKind::BadOutput, format!("{reason}: `{}`", begins()))
        };
        let Some(answer) = &self.answer else {
            let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
            if body.trim_ascii().is_empty() {
                let message = "answered with an empty body";
                return Err(AgentError::of(FailureKind::NoOutput, message).into());
            }
            return Ok(Output::text(String::from_utf8_lossy(body)));
        };
        let json = Json::read(body)
            .map_err(|error| bad(format!("answered with invalid JSON ({error})")))?;
        let reply = &json.value;
        let marks = reply.as_object().map(Marks::of).unwrap_or_default();
        let list = |place: &str| match reply.pointer(place) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => Ok(list.clone()),
            Some(_) => Err(bad(format!("answered without a list at `{place}`"))),
        };
        let (messages, tool_calls) = (list(&self.messages)?, list(&self.tool_calls)?);
        let found = reply.pointer(answer);
        let is_empty = found.is_none_or(|found| found.is_null() || found == "");
        if let Some(fault) = self.fault(reply, &marks, is_empty) {
            return Err(fault);
        }
        if marks.finish == Finish::Refused && is_empty && tool_calls.is_empty() {
            let error = AgentError::of(FailureKind::Refused, endpoint::WITHHELD);
            return Err(error.into());
        }
        let is_missing = found.is_none() && messages.is_empty() && tool_calls.is_empty();
        if is_missing && marks.finish == Finish::Answer {
            return Err(bad(format!("answered without a value at `{answer}`")).into());
        }
        let text = match found {
            None | Some(Value::Null) => None,
            Some(_) => json.written(answer),
        };
        let mut metadata = Map::new();
        marks.note(&mut metadata);
        let figures = self.figures(reply);
        Ok(figures.output(text, messages, tool_calls, metadata))
    }

    /// The error of a reply: that of an API by its code, that of an agent by its text.
    fn fault(&self, reply: &Value, marks: &Marks<'_>, is_empty: bool) -> Option<Fault> {
        let own = reply.pointer(&self.error).filter(|_| is_empty);
        let text = own.and_then(|error| error.as_str().or_else(|| error.get("message")?.as_str()));
        let has_code = |error: &Value| {
            ["code", "type", "status"]
                .iter()
                .any(|key| error.get(key).is_some_and(is_code))
        };
        if let Some(text) = text.filter(|_| !own.is_some_and(has_code)) {
            return Some(Fault::Error(AgentError::new(match text.trim() {
                "" => "the agent replied with an empty error".to_owned(),
                text => beginning(text.as_bytes(), ERROR_BYTES),
            })));
        }
        let found = marks.outage().map(|found| found.error());
        let error = own.filter(|error| is_error(error)).cloned().or(found)?;
        Some(Fault::Api(error))
    }

    /// The usage, at its place or where an API has it.
    fn figures(&self, reply: &Value) -> ReportedFigures {
        let usage = reply.pointer(&self.usage);
        match reply {
            Value::Object(reply) => ReportedFigures::with(reply, usage),
            _ => ReportedFigures::with(&Map::new(), usage),
        }
    }
}

/// Whether a value can be the code of an error.
fn is_code(value: &Value) -> bool {
    value.is_number() || value.as_str().is_some_and(|text| !text.is_empty())
}
