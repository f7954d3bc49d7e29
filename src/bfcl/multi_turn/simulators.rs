//! `Simulators`: the classes of the official package, as the environment of conversations and for verdicts.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use once_cell::sync::OnceCell;
use serde_json::{Map, Value as Json, json};

use super::calls;
use super::entry::{CLASSES, MORE_FUNCTIONS};
use super::package::Package;
use crate::agent::conversation::{
    BenchmarkTools, CallRules, Environment, Session, ToolCall, ToolReply, WorkerEnvironment,
};
use crate::agent::worker::Worker;
use crate::bfcl::benchmark::{prompt, tools};
use crate::bfcl::export::step;
use crate::calls::{JsonValue as _, Value};
use crate::data::conversation::Script;
use crate::data::dataset::read_text;
use crate::data::{AgentError, FailureKind, Sample};
use crate::error::{Error, Result};
use crate::system::lock;
use crate::system::parallel;
use crate::system::sandbox::{Network, Sandbox, SandboxKind};
use crate::text::hash::Fingerprint;

/// What runs the simulators.
const SCRIPT: &str = include_str!("simulators.py");
/// The longest line of the script: states of long contexts are long.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// The time for a verdict.
const JUDGE_TIMEOUT: Duration = Duration::from_mins(1);

/// The simulators of the official package. Its Python is asked when they are needed.
pub(crate) struct Simulators {
    python: PathBuf,
    /// The folder in which relative paths start.
    folder: PathBuf,
    /// The folder of the leaderboard's data, if it is not that of the package.
    data: Option<PathBuf>,
    running: OnceCell<RunningSimulators>,
    /// What each open session began with.
    sessions: Mutex<HashMap<String, InitialState>>,
}

struct RunningSimulators {
    program: WorkerEnvironment,
    package: Package,
    /// The documents of functions by class.
    documents: BTreeMap<&'static str, Vec<Json>>,
}

/// What a session begins with.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
struct InitialState {
    classes: Vec<String>,
    /// The functions that the agent gets in a later turn.
    withheld: BTreeMap<u32, Vec<String>>,
}

impl InitialState {
    fn of(state: Option<&Json>) -> Option<Self> {
        serde::Deserialize::deserialize(state?).ok()
    }
}

impl fmt::Debug for Simulators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.python.fmt(f)
    }
}

impl Simulators {
    /// The simulators of a Python's package; relative paths start in `folder`. Functions are described beside the
    /// leaderboard's `data`, by default that of the package.
    pub(crate) fn new(
        python: impl Into<PathBuf>,
        folder: impl Into<PathBuf>,
        data: Option<PathBuf>,
    ) -> Self {
        Self {
            python: python.into(),
            folder: folder.into(),
            data,
            running: OnceCell::new(),
            sessions: Mutex::default(),
        }
    }

    fn running(&self) -> Result<&RunningSimulators> {
        self.running.get_or_try_init(|| {
            let package = Package::of(&self.python, &self.folder)?;
            let data = self.data.clone().unwrap_or_else(|| package.data());
            let sandbox = Sandbox::new()
                .kind(SandboxKind::AutoOrNone)
                .network(Network::Off)
                .read(package.folders());
            let worker = Worker::new(
                [&*self.python.to_string_lossy(), "-c", SCRIPT],
                &self.folder,
            )
            .processes(parallel::processors())
            .sandbox(sandbox)
            .max_output_bytes(MOST_BYTES);
            Ok(RunningSimulators {
                // The data is in the package.
                program: WorkerEnvironment::new(worker).sees_data(),
                documents: documents(&data.join("multi_turn_func_doc"))?,
                package,
            })
        })
    }

    fn program(&self) -> Result<&WorkerEnvironment, AgentError> {
        let running = self
            .running()
            .map_err(|error| AgentError::of(FailureKind::Misconfigured, error.to_string()))?;
        Ok(&running.program)
    }

    /// The tools of a benchmark that has these simulators.
    pub(crate) fn tools(self: &Arc<Self>) -> BenchmarkTools {
        BenchmarkTools {
            environment: Arc::clone(self) as _,
            rules: Arc::clone(self) as _,
        }
    }

    /// The package.
    ///
    /// # Errors
    /// If Python cannot be run, or lacks it.
    pub(super) fn package(&self) -> Result<&Package> {
        Ok(&self.running()?.package)
    }

    /// Notes that users should see.
    pub(crate) fn notices(&self) -> Vec<String> {
        let Ok(running) = self.running() else {
            return Vec::new();
        };
        let own = running.package.notice().into_iter();
        own.chain(running.program.notices()).collect()
    }

    /// Checks that an entry's functions are described.
    ///
    /// # Errors
    /// If the file of a class is missing.
    pub(crate) fn check_sample(&self, sample: &Sample) -> Result<()> {
        let state = Script::of(sample).and_then(|script| script.initial_state);
        let state = InitialState::of(state.as_ref()).unwrap_or_default();
        let documents = &self.running()?.documents;
        let is_described = |class: &&String| documents.contains_key(class.as_str());
        match state.classes.iter().find(|class| !is_described(class)) {
            None => Ok(()),
            Some(class) => Err(Error::usage(format!(
                "sample `{}`: the functions of `{class}` have no description",
                sample.id.escape_debug()
            ))
            .hint("put the official folder `multi_turn_func_doc` next to the questions")),
        }
    }

    /// The documents of an entry's functions: those that are there from the beginning, and those that come with a turn.
    fn documents(&self, state: &InitialState) -> (Vec<Json>, BTreeMap<u32, Vec<Json>>) {
        let documents = self.running().map(|running| &running.documents);
        let classes = state.classes.iter().zip(std::iter::repeat(documents.ok()));
        let all = classes.filter_map(|(class, documents)| documents?.get(class.as_str()));
        let mut functions: Vec<Json> = all.flatten().cloned().collect();
        let withheld = state.withheld.iter().map(|(turn, names)| {
            let taken = names.iter().filter_map(|name| {
                let place = functions
                    .iter()
                    .position(|function| function["name"] == **name)?;
                Some(functions.remove(place))
            });
            (*turn, taken.collect())
        });
        let withheld = withheld.collect();
        (functions, withheld)
    }

    /// The tools that an agent with native calls has in a turn.
    fn tools_in(&self, state: &InitialState, turn: u32) -> Vec<Json> {
        let (functions, withheld) = self.documents(state);
        let functions = tools::with_hints(&functions.into(), "multi_turn");
        let functions = functions.as_array().cloned().unwrap_or_default();
        // The official program adds no hints to these.
        let added = withheld.into_iter().filter(|(from, _)| *from <= turn);
        let all = functions
            .into_iter()
            .chain(added.flat_map(|(_, functions)| functions));
        all.map(tools::tool).collect()
    }

    /// The official verdict on the calls of an agent, turn by turn and step by step: `valid`, or else `error_type`,
    /// `error_message` and more.
    pub(super) fn judge(
        &self,
        entry: &Json,
        turns: &[Vec<Vec<String>>],
    ) -> Result<Map<String, Json>> {
        let line = json!({"op": "judge", "entry": entry, "turns": turns});
        let reply = self.running()?.program.ask_alone(line, JUDGE_TIMEOUT);
        let failed = |message: &str| Error::usage(format!("the simulators failed: {message}"));
        let reply = reply.map_err(|error| failed(&error.message))?;
        match reply.get("error").and_then(Json::as_str) {
            None => Ok(reply),
            Some(error) => Err(failed(error)),
        }
    }
}

/// The documents of functions in a folder, by class. A class whose file is missing has none.
fn documents(folder: &Path) -> Result<BTreeMap<&'static str, Vec<Json>>> {
    let mut documents = BTreeMap::new();
    for (class, file) in CLASSES {
        let path = folder.join(format!("{file}.json"));
        if !path.exists() {
            continue;
        }
        let text = read_text(&path)?;
        let lines = text.lines().zip(1..);
        let lines = lines.filter(|(line, _)| !line.trim().is_empty());
        let functions = lines.map(|(line, number)| {
            serde_json::from_str(line).map_err(|error| {
                let place = format!("{}:{number}", path.display());
                Error::usage(format!("broken JSON: {error}")).at(place)
            })
        });
        documents.insert(class, functions.collect::<Result<_>>()?);
    }
    Ok(documents)
}

impl Environment for Simulators {
    fn open(
        &self,
        session: &Session<'_>,
        initial_state: Option<&Json>,
    ) -> Result<Vec<Json>, AgentError> {
        let state = InitialState::of(initial_state).ok_or_else(|| {
            let message = "the sample is not an entry of a multi-turn category";
            AgentError::of(FailureKind::Misconfigured, message)
        })?;
        self.program()?.open(session, initial_state)?;
        let tools = self.tools_in(&state, 1);
        lock(&self.sessions).insert(session.id().to_owned(), state);
        Ok(tools)
    }

    fn turn(&self, session: &Session<'_>) -> Result<Option<Vec<Json>>, AgentError> {
        self.program()?.turn(session)?;
        let state = lock(&self.sessions).get(session.id()).cloned();
        let state = state.filter(|state| state.withheld.contains_key(&session.turn()));
        Ok(state.map(|state| self.tools_in(&state, session.turn())))
    }

    fn call(
        &self,
        session: &Session<'_>,
        name: &str,
        arguments: &Json,
    ) -> Result<ToolReply, AgentError> {
        self.program()?.call(session, name, arguments)
    }

    fn state(&self, session: &Session<'_>) -> Result<Option<Json>, AgentError> {
        self.program()?.state(session)
    }

    fn close(&self, session: &Session<'_>) {
        lock(&self.sessions).remove(session.id());
        if let Ok(program) = self.program() {
            program.close(session);
        }
    }

    fn check(&self) -> Result<()> {
        self.running()?.program.check()
    }

    fn fingerprint(&self) -> Option<String> {
        let version = self.package().ok()?.version();
        let keys = Fingerprint::of("bfcl simulators").part("version", version);
        Some(keys.part("script", SCRIPT).hex())
    }

    fn end(&self) {
        if let Some(running) = self.running.get() {
            running.program.end();
        }
    }
}

impl CallRules for Simulators {
    fn calls(&self, reply: &Json, in_words: bool) -> Vec<ToolCall> {
        let written = reply.get("tool_calls").and_then(Json::as_array);
        let ids = written
            .into_iter()
            .flatten()
            .map(|call| call["id"].as_str());
        let ids = ids.chain(std::iter::repeat(None));
        let calls = calls(&step(reply), !in_words).unwrap_or_default();
        let calls = calls.into_iter().zip(ids);
        calls
            .map(|(call, id)| ToolCall {
                id: id.unwrap_or_default().to_owned(),
                name: call.text,
                arguments: Map::new().into(),
                written: call.arguments,
            })
            .collect()
    }

    fn system_in_words(&self, script: &Script) -> Option<String> {
        let (functions, _) = self.documents(&InitialState::of(script.initial_state.as_ref())?);
        let functions = tools::with_hints(&functions.into(), "multi_turn");
        Some(prompt::default_instructions(&functions))
    }

    fn user_in_words(&self, script: &Script, turn: u32) -> Option<String> {
        let (_, withheld) = self.documents(&InitialState::of(script.initial_state.as_ref())?);
        let functions = withheld.get(&turn)?.iter().map(Value::from_serde);
        let functions = Value::List(functions.collect()).repr().ok()?;
        Some(format!("{functions}\n{MORE_FUNCTIONS}"))
    }

    fn messages_in_words(&self, messages: &[Json]) -> Vec<Json> {
        let mut written: Vec<Json> = Vec::new();
        let mut results: Vec<Value> = Vec::new();
        for message in messages {
            if message["role"] == "tool" {
                let members = ["role", "name", "content"].map(|key| {
                    let text = message[key].as_str().unwrap_or_default();
                    (Value::from(key), Value::text(text))
                });
                results.push(Value::Dict(members.into_iter().collect()));
                continue;
            }
            written.extend(as_message(&mut results));
            let mut message = message.clone();
            if let Some(message) = message.as_object_mut() {
                message.shift_remove("tool_calls");
            }
            written.push(message);
        }
        written.extend(as_message(&mut results));
        written
    }
}

/// The results of a step as the one message of a user that tells them.
fn as_message(results: &mut Vec<Value>) -> Option<Json> {
    if results.is_empty() {
        return None;
    }
    let results = Value::List(std::mem::take(results)).repr().ok()?;
    Some(json!({"role": "user", "content": results}))
}
