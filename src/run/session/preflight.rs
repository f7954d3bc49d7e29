//! Checks and cleanup before anything is asked: whether agent and judges can be asked, and what killed runs left.

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use super::emitter::Emitter;
use crate::agent::recorded::recorder::Recorder;
use crate::error::Result;
use crate::eval::Eval;
use crate::eval::plan::Plan;
use crate::run::RunOrigin;
use crate::run::shard::trial_parts::gather_abandoned;
use crate::scorer::Scorer;
use crate::store::abandoned;
use crate::system::project::display;
use crate::text::shell_word;

/// Checks that the agent and the judges can be asked; returns notices.
pub(in crate::run) fn check_agents(plan: &Plan) -> Result<Vec<String>> {
    let eval = &plan.eval;
    let judges = plan.scorers.iter().flat_map(Scorer::agents);
    let mut notices: Vec<String> = Vec::new();
    let agents =
        iter::once((Arc::clone(&eval.agent), false)).chain(judges.map(|judge| (judge, true)));
    for (agent, is_judge) in agents {
        agent.check().map_err(|error| {
            let error = if is_judge { error.at("judge") } else { error };
            error.at(format_args!("eval `{}`", eval.name))
        })?;
        notices.extend(agent.notices());
    }
    // A judge may use the same agent.
    let mut seen = BTreeSet::new();
    notices.retain(|notice| seen.insert(notice.clone()));
    Ok(notices)
}

/// What records or replays the agent's calls of models, if the eval wants that; its port is known before a sandbox is made.
pub(in crate::run) fn recorder(plan: &Plan) -> Result<Option<Arc<Recorder>>> {
    let eval = &plan.eval;
    let Some(calls) = &eval.record else {
        return Ok(None);
    };
    let command = match &eval.spec {
        Some(spec) => format!("cargo evaltest run {} --record", shell_word(&display(spec))),
        None => "cargo evaltest run --record".to_owned(),
    };
    let folder = eval.record_folder(calls);
    let recorder = Recorder::start(calls, folder, plan.redactor.clone(), command);
    let recorder = recorder.map_err(|error| error.at(format_args!("eval `{}`", eval.name)))?;
    eval.agent
        .prepare_calls(Some(recorder.port()), recorder.only_replays());
    Ok(Some(recorder))
}

/// Removes leftovers of killed runs that paid for nothing, and reports it.
pub(in crate::run) fn tidy(eval: &Eval, origin: &RunOrigin, emitter: &Emitter) {
    let folder = matches!(origin, RunOrigin::New).then(|| eval.output_folder());
    for abandoned in folder.iter().map(|folder| abandoned::tidy(folder)) {
        for path in abandoned.removed {
            emitter.note(&format!(
                "`{}` was left by a killed run without answers: it is removed",
                display(&path)
            ));
        }
        for path in abandoned.in_doubt {
            emitter.note(&format!(
                "`{}` was left by a killed run without answers. It has other files too, so it stays",
                display(&path)
            ));
        }
    }
    for seen in folder.iter().flat_map(|folder| gather_abandoned(folder)) {
        emitter.note(&seen);
    }
}
