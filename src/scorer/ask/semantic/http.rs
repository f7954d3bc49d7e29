//! Embeddings from an `OpenAI`-compatible endpoint: `POST {base_url}/embeddings`.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Embedder, Semantic};
use crate::agent::reply::{Marks, read};
use crate::error::{Error, Result, Under};
use crate::scorer::{OptionReader, Scorer};
use crate::system::cancel::Cancel;
use crate::system::http::{
    Cause, Client, Filler, HttpReply, HttpRequest, Url, from_variable, hide, retry_after,
};
use crate::system::process::excerpt::beginning;
use crate::system::{clock, variables};
use crate::text::redact::literal;

/// The default time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum of the timeout option, in seconds.
const LONGEST_TIMEOUT: f64 = 3600.0;
/// The default number of retries.
const RETRIES: u32 = 3;
/// The maximum of the option.
const MOST_RETRIES: u64 = 10;
/// The pause before the first retry. It doubles each time.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause, even if the endpoint asks for more.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The maximum size of a reply: two vectors take some ten thousand bytes.
const LONGEST_REPLY: u64 = 16 << 20;
/// How much of a reply is shown.
const EXCERPT_BYTES: usize = 300;

/// Asks an endpoint for embeddings.
///
/// ```
/// use evaltest::scorer::Semantic;
/// use evaltest::scorer::HttpEmbedder;
///
/// # fn main() -> evaltest::Result<()> {
/// let embedder = HttpEmbedder::new("http://127.0.0.1:8080/v1", "all-MiniLM-L6-v2")?;
/// let near = Semantic::new(embedder).cache("target/embeddings");
/// # let _: Box<dyn evaltest::Scorer> = Box::new(near);
/// # Ok(())
/// # }
/// ```
pub struct HttpEmbedder {
    url: Url,
    model: String,
    key: Option<String>,
    /// What was filled into its address and model.
    secrets: Vec<String>,
    client: Client,
    /// Never set: scorers are not cancelled.
    cancel: Cancel,
    timeout: Duration,
    retries: u32,
    pause: Duration,
}

#[derive(Serialize)]
struct EmbeddingsRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<EmbeddingEntry>,
}

#[derive(Deserialize)]
struct EmbeddingEntry {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Why there is no reply.
struct Failure {
    message: String,
    again: Again,
}

/// Whether a retry may help.
enum Again {
    Never,
    Soon,
    /// The endpoint asks for this pause.
    After(Duration),
}

impl HttpEmbedder {
    /// The endpoint without `/embeddings`, and the model's name there.
    ///
    /// # Errors
    /// When the URL is invalid.
    pub fn new(base_url: &str, model: impl Into<String>) -> Result<Self> {
        const EXAMPLE: &str = "http://127.0.0.1:8080/v1";
        // An invalid address is shown as written.
        Url::new(base_url, EXAMPLE)?;
        if base_url.contains('?') {
            let message = format!("`{base_url}` is not the URL of an endpoint");
            return Err(Error::usage(message).hint(format!("write `{EXAMPLE}`")));
        }
        let url = format!("{}/embeddings", base_url.trim_end_matches('/'));
        Ok(Self {
            url: Url::new(url, EXAMPLE)?,
            model: model.into(),
            key: None,
            secrets: Vec::new(),
            client: Client::new()?,
            cancel: Cancel::new(),
            timeout: TIMEOUT,
            retries: RETRIES,
            pause: PAUSE,
        })
    }

    /// The key, sent as a bearer token and redacted from all output.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The time limit of a request; 30 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often a request is retried if the endpoint cannot be reached, is busy (429) or fails (5xx), and the pause
    /// before the first retry, which doubles each time; by default 3 times, half a second. A `Retry-After` of up to 30
    /// seconds is respected.
    #[must_use]
    pub fn retries(mut self, times: u32, pause: Duration) -> Self {
        self.retries = times;
        self.pause = pause;
        self
    }

    fn request(&self, body: &[u8]) -> std::result::Result<Reply, Failure> {
        let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        if let Some(key) = &self.key {
            headers.push(("Authorization".to_owned(), format!("Bearer {key}")));
        }
        let request = HttpRequest {
            method: "POST",
            url: &self.url,
            headers: &headers,
            body: Some(body),
            deadline: clock::now().checked_add(self.timeout),
            max_bytes: LONGEST_REPLY,
        };
        let reply = self.client.send(&request, &self.cancel);
        let reply = reply.map_err(|failure| Failure {
            again: match failure.cause {
                Cause::Unreachable | Cause::Broken => Again::Soon,
                _ => Again::Never,
            },
            message: failure.message,
        })?;
        if reply.status.as_u16() != 200 {
            return Err(refused(&reply));
        }
        serde_json::from_slice(reply.text()).map_err(|error| Failure {
            message: format!(
                "did not answer with a list of embeddings ({error}): `{}`",
                beginning(&reply.body, EXCERPT_BYTES)
            ),
            // A gateway may report within a success that what is behind it broke.
            again: match read(&reply.body) {
                Ok(Value::Object(json)) if Marks::of(&json).outage().is_some() => Again::Soon,
                _ => Again::Never,
            },
        })
    }

    /// The vectors of a reply, in the order of the texts.
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
                _ => return wrong("embeddings with an unknown or repeated `index`"),
            }
        }
        Ok(vectors)
    }

    fn error(&self, message: &str, times: u32) -> Error {
        let times = match times {
            1 => String::new(),
            times => format!(" (asked {times} times)"),
        };
        let message = format!("`{}` {message}{times}", self.url.as_str());
        let message = literal::addresses(&message).into_owned();
        let message = hide(
            message,
            self.key.iter().chain(&self.secrets).map(String::as_str),
        );
        Error::infrastructure(message)
    }
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let request = EmbeddingsRequest {
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
                let message = format!("{}; it asks to wait {seconds} s", failure.message);
                return Err(self.error(&message, times));
            }
            std::thread::sleep(wait);
            pause = (pause * 2).min(LONGEST_PAUSE);
            times += 1;
        }
    }

    fn secrets(&self) -> Vec<String> {
        self.key.iter().chain(&self.secrets).cloned().collect()
    }
}

/// The failure for an error response.
fn refused(reply: &HttpReply) -> Failure {
    let (status, body) = (reply.status, &*reply.body);
    let again = match retry_after(&reply.headers) {
        _ if status.as_u16() != 429 && !status.is_server_error() => Again::Never,
        Some(after) => Again::After(after),
        None => Again::Soon,
    };
    // `OpenAI` and compatible endpoints: `{"error": {"message": "…"}}`.
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let detail = json
        .as_ref()
        .and_then(|json| json.pointer("/error/message")?.as_str());
    let detail = beginning(
        detail.map_or(body, str::as_bytes).trim_ascii(),
        EXCERPT_BYTES,
    );
    let detail = if detail.is_empty() {
        detail
    } else {
        format!(": {detail}")
    };
    Failure {
        message: format!("answered {status}{detail}"),
        again,
    }
}

/// Makes the scorer of a spec.
pub(super) fn make(options: &OptionReader<'_>) -> Result<Arc<dyn Scorer>> {
    let text = |key: &str, wanted: &str| -> Result<String> {
        let text = options.text(key)?.filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| options.missing(key, wanted))?;
        Ok(text.to_owned())
    };
    let url = text("base_url", "the URL of an endpoint")?;
    let model = text("model", "the name of an embedding model")?;
    let at = |error: Error| error.at("scorer `semantic`");
    let mut filler = Filler::new(options.folder());
    let url = filler.text("base_url", &url).map_err(at);
    let url = url.under("base_url")?;
    let model = filler.text("model", &model).map_err(at);
    let model = model.under("model")?;
    let embedder = HttpEmbedder::new(&url, model);
    let mut embedder = embedder
        .map_err(|error| at(filler.hide(error)))
        .under("base_url")?;
    let secrets = filler.found().into_iter();
    let secrets = secrets.filter(|(name, value)| !variables::is_plain(name, value, &[]));
    embedder.secrets.extend(secrets.map(|(_, value)| value));
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
        let option = format!("api_key_env: {name}");
        let key = from_variable(name, &option, options.folder()).map_err(at);
        let key = key.under("api_key_env")?;
        embedder = embedder.api_key(key);
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
