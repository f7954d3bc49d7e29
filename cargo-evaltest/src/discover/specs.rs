//! Finds the specs in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use evaltest::engine::eval::spec;
use evaltest::engine::system::project::{self, display};
use evaltest::engine::text::clean;
use evaltest::{Error, Result};
use walkdir::{DirEntry, WalkDir};

/// Adds the specs below `top`; files with a spec's extension that are no specs, and nested projects, are listed in
/// `excluded`.
pub(super) fn specs_below(
    top: &Path,
    specs: &mut BTreeSet<PathBuf>,
    excluded: &mut BTreeSet<String>,
) {
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
                "`{path}` is a project of its own and left out: cd {path}"
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
                "`{path}` is no eval spec and left out: it has neither `benchmark:` nor `agent:`"
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
pub(super) fn is_no_spec(path: &Path) -> bool {
    // Reading a pipe here would leave it empty for loading.
    path.is_file()
        && std::fs::read(path)
            .is_ok_and(|bytes| String::from_utf8(bytes).is_ok_and(|text| !spec::is_spec(&text)))
}

/// Whether a file has a spec's extension.
pub(super) fn has_end(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end == "yaml" || end == "yml")
}

/// Such as `._eval.yaml`, which other systems create, and editors' temporary files.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with('.')
}
