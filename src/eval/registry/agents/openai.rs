#![doc = include_str!("openai.md")]

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::openai::{Api, FileKind, OpenAi, Price, Tools, Unsendable, check_extra};
use crate::error::{Error, Result, Under};
use crate::eval::registry::recipe::{Recipe, Surroundings};
use crate::eval::registry::{BuiltIn, MadeAgent};
use crate::system::http::Filler;
use crate::system::variables;

pub(super) const ENTRY: Recipe<OpenAiKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "openai",
        summary: "a model with a Chat Completions, Responses or Messages API, at any compatible endpoint",
        page: include_str!("openai.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct OpenAiKeys {
    base_url: String,
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "type": "string", "pattern": r"^\s*$" })))]
    model: String,
    #[serde(default)]
    api: ApiKey,
    api_key_env: Option<String>,
    system: Option<String>,
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    temperature: Option<f64>,
    seed: Option<u64>,
    max_tokens: Option<u64>,
    #[serde(default)]
    extra_body: Map<String, Value>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    plain_env: Vec<String>,
    #[serde(default)]
    tools: ToolsKey,
    files: Option<Vec<FileKey>>,
    #[serde(default)]
    unsendable_files: UnsendableKey,
    price: Option<PriceKeys>,
    /// Sent in the body, as `extra_body` is.
    #[serde(default)]
    options: Map<String, Value>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum ApiKey {
    #[default]
    Chat,
    Responses,
    Messages,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum ToolsKey {
    #[default]
    Native,
    Prompt,
}

#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum FileKey {
    Image,
    Text,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum UnsendableKey {
    #[default]
    Tell,
    Fail,
}

/// US dollars for a million tokens.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct PriceKeys {
    /// For what the model reads, from 0.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    input: f64,
    /// For what it writes, from 0.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    output: f64,
    /// For what it reads again from the endpoint's cache, from 0; as `input` by default.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    cached_input: Option<f64>,
}

fn make(mut keys: OpenAiKeys, surroundings: &Surroundings<'_>) -> Result<MadeAgent> {
    let folder = surroundings.folder;
    let at = |key: &'static str| move |error: Error| error.at("agent `openai`").under(key);
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
        let error = Error::usage("`temperature` is not a number from 0 on");
        return Err(at("temperature")(error.hint("write `temperature: 0`")));
    }
    let api = match keys.api {
        ApiKey::Chat => Api::Chat,
        ApiKey::Responses => Api::Responses,
        ApiKey::Messages => Api::Messages,
    };
    if keys.seed.is_some() {
        api.check_seed().map_err(at("seed"))?;
    }
    let mut filler = Filler::new(folder);
    let url = filler.text("base_url", &keys.base_url);
    let url = url.map_err(at("base_url"))?;
    let mut model = Value::from(keys.model);
    let filled = filler.json("model", &mut model);
    filled.map_err(at("model"))?;
    let model = model.as_str().unwrap_or_default();
    for (key, texts) in [
        ("extra_body", &mut keys.extra_body),
        ("options", &mut keys.options),
    ] {
        for (name, value) in texts {
            let filled = filler.json(name, value).under(name.as_str());
            filled.map_err(at(key))?;
        }
    }
    let agent = OpenAi::with_api(&url, model, api).map_err(|error| filler.hide(error));
    let mut agent = agent.map_err(at("base_url"))?.hides(filler.found());
    if let Some(name) = &keys.api_key_env {
        agent = agent.api_key_env(name, folder).map_err(at("api_key_env"))?;
    }
    for (name, value) in &keys.headers {
        let filled = agent.header(name, value, folder).under(name.as_str());
        agent = filled.map_err(at("headers"))?;
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
    variables::check_names(&keys.plain_env).map_err(at("plain_env"))?;
    check_extra(api, &keys.extra_body).map_err(at("extra_body"))?;
    check_extra(api, &keys.options).map_err(at("options"))?;
    let agent = agent
        .plain_env(keys.plain_env)
        .extra_body(keys.extra_body)
        .tools(match keys.tools {
            ToolsKey::Native => Tools::Native,
            ToolsKey::Prompt => Tools::Prompt,
        })
        .unsendable_files(match keys.unsendable_files {
            UnsendableKey::Tell => Unsendable::Tell,
            UnsendableKey::Fail => Unsendable::Fail,
        })
        .max_output_bytes(surroundings.max_output_bytes);
    Ok(MadeAgent::new(agent, keys.options))
}

fn price(keys: &PriceKeys) -> Result<Price> {
    let all = [
        ("input", Some(keys.input)),
        ("output", Some(keys.output)),
        ("cached_input", keys.cached_input),
    ];
    let is_wrong = |price: f64| !price.is_finite() || price < 0.0;
    if let Some((key, _)) = all.iter().find(|(_, price)| price.is_some_and(is_wrong)) {
        let error = Error::usage("a price is not a number of dollars");
        let error =
            error.hint("write dollars for a million tokens: `price: { input: 0.15, output: 0.6 }`");
        return Err(error.under(*key));
    }
    Ok(Price {
        input: keys.input,
        output: keys.output,
        cached_input: keys.cached_input,
    })
}
