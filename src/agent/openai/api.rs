//! `Api`: in which words an endpoint is asked. Requests are made as Chat Completions and put into the other words here.
//!
//! What a model said goes back as it came: a message of the transcript has the items of its reply in [`ITEMS`].

use serde_json::{Map, Value, json};

use crate::data::conversation::{ITEMS, content_text};
use crate::error::{Error, Result};
use crate::text::unquoted;

/// The limit of tokens that Messages require, if none is set.
const MAX_TOKENS: u64 = 4096;

/// How an endpoint is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Api {
    /// Chat Completions.
    #[default]
    Chat,
    /// Responses. Nothing is stored at the endpoint: each request has the whole conversation.
    Responses,
    /// Messages, as Anthropic defines them.
    Messages,
}

/// A conversation in the words of an API.
pub(super) struct History {
    /// The instructions, where they do not stand among the messages.
    pub(super) system: Option<String>,
    pub(super) messages: Vec<Value>,
}

/// What becomes of a key of the body.
pub(super) enum BodyKey {
    AsItIs,
    /// It has another name or place, such as `text/format`.
    At(&'static str, Value),
    /// It says what holds anyway.
    Dropped,
}

impl Api {
    /// The end of its address.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Messages => "/messages",
        }
    }

    /// What it calls a reply.
    pub(super) fn reply(self) -> &'static str {
        match self {
            Self::Chat => "chat completion",
            Self::Responses => "response",
            Self::Messages => "message",
        }
    }

    /// The body's key of the conversation.
    pub(super) fn conversation(self) -> &'static str {
        match self {
            Self::Responses => "input",
            Self::Chat | Self::Messages => "messages",
        }
    }

    /// The body's key of the instructions.
    pub(super) fn instructions(self) -> &'static str {
        match self {
            Self::Messages => "system",
            Self::Chat | Self::Responses => "instructions",
        }
    }

    /// The body's key of the most tokens of an answer.
    pub(super) fn limit(self) -> &'static str {
        match self {
            Self::Responses => "max_output_tokens",
            Self::Chat | Self::Messages => "max_tokens",
        }
    }

    /// The most tokens of an answer if an agent sets no limit.
    pub(super) fn default_limit(self) -> Option<u64> {
        (self == Self::Messages).then_some(MAX_TOKENS)
    }

    /// Messages of Chat Completions. `failed` names the calls whose results are errors.
    pub(super) fn history(self, messages: Vec<Value>, failed: &[String]) -> History {
        if self == Self::Chat {
            let system = None;
            return History { system, messages };
        }
        let mut texts = Vec::new();
        let mut put = Vec::new();
        for message in messages {
            let content = &message["content"];
            match message["role"].as_str() {
                Some("system" | "developer") => texts.extend(content_text(content)),
                Some("assistant") => self.reply_back(&message, &mut put),
                Some("tool") => self.result(&message, failed, &mut put),
                _ => put.push(json!({"role": "user", "content": self.content(content)})),
            }
        }
        History {
            system: (!texts.is_empty()).then(|| texts.join("\n\n")),
            messages: put,
        }
    }

    /// A reply of the model. Without its items it is made of its text and its calls.
    fn reply_back(self, message: &Value, put: &mut Vec<Value>) {
        let items = message.get(ITEMS).and_then(Value::as_array);
        let items = items.cloned().unwrap_or_else(|| {
            let text = content_text(&message["content"]).filter(|text| !text.is_empty());
            let text = text.map(|text| match self {
                Self::Messages => json!({"type": "text", "text": text}),
                _ => json!({"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": text}]}),
            });
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            text.into_iter()
                .chain(calls.map(|call| self.call(call)))
                .collect()
        });
        match self {
            // An endpoint refuses a message without blocks.
            Self::Messages if items.is_empty() => {}
            Self::Messages => put.push(json!({"role": "assistant", "content": items})),
            _ => put.extend(items),
        }
    }

    fn call(self, call: &Value) -> Value {
        let function = call.get("function").unwrap_or(call);
        let arguments = unquoted(&function["arguments"]);
        if self == Self::Responses {
            return json!({"type": "function_call", "call_id": call["id"], "name": function["name"],
                "arguments": arguments});
        }
        let input = serde_json::from_str(&arguments).ok();
        let input = input.filter(Value::is_object);
        json!({"type": "tool_use", "id": call["id"], "name": function["name"],
            "input": input.unwrap_or_else(|| json!({}))})
    }

    /// The result of a call. Messages have all results of a step in one message of the user.
    fn result(self, message: &Value, failed: &[String], put: &mut Vec<Value>) {
        let (id, content) = (&message["tool_call_id"], &message["content"]);
        if self == Self::Responses {
            put.push(json!({"type": "function_call_output", "call_id": id, "output": content}));
            return;
        }
        let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if failed.iter().any(|failed| id == failed) {
            block["is_error"] = true.into();
        }
        let last = put
            .last_mut()
            .and_then(|last| last["content"].as_array_mut());
        let results = last.filter(|blocks| {
            let first = blocks.first();
            first.is_some_and(|first| first["type"] == "tool_result")
        });
        match results {
            Some(blocks) => blocks.push(block),
            None => put.push(json!({"role": "user", "content": [block]})),
        }
    }

    /// The content of a message of the user: a text, or parts with images among them.
    fn content(self, content: &Value) -> Value {
        let Value::Array(parts) = content else {
            return content.clone();
        };
        let part = |part: &Value| match (part["type"].as_str(), self) {
            (Some("text"), Self::Responses) => json!({"type": "input_text", "text": part["text"]}),
            (Some("image_url"), Self::Responses) => {
                json!({"type": "input_image", "image_url": part["image_url"]["url"]})
            }
            (Some("image_url"), _) => {
                let url = part["image_url"]["url"].as_str().unwrap_or_default();
                let inline = url.strip_prefix("data:");
                let source = match inline.and_then(|data| data.split_once(";base64,")) {
                    Some((kind, data)) => {
                        json!({"type": "base64", "media_type": kind, "data": data})
                    }
                    None => json!({"type": "url", "url": url}),
                };
                json!({"type": "image", "source": source})
            }
            _ => part.clone(),
        };
        parts.iter().map(part).collect()
    }

    /// Tools in the form of Chat Completions; those in a form of the API's own stay.
    pub(super) fn tools(self, tools: &[Value]) -> Value {
        let tool = |tool: &Value| {
            let function = tool.get("function").and_then(Value::as_object);
            let Some(mut function) = function.cloned().filter(|_| self != Self::Chat) else {
                return tool.clone();
            };
            match self {
                Self::Messages => {
                    let parameters = function.shift_remove("parameters");
                    let schema = parameters.unwrap_or_else(|| json!({"type": "object"}));
                    function.insert("input_schema".to_owned(), schema);
                }
                _ => {
                    function.shift_insert(0, "type".to_owned(), "function".into());
                }
            }
            Value::Object(function)
        };
        tools.iter().map(tool).collect()
    }

    /// What becomes of a key of the body that stands in a spec or that a judge asks for, which may be one of Chat
    /// Completions.
    ///
    /// # Errors
    /// When the API has nothing like it.
    pub(super) fn option(self, key: &str, value: &Value) -> Result<BodyKey> {
        if self == Self::Chat {
            return Ok(BodyKey::AsItIs);
        }
        let at = |place, value| Ok(BodyKey::At(place, value));
        match (self, key) {
            (Self::Responses, "max_tokens" | "max_completion_tokens") => {
                at("max_output_tokens", value.clone())
            }
            (_, "max_completion_tokens") => at("max_tokens", value.clone()),
            (Self::Responses, "reasoning_effort") => at("reasoning/effort", value.clone()),
            (_, "reasoning_effort") => at("output_config/effort", value.clone()),
            (_, "tools") => match value {
                Value::Array(tools) => at("tools", self.tools(tools)),
                _ => Ok(BodyKey::AsItIs),
            },
            (_, "tool_choice") => at("tool_choice", self.tool_choice(value)),
            (_, "response_format") => self.reply_form(value),
            (Self::Messages, "stop") => match value {
                Value::Array(_) => at("stop_sequences", value.clone()),
                text => at("stop_sequences", json!([text])),
            },
            (Self::Responses, "logprobs") if *value == json!(true) => {
                at("include", json!(["message.output_text.logprobs"]))
            }
            (Self::Messages, "logprobs") | (_, "n")
                if *value != json!(false) && *value != json!(1) =>
            {
                Err(self.unknown(key, "remove it, or ask with `api: chat`"))
            }
            (_, "logprobs" | "n") => Ok(BodyKey::Dropped),
            (Self::Messages, "top_logprobs") | (Self::Responses, "stop") => {
                Err(self.unknown(key, "remove it, or ask with `api: chat`"))
            }
            (Self::Responses, "messages") => Err(self.unknown(key, "write `input`")),
            _ => Ok(BodyKey::AsItIs),
        }
    }

    fn tool_choice(self, choice: &Value) -> Value {
        let named = choice.pointer("/function/name");
        match (self, named, choice.as_str()) {
            (Self::Responses, Some(name), _) => json!({"type": "function", "name": name}),
            (Self::Messages, Some(name), _) => json!({"type": "tool", "name": name}),
            (Self::Messages, _, Some("required")) => json!({"type": "any"}),
            (Self::Messages, _, Some(word)) => json!({"type": word}),
            _ => choice.clone(),
        }
    }

    /// The form that a reply must have.
    fn reply_form(self, form: &Value) -> Result<BodyKey> {
        let kind = form["type"].as_str();
        let schema = form.get("json_schema").and_then(Value::as_object);
        match (self, kind, schema) {
            (Self::Responses, Some("json_schema"), Some(named)) => {
                let mut flat = Map::from_iter([("type".to_owned(), "json_schema".into())]);
                flat.extend(named.clone());
                Ok(BodyKey::At("text/format", flat.into()))
            }
            (Self::Responses, ..) => Ok(BodyKey::At("text/format", form.clone())),
            (_, Some("json_schema"), Some(named)) => {
                let schema = named.get("schema").cloned().unwrap_or_default();
                let form = json!({"type": "json_schema", "schema": schema});
                Ok(BodyKey::At("output_config/format", form))
            }
            (_, Some("text"), _) => Ok(BodyKey::Dropped),
            _ => Err(self.unknown("response_format", "write a `json_schema`")),
        }
    }

    /// Refuses a seed where there is none.
    pub(crate) fn check_seed(self) -> Result<()> {
        match self {
            Self::Chat => Ok(()),
            Self::Responses | Self::Messages => Err(self.unknown(
                "seed",
                "remove `seed`, or, where the endpoint takes one, write `extra_body: { seed: 7 }`",
            )),
        }
    }

    fn unknown(self, key: &str, hint: &str) -> Error {
        let api = self.as_str();
        Error::usage(format!("`api: {api}` has no `{key}`")).hint(hint)
    }

    /// The word in a spec.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }
}
