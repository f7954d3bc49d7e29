#![doc = include_str!("none.md")]

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::Nobody;
use crate::data::ItemPart;
use crate::error::{Error, Result, Under};
use crate::eval::registry::recipe::Recipe;
use crate::eval::registry::{BuiltIn, MadeAgent};

pub(super) const ENTRY: Recipe<NoneKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "none",
        summary: "no agent: the item is the answer, for judging data",
        page: include_str!("none.md"),
    },
    make: |keys, _| {
        let shows = keys.shows.unwrap_or(ItemPart::ALL.to_vec());
        check(&shows).under("shows")?;
        Ok(MadeAgent::new(Nobody::new(shows), Map::new()))
    },
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct NoneKeys {
    /// `problem`, `answer` and `solution`, in the order in which they are shown; all of them by default.
    #[cfg_attr(feature = "schema", schemars(extend("minItems" = 1, "uniqueItems" = true)))]
    shows: Option<Vec<ItemPart>>,
}

/// The parts that the agent of a spec shows, if it is this one.
#[cfg(feature = "command")]
pub fn item_parts(agent: &Value) -> Option<Vec<ItemPart>> {
    let name = agent.as_str().or_else(|| agent.get("type")?.as_str());
    if name != Some(ENTRY.about.name) {
        return None;
    }
    let Some(shows) = agent.get("shows").and_then(Value::as_array) else {
        return Some(ItemPart::ALL.to_vec());
    };
    let names = shows.iter().filter_map(Value::as_str);
    Some(names.filter_map(ItemPart::named).collect())
}

/// They are shown in the given order, each once.
fn check(parts: &[ItemPart]) -> Result<()> {
    let twice = |(place, part): &(usize, &ItemPart)| parts[..*place].contains(part);
    if let Some((place, part)) = parts.iter().enumerate().find(twice) {
        let error = Error::usage(format!("`{}` is listed twice", part.name())).hint("remove one");
        return Err(error.under(place));
    }
    if parts.is_empty() {
        let legal = ItemPart::ALL.map(ItemPart::name).join(", ");
        let error = Error::usage("the judge sees no field of the items");
        return Err(error.hint(format!("write `shows: [{legal}]`")));
    }
    Ok(())
}
