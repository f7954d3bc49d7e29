//! Resolves arguments that name specs: a file, a folder of specs, or the name of an eval.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evaltest::engine::system::project::display;
use evaltest::engine::text::clean;
use evaltest::{Error, Result};

use super::Discovered;
use super::evals::{ProjectEvals, is_path};
use super::{is_no_spec, specs_below};

/// The given specs, and the test targets of given evals without a spec. A path with specs takes precedence over a
/// name: data folders are often named like their eval.
pub(crate) fn named(typed: &[PathBuf]) -> Result<Discovered> {
    let mut found = Discovered::default();
    let mut project = None;
    for path in typed {
        if path.is_dir() {
            let (mut specs, mut excluded) = (BTreeSet::new(), BTreeSet::new());
            specs_below(path, &mut specs, &mut excluded);
            if !specs.is_empty() {
                for spec in &specs {
                    found.add_spec(spec, None);
                }
                found.excluded.extend(excluded);
            } else if !add_named(path, &mut project, &mut found)? {
                return Err(no_specs(path, &excluded));
            }
        } else if path.exists() {
            if !(is_no_spec(path) && add_named(path, &mut project, &mut found)?) {
                found.add_spec(path, None);
            }
        } else {
            let project = of_project(&mut project)?;
            if !project.add(path, &mut found)? {
                return Err(project.unknown(path));
            }
        }
    }
    Ok(found)
}

/// Like [`named`], for commands that need specs.
pub(crate) fn typed_specs(paths: &[PathBuf], what: &str) -> Result<Vec<PathBuf>> {
    Ok(typed(paths, what)?.specs)
}

/// The same, with the given variants.
pub(crate) fn typed(paths: &[PathBuf], what: &str) -> Result<Discovered> {
    let found = named(paths)?;
    found.note_excluded();
    if let (Some(name), Some(test)) = (found.names.first(), found.tests.first()) {
        return Err(Error::usage(format!(
            "eval `{name}` is defined in the test target `{}`, but {what} needs a spec",
            test.name
        ))
        .hint("cargo evaltest list"));
    }
    Ok(found)
}

/// Like [`typed_specs`], for one spec.
pub(crate) fn one_spec(typed: &PathBuf) -> Result<PathBuf> {
    let mut specs = typed_specs(std::slice::from_ref(typed), "`--spec`")?;
    match (specs.pop(), specs.pop()) {
        (Some(one), None) => Ok(one),
        _ => Err(
            Error::usage(format!("`{}` has several specs", display(typed)))
                .hint("name one of them: `--spec FILE`"),
        ),
    }
}

/// The error for a name that was given for a run, or for something else, but has none; it lists the evals.
pub(crate) fn without_run(typed: &Path, other: Option<&str>) -> Option<Error> {
    ProjectEvals::read().ok()?.without_run(typed, other)
}

/// Whether an eval of the project has this name.
pub(crate) fn is_eval(name: &str) -> bool {
    ProjectEvals::read().is_ok_and(|evals| evals.has(name))
}

/// Adds the eval of this name, if any, when something else has the name too.
fn add_named(
    path: &Path,
    project: &mut Option<ProjectEvals>,
    found: &mut Discovered,
) -> Result<bool> {
    if is_path(path) {
        return Ok(false);
    }
    of_project(project)?.add(path, found)
}

fn of_project(project: &mut Option<ProjectEvals>) -> Result<&mut ProjectEvals> {
    match project {
        Some(project) => Ok(project),
        None => Ok(project.insert(ProjectEvals::read()?)),
    }
}

fn no_specs(folder: &Path, excluded: &BTreeSet<String>) -> Error {
    let display = clean(&display(folder));
    let error = Error::usage(format!("no eval spec found in `{display}`"));
    match excluded.first() {
        Some(text) => error.hint(text.as_str()),
        None => error.hint("specs are `.yaml` files; `cargo evaltest init` writes an example"),
    }
}
