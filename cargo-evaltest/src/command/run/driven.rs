//! What test binaries left that a command drove.

use std::collections::BTreeSet;

use evaltest::engine::run::drive::Drive;
use evaltest::engine::run::rescore::as_judged;
use evaltest::engine::store::{RunDir, runs_in};
use evaltest::{Result, Run};
use serde_json::Value;

/// The runs of this command that are on disk and not among `known`, with the verdicts that they gave.
pub(super) fn results_of(drive: &Drive, known: &[Value]) -> Result<Vec<Run>> {
    let known: BTreeSet<_> = known
        .iter()
        .filter_map(|run| run["run_dir"].as_str())
        .collect();
    let destination = &drive.destination;
    let root = destination
        .output_root
        .as_ref()
        .or(destination.default_output_root.as_ref());
    let Some(root) = root else {
        return Ok(Vec::new());
    };
    let is_known = |dir: &RunDir| known.contains(dir.path().to_string_lossy().as_ref());
    let is_ours = |dir: &RunDir| {
        let manifest = dir.manifest();
        manifest.is_ok_and(|manifest| manifest.invocation == destination.invocation)
    };
    let dirs = runs_in(root).into_iter();
    let dirs = dirs.filter(|dir| !is_known(dir) && is_ours(dir));
    dirs.map(|dir| as_judged(&dir)).collect()
}
