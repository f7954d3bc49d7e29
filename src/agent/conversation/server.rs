//! The tools of a conversation as an MCP server, for agents that call tools themselves.
//!
//! A bridge connects the server's program, which the agent starts, with a thread of this process, where the environment
//! is. A call is executed as one that the driver makes, and in the journal before the agent hears of it.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use super::Conversation;
use super::dialogue::{of_environment, refusal};
use super::environment::{Environment, Session, ToolCall, ToolReply};
use crate::data::conversation::{Speaker, Talk, ToolServerAddress, TurnMessage};
use crate::data::{AgentError, FailureKind, Task};
use crate::system::bridge::Bridge;
use crate::system::{file, lock};
use crate::text::mcp::{McpRequest, McpServer};

/// The name of the server, which agents put into the names of its tools.
pub(crate) const NAME: &str = "evaltest";
/// The longest line that an agent may send.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// The server of one conversation.
pub(super) struct ToolServer {
    shared: Arc<Shared>,
    pub(super) address: Arc<ToolServerAddress>,
    _bridge: Bridge,
}

/// What the threads of a server need.
struct Shared {
    environment: Arc<dyn Environment>,
    session: Arc<str>,
    task: Task,
    talk: Talk,
    timeout: std::time::Duration,
    max_steps: u32,
    turn: Mutex<ServedTurn>,
}

/// A turn, as far as the agent called tools by the server.
#[derive(Default)]
pub(super) struct ServedTurn {
    /// Whether calls are executed now.
    is_open: bool,
    turn: u32,
    /// The step of the agent's reply so far.
    pub(super) step: u32,
    tools: Vec<Value>,
    /// Each call with its result, in the form of Chat Completions.
    pub(super) executed: Vec<[Value; 2]>,
    /// How many of them failed.
    pub(super) failed: u64,
    /// Whether there were more calls than allowed.
    pub(super) is_exceeded: bool,
    /// The failure of the environment, or of the journal.
    pub(super) failure: Option<AgentError>,
}

impl ToolServer {
    /// Serves the tools of a conversation.
    pub(super) fn start(
        driver: &Conversation,
        environment: &Arc<dyn Environment>,
        session: &Arc<str>,
        task: &Task,
        talk: &Talk,
    ) -> Result<Self, AgentError> {
        let shared = Arc::new(Shared {
            environment: Arc::clone(environment),
            session: Arc::clone(session),
            task: task.clone(),
            talk: talk.clone(),
            timeout: driver.tool_timeout,
            max_steps: driver.max_steps,
            turn: Mutex::default(),
        });
        let cannot = |reason: String| {
            let message = format!("the tools cannot be served: {reason}");
            AgentError::of(FailureKind::NotStarted, message)
        };
        let served = Arc::clone(&shared);
        let bridge = Bridge::start(move |input, output| serve(&served, input, output))
            .map_err(|error| cannot(error.to_string()))?;
        let command = bridge
            .command()
            .map_err(|error| cannot(error.to_string()))?;
        let config = write_config(&bridge, &command).map_err(|error| cannot(error.to_string()))?;
        Ok(Self {
            shared,
            address: Arc::new(ToolServerAddress {
                command: command.to_vec(),
                config,
            }),
            _bridge: bridge,
        })
    }

    /// The agent is asked, and may call these tools until [`close_turn`](Self::close_turn).
    pub(super) fn open_turn(&self, turn: u32, step: u32, tools: &[Value]) {
        *lock(&self.shared.turn) = ServedTurn {
            is_open: true,
            turn,
            step,
            tools: tools.to_vec(),
            ..ServedTurn::default()
        };
    }

    /// The agent has answered; returns what it called.
    pub(super) fn close_turn(&self) -> ServedTurn {
        std::mem::take(&mut lock(&self.shared.turn))
    }
}

/// The file by which clients of MCP find servers.
fn write_config(bridge: &Bridge, [program, args @ ..]: &[String; 3]) -> io::Result<PathBuf> {
    let config = json!({"mcpServers": {NAME: {"command": program, "args": args}}});
    let path = bridge.folder().join("mcp.json");
    file::create_plain(&path)?.write_all(config.to_string().as_bytes())?;
    Ok(path)
}

/// Answers one program until it ends.
fn serve(shared: &Shared, input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    let server = McpServer {
        name: NAME.to_owned(),
        instructions: "The tools of this task.".to_owned(),
    };
    loop {
        let mut line = Vec::new();
        let length = io::Read::take(&mut *input, LONGEST_LINE).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(());
        }
        let reply = match server.take(&line) {
            McpRequest::Nothing | McpRequest::Cancel { .. } => continue,
            McpRequest::Reply(line) => line,
            McpRequest::Tools(reply) => {
                let tools = lock(&shared.turn).tools.clone();
                reply.tools(&tools.iter().map(as_mcp).collect::<Vec<_>>())
            }
            McpRequest::Call {
                reply,
                name,
                arguments,
            } => {
                let done = shared.call(name, arguments);
                let is_error = matches!(done, ToolReply::Error(_));
                let text = done.text();
                let (ToolReply::Result(value) | ToolReply::Error(value)) = done;
                reply.result(&text, value.is_object().then_some(value), is_error)
            }
        };
        output.write_all(&reply)?;
    }
}

/// A tool in the form of MCP.
fn as_mcp(tool: &Value) -> Value {
    let function = &tool["function"];
    let mut listed = json!({"name": function["name"], "inputSchema": {"type": "object"}});
    if let Some(about) = function["description"].as_str() {
        listed["description"] = about.into();
    }
    if function["parameters"].is_object() {
        listed["inputSchema"] = function["parameters"].clone();
        // It may be left out elsewhere.
        listed["inputSchema"]["type"] = "object".into();
    }
    listed
}

impl Shared {
    /// Executes a call; one at a time.
    fn call(&self, name: String, arguments: Map<String, Value>) -> ToolReply {
        let error = |text: &str| ToolReply::Error(text.into());
        let mut turn = lock(&self.turn);
        if !turn.is_open || turn.failure.is_some() {
            return error("error: no tool can be called now");
        }
        if turn.executed.len() >= self.max_steps as usize {
            turn.is_exceeded = true;
            return error("error: no more tools can be called in this turn; answer now");
        }
        let arguments = Value::Object(arguments);
        let step = turn.step;
        let call = ToolCall {
            id: format!("call_{}_{step}_1", turn.turn),
            name,
            written: arguments.to_string(),
            arguments,
        };
        let asked = json!({"role": "assistant", "content": null, "tool_calls": [call.message()]});
        let refused = refusal(&turn.tools, &call);
        let session = Session {
            id: &self.session,
            sample_id: self.task.id(),
            turn: turn.turn,
            timeout: self.timeout,
            cancel: &self.task.cancel,
            hidden: &self.task.hidden,
        };
        if let Err(failure) = self.journal(&turn, Speaker::Agent, &asked) {
            turn.failure = Some(failure);
            return error("error: the run ends");
        }
        let executed = match refused {
            Some(reply) => Ok(reply),
            None => self.environment.call(&session, &call.name, &call.arguments),
        };
        let reply = match executed {
            Ok(reply) => reply,
            Err(failure) => {
                let what = format!("call of `{}`", call.name);
                turn.failure = Some(of_environment(failure, &what));
                return error("error: the tool is not available");
            }
        };
        let result = json!({"role": "tool", "tool_call_id": call.id, "content": reply.text()});
        if let Err(failure) = self.journal(&turn, Speaker::Tool, &result) {
            turn.failure = Some(failure);
            return error("error: the run ends");
        }
        turn.failed += u64::from(matches!(reply, ToolReply::Error(_)));
        turn.executed.push([asked, result]);
        turn.step += 1;
        reply
    }

    fn journal(&self, turn: &ServedTurn, by: Speaker, message: &Value) -> Result<(), AgentError> {
        let entry = TurnMessage {
            turn: turn.turn,
            step: Some(turn.step),
            by,
            message: message.clone(),
            usage: None,
            metadata: Map::new(),
            latency_s: 0.0,
        };
        if (self.talk.journal.0)(entry) {
            return Ok(());
        }
        let message = "the conversation cannot be written to the journal";
        Err(AgentError::of(FailureKind::Cancelled, message))
    }
}

/// What an agent did in a turn: `reported` are the messages of its own, in which the calls that the server executed stand
/// under names of the agent's; they are replaced by those.
pub(super) fn merged(reported: Vec<Value>, executed: Vec<[Value; 2]>) -> Vec<Value> {
    let mut executed = executed.into_iter().peekable();
    let mut replaced: Vec<Value> = Vec::new();
    let mut messages = Vec::new();
    for mut message in reported {
        if message["role"] == "tool" && replaced.contains(&message["tool_call_id"]) {
            continue;
        }
        let mut own = Vec::new();
        if let Some(calls) = message["tool_calls"].as_array_mut() {
            calls.retain(|call| {
                let is_next = executed.peek().is_some_and(|[asked, _]| {
                    let tool = asked["tool_calls"][0]["function"]["name"].as_str();
                    tool.is_some_and(|tool| is_call_of(call, tool))
                });
                if is_next {
                    replaced.push(call["id"].clone());
                    own.extend(executed.next());
                }
                !is_next
            });
        }
        let is_empty = message["tool_calls"].as_array().is_some_and(Vec::is_empty);
        if is_empty && let Some(members) = message.as_object_mut() {
            members.remove("tool_calls");
        }
        let has_text = message["content"]
            .as_str()
            .is_some_and(|text| !text.is_empty());
        if !is_empty || has_text {
            messages.push(message);
        }
        messages.extend(own.into_iter().flatten());
    }
    messages.extend(executed.flatten());
    messages
}

/// Whether an agent's own call is one of this tool: `mcp__evaltest__search`, `search (evaltest MCP Server)`, …
fn is_call_of(call: &Value, tool: &str) -> bool {
    let function = &call["function"];
    let name = function["name"].as_str().unwrap_or_default();
    let arguments = function["arguments"].as_str().unwrap_or_default();
    let is_title = name.len() < tool.len() && arguments.contains(tool);
    name == tool || (name.contains(NAME) && name.contains(tool)) || name.ends_with(tool) || is_title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_stand_once_under_the_name_of_the_tool() {
        let call =
            |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": "{}"}});
        let asks =
            |calls: &[Value]| json!({"role": "assistant", "content": "", "tool_calls": calls});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
        let executed = |id: &str, name: &str| [asks(&[call(id, name)]), result(id)];
        let reported = vec![
            asks(&[call("a", "Bash")]),
            result("a"),
            asks(&[call("b", "mcp__evaltest__weather")]),
            result("b"),
        ];
        let merged = merged(
            reported,
            vec![executed("1", "weather"), executed("2", "other")],
        );
        let ids: Vec<_> = merged
            .iter()
            .filter_map(|message| message["tool_calls"][0]["id"].as_str())
            .collect();
        assert_eq!(ids, ["a", "1", "2"]);
        assert_eq!(merged.len(), 6);
    }

    #[test]
    fn tools_have_a_schema() {
        let tool = json!({"type": "function", "function": {"name": "a", "parameters": {"properties": {}}}});
        let schema = json!({"properties": {}, "type": "object"});
        assert_eq!(as_mcp(&tool), json!({"name": "a", "inputSchema": schema}));
    }
}
