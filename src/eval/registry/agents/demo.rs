#![doc = include_str!("demo.md")]

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::demo::Demo;
use crate::eval::registry::agents;
use crate::eval::registry::recipe::Recipe;
use crate::eval::registry::{BuiltIn, MadeAgent};

pub(super) const ENTRY: Recipe<DemoKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "demo",
        summary: "a small agent that really works on easy questions",
        page: include_str!("demo.md"),
    },
    make: |keys, _| {
        agents::none_for("demo", &keys.options)?;
        Ok(MadeAgent::new(Demo, keys.options))
    },
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct DemoKeys {
    #[serde(default)]
    options: Map<String, Value>,
}
