#![doc = include_str!("demo.md")]

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::demo::Demo;
use crate::registry::recipe::Recipe;
use crate::registry::{BuiltIn, MadeAgent};

pub(super) const ENTRY: Recipe<Keys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "demo",
        summary: "a small agent that really works on easy questions",
        page: include_str!("demo.md"),
    },
    make: |keys, _| Ok(MadeAgent::new(Demo, keys.options)),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    #[serde(default)]
    options: Map<String, Value>,
}
