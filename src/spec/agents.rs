//! The keys of agents behind endpoints, and the agents they make.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Keys of `openai`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(feature = "http"), expect(dead_code, reason = "read, and refused"))]
pub(super) struct OpenAiKeys {
    pub(super) base_url: String,
    pub(super) model: String,
    pub(super) api_key_env: Option<String>,
    pub(super) system: Option<String>,
    pub(super) temperature: Option<f64>,
    pub(super) seed: Option<u64>,
    pub(super) max_tokens: Option<u64>,
    #[serde(default)]
    pub(super) extra_body: Map<String, Value>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) tools: ToolsKey,
    pub(super) files: Option<Vec<FileKey>>,
    #[serde(default)]
    pub(super) unsendable_files: UnsendableKey,
    pub(super) price: Option<PriceKeys>,
    /// Sent in the body, as `extra_body` is.
    #[serde(default)]
    pub(super) options: Map<String, Value>,
}

/// Keys of `http`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(feature = "http"), expect(dead_code, reason = "read, and refused"))]
pub(super) struct HttpKeys {
    pub(super) url: String,
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Option<Value>,
    #[serde(default)]
    pub(super) output: ReplyForm,
    pub(super) answer: Option<String>,
    pub(super) messages: Option<String>,
    pub(super) tool_calls: Option<String>,
    pub(super) usage: Option<String>,
    pub(super) error: Option<String>,
    #[serde(default)]
    pub(super) options: Map<String, Value>,
}

/// What a reply is.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReplyForm {
    #[default]
    Json,
    Text,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolsKey {
    #[default]
    Native,
    Prompt,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileKey {
    Image,
    Text,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UnsendableKey {
    #[default]
    Tell,
    Fail,
}

/// US dollars for a million tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(feature = "http"), expect(dead_code, reason = "read, and refused"))]
pub(super) struct PriceKeys {
    pub(super) input: f64,
    pub(super) output: f64,
    pub(super) cached_input: Option<f64>,
}

#[cfg(feature = "http")]
pub(super) use made::{http, openai};

#[cfg(feature = "http")]
mod made {
    use std::path::Path;

    use super::{FileKey, HttpKeys, OpenAiKeys, PriceKeys, ReplyForm, ToolsKey, UnsendableKey};
    use crate::agent::http::{Http, Places};
    use crate::agent::openai::{FileKind, OpenAi, Price, Tools, Unsendable, check_extra};
    use crate::error::{Error, Result};
    use crate::eval::Limits;
    use crate::spec::build::Placed;

    /// The agent of these keys.
    pub(in crate::spec) fn openai(
        keys: OpenAiKeys,
        folder: &Path,
        limits: &Limits,
    ) -> Placed<OpenAi> {
        let at = |word: &str| {
            let word = word.to_owned();
            move |error: Error| (error.at("agent `openai`"), word)
        };
        if keys.model.trim().is_empty() {
            let error = Error::usage("`model` is empty");
            return Err(at("model")(
                error.hint("write `model: NAME`, as the endpoint calls it"),
            ));
        }
        if keys
            .temperature
            .is_some_and(|heat| !heat.is_finite() || heat < 0.0)
        {
            let error = Error::usage("`temperature` is no number from 0 on");
            return Err(at("temperature")(error.hint("write `temperature: 0`")));
        }
        let mut agent = OpenAi::new(&keys.base_url, keys.model).map_err(at("base_url"))?;
        if let Some(name) = &keys.api_key_env {
            agent = agent.api_key_env(name, folder).map_err(at(name))?;
        }
        for (name, value) in &keys.headers {
            agent = agent.header(name, value, folder).map_err(at(name))?;
        }
        if let Some(system) = keys.system {
            agent = agent.system(system);
        }
        if let Some(temperature) = keys.temperature {
            agent = agent.temperature(temperature);
        }
        if let Some(seed) = keys.seed {
            agent = agent.seed(seed);
        }
        if let Some(tokens) = keys.max_tokens {
            agent = agent.max_tokens(tokens);
        }
        if let Some(kinds) = keys.files {
            agent = agent.files(kinds.into_iter().map(|kind| match kind {
                FileKey::Image => FileKind::Image,
                FileKey::Text => FileKind::Text,
            }));
        }
        if let Some(price) = keys.price {
            agent = agent.price(self::price(&price).map_err(at("price"))?);
        }
        check_extra(&keys.extra_body).map_err(at("extra_body"))?;
        check_extra(&keys.options).map_err(at("options"))?;
        Ok(agent
            .extra_body(keys.extra_body)
            .tools(match keys.tools {
                ToolsKey::Native => Tools::Native,
                ToolsKey::Prompt => Tools::Prompt,
            })
            .unsendable_files(match keys.unsendable_files {
                UnsendableKey::Tell => Unsendable::Tell,
                UnsendableKey::Fail => Unsendable::Fail,
            })
            .max_output_bytes(limits.max_output_bytes))
    }

    /// The agent of these keys.
    pub(in crate::spec) fn http(keys: HttpKeys, folder: &Path, limits: &Limits) -> Placed<Http> {
        let at = |word: &str| {
            let word = word.to_owned();
            move |error: Error| (error.at("agent `http`"), word)
        };
        let method = keys.method.as_deref().unwrap_or("POST");
        let mut agent = Http::with_method(method, &keys.url).map_err(at("url"))?;
        if let Some(body) = &keys.body {
            agent = agent.body(body).map_err(at("body"))?;
        }
        for (name, value) in &keys.headers {
            agent = agent.header(name, value, folder).map_err(at(name))?;
        }
        let place = |key: &str, given: Option<String>, usual: String| match given {
            Some(place) if !place.is_empty() && !place.starts_with('/') => {
                let error = Error::usage(format!("`{key}: {place}` is no JSON pointer"));
                Err(at(key)(error.hint(format!("write `{key}: /{place}`"))))
            }
            place => Ok(place.unwrap_or(usual)),
        };
        let usual = Places::default();
        let answer = place("answer", keys.answer, usual.answer.unwrap_or_default())?;
        let places = Places {
            answer: (keys.output == ReplyForm::Json).then_some(answer),
            messages: place("messages", keys.messages, usual.messages)?,
            tool_calls: place("tool_calls", keys.tool_calls, usual.tool_calls)?,
            usage: place("usage", keys.usage, usual.usage)?,
            error: place("error", keys.error, usual.error)?,
        };
        Ok(agent
            .places(places)
            .max_output_bytes(limits.max_output_bytes))
    }

    fn price(keys: &PriceKeys) -> Result<Price> {
        let all = [Some(keys.input), Some(keys.output), keys.cached_input];
        if all
            .into_iter()
            .flatten()
            .any(|price| !price.is_finite() || price < 0.0)
        {
            let error = Error::usage("a price is no number of dollars");
            return Err(error.hint(
                "write dollars for a million tokens: `price: { input: 0.15, output: 0.6 }`",
            ));
        }
        Ok(Price {
            input: keys.input,
            output: keys.output,
            cached_input: keys.cached_input,
        })
    }
}
