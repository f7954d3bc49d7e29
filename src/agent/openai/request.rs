//! The request to the endpoint.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::OpenAi;
use super::api::{Api, BodyKey};
use crate::data::conversation::ITEMS;
use crate::data::{AgentError, FailureKind, Output, Task};
use crate::error::Error;

/// How the tools of a sample are passed to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tools {
    /// As `tools` of the request; calls come back as `tool_calls`. A sample with its own messages (`bfcl`) is asked
    /// with these, because its prompt would tell the model to write calls as text.
    #[default]
    Native,
    /// In words: the prompt describes them, if the benchmark does so, and calls come back as text.
    Prompt,
}

/// The body of a request. Parts common to all requests are borrowed: a judge sends a schema each time.
#[derive(Debug, Default)]
pub(super) struct RequestBody<'a>(Vec<(&'a str, Cow<'a, Value>)>);

impl<'a> RequestBody<'a> {
    /// Sets a key, replacing one of the same name.
    fn set(&mut self, key: &'a str, value: Cow<'a, Value>) {
        match self.0.iter_mut().find(|(there, _)| *there == key) {
            Some((_, there)) => *there = value,
            None => self.0.push((key, value)),
        }
    }

    /// Adds the blocks of a message that was paused, in place of those of an earlier pause.
    pub(super) fn go_on(&mut self, paused: &Output) {
        let blocks = paused.messages.last().map(|last| last[ITEMS].clone());
        let messages = self.0.iter_mut().find(|(key, _)| *key == "messages");
        let messages = messages.and_then(|(_, value)| value.to_mut().as_array_mut());
        let (Some(blocks), Some(messages)) = (blocks, messages) else {
            return;
        };
        messages.pop_if(|last| last["role"] == "assistant");
        messages.push(json!({"role": "assistant", "content": blocks}));
    }

    /// Sets a key, or a member of its value (`text/format`). Lists are joined.
    fn put(&mut self, place: &'a str, value: Value) {
        let (key, member) = place.split_once('/').unwrap_or((place, ""));
        let there = self.0.iter_mut().find(|(there, _)| *there == key);
        match (there.map(|(_, there)| there.to_mut()), value) {
            (Some(Value::Array(all)), Value::Array(more)) if key == "include" => all.extend(more),
            (Some(Value::Object(members)), value) if !member.is_empty() => {
                members.insert(member.to_owned(), value);
            }
            (_, value) if member.is_empty() => self.set(key, Cow::Owned(value)),
            (_, value) => self.set(key, Cow::Owned(json!({ member: value }))),
        }
    }
}

impl Serialize for RequestBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl OpenAi {
    /// The body for a task, and the names of files that are not in it.
    pub(super) fn body<'a>(
        &'a self,
        task: &'a Task,
    ) -> Result<(RequestBody<'a>, Vec<Value>), AgentError> {
        if self.seed.is_some() {
            self.api
                .check_seed()
                .map_err(|error| misconfigured(&error))?;
        }
        let mut messages = Vec::new();
        if let Some(system) = &self.system {
            messages.push(json!({"role": "system", "content": system}));
        }
        let is_native = self.tools == Tools::Native && !task.tools().is_empty();
        let own = task.metadata().get("messages").and_then(Value::as_array);
        let mut unsent = Vec::new();
        if !task.messages().is_empty() {
            messages.extend(task.messages().iter().cloned());
        } else if let Some(own) = own.filter(|own| is_native && !own.is_empty()) {
            messages.extend(own.iter().cloned());
        } else {
            let content = self.files.content(task)?;
            unsent = content.unsent;
            messages.push(json!({"role": "user", "content": content.value}));
        }
        let failed = task.turn.as_ref().map(|turn| &*turn.failed);
        let history = self.api.history(messages, failed.unwrap_or_default());
        let mut body = RequestBody::default();
        let mut set = |key, value: Option<Value>| {
            if let Some(value) = value {
                body.set(key, Cow::Owned(value));
            }
        };
        set("model", Some(self.model.as_str().into()));
        set(self.api.instructions(), history.system.map(Value::from));
        set(self.api.conversation(), Some(history.messages.into()));
        set("temperature", self.temperature.map(Value::from));
        let seed = self.seed.map(|seed| seed.wrapping_add(task.epoch().into()));
        set("seed", seed.map(Value::from));
        set(self.api.limit(), self.limit().map(Value::from));
        set("tools", is_native.then(|| self.api.tools(task.tools())));
        set("store", (self.api == Api::Responses).then(|| false.into()));
        for (key, value) in self.extra.iter().chain(task.options()) {
            let option = self.api.option(key, value);
            let option = option.map_err(|error| misconfigured(&error))?;
            match option {
                BodyKey::AsItIs => body.set(key, Cow::Borrowed(value)),
                BodyKey::At(place, value) => body.put(place, value),
                BodyKey::Dropped => {}
            }
        }
        Ok((body, unsent))
    }
}

/// The failure for a key that the API has not.
fn misconfigured(error: &Error) -> AgentError {
    let hint = error.hint_text().unwrap_or_default();
    let message = format!("{}; hint: {hint}", error.message());
    AgentError::of(FailureKind::Misconfigured, message)
}
