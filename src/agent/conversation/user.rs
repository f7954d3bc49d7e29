//! `SimulatedUser`: an agent that plays the user of a conversation.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::data::conversation::{ConversationEnd, Script};
use crate::text::hash::Fingerprint;
use crate::text::unquoted;

/// What the user does.
pub(super) struct UserTurn {
    /// What it says to the agent, if anything.
    pub(super) text: Option<String>,
    /// Why the conversation ends after that.
    pub(super) ended: Option<ConversationEnd>,
}

/// By default.
const MAX_TURNS: u32 = 10;
const STOP: &str = "###STOP###";

/// The user's part, before its scenario.
const ROLE: &str = "You play the user in a conversation with an assistant. Write only what the user says next, one \
short message at a time, and nothing else. Do not tell more than is needed at once, and make up nothing that the \
scenario does not say. When what the scenario asks for is done, or the assistant cannot help, write";

/// What stands before the user's first message, which a model needs to reply to.
const FIRST: &str = "The conversation begins. Write the user's first message.";

/// An agent that plays the user, where a sample has a scenario instead of turns.
///
/// ```
/// use evaltest::agent::{Conversation, Echo, SimulatedUser};
/// use evaltest::{Output, Task};
///
/// /// Says one thing. Mostly it is a model, such as `agent::OpenAi`.
/// let user = |_: &Task| Ok(Output::text("Book a table for two. ###STOP###"));
/// let agent = Conversation::new(Echo::new(None)).user(SimulatedUser::new(user).max_turns(6));
/// ```
pub struct SimulatedUser {
    agent: Arc<dyn Agent>,
    options: Arc<Map<String, Value>>,
    max_turns: u32,
    stop: String,
}

impl SimulatedUser {
    /// A user who is played by this agent.
    pub fn new(agent: impl Agent + 'static) -> Self {
        Self::of(Arc::new(agent), Map::new())
    }

    pub(crate) fn of(agent: Arc<dyn Agent>, options: Map<String, Value>) -> Self {
        Self {
            agent,
            options: options.into(),
            max_turns: MAX_TURNS,
            stop: STOP.to_owned(),
        }
    }

    /// How many turns it has; by default 10. After the last the conversation ends.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = turns.max(1);
        self
    }

    /// The text by which it ends the conversation; by default `###STOP###`. It never reaches the agent.
    #[must_use]
    pub fn stop(mut self, stop: impl Into<String>) -> Self {
        self.stop = stop.into();
        self
    }

    pub(super) fn agent(&self) -> &dyn Agent {
        &*self.agent
    }

    /// Who plays it, and with which options.
    pub(crate) fn parts(&self) -> (Arc<dyn Agent>, Arc<Map<String, Value>>) {
        (Arc::clone(&self.agent), Arc::clone(&self.options))
    }

    pub(super) fn options(&self) -> &Arc<Map<String, Value>> {
        &self.options
    }

    pub(super) fn most_turns(&self) -> u32 {
        self.max_turns
    }

    pub(super) fn fingerprint(&self) -> Option<String> {
        let keys = Fingerprint::of("user")
            .part("agent", self.agent.fingerprint()?)
            .part("options", Value::Object((*self.options).clone()))
            .part("max_turns", self.max_turns)
            .part("stop", &self.stop);
        Some(keys.hex())
    }

    /// The conversation as the user sees it: its own messages are those of the `assistant`, the agent's those of the
    /// `user`. Calls of tools and their results are not shown.
    pub(super) fn messages(&self, script: &Script, messages: &[Value]) -> Vec<Value> {
        let scenario = script.scenario.as_deref().unwrap_or_default();
        let mut system = format!("{ROLE} {}\n\nScenario:\n{scenario}", self.stop);
        if let Some(known) = &script.visible_to_user {
            let known = unquoted(known);
            // Writing to a string cannot fail.
            let _ = write!(system, "\n\nWhat the user knows:\n{known}");
        }
        let mut seen = vec![
            json!({"role": "system", "content": system}),
            json!({"role": "user", "content": FIRST}),
        ];
        for message in messages {
            let text = message["content"].as_str().unwrap_or_default();
            let role = match message["role"].as_str() {
                Some("user") => "assistant",
                Some("assistant") if !text.is_empty() => "user",
                _ => continue,
            };
            seen.push(json!({"role": role, "content": text}));
        }
        seen
    }

    /// What its reply means. Text beside the stop token reaches the agent; an empty reply is a stop.
    pub(super) fn next(&self, reply: &str, turn: u32) -> UserTurn {
        let has_stop = !self.stop.is_empty() && reply.contains(&self.stop);
        let text = if has_stop {
            reply.replace(&self.stop, "")
        } else {
            reply.to_owned()
        };
        let text = text.trim();
        let ended = if has_stop || text.is_empty() {
            Some(ConversationEnd::UserStop)
        } else if turn >= self.max_turns {
            Some(ConversationEnd::MaxTurns)
        } else {
            None
        };
        UserTurn {
            text: (!text.is_empty()).then(|| text.to_owned()),
            ended,
        }
    }
}
