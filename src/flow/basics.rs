//! What was asked of whom, for the reports.

use std::path::Path;

use serde_json::Value;

use super::figures::{FlowBasics, FlowPlaces, FlowStage};
use super::generation::GeneratedStage;
use super::plan::CheckedFlow;
use super::state::FlowState;
use crate::system::project::shown;

/// What was asked of whom.
pub(super) fn basics(
    checked: &CheckedFlow,
    state: &FlowState,
    folder: &Path,
    made: &GeneratedStage,
) -> FlowBasics {
    let spec = &checked.spec;
    let run = |stage: FlowStage| {
        let state = state.stages.iter().find(|state| state.stage == stage)?;
        Some(shown(&folder.join(state.run_dir.as_ref()?)))
    };
    let configuration = &state.configuration;
    FlowBasics {
        name: spec.name.clone(),
        run_id: state.run_id.clone(),
        started_at: state.started_at.clone(),
        generator: described(&configuration["agent"]),
        judge: described(&configuration["judge"]["agent"]),
        judges_itself: spec.judges_itself,
        kinship: checked.kinship.clone(),
        reference: spec.reference().map(|reference| match reference {
            hub if hub.starts_with("hf://") => hub.to_owned(),
            path => shown(&spec.folder.join(path)),
        }),
        count: spec.count,
        seed: spec.seed,
        places: FlowPlaces {
            folder: shown(folder),
            items: made.items.as_deref().map(shown),
            generation: run(FlowStage::Generate),
            judge: run(FlowStage::Judge),
            winrate: run(FlowStage::Winrate),
        },
    }
}

/// An agent in a few words: its kind, and the model or the file that it names.
fn described(agent: &Value) -> String {
    let kind = agent.get("type").unwrap_or(agent);
    let kind = kind.as_str().unwrap_or("an agent");
    let named = ["model", "path", "command", "url"];
    let named = named.iter().find_map(|key| match agent.get(key)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    });
    match named {
        Some(named) => format!("{kind}: {named}"),
        None => kind.to_owned(),
    }
}
