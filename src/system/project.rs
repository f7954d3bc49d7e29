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

/// The root of the project: the cargo workspace around the running test or the current folder, else the folder above
/// them that has `evals/`, else that folder itself.
pub fn root() -> PathBuf {
    let start = package_root();
    root_of(&start).unwrap_or(start)
}

/// Whether this is continuous integration, where a missing baseline is a failure: `CI` is set, and not to
/// `0` or `false`.
pub fn is_ci() -> bool {
    !matches!(
        std::env::var("CI").as_deref(),
        Err(_) | Ok("" | "0" | "false")
    )
}

/// The root of the project around the current folder: its cargo workspace, else the folder above it that has
/// `evals/`, else the folder itself. `None` where there is no current folder any more.
pub fn current_root() -> Option<PathBuf> {
    let current = std::env::current_dir().ok()?;
    Some(root_of(&current).unwrap_or(current))
}

/// The project that holds `folder`: from the nearest folder upwards that has a manifest, the workspace; from one that
/// has `evals/` and no manifest, that folder. A repository's root ends the search, and so does a user's home, whose
/// own `evals/` is no project of what lies below.
pub fn root_of(folder: &Path) -> Option<PathBuf> {
    root_below(folder, std::env::home_dir().as_deref())
}

fn root_below(start: &Path, home: Option<&Path>) -> Option<PathBuf> {
    for folder in start.ancestors() {
        let is_home = Some(folder) == home && folder != start;
        if folder.join("Cargo.toml").is_file() {
            return workspace_root(folder);
        }
        if !is_home && folder.join("evals").is_dir() {
            return Some(folder.to_owned());
        }
        if is_home || folder.join(".git").exists() {
            return None;
        }
    }
    None
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

/// The checkout, as services of CI know it: `GITHUB_WORKSPACE`, `CI_PROJECT_DIR`, else the repository around the current
/// folder, else the project's root.
pub fn workspace() -> PathBuf {
    let named = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].into_iter();
    let named = named.filter_map(|name| std::env::var_os(name).map(PathBuf::from));
    let start = current();
    // Variables of a service whose checkout is elsewhere say nothing.
    let mut around = named.filter(|folder| start.starts_with(folder));
    let repository = || {
        start
            .ancestors()
            .find(|folder| folder.join(".git").exists())
    };
    let found = around.next().or_else(|| repository().map(Path::to_owned));
    found.unwrap_or_else(root)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_project_is_found_from_below() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path();
        for folder in [
            "evals",
            "home/evals",
            "home/plain/deep",
            "home/mine/evals/more",
            "home/mine/src",
            "home/crate/member/evals",
            "home/crate/python/evals",
            "repository/.git",
            "repository/deep",
        ] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(top.join("home/crate/Cargo.toml"), "[workspace]\n").unwrap();
        fs::write(top.join("home/crate/member/Cargo.toml"), "[package]\n").unwrap();
        let check = |from: &str, expect: Option<&str>| {
            let found = root_below(&top.join(from), Some(&top.join("home")));
            assert_eq!(found, expect.map(|expect| top.join(expect)), "{from}");
        };
        check("home/mine", Some("home/mine"));
        check("home/mine/src", Some("home/mine"));
        check("home/mine/evals/more", Some("home/mine"));
        check("home/crate/member/evals", Some("home/crate"));
        check("home/crate/python", Some("home/crate/python"));
        check("home/crate", Some("home/crate"));
        // Neither home nor what lies above a repository is the project of what lies below.
        check("home/plain/deep", None);
        check("home", Some("home"));
        check("repository/deep", None);
    }
}
