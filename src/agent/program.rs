//! `Program`: the common part of agents and scorers that are programs.
//!
//! A program has its arguments, the folder that it belongs to and its variables; an agent may also be confined. The
//! macros write the common methods.

use std::path::{Path, PathBuf};

use super::command::absolute;
use crate::data::{AgentError, FailureKind};
use crate::error::{Error, Result};
use crate::system::process::Environment;
use crate::system::process::launch::{DESCRIPTORS, Launch, NotStarted};
use crate::system::sandbox::{Sandbox, Ulimits};
use crate::system::shortage::check_limits;
use crate::text::redact::Redactor;
use crate::text::redact::literal::keys_of_command;

/// A program as given in a spec or in Rust.
#[derive(Clone)]
pub(crate) struct Program {
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// The folder that it belongs to, as given.
    pub(crate) folder: PathBuf,
    pub(crate) environment: Environment,
}

/// Whether a first argument is a script for the interpreter before it.
fn is_script(word: &str) -> bool {
    let ends = ["js", "mjs", "php", "pl", "py", "rb", "ts"];
    let end = Path::new(word).extension();
    !word.starts_with('-') && end.is_some_and(|end| ends.iter().any(|known| end == *known))
}

impl Program {
    /// The environment of this process is read now, once.
    pub(crate) fn new(
        argv: impl IntoIterator<Item = impl Into<String>>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            folder: folder.into(),
            environment: Environment::of_process(),
        }
    }

    /// How to start it, in a working folder.
    pub(crate) fn launch<'a>(&'a self, cwd: &'a Path, folder: &'a Path) -> Launch<'a> {
        Launch {
            args: &self.argv,
            cwd,
            folder,
            env: self.environment.vars(),
        }
    }

    /// Its file.
    pub(super) fn file(&self) -> std::result::Result<PathBuf, AgentError> {
        let folder = absolute(&self.folder)?;
        self.launch(&folder, &folder).check().map_err(not_started)
    }

    /// Checks before a run that the program is there, and that no argument is a file of the parent folder: paths start at
    /// the folder of the spec, which is the commonest mistake. `cwd` starts at the program's folder, too.
    pub(super) fn check(&self, kind: &str, cwd: &Path) -> Result<()> {
        let unusable = |failure: AgentError| {
            let error = self.unusable(kind, &failure);
            let is_missing = failure.kind == FailureKind::NotFound && error.hint_text().is_none();
            if is_missing {
                error.hint("check the spelling and that it is installed; a program next to the spec is `./name`")
            } else {
                error
            }
        };
        self.file().map_err(unusable)?;
        let cwd = absolute(&self.folder).map_err(unusable)?.join(cwd);
        let Some(parent) = cwd.parent() else {
            return Ok(());
        };
        let is_misplaced = |word: &&String| {
            let path = Path::new(word);
            path.extension().is_some()
                && path.is_relative()
                && !cwd.join(path).exists()
                && parent.join(path).is_file()
        };
        let misplaced = self.argv.iter().skip(1).find(is_misplaced);
        let missing = self
            .argv
            .get(1)
            .filter(|word| is_script(word) && !cwd.join(word).exists());
        let Some(word) = misplaced.or(missing) else {
            return Ok(());
        };
        let message = format!(
            "`{word}` does not exist (seen from `{}`, where the agent runs)",
            cwd.display()
        );
        let error = Error::usage(message).at(format_args!("agent `{kind}`"));
        Err(error.hint(match misplaced {
            Some(word) => format!("it is one folder up: write `../{word}`"),
            None => "check the spelling; paths are relative to the folder of the spec".to_owned(),
        }))
    }

    /// Why an agent of this kind cannot be asked, without secrets.
    pub(super) fn unusable(&self, kind: &str, failure: &AgentError) -> Error {
        let program = self.argv.join(" ");
        let (message, hint) = match failure.message.split_once("; hint: ") {
            Some((message, hint)) => (message, Some(hint)),
            None => (failure.message.as_str(), None),
        };
        let failure = AgentError {
            message: message.to_owned(),
            ..failure.clone()
        };
        let mut message = failure.with_stderr();
        if failure.kind == FailureKind::Unusable {
            message = format!("`{program}` {message}");
        }
        let redactor = Redactor::new(&[], &self.secret_values()).unwrap_or_default();
        let message = redactor.text(&message, &mut 0);
        let error = match failure.kind {
            FailureKind::Shortage => Error::infrastructure(message),
            _ => Error::usage(message),
        };
        let error = error.at(format_args!("agent `{kind}`"));
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// Values that must not reach a record: of variables, and keys among the arguments.
    pub(crate) fn secret_values(&self) -> Vec<String> {
        let mut values = self.environment.secret_values();
        values.extend(keys_of_command(&self.argv));
        values
    }

    /// Adds a hint about variables that may be the reason to a failure.
    pub(super) fn advised(&self, mut failure: AgentError) -> AgentError {
        // An interruption is no mistake, so there is nothing to hint at.
        if failure.kind != FailureKind::Cancelled {
            failure.message.push_str(&self.environment.advice("agent"));
        }
        failure
    }
}

/// The confinement of an agent's processes.
#[derive(Clone, Default)]
pub(super) struct Confinement {
    pub(super) sandbox: Option<Sandbox>,
    pub(super) ulimits: Ulimits,
}

impl Confinement {
    pub(super) fn is_none(&self) -> bool {
        self.sandbox.is_none() && self.ulimits.is_empty()
    }

    /// Whether a program can be started and confined here.
    pub(super) fn check(&self) -> Result<()> {
        check_limits(DESCRIPTORS)?;
        self.ulimits.check()?;
        self.sandbox.as_ref().map_or(Ok(()), Sandbox::check)
    }
}

/// Why a program was not started.
pub(super) fn not_started(reason: NotStarted) -> AgentError {
    let kind = if reason.not_found {
        FailureKind::NotFound
    } else if reason.is_shortage {
        FailureKind::Shortage
    } else {
        FailureKind::NotStarted
    };
    AgentError::of(kind, reason.message)
}

/// The methods that set the variables of a type's `program`.
macro_rules! passes_variables {
    () => {
        /// Passes further variables, by name.
        #[must_use]
        pub fn env(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
            let names = names.into_iter().map(Into::into);
            self.program.environment.named.extend(names);
            self
        }

        /// Passes further variables, by name, whose values are not secret: they stay in records, unlike those given to
        /// [`env`](Self::env). A name may be given to both.
        #[must_use]
        pub fn plain_env(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
            self.program.environment.name_plain(names);
            self
        }

        /// Values, such as those of a `.env` file, for names given to [`env`](Self::env) that the process environment
        /// lacks.
        #[must_use]
        pub fn vars(mut self, vars: std::collections::BTreeMap<String, String>) -> Self {
            self.program.environment.fallback = vars;
            self
        }

        /// Values that must not reach a record: those of the variables given to `env`, from 8 bytes on, except common ones
        /// such as `LANG` and existing absolute paths, and keys among the arguments, such as that of `--api-key`.
        pub fn secret_values(&self) -> Vec<String> {
            self.program.secret_values()
        }
    };
}

/// The methods that set the `confinement` of a type. The attributes document `sandbox`.
macro_rules! confines {
    ($(#[$sandbox:meta])+) => {
        $(#[$sandbox])+
        #[must_use]
        pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
            self.confinement.sandbox = Some(sandbox);
            self
        }

        /// Limits that the kernel enforces on each process, over its whole life.
        #[must_use]
        pub fn ulimits(mut self, ulimits: Ulimits) -> Self {
            self.confinement.ulimits = ulimits;
            self
        }
    };
}

/// The methods of an agent that has a `program` and a `confinement`.
macro_rules! forward_program {
    ($self:ident) => {
        fn secrets(&$self) -> Vec<String> {
            $self.program.secret_values()
        }

        fn secret_variables(&$self) -> Vec<(String, String)> {
            $self.program.environment.secrets()
        }

        fn prepare_calls(&$self, port: Option<u16>, only_replays: bool) {
            $self.program.environment.only_replay(only_replays);
            if let (Some(sandbox), Some(port)) = (&$self.confinement.sandbox, port) {
                sandbox.let_through(port);
            }
        }

        fn unset_variables(&$self) -> Vec<String> {
            $self.program.environment.unset()
        }

        fn keeps_deadline(&$self) -> bool {
            true
        }

        fn notices(&$self) -> Vec<String> {
            let sandbox = $self.confinement.sandbox.as_ref();
            sandbox.map_or_else(Vec::new, Sandbox::notices)
        }

        fn sandbox_reads(&$self) -> Vec<PathBuf> {
            let sandbox = $self.confinement.sandbox.as_ref();
            sandbox.map_or_else(Vec::new, |sandbox| sandbox.reads(&$self.program.folder))
        }

        fn sandbox(&$self) -> Option<&'static str> {
            Some($self.confinement.sandbox.as_ref()?.used().ok()?.name())
        }
    };
}

/// The methods of an agent whose `program` stays, in a `pool` of processes.
macro_rules! forward_pool {
    ($self:ident, $name:literal) => {
        fn check(&$self) -> Result<()> {
            $self.confinement.check()?;
            $self.program.check($name, Path::new(""))?;
            $self.pool.renew();
            let unusable = |failure| $self.program.unusable($name, &failure);
            $self.try_out().map_err(unusable)
        }

        fn keeps_sessions(&$self) -> bool {
            true
        }

        fn takes_server(&$self) -> bool {
            $self.confinement.sandbox.is_none()
        }

        fn close(&$self) {
            $self.pool.close();
        }
    };
}

pub(super) use confines;
pub(super) use forward_pool;
pub(super) use forward_program;
pub(crate) use passes_variables;
