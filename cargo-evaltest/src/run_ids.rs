//! Finds runs by id, folder name or a unique part of the name.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use evaltest::engine::store::{RunDir, files, runs_in};
use evaltest::engine::text::clean;
use evaltest::{Error, Result};

use crate::discover;
use crate::runs::output_roots;

/// The directory of the run with this id, folder name or unique part of a name; a path is returned unchanged.
///
/// # Errors
/// If no run has the name but the project has evals that may be meant, or if several runs have the part.
pub(crate) fn found(named: &Path) -> Result<PathBuf> {
    found_or(named, None)
}

/// Like [`found`], for a name that may also mean something else, which the error mentions.
pub(crate) fn found_or(named: &Path, other: Option<&str>) -> Result<PathBuf> {
    if named.components().count() != 1 || named.exists() {
        return Ok(named.to_owned());
    }
    let name = named.to_string_lossy();
    let runs: Vec<_> = output_roots()?
        .iter()
        .flat_map(|root| runs_in(root))
        .collect();
    let found = runs.iter().find(|dir| {
        dir.path().file_name() == Some(named.as_os_str())
            || dir.manifest().is_ok_and(|manifest| manifest.run_id == name)
    });
    if let Some(dir) = found {
        return Ok(dir.path().to_owned());
    }
    // The name of an eval without runs must not match a longer eval name.
    let is_part = |dir: &&RunDir| folder(dir).contains(&*name);
    let mut similar: Vec<_> = runs.iter().filter(is_part).collect();
    if !similar.is_empty() && discover::is_eval(&name) {
        similar.clear();
    }
    match &*similar {
        [one] => Ok(one.path().to_owned()),
        [] => discover::without_run(named, other).map_or_else(|| Ok(named.to_owned()), Err),
        several => Err(ambiguous(&name, several)),
    }
}

fn folder(dir: &RunDir) -> Cow<'_, str> {
    dir.path().file_name().unwrap_or_default().to_string_lossy()
}

fn ambiguous(name: &str, runs: &[&RunDir]) -> Error {
    const NAMED: usize = 5;
    let names: Vec<_> = runs
        .iter()
        .rev()
        .take(NAMED)
        .map(|dir| folder(dir))
        .collect();
    let more = match runs.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("`{name}` matches the names of {} runs", runs.len());
    let hint = format!("name one of them: `{}`{more}", names.join("`, `"));
    Error::usage(clean(&message)).hint(clean(&hint))
}

/// Parses a run directory; for a file in a run directory, returns the directory.
pub(crate) fn typed_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| match path.parent() {
        Some(folder) if path.is_file() && folder.join(files::MANIFEST).is_file() => match folder {
            folder if folder.as_os_str().is_empty() => PathBuf::from("."),
            folder => folder.to_owned(),
        },
        _ => path,
    })
}
