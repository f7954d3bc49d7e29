//! Checks and cleanup before anything is asked: whether agent and judges can be asked, and what killed runs left.

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use super::emitter::Emitter;
use crate::error::Result;
use crate::eval::Eval;
use crate::eval::plan::Plan;
use crate::run::Home;
use crate::run::shard::trial_parts::gather_left;
use crate::scorer::Scorer;
use crate::store::left;
use crate::system::project::shown;

/// Checks that the agent and the judges can be asked; returns notices.
pub(in crate::run) fn check_agents(plan: &Plan) -> Result<Vec<String>> {
    let eval = &plan.eval;
    let judges = plan.scorers.iter().flat_map(Scorer::agents);
    let mut notices: Vec<String> = Vec::new();
    for agent in iter::once(Arc::clone(&eval.agent)).chain(judges) {
        let check = agent.check();
        check.map_err(|error| error.at(format_args!("eval `{}`", eval.name)))?;
        notices.extend(agent.notices());
    }
    // A judge may use the same agent.
    let mut told = BTreeSet::new();
    notices.retain(|notice| told.insert(notice.clone()));
    Ok(notices)
}

/// Removes leftovers of killed runs that paid for nothing, and reports it.
pub(in crate::run) fn tidy(eval: &Eval, home: &Home, emitter: &Emitter) {
    let folder = matches!(home, Home::New).then(|| eval.output_folder());
    for left in folder.iter().map(|folder| left::tidy(folder)) {
        for path in left.removed {
            emitter.note(&format!(
                "`{}` was left by a killed run that had no answer yet: it is removed",
                shown(&path)
            ));
        }
        for path in left.in_doubt {
            emitter.note(&format!(
                "`{}` was left by a killed run that had no answer yet. Something else is in it, so it stays",
                shown(&path)
            ));
        }
    }
    for told in folder.iter().flat_map(|folder| gather_left(folder)) {
        emitter.note(&told);
    }
}
