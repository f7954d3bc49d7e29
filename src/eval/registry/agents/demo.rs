#![doc = include_str!("demo.md")]

use serde::Deserialize;
use serde_json::{Map, Value};

#[cfg(feature = "demo")]
use crate::agent::demo::Demo;
#[cfg(feature = "demo")]
use crate::eval::registry::agents;
use crate::eval::registry::recipe::Recipe;
use crate::eval::registry::{BuiltIn, MadeAgent};

pub(super) const ENTRY: Recipe<DemoKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "demo",
        summary: "a small agent that really works on easy questions",
        page: include_str!("demo.md"),
    },
    #[cfg(feature = "demo")]
    make: |keys, _| {
        agents::none_for("demo", &keys.options)?;
        Ok(MadeAgent::new(Demo, keys.options))
    },
    #[cfg(not(feature = "demo"))]
    make: |_, _| Err(crate::eval::registry::made_agent::without("demo", "demo")),
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(feature = "demo"), expect(dead_code, reason = "read, and refused"))]
pub(super) struct DemoKeys {
    #[serde(default)]
    options: Map<String, Value>,
}
