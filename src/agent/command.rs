//! The `command` agent: one process per attempt.
//!
//! An attempt goes through the files of the folder in this order: [`input`](Input) encodes the task, the program is
//! started with its variables and run to its end in a process group, [`reply`](Reply) decodes its output.
//!
//! Invariants:
//! - No process of the group outlives the attempt, whether it ended or was stopped. A process that left its group
//!   (`setsid`) is never waited for, and killed when the attempt is stopped.
//! - Memory use is bounded by `max_output_bytes` and a few KiB, whatever the agent prints.
//! - The program gets only the allowed variables; no shell reads its arguments.
//! - One thread drives an attempt: no helper threads, no busy waiting.
//!
//! Writing to an agent that has closed its stdin relies on `SIGPIPE` being ignored, as Rust's runtime
//! arranges before `main`.

mod input;
pub(super) mod lines;
pub(super) mod reply;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use input::Input;
pub use reply::Reply;

pub use crate::system::process::child::StreamKind;

use super::Agent;
use super::program::{
    Confinement, Program, confines, forward_program, not_started, passes_variables,
};
use super::recorded::variables;
use crate::data::{AgentError, FailureKind, Output, Task};
use crate::system::clock;
use crate::system::process::FileHashes;
use crate::system::process::child::{self, End, ProcessLimits};
use crate::system::process::escapees;
use crate::system::process::group::{how_it_ended, signal_of};
use crate::system::process::launch::Launch;
use crate::system::process::orphans;
use crate::system::process::orphans::MARK as SCRATCH;
use crate::system::sandbox::{Inmate, Sandbox, Ulimits};
use input::prompt;
use lines::TaskLines;

/// The placeholder for the prompt in an argument.
pub(crate) const PROMPT: &str = "{prompt}";
/// The variable with the path of the file that names the server of tools.
pub(in crate::agent) const MCP: &str = "EVALTEST_MCP";

/// An agent that is a program.
///
/// ```
/// use evaltest::agent::{Command, Input, Reply};
///
/// let agent = Command::new(["python3", "agent.py"], "evals")
///     .input(Input::Json)
///     .output(Reply::Json)
///     .env(["MY_API_KEY"]);
/// ```
#[derive(Clone)]
pub struct Command {
    program: Program,
    input: Input,
    output: Reply,
    cwd: Cwd,
    max_output_bytes: u64,
    confinement: Confinement,
    term_grace: Duration,
    stream: Option<Stream>,
    /// Known hashes of the files in `argv`.
    named: FileHashes,
}

/// The folder in which the program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cwd {
    /// A folder; relative to the folder given to [`Command::new`].
    Folder(PathBuf),
    /// The scratch folder of the attempt.
    Scratch,
}

/// Receives live output in arbitrary pieces. The bytes are the agent's own and may contain terminal escapes and
/// secrets.
pub type Stream = Arc<dyn Fn(StreamKind, &[u8]) + Send + Sync>;

impl Command {
    /// A program with its arguments, and the folder it belongs to (the spec's).
    ///
    /// A program with a `/` is looked up from that folder, a bare name in `PATH`. If an argument contains `{prompt}`,
    /// the prompt goes there and stdin is empty. The process environment is read now, once.
    pub fn new(
        argv: impl IntoIterator<Item = impl Into<String>>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        let program = Program::new(argv, folder);
        Self {
            cwd: Cwd::Folder(program.folder.clone()),
            program,
            input: Input::Text,
            output: Reply::Text,
            max_output_bytes: 1024 * 1024,
            confinement: Confinement::default(),
            term_grace: Duration::from_secs(1),
            stream: None,
            named: FileHashes::default(),
        }
    }

    /// What the program reads from stdin; by default the prompt.
    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }

    /// How stdout is read; by default it is the answer.
    #[must_use]
    pub fn output(mut self, output: Reply) -> Self {
        self.output = output;
        self
    }

    passes_variables!();

    /// The folder in which the program runs; by default the one given to [`Command::new`].
    #[must_use]
    pub fn cwd(mut self, cwd: Cwd) -> Self {
        self.cwd = cwd;
        self
    }

    /// The longest stdout of the program; by default 1 MiB.
    #[must_use]
    pub fn max_output_bytes(mut self, bytes: u64) -> Self {
        self.max_output_bytes = bytes;
        self
    }

    confines! {
        /// Runs the program in its own sandbox, see [`Sandbox`]. Its scratch folder and home are then in memory; it is
        /// killed at once when its time is up.
    }

    /// How long the program may take to end after `SIGTERM`, before `SIGKILL`; by default one second.
    #[must_use]
    pub fn term_grace(mut self, grace: Duration) -> Self {
        self.term_grace = grace;
        self
    }

    /// Shows output while the program runs.
    #[must_use]
    pub fn stream(mut self, stream: Stream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// One attempt, without the hint on variables that every failure gets.
    fn attempt(&self, task: &Task) -> Result<Output, AgentError> {
        let started = clock::now();
        if task.cancel.is_cancelled() {
            return Err(cancelled());
        }
        time_left(task.deadline, started)?;

        let folder = absolute(&self.program.folder)?;
        let (args, stdin) = self.handover(task)?;
        let cwd = self.working_folder(&folder, task)?;
        let mut launch = Launch {
            args: &args,
            cwd: &cwd,
            folder: &folder,
            env: self.variables(task)?,
        };
        let confined = self.confined(&launch, task)?;
        if let Some(args) = &confined {
            launch.args = args;
        }
        let scratch = task.scratch().map(absolute).transpose()?;
        let attempt = orphans::Attempt::begin(scratch.as_deref().map(Path::as_os_str));
        let child = launch.start(stdin.is_some()).map_err(not_started)?;

        let limits = ProcessLimits {
            deadline: task.deadline,
            cancel: &task.cancel,
            max_output_bytes: self.max_output_bytes,
            term_grace: self.term_grace,
        };
        let stdin = stdin.unwrap_or_default();
        let lines = TaskLines::of(task);
        let watch = |kind: StreamKind, piece: &[u8]| {
            if let Some(lines) = &lines {
                lines.piece(kind, piece);
            }
            if let Some(stream) = &self.stream {
                stream(kind, piece);
            }
        };
        let watched = lines.is_some() || self.stream.is_some();
        let finished = child::run(child, &stdin, &limits, watched.then_some(&watch));
        let was_stopped = matches!(finished.end, End::TimedOut | End::Cancelled | End::TooLarge);
        if was_stopped && let Some(scratch) = &scratch {
            escapees::kill(SCRATCH, scratch.as_os_str());
        }
        drop(attempt);
        self.judge(&finished.end, started, task)
            .and_then(|()| self.decode(finished.stdout))
            .map_err(|error| AgentError {
                stderr_tail: finished.stderr.text(),
                ..error
            })
    }

    /// Reads a reply, which may be packed.
    #[cfg_attr(
        not(feature = "http"),
        expect(clippy::needless_pass_by_value, reason = "unpacking takes it")
    )]
    fn decode(&self, stdout: Vec<u8>) -> Result<Output, AgentError> {
        #[cfg(feature = "http")]
        let stdout = crate::system::http::unpack_output(stdout, self.max_output_bytes)
            .ok_or_else(|| self.too_large())?;
        self.output.decode(&stdout)
    }

    fn too_large(&self) -> AgentError {
        let message = format!(
            "printed more than {} bytes to stdout; hint: raise `limits.max_output_bytes`",
            self.max_output_bytes
        );
        AgentError::of(FailureKind::OutputTooLarge, message)
    }

    /// The arguments, wrapped in the confinement if there is one.
    fn confined(
        &self,
        launch: &Launch<'_>,
        task: &Task,
    ) -> Result<Option<Vec<String>>, AgentError> {
        if self.confinement.is_none() {
            return Ok(None);
        }
        // The confinement's own error would only say that it cannot run something.
        let program = launch.check().map_err(not_started)?;
        let args = &launch.args[1..];
        let Some(sandbox) = &self.confinement.sandbox else {
            let mut confined = self.confinement.ulimits.wrapper();
            // A lossy conversion would name another file.
            let program = program.into_os_string().into_string().map_err(|path| {
                let message = format!("the path `{}` is not UTF-8", path.display());
                AgentError::of(FailureKind::NotStarted, message)
            })?;
            confined.push(program);
            confined.extend_from_slice(args);
            return Ok(Some(confined));
        };
        let scratch = task.scratch().ok_or_else(|| {
            let message = "a sandbox needs a scratch folder and the attempt has none";
            AgentError::of(FailureKind::NotStarted, message)
        })?;
        let files: Vec<&Path> = task.files().iter().map(|file| &*file.path).collect();
        let inmate = Inmate {
            program: &program,
            args,
            cwd: launch.cwd,
            folder: launch.folder,
            scratch: &absolute(scratch)?,
            files: &files,
            hidden: &task.hidden,
        };
        let confined = sandbox.wrap(&inmate, self.confinement.ulimits);
        confined
            .map(Some)
            .map_err(|error| AgentError::of(FailureKind::NotStarted, error.to_string()))
    }

    /// The variables to pass, and those that describe the attempt.
    fn variables(&self, task: &Task) -> Result<BTreeMap<&OsStr, OsString>, AgentError> {
        let mut vars = self.program.environment.vars();
        if let Some(scratch) = task.scratch() {
            let scratch = absolute(scratch)?;
            let sandbox = self.confinement.sandbox.as_ref();
            if let Some(temporary) = sandbox.and_then(|sandbox| sandbox.temporary(&scratch)) {
                vars.insert(OsStr::new("HOME"), scratch.clone().into_os_string());
                vars.insert(OsStr::new("TMPDIR"), temporary.into_os_string());
            }
            vars.insert(OsStr::new(SCRATCH), scratch.into_os_string());
        }
        let (attempt, epoch) = (task.attempt().to_string(), task.epoch().to_string());
        if let Some(server) = task.server() {
            vars.insert(OsStr::new(MCP), server.config.clone().into());
        }
        for (name, url) in task.base_urls.iter().flat_map(|urls| variables(urls)) {
            vars.insert(OsStr::new(name), url.into());
        }
        vars.insert(OsStr::new("EVALTEST_SAMPLE_ID"), task.id().into());
        vars.insert(OsStr::new("EVALTEST_ATTEMPT"), attempt.into());
        vars.insert(OsStr::new("EVALTEST_EPOCH"), epoch.into());
        Ok(vars)
    }

    /// The arguments, and what goes to stdin: nothing if the prompt is an argument.
    fn handover(&self, task: &Task) -> Result<(Vec<String>, Option<Vec<u8>>), AgentError> {
        let (program, args) = self.program.argv.split_first().ok_or_else(|| {
            AgentError::of(FailureKind::NotStarted, "the agent's `command` is empty")
        })?;
        let in_argument = args.iter().any(|arg| arg.contains(PROMPT));
        let prompt = prompt(task);
        let args = args.iter().map(|arg| arg.replace(PROMPT, &prompt));
        let args = std::iter::once(program.clone()).chain(args).collect();
        let stdin = (!in_argument)
            .then(|| self.input.encode(task))
            .transpose()?;
        Ok((args, stdin))
    }

    fn working_folder(&self, folder: &Path, task: &Task) -> Result<PathBuf, AgentError> {
        match &self.cwd {
            Cwd::Folder(cwd) if *cwd == self.program.folder => Ok(folder.to_path_buf()),
            Cwd::Folder(cwd) => Ok(folder.join(cwd)),
            Cwd::Scratch => absolute(task.scratch().ok_or_else(|| {
                let message = "`cwd: scratch` needs a scratch folder and the attempt has none";
                AgentError::of(FailureKind::NotStarted, message)
            })?),
        }
    }

    /// Whether the output counts as a reply, given how the process ended.
    fn judge(&self, end: &End, started: Instant, task: &Task) -> Result<(), AgentError> {
        match end {
            End::Exited(status) if status.success() => Ok(()),
            End::Exited(status) => Err(exited(*status)),
            End::TimedOut => {
                let allowed = task.deadline.map_or(Duration::ZERO, |deadline| {
                    deadline.saturating_duration_since(started)
                });
                let message = format!("did not answer in {}", in_seconds(allowed));
                Err(AgentError::of(FailureKind::TimedOut, message))
            }
            End::Cancelled => Err(cancelled()),
            End::TooLarge => Err(self.too_large()),
            End::Lost(reason) => {
                let message = format!("lost track of the process: {reason}");
                Err(AgentError::of(FailureKind::Failed, message))
            }
        }
    }
}

impl Agent for Command {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let answer = self.attempt(task);
        answer.map_err(|failure| self.program.advised(failure))
    }

    fn check(&self) -> crate::Result<()> {
        self.confinement.check()?;
        let cwd = match &self.cwd {
            Cwd::Folder(cwd) => cwd,
            Cwd::Scratch => &self.program.folder,
        };
        self.program.check("command", cwd)
    }

    forward_program!(self);

    fn fingerprint(&self) -> Option<String> {
        let folder = absolute(&self.program.folder).ok()?;
        let cwd = match &self.cwd {
            Cwd::Folder(cwd) => folder.join(cwd),
            Cwd::Scratch => folder.clone(),
        };
        let Confinement { sandbox, ulimits } = &self.confinement;
        let sandbox = sandbox.as_ref().and_then(Sandbox::described);
        let keys = self
            .program
            .launch(&cwd, &folder)
            .fingerprint("command", &self.named)
            .part("input", format_args!("{:?}", self.input))
            .part("output", format_args!("{:?}", self.output))
            .part("cwd", format_args!("{:?}", self.cwd))
            .part("sandbox", format_args!("{sandbox:?}"))
            .part("ulimits", format_args!("{ulimits:?}"));
        Some(keys.hex())
    }

    fn needs_scratch(&self) -> bool {
        true
    }

    fn takes_server(&self) -> bool {
        self.confinement.sandbox.is_none()
    }
}

pub(super) fn cancelled() -> AgentError {
    AgentError::of(FailureKind::Cancelled, "the run was interrupted")
}

/// The time until a deadline, if there is one.
///
/// # Errors
/// When it is over.
pub(super) fn time_left(
    deadline: Option<Instant>,
    now: Instant,
) -> Result<Option<Duration>, AgentError> {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
    if left.is_some_and(|left| left.is_zero()) {
        let message = "was not started: no time was left";
        return Err(AgentError::of(FailureKind::TimedOut, message));
    }
    Ok(left)
}

fn exited(status: ExitStatus) -> AgentError {
    AgentError {
        exit_code: status.code(),
        signal: signal_of(status),
        ..AgentError::of(FailureKind::Exited, how_it_ended(status))
    }
}

/// An absolute path; also for the empty path, the parent of a spec in the current folder.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, AgentError> {
    std::path::absolute(Path::new(".").join(path)).map_err(|error| {
        let message = format!("cannot make `{}` absolute: {error}", path.display());
        AgentError::of(FailureKind::NotStarted, message)
    })
}

/// A time limit for people: `30 s`, `1.5 s`, `200 ms`. The small difference between the runner's clock and ours is
/// rounded away.
pub(super) fn in_seconds(duration: Duration) -> String {
    if duration < Duration::from_millis(950) {
        let tens = (duration.as_millis() + 5) / 10;
        return format!("{} ms", tens * 10);
    }
    let rounded = format!("{:.1}", duration.as_secs_f64());
    format!("{} s", rounded.trim_end_matches(".0"))
}
