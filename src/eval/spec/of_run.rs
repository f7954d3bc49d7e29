//! Where the spec of a run is on this machine.

use std::path::PathBuf;

use super::names;
use crate::store::Manifest;
use crate::system::project::current_root;

/// That of the project around the current folder, where it is of the run's eval: a run directory may come from elsewhere,
/// and what is meant is the checkout in which it is looked at. Else the one that the run was made from, where that still
/// is. `None` for a run without a spec, and where neither is here.
pub fn spec_of_run(manifest: &Manifest) -> Option<PathBuf> {
    let inside = manifest.spec_in_project.as_ref();
    let here = inside.and_then(|inside| Some(current_root()?.join(inside)));
    let here = here.filter(|spec| spec.is_file());
    // Another project may have another eval in a file of this name.
    let is_of_run = |spec: &PathBuf| names(spec).is_ok_and(|names| names.eval == manifest.eval);
    let own = here.clone().filter(is_of_run);
    let there = manifest.spec.clone().filter(|spec| spec.is_file());
    own.or(there).or(here)
}
