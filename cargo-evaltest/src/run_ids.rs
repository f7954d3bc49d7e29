//! Runs by the ids that messages print, and by the bare names of their folders.

use std::path::{Path, PathBuf};

use evaltest::Result;
use evaltest::engine::store::runs_in;

use crate::runs::output_roots;

/// The directory of the run that is named by its id or by the name of its folder; what was named where there is none.
pub(crate) fn found(named: &Path) -> Result<PathBuf> {
    if named.components().count() != 1 || named.exists() {
        return Ok(named.to_owned());
    }
    let name = named.to_string_lossy();
    let mut runs = output_roots()?.into_iter().flat_map(|root| runs_in(&root));
    let found = runs.find(|dir| {
        dir.path().file_name() == Some(named.as_os_str())
            || dir.manifest().is_ok_and(|manifest| manifest.run_id == name)
    });
    Ok(found.map_or_else(|| named.to_owned(), |dir| dir.path().to_owned()))
}
