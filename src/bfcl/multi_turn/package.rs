//! `Package`: the user's own `bfcl-eval`, and the Python that has it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::text::shell_word;

/// The version whose verdicts are known to be the official ones.
pub(super) const VERSION: &str = "2026.3.23";
/// What its simulators need besides.
const NEEDS: &str = "mpmath==1.3.0";

/// Prints where the package and its Python are.
const PROBE: &str = "\
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import importlib.metadata, importlib.util, json
found = {'python': list(sys.version_info[:2]), 'prefixes': [sys.prefix, sys.base_prefix]}
for module, package in [('bfcl_eval', 'bfcl-eval'), ('mpmath', 'mpmath')]:
    spec = importlib.util.find_spec(module)
    if spec is not None and spec.submodule_search_locations:
        found[module] = [list(spec.submodule_search_locations)[0], importlib.metadata.version(package)]
print(json.dumps(found))
";

/// The package `bfcl-eval` of a Python.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    /// The package's own folder.
    path: PathBuf,
    version: String,
    /// The folders of Python.
    prefixes: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Found {
    python: (u32, u32),
    prefixes: Vec<PathBuf>,
    bfcl_eval: Option<(PathBuf, String)>,
    mpmath: Option<(PathBuf, String)>,
}

impl Package {
    /// Asks a Python for its package; relative paths start in `folder`.
    ///
    /// # Errors
    /// If it cannot be run, or lacks the package.
    pub(crate) fn of(python: &Path, folder: &Path) -> Result<Self> {
        let program = if python.components().count() > 1 {
            folder.join(python)
        } else {
            python.to_owned()
        };
        let shown = python.display();
        let output = Command::new(&program)
            .args(["-c", PROBE])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                Error::usage(format!("`{shown}` cannot be run: {error}")).hint(
                    "name the Python that has the package `bfcl-eval`: `python: ../.venv/bin/python`",
                )
            })?;
        let found: Found = serde_json::from_slice(&output.stdout).map_err(|_| {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last = errors.trim().lines().last().unwrap_or_default().to_owned();
            Error::usage(format!("`{shown}` is not a working Python: {last}"))
                .hint("name a Python from 3.9 on: `python: ../.venv/bin/python`")
        })?;
        if found.python < (3, 9) {
            let (major, minor) = found.python;
            let error = Error::usage(format!("`{shown}` is Python {major}.{minor}"));
            return Err(error.hint("name a Python from 3.9 on: `python: ../.venv/bin/python`"));
        }
        let (Some((path, version)), Some((_, needed))) = (found.bfcl_eval, found.mpmath) else {
            let error = Error::usage(format!(
                "`{shown}` lacks the package `bfcl-eval`, whose simulators multi-turn categories need"
            ));
            return Err(error.hint(format!(
                "{} -m pip install --no-deps bfcl-eval=={VERSION} {NEEDS}",
                shell_word(&program.to_string_lossy())
            )));
        };
        Ok(Self {
            path,
            version: format!("{version}, mpmath {needed}"),
            prefixes: found.prefixes,
        })
    }

    /// The folders that its Python reads.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.prefixes.iter().chain([&self.path])
    }

    /// Its version, and that of what it needs.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The folder with the leaderboard's data.
    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// Whether its verdicts are known to be the official ones.
    pub(crate) fn notice(&self) -> Option<String> {
        let is_known = self.version.split(',').next() == Some(VERSION);
        (!is_known).then(|| {
            format!(
                "the package is bfcl-eval {}: verdicts were compared with those of {VERSION}",
                self.version
            )
        })
    }
}
