//! Runs by the ids that messages print, and by the bare names of their folders.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use evaltest::Result;
use evaltest::engine::store::runs_in;

use crate::discover;
use crate::runs::output_roots;

/// The directory of the run that is named by its id or by the name of its folder; what was named where that is a path.
///
/// # Errors
/// A name that no run has, where the project has evals that may be meant.
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
    match found {
        Some(dir) => Ok(dir.path().to_owned()),
        None => discover::without_run(named).map_or_else(|| Ok(named.to_owned()), Err),
    }
}

/// A run directory as it is typed; a file of a run stands for the folder that it lies in.
pub(crate) fn typed_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| match path.parent() {
        Some(folder) if path.is_file() && folder.join("manifest.json").is_file() => match folder {
            folder if folder.as_os_str().is_empty() => PathBuf::from("."),
            folder => folder.to_owned(),
        },
        _ => path,
    })
}
