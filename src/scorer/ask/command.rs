//! `command`: a program that judges, one line in, one line out.

mod pool;
mod reply;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::agent::program::{Program, passes_variables};
use crate::data::{Normalized, Score};
use crate::error::{Error, Result, Under};
use crate::scorer::{Answer, Entry, Example, OptionReader, Scorer};
use crate::system::clock;
use crate::system::process::excerpt::{beginning, ending};
use crate::system::process::launch::NotStarted;
use crate::system::process::worker::ask::Fault;
use crate::system::process::worker::{GRACE, WorkerProcess};
use crate::system::variables;
use crate::text::hash::Hasher;
use crate::text::json_line;
use crate::text::redact::Redactor;
use pool::ProcessPool;
use reply::ScorerReply;

/// Limit of a reply line, in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// How much of an unreadable line is shown.
const EXCERPT_BYTES: usize = 200;
/// How much of stderr is shown.
const STDERR_BYTES: usize = 500;
/// The default limit on the time of a reply.
const TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum of the option, in seconds.
const LONGEST_TIMEOUT: f64 = 86_400.0;
/// The maximum number of pauses while the machine has no resources to start a program, and their length: half a minute
/// in total.
const MOST_PAUSES: u32 = 300;
const PAUSE: Duration = Duration::from_millis(100);
/// The maximum of the option.
const MOST_PROCESSES: u64 = 256;

pub(crate) const ENTRY: Entry = Entry {
    name: "command",
    summary: "a program of your own judges: one JSON line in, one out",
    rule: include_str!("command.md"),
    options: &[
        ("command", "the program and its arguments, a list of texts"),
        (
            "env",
            "names of variables that it gets in addition to the usual few; their values are secret from 8 characters on",
        ),
        (
            "plain_env",
            "names of further variables whose values are not secret",
        ),
        ("timeout_s", "seconds that a reply may take; 60 by default"),
        (
            "processes",
            "how many answers are judged in parallel; 1 by default",
        ),
        (
            "needs_target",
            "whether samples without a ground truth are skipped; true by default",
        ),
    ],
    examples: &[
        Example {
            options: r#"command: [sh, -c, 'while read -r line; do echo "{\"correct\": true}"; done']"#,
            prediction: "anything",
            ground_truth: "4",
            correct: true,
            note: "the program accepts everything",
        },
        Example {
            options: r#"command: [sh, -c, 'while read -r line; do echo "{\"correct\": false, \"value\": 0.5}"; done']"#,
            prediction: "4",
            ground_truth: "4",
            correct: false,
            note: "the program decides",
        },
    ],
    make,
};

fn make(options: &OptionReader<'_>) -> Result<Arc<dyn Scorer>> {
    let argv = options.texts("command")?.filter(|argv| !argv.is_empty());
    let wanted = "the program and its arguments, a list of texts";
    let argv = argv.ok_or_else(|| options.missing("command", wanted))?;
    let env = options.texts("env")?.unwrap_or_default();
    let env: Vec<String> = env.into_iter().map(str::to_owned).collect();
    let plain = options.texts("plain_env")?.unwrap_or_default();
    let plain: Vec<String> = plain.into_iter().map(str::to_owned).collect();
    let timeout = options.number_in("timeout_s", 0.001, LONGEST_TIMEOUT)?;
    let wanted = format!("a whole number from 1 to {MOST_PROCESSES}");
    let processes = options.read("processes", &wanted, |value| {
        let number = value.as_u64()?;
        (1..=MOST_PROCESSES).contains(&number).then_some(number)
    })?;
    let needs_target = options.read("needs_target", "true or false", Value::as_bool)?;

    let mut vars = variables::from_dot_env(&env, options.folder()).under("env")?;
    vars.extend(variables::from_dot_env(&plain, options.folder()).under("plain_env")?);
    let mut command = CommandScorer::new(argv, options.folder())
        .env(env)
        .plain_env(plain)
        .vars(vars);
    if let Some(seconds) = timeout {
        command = command.timeout(Duration::from_secs_f64(seconds));
    }
    if let Some(processes) = processes {
        command = command.processes(usize::try_from(processes).unwrap_or(usize::MAX));
    }
    if needs_target == Some(false) {
        command = command.without_target();
    }
    // Before an agent is paid.
    command.check().under("command")?;
    Ok(Arc::new(command))
}

/// A scorer that runs a program.
///
/// ```
/// use std::time::Duration;
/// use evaltest::scorer::CommandScorer;
///
/// let judge = CommandScorer::new(["python3", "judge.py"], "evals")
///     .env(["JUDGE_MODEL"])
///     .timeout(Duration::from_secs(20))
///     .processes(4);
/// # let _: Box<dyn evaltest::Scorer> = Box::new(judge);
/// ```
///
#[doc = include_str!("command.md")]
pub struct CommandScorer {
    program: Program,
    timeout: Duration,
    /// How long a program may take to exit.
    grace: Duration,
    needs_target: bool,
    pool: ProcessPool,
    requests: AtomicU64,
}

/// The program's input. The keys are a stable interface: add new ones, never rename.
#[derive(Serialize)]
struct Request<'a> {
    id: u64,
    prediction: Option<&'a str>,
    ground_truth: &'a Value,
    metadata: &'a Map<String, Value>,
    output: RequestOutput<'a>,
}

#[derive(Serialize)]
struct RequestOutput<'a> {
    text: Option<&'a str>,
    messages: &'a [Value],
    tool_calls: &'a [Value],
}

impl CommandScorer {
    /// A program with its arguments, and the folder in which it runs (the spec's).
    ///
    /// A program with a `/` is relative to that folder, a bare name is searched in `PATH`. It starts with the first
    /// answer. The process environment is read once, here.
    pub fn new(
        argv: impl IntoIterator<Item = impl Into<String>>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self {
            program: Program::new(argv, folder),
            timeout: TIMEOUT,
            grace: GRACE,
            needs_target: true,
            pool: ProcessPool::new(1),
            requests: AtomicU64::new(0),
        }
    }

    passes_variables!();

    /// The time limit of a reply; a minute by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many answers are judged at the same time, each by its own process; 1 by default.
    #[must_use]
    pub fn processes(mut self, processes: usize) -> Self {
        self.pool = ProcessPool::new(processes.max(1));
        self
    }

    /// Also judges samples without a ground truth.
    #[must_use]
    pub fn without_target(mut self) -> Self {
        self.needs_target = false;
        self
    }

    /// Checks that the program exists.
    fn check(&self) -> Result<()> {
        let folder = self.absolute_folder()?;
        let launch = self.program.launch(&folder, &folder);
        launch.check().map(drop).map_err(|reason| {
            let (message, hint) = match reason.message.split_once("; hint: ") {
                Some((message, hint)) => (message, Some(hint)),
                None => (reason.message.as_str(), None),
            };
            let error = Error::usage(message).at("scorer `command`");
            match hint {
                Some(hint) => error.hint(hint),
                None => error,
            }
        })
    }

    fn absolute_folder(&self) -> Result<PathBuf> {
        // The empty path means the current folder, too.
        crate::system::file::absolute(&Path::new(".").join(&self.program.folder))
    }

    /// Starts a process; waits for resources until the run stops.
    fn start(&self, stops: &dyn Fn() -> bool) -> Result<WorkerProcess> {
        let folder = self.absolute_folder()?;
        let Program {
            argv, environment, ..
        } = &self.program;
        let start = || WorkerProcess::start(argv, &folder, environment.vars());
        let started = when_there_is_room(start, stops);
        let started = started.map(|worker| worker.grace(self.grace));
        started.map_err(|reason| Error::infrastructure(reason.message))
    }

    /// The reply to a line. A process that exits during the request is replaced once; one that exited before is
    /// replaced without counting.
    fn ask(&self, line: &[u8], id: u64, stops: &dyn Fn() -> bool) -> Result<ScorerReply> {
        let mut lease = self.pool.lease();
        if lease.worker.as_mut().is_some_and(WorkerProcess::has_ended) {
            lease.worker = None;
        }
        let mut ended = false;
        loop {
            let mut worker = match lease.worker.take() {
                Some(worker) => worker,
                None => self.start(stops)?,
            };
            let deadline = clock::now() + self.timeout;
            let fault = match worker.ask(line, deadline, LONGEST_LINE) {
                Err(Fault::Ended(_)) if !ended => {
                    ended = true;
                    continue;
                }
                Err(fault) => self.describe(fault),
                Ok(line) => match reply::read(&line, id) {
                    Ok(reply) => {
                        lease.worker = Some(worker);
                        return Ok(reply);
                    }
                    Err(reason) => {
                        let printed = beginning(&line, EXCERPT_BYTES);
                        format!("printed `{printed}`, {reason}")
                    }
                },
            };
            return Err(self.error(&fault, worker.end()));
        }
    }

    /// Describes a fault.
    fn describe(&self, fault: Fault) -> String {
        match fault {
            Fault::Ended(how) => format!("{how} before it replied, and so did the one before it"),
            Fault::TimedOut => format!(
                "did not reply in {} s (does it flush its stdout?)",
                self.timeout.as_secs_f64()
            ),
            Fault::TooLong(line) => format!(
                "printed a line of more than {LONGEST_LINE} bytes, which begins with `{}`",
                beginning(&line, EXCERPT_BYTES)
            ),
            Fault::Unasked(line) => format!(
                "printed `{}` without being asked: stdout is for one reply to each line",
                beginning(&line, EXCERPT_BYTES)
            ),
            Fault::Lost(error) => format!("cannot be followed: {error}"),
        }
    }

    /// The error without a verdict, with secrets redacted.
    fn error(&self, fault: &str, stderr: Option<String>) -> Error {
        let program = beginning(self.program.argv.join(" ").as_bytes(), EXCERPT_BYTES);
        let mut message = format!("`{program}` {fault}");
        if let Some(stderr) = stderr.filter(|text| !text.trim().is_empty()) {
            message += "; stderr ends with `";
            message += &ending(&stderr, STDERR_BYTES);
            message += "`";
        }
        message += &self.program.environment.advice("scorer");
        let redactor = Redactor::new(&[], &self.secrets()).unwrap_or_default();
        Error::infrastructure(redactor.text(&message, &mut 0))
    }

    /// The arguments that are scripts, with their hashes.
    fn scripts(&self) -> Map<String, Value> {
        let script = |argument: &String| {
            let hash = script_hash(&self.program.folder.join(argument))?;
            Some((argument.clone(), hash.into()))
        };
        self.program.argv.iter().filter_map(script).collect()
    }
}

/// Starts something, and retries while the machine lacks resources, until the run stops: other processes end and free
/// them.
fn when_there_is_room<T>(
    mut start: impl FnMut() -> Result<T, NotStarted>,
    mut stops: impl FnMut() -> bool,
) -> Result<T, NotStarted> {
    let mut pauses = 0;
    loop {
        match start() {
            Err(reason) if reason.is_shortage && pauses < MOST_PAUSES && !stops() => {
                pauses += 1;
                std::thread::sleep(PAUSE);
            }
            started => return started,
        }
    }
}

impl Scorer for CommandScorer {
    fn name(&self) -> &'static str {
        "command"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let id = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let request = Request {
            id,
            prediction: answer.prediction,
            ground_truth: &answer.target.0,
            metadata: answer.metadata,
            output: RequestOutput {
                text: answer.output.text.as_deref(),
                messages: &answer.output.messages,
                tool_calls: &answer.output.tool_calls,
            },
        };
        let mut line = json_line(&request)
            .map_err(|error| Error::usage(format!("the answer cannot be written: {error}")))?;
        line.push(b'\n');
        let stops = || answer.client.is_some_and(|named| named.client.stops());
        match self.ask(&line, id, &stops)? {
            ScorerReply::Error(message) => {
                let message = beginning(message.as_bytes(), STDERR_BYTES);
                Err(self.error(&format!("cannot judge this answer: {message}"), None))
            }
            ScorerReply::Score(score) => {
                let text = |text: Option<&str>| text.map_or(Normalized::None, Normalized::from);
                Ok(score.normalized(text(answer.prediction), text(answer.target.as_text())))
            }
        }
    }

    fn needs_target(&self) -> bool {
        self.needs_target
    }

    fn fingerprint(&self) -> String {
        let named = &self.program.environment.named;
        let options = json!([self.program.argv, named, self.needs_target, self.scripts()]);
        format!("command {options}")
    }

    fn secrets(&self) -> Vec<String> {
        self.program.secret_values()
    }

    fn secret_variables(&self) -> Vec<(String, String)> {
        self.program.environment.secrets()
    }

    fn unset_variables(&self) -> Vec<String> {
        self.program.environment.unset()
    }
}

/// Larger scripts are not hashed.
const SCRIPT_BYTES: u64 = 1 << 20;

/// The hash of a script; `None` if it is not a script.
pub(super) fn script_hash(path: &Path) -> Option<String> {
    let about = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let text = (about.len() <= SCRIPT_BYTES).then(|| std::fs::read_to_string(path));
    let text = text?.ok().filter(|text| !text.contains('\0'))?;
    Some(Hasher::default().part(text).short())
}
