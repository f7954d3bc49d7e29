//! Finds the spec of a run on this machine.

use std::path::PathBuf;

use super::{names, parse};
use crate::error::Result;
use crate::eval::Eval;
use crate::eval::registry::Registry;
use crate::store::Manifest;
use crate::system::project::current_root;
use crate::text::setting::Override;

/// The eval of a run whose spec is missing, from the manifest alone.
pub fn of_config(manifest: &Manifest, registry: &Registry, overrides: &[Override]) -> Result<Eval> {
    let path = manifest.spec.clone().unwrap_or_default();
    // Which of several agents it is, is fixed.
    let is_decided = |change: &&Override| {
        let mut keys = change.key.split('.');
        !keys
            .next()
            .is_some_and(|key| key == "agents" || key == "prompts")
    };
    let overrides: Vec<_> = overrides.iter().filter(is_decided).cloned().collect();
    let mut eval = parse(&manifest.config.to_string(), &path, registry, &overrides)?;
    if let Some(variant) = &manifest.variant {
        eval.name = format!("{}{variant}", eval.name);
        eval.variant = variant.clone();
        eval.snapshot.folder.clone_from(&manifest.snapshots);
    }
    Ok(eval)
}

/// The spec in the project around the current folder, if it is of the run's eval: a run directory may come from
/// elsewhere, and the current checkout is meant. Else the one that the run was made from, if it exists. `None` for a
/// run without a spec, and if neither exists.
pub fn spec_of_run(manifest: &Manifest) -> Option<PathBuf> {
    let inside = manifest.spec_in_project.as_ref();
    let here = inside.and_then(|inside| Some(current_root()?.join(inside)));
    let here = here.filter(|spec| spec.is_file());
    // Another project may have another eval in a file of this name.
    let is_of_run =
        |spec: &PathBuf| names(spec).is_ok_and(|names| names.of(&manifest.eval).is_some());
    let own = here.clone().filter(is_of_run);
    let there = manifest.spec.clone().filter(|spec| spec.is_file());
    own.or(there).or(here)
}
