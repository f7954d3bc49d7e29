//! The crate's only error type.
//!
//! Every message names a path, a line, a spec key or a sample id; if there is a remedy, the error has it as a `hint`.
//! The kind determines the exit code of the command line.

mod remedy;

use std::fmt;
use std::fmt::Display;
use std::path::Path;

use crate::exit::Exit;
use crate::printable::on_lines;

pub(crate) use remedy::remedy;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error message in one line, with a hint what to do.
///
/// `Display` escapes characters that could affect a terminal or start a CI command; [`message`](Self::message) has the
/// original text.
///
/// Opaque: kinds may be added. `Debug` prints the same as `Display`, because a `main` that returns `Result` shows the
/// `Debug` form to users.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    reason: Option<&'static str>,
    key: Option<KeyPath>,
}

/// The cause, which determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorKind {
    /// The command line, a spec, a dataset or a baseline: nothing was started.
    Usage,
    /// A name that is neither built in nor registered; another program may have it.
    Unregistered,
    /// The machine: such as a full disk or a vanished file.
    Infrastructure,
}

impl Error {
    /// An error in the user's input: command line, spec, dataset, baseline. Exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message.into())
    }

    /// The error for a part of this crate that this build lacks.
    pub(crate) fn without_feature(what: impl fmt::Display, feature: &str) -> Self {
        let message = format!("{what} needs the feature `{feature}` of the crate `evaltest`");
        Self::usage(message).hint(format!(
            "add it: `cargo add --dev evaltest --features {feature}`, or use `cargo evaltest`, which has the feature"
        ))
    }

    /// A benchmark, agent or scorer that is neither built in nor registered. Exit code 2.
    pub(crate) fn unregistered(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unregistered, message.into())
    }

    /// Whether a spec uses a name that only a test binary may register.
    pub fn is_unregistered(&self) -> bool {
        self.0.kind == ErrorKind::Unregistered
    }

    /// An environment error, such as a full disk. Exit code 3.
    pub fn infrastructure(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Infrastructure, message.into())
    }

    /// A file that could not be opened, read or written. If a resource of this machine is exhausted, the hint names
    /// it.
    pub fn io(action: &str, path: &Path, source: &std::io::Error) -> Self {
        let kind = match source.kind() {
            std::io::ErrorKind::NotFound
            | std::io::ErrorKind::PermissionDenied
            | std::io::ErrorKind::AlreadyExists
            | std::io::ErrorKind::IsADirectory
            | std::io::ErrorKind::NotADirectory
            | std::io::ErrorKind::InvalidData => ErrorKind::Usage,
            _ => ErrorKind::Infrastructure,
        };
        let message = format!("cannot {action} `{}`: {source}", path.display());
        let error = Self::new(kind, message);
        // A locked file is no shortage of threads.
        let is_held = source.kind() == std::io::ErrorKind::WouldBlock;
        match remedy(source).filter(|_| !is_held) {
            Some(remedy) => error.hint(remedy),
            None => error,
        }
    }

    /// A failed system call, such as starting a thread. If a resource of this machine is exhausted, the hint names it.
    pub fn refused(action: &str, source: &std::io::Error) -> Self {
        let error = Self::infrastructure(format!("cannot {action}: {source}"));
        match remedy(source) {
            Some(remedy) => error.hint(remedy),
            None => error,
        }
    }

    fn new(kind: ErrorKind, message: String) -> Self {
        Self(Box::new(Inner {
            kind,
            message,
            hint: None,
            reason: None,
            key: None,
        }))
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Sets the reason for a missing verdict, a name of `Unread` as used in files.
    #[must_use]
    pub(crate) fn because(mut self, reason: &'static str) -> Self {
        self.0.reason = Some(reason);
        self
    }

    /// The reason for a missing verdict, if set.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        self.0.reason
    }

    /// Prefixes the message with a position: `evals/gaia.yaml:3:5`, or the id of a sample.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.0.message = format!("{place}: {}", self.0.message);
        self
    }

    /// Changes message and hint, for example to redact secrets.
    #[must_use]
    pub(crate) fn map_text(mut self, change: impl Fn(&str) -> String) -> Self {
        self.0.message = change(&self.0.message);
        self.0.hint = self.0.hint.as_deref().map(change);
        self
    }

    /// The message without the hint.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The hint, if any.
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Message and hint in one line.
    pub(crate) fn on_one_line(&self) -> String {
        match self.hint_text() {
            Some(hint) => format!("{}; {hint}", self.message()),
            None => self.message().to_owned(),
        }
    }

    /// The exit status of a command with this error: `Usage` for errors in the input, `Infrastructure` for environment
    /// errors.
    pub fn exit(&self) -> Exit {
        match self.0.kind {
            ErrorKind::Usage | ErrorKind::Unregistered => Exit::Usage,
            ErrorKind::Infrastructure => Exit::Infrastructure,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&on_lines(&self.0.message))?;
        match &self.0.hint {
            Some(hint) => write!(f, "\n\nhint: {}", on_lines(hint)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// Words of promptfoo, Inspect, `DeepEval` and other tools, with ours.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &[
            "llm_rubric",
            "model_graded_qa",
            "model_graded_fact",
            "model_graded_closedqa",
            "g_eval",
            "geval",
            "factuality",
            "answer_relevance",
            "answer_relevancy",
            "faithfulness",
            "llm_as_judge",
        ],
        "judge",
    ),
    (
        &[
            "contains",
            "icontains",
            "contains_any",
            "contains_all",
            "include",
        ],
        "includes",
    ),
    (
        &["equals", "match", "exact_match", "string_match", "eq"],
        "exact",
    ),
    (
        &["similar", "similarity", "embedding_similarity", "bertscore"],
        "semantic",
    ),
    (&["f1", "f1_score"], "token_f1"),
    (&["is_json", "contains_json", "json_schema"], "json"),
    (&["pattern", "regex_match"], "regex"),
    (&["multiple_choice", "mcq"], "choice"),
    (
        &[
            "javascript",
            "python",
            "exec",
            "script",
            "shell",
            "custom_script",
            "cmd",
            "program",
            "args",
            "run",
        ],
        "command",
    ),
    (&["webhook", "rest", "https"], "http"),
    (
        &["anthropic", "ollama", "vllm", "azureopenai", "openai_chat"],
        "openai",
    ),
    (&["providers", "targets", "models"], "agents"),
    (&["provider", "target", "model", "solver"], "agent"),
    (
        &["tests", "test", "dataset", "datasets", "task", "data"],
        "benchmark",
    ),
    (
        &["assert", "asserts", "assertions", "metrics", "evaluators"],
        "scorers",
    ),
    (&["metric", "evaluator", "grader"], "scorer"),
    (&["thresholds", "threshold"], "gates"),
    (&["repeat", "num_repeats", "runs"], "epochs"),
];

/// The name among `known` that is most similar to `given`.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let known: Vec<&str> = known.into_iter().collect();
    let usual = given.replace('-', "_");
    let elsewhere = ELSEWHERE
        .iter()
        .filter(|(words, _)| words.contains(&&*usual));
    let mut elsewhere = elsewhere.filter_map(|(_, own)| known.iter().find(|name| *name == own));
    if let Some(own) = elsewhere.next() {
        return Some(own);
    }
    known
        .into_iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&given, &name.to_lowercase()),
                name,
            )
        })
        .filter(|(distance, name)| {
            *distance <= (name.chars().count().max(given.chars().count()) / 3).max(1)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

// Passes a path inside a value through serde's error messages.
//
// serde knows the position of the value being parsed, but not positions inside it. Our parsers encode those with
// `inside`; `split_inside` extracts them from serde's message.

/// Separates a message from the path inside the value.
const INSIDE: &str = "\n\ninside: ";

/// A message about a part of the value being parsed, such as `[1]` or `key[1]`.
pub(crate) fn inside(path: &str, message: impl Display) -> String {
    format!("{message}{INSIDE}{path}")
}

/// The message, and the path inside the value, if any.
pub(crate) fn split_inside(message: &str) -> (&str, Option<&str>) {
    match message.rsplit_once(INSIDE) {
        Some((message, path)) => (message, Some(path)),
        None => (message, None),
    }
}

// The spec key that an error is about.
//
// The code that detects an error knows only the key's own name. Each enclosing map and list adds its step as the
// error propagates, which gives the path from the root of the spec. `data::yaml_places` maps the path to a position.

/// One step of a path: to the value of a key, or to an item of a list, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Item(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(item: usize) -> Self {
        Self::Item(item)
    }
}

/// The path to the subject of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPath {
    /// From the innermost step outwards.
    steps: Vec<Step>,
    /// Whether the error is about the key itself, which should not be there, rather than its value.
    is_key: bool,
}

impl KeyPath {
    /// The steps from the root of the spec.
    pub(crate) fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.steps.iter().rev()
    }

    /// The same path with `head` in place of its first `taken` steps.
    pub(crate) fn with_head<const N: usize>(&self, taken: usize, head: [Step; N]) -> Self {
        let mut path = self.clone();
        path.steps.truncate(path.steps.len().saturating_sub(taken));
        path.steps.extend(head.into_iter().rev());
        path
    }

    /// Whether the error is about the key itself rather than its value.
    pub(crate) fn is_key(&self) -> bool {
        self.is_key
    }
}

/// Steps from the root to the value.
impl<S: Into<Step>> FromIterator<S> for KeyPath {
    fn from_iter<I: IntoIterator<Item = S>>(steps: I) -> Self {
        let mut steps: Vec<Step> = steps.into_iter().map(Into::into).collect();
        steps.reverse();
        Self {
            steps,
            is_key: false,
        }
    }
}

impl Error {
    /// Marks the key itself as wrong: it is unknown or not allowed here.
    #[must_use]
    pub(crate) fn of_key(mut self, key: &str) -> Self {
        self.0.key = Some(KeyPath {
            steps: vec![key.into()],
            is_key: true,
        });
        self
    }

    /// Adds an outer step: the error is about something in the value of this key or in this item, or about that value
    /// itself if there is no step yet. For a missing value it is the enclosing map.
    #[must_use]
    pub(crate) fn under(mut self, step: impl Into<Step>) -> Self {
        let path = self.0.key.get_or_insert_default();
        path.steps.push(step.into());
        self
    }

    /// Like [`Error::under`], but only if the error has no key yet, as errors of users' code.
    #[must_use]
    pub(crate) fn or_under(self, step: impl Into<Step>) -> Self {
        match self.0.key {
            Some(_) => self,
            None => self.under(step),
        }
    }

    /// Replaces the path.
    #[must_use]
    pub(crate) fn moved(mut self, to: impl FnOnce(&KeyPath) -> KeyPath) -> Self {
        let path = self.0.key.take();
        self.0.key = path.map(|path| to(&path));
        self
    }

    /// The key that the error is about, if any.
    pub(crate) fn key_path(&self) -> Option<&KeyPath> {
        self.0.key.as_ref()
    }
}

/// [`Error::under`] and similar for results.
pub(crate) trait Under {
    fn of_key(self, key: &str) -> Self;
    fn under(self, step: impl Into<Step>) -> Self;
    fn or_under(self, step: impl Into<Step>) -> Self;
}

impl<T> Under for Result<T> {
    fn of_key(self, key: &str) -> Self {
        self.map_err(|error| error.of_key(key))
    }

    fn under(self, step: impl Into<Step>) -> Self {
        self.map_err(|error| error.under(step))
    }

    fn or_under(self, step: impl Into<Step>) -> Self {
        self.map_err(|error| error.or_under(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_tools_come_before_letters() {
        let scorers = ["ast_match", "exact", "includes", "judge", "token_f1"];
        for (given, own) in [
            ("exact_match", "exact"),
            ("llm-rubric", "judge"),
            ("model_graded_qa", "judge"),
            ("icontains", "includes"),
            ("f1", "token_f1"),
            ("exakt", "exact"),
        ] {
            assert_eq!(nearest(given, scorers), Some(own), "{given}");
        }
        assert_eq!(nearest("python", ["command", "worker"]), Some("command"));
        // Only what is legal here.
        assert_eq!(nearest("contains", ["command", "worker"]), None);
    }
}
