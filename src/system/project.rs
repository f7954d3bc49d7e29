//! Finds the project's root, which contains its runs and its `.env`.

use std::path::{Path, PathBuf};

use crate::text::shell_word;

/// The package of the running test (`CARGO_MANIFEST_DIR` at run time), or else the current folder.
pub(crate) fn package_root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    manifest
        .filter(|folder| folder.is_dir())
        .unwrap_or_else(current)
}

fn current() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// The project's root: the cargo workspace around the running test or the current folder, or else the closest folder
/// above with `evals/`, or else that folder itself.
pub fn root() -> PathBuf {
    let start = package_root();
    root_of(&start).unwrap_or(start)
}

/// Whether this runs in CI, where a missing baseline is a failure: `CI` is set to something other than `0` or `false`.
pub fn is_ci() -> bool {
    !matches!(
        std::env::var("CI").as_deref(),
        Err(_) | Ok("" | "0" | "false")
    )
}

/// The root of the project around the current folder: its cargo workspace, or else the closest folder above with
/// `evals/`, or else the folder itself. `None` if the current folder does not exist.
pub fn current_root() -> Option<PathBuf> {
    let current = std::env::current_dir().ok()?;
    Some(root_of(&current).unwrap_or(current))
}

/// The project that contains `folder`: going upwards, the workspace of the first folder with a manifest, or the first
/// folder with `evals/`. The search stops at a repository's root and at the user's home, whose own `evals/` does not
/// apply to folders below.
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

/// The cargo workspace that contains `folder`: the closest manifest upwards with `[workspace]`, or else the closest
/// manifest.
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

/// The checkout as known to CI services: `GITHUB_WORKSPACE`, `CI_PROJECT_DIR`, or else the repository around the
/// current folder, or else the project's root.
pub fn workspace() -> PathBuf {
    let named = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].into_iter();
    let named = named.filter_map(|name| std::env::var_os(name).map(PathBuf::from));
    let start = current();
    // Ignore variables that point to a checkout elsewhere.
    let mut around = named.filter(|folder| start.starts_with(folder));
    let found = around.next();
    let found = found.or_else(|| repository(&start).map(Path::to_owned));
    found.unwrap_or_else(root)
}

/// The root of the git repository that contains `folder`, which must be absolute.
pub fn repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|at| at.join(".git").exists())
}

/// The next step for a file or folder that is to be committed: `git add PATH`, or `commit PATH` outside a repository.
pub fn commit_step(path: &Path) -> String {
    let place = path.canonicalize();
    let is_inside = place.is_ok_and(|place| repository(&place).is_some());
    let verb = if is_inside { "git add" } else { "commit" };
    format!("{verb} {}", shell_word(&display(path)))
}

/// A path for display: relative to the current folder if it is inside.
pub fn display(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    match path.strip_prefix(&current) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// `path` relative to `root`, if it is inside.
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
        // Neither the home folder nor folders above a repository are the project of what is below.
        check("home/plain/deep", None);
        check("home", Some("home"));
        check("repository/deep", None);
    }

    #[test]
    fn git_is_named_inside_a_repository_only() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path();
        fs::create_dir_all(top.join("repository/.git")).unwrap();
        for (folder, verb) in [("plain", "commit "), ("repository", "git add ")] {
            let deep = top.join(folder).join("deep");
            fs::create_dir_all(&deep).unwrap();
            let step = commit_step(&deep);
            assert!(step.starts_with(verb) && step.ends_with("deep"), "{step}");
        }
    }
}
