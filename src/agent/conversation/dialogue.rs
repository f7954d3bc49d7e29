//! One conversation, from its first message to its end.
//!
//! Every message is in the journal before the next party hears of it. What an earlier attempt left there is said again
//! without asking: only calls of tools are executed again, in a new session of the environment. Where a result differs
//! now, the conversation starts over.

mod tools;
mod user_turns;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::Conversation;
use super::environment::{Session, ToolCall, as_function, tool_name};
use super::server::{self, ToolServer};
use crate::agent::command::in_seconds;
use crate::data::conversation::{
    ConversationEnd, ConversationOutcome, ITEMS, Script, Speaker, Talk, TurnMessage, TurnOutcome,
    TurnTask,
};
use crate::data::output::TRUNCATED_REPLIES;
use crate::data::task::Visible;
use crate::data::{AgentError, EndedBy, FailureKind, Finish, Output, Task, Usage};
use crate::system::clock;
use crate::text::excerpt;
pub(super) use tools::{of_environment, refusal};

/// A conversation that is held.
pub(super) struct Dialogue<'a> {
    driver: &'a Conversation,
    task: &'a Task,
    talk: &'a Talk,
    session: Arc<str>,
    /// What was said in an earlier attempt and not yet in this one.
    earlier: VecDeque<TurnMessage>,
    messages: Vec<Value>,
    tools: Vec<Value>,
    /// Whether the agent calls tools in words, by the rules of a benchmark.
    in_words: bool,
    turn: u32,
    /// When the turn is over at the latest.
    deadline: Option<Instant>,
    /// When the conversation is.
    end: Option<Instant>,
    turns: Vec<TurnOutcome>,
    /// What the agent's replies cost in this turn.
    usages: Vec<Option<Usage>>,
    user_usages: Vec<Option<Usage>>,
    user_model: Option<String>,
    /// The calls so far.
    calls: Vec<(String, Value)>,
    /// The ids of those that failed.
    failed: Vec<String>,
    /// The last reply of the agent.
    last: Output,
    /// Replies that ended at the limit of tokens.
    truncated: u64,
    /// Whether it called more tools of the server than it may.
    is_exceeded: bool,
    /// The server of the tools, if they are offered so.
    server: Option<ToolServer>,
    /// How often the environment lost the session.
    losses: u32,
}

/// Why a conversation cannot go on.
enum Broken {
    /// The environment answers a call otherwise than before.
    Differs,
    Failed(AgentError),
}

impl From<AgentError> for Broken {
    fn from(error: AgentError) -> Self {
        Self::Failed(error)
    }
}

impl<'a> Dialogue<'a> {
    /// Holds the conversation of a task.
    pub(super) fn run(
        driver: &'a Conversation,
        task: &'a Task,
        talk: &'a Talk,
    ) -> Result<Output, AgentError> {
        let goes_on = !driver.agent.keeps_sessions()
            && driver
                .environment
                .as_ref()
                .is_none_or(|it| it.is_replayable());
        let earlier = if goes_on {
            talk.earlier.as_slice()
        } else {
            &[]
        };
        match Self::attempt(driver, task, talk, earlier) {
            Err(Broken::Differs) => match Self::attempt(driver, task, talk, &[]) {
                Err(Broken::Failed(error)) => Err(error),
                Ok(output) => Ok(output),
                // Nothing was said before.
                Err(Broken::Differs) => {
                    Err(AgentError::new("the conversation differs from itself"))
                }
            },
            Err(Broken::Failed(error)) => Err(error),
            Ok(output) => Ok(output),
        }
    }

    fn attempt(
        driver: &'a Conversation,
        task: &'a Task,
        talk: &'a Talk,
        earlier: &[TurnMessage],
    ) -> Result<Output, Broken> {
        let session = format!("{}/{}/{}", task.id(), task.epoch(), task.attempt());
        let mut dialogue = Self {
            driver,
            task,
            talk,
            session: session.into(),
            earlier: earlier.to_vec().into(),
            messages: Vec::new(),
            tools: task.tools().iter().cloned().map(as_function).collect(),
            in_words: driver.rules.is_some() && talk.in_words,
            turn: 0,
            deadline: task.deadline,
            end: task.deadline,
            turns: Vec::new(),
            usages: Vec::new(),
            user_usages: Vec::new(),
            user_model: None,
            calls: Vec::new(),
            failed: Vec::new(),
            last: Output::default(),
            truncated: 0,
            is_exceeded: false,
            server: None,
            losses: 0,
        };
        let held = dialogue.hold();
        // No call is executed any more.
        dialogue.server = None;
        dialogue.driver.agent.end_session(&dialogue.session);
        if let Some(environment) = &driver.environment {
            environment.close(&dialogue.of_session(dialogue.turn));
        }
        held
    }

    fn hold(&mut self) -> Result<Output, Broken> {
        let driver = self.driver;
        let initial = self.script().initial_state.as_ref();
        let opened = self.environment("open", |environment, session| {
            environment.open(session, initial)
        })?;
        if let Some(tools) = opened {
            self.offer(tools)?;
        }
        self.start_server()?;
        let system = match &driver.rules {
            Some(rules) if self.in_words => rules.system_in_words(self.script()),
            _ => self.script().system.clone(),
        };
        if let Some(system) = system {
            self.messages
                .push(json!({"role": "system", "content": system}));
        }
        let ended = loop {
            self.turn += 1;
            let own = clock::now().checked_add(self.talk.timeout);
            self.deadline = [own, self.end].into_iter().flatten().min();
            let says = self.next_of_user()?;
            if let Some(text) = says.text
                && !self.take_turn(&text)?
            {
                break ConversationEnd::MaxSteps;
            }
            if let Some(ended) = says.ended {
                break ended;
            }
        };
        let state = self.environment("state", |environment, session| environment.state(session))?;
        Ok(self.output(ended, state.flatten()))
    }

    fn script(&self) -> &'a Script {
        &self.talk.script
    }

    fn of_session(&self, turn: u32) -> Session<'_> {
        Session {
            id: &self.session,
            sample_id: self.task.id(),
            turn,
            timeout: self.driver.tool_timeout,
            cancel: &self.task.cancel,
            hidden: &self.task.hidden,
        }
    }

    /// A turn: the user's message, and the agent's replies until one has no calls. Whether there was such a reply.
    fn take_turn(&mut self, text: &str) -> Result<bool, Broken> {
        self.turns.push(TurnOutcome {
            turn: self.turn,
            ..TurnOutcome::default()
        });
        self.usages.clear();
        let tools = self.environment("turn", |environment, session| environment.turn(session))?;
        if let Some(tools) = tools.flatten() {
            self.offer(tools)?;
        }
        let place = self.turn as usize - 1;
        if let Some(turn) = self.script().turns.get(place) {
            for tool in &turn.tools_added {
                let is_same = |known: &Value| tool_name(known) == tool_name(tool);
                if !self.tools.iter().any(is_same) {
                    self.tools.push(as_function(tool.clone()));
                }
            }
        }
        let message = json!({"role": "user", "content": text});
        if self.script().scenario.is_none() && self.recorded(Speaker::User, None).is_none() {
            self.journal(&TurnMessage {
                turn: self.turn,
                step: None,
                by: Speaker::User,
                message: message.clone(),
                usage: None,
                metadata: Map::new(),
                latency_s: 0.0,
            })?;
        }
        self.messages.push(message);
        let mut step = 0;
        let is_over = loop {
            step += 1;
            let calls = self.take_step(&mut step)?;
            if self.is_exceeded {
                break false;
            }
            if calls.is_empty() || self.driver.environment.is_none() {
                break true;
            }
            let is_last = step > self.driver.max_steps;
            // A benchmark's own rules count what the last reply did.
            if !is_last || self.driver.rules.is_some() {
                self.execute(step, &calls)?;
            }
            if is_last {
                break false;
            }
        };
        let usage = Usage::sum(self.usages.drain(..));
        self.current().usage = usage;
        Ok(is_over)
    }

    /// One reply of the agent; returns its calls.
    fn take_step(&mut self, step: &mut u32) -> Result<Vec<ToolCall>, Broken> {
        let known = self.recorded(Speaker::Agent, Some(*step));
        let (own, entry) = if let Some(entry) = known {
            (Vec::new(), entry)
        } else {
            self.allowed()?;
            let (own, entry) = self.ask_agent(*step)?;
            *step = entry.step.unwrap_or(*step);
            (own, entry)
        };
        self.take_own(own);
        let calls = self.calls_of(&entry.message);
        self.count_calls(&calls);
        let own = entry.metadata.get(STEPS).and_then(Value::as_u64);
        self.usages.push(entry.usage);
        let turn = self.current();
        turn.steps += own.unwrap_or(1).max(1);
        turn.latency_s += entry.latency_s;
        let mut metadata = entry.metadata;
        metadata.shift_remove(STEPS);
        self.last = Output {
            text: entry.message["content"].as_str().map(str::to_owned),
            metadata,
            ..Output::default()
        };
        self.truncated += u64::from(self.last.finish() == Finish::Truncated);
        self.messages.push(entry.message);
        Ok(calls)
    }

    /// Asks the agent for its next reply; also returns what it did itself before.
    fn ask_agent(&mut self, step: u32) -> Result<(Vec<Value>, TurnMessage), AgentError> {
        let started = clock::now();
        let mut latest = self.messages.iter().rev();
        let prompt = latest.find(|message| message["role"] == "user");
        let prompt = prompt.and_then(|message| message["content"].as_str());
        let prompt = prompt.unwrap_or_default();
        let (messages, tools) = match &self.driver.rules {
            Some(rules) if self.in_words => (rules.messages_in_words(&self.messages), Vec::new()),
            _ => (self.messages.clone(), self.tools.clone()),
        };
        let task = self.inner(prompt, messages, tools);
        if let Some(server) = &self.server {
            server.open_turn(self.turn, step, &self.tools);
        }
        let answered = self.driver.agent.answer(&task);
        let served = self.server.as_ref().map(ToolServer::close_turn);
        let mut served = served.unwrap_or_default();
        if let Some(failure) = served.failure.take() {
            return Err(failure);
        }
        let output = answered.map_err(|error| self.of_agent(error))?;
        (self.talk.budget.charge)(output.usage.as_ref());
        self.is_exceeded = served.is_exceeded;
        let step = step.max(served.step);
        let latency_s = clock::since(started).as_secs_f64();
        let calls = output.tool_calls.iter().zip(1..);
        let id = |number: usize| format!("call_{}_{step}_{number}", self.turn);
        let calls = calls.map(|(call, number)| {
            let read = ToolCall::read(call, || id(number)).map(|call| call.message());
            read.ok_or_else(|| {
                let message = format!(
                    "called a tool without a name: `{}`",
                    excerpt(&call.to_string())
                );
                AgentError::of(FailureKind::BadOutput, message)
            })
        });
        let calls = calls.collect::<Result<Vec<Value>, _>>()?;
        let mut message = json!({"role": "assistant", "content": output.text});
        let calls = if self.in_words {
            let calls = self.calls_of(&message).into_iter().zip(1..);
            let calls = calls.map(|(call, number)| ToolCall {
                id: id(number),
                ..call
            });
            calls.map(|call| call.in_words()).collect()
        } else {
            calls
        };
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let items = output.messages.last().and_then(|last| last.get(ITEMS));
        if let Some(items) = items.filter(|items| items.is_array()) {
            message[ITEMS] = items.clone();
        }
        let mut metadata = output.metadata.clone();
        let served_steps = served.executed.len() as u64 + 1;
        let steps = output.steps_taken().unwrap_or(served_steps);
        if let Some(steps) = Some(steps.max(served_steps)).filter(|steps| *steps > 1) {
            metadata.insert(STEPS.to_owned(), steps.into());
        }
        let mut own = Vec::new();
        if self.driver.agent.executes_calls() {
            own = output.messages;
            own.pop();
        }
        let last = self.journal_own(step, &own)?;
        self.current().failed_calls += served.failed;
        // Those that were served are in the journal already.
        let own = server::merged(own, served.executed);
        let entry = self.journaled(TurnMessage {
            turn: self.turn,
            step: Some(last),
            by: Speaker::Agent,
            message,
            usage: output.usage,
            metadata,
            latency_s,
        })?;
        Ok((own, entry))
    }

    /// Waits until another request is allowed, which is no time of the agent.
    fn allowed(&mut self) -> Result<(), Broken> {
        let started = clock::now();
        if (self.talk.budget.allows)() {
            let waited = clock::since(started);
            self.end = self.end.and_then(|end| end.checked_add(waited));
            return self.exclude(waited);
        }
        let message = "not asked any more: the run ends";
        Err(AgentError::of(FailureKind::Cancelled, message).into())
    }

    /// The next thing that was said before, if it is this one. What does not fit ends what is repeated.
    fn recorded(&mut self, by: Speaker, step: Option<u32>) -> Option<TurnMessage> {
        let next = self.earlier.front()?;
        if (next.turn, next.by, next.step) != (self.turn, by, step) {
            self.earlier.clear();
            return None;
        }
        self.earlier.pop_front()
    }

    fn journal(&self, entry: &TurnMessage) -> Result<(), AgentError> {
        if (self.talk.journal.0)(entry.clone()) {
            return Ok(());
        }
        let message = "the conversation cannot be written to the journal";
        Err(AgentError::of(FailureKind::Cancelled, message))
    }

    /// A failure of an agent; where the time of the whole conversation was over, it says so.
    fn of_agent(&self, error: AgentError) -> AgentError {
        let is_whole = self.end.is_some() && self.deadline == self.end;
        if error.kind == FailureKind::TimedOut && is_whole {
            return self.out_of_time();
        }
        error
    }

    fn out_of_time(&self) -> AgentError {
        let message = format!(
            "the conversation did not end within {}",
            in_seconds(self.talk.whole)
        );
        AgentError {
            ended_by: Some(EndedBy::ConversationTimeout),
            ..AgentError::of(FailureKind::TimedOut, message)
        }
    }

    /// A message, once it is in the journal.
    fn journaled(&self, entry: TurnMessage) -> Result<TurnMessage, AgentError> {
        self.journal(&entry)?;
        Ok(entry)
    }

    /// The task of one reply.
    fn inner(&self, prompt: &str, messages: Vec<Value>, tools: Vec<Value>) -> Task {
        Task {
            visible: Arc::new(Visible::of_turn(&self.task.visible, prompt, tools)),
            prompt: prompt.into(),
            deadline: self.deadline,
            talk: None,
            turn: Some(TurnTask {
                session: Arc::clone(&self.session),
                turn: self.turn,
                messages: messages.into(),
                failed: self.failed.as_slice().into(),
                server: self
                    .server
                    .as_ref()
                    .map(|server| Arc::clone(&server.address)),
            }),
            ..self.task.clone()
        }
    }

    fn output(&mut self, ended: ConversationEnd, state: Option<Value>) -> Output {
        let last = std::mem::take(&mut self.last);
        // Calls that nobody executed are the answer.
        let open = self
            .messages
            .last()
            .and_then(|message| message.get("tool_calls"));
        let tool_calls = open.and_then(Value::as_array).cloned().unwrap_or_default();
        let mut metadata = last.metadata;
        if self.truncated > 0 {
            metadata.insert(TRUNCATED_REPLIES.to_owned(), self.truncated.into());
        }
        if self.driver.rules.is_some() {
            let mode = if self.in_words { "prompt" } else { "fc" };
            metadata.insert(MODE.to_owned(), mode.into());
        }
        Output {
            metadata,
            tool_calls,
            usage: Usage::sum(self.turns.iter().map(|turn| turn.usage)),
            steps: Some(self.turns.iter().map(|turn| turn.steps).sum()),
            messages: std::mem::take(&mut self.messages),
            conversation: Some(Box::new(ConversationOutcome {
                turns: std::mem::take(&mut self.turns),
                ended,
                user_usage: Usage::sum(self.user_usages.drain(..)),
                user_model: self.user_model.take(),
                state,
            })),
            ..last
        }
    }
}

/// The metadata of an answer that tells how the agent called tools, as the leaderboard's result files do.
pub(crate) const MODE: &str = "mode";

/// The metadata of a reply for which the agent took several steps of its own.
const STEPS: &str = "steps";
