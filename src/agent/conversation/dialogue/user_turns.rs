//! The turns of the user, written down or simulated.

use std::sync::Arc;

use serde_json::json;

use super::super::SimulatedUser;
use super::super::user::UserTurn;
use super::{Broken, Dialogue};
use crate::data::conversation::{ConversationEnd, Speaker, TurnMessage};
use crate::data::{AgentError, FailureKind, Output, Party, Task};
use crate::system::clock;

impl Dialogue<'_> {
    /// What the user says next, and whether that is the end.
    pub(super) fn next_of_user(&mut self) -> Result<UserTurn, Broken> {
        let turns = &self.script().turns;
        if self.script().scenario.is_none() {
            let place = self.turn as usize - 1;
            let rules = self.driver.rules.as_ref().filter(|_| self.in_words);
            let in_words = rules.and_then(|rules| rules.user_in_words(self.script(), self.turn));
            let text = in_words.or_else(|| turns.get(place).map(|turn| turn.user.clone()));
            let is_last = place + 1 >= turns.len();
            return Ok(UserTurn {
                text,
                ended: is_last.then_some(ConversationEnd::Script),
            });
        }
        let user = self.driver.user.as_ref().ok_or_else(|| {
            let message = "the sample has a scenario, but the eval has no `user`; hint: write `user: { agent: … }`";
            AgentError::of(FailureKind::Misconfigured, message)
        })?;
        let known = self.recorded(Speaker::User, None);
        let reply = if let Some(reply) = known {
            reply
        } else {
            self.allowed()?;
            self.ask_user(user)?
        };
        self.user_usages.push(reply.usage);
        let played = Output {
            metadata: reply.metadata,
            ..Output::default()
        };
        self.user_model = played.answered_by().or_else(|| self.user_model.take());
        let text = reply.message["content"].as_str().unwrap_or_default();
        let next = user.next(text, self.turn);
        if self.turn == 1 && next.text.is_none() {
            return Err(AgentError {
                party: Some(Party::User),
                ..AgentError::of(
                    FailureKind::NoOutput,
                    "the simulated user said nothing in the first turn",
                )
            }
            .into());
        }
        Ok(next)
    }

    /// Asks the simulated user for its next message.
    fn ask_user(&self, user: &SimulatedUser) -> Result<TurnMessage, AgentError> {
        let started = clock::now();
        let messages = user.messages(self.script(), &self.messages);
        let prompt = messages
            .last()
            .and_then(|message| message["content"].as_str());
        let task = self.inner(prompt.unwrap_or_default(), messages.clone(), Vec::new());
        let asked = user.agent().answer(&Task {
            options: Arc::clone(user.options()),
            ..task
        });
        if let Ok(output) = &asked {
            (self.talk.budget.charge)(output.usage.as_ref());
        }
        let output = match asked {
            Ok(output) => output,
            // It has nothing to say any more.
            Err(error) if error.kind == FailureKind::NoOutput && self.turn > 1 => Output::default(),
            Err(error) => {
                let error = self.of_agent(error);
                return Err(AgentError {
                    party: Some(Party::User),
                    message: format!("the simulated user: {}", error.message),
                    ..error
                });
            }
        };
        self.journaled(TurnMessage {
            turn: self.turn,
            step: None,
            by: Speaker::User,
            message: json!({"role": "user", "content": output.text.unwrap_or_default()}),
            usage: output.usage,
            metadata: output.metadata,
            latency_s: clock::since(started).as_secs_f64(),
        })
    }
}
