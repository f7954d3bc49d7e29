//! The one error type of the crate.
//!
//! Every message names a path, a line, a spec key or a sample id; where something can be typed to mend
//! it, the error carries that as a `hint`. The kind decides the exit code of the command line.

mod inside;
mod key_path;
mod remedy;

use std::fmt;
use std::path::Path;

use crate::exit::Exit;
use crate::printable::on_lines;

pub(crate) use inside::{inside, split_inside};
pub(crate) use key_path::{KeyPath, Step, Under};
pub(crate) use remedy::remedy;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, in one line, and what to type next.
///
/// As it is shown, by `Display`, nothing of a name that it quotes acts on a terminal or begins a command of CI;
/// [`message`](Self::message) has the name as it is.
///
/// Opaque: kinds may be added. `Debug` prints the same as `Display`, because a `main` that returns
/// `Result` shows the `Debug` form to people.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    reason: Option<&'static str>,
    key: Option<KeyPath>,
}

/// Whose fault it is, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorKind {
    /// The command line, a spec, a dataset, a baseline: nothing was started.
    Usage,
    /// A name that is neither built in nor registered; another program may know it.
    Unregistered,
    /// The machine: a full disk, a file that vanished.
    Infrastructure,
}

impl Error {
    /// A mistake in what the user gave: command line, spec, dataset, baseline. Exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message.into())
    }

    /// A benchmark, agent or scorer that is neither built in nor registered. Exit code 2.
    pub(crate) fn unregistered(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unregistered, message.into())
    }

    /// Whether a spec names something that a test binary with a registry of its own may know.
    pub fn is_unregistered(&self) -> bool {
        self.0.kind == ErrorKind::Unregistered
    }

    /// A fault of the surroundings, such as a full disk. Exit code 3.
    pub fn infrastructure(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Infrastructure, message.into())
    }

    /// A file that could not be opened, read or written, with its path. Where this machine lacks something for it, the
    /// hint says what.
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
        // A file that somebody holds is no lack of threads.
        let is_held = source.kind() == std::io::ErrorKind::WouldBlock;
        match remedy(source).filter(|_| !is_held) {
            Some(remedy) => error.hint(remedy),
            None => error,
        }
    }

    /// What the system refuses, such as to start a thread. Where this machine lacks something for it, the hint says what.
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

    /// Adds what to type next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says in a word of files why there is no verdict: that of an `Unread`.
    #[must_use]
    pub(crate) fn because(mut self, reason: &'static str) -> Self {
        self.0.reason = Some(reason);
        self
    }

    /// Why there is no verdict, if the error says it in a word of files.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        self.0.reason
    }

    /// Puts a place before the message: `evals/gaia.yaml:3:5`, or the id of a sample.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.0.message = format!("{place}: {}", self.0.message);
        self
    }

    /// Changes message and hint, such as by taking secrets out.
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

    /// What to type next, if the error knows.
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// How a command that meets this error ends: `Usage` for a mistake in what was given, `Infrastructure` for a
    /// fault of the surroundings.
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

/// The name among `known` that `given` was most likely meant to be.
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
