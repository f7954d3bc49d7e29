#![doc = include_str!("http.md")]

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::http::{Http, Places};
use crate::error::{Error, Result, Under};
use crate::eval::registry::agents;
use crate::eval::registry::recipe::{Recipe, Surroundings};
use crate::eval::registry::{BuiltIn, MadeAgent};
use crate::system::http::Filler;
use crate::system::variables;

pub(super) const ENTRY: Recipe<HttpKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "http",
        summary: "any endpoint that speaks JSON",
        page: include_str!("http.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct HttpKeys {
    url: String,
    method: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    plain_env: Vec<String>,
    body: Option<Value>,
    #[serde(default)]
    output: HttpOutput,
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = "^(/|$)")))]
    answer: Option<String>,
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = "^(/|$)")))]
    messages: Option<String>,
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = "^(/|$)")))]
    tool_calls: Option<String>,
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = "^(/|$)")))]
    usage: Option<String>,
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = "^(/|$)")))]
    error: Option<String>,
    #[serde(default)]
    options: Map<String, Value>,
}

/// What a reply is.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum HttpOutput {
    #[default]
    Json,
    Text,
}

fn make(mut keys: HttpKeys, surroundings: &Surroundings<'_>) -> Result<MadeAgent> {
    let folder = surroundings.folder;
    let at = |error: Error| error.at("agent `http`");
    let method = keys.method.as_deref().unwrap_or("POST");
    let mut filler = Filler::with_placeholders(folder);
    let url = filler.text("url", &keys.url).under("url").map_err(at)?;
    let agent = Http::with_method(method, &url);
    let mut agent = agent.map_err(|error| at(filler.hide(error)))?;
    if let Some(body) = &mut keys.body {
        filler.json("body", body).under("body").map_err(at)?;
        let filled = agent.body(body);
        agent = filled.map_err(|error| at(filler.hide(error)))?;
    }
    agent = agent.hides(filler.found());
    let mut filler = Filler::new(folder);
    for (name, value) in &mut keys.options {
        let filled = filler.json(name, value).under(name.as_str());
        filled.under("options").map_err(at)?;
    }
    agent = agent.hides(filler.found());
    if !agent.sends_options() {
        let hint = match keys.body {
            Some(_) => "put the placeholder `{options}` into `body`: `options: \"{options}\"`",
            None => "write `method: POST`: a request of this method has no body",
        };
        agents::refuse("agent `http` with this request", &keys.options, hint)?;
    }
    for (name, value) in &keys.headers {
        let filled = agent.header(name, value, folder).under(name.as_str());
        agent = filled.under("headers").map_err(at)?;
    }
    let place = |key: &str, given: Option<String>, usual: String| match given {
        Some(place) if !place.is_empty() && !place.starts_with('/') => {
            let error = Error::usage(format!("`{key}: {place}` is not a JSON pointer"));
            let error = error.hint(format!("write `{key}: /{place}`"));
            Err(at(error).under(key))
        }
        place => Ok(place.unwrap_or(usual)),
    };
    let usual = Places::default();
    let answer = place("answer", keys.answer, usual.answer.unwrap_or_default())?;
    let places = Places {
        answer: (keys.output == HttpOutput::Json).then_some(answer),
        messages: place("messages", keys.messages, usual.messages)?,
        tool_calls: place("tool_calls", keys.tool_calls, usual.tool_calls)?,
        usage: place("usage", keys.usage, usual.usage)?,
        error: place("error", keys.error, usual.error)?,
    };
    let checked = variables::check_names(&keys.plain_env).under("plain_env");
    checked.map_err(at)?;
    let agent = agent
        .plain_env(keys.plain_env)
        .places(places)
        .max_output_bytes(surroundings.max_output_bytes);
    Ok(MadeAgent::new(agent, keys.options))
}
