//! The built-in kinds of agents, as specs name them: one file with its page for each.
//!
//! To add one, write a file with its keys and its `ENTRY`, a page of Markdown with the same name, and add the name to
//! the list below.

// An entry missing from the list must be an error.
#![deny(dead_code)]

use serde_json::{Map, Value};

use super::Options;
use super::made_agent::MadeAgent;
use super::recipe::{Surroundings, entries, missing_feature, unknown};
use crate::error::{Error, Result, Under};

pub mod acp;
pub mod command;
#[cfg(feature = "demo")]
pub mod demo;
pub mod echo;
#[cfg(feature = "http")]
pub mod http;
pub mod none;
#[cfg(feature = "http")]
pub mod openai;
pub mod replay;
pub mod worker;

entries!(
    MadeAgent, of_own: command, worker, acp,
    #[cfg(feature = "http")] openai,
    #[cfg(feature = "http")] http,
    replay, echo,
    #[cfg(feature = "demo")] demo,
    none,
);

/// A registered agent.
fn of_own(
    name: &str,
    keys: Map<String, Value>,
    surroundings: &Surroundings<'_>,
) -> Result<MadeAgent> {
    if let Some(error) = missing_feature("agent", name) {
        return Err(error);
    }
    let registry = surroundings.registry;
    let common = keys.get("options").and_then(Value::as_object).cloned();
    let options = Options::new(format!("agent `{name}`"), keys, surroundings.folder);
    let agent = registry
        .make_agent(name, &options)
        .ok_or_else(|| unknown("agent", name, BUILT_IN, registry.agent_names()))?
        .or_under("type")?;
    Ok(MadeAgent::of(agent, common.unwrap_or_default()))
}

// Which agents receive the options of a spec. Options without a receiver are a mistake: `--agent-option temperature=0`
// is expected to have an effect.

/// The agents that receive options, for hints.
const RECIPIENTS: &str =
    "`command` with `input: json`, `worker`, `openai`, `http`, or one of your own";

/// Refuses options for an agent that ignores them.
///
/// # Errors
/// When there are options.
pub(super) fn none_for(agent: &str, options: &Map<String, Value>) -> Result<()> {
    let hint = format!("remove `options`, or name an agent that receives them: {RECIPIENTS}");
    refuse(&format!("agent `{agent}`"), options, &hint)
}

/// Refuses options that `who` does not receive; `hint` says what does.
///
/// # Errors
/// When there are options.
pub(super) fn refuse(who: &str, options: &Map<String, Value>, hint: &str) -> Result<()> {
    if options.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = options.keys().map(String::as_str).collect();
    let names = names.join("`, `");
    let message = format!("{who} receives no options, so `{names}` would have no effect");
    Err(Error::usage(message).hint(hint).of_key("options"))
}

#[cfg(test)]
mod tests {
    use super::super::confinement::UlimitKeys;
    use super::super::pages::check_row;
    use super::*;

    #[test]
    fn rows_name_the_keys_within() {
        check_row::<UlimitKeys>(&command::ENTRY.about, "ulimits");
        #[cfg(feature = "http")]
        check_row::<openai::PriceKeys>(&openai::ENTRY.about, "price");
        check_row::<replay::ReplayFields>(&replay::ENTRY.about, "fields");
    }
}
