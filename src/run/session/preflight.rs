//! What is done before anybody is asked: who is to answer and to judge can be asked at all, and what killed runs left is
//! tidied up.

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

/// Finds out whether those who are to answer and to judge can be asked at all, and gives what is to be known of how.
pub(in crate::run) fn check_agents(plan: &Plan) -> Result<Vec<String>> {
    let eval = &plan.eval;
    let judges = plan.scorers.iter().flat_map(Scorer::agents);
    let mut notices: Vec<String> = Vec::new();
    for agent in iter::once(Arc::clone(&eval.agent)).chain(judges) {
        let check = agent.check();
        check.map_err(|error| error.at(format_args!("eval `{}`", eval.name)))?;
        notices.extend(agent.notices());
    }
    // A judge may be as the agent is.
    let mut told = BTreeSet::new();
    notices.retain(|notice| told.insert(notice.clone()));
    Ok(notices)
}

/// Removes what killed runs left that paid for nothing, and says so.
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
