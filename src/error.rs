//! The crate's only error type.
//!
//! Every message names a path, a line, a spec key or a sample id; if there is a remedy, the error has it as a `hint`.
//! The kind determines the exit code of the command line.

mod key_path;
mod remedy;

use std::fmt;
use std::fmt::Display;
use std::path::Path;

use crate::exit::Exit;
use crate::printable::on_lines;

pub(crate) use key_path::{KeyPath, Step, Under};
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

/// The name among `known` that is most similar to `given`.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
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
