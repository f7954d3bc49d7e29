//! Embeddings from an endpoint as `OpenAI` has it: `POST {base_url}/embeddings`.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ureq::http::{Response, StatusCode, Uri};
use ureq::{Agent, Body};

use super::{Embedder, Semantic};
use crate::error::{Error, Result};
use crate::process::excerpt::excerpt;
use crate::redact::REDACTED;
use crate::scorer::{OptionReader, Scorer};
use crate::variables;

/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time that an option may say, in seconds.
const LONGEST_TIMEOUT: f64 = 3600.0;
/// How often a request is repeated.
const RETRIES: u32 = 3;
/// The most repetitions that an option may ask for.
const MOST_RETRIES: u64 = 10;
/// The pause before the first repetition. It doubles each time.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause, whatever the endpoint asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The longest reply: two vectors are some ten thousand bytes.
const LONGEST_REPLY: u64 = 16 << 20;
/// Shorter keys, such as the `none` of a local server, are no secrets.
const SECRET_BYTES: usize = 8;
/// How much of a reply is shown.
const EXCERPT_BYTES: usize = 300;

/// Asks an endpoint for embeddings.
///
/// ```
/// use evaltest::scorer::Semantic;
/// use evaltest::scorer::semantic::http::HttpEmbedder;
///
/// # fn main() -> evaltest::Result<()> {
/// let embedder = HttpEmbedder::new("http://127.0.0.1:8080/v1", "all-MiniLM-L6-v2")?;
/// let near = Semantic::new(embedder).cache("target/embeddings");
/// # let _: Box<dyn evaltest::Scorer> = Box::new(near);
/// # Ok(())
/// # }
/// ```
pub struct HttpEmbedder {
    url: String,
    /// Whether the host is this machine, which no proxy can reach.
    is_local: bool,
    model: String,
    key: Option<String>,
    agent: Agent,
    timeout: Duration,
    retries: u32,
    pause: Duration,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Why there is no reply.
struct Failure {
    message: String,
    again: Again,
}

/// Whether asking again may help.
enum Again {
    Never,
    Soon,
    /// The endpoint wants to be left alone for so long.
    After(Duration),
}

impl HttpEmbedder {
    /// The endpoint without its `/embeddings`, and the model as it calls it.
    ///
    /// # Errors
    /// When the URL is none.
    pub fn new(base_url: &str, model: impl Into<String>) -> Result<Self> {
        let url = format!("{}/embeddings", base_url.trim_end_matches('/'));
        let parsed: Option<Uri> = url.parse().ok();
        let scheme = parsed.as_ref().and_then(Uri::scheme_str);
        if !matches!(scheme, Some("http" | "https")) || url.contains(['?', '#']) {
            let message = format!("`{base_url}` is no URL of an endpoint");
            return Err(Error::usage(message).hint("write `http://127.0.0.1:8080/v1`"));
        }
        let authority = parsed.as_ref().and_then(Uri::authority);
        if authority.is_some_and(|authority| authority.as_str().contains('@')) {
            let message = "the URL of the endpoint holds a password";
            return Err(Error::usage(message).hint("name the variable of a key: `api_key_env`"));
        }
        let embedder = Self {
            is_local: parsed.as_ref().and_then(Uri::host).is_some_and(is_local),
            url,
            model: model.into(),
            key: None,
            agent: Agent::new_with_defaults(),
            timeout: TIMEOUT,
            retries: RETRIES,
            pause: PAUSE,
        };
        Ok(embedder.timeout(TIMEOUT))
    }

    /// The key, sent as a bearer token and blanked wherever it would be written.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// How long a request may take; by default 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(timeout))
            // Their bodies say more.
            .http_status_as_error(false)
            // A key must not go elsewhere.
            .max_redirects(0);
        let config = if self.is_local {
            config.proxy(None)
        } else {
            config
        };
        self.agent = config.build().into();
        self.timeout = timeout;
        self
    }

    /// How often a request is repeated when the endpoint cannot be reached, is busy (429) or broken (5xx), and
    /// the pause before the first repetition, which doubles each time; by default 3 times, half a second. A
    /// `Retry-After` of up to 30 seconds is respected.
    #[must_use]
    pub fn retries(mut self, times: u32, pause: Duration) -> Self {
        self.retries = times;
        self.pause = pause;
        self
    }

    fn request(&self, body: &[u8]) -> std::result::Result<Reply, Failure> {
        let mut request = self.agent.post(&self.url).content_type("application/json");
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body).map_err(|error| self.unreached(&error))?;
        let status = response.status();
        let limited = response.body_mut().with_config().limit(LONGEST_REPLY);
        let text = limited
            .read_to_vec()
            .map_err(|error| self.unreached(&error));
        if status != StatusCode::OK {
            return Err(refused(&response, &text.unwrap_or_default()));
        }
        let text = text?;
        serde_json::from_slice(&text).map_err(|error| Failure {
            message: format!(
                "answered with what is no list of embeddings ({error}): `{}`",
                excerpt(&text, EXCERPT_BYTES)
            ),
            again: Again::Never,
        })
    }

    /// A request that got no whole answer.
    fn unreached(&self, error: &ureq::Error) -> Failure {
        let (message, again) = match error {
            ureq::Error::Timeout(_) => {
                let seconds = self.timeout.as_secs_f64();
                (format!("did not answer in {seconds} s"), Again::Never)
            }
            ureq::Error::Io(error) => (format!("cannot be reached: {error}"), Again::Soon),
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => {
                (format!("cannot be reached: {error}"), Again::Soon)
            }
            ureq::Error::Protocol(_) => (format!("speaks no HTTP: {error}"), Again::Soon),
            ureq::Error::BodyExceedsLimit(limit) => (
                format!("answered with more than {limit} bytes"),
                Again::Never,
            ),
            error => (format!("cannot be asked: {error}"), Again::Never),
        };
        Failure { message, again }
    }

    /// The vectors of a reply in the order of the texts.
    fn vectors(&self, reply: Reply, texts: usize) -> Result<Vec<Vec<f32>>> {
        let entries = reply.data.len();
        let wrong = |what: &str| Err(self.error(&format!("answered with {what}"), 1));
        if entries != texts {
            return wrong(&format!("{entries} embeddings for {texts} texts"));
        }
        let mut vectors = vec![Vec::new(); texts];
        for (place, entry) in reply.data.into_iter().enumerate() {
            match vectors.get_mut(entry.index.unwrap_or(place)) {
                Some(vector) if vector.is_empty() => *vector = entry.embedding,
                _ => return wrong("embeddings whose `index` is that of no text, or of one twice"),
            }
        }
        Ok(vectors)
    }

    fn error(&self, message: &str, times: u32) -> Error {
        let times = match times {
            1 => String::new(),
            times => format!(" (asked {times} times)"),
        };
        let message = format!("`{}` {message}{times}", self.url);
        // Endpoints are known to repeat the key that they refuse.
        let message = match self.key.as_deref().filter(|key| key.len() >= SECRET_BYTES) {
            None => message,
            Some(key) => message.replace(key, REDACTED),
        };
        Error::infrastructure(message)
    }
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let request = Request {
            model: &self.model,
            input: texts,
        };
        let body = serde_json::to_vec(&request)
            .map_err(|error| Error::usage(format!("the texts cannot be written: {error}")))?;
        let mut pause = self.pause;
        let mut times = 1;
        loop {
            let failure = match self.request(&body) {
                Ok(reply) => return self.vectors(reply, texts.len()),
                Err(failure) => failure,
            };
            let wait = match failure.again {
                Again::Soon if times <= self.retries => pause,
                Again::After(wait) if times <= self.retries => wait,
                _ => return Err(self.error(&failure.message, times)),
            };
            if wait > LONGEST_PAUSE {
                let seconds = wait.as_secs();
                let message = format!(
                    "{}; it wants to be left alone for {seconds} s",
                    failure.message
                );
                return Err(self.error(&message, times));
            }
            std::thread::sleep(wait);
            pause = (pause * 2).min(LONGEST_PAUSE);
            times += 1;
        }
    }

    fn secrets(&self) -> Vec<String> {
        self.key.iter().cloned().collect()
    }
}

/// An answer that is none.
fn refused(response: &Response<Body>, body: &[u8]) -> Failure {
    let status = response.status();
    let after = response.headers().get("Retry-After");
    // A date stands there in rare cases; then the usual pause has to do.
    let after = after.and_then(|after| after.to_str().ok()?.trim().parse().ok());
    let again = match after.map(Duration::from_secs) {
        _ if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() => Again::Never,
        Some(after) => Again::After(after),
        None => Again::Soon,
    };
    // `OpenAI` and those who follow it: `{"error": {"message": "…"}}`.
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let told = json
        .as_ref()
        .and_then(|json| json.pointer("/error/message")?.as_str());
    let told = excerpt(told.map_or(body, str::as_bytes).trim_ascii(), EXCERPT_BYTES);
    let told = if told.is_empty() {
        told
    } else {
        format!(": {told}")
    };
    Failure {
        message: format!("answered {status}{told}"),
        again,
    }
}

fn is_local(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// The scorer of a spec.
pub(super) fn make(options: &OptionReader<'_>) -> Result<Arc<dyn Scorer>> {
    let text = |key: &str, wanted: &str| -> Result<String> {
        let text = options.text(key)?.filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| options.missing(key, wanted))?;
        Ok(text.to_owned())
    };
    let url = text("base_url", "the URL of an endpoint")?;
    let model = text("model", "the name of an embedding model")?;
    let at = |error: Error| error.at("scorer `semantic`");
    let mut embedder = HttpEmbedder::new(&url, model).map_err(at)?;
    if let Some(seconds) = options.number_in("timeout_s", 0.001, LONGEST_TIMEOUT)? {
        embedder = embedder.timeout(Duration::from_secs_f64(seconds));
    }
    let wanted = format!("a whole number from 0 to {MOST_RETRIES}");
    let retries = options.read("retries", &wanted, |value| {
        value.as_u64().filter(|number| *number <= MOST_RETRIES)
    })?;
    if let Some(retries) = retries {
        embedder = embedder.retries(u32::try_from(retries).unwrap_or(RETRIES), PAUSE);
    }
    if let Some(name) = options.text("api_key_env")? {
        embedder = embedder.api_key(key(name, options).map_err(at)?);
    }
    let mut semantic = Semantic::new(embedder);
    if let Some(threshold) = options.number_in("threshold", 0.0, 1.0)? {
        semantic = semantic.threshold(threshold);
    }
    if let Some(folder) = options.text("cache")? {
        semantic = semantic.cache(options.folder().join(folder));
    }
    Ok(Arc::new(semantic))
}

/// The value of the variable that holds the key.
fn key(name: &str, options: &OptionReader<'_>) -> Result<String> {
    let found = match std::env::var(name) {
        Ok(key) => Some(key),
        Err(_) => variables::from_dot_env(&[name.to_owned()], options.folder())?.remove(name),
    };
    let key = found.unwrap_or_default().trim().to_owned();
    if key.is_empty() {
        let message =
            format!("`api_key_env: {name}` is set neither in the environment nor in `.env`");
        return Err(Error::usage(message).hint(format!("write `{name}=…` into `.env`")));
    }
    // It goes into a header.
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!("the value of `{name}` cannot be a key: it is not plain ASCII");
        return Err(Error::usage(message));
    }
    Ok(key)
}
