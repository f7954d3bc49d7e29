//! Variables named in a spec: from the environment, or else from a `.env` file in the project's root, or else, outside
//! of cargo projects, from one next to the spec.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::system::project;
use crate::text::redact::MIN_SECRET;

/// Values from the `.env` file for those of `names` that the environment lacks.
///
/// # Errors
/// For invalid names and unreadable files.
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

/// Names whose values are not secret and common in answers, such as a language or a user.
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
/// Prefixes of such names.
const PLAIN_PREFIXES: [&str; 2] = ["LC_", "SSL_CERT_"];

/// Whether a variable's value is not secret: it is short, its name is well known or in `plain`, or it is an existing
/// absolute path. For relative paths the result would depend on the folder.
pub(crate) fn is_plain(name: &str, value: &str, plain: &[String]) -> bool {
    value.len() < MIN_SECRET
        || PLAIN.contains(&name)
        || PLAIN_PREFIXES.iter().any(|start| name.starts_with(start))
        || plain.iter().any(|plain| plain == name)
        || Path::new(value).is_absolute() && Path::new(value).exists()
}

/// Checks that these are valid variable names.
///
/// # Errors
/// For an invalid one.
pub(crate) fn check_names(names: &[String]) -> Result<()> {
    let mut names = names.iter().enumerate();
    names.try_for_each(|(item, name)| check_name(name).map_err(|error| error.under(item)))
}

/// Checks a variable name. The text may contain a secret value, so the message omits it.
fn check_name(name: &str) -> Result<()> {
    if let Some((name, _)) = name.split_once('=') {
        let name = if name.is_empty() { "NAME" } else { name };
        let message = format!(
            "`{name}=…` is not the name of a variable: the list takes names without values"
        );
        return Err(Error::usage(message).hint(format!(
            "write only `{name}`, and its value into `.env`: `{name}=value`"
        )));
    }
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '\0') {
        return Err(
            Error::usage(format!("{name:?} is not the name of a variable"))
                .hint("write the name of a variable, such as `MY_API_KEY`"),
        );
    }
    Ok(())
}

/// The existing files, in order of precedence.
fn files(folder: &Path) -> Vec<PathBuf> {
    let root = project::root_of(folder);
    // Outside of cargo projects the file is next to the spec.
    let is_cargo = |root: &PathBuf| root.join("Cargo.toml").is_file();
    let spec_dir = (!root.as_ref().is_some_and(is_cargo)).then(|| folder.to_owned());
    let folders = root.into_iter().chain(spec_dir);
    let mut files: Vec<_> = folders.map(|folder| folder.join(".env")).collect();
    files.dedup();
    files.retain(|path| path.is_file());
    files
}

/// Adds values from a file for wanted names without a value.
fn read(path: &Path, wanted: &[&String], found: &mut BTreeMap<String, String>) -> Result<()> {
    let text = std::fs::read(path)
        .map_err(|error| Error::usage(format!("cannot read `{}`: {error}", path.display())))?;
    // A byte order mark, as editors on Windows write it, would be a part of the first name.
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
    let entries = dotenvy::from_read_iter(text);
    let before: BTreeSet<_> = found.keys().cloned().collect();
    for entry in entries {
        // The line may contain a secret, so the message must not quote it.
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
