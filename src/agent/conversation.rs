//! The driver of conversations: user, agent and environment take turns.
//!
//! An agent answers one turn at a time. It gets the [messages](Task::messages) so far, and its calls of tools are
//! executed by the [`Environment`], until it answers without calls. For the runner the driver is an agent that answers
//! the whole conversation.

mod dialogue;
mod environment;
mod mock;
mod program;
mod server;
#[cfg(test)]
mod tests;
mod user;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::Agent;
use crate::data::conversation::Script;
use crate::data::{AgentError, Output, Sample, Task};
use crate::error::{Error, Result, nearest};
use crate::system::cancel::Cancel;
use crate::text::excerpt;
use crate::text::hash::Fingerprint;
use dialogue::Dialogue;
use environment::tool_name;
use serde_json::Value;

#[cfg(feature = "bfcl")]
pub(crate) use dialogue::MODE;
pub(crate) use environment::{BenchmarkTools, CallRules};
pub use environment::{Environment, Session, ToolReply};
#[cfg(feature = "bfcl")]
pub(crate) use environment::{IN_WORDS, ToolCall};
pub use mock::MockTools;
pub use program::WorkerEnvironment;
pub(crate) use server::NAME as SERVER;
pub use user::SimulatedUser;

/// The most replies with calls in a turn.
const MAX_STEPS: u32 = 20;
/// The time for a call.
const TOOL_TIMEOUT: Duration = Duration::from_secs(30);

/// An agent that is asked turn by turn, with the user and the tools of its conversations.
///
/// ```
/// use evaltest::agent::{Conversation, MockTools};
/// use evaltest::{AgentError, Output, Task};
/// use serde_json::json;
///
/// # fn main() -> evaltest::Result<()> {
/// /// Looks the weather up, and says what it hears.
/// fn agent(task: &Task) -> Result<Output, AgentError> {
///     let heard = task.messages().last().filter(|message| message["role"] == "tool");
///     Ok(match heard {
///         Some(message) => Output::text(message["content"].as_str().unwrap_or_default()),
///         None => Output::default().tool_calls([json!({"name": "weather", "arguments": {"city": "Oslo"}})]),
///     })
/// }
/// let tools = MockTools::new(json!([{"name": "weather", "returns": [{"result": "rain"}]}]))?;
/// let agent = Conversation::new(agent).environment(tools);
/// # Ok(())
/// # }
/// ```
pub struct Conversation {
    agent: Arc<dyn Agent>,
    environment: Option<Arc<dyn Environment>>,
    rules: Option<Arc<dyn CallRules>>,
    user: Option<SimulatedUser>,
    max_steps: u32,
    tool_timeout: Duration,
    /// Whether the tools are offered by a server of MCP.
    by_server: bool,
}

impl Conversation {
    /// Conversations with this agent, which has no tools of an environment, and whose user says what is written.
    pub fn new(agent: impl Agent + 'static) -> Self {
        Self::of(Arc::new(agent))
    }

    pub(crate) fn of(agent: Arc<dyn Agent>) -> Self {
        Self {
            agent,
            environment: None,
            rules: None,
            user: None,
            max_steps: MAX_STEPS,
            tool_timeout: TOOL_TIMEOUT,
            by_server: false,
        }
    }

    /// Sets what executes the calls of tools.
    #[must_use]
    pub fn environment(mut self, environment: impl Environment + 'static) -> Self {
        self.environment = Some(Arc::new(environment));
        self
    }

    /// Sets the tools of a benchmark.
    pub(crate) fn benchmark_tools(mut self, tools: BenchmarkTools) -> Self {
        self.environment = Some(tools.environment);
        self.rules = Some(tools.rules);
        self
    }

    /// Sets who speaks where a sample has a scenario instead of turns.
    #[must_use]
    pub fn user(mut self, user: SimulatedUser) -> Self {
        self.user = Some(user);
        self
    }

    /// In how many replies of one turn the agent may call tools; by default 20. One more ends the conversation.
    #[must_use]
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.max_steps = steps;
        self
    }

    /// The time for one call of a tool; by default 30 seconds.
    #[must_use]
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.tool_timeout = timeout;
        self
    }

    /// Offers the tools of the environment as a server of the Model Context Protocol on stdio, for agents that call tools
    /// themselves: to `acp` agents with each session; to `command` and `worker` as the file that `$EVALTEST_MCP` names. A
    /// worker that has several tasks at once finds it in the key `mcp` of each line instead.
    #[must_use]
    pub fn serve_tools(mut self) -> Self {
        self.agent.expect_server();
        self.by_server = true;
        self
    }

    /// How long a conversation takes at most, with so much time for the agent in each turn.
    pub(crate) fn longest(&self, script: &Script, timeout: Duration) -> Duration {
        let scripted = u32::try_from(script.turns.len()).unwrap_or(u32::MAX);
        let turns = match &self.user {
            Some(user) if script.scenario.is_some() => user.most_turns(),
            _ => scripted,
        };
        let tools = match &self.environment {
            Some(_) => self.tool_timeout.saturating_mul(self.max_steps),
            None => Duration::ZERO,
        };
        timeout.saturating_add(tools).saturating_mul(turns)
    }

    /// Checks that a sample's conversation can be held.
    ///
    /// # Errors
    /// When it needs a user or an environment that is not there, or has no use for the user that is.
    pub(crate) fn check_script(&self, script: &Script, tools: &[Value]) -> Result<()> {
        match (&self.user, script.scenario.is_some()) {
            (None, true) => {
                return Err(Error::usage(
                    "the sample has a `scenario`, but the eval has no `user`",
                )
                .hint("write `user: { agent: { type: openai, … } }`"));
            }
            (Some(_), false) => {
                return Err(Error::usage(
                    "the sample has `turns`, so the eval's `user` is not used",
                )
                .hint("remove `user`, or write a `scenario` in place of `turns`"));
            }
            _ => {}
        }
        let added = script.turns.iter().flat_map(|turn| &turn.tools_added);
        check_tools(tools.iter().chain(added))?;
        let Some(environment) = &self.environment else {
            if script.expected_state.is_some() || script.initial_state.is_some() {
                let message = "the sample has a state, but the eval has no environment";
                return Err(Error::usage(message)
                    .hint("write `tools: { environment: { type: worker, … } }`"));
            }
            return Ok(());
        };
        let Some(known) = environment.tool_names() else {
            return Ok(());
        };
        let mut named = tools.iter().filter_map(tool_name);
        if let Some(unknown) = named.find(|name| !known.iter().any(|known| known == name)) {
            let error = Error::usage(format!(
                "the environment has no tool `{}`",
                unknown.escape_debug()
            ));
            return Err(match nearest(unknown, known.iter().map(String::as_str)) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint(format!("it has `{}`", known.join("`, `"))),
            });
        }
        Ok(())
    }

    /// The simulated user, if there is one.
    pub(crate) fn simulated_user(&self) -> Option<&SimulatedUser> {
        self.user.as_ref()
    }

    /// Opens a session of the environment for a sample and closes it; returns the number of its tools. `None` without
    /// an environment.
    pub(crate) fn try_environment(
        &self,
        sample: &Sample,
        hidden: &[PathBuf],
        cancel: &Cancel,
    ) -> Option<std::result::Result<usize, AgentError>> {
        let environment = self.environment.as_ref()?;
        let session = Session {
            id: "doctor",
            sample_id: &sample.id,
            turn: 0,
            timeout: self.tool_timeout,
            cancel,
            hidden,
        };
        let state = Script::of(sample).and_then(|script| script.initial_state);
        let tools = environment.open(&session, state.as_ref());
        if tools.is_ok() {
            environment.close(&session);
        }
        environment.end();
        Some(tools.map(|tools| tools.len() + sample.tools.len()))
    }

    /// Whether a call of a tool may fail on purpose: a benchmark with rules of its own replays all calls for its verdict.
    pub(crate) fn may_fail_calls(&self) -> bool {
        self.environment.is_some() && self.rules.is_none()
    }

    /// The agents that are asked.
    fn agents(&self) -> impl Iterator<Item = &dyn Agent> {
        let user = self.user.as_ref().map(SimulatedUser::agent);
        std::iter::once(&*self.agent).chain(user)
    }
}

/// Checks that each tool has a name of its own.
///
/// # Errors
/// When one has no name, or two have the same.
fn check_tools<'a>(tools: impl IntoIterator<Item = &'a Value>) -> Result<()> {
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = tool_name(tool).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| {
            Error::usage(format!(
                "a tool has no name: `{}`",
                excerpt(&tool.to_string())
            ))
            .hint("write `{ name: search, description: …, parameters: { type: object } }`")
        })?;
        if !names.insert(name) {
            let error = Error::usage(format!("two tools have the name `{}`", name.escape_debug()));
            return Err(error.hint("give every tool a unique name"));
        }
    }
    Ok(())
}

impl Agent for Conversation {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        match &task.talk {
            Some(talk) => Dialogue::run(self, task, talk),
            None => self.agent.answer(task),
        }
    }

    fn conversation(&self) -> Option<&Conversation> {
        Some(self)
    }

    fn is_deterministic(&self) -> bool {
        self.agents().all(Agent::is_deterministic)
    }

    fn varies_by_epoch(&self) -> bool {
        self.agents().any(Agent::varies_by_epoch)
    }

    fn keeps_deadline(&self) -> bool {
        self.agents().all(Agent::keeps_deadline)
    }

    fn recorded_latency_s(&self, task: &Task) -> Option<f64> {
        self.agent.recorded_latency_s(task)
    }

    fn needs_scratch(&self) -> bool {
        self.agent.needs_scratch()
    }

    fn check(&self) -> Result<()> {
        if self.by_server {
            crate::system::bridge::program()?;
        }
        self.agents().try_for_each(Agent::check)?;
        self.environment.iter().try_for_each(|it| it.check())
    }

    fn notices(&self) -> Vec<String> {
        let mut notices: Vec<String> = self.agents().flat_map(Agent::notices).collect();
        if self.agents().any(|agent| !agent.takes_messages()) {
            let note = "an agent gets only the last message of a conversation: write \"{messages}\" into its `body`";
            notices.push(note.to_owned());
        }
        notices
    }

    fn takes_base_urls(&self) -> bool {
        self.agent.takes_base_urls()
    }

    fn prepare_calls(&self, port: Option<u16>, only_replays: bool) {
        self.agents()
            .for_each(|agent| agent.prepare_calls(port, only_replays));
    }

    fn sandbox(&self) -> Option<&'static str> {
        self.agent.sandbox()
    }

    fn sandbox_reads(&self) -> Vec<PathBuf> {
        self.agent.sandbox_reads()
    }

    fn close(&self) {
        self.agents().for_each(Agent::close);
        if let Some(environment) = &self.environment {
            environment.end();
        }
    }

    fn asks_endpoint(&self) -> bool {
        self.agents().any(Agent::asks_endpoint)
    }

    fn default_retries(&self) -> u32 {
        let retries = self.agents().map(Agent::default_retries);
        retries.max().unwrap_or_default()
    }

    fn model(&self) -> Option<&str> {
        self.agent.model()
    }

    fn takes_reply_form(&self) -> bool {
        self.agent.takes_reply_form()
    }

    fn diagnose(&self, error: &AgentError) -> Option<String> {
        self.agent.diagnose(error)
    }

    fn fingerprint(&self) -> Option<String> {
        let mut keys = Fingerprint::of("conversation")
            .part("agent", self.agent.fingerprint()?)
            .part("max_steps", self.max_steps)
            .part("by_server", self.by_server);
        if let Some(environment) = &self.environment {
            keys = keys.part("environment", environment.fingerprint()?);
        }
        if let Some(user) = &self.user {
            keys = keys.part("user", user.fingerprint()?);
        }
        Some(keys.hex())
    }

    fn recordings(&self) -> Vec<String> {
        self.agent.recordings()
    }

    fn secrets(&self) -> Vec<String> {
        self.agents().flat_map(Agent::secrets).collect()
    }

    fn secret_variables(&self) -> Vec<(String, String)> {
        self.agents().flat_map(Agent::secret_variables).collect()
    }

    fn unset_variables(&self) -> Vec<String> {
        self.agents().flat_map(Agent::unset_variables).collect()
    }
}
