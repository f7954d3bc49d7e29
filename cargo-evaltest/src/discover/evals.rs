//! Looks up a project's evals by name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use evaltest::engine::eval::spec;
use evaltest::engine::run::drive::Drive;
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, nearest, shell_word};
use evaltest::{Error, Result};

use super::has_end;
use super::{Discovered, TestTarget, find};
use crate::called;
use crate::target::evals_in;

/// Whether the text is a path rather than an eval's name.
pub(super) fn is_path(path: &Path) -> bool {
    has_end(path) || path.components().count() != 1
}

/// The evals of a project.
pub(super) struct ProjectEvals {
    /// Specs by eval name.
    specs: BTreeMap<String, Vec<PathBuf>>,
    /// Specs by variant name, for specs with several agents or prompts.
    variants: BTreeMap<String, Vec<PathBuf>>,
    /// Paths of all specs, for display.
    paths: Vec<String>,
    unreadable: Vec<UnreadableSpec>,
    tests: Vec<TestTarget>,
}

/// A spec that cannot be read.
struct UnreadableSpec {
    path: PathBuf,
    error: Error,
    /// Possible names of its eval.
    names: Vec<String>,
}

impl ProjectEvals {
    pub(super) fn read() -> Result<Self> {
        let found = find()?;
        let mut specs: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let mut variants: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let mut unreadable = Vec::new();
        for path in &found.specs {
            match spec::names(path) {
                Ok(names) => {
                    let others = names.evals.into_iter().map(|names| names.eval);
                    for name in others.filter(|name| *name != names.eval) {
                        variants.entry(name).or_default().push(path.clone());
                    }
                    specs.entry(names.eval).or_default().push(path.clone());
                }
                // Reported only if this spec is requested.
                Err(error) => unreadable.push(UnreadableSpec {
                    names: spec::likely_names(path),
                    path: path.clone(),
                    error,
                }),
            }
        }
        Ok(Self {
            specs,
            variants,
            paths: found.specs.iter().map(|path| display(path)).collect(),
            unreadable,
            tests: found.tests,
        })
    }

    /// Adds the eval of this name; false if there is none.
    ///
    /// # Errors
    /// If the spec that may define it cannot be read.
    pub(super) fn add(&mut self, path: &Path, found: &mut Discovered) -> Result<bool> {
        // Shell completion appends a slash to folder names.
        let name = path.to_string_lossy();
        let name = name.trim_end_matches('/');
        let whole = self.specs.get(name).map(|paths| (paths, None));
        let variant = self.variants.get(name).map(|paths| (paths, Some(name)));
        if let Some((paths, variant)) = whole.or(variant) {
            for path in paths {
                found.add_spec(path, variant);
            }
            return Ok(true);
        }
        if is_path(path) {
            return Ok(false);
        }
        let is_match = |spec: &UnreadableSpec| spec.names.iter().any(|known| known == name);
        if let Some(place) = self.unreadable.iter().position(is_match) {
            return Err(self.unreadable.swap_remove(place).error);
        }
        for test in &mut self.tests {
            // The evals of a target are known only after building it, unless the manifest lists them.
            let evals = match &test.evals {
                Some(evals) => evals,
                None => test.evals.insert(evals_in(test, &Drive::default())?),
            };
            if evals.iter().any(|eval| eval == name) {
                found.names.insert(name.to_owned());
                // Several packages may have a target of the same name.
                let is_test = |other: &TestTarget| {
                    (&other.package, &other.name) == (&test.package, &test.name)
                };
                if !found.tests.iter().any(is_test) {
                    found.tests.push(test.clone());
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The names of evals that are known without building.
    fn names(&self) -> Vec<&str> {
        let tests = self.tests.iter().flat_map(|test| &test.evals);
        let specs = self.specs.keys().chain(self.variants.keys());
        let names = specs.chain(tests.flatten()).map(String::as_str);
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether an eval of the project has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// The error for a name that was given for a run but has none; `None` if no eval could be meant.
    pub(super) fn without_run(&self, path: &Path, other: Option<&str>) -> Option<Error> {
        let name = clean(path.to_string_lossy().trim_end_matches('/'));
        let names = self.names();
        let hint = if names.contains(&name.as_str()) {
            format!(
                "eval `{name}` has no run yet: cargo evaltest run {}",
                shell_word(&name)
            )
        } else if names.is_empty() {
            return None;
        } else {
            format!(
                "name a run that `cargo evaltest runs` lists, or an eval of this project: `{}`",
                names.join("`, `")
            )
        };
        let last = match other {
            Some(other) => format!("an eval with runs, or {other}"),
            None => "or an eval with runs".to_owned(),
        };
        let message = format!("`{name}` is not a run directory, the id of a run, {last}");
        Some(Error::usage(message).hint(hint))
    }

    pub(super) fn unknown(&self, path: &Path) -> Error {
        let name = clean(&path.to_string_lossy());
        let error = Error::usage(if is_path(path) {
            format!("cannot read the spec `{name}`: no such file or folder")
        } else if called::has_command() {
            format!("`{name}` is not an eval, a spec or a folder of specs")
        } else {
            format!("`{name}` is not a command, an eval, a spec or a folder of specs")
        });
        let text = |what: &str, names: &[&str]| match names {
            [] => None,
            names => Some(format!("{what}: `{}`", names.join("`, `"))),
        };
        let evals = self.names();
        let paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        let known = if is_path(path) {
            text("the specs of this project", &paths)
        } else {
            text("the evals of this project", &evals)
        };
        // An unreadable spec may define the name; paths are listed anyway.
        let unreadable: Vec<_> = self.unreadable.iter().collect();
        let known = known.unwrap_or_else(|| match unreadable.as_slice() {
            [] => {
                "this project has no eval yet; `cargo evaltest init` writes an example".to_owned()
            }
            _ => "no eval of this project can be read".to_owned(),
        });
        let known = match unreadable.as_slice() {
            [first, ..] if !is_path(path) => {
                let first = clean(&display(&first.path));
                match unreadable.len() - 1 {
                    0 => format!("{known}; `{first}` cannot be read"),
                    more => format!("{known}; `{first}` and {more} more cannot be read"),
                }
            }
            _ => known,
        };
        let commands: Vec<&str> = if called::has_command() {
            Vec::new()
        } else {
            called::commands().collect()
        };
        let likely = unreadable.iter().flat_map(|spec| &spec.names);
        let candidates = evals
            .iter()
            .chain(&paths)
            .copied()
            .chain(likely.map(String::as_str))
            .chain(commands);
        match nearest(&name, candidates) {
            Some(near) => error.hint(format!("did you mean `{near}`? {known}")),
            None => error.hint(known),
        }
    }
}
