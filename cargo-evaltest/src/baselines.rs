//! Locates the snapshot folder of an eval: the only folder that `accept` writes to.
//!
//! A run directory may come from anywhere, so the folders in its manifest are used only if the project confirms them.

use std::path::{Path, PathBuf};

use evaltest::engine::eval::spec;
use evaltest::engine::store::{Manifest, RunDir};
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};
use evaltest::{Error, Result};

use crate::discover;

/// A file that every baseline has.
const BASELINE: &str = "_baseline.json";

/// The snapshot folder of a run's eval, which must belong to the project around the current folder.
///
/// It is that of the run's spec, if the spec lies in the project and still defines the eval; otherwise that of the
/// project's only spec with this name. Evals defined in Rust or by flags have no spec: for them it is a folder of the
/// project named `snapshots/EVAL`, or one that already contains a baseline.
pub(crate) fn snapshot_folder(dir: &RunDir, manifest: &Manifest) -> Result<PathBuf> {
    let root = discover::root()?;
    let root = real(&root).unwrap_or(root);
    if let Some(path) = spec::spec_of_run(manifest)
        && is_below(&root, &path)
        && let Ok(names) = spec::names(&path)
        && let Some(names) = names.of(&manifest.eval)
    {
        return Ok(names.snapshots.clone());
    }
    let specs = discover::find()?.specs;
    let named = specs.iter().filter_map(|path| spec::names(path).ok());
    let named = named.flat_map(|names| names.evals);
    let (mut own, others): (Vec<_>, Vec<_>) = named.partition(|names| names.eval == manifest.eval);
    match own.len() {
        0 => {}
        1 => return Ok(own.remove(0).snapshots),
        specs => {
            let message = format!(
                "{specs} specs of this project define eval `{}`, but the run belongs to none of them",
                clean(&manifest.eval)
            );
            return Err(Error::usage(message).hint(name_it(dir)));
        }
    }
    let folder = manifest.snapshot_folder();
    let is_called = folder.ends_with(Path::new("snapshots").join(&manifest.eval));
    let is_anothers = others
        .iter()
        .any(|names| real(&names.snapshots) == real(&folder));
    let is_own = (is_called || folder.join(BASELINE).is_file()) && !is_anothers;
    if is_own && is_below(&root, &folder) {
        return Ok(folder);
    }
    Err(Error::usage(format!(
        "this project has no snapshots of eval `{}`; its run keeps them in `{}`",
        clean(&manifest.eval),
        clean(&display(&folder))
    ))
    .hint(format!(
        "run `accept` in the eval's project, or {}",
        name_it(dir)
    )))
}

fn name_it(dir: &RunDir) -> String {
    format!(
        "name the folder: cargo evaltest accept {} --snapshots DIR",
        shell_word(&display(dir.path()))
    )
}

/// Whether a path lies in a folder after resolving symbolic links. The path need not exist.
fn is_below(root: &Path, path: &Path) -> bool {
    real(path).is_some_and(|path| path.starts_with(root) && path != root)
}

/// Resolves symbolic links in the existing part of a path and appends the rest.
fn real(path: &Path) -> Option<PathBuf> {
    let there = path
        .ancestors()
        .find_map(|part| Some((part, part.canonicalize().ok()?)));
    let (part, real) = there?;
    let rest = path.strip_prefix(part).ok()?;
    let is_plain = rest
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    // A dangling link exists and may lead outside.
    let is_new = path == part
        || path.strip_prefix(part).is_ok_and(|rest| {
            let first = rest.components().next();
            first.is_none_or(|first| part.join(first).symlink_metadata().is_err())
        });
    (is_plain && is_new).then(|| real.join(rest))
}
