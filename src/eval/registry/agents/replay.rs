#![doc = include_str!("replay.md")]

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::replay::Replay;
use crate::error::{Result, Under};
use crate::eval::registry::agents;
use crate::eval::registry::recipe::{Recipe, Surroundings};
use crate::eval::registry::{BuiltIn, MadeAgent};
use crate::system::file;

pub(super) const ENTRY: Recipe<ReplayKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "replay",
        summary: "recorded answers, of an earlier run or of a file",
        page: include_str!("replay.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayKeys {
    path: PathBuf,
    #[serde(default)]
    fields: ReplayFields,
    #[serde(default)]
    options: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayFields {
    /// The field with the sample's id.
    id: Option<String>,
    /// The field with the answer.
    answer: Option<String>,
}

fn make(keys: ReplayKeys, surroundings: &Surroundings<'_>) -> Result<MadeAgent> {
    agents::none_for("replay", &keys.options)?;
    let path = file::tidy(&surroundings.folder.join(&keys.path));
    let replay = Replay::open(
        &path,
        keys.fields.id.as_deref(),
        keys.fields.answer.as_deref(),
    )
    .under("path")?;
    Ok(MadeAgent::new(replay, keys.options))
}
