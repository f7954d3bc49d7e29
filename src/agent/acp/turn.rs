//! A turn: its prompt, and the agent's updates, folded into a trajectory and an answer.
//!
//! Pure. Agents differ in what they send: an update may come without its call, the input of a call after it, and
//! messages have ids or not. The answer is the last message with an id; without ids, what follows the last call.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::agent::reply::ReportedFigures;
use crate::data::{AgentError, FailureKind, Output, Task};
use crate::system::process::excerpt::beginning;

/// How many bytes of an agent's own error are shown.
const ERROR_BYTES: usize = 1000;
/// The metadata of an answer that ended otherwise than by itself.
const STOP_REASON: &str = "stop_reason";

/// A turn so far.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The session whose updates are its own.
    session: String,
    steps: Vec<Step>,
    /// The id of the last message that has one.
    last_id: Option<String>,
    /// The sum of the usage that updates report.
    update_usage: Option<Map<String, Value>>,
    /// What the session has cost so far, in US dollars.
    cost: Option<f64>,
    /// An error that the agent reports in its updates.
    error: Option<String>,
    /// Whether it says that the turn failed.
    has_failed: bool,
    /// Bytes that are stored.
    size: usize,
}

/// A message, and the calls that follow it.
#[derive(Debug, Default)]
struct Step {
    text: String,
    /// The id of the message, if it has one.
    id: Option<String>,
    calls: Vec<AgentCall>,
}

/// A call that the agent executes itself.
#[derive(Debug, Default)]
struct AgentCall {
    id: String,
    /// The tool, if the agent names it.
    tool: Option<String>,
    title: String,
    kind: String,
    input: Value,
    status: String,
    content: String,
    output: Value,
}

impl AgentCall {
    fn is_over(&self) -> bool {
        matches!(&*self.status, "completed" | "failed")
    }

    /// The name of its tool; what kind of call it is where the agent does not say.
    fn name(&self) -> &str {
        // `NAME__NAME_1`.
        let of_id = self.id.split_once("__").filter(|(name, rest)| {
            let rest = rest.strip_prefix(*name);
            rest.is_some_and(|rest| rest.starts_with('_'))
        });
        let is_word = |text: &&str| !text.is_empty() && !text.contains(char::is_whitespace);
        let named = self.tool.as_deref().or(of_id.map(|(name, _)| name));
        let named = named.or(Some(&*self.title).filter(is_word));
        named.unwrap_or(if self.kind.is_empty() {
            "other"
        } else {
            &self.kind
        })
    }

    /// The call in the form of Chat Completions.
    fn message(&self) -> Value {
        let arguments = match &self.input {
            Value::Object(input) if !input.is_empty() => self.input.to_string(),
            Value::Null | Value::Object(_) => json!({"title": self.title}).to_string(),
            other => json!({"input": other}).to_string(),
        };
        json!({
            "id": self.id,
            "type": "function",
            "function": {"name": self.name(), "arguments": arguments},
        })
    }

    fn result(&self) -> Value {
        let content = match &self.output {
            _ if !self.content.is_empty() => self.content.clone(),
            Value::Null => String::new(),
            Value::String(output) => output.clone(),
            other => other.to_string(),
        };
        let mut message = json!({"role": "tool", "tool_call_id": self.id, "content": content});
        if self.status == "failed" {
            message["is_error"] = true.into();
        }
        message
    }
}

impl Turn {
    /// Bytes that are stored so far.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// What the session has cost so far, if the agent reports it.
    pub(super) fn cost(&self) -> Option<f64> {
        self.cost
    }

    /// A turn in this session.
    pub(super) fn of(session: &str) -> Self {
        Self {
            session: session.to_owned(),
            ..Self::default()
        }
    }

    /// The agent asks for permission to make a call, of which it may not have sent an update yet.
    pub(super) fn asks_permission(&mut self, params: &Value) {
        if params["sessionId"] == self.session.as_str() {
            self.call(&params["toolCall"]);
        }
    }

    /// Takes the parameters of an update; returns the title of a call that begins.
    pub(super) fn update(&mut self, params: &Value) -> Option<String> {
        if params["sessionId"] != self.session.as_str() {
            return None;
        }
        let update = &params["update"];
        match update["sessionUpdate"].as_str()? {
            "agent_message_chunk" => self.chunk(update),
            "tool_call" | "tool_call_update" => return self.call(update),
            "usage_update" => {
                let cost = &update["cost"];
                let is_usd = cost["currency"].as_str().is_none_or(|unit| unit == "USD");
                if let Some(amount) = cost["amount"].as_f64().filter(|_| is_usd) {
                    self.cost = Some(amount);
                }
            }
            "session_info_update" => self.info(update),
            _ => {}
        }
        None
    }

    fn chunk(&mut self, update: &Value) {
        if let Some(usage) = update["_meta"]["usage"].as_object() {
            let sum = self.update_usage.get_or_insert_default();
            for (name, value) in usage {
                let Some(count) = value.as_u64() else {
                    continue;
                };
                let before = sum.get(name).and_then(Value::as_u64).unwrap_or_default();
                sum.insert(name.clone(), before.saturating_add(count).into());
            }
        }
        let text = update["content"]["text"].as_str().unwrap_or_default();
        let id = update["messageId"].as_str();
        if text.is_empty() {
            return;
        }
        self.size += text.len();
        let is_new = self.steps.last().is_none_or(|step| {
            let is_other = id != step.id.as_deref();
            !step.calls.is_empty() || (is_other && !step.text.is_empty())
        });
        if is_new {
            self.steps.push(Step::default());
        }
        if let Some(id) = id {
            self.last_id = Some(id.to_owned());
        }
        if let Some(step) = self.steps.last_mut() {
            step.text.push_str(text);
            step.id = id.map(str::to_owned);
        }
    }

    /// A call, or what became of it.
    fn call(&mut self, update: &Value) -> Option<String> {
        let id = update["toolCallId"].as_str()?;
        let mut calls = self.steps.iter_mut().flat_map(|step| &mut step.calls);
        let known = calls.any(|call| call.id == id);
        if !known {
            let is_step_over = self
                .steps
                .last()
                .is_none_or(|step| step.calls.iter().any(AgentCall::is_over));
            if is_step_over {
                self.steps.push(Step::default());
            }
            let call = AgentCall {
                id: id.to_owned(),
                ..AgentCall::default()
            };
            self.steps.last_mut()?.calls.push(call);
        }
        let mut calls = self.steps.iter_mut().flat_map(|step| &mut step.calls);
        let call = calls.find(|call| call.id == id)?;
        let meta = update["_meta"].as_object();
        let tool = meta.and_then(|meta| {
            let own = meta.get("toolName");
            let mut nested = meta.values().filter_map(|value| value.get("toolName"));
            own.or_else(|| nested.next())?.as_str()
        });
        if let Some(tool) = tool {
            call.tool = Some(tool.to_owned());
        }
        let mut size = 0;
        for (key, place) in [
            ("title", &mut call.title),
            ("kind", &mut call.kind),
            ("status", &mut call.status),
        ] {
            if let Some(text) = update[key].as_str() {
                size += text.len();
                text.clone_into(place);
            }
        }
        for (key, place) in [
            ("rawInput", &mut call.input),
            ("rawOutput", &mut call.output),
        ] {
            match update.get(key) {
                None | Some(Value::Null) => {}
                Some(value) => {
                    size += value.to_string().len();
                    place.clone_from(value);
                }
            }
        }
        // While it runs, its content describes the call.
        if let Some(content) = update["content"].as_array().filter(|_| call.is_over()) {
            call.content = text_of(content);
            size += call.content.len();
        }
        self.size += size;
        (!known).then(|| match &*call.title {
            "" => call.name().to_owned(),
            title => title.to_owned(),
        })
    }

    /// Codex ends a turn well when its endpoint is out of reach, and says so here alone.
    fn info(&mut self, update: &Value) {
        let codex = &update["_meta"]["codex"];
        if let Some(message) = codex["error"]["message"].as_str() {
            let details = codex["error"]["additionalDetails"].as_str();
            self.error = Some(details.unwrap_or(message).to_owned());
        }
        match codex["threadStatus"]["type"].as_str() {
            Some("systemError") => self.has_failed = true,
            Some("active") => self.has_failed = false,
            _ => {}
        }
    }

    /// The answer, by the result of the prompt. Its messages are what the agent did, and the answer at the end.
    /// `cost_before` is what the session had cost before.
    ///
    /// # Errors
    /// When the agent says that it has none.
    pub(super) fn finish(mut self, result: &Value, cost_before: f64) -> Result<Output, AgentError> {
        let stop = result["stopReason"].as_str().ok_or_else(|| {
            let message = "the reply to `session/prompt` has no `stopReason`";
            AgentError::of(FailureKind::BadOutput, message)
        })?;
        if stop == "cancelled" {
            return Err(AgentError::new("the agent cancelled the turn by itself"));
        }
        if self.has_failed {
            let error = self
                .error
                .take()
                .unwrap_or_else(|| "a system error".to_owned());
            let error = beginning(error.as_bytes(), ERROR_BYTES);
            return Err(AgentError::new(format!("the agent reports {error}")));
        }
        let mut metadata = Map::new();
        if stop != "end_turn" {
            metadata.insert(STOP_REASON.to_owned(), stop.into());
        }
        if matches!(stop, "max_tokens" | "refusal") {
            metadata.insert("finish_reason".to_owned(), stop.into());
        }
        let quota = &result["_meta"]["quota"];
        if let Some([only]) = quota["model_usage"].as_array().map(Vec::as_slice)
            && let Some(model) = only["model"].as_str()
        {
            metadata.insert("model".to_owned(), model.into());
        }
        let figures = self.figures(result, cost_before);
        let usage = figures.reported();
        figures.note(&mut metadata);
        let answer = self.answer();
        let mut messages = Vec::new();
        let mut steps = 1;
        for step in &self.steps {
            let mut message = json!({"role": "assistant", "content": step.text});
            if !step.calls.is_empty() {
                steps += 1;
                message["tool_calls"] = step.calls.iter().map(AgentCall::message).collect();
            }
            messages.push(message);
            messages.extend(step.calls.iter().map(AgentCall::result));
        }
        messages.push(json!({"role": "assistant", "content": answer}));
        Ok(Output {
            text: answer,
            messages,
            usage,
            steps: Some(steps),
            metadata,
            ..Output::default()
        })
    }

    /// Takes the answer out of the steps.
    fn answer(&mut self) -> Option<String> {
        let text = if let Some(id) = self.last_id.take() {
            let is_of_answer = |step: &Step| step.id.as_ref() == Some(&id);
            let own = self.steps.iter().filter(|step| is_of_answer(step));
            let text: String = own.map(|step| step.text.as_str()).collect();
            self.steps
                .retain(|step| !is_of_answer(step) || !step.calls.is_empty());
            text
        } else {
            let last = self.steps.pop_if(|step| step.calls.is_empty());
            last.unwrap_or_default().text
        };
        (!text.is_empty()).then_some(text)
    }

    /// Usage and cost, from the first place that has any.
    fn figures(&self, result: &Value, cost_before: f64) -> ReportedFigures {
        let quota = &result["_meta"]["quota"]["token_count"];
        let own = &result["usage"];
        let mut usage = Map::new();
        let mut take = |from: &Value, names: &[(&str, &str)]| {
            for (name, known) in names {
                if let Some(value) = from.get(*name).filter(|value| !value.is_null()) {
                    usage.insert((*known).to_owned(), value.clone());
                }
            }
        };
        if own.is_object() {
            take(
                own,
                &[
                    ("inputTokens", "input_tokens"),
                    ("outputTokens", "output_tokens"),
                    ("cachedReadTokens", "cache_read_input_tokens"),
                    ("cachedWriteTokens", "cache_creation_input_tokens"),
                ],
            );
        } else if quota.is_object() {
            let names = [
                ("input_tokens", "input_tokens"),
                ("output_tokens", "output_tokens"),
            ];
            take(quota, &names);
        } else if let Some(sum) = &self.update_usage {
            let sum = Value::Object(sum.clone());
            take(
                &sum,
                &[
                    ("inputTokens", "input_tokens"),
                    ("outputTokens", "output_tokens"),
                ],
            );
            // These are part of the input.
            let cached = json!({"cached_tokens": sum["cachedReadTokens"]});
            usage.insert("input_tokens_details".to_owned(), cached);
        }
        let mut reply = Map::from_iter([("usage".to_owned(), usage.into())]);
        if let Some(cost) = self.cost {
            // A total below the last one was reset.
            let more = cost - cost_before;
            reply.insert(
                "cost_usd".to_owned(),
                if more < 0.0 { cost } else { more }.into(),
            );
        }
        ReportedFigures::of(&reply)
    }
}

/// The blocks of a prompt: the text, and in the first turn links to the files.
pub(super) fn prompt(task: &Task, is_first: bool) -> Vec<Value> {
    let system = task
        .messages()
        .iter()
        .find(|message| message["role"] == "system");
    let system = system.filter(|_| is_first);
    let text = match system.and_then(|message| message["content"].as_str()) {
        Some(system) => format!("{system}\n\n{}", task.prompt()),
        None => task.prompt().to_owned(),
    };
    let mut blocks = vec![json!({"type": "text", "text": text})];
    if is_first {
        blocks.extend(task.files().iter().map(|file| {
            let uri = format!("file://{}", in_uri(&file.path));
            json!({"type": "resource_link", "uri": uri, "name": file.name})
        }));
    }
    blocks
}

/// A path as it stands in a URI.
fn in_uri(path: &Path) -> String {
    let mut uri = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// The text of the content of a call.
fn text_of(content: &[Value]) -> String {
    let parts = content
        .iter()
        .filter_map(|part| match part["type"].as_str()? {
            "content" => part["content"]["text"].as_str().map(str::to_owned),
            "diff" => {
                let path = part["path"].as_str().unwrap_or_default();
                let text = part["newText"].as_str().unwrap_or_default();
                Some(format!("{path}:\n{text}"))
            }
            _ => None,
        });
    parts.collect::<Vec<_>>().join("\n")
}
