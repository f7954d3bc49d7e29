//! What the endpoint is asked.

use serde_json::{Map, Value, json};

use super::OpenAi;
use crate::data::{AgentError, Task};

/// How the tools of a sample reach the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tools {
    /// As `tools` of the request; calls come back as `tool_calls`. A sample that brings its own messages (`bfcl`)
    /// is asked with these, for its prompt would tell the model to write calls as text.
    #[default]
    Native,
    /// In words: the prompt describes them, if the benchmark does so, and calls come back as text.
    Prompt,
}

impl OpenAi {
    /// The body for a task, and the names of files that are not in it.
    pub(super) fn body(&self, task: &Task) -> Result<(Map<String, Value>, Vec<Value>), AgentError> {
        let mut messages = Vec::new();
        if let Some(system) = &self.system {
            messages.push(json!({"role": "system", "content": system}));
        }
        let is_native = self.tools == Tools::Native && !task.tools().is_empty();
        let own = task.metadata().get("messages").and_then(Value::as_array);
        let mut unsent = Vec::new();
        if let Some(own) = own.filter(|own| is_native && !own.is_empty()) {
            messages.extend(own.iter().cloned());
        } else {
            let content = self.files.content(task)?;
            unsent = content.unsent;
            messages.push(json!({"role": "user", "content": content.value}));
        }
        let mut body = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                body.insert(key.to_owned(), value);
            }
        };
        set("model", Some(self.model.as_str().into()));
        set("messages", Some(messages.into()));
        set("temperature", self.temperature.map(Value::from));
        let seed = self.seed.map(|seed| seed.wrapping_add(task.epoch().into()));
        set("seed", seed.map(Value::from));
        set("max_tokens", self.max_tokens.map(Value::from));
        set("tools", is_native.then(|| task.tools().into()));
        for (key, value) in self.extra.iter().chain(task.options()) {
            body.insert(key.clone(), value.clone());
        }
        Ok((body, unsent))
    }
}
