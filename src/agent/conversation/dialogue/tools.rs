//! The calls of a reply: executes them in the environment, whose session may get lost on the way, or records those that
//! the agent executed itself.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Broken, Dialogue};
use crate::agent::conversation::check_tools;
use crate::agent::conversation::environment::{
    Environment, Session, ToolCall, ToolReply, as_function, tool_name,
};
use crate::agent::conversation::server::ToolServer;
use crate::data::conversation::{Speaker, TurnMessage, TurnOutcome};
use crate::data::{AgentError, EndedBy, FailureKind, Party};
use crate::system::clock;

impl Dialogue<'_> {
    /// Executes the calls of a reply.
    pub(super) fn execute(&mut self, step: u32, calls: &[ToolCall]) -> Result<(), Broken> {
        for call in calls {
            let reply = self.execute_one(call)?;
            let mut message =
                json!({"role": "tool", "tool_call_id": call.id, "content": reply.text()});
            if self.in_words {
                message["name"] = call.name.as_str().into();
            }
            match self.recorded(Speaker::Tool, Some(step)) {
                Some(entry) if entry.message == message => {}
                Some(_) => return Err(Broken::Differs),
                None => self.journal(&TurnMessage {
                    turn: self.turn,
                    step: Some(step),
                    by: Speaker::Tool,
                    message: message.clone(),
                    usage: None,
                    metadata: Map::new(),
                    latency_s: 0.0,
                })?,
            }
            if matches!(reply, ToolReply::Error(_)) {
                self.current().failed_calls += 1;
                self.failed.push(call.id.clone());
            }
            self.messages.push(message);
        }
        Ok(())
    }

    fn execute_one(&mut self, call: &ToolCall) -> Result<ToolReply, Broken> {
        if let Some(refusal) = self.refusal(call) {
            return Ok(refusal);
        }
        if let Some(fault) = self.talk.fault.filter(|fault| fault.turn == self.turn)
            && !self.current().injected
        {
            self.current().injected = true;
            return Ok(ToolReply::Error(fault.message.into()));
        }
        let what = format!("call of `{}`", call.name);
        let reply = self.environment(&what, |environment, session| {
            environment.call(session, &call.name, &call.arguments)
        })?;
        Ok(reply.unwrap_or_else(|| ToolReply::Error("error: no tool can be called".into())))
    }

    /// Replaces the tools by those of the environment; the sample may name some of them.
    pub(super) fn offer(&mut self, tools: Vec<Value>) -> Result<(), Broken> {
        check_tools(&tools).map_err(|error| {
            let error = AgentError::of(FailureKind::BadOutput, error.message());
            of_environment(error, "its tools")
        })?;
        let named: Vec<&str> = self.task.tools().iter().filter_map(tool_name).collect();
        let is_named = |tool: &Value| tool_name(tool).is_some_and(|name| named.contains(&name));
        let tools = tools.into_iter();
        let tools = tools.filter(|tool| named.is_empty() || is_named(tool));
        self.tools = tools.map(as_function).collect();
        Ok(())
    }

    /// Starts the server of the tools, if they are offered so.
    pub(super) fn start_server(&mut self) -> Result<(), AgentError> {
        let driver = self.driver;
        let environment = driver.environment.as_ref().filter(|_| driver.by_server);
        if let Some(environment) = environment {
            let (session, task) = (&self.session, self.task);
            let server = ToolServer::start(driver, environment, session, task, self.talk)?;
            self.server = Some(server);
        }
        Ok(())
    }

    /// Takes what the agent executed itself.
    pub(super) fn take_own(&mut self, own: Vec<Value>) {
        for message in own {
            let calls = self.calls_of(&message);
            self.count_calls(&calls);
            let has_failed = message["is_error"] == true;
            self.current().failed_calls += u64::from(has_failed);
            self.messages.push(message);
        }
    }

    /// The turn so far.
    pub(super) fn current(&mut self) -> &mut TurnOutcome {
        let place = self.turns.len() - 1;
        &mut self.turns[place]
    }

    /// Counts the calls of a message.
    pub(super) fn count_calls(&mut self, calls: &[ToolCall]) {
        for call in calls {
            let call = (call.name.clone(), call.arguments.clone());
            let is_repeated = self.calls.contains(&call);
            self.calls.push(call);
            let turn = self.current();
            turn.tool_calls += 1;
            turn.repeated_calls += u64::from(is_repeated);
        }
    }

    /// Writes what an agent did itself to the journal; returns the step that follows.
    pub(super) fn journal_own(&self, mut step: u32, own: &[Value]) -> Result<u32, AgentError> {
        for (place, message) in own.iter().enumerate() {
            let is_result = message["role"] == "tool";
            step += u32::from(place > 0 && !is_result);
            self.journal(&TurnMessage {
                turn: self.turn,
                step: Some(step),
                by: if is_result {
                    Speaker::Tool
                } else {
                    Speaker::Agent
                },
                message: message.clone(),
                usage: None,
                metadata: Map::new(),
                latency_s: 0.0,
            })?;
        }
        Ok(step + u32::from(!own.is_empty()))
    }

    /// Asks the environment, if there is one. Where it lost the session by the fault of another, the session is opened
    /// again first.
    pub(super) fn environment<T>(
        &mut self,
        what: &str,
        ask: impl Fn(&dyn Environment, &Session<'_>) -> Result<T, AgentError>,
    ) -> Result<Option<T>, Broken> {
        let driver = self.driver;
        let Some(environment) = driver.environment.as_deref() else {
            return Ok(None);
        };
        let started = clock::now();
        loop {
            match ask(environment, &self.of_session(self.turn)) {
                Ok(reply) => {
                    self.exclude(clock::since(started))?;
                    return Ok(Some(reply));
                }
                Err(error) if error.kind == FailureKind::Lost && self.losses < MOST_LOSSES => {
                    self.losses += 1;
                    // Who ends the program again and again is soon out of attempts.
                    std::thread::sleep((LOSS_PAUSE * self.losses).min(LONGEST_LOSS_PAUSE));
                    if !environment.is_replayable() {
                        return Err(Broken::Differs);
                    }
                    self.reopen(environment)?;
                }
                Err(error) => return Err(of_environment(error, what).into()),
            }
        }
    }

    /// Takes time of the environment, in which it may have waited for others, out of that of the turn.
    pub(super) fn exclude(&mut self, time: Duration) -> Result<(), Broken> {
        let extended = self
            .deadline
            .and_then(|deadline| deadline.checked_add(time));
        self.deadline = [extended, self.end].into_iter().flatten().min();
        match self.end {
            Some(deadline) if clock::now() >= deadline => Err(self.out_of_time().into()),
            _ => Ok(()),
        }
    }

    /// Opens the session again and executes all calls so far, whose results must be the same.
    fn reopen(&mut self, environment: &dyn Environment) -> Result<(), Broken> {
        let lost = |error: AgentError| match error.kind {
            FailureKind::TimedOut | FailureKind::Cancelled => {
                Err(Broken::Failed(of_environment(error, "reopen")))
            }
            // Another conversation ended the program again. The next request finds out, too.
            _ => Ok(()),
        };
        let initial = self.script().initial_state.as_ref();
        if self.messages.is_empty() && self.turn == 0 {
            // It is being opened.
            return Ok(());
        }
        if let Err(error) = environment.open(&self.of_session(0), initial) {
            return lost(error);
        }
        let mut turn = 0;
        let mut is_to_fail = false;
        let mut calls = VecDeque::new();
        for message in &self.messages {
            match message["role"].as_str() {
                Some("user") => {
                    turn += 1;
                    is_to_fail = self.talk.fault.is_some_and(|fault| fault.turn == turn);
                    if let Err(error) = environment.turn(&self.of_session(turn)) {
                        return lost(error);
                    }
                }
                Some("assistant") => calls = self.calls_of(message).into(),
                Some("tool") => {
                    let Some(call) = calls.pop_front() else {
                        continue;
                    };
                    if self.refusal(&call).is_some() {
                        continue;
                    }
                    // It failed on purpose, and the environment never heard of it.
                    if std::mem::take(&mut is_to_fail) {
                        continue;
                    }
                    match environment.call(&self.of_session(turn), &call.name, &call.arguments) {
                        Ok(reply) if message["content"] == reply.text() => {}
                        Ok(_) => return Err(Broken::Differs),
                        Err(error) => return lost(error),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The calls in a reply.
    pub(super) fn calls_of(&self, message: &Value) -> Vec<ToolCall> {
        if let Some(rules) = &self.driver.rules {
            return rules.calls(message, self.in_words);
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let calls = calls.into_iter().flatten();
        calls
            .filter_map(|call| ToolCall::read(call, String::new))
            .collect()
    }

    /// What the agent hears of a call that is none.
    fn refusal(&self, call: &ToolCall) -> Option<ToolReply> {
        if self.driver.rules.is_some() {
            return None;
        }
        refusal(&self.tools, call)
    }
}

/// What the agent hears of a call of none of these tools, or without an object of arguments.
pub(in crate::agent::conversation) fn refusal(
    tools: &[Value],
    call: &ToolCall,
) -> Option<ToolReply> {
    let is_offered = |tool: &Value| tool_name(tool) == Some(call.name.as_str());
    if !tools.iter().any(is_offered) {
        let message = format!("error: there is no tool `{}`", call.name);
        return Some(ToolReply::Error(message.into()));
    }
    let message = "error: the arguments are no JSON object";
    (!call.arguments.is_object()).then(|| ToolReply::Error(message.into()))
}

/// How often a session is opened again in one attempt.
const MOST_LOSSES: u32 = 20;
/// The pause before the first time, and the longest.
const LOSS_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_LOSS_PAUSE: Duration = Duration::from_millis(200);

/// A failure of the environment.
pub(in crate::agent::conversation) fn of_environment(error: AgentError, what: &str) -> AgentError {
    let is_late = error.kind == FailureKind::TimedOut;
    AgentError {
        party: Some(Party::Environment),
        ended_by: error.ended_by.or(is_late.then_some(EndedBy::ToolTimeout)),
        message: format!("the environment, {what}: {}", error.message),
        ..error
    }
}
