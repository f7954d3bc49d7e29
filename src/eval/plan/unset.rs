//! Variables for programs that are not set: reported before anything is paid for.

use std::collections::BTreeSet;

use super::scorers::scorers;
use crate::eval::Eval;
use crate::text::quoted;

/// The names in `env` of an eval's agent and scorers that have no value.
pub(crate) fn names(eval: &Eval) -> BTreeSet<String> {
    let scorers = scorers(eval);
    let of_scorers = scorers.iter().flat_map(|scorer| scorer.unset_variables());
    let of_agent = eval.agent.unset_variables().into_iter();
    of_agent.chain(of_scorers).collect()
}

/// A notice about them, no error: a program may work without some.
pub(crate) fn notice(eval: &Eval) -> Option<String> {
    let names = names(eval);
    if names.is_empty() {
        return None;
    }
    let them = if names.len() == 1 { "it" } else { "them" };
    Some(format!(
        "`env:` names {}, set neither in the environment nor in `.env`: the program starts without {them}",
        quoted(names.iter().map(String::as_str))
    ))
}
