//! Where a project begins: the folder of its runs, and of its `.env`.

use std::path::{Path, PathBuf};

/// The package whose test is running (`CARGO_MANIFEST_DIR` at run time), else the current folder.
pub(crate) fn package_root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    manifest
        .filter(|folder| folder.is_dir())
        .unwrap_or_else(current)
}

fn current() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// The root of the project: the cargo workspace around the running test or the current folder, else that
/// folder itself.
pub fn root() -> PathBuf {
    let start = package_root();
    workspace_root(&start).unwrap_or(start)
}

/// Whether this is continuous integration, where a missing baseline is a failure: `CI` is set, and not to
/// `0` or `false`.
pub fn is_ci() -> bool {
    !matches!(
        std::env::var("CI").as_deref(),
        Err(_) | Ok("" | "0" | "false")
    )
}

/// The root of the project around the current folder: its cargo workspace, else the folder itself. `None`
/// where there is no current folder any more.
pub fn current_root() -> Option<PathBuf> {
    let current = std::env::current_dir().ok()?;
    Some(workspace_root(&current).unwrap_or(current))
}

/// The cargo workspace that holds `folder`: the nearest manifest upwards with `[workspace]`, else the
/// nearest manifest at all.
pub(crate) fn workspace_root(folder: &Path) -> Option<PathBuf> {
    let mut nearest = None;
    for folder in folder.ancestors() {
        if let Ok(manifest) = std::fs::read_to_string(folder.join("Cargo.toml")) {
            if manifest
                .lines()
                .any(|line| line.trim_start().starts_with("[workspace"))
            {
                return Some(folder.to_owned());
            }
            nearest = nearest.or_else(|| Some(folder.to_owned()));
        }
    }
    nearest
}

/// A path as short as it can be shown: relative to the current folder where it lies inside.
pub fn shown(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    match path.strip_prefix(&current) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// `path` relative to `root`, if it lies inside.
pub(crate) fn inside(root: &Path, path: &Path) -> Option<PathBuf> {
    path.strip_prefix(root).ok().map(Path::to_owned)
}
