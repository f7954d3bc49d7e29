//! Variables that a spec names: from the environment, else from a `.env` file in the project's root, else, outside of
//! cargo projects, from one beside the spec.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::system::project;
use crate::text::redact::MIN_SECRET;

/// Values for those of `names` that the environment lacks and the `.env` file has.
///
/// # Errors
/// One that is no name, and files that cannot be read.
pub(crate) fn from_dot_env(names: &[String], folder: &Path) -> Result<BTreeMap<String, String>> {
    check_names(names)?;
    let missing = |name: &&String| std::env::var_os(name).is_none();
    let wanted: Vec<_> = names.iter().filter(missing).collect();
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut found = BTreeMap::new();
    for path in files(folder) {
        read(&path, &wanted, &mut found)?;
    }
    Ok(found)
}

/// Names whose values are no secrets and stand in many an answer, such as a language or a user.
const PLAIN: [&str; 24] = [
    "CI",
    "COLUMNS",
    "EDITOR",
    "HOME",
    "HOSTNAME",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOGNAME",
    "OLDPWD",
    "PATH",
    "PWD",
    "PYTHONPATH",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "SHELL",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "VIRTUAL_ENV",
];
/// Beginnings of such names.
const PLAIN_PREFIXES: [&str; 2] = ["LC_", "SSL_CERT_"];

/// Whether the value of a variable is no secret: it is too short, its name is a usual one or in `plain`, or it is an
/// absolute path that exists. A relative one would be a secret or not by the folder in which it is looked for.
pub(crate) fn is_plain(name: &str, value: &str, plain: &[String]) -> bool {
    value.len() < MIN_SECRET
        || PLAIN.contains(&name)
        || PLAIN_PREFIXES.iter().any(|start| name.starts_with(start))
        || plain.iter().any(|plain| plain == name)
        || Path::new(value).is_absolute() && Path::new(value).exists()
}

/// Whether variables can have these names.
///
/// # Errors
/// One that is none.
pub(crate) fn check_names(names: &[String]) -> Result<()> {
    let mut names = names.iter().enumerate();
    names.try_for_each(|(item, name)| check_name(name).map_err(|error| error.under(item)))
}

/// Whether a variable can have this name. A value that stands beside it may be a secret, so the message has none of it.
fn check_name(name: &str) -> Result<()> {
    if let Some((name, _)) = name.split_once('=') {
        let name = if name.is_empty() { "NAME" } else { name };
        let message = format!("`{name}=…` is no name of a variable: a list of names has no values");
        return Err(Error::usage(message).hint(format!(
            "write `{name}` alone, and its value into `.env`: `{name}=value`"
        )));
    }
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '\0') {
        return Err(Error::usage(format!("{name:?} is no name of a variable"))
            .hint("write the name of a variable, such as `MY_API_KEY`"));
    }
    Ok(())
}

/// The files that are there, the first one first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let root = project::root_of(folder);
    // What stands in no manifest's project had its file beside the spec.
    let is_cargo = |root: &PathBuf| root.join("Cargo.toml").is_file();
    let beside = (!root.as_ref().is_some_and(is_cargo)).then(|| folder.to_owned());
    let folders = root.into_iter().chain(beside);
    let mut files: Vec<_> = folders.map(|folder| folder.join(".env")).collect();
    files.dedup();
    files.retain(|path| path.is_file());
    files
}

/// Adds the values of a file for wanted names that have none yet.
fn read(path: &Path, wanted: &[&String], found: &mut BTreeMap<String, String>) -> Result<()> {
    let entries = dotenvy::from_path_iter(path)
        .map_err(|error| Error::usage(format!("cannot read `{}`: {error}", path.display())))?;
    let before: BTreeSet<_> = found.keys().cloned().collect();
    for entry in entries {
        // The line may hold a secret, so the message must not.
        let (name, value) = entry.map_err(|_| {
            Error::usage(format!(
                "`{}` has a line that is not `NAME=value`",
                path.display()
            ))
        })?;
        if wanted.iter().any(|wanted| **wanted == name) && !before.contains(&name) {
            found.insert(name, value);
        }
    }
    Ok(())
}
