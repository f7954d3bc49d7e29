//! Conversations: the script of one, what was said in it, and how it went.
//!
//! A conversation is one sample. Its script is the entry [`SCRIPT`] of the sample's metadata, which agents do not see.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::output::{Output, Usage};
use super::record::perturb::ToolFault;
use super::sample::Sample;
use crate::text::unquoted;

/// The metadata key of a sample's script.
pub(crate) const SCRIPT: &str = "conversation";

/// The member of an agent's message with the items or blocks of the reply, which go back to the endpoint as they came.
pub(crate) const ITEMS: &str = "items";

/// What a conversation begins with and what is said in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Script {
    /// The first message, for the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<String>,
    /// What the user says, turn by turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) turns: Vec<ScriptTurn>,
    /// What a simulated user is to achieve, instead of turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scenario: Option<String>,
    /// What the simulated user knows besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) visible_to_user: Option<Value>,
    /// What the environment begins with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) initial_state: Option<Value>,
    /// What the environment is to end with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected_state: Option<Map<String, Value>>,
}

/// A message of the user, and what the answer to it is judged by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ScriptTurn {
    /// What the user says.
    pub(crate) user: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ground_truth: Option<Value>,
    /// Tools that the agent has from this turn on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools_added: Vec<Value>,
    /// What judges this turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scorer: Option<Value>,
}

impl Script {
    /// The script of a sample, if it is a conversation.
    pub(crate) fn of(sample: &Sample) -> Option<Self> {
        Self::of_metadata(&sample.metadata)
    }

    /// The script in a sample's metadata.
    pub(crate) fn of_metadata(metadata: &Map<String, Value>) -> Option<Self> {
        let script = metadata.get(SCRIPT)?;
        Self::deserialize(script).ok()
    }

    /// What a person reads of it, and what identifies it: all that the user says, or the scenario.
    pub(crate) fn question(&self) -> String {
        let turns = self.turns.iter().map(|turn| turn.user.as_str());
        let all: Vec<&str> = self.scenario.as_deref().into_iter().chain(turns).collect();
        all.join("\n\n")
    }

    /// All that agent, user and environment meet, for hashes: without what answers are judged by.
    pub(crate) fn surroundings(&self) -> String {
        let turns = self.turns.iter();
        let turns: Vec<_> = turns.map(|turn| (&turn.user, &turn.tools_added)).collect();
        let user = (&self.scenario, &self.visible_to_user);
        serde_json::json!([self.system, turns, user, self.initial_state]).to_string()
    }
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Speaker {
    User,
    Agent,
    Tool,
}

/// A message of a conversation, as the journal has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnMessage {
    /// The turn, from 1.
    pub(crate) turn: u32,
    /// The agent's reply in this turn that it is, or that it belongs to, from 1; `None` for the user's messages.
    pub(crate) step: Option<u32>,
    pub(crate) by: Speaker,
    /// In the form of Chat Completions.
    pub(crate) message: Value,
    /// What it cost, if known.
    pub(crate) usage: Option<Usage>,
    /// What is known of an agent's reply besides.
    pub(crate) metadata: Map<String, Value>,
    /// How long it took, in seconds.
    pub(crate) latency_s: f64,
}

/// Appends to what was said.
pub(crate) trait AppendMessage {
    /// Appends a message. Those that stand where it belongs, and after, were of an attempt that started over.
    fn append_message(&mut self, entry: TurnMessage);
}

impl AppendMessage for Vec<TurnMessage> {
    fn append_message(&mut self, entry: TurnMessage) {
        let place = |entry: &TurnMessage| (entry.turn, entry.step, entry.by);
        // A reply may have the results of several calls.
        let is_later = |other: &TurnMessage| match entry.by {
            Speaker::Tool => place(other) > place(&entry),
            _ => place(other) >= place(&entry),
        };
        while self.last().is_some_and(is_later) {
            self.pop();
        }
        self.push(entry);
    }
}

/// What an agent or a driver of conversations gets of one: its script, what was said before, and where to say more.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    pub(crate) script: Arc<Script>,
    /// The time for a turn, without that of its tools.
    pub(crate) timeout: Duration,
    /// The time for the whole conversation.
    pub(crate) whole: Duration,
    /// Whether an agent may get instructions on how to call tools in words.
    pub(crate) in_words: bool,
    /// The call that fails on purpose.
    pub(crate) fault: Option<ToolFault>,
    /// What an earlier attempt left.
    pub(crate) earlier: Vec<TurnMessage>,
    pub(crate) journal: TalkJournal,
    pub(crate) budget: TalkBudget,
}

/// Writes a message to disk before the next party hears of it; `false` if that failed.
#[derive(Clone)]
pub(crate) struct TalkJournal(pub(crate) Arc<dyn Fn(TurnMessage) -> bool + Send + Sync>);

impl fmt::Debug for TalkJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TalkJournal")
    }
}

/// Takes what a reply used.
type Charge = dyn Fn(Option<&Usage>) + Send + Sync;

/// The limits of a run, for the requests of a conversation.
#[derive(Clone)]
pub(crate) struct TalkBudget {
    /// Waits until another request is allowed; `false` if none is any more.
    pub(crate) allows: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Charges what a reply used.
    pub(crate) charge: Arc<Charge>,
    /// How long it waited in all, in microseconds.
    pub(crate) waited_us: Arc<AtomicU64>,
}

impl fmt::Debug for TalkBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TalkBudget")
    }
}

/// What an agent is told of the conversation in which it is asked.
#[derive(Clone, Debug)]
pub(crate) struct TurnTask {
    /// Names the conversation.
    pub(crate) session: Arc<str>,
    /// The turn, from 1.
    pub(crate) turn: u32,
    /// All messages so far.
    pub(crate) messages: Arc<[Value]>,
    /// The ids of the calls among them that failed.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "only Messages marks them")
    )]
    pub(crate) failed: Arc<[String]>,
    /// The server of the tools, if they are offered by MCP.
    pub(crate) server: Option<Arc<ToolServerAddress>>,
}

/// A program that serves the tools of a conversation by MCP.
#[derive(Debug)]
pub(crate) struct ToolServerAddress {
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// The file by which clients find it.
    pub(crate) config: PathBuf,
}

impl TurnTask {
    /// The first turn of a conversation in which the user says this.
    pub(crate) fn first(text: &str) -> Self {
        let message = serde_json::json!({"role": "user", "content": text});
        Self {
            session: "first".into(),
            turn: 1,
            messages: Arc::new([message]),
            failed: Arc::default(),
            server: None,
        }
    }
}

/// Why a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConversationEnd {
    /// The script was over.
    Script,
    /// The simulated user said that it is done.
    UserStop,
    /// The simulated user was not done after `user.max_turns`.
    MaxTurns,
    /// The agent called tools in more than `tools.max_steps` replies of one turn.
    MaxSteps,
}

impl ConversationEnd {
    /// All of them.
    pub(crate) const ALL: [Self; 4] =
        [Self::Script, Self::UserStop, Self::MaxTurns, Self::MaxSteps];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::UserStop => "user_stop",
            Self::MaxTurns => "max_turns",
            Self::MaxSteps => "max_steps",
        }
    }
}

/// A turn of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnOutcome {
    /// Its number, from 1.
    pub turn: u32,
    /// Replies of the agent, those with calls of tools included.
    pub steps: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Calls of tools that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed_calls: u64,
    /// Whether one of them failed on purpose, by `perturb`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub injected: bool,
    /// Calls of tools that repeat one of the conversation: same name, same arguments.
    #[serde(skip_serializing_if = "is_zero")]
    pub repeated_calls: u64,
    /// The verdict on this turn, if a scorer judges each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<Value>,
    /// Tokens and cost of the agent, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Seconds until the agent's last reply, without the user.
    pub latency_s: f64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How a conversation went, besides its messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConversationOutcome {
    /// Turn by turn.
    pub turns: Vec<TurnOutcome>,
    /// Why it ended.
    pub ended: ConversationEnd,
    /// Tokens and cost of the simulated user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_usage: Option<Usage>,
    /// The model that played the user, as its endpoint reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_model: Option<String>,
    /// What the environment ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

/// The text of a message's content, of which parts may be pictures.
pub(crate) fn content_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

/// A conversation as a text.
pub(crate) fn transcript(messages: &[Value]) -> String {
    let mut lines = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        let text = content_text(&message["content"]);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            lines.push(format!("{role}: {text}"));
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let call = call.get("function").unwrap_or(call);
            let text = |key: &str| unquoted(&call[key]);
            lines.push(format!(
                "{role} calls {}({})",
                text("name"),
                text("arguments")
            ));
        }
    }
    lines.join("\n\n")
}

impl ConversationOutcome {
    /// What a transcript shows of a conversation that was held elsewhere.
    pub(crate) fn of_transcript(output: &Output) -> Self {
        let turns = output.turns().into_iter().zip(1..);
        let turns = turns.map(|(messages, turn)| {
            let replies = messages
                .iter()
                .filter(|message| message["role"] == "assistant");
            let calls = |reply: &Value| {
                reply
                    .get("tool_calls")
                    .and_then(Value::as_array)
                    .map_or(0, Vec::len)
            };
            TurnOutcome {
                turn,
                steps: replies.clone().count() as u64,
                tool_calls: replies.map(calls).sum::<usize>() as u64,
                ..TurnOutcome::default()
            }
        });
        Self {
            turns: turns.collect(),
            ended: ConversationEnd::Script,
            user_usage: None,
            user_model: None,
            state: None,
        }
    }
}

impl Output {
    /// The parts of the transcript that are turns: from a message of the user up to the next.
    pub(crate) fn turns(&self) -> Vec<&[Value]> {
        let is_of_user = |message: &Value| message.get("role").is_some_and(|role| role == "user");
        let starts = self.messages.iter().enumerate();
        let starts = starts.filter(|(_, message)| is_of_user(message));
        let starts: Vec<usize> = starts.map(|(place, _)| place).collect();
        let ends = starts.iter().skip(1).copied();
        let ends = ends.chain([self.messages.len()]);
        let turns = starts.iter().zip(ends);
        turns
            .map(|(&start, end)| &self.messages[start..end])
            .collect()
    }
}

impl Usage {
    /// The sum; unknown where a part is.
    pub(crate) fn sum(parts: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        let mut sum: Option<Self> = None;
        for part in parts {
            let part = part.unwrap_or_default();
            let Some(before) = sum else {
                sum = Some(part);
                continue;
            };
            let tokens = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
            sum = Some(Self {
                input_tokens: tokens(before.input_tokens, part.input_tokens),
                output_tokens: tokens(before.output_tokens, part.output_tokens),
                cost_usd: before
                    .cost_usd
                    .zip(part.cost_usd)
                    .map(|(one, other)| one + other),
                cached_tokens: tokens(before.cached_tokens, part.cached_tokens),
            });
        }
        sum.filter(|sum| *sum != Self::default())
    }
}
