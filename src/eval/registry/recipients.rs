//! Which agents receive the options of a spec. Options without a receiver are a mistake: `--agent-option temperature=0`
//! is expected to have an effect.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

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
    let message = format!("{who} receives no options, so `{names}` would do nothing");
    Err(Error::usage(message).hint(hint).of_key("options"))
}
