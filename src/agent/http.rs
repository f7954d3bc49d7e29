//! The `http` agent: any endpoint that takes and returns JSON.
//!
//! A task goes through the files of the folder in this order: `template` makes the body, the endpoint is asked, `reply`
//! finds the answer by a JSON pointer. One attempt is one request; retries and stopping the run work as for
//! [`OpenAi`](super::openai::OpenAi).

mod reply;
mod template;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde_json::Value;

use super::Agent;
use super::endpoint::{Endpoint, forward_endpoint, headers};
use crate::data::{AgentError, FailureKind, Output, Task};
use crate::error::{Error, Result, Under};
use crate::system::http::Url;
use template::{JsonTemplate, Placeholder, UrlTemplate};

pub use reply::Places;

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
    endpoint: Endpoint,
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
            let error = Error::usage(format!("`{method}` is no method of HTTP"));
            return Err(error.hint("write `method: POST`").under("method"));
        }
        let template = UrlTemplate::new(url, EXAMPLE).under("url")?;
        let display = Url::new(template.display(), EXAMPLE).under("url")?;
        let mut endpoint = Endpoint::new(&method, display).under("url")?;
        let has_body = !matches!(method.as_str(), "GET" | "HEAD" | "DELETE");
        let body = if has_body {
            endpoint.header("Content-Type", "application/json", []);
            let body: Value = serde_json::from_str(BODY)
                .map_err(|error| Error::usage(format!("the usual body is no JSON: {error}")))?;
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
            let error = Error::usage("a request of this method has no `body`");
            let error = error.hint("remove `body`, or write `method: POST`");
            return Err(error.of_key("body"));
        }
        self.body = Some(JsonTemplate::new(body).under("body")?);
        Ok(self)
    }

    /// A header. `${NAME}` in its value is replaced by a variable of the environment or of the `.env` file of the
    /// workspace around `folder`; it is kept secret.
    ///
    /// # Errors
    /// When a variable is not set, or the header cannot be sent.
    pub fn header(mut self, name: &str, value: &str, folder: impl AsRef<Path>) -> Result<Self> {
        let (value, secrets) = headers::filled(name, value, folder.as_ref())?;
        self.endpoint.header(name, value, secrets);
        Ok(self)
    }

    /// Names of variables in headers whose values are not secret: they stay in records.
    #[must_use]
    pub fn plain_env(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.endpoint.plain_env(names.into_iter().map(Into::into));
        self
    }

    /// Where to find things in the reply.
    #[must_use]
    pub fn places(mut self, places: Places) -> Self {
        self.places = places;
        self
    }

    /// The longest reply; by default 1 MiB.
    #[must_use]
    pub fn max_output_bytes(mut self, bytes: u64) -> Self {
        self.endpoint.max_bytes(bytes);
        self
    }
}

impl Http {
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
        let output = self
            .places
            .read(reply.text())
            .map_err(|error| match error.kind {
                FailureKind::BadOutput => self.endpoint.garbled(&error.message),
                _ => error,
            })?;
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

    forward_endpoint!(self);
}
