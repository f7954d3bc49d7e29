//! `AgentIdentity`: the identity of the agent in a run, to tell whether two runs have the same agent.

use serde_json::{Map, Value};

use super::cached::fingerprint;
use crate::agent::replay::RECORDING;
use crate::eval::plan::Plan;
use crate::store::Manifest;
use crate::store::cache;
use crate::system::panics;
use crate::text::hash::MaskKey;

/// The identity of an agent.
#[derive(Default)]
pub(in crate::run) struct AgentIdentity {
    /// The hash as in the cache, with keys and options; for recordings, of their kind. `None` if the agent does not
    /// identify itself.
    pub(in crate::run) hash: Option<String>,
    /// The recordings that it replays; their answer hashes are masked where snapshots are.
    pub(in crate::run) recordings: Vec<String>,
}

impl AgentIdentity {
    /// The current agent.
    pub(in crate::run) fn of(plan: &Plan) -> Self {
        let eval = &plan.eval;
        let recordings = panics::catch(|| eval.agent.recordings()).unwrap_or_default();
        let spec = eval.config.get("agent").unwrap_or(&Value::Null);
        let hash = if recordings.is_empty() {
            let hash = |agent: &str| cache::agent_hash(agent, spec, &eval.agent_options);
            fingerprint(plan).map(|agent| hash(&agent))
        } else {
            // Another recording is the same agent on another day.
            let kind = spec.get("type").and_then(Value::as_str);
            let kind = kind.unwrap_or("replay");
            Some(cache::agent_hash(kind, &Value::Null, &Map::new()))
        };
        let key = plan.mask.as_ref().filter(|_| eval.masks_answers());
        let recordings = recordings.into_iter().map(|name| named(name, key));
        Self {
            hash,
            recordings: recordings.collect(),
        }
    }

    /// Whether a run was started by another agent. For an agent that does not identify itself, its keys in the spec
    /// decide.
    pub(in crate::run) fn is_another(&self, plan: &Plan, run: &Manifest) -> bool {
        match (&self.hash, &run.agent_hash) {
            (Some(now), Some(then)) => {
                let is_known = |recording| run.answers_of.contains(recording);
                now != then || !self.recordings.iter().all(is_known)
            }
            _ => plan.request_hash != run.request_hash,
        }
    }

    /// Records that this agent continues the run.
    pub(in crate::run) fn sign(&self, run: &mut Manifest) {
        run.agent_hash.clone_from(&self.hash);
        run.answers_of.extend(self.recordings.iter().cloned());
    }
}

/// The name of a recording in a run. Its hash covers the answers, so it is masked if snapshots are.
fn named(recording: String, key: Option<&MaskKey>) -> String {
    match (key, recording.strip_prefix(RECORDING)) {
        (Some(key), Some(hash)) => format!("masked {RECORDING}{}", key.short(["recording", hash])),
        _ => recording,
    }
}
