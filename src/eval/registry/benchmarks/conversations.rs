#![doc = include_str!("conversations.md")]

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use crate::benchmark::Benchmark;
use crate::benchmark::conversations::Conversations;
use crate::error::Result;
use crate::eval::registry::BuiltIn;
use crate::eval::registry::recipe::{Recipe, Surroundings};

pub(super) const ENTRY: Recipe<ConversationsKeys, Arc<dyn Benchmark>> = Recipe {
    about: BuiltIn {
        name: "conversations",
        summary: "conversations of several turns, written down or with a simulated user",
        page: include_str!("conversations.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ConversationsKeys {
    path: PathBuf,
    ids: Option<Vec<String>>,
}

fn make(keys: ConversationsKeys, surroundings: &Surroundings<'_>) -> Result<Arc<dyn Benchmark>> {
    let conversations = surroundings.open(&keys.path, Conversations::open)?;
    Ok(Arc::new(match keys.ids {
        Some(ids) => conversations.ids(ids),
        None => conversations,
    }))
}
