//! Variables that a spec names: from the environment, else from a `.env` file beside the workspace root.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::system::project;

/// Values for those of `names` that the environment lacks and the `.env` file has.
pub(crate) fn from_dot_env(names: &[String], folder: &Path) -> Result<BTreeMap<String, String>> {
    let missing = |name: &&String| std::env::var_os(name).is_none();
    let wanted: Vec<_> = names.iter().filter(missing).collect();
    let root = project::workspace_root(folder).unwrap_or_else(|| folder.to_owned());
    let path = root.join(".env");
    if wanted.is_empty() || !path.is_file() {
        return Ok(BTreeMap::new());
    }
    let entries = dotenvy::from_path_iter(&path)
        .map_err(|error| Error::usage(format!("cannot read `{}`: {error}", path.display())))?;
    let mut found = BTreeMap::new();
    for entry in entries {
        // The line may hold a secret, so the message must not.
        let (name, value) = entry.map_err(|_| {
            Error::usage(format!(
                "`{}` has a line that is not `NAME=value`",
                path.display()
            ))
        })?;
        if wanted.iter().any(|wanted| **wanted == name) {
            found.insert(name, value);
        }
    }
    Ok(found)
}
