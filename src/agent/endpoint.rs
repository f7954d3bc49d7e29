//! `Endpoint`: an address that answers tasks over HTTP; shared by the agents `openai` and `http`.
//!
//! One call is one request. The runner decides whether to repeat it, so that every request that may cost money is an
//! attempt in the record; the [`AgentError`] has what that decision needs.

pub(super) mod refusal;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::data::{AgentError, FailureKind, Task};
use crate::error::{Error, Result};
use crate::system::cancel::Cancel;
use crate::system::http::{Cause, Client, Failure, Filler, HttpReply, HttpRequest, Url, hide};
use crate::system::{clock, variables};
use crate::text::hash::Fingerprint;
use crate::text::redact::{MIN_SECRET, is_secret_name, literal};

/// Default retries of an agent behind a network: a quarter of a minute with the usual pauses.
pub(super) const RETRIES: u32 = 4;
/// The timeout of a secondary look-up.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest reply by default.
const MAX_BYTES: u64 = 1 << 20;

/// The message on a refusal without a text.
pub(crate) const WITHHELD: &str = "withheld its answer: its content filter forbids it";

/// Where tasks are sent to.
#[derive(Debug)]
pub(crate) struct Endpoint {
    url: Url,
    method: String,
    headers: Vec<(String, String)>,
    secrets: Vec<Secret>,
    /// Variables whose values are not secret.
    plain: Vec<String>,
    client: Client,
    max_bytes: u64,
    /// Whether it has answered before. If not, it may refuse everything.
    answered: AtomicBool,
    /// Requests that it called wrong before its first answer.
    refusals: AtomicU32,
}

impl Endpoint {
    pub(crate) fn new(method: &str, url: Url) -> Result<Self> {
        Ok(Self {
            secrets: url.secrets().map(Secret::literal).collect(),
            plain: Vec::new(),
            url,
            method: method.to_owned(),
            headers: Vec::new(),
            client: Client::new()?,
            max_bytes: MAX_BYTES,
            answered: AtomicBool::new(false),
            refusals: AtomicU32::new(0),
        })
    }

    /// Sets a header, replacing one of the same name, and registers the secrets in its value.
    pub(crate) fn header(
        &mut self,
        name: impl Into<String>,
        value: impl Into<String>,
        secrets: impl IntoIterator<Item = Secret>,
    ) {
        let name = name.into();
        self.headers
            .retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
        self.headers.push((name, value.into()));
        self.secrets.extend(secrets);
    }

    /// Registers what was filled into its texts.
    pub(crate) fn hides(&mut self, found: Vec<(String, String)>) {
        self.secrets.extend(Secret::of_variables(found));
    }

    pub(crate) fn max_bytes(&mut self, bytes: u64) {
        self.max_bytes = bytes;
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The parts that can change an answer.
    pub(crate) fn fingerprint(&self, agent: &str) -> Fingerprint {
        Fingerprint::of(agent)
            .part("method", &self.method)
            .part("url", self.url.as_str())
            .part("headers", format_args!("{:?}", self.headers))
    }

    /// Names variables whose values are not secret.
    pub(crate) fn plain_env(&mut self, names: impl IntoIterator<Item = String>) {
        self.plain.extend(names);
    }

    /// Values that must not reach a record.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let secrets = self.hidden_secrets();
        secrets.map(|secret| secret.value.clone()).collect()
    }

    /// The variables with such values.
    pub(crate) fn secret_variables(&self) -> Vec<(String, String)> {
        let named = |secret: &Secret| Some((secret.variable.clone()?, secret.value.clone()));
        self.hidden_secrets().filter_map(named).collect()
    }

    fn hidden_secrets(&self) -> impl Iterator<Item = &Secret> {
        let is_plain = |secret: &Secret| match &secret.variable {
            Some(name) if !secret.is_key => variables::is_plain(name, &secret.value, &self.plain),
            _ => false,
        };
        self.secrets.iter().filter(move |secret| !is_plain(secret))
    }

    /// Sends the body of a task, and waits for a success reply. `url` overrides the address for this task.
    pub(crate) fn ask(
        &self,
        task: &Task,
        url: Option<&Url>,
        body: Option<&[u8]>,
    ) -> Result<HttpReply, AgentError> {
        let request = HttpRequest {
            method: &self.method,
            url: url.unwrap_or(&self.url),
            headers: &self.headers,
            body,
            deadline: task.deadline,
            max_bytes: self.max_bytes,
        };
        let reply = self
            .client
            .send(&request, &task.cancel)
            .map_err(|failure| self.unanswered(&failure))?;
        self.accept(reply)
    }

    /// A success reply; any other is a failure.
    pub(crate) fn accept(&self, reply: HttpReply) -> Result<HttpReply, AgentError> {
        if reply.status.is_success() {
            return Ok(reply);
        }
        Err(self.refused(&reply))
    }

    /// Fetches another address of the same endpoint, if that is quick.
    pub(crate) fn probe(&self, url: &Url) -> Option<HttpReply> {
        let request = HttpRequest {
            method: "GET",
            url,
            headers: &self.headers,
            body: None,
            deadline: clock::now().checked_add(PROBE_TIMEOUT),
            max_bytes: MAX_BYTES,
        };
        let reply = self.client.send(&request, &Cancel::new()).ok()?;
        reply.status.is_success().then_some(reply)
    }

    /// Notes that the endpoint has answered: later refusals are the fault of a sample.
    pub(crate) fn answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// The failure for a reply that is not an answer.
    fn refused(&self, reply: &HttpReply) -> AgentError {
        self.refusal(reply.status.as_u16(), reply, None)
    }

    /// The failure for a success reply with an error in its body, as proxies send for upstream errors.
    pub(crate) fn refused_within(&self, error: &Value, reply: &HttpReply) -> AgentError {
        self.refusal(refusal::status_within(error), reply, Some(error))
    }

    fn refusal(&self, status: u16, reply: &HttpReply, within: Option<&Value>) -> AgentError {
        let has_key = self.headers.iter().any(|(name, _)| {
            ["authorization", "api-key", "x-api-key"]
                .iter()
                .any(|key| name.eq_ignore_ascii_case(key))
        });
        let refusal = refusal::Refusal {
            status,
            reply,
            within,
            has_key,
            has_answered: self.answered.load(Ordering::Relaxed),
        };
        self.with_address(refusal.error(|| self.refusals.fetch_add(1, Ordering::Relaxed) + 1))
    }

    /// The failure for a success reply that cannot be understood.
    pub(crate) fn garbled(&self, what: &str) -> AgentError {
        self.with_address(AgentError::of(FailureKind::BadOutput, what))
    }

    fn unanswered(&self, failure: &Failure) -> AgentError {
        let kind = match failure.cause {
            Cause::Unreachable | Cause::Broken => FailureKind::Unreachable,
            Cause::TimedOut => FailureKind::TimedOut,
            Cause::TooLarge => FailureKind::OutputTooLarge,
            Cause::Cancelled => FailureKind::Cancelled,
            Cause::BadRequest => FailureKind::Misconfigured,
            Cause::Shortage => FailureKind::Shortage,
        };
        let hint = match failure.cause {
            Cause::TooLarge => "; hint: raise `limits.max_output_bytes`",
            _ => "",
        };
        self.with_address(AgentError::of(kind, format!("{}{hint}", failure.message)))
    }

    /// The error prefixed with the address, without keys.
    pub(crate) fn with_address(&self, error: AgentError) -> AgentError {
        let message = format!("`{}` {}", self.url.as_str(), error.message);
        // Servers echo keys, and redirect to addresses with new ones.
        let message = literal::addresses(&message).into_owned();
        let secrets = self.hidden_secrets().map(|secret| secret.value.as_str());
        let hidden = self
            .hidden_secrets()
            .filter(|secret| secret.value.len() >= MIN_SECRET && message.contains(&secret.value));
        let hidden = hidden.filter_map(|secret| secret.variable.clone());
        AgentError {
            hidden: hidden.collect(),
            message: hide(message, secrets),
            ..error
        }
    }
}

/// The methods of an agent that asks its `endpoint`.
macro_rules! forward_endpoint {
    ($self:ident) => {
        fn keeps_deadline(&$self) -> bool {
            true
        }

        fn asks_endpoint(&$self) -> bool {
            true
        }

        fn default_retries(&$self) -> u32 {
            $crate::agent::endpoint::RETRIES
        }

        fn secrets(&$self) -> Vec<String> {
            $self.endpoint.secrets()
        }

        fn secret_variables(&$self) -> Vec<(String, String)> {
            $self.endpoint.secret_variables()
        }
    };
}

/// The methods that set headers, secrets and limits of the `endpoint` of an agent.
macro_rules! sets_endpoint {
    () => {
        /// A header. `${NAME}` in its value is replaced by a variable of the environment or of the `.env` file of the
        /// workspace around `folder`; it is kept secret.
        ///
        /// # Errors
        /// When a variable is not set, or the header cannot be sent.
        pub fn header(
            mut self,
            name: &str,
            value: &str,
            folder: impl AsRef<std::path::Path>,
        ) -> $crate::error::Result<Self> {
            let (value, secrets) = $crate::agent::endpoint::filled(name, value, folder.as_ref())?;
            self.endpoint.header(name, value, secrets);
            Ok(self)
        }

        /// Variables whose values are in its texts, and are kept secret.
        #[must_use]
        pub(crate) fn hides(mut self, found: Vec<(String, String)>) -> Self {
            self.endpoint.hides(found);
            self
        }

        /// Names of variables whose values are not secret: they stay in records.
        #[must_use]
        pub fn plain_env(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
            self.endpoint.plain_env(names.into_iter().map(Into::into));
            self
        }

        /// The longest reply; by default 1 MiB.
        #[must_use]
        pub fn max_output_bytes(mut self, bytes: u64) -> Self {
            self.endpoint.max_bytes(bytes);
            self
        }
    };
}

pub(super) use forward_endpoint;
pub(super) use sets_endpoint;

/// A secret value, and the variable that it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Secret {
    pub(crate) variable: Option<String>,
    pub(crate) value: String,
    /// Whether it is the endpoint's key, which can never be declared plain.
    pub(crate) is_key: bool,
}

impl Secret {
    pub(crate) fn literal(value: impl Into<String>) -> Self {
        Self {
            variable: None,
            value: value.into(),
            is_key: false,
        }
    }

    pub(crate) fn of_variable(name: &str, value: impl Into<String>) -> Self {
        Self {
            variable: Some(name.to_owned()),
            value: value.into(),
            is_key: false,
        }
    }

    /// What was filled into texts.
    pub(crate) fn of_variables(found: Vec<(String, String)>) -> impl Iterator<Item = Self> {
        let found = found.into_iter();
        found.map(|(name, value)| Self::of_variable(&name, value))
    }

    /// The endpoint's key.
    pub(crate) fn key_of_variable(name: &str, value: impl Into<String>) -> Self {
        Self {
            is_key: true,
            ..Self::of_variable(name, value)
        }
    }
}

/// A header's value with its variables filled in, and the secrets in it.
///
/// # Errors
/// When a variable is not set, or the header cannot be sent.
pub(crate) fn filled(name: &str, value: &str, folder: &Path) -> Result<(String, Vec<Secret>)> {
    let place = format!("headers: {{ {name}: … }}");
    let sendable = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if name.is_empty()
        || !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    {
        return Err(Error::usage(format!(
            "`{name}` cannot be the name of a header"
        )));
    }
    let mut filler = Filler::new(folder);
    let filled = filler.text(&format!("headers.{name}"), value)?;
    let mut secrets: Vec<_> = Secret::of_variables(filler.found()).collect();
    if !sendable(&filled) {
        return Err(Error::usage(format!(
            "`{place}` cannot be sent: it is not plain ASCII"
        )));
    }
    if secrets.is_empty() && is_secret_name(name) {
        // A key in the spec itself. A cookie has several words, each of which may be one.
        let words = filled.split([' ', ';']).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        let (last, others) = words.split_last().unwrap_or((&"", &[]));
        let others = others.iter().filter(|word| word.len() >= MIN_SECRET);
        secrets.extend(others.chain([last]).map(|key| Secret::literal(*key)));
    }
    Ok((filled, secrets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_secret() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "HEADER_KEY_OF_TEST=sk-1\n").unwrap();
        let fill = |value: &str| filled("Authorization", value, folder.path());
        let secret = |key: &str| vec![Secret::literal(key)];
        let secrets = vec![Secret::of_variable("HEADER_KEY_OF_TEST", "sk-1")];
        let expect = ("Bearer sk-1".to_owned(), secrets);
        assert_eq!(fill("Bearer ${HEADER_KEY_OF_TEST}").unwrap(), expect);
        let literal = ("Bearer abc".to_owned(), secret("abc"));
        assert_eq!(fill("Bearer abc").unwrap(), literal);
        let plain = filled("X-Team", "evals $5 {}", folder.path()).unwrap();
        assert_eq!(plain, ("evals $5 {}".to_owned(), vec![]));
        for (value, expect) in [
            (
                "${NO_SUCH_OF_TEST}",
                "`headers.Authorization: ${NO_SUCH_OF_TEST}` is set neither",
            ),
            ("${", "has a `${` without `}`"),
            ("a\nb", "cannot be sent"),
            ("ä", "cannot be sent"),
        ] {
            let error = fill(value).unwrap_err();
            assert!(error.message().contains(expect), "{error}");
            assert_eq!(error.exit(), crate::Exit::Usage);
        }
        assert!(filled("A b", "c", folder.path()).is_err());
    }
}
