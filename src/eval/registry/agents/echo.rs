#![doc = include_str!("echo.md")]

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::echo::Echo;
use crate::eval::registry::agents;
use crate::eval::registry::recipe::Recipe;
use crate::eval::registry::{BuiltIn, MadeAgent};

pub(super) const ENTRY: Recipe<EchoKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "echo",
        summary: "the question itself, or a fixed text",
        page: include_str!("echo.md"),
    },
    make: |keys, _| {
        agents::none_for("echo", &keys.options)?;
        Ok(MadeAgent::new(Echo::new(keys.text), keys.options))
    },
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct EchoKeys {
    text: Option<String>,
    #[serde(default)]
    options: Map<String, Value>,
}
