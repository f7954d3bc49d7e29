//! The `openai` agent: Chat Completions of any compatible endpoint, or the APIs Responses and Messages.
//!
//! A task goes through the files of the folder in this order: `content` makes the message with its files, `request` the
//! body, `api` puts it into the words of the API; the endpoint is asked; `reply` decodes the reply.
//!
//! One attempt is one request. The runner repeats transient failures after a pause that respects `Retry-After`; see
//! [`AgentError::is_transient`]. A refusal of all samples (a wrong key, an unknown model) stops the run.

mod api;
mod content;
mod reply;
mod request;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde_json::{Map, Value};

use super::Agent;
use super::endpoint::Secret;
use super::endpoint::{Endpoint, forward_endpoint, sets_endpoint};
use crate::data::{AgentError, FailureKind, Output, Task};
use crate::error::{Error, Result};
use crate::system::http::{Url, from_variable};
use content::Files;
use request::RequestBody;

pub use api::Api;
pub use content::{FileKind, Unsendable};
pub use request::Tools;

/// An example of an address.
const EXAMPLE: &str = "http://127.0.0.1:8102/v1";

/// The version of Messages that is read.
const MESSAGES_VERSION: &str = "2023-06-01";

/// How many models a hint lists if none was named.
const MODELS: usize = 10;
/// How often a turn may be paused.
const MOST_PAUSES: u32 = 10;

/// A model behind an endpoint with the API Chat Completions, or [another](Self::with_api).
///
/// ```no_run
/// use evaltest::agent::OpenAi;
///
/// # fn main() -> evaltest::Result<()> {
/// let agent = OpenAi::new("http://127.0.0.1:8102/v1", "local")?
///     .api_key_env("MY_KEY", ".")?
///     .temperature(0.0);
/// # let _: &dyn evaltest::Agent = &agent;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OpenAi {
    pub(in crate::agent) endpoint: Endpoint,
    api: Api,
    model: String,
    system: Option<String>,
    temperature: Option<f64>,
    seed: Option<u64>,
    max_tokens: Option<u64>,
    extra: Map<String, Value>,
    tools: Tools,
    files: Files,
    price: Option<Price>,
}

impl OpenAi {
    /// The endpoint without its `/chat/completions`, and its name of the model.
    ///
    /// # Errors
    /// When the address is invalid, or the environment names a proxy or certificates that cannot be used.
    pub fn new(base_url: &str, model: impl Into<String>) -> Result<Self> {
        Self::with_api(base_url, model, Api::Chat)
    }

    /// The endpoint without its `/chat/completions`, `/responses` or `/messages`, its name of the model, and how it is
    /// asked.
    ///
    /// ```no_run
    /// use evaltest::agent::{Api, OpenAi};
    ///
    /// # fn main() -> evaltest::Result<()> {
    /// let agent = OpenAi::with_api("http://127.0.0.1:8102/v1", "local", Api::Messages)?.max_tokens(1000);
    /// # let _: &dyn evaltest::Agent = &agent;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the address is invalid, or the environment names a proxy or certificates that cannot be used.
    pub fn with_api(base_url: &str, model: impl Into<String>, api: Api) -> Result<Self> {
        // Errors show the address as it was written.
        Url::new(base_url, EXAMPLE)?;
        let (path, query) = match base_url.split_once('?') {
            Some((path, query)) => (path, format!("?{query}")),
            None => (base_url, String::new()),
        };
        let path = path.trim_end_matches('/');
        let end = api.path();
        let path = path.strip_suffix(end).unwrap_or(path);
        let url = Url::new(format!("{path}{end}{query}"), EXAMPLE)?;
        let mut endpoint = Endpoint::new("POST", url)?;
        endpoint.header("Content-Type", "application/json", []);
        endpoint.header("Accept", "application/json", []);
        if api == Api::Messages {
            endpoint.header("anthropic-version", MESSAGES_VERSION, []);
        }
        Ok(Self {
            endpoint,
            api,
            model: model.into(),
            system: None,
            temperature: None,
            seed: None,
            max_tokens: None,
            extra: Map::new(),
            tools: Tools::default(),
            files: Files::default(),
            price: None,
        })
    }

    /// A key, sent as a bearer token, to Messages as `x-api-key`, and redacted in all output.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.keyed(Secret::literal(key));
        self
    }

    /// The key from a variable of the environment or of the `.env` file of the workspace around `folder`.
    ///
    /// # Errors
    /// When it is not set or cannot be a key.
    pub fn api_key_env(mut self, name: &str, folder: impl AsRef<Path>) -> Result<Self> {
        let option = format!("api_key_env: {name}");
        let key = from_variable(name, &option, folder.as_ref())?;
        self.keyed(Secret::key_of_variable(name, key));
        Ok(self)
    }

    fn keyed(&mut self, key: Secret) {
        let (name, value) = match self.api {
            Api::Messages => ("x-api-key", key.value.clone()),
            Api::Chat | Api::Responses => ("Authorization", format!("Bearer {}", key.value)),
        };
        self.endpoint.header(name, value, [key]);
    }

    sets_endpoint!();

    /// A system prompt, before the prompt of the sample.
    #[must_use]
    pub fn system(mut self, prompt: impl Into<String>) -> Self {
        self.system = Some(prompt.into());
        self
    }

    /// The sampling temperature; the endpoint's own by default.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// The seed of the first epoch. Each further epoch uses the next one, for another draw. Chat Completions alone have
    /// one.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The most tokens of an answer, as `max_tokens`. Messages need a limit, which is 4096 unless set.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Further keys of the request's body, which override ours: by the API's names, or by those of Chat Completions.
    #[must_use]
    pub fn extra_body(mut self, extra: Map<String, Value>) -> Self {
        self.extra.extend(extra);
        self
    }

    /// How tools are passed to the model; by default natively.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// Which kinds of attached files the endpoint accepts; by default images and text.
    #[must_use]
    pub fn files(mut self, kinds: impl IntoIterator<Item = FileKind>) -> Self {
        self.files.kinds = kinds.into_iter().collect();
        self
    }

    /// What to do with other files; by default the model is told that it cannot see them.
    #[must_use]
    pub fn unsendable_files(mut self, what: Unsendable) -> Self {
        self.files.unsendable = what;
        self
    }

    /// The price of tokens; without one, the endpoint's own figure counts.
    #[must_use]
    pub fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }
}

impl OpenAi {
    /// The most tokens of an answer.
    fn limit(&self) -> Option<u64> {
        self.max_tokens.or(self.api.default_limit())
    }

    /// Sends a request and reads the reply.
    fn request(&self, task: &Task, body: &RequestBody<'_>) -> Result<Output, AgentError> {
        let body = serde_json::to_vec(body).map_err(|error| {
            let message = format!("the request cannot be written: {error}");
            AgentError::of(FailureKind::Misconfigured, message)
        })?;
        let reply = self.endpoint.ask(task, None, Some(&body))?;
        let output = self.read(&reply)?;
        self.endpoint.answered();
        Ok(output)
    }

    /// The models of the endpoint, if the requested one is not among them.
    fn models(&self) -> Option<String> {
        let url = self
            .endpoint
            .url()
            .as_str()
            .replacen(self.api.path(), "/models", 1);
        let reply = self.endpoint.probe(&Url::new(url, EXAMPLE).ok()?)?;
        let list: Value = serde_json::from_slice(&reply.body).ok()?;
        let ids = list.get("data")?.as_array()?.iter();
        let ids: Vec<&str> = ids.filter_map(|model| model.get("id")?.as_str()).collect();
        if ids.is_empty() || ids.contains(&self.model.as_str()) {
            return None;
        }
        let listed = ids
            .iter()
            .take(MODELS)
            .copied()
            .collect::<Vec<_>>()
            .join("`, `");
        let more = match ids.len().saturating_sub(MODELS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("the endpoint has the models `{listed}`{more}"))
    }
}

impl Agent for OpenAi {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let (mut body, unsent) = self.body(task)?;
        let mut output = self.request(task, &body)?;
        // The endpoint's own tools pause a turn; it goes on with what was said so far.
        let mut pauses = 0;
        while output.metadata.get("finish_reason") == Some(&"pause_turn".into()) {
            if pauses == MOST_PAUSES {
                let message = format!("paused its turn more than {MOST_PAUSES} times");
                return Err(AgentError::new(message));
            }
            pauses += 1;
            body.go_on(&output);
            output = reply::joined(output, self.request(task, &body)?);
        }
        if task.turn().is_none() && reply::is_plain(&output.messages) {
            output.messages.clear();
        }
        if !unsent.is_empty() {
            output
                .metadata
                .insert("files_not_sent".to_owned(), unsent.into());
        }
        Ok(output)
    }

    fn fingerprint(&self) -> Option<String> {
        let extra = Value::Object(self.extra.clone());
        let keys = self
            .endpoint
            .fingerprint("openai")
            .part("model", &self.model)
            .part("system", format_args!("{:?}", self.system))
            .part("temperature", format_args!("{:?}", self.temperature))
            .part("seed", format_args!("{:?}", self.seed))
            .part("max_tokens", format_args!("{:?}", self.max_tokens))
            .part("extra_body", extra)
            .part("tools", format_args!("{:?}", self.tools))
            .part("files", format_args!("{:?}", self.files))
            .part("price", format_args!("{:?}", self.price));
        Some(keys.hex())
    }

    forward_endpoint!(self);

    fn model(&self) -> Option<&str> {
        Some(&self.model)
    }

    fn takes_reply_form(&self) -> bool {
        true
    }

    fn most_usd(&self, request_bytes: usize) -> Option<f64> {
        // Every token has at least one byte.
        let price = self.price?;
        Some(price.of(request_bytes as u64, 0, self.limit()?))
    }

    fn diagnose(&self, error: &AgentError) -> Option<String> {
        let is_about_model = matches!(error.http_status, Some(400 | 404 | 422));
        is_about_model.then(|| self.models())?
    }

    fn takes_base_urls(&self) -> bool {
        false
    }
}

/// Refuses options that require streaming, and those that an API has not.
pub(crate) fn check_extra(api: Api, extra: &Map<String, Value>) -> Result<()> {
    for (key, value) in extra {
        api.option(key, value)
            .map_err(|error| error.of_key(key.as_str()))?;
    }
    if extra
        .get("stream")
        .is_some_and(|stream| *stream != Value::Bool(false))
    {
        let error = Error::usage("`extra_body` asks for a stream, which is not supported");
        return Err(error.hint("remove `stream`").of_key("stream"));
    }
    Ok(())
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
    /// Cached input tokens, if the endpoint reports them; otherwise they cost as `input`.
    pub cached_input: Option<f64>,
}

impl Price {
    /// US dollars for these tokens, of which `cached` are included in `input`.
    fn of(&self, input: u64, cached: u64, output: u64) -> f64 {
        let cached = cached.min(input);
        #[expect(clippy::cast_precision_loss, reason = "nobody uses so many tokens")]
        let count = |tokens: u64| tokens as f64;
        let millionths = count(input - cached) * self.input
            + count(cached) * self.cached_input.unwrap_or(self.input)
            + count(output) * self.output;
        millionths / 1e6
    }
}
