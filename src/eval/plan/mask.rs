//! The parts of an eval that a baseline records besides its samples: the key of masked snapshots, and the prompt.

use serde_json::Value;

use super::hashes::truth_text;
use crate::error::Result;
use crate::eval::Eval;
use crate::text::hash::{Hasher, MaskKey};

/// The key of masked snapshots: a digest of all questions and answers of the dataset, independent of order and of the
/// part that is asked. Without all of them the key cannot be made, so answers cannot be guessed one by one.
pub(super) fn key(eval: &Eval) -> Result<MaskKey> {
    let mut samples = Vec::new();
    let loaded = eval.benchmark.each_unfiltered(&mut |sample| {
        let hash = Hasher::default().part(&sample.id).text(&sample.prompt);
        samples.push(hash.part(truth_text(&sample)).hex());
        Ok(())
    });
    loaded.map_err(|error| error.at(format_args!("eval `{}`", eval.name)))?;
    samples.sort_unstable();
    let all = Hasher::default().part("evaltest mask 1");
    Ok(MaskKey::of(samples.iter().fold(all, Hasher::part)))
}

/// Names what surrounds the questions: the instructions, and the system text of an endpoint's agent.
pub(super) fn prompt_name(eval: &Eval) -> String {
    let name = eval.prompt.name(&*eval.benchmark);
    let system = eval
        .config
        .get("agent")
        .and_then(|agent| agent.get("system"));
    match system.and_then(Value::as_str) {
        Some(system) if !system.is_empty() => {
            let hash = Hasher::default().part(system).short();
            format!("{name}, system {}", &hash[..8])
        }
        _ => name,
    }
}
