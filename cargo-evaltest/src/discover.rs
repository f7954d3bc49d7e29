//! Finds evals: specs in `evals/`, and entries of `[package.metadata.evaltest]`; [`named()`] resolves arguments.
//!
//! ```toml
//! [package.metadata.evaltest]
//! specs = ["fixtures/*/*.yaml"]                       # besides evals/**/*.yaml
//! tests = ["mine", { name = "gaia", evals = ["gaia"] }] # test targets with `harness = false`
//! ```
//! Cargo's metadata does not show which test targets have `harness = false`, hence `tests`. If a target's evals are
//! listed and all have specs, it need not be built.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use evaltest::engine::eval::spec;
use evaltest::engine::system::project;
use evaltest::engine::system::project::display;
use evaltest::engine::text::clean;
use evaltest::{Error, Result};
use serde::Deserialize;
use serde_json::Value;
use toml_edit::{DocumentMut, Item};
use walkdir::{DirEntry, WalkDir};

use crate::console;
use metadata::TestEntry;

mod evals;
mod metadata;
mod named;
mod without_cargo;

pub(crate) use named::{is_eval, named, one_spec, typed, typed_specs, without_run};

/// The evals to run.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    /// Specs, sorted.
    pub(crate) specs: Vec<PathBuf>,
    /// Test targets.
    pub(crate) tests: Vec<TestTarget>,
    /// Evals of these targets that were given by name; the targets are included only for them.
    pub(crate) names: BTreeSet<String>,
    /// Variants that were given by name, for specs with several agents or prompts; other specs run all.
    pub(crate) variants: BTreeMap<PathBuf, ChosenEvals>,
    /// Files among the specs that are not specs, with the reason.
    pub(crate) excluded: BTreeSet<String>,
}

/// The selected evals of a spec.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChosenEvals {
    names: BTreeSet<String>,
    /// Whether the spec itself was given, too.
    all: bool,
}

impl Discovered {
    /// Whether an eval of a spec is selected.
    pub(crate) fn wants(&self, spec: &Path, eval: &str) -> bool {
        let chosen = self.variants.get(&real(spec));
        chosen.is_none_or(|chosen| chosen.all || chosen.names.contains(eval))
    }

    /// Adds a spec, or only one of its variants.
    fn add_spec(&mut self, spec: &Path, variant: Option<&str>) {
        let is_known = self.specs.iter().any(|known| real(known) == real(spec));
        if variant.is_none() && !is_known {
            self.specs.push(spec.to_owned());
            return;
        }
        let chosen = self
            .variants
            .entry(real(spec))
            .or_insert_with(|| ChosenEvals {
                all: is_known,
                ..ChosenEvals::default()
            });
        match variant {
            Some(name) => drop(chosen.names.insert(name.to_owned())),
            None => chosen.all = true,
        }
        if !is_known {
            self.specs.push(spec.to_owned());
        }
    }

    /// Whether there is nothing to run.
    pub(crate) fn is_empty(&self) -> bool {
        self.specs.is_empty() && self.tests.is_empty()
    }

    /// Prints the files that are not specs.
    pub(crate) fn note_excluded(&self) {
        for text in &self.excluded {
            console::note(text);
        }
    }
}

/// The canonical path, so that a file has only one.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A test target with evals.
#[derive(Clone, Debug)]
pub(crate) struct TestTarget {
    /// The package, as for cargo's `-p`.
    pub(crate) package: String,
    /// Path of the package's `Cargo.toml`.
    pub(crate) manifest: PathBuf,
    /// The target.
    pub(crate) name: String,
    /// Its evals, if the manifest lists them.
    pub(crate) evals: Option<Vec<String>>,
}

/// The project's folder: the cargo workspace around the current folder, or else the closest folder with `evals/`, or
/// else the current folder.
pub(crate) fn root() -> Result<PathBuf> {
    project::current_root().ok_or_else(|| {
        Error::usage("the current folder no longer exists").hint("cd to an existing folder")
    })
}

/// Finds all specs and test targets of the project.
pub(crate) fn find() -> Result<Discovered> {
    let root = root()?;
    let mut specs = BTreeSet::new();
    let mut tests = Vec::new();
    let mut excluded = BTreeSet::new();
    specs_below(&root.join("evals"), &mut specs, &mut excluded);
    if root.join("Cargo.toml").is_file() {
        let packages = match packages(&root)? {
            Some(packages) => packages,
            None => without_cargo::packages(&root, &mut excluded),
        };
        for package in packages {
            let folder = package.manifest_path.parent().unwrap_or(&root).to_owned();
            specs_below(&folder.join("evals"), &mut specs, &mut excluded);
            let metadata = package.metadata.as_ref();
            let metadata = metadata.and_then(|metadata| metadata.evaltest.as_ref());
            let metadata =
                metadata.map(|metadata| metadata::read(metadata, &package.manifest_path));
            let metadata = metadata.transpose()?.unwrap_or_default();
            let named: Vec<_> = metadata.tests.iter().map(TestEntry::name).collect();
            check(&package, &named, &mut excluded)?;
            for pattern in &metadata.specs {
                matching(&folder, pattern, &mut specs)?;
            }
            for test in metadata.tests {
                let (name, evals) = match test {
                    TestEntry::Name(name) => (name, None),
                    TestEntry::Table { name, evals } => (name, Some(evals)),
                };
                tests.push(TestTarget {
                    package: package.name.clone(),
                    manifest: package.manifest_path.clone(),
                    name,
                    evals,
                });
            }
        }
    }
    Ok(Discovered {
        specs: specs.into_iter().collect(),
        tests,
        excluded,
        ..Discovered::default()
    })
}

/// Whether `evals/` of this folder or of its project contains a spec.
pub(crate) fn has_specs(folder: &Path) -> bool {
    let project = project::root_of(folder);
    let mut specs = BTreeSet::new();
    for folder in [Some(folder), project.as_deref()].into_iter().flatten() {
        specs_below(&folder.join("evals"), &mut specs, &mut BTreeSet::new());
    }
    !specs.is_empty()
}

/// The error if there are no evals.
pub(crate) fn nothing_found() -> Error {
    Error::usage(
        "no evals found: no `evals/**/*.yaml`, and no `[package.metadata.evaltest]` in a manifest",
    )
    .hint("cargo evaltest init")
}

fn matching(folder: &Path, pattern: &str, specs: &mut BTreeSet<PathBuf>) -> Result<()> {
    let place = "package.metadata.evaltest.specs";
    let absolute = folder.join(pattern);
    let paths = glob::glob(&absolute.to_string_lossy())
        .map_err(|error| Error::usage(format!("{place}: `{pattern}` is not a pattern: {error}")))?;
    let before = specs.len();
    specs.extend(paths.flatten().filter(|path| path.is_file()));
    if specs.len() == before {
        return Err(Error::usage(format!(
            "{place}: no file matches `{pattern}` in `{}`",
            folder.display()
        ))
        .hint("correct the pattern or remove it"));
    }
    Ok(())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    #[serde(default)]
    targets: Vec<CargoTarget>,
    metadata: Option<PackageMetadata>,
}

#[derive(Deserialize)]
struct PackageMetadata {
    evaltest: Option<Value>,
}

/// The cargo that called this program, or `cargo`.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The packages of the project from cargo's metadata; `None` without cargo.
fn packages(root: &Path) -> Result<Option<Vec<Package>>> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        output => output.map_err(|error| Error::usage(format!("cannot run cargo: {error}")))?,
    };
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::usage(format!(
            "cargo cannot read the project in `{}`:\n{reason}",
            root.display()
        )));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| Error::usage(format!("cargo's metadata cannot be read: {error}")))?;
    Ok(Some(metadata.packages))
}

/// A target in cargo's metadata.
#[derive(Deserialize)]
struct CargoTarget {
    name: String,
    kind: BTreeSet<String>,
    src_path: std::path::PathBuf,
}

/// Returns an error for a target that the manifest lists as one with evals but that uses libtest's harness; reports
/// others that look like one.
fn check(package: &Package, named: &[&str], excluded: &mut BTreeSet<String>) -> Result<()> {
    let manifest = display(&package.manifest_path);
    let own = own_harness(&package.manifest_path);
    let tests = package
        .targets
        .iter()
        .filter(|target| target.kind.contains("test"));
    for target in tests.filter(|target| !own.contains(&target.name)) {
        let name = &target.name;
        let add = format!("`[[test]]` with `name = \"{name}\"` and `harness = false`");
        if named.contains(&name.as_str()) {
            return Err(Error::usage(format!(
                "{manifest}: the test target `{name}` has no `harness = false`, so its `main` is never called"
            ))
            .hint(format!("add {add}")));
        }
        if holds_main(&target.src_path) {
            let file = clean(&display(&target.src_path));
            excluded.insert(format!(
                "`{file}` calls `evaltest::run`, but its `main` is not called: add {add} to {manifest}"
            ));
        }
    }
    Ok(())
}

/// The tests of a manifest with `harness = false`. Cargo has already rejected unreadable manifests.
fn own_harness(manifest: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(manifest).unwrap_or_default();
    let document: DocumentMut = text.parse().unwrap_or_default();
    let tests = document.get("test").and_then(Item::as_array_of_tables);
    let own = tests
        .into_iter()
        .flatten()
        .filter(|test| test.get("harness").and_then(Item::as_bool) == Some(false));
    own.filter_map(|test| Some(test.get("name")?.as_str()?.to_owned()))
        .collect()
}

/// Whether a file has a `main` that runs evals.
fn holds_main(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut lines = text.lines();
    lines.any(|line| line.starts_with("fn main(")) && text.contains("evaltest::run(")
}

/// Adds the specs below `top`; files with a spec's extension that are no specs, and nested projects, are listed in
/// `excluded`.
fn specs_below(top: &Path, specs: &mut BTreeSet<PathBuf>, excluded: &mut BTreeSet<String>) {
    let root = project::root_of(top);
    let enters = |entry: &DirEntry| {
        if entry.depth() == 0 || !entry.file_type().is_dir() {
            return true;
        }
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy());
        if name.starts_with('.') || name == "node_modules" || path.join("CACHEDIR.TAG").is_file() {
            return false;
        }
        let is_other = path.join("Cargo.toml").is_file() && project::root_of(path) != root;
        if is_other {
            let path = clean(&display(path));
            excluded.insert(format!(
                "`{path}` is a separate project and is skipped: cd {path}"
            ));
        }
        !is_other
    };
    let files = WalkDir::new(top)
        .follow_links(true)
        .into_iter()
        .filter_entry(enters);
    let files: Vec<PathBuf> = files
        .flatten()
        .map(DirEntry::into_path)
        .filter(|path| path.is_file() && has_end(path) && !is_hidden(path))
        .collect();
    for path in files {
        if is_no_spec(&path) {
            let path = clean(&display(&path));
            excluded.insert(format!(
                "`{path}` is not an eval spec and is skipped: it has neither `benchmark:` nor `agent:`"
            ));
        } else {
            specs.insert(path);
        }
    }
}

/// Returns an error for two specs with the same name, which would share a baseline.
pub(crate) fn check_names<'a>(specs: impl IntoIterator<Item = (&'a str, &'a Path)>) -> Result<()> {
    let mut seen = BTreeMap::new();
    for (name, path) in specs {
        if let Some(other) = seen.insert(name, path) {
            return Err(Error::usage(format!(
                "two evals are called `{name}`: `{}` and `{}`",
                display(other),
                display(path)
            ))
            .hint("give one of them another `name:`"));
        }
    }
    Ok(())
}

/// Whether a file contains something other than a spec. Unreadable files fail when they are loaded.
fn is_no_spec(path: &Path) -> bool {
    // Reading a pipe here would leave it empty for loading.
    path.is_file()
        && std::fs::read(path)
            .is_ok_and(|bytes| String::from_utf8(bytes).is_ok_and(|text| spec::is_other(&text)))
}

/// Whether a file has a spec's extension.
fn has_end(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end == "yaml" || end == "yml")
}

/// Such as `._eval.yaml`, which other systems create, and editors' temporary files.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with('.')
}
