//! `RecordedCalls`: an agent's calls of models, recorded once and replayed without a model.
//!
//! Unlike a cache of answers, a replay runs the agent's code: only its calls of models are answered from a file. A
//! listener of this machine stands in for the provider. The agent gets its address by the variables that the providers'
//! clients read, in a worker's task line, or by [`Task::base_url`](crate::Task::base_url); a random part of the path says
//! which sample and epoch calls. `recorder` has the listener, `attempt` the calls of one attempt, `request` reads what an
//! agent sends, `upstream` passes it on, `key` says which requests are equal, `cassette` is the file.
//!
//! Invariants:
//! - In replay mode no connection is opened. What is not recorded is answered with 599, and fails the sample.
//! - Headers of requests are never written. Bodies and queries are redacted before they are.

#[cfg(feature = "http")]
mod attempt;
#[cfg(feature = "http")]
mod cassette;
#[cfg(feature = "http")]
mod key;
#[cfg(feature = "http")]
pub(crate) mod recorder;
#[cfg(feature = "http")]
mod request;
#[cfg(feature = "http")]
mod upstream;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::data::AgentError;
use crate::data::task::BaseUrls;
#[cfg(feature = "http")]
use crate::error::Under;
use crate::error::{Error, Result};
use crate::text::hash::Hasher;
use crate::text::portable_file_name;

/// Records the calls that an agent makes to models, and replays them.
///
/// For evals built in Rust; a spec has the key `record`. A closure asks for the address with
/// [`Task::base_url`](crate::Task::base_url).
///
/// ```
/// use evaltest::agent::{Provider, RecordMode, RecordedCalls};
///
/// let calls = RecordedCalls::new()
///     .path("cassettes")
///     .upstream(Provider::OpenAi, "https://api.example.com/v1")
///     .mode(RecordMode::Missing);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedCalls {
    pub(crate) path: Option<PathBuf>,
    pub(crate) upstream: BTreeMap<Provider, String>,
    pub(crate) mode: Option<RecordMode>,
    pub(crate) ignore: Vec<String>,
    pub(crate) rewrite: Vec<[String; 2]>,
    pub(crate) plain: bool,
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordMode {
    /// Every call is made, and recorded anew.
    Record,
    /// No call is made: each is answered from the recording, and one that is not there fails the sample.
    Replay,
    /// What is recorded is replayed; other calls are made, and recorded.
    Missing,
}

/// A provider of models, by its kind of API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Provider {
    /// `OpenAI`, and servers that speak as it does.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Google,
}

impl Provider {
    pub(crate) const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Google];

    /// The name in specs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
        }
    }

    /// The variables from which clients take the address.
    fn variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
            Self::Anthropic => &["ANTHROPIC_BASE_URL"],
            Self::Google => &["GOOGLE_GEMINI_BASE_URL"],
        }
    }

    /// The address, as the variable would have it.
    #[cfg(feature = "http")]
    fn example(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.example.com/v1",
            Self::Anthropic | Self::Google => "https://api.example.com",
        }
    }
}

/// What an attempt's calls came to.
pub(crate) struct CallsEnded {
    /// Whether a call was replayed, or would have been.
    pub(crate) is_recorded: bool,
    /// Why the attempt fails, whatever its agent answered.
    pub(crate) failure: Option<AgentError>,
    /// What to say of the provider if the agent failed.
    pub(crate) note: Option<String>,
}

/// The file of a sample's calls in the folder of an eval.
pub(crate) fn file_of(folder: &Path, id: &str) -> PathBuf {
    let bucket = &Hasher::default().part(id).short()[..2];
    folder
        .join(bucket)
        .join(format!("{}.jsonl", portable_file_name(id)))
}

/// The variables by which the clients in a program find the listener.
pub(crate) fn variables(urls: &BaseUrls) -> impl Iterator<Item = (&'static str, &str)> {
    Provider::ALL.into_iter().flat_map(|provider| {
        let url = urls.of(provider.as_str());
        let names = provider.variables().iter();
        names.filter_map(move |name| Some((*name, url?)))
    })
}

impl RecordedCalls {
    /// Calls are recorded in `cassettes`, and no provider is called yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the folder of the recordings, relative to that of the package or the spec.
    #[must_use]
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Where calls of a provider go, with the path that the variable of its client would have.
    #[must_use]
    pub fn upstream(mut self, provider: Provider, url: impl Into<String>) -> Self {
        self.upstream.insert(provider, url.into());
        self
    }

    /// Sets the mode; by default [`Replay`](RecordMode::Replay) in continuous integration, and else
    /// [`Missing`](RecordMode::Missing).
    #[must_use]
    pub fn mode(mut self, mode: RecordMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Leaves a part of the request's JSON out of the comparison, by JSON pointer: `/metadata`.
    #[must_use]
    pub fn ignore(mut self, pointer: impl Into<String>) -> Self {
        self.ignore.push(pointer.into());
        self
    }

    /// Replaces what a regular expression matches in the texts of a request before they are compared.
    #[must_use]
    pub fn rewrite(mut self, pattern: impl Into<String>, with: impl Into<String>) -> Self {
        self.rewrite.push([pattern.into(), with.into()]);
        self
    }

    /// Allows readable recordings of an eval with masked answers.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.plain = true;
        self
    }

    /// The mode, by default as the surroundings want it.
    pub(crate) fn effective_mode(&self) -> RecordMode {
        self.mode.unwrap_or_else(|| {
            if crate::system::project::is_ci() {
                RecordMode::Replay
            } else {
                RecordMode::Missing
            }
        })
    }

    /// The error for a mode of recording that is given to an eval which records nothing.
    pub(crate) fn missing() -> Error {
        let message =
            "`--record` and `--replay` need a spec with `record`, which says where calls go";
        Error::usage(message).hint(
            "add `record: { path: cassettes, upstream: { openai: \"https://api.example.com/v1\" } }` to the spec",
        )
    }

    /// Checks what can be checked without starting anything.
    ///
    /// # Errors
    /// A mistake in the settings.
    pub(crate) fn check(&self) -> Result<()> {
        if !cfg!(feature = "http") {
            return Err(Error::without_feature("`record`", "http"));
        }
        for (item, pointer) in self.ignore.iter().enumerate() {
            if !pointer.starts_with('/') {
                let message = format!("`{pointer}` is not a JSON pointer");
                let error = Error::usage(message).hint("write `ignore: [/metadata, /user]`");
                return Err(error.under(item).under("ignore"));
            }
        }
        for (item, [pattern, _]) in self.rewrite.iter().enumerate() {
            if let Err(error) = regex::Regex::new(pattern) {
                let reason = error.to_string();
                let reason = reason.lines().last().unwrap_or_default();
                let reason = reason.trim_start_matches("error: ");
                let message = format!("`{pattern}` is not a regular expression: {reason}");
                let error = Error::usage(message).hint(
                    "write `rewrite: [{ pattern: '[0-9]{4}-[0-9]{2}-[0-9]{2}', with: DATE }]`",
                );
                return Err(error.under("pattern").under(item).under("rewrite"));
            }
        }
        #[cfg(feature = "http")]
        for (provider, url) in &self.upstream {
            let name = provider.as_str();
            let url = crate::system::http::Url::new(url.clone(), provider.example());
            let url = url.under(name).under("upstream")?;
            if url.as_str().contains('?') {
                let message = format!("the URL `upstream.{name}` has a query");
                let error = Error::usage(message).hint(format!("write `{}`", provider.example()));
                return Err(error.under(name).under("upstream"));
            }
        }
        let is_named = !self.upstream.is_empty() || self.mode == Some(RecordMode::Replay);
        if !is_named && self.effective_mode() != RecordMode::Replay {
            let message = "`record.upstream` is missing, so nothing says where calls go";
            return Err(Error::usage(message).hint(
                "write `upstream: { openai: \"https://api.example.com/v1\" }`, or `mode: replay`",
            ));
        }
        Ok(())
    }
}

#[cfg(not(feature = "http"))]
pub(crate) mod recorder {
    //! Without the feature nothing is recorded; [`RecordedCalls::check`](super::RecordedCalls::check) refuses.

    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::Instant;

    use super::{CallsEnded, RecordedCalls};
    use crate::data::AgentError;
    use crate::data::task::BaseUrls;
    use crate::error::Result;
    use crate::system::cancel::Cancel;
    use crate::text::redact::Redactor;

    /// Nothing.
    #[derive(Debug)]
    pub(crate) enum Recorder {}

    /// Nothing.
    pub(crate) enum AttemptCalls {}

    impl Recorder {
        pub(crate) fn start(
            calls: &RecordedCalls,
            _: PathBuf,
            _: Redactor,
            _: String,
        ) -> Result<Arc<Self>> {
            calls.check().map(|()| unreachable!("it refuses"))
        }

        pub(crate) fn port(&self) -> u16 {
            match *self {}
        }

        pub(crate) fn only_replays(&self) -> bool {
            match *self {}
        }

        pub(crate) fn begin(
            self: &Arc<Self>,
            _: &str,
            _: u32,
            _: Option<Instant>,
            _: Cancel,
        ) -> std::result::Result<Arc<AttemptCalls>, AgentError> {
            match **self {}
        }

        pub(crate) fn notices(&self) -> Vec<String> {
            match *self {}
        }
    }

    impl AttemptCalls {
        pub(crate) fn urls(&self) -> Arc<BaseUrls> {
            match *self {}
        }

        pub(crate) fn end(&self, _: bool, _: bool) -> CallsEnded {
            match *self {}
        }
    }
}
