//! Location of the CI workflow file, and the folder of the repository that it runs in.

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use evaltest::Result;
use evaltest::engine::system::project::{repository, root_of};
use evaltest::engine::text::clean;

use super::provenance::Provenance;
use super::{Writer, workflow};

/// CI services with a workflow template.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Ci {
    /// GitHub Actions
    Github,
    /// GitLab CI
    Gitlab,
}

/// Services read workflows at the top of the repository; evals may be in a subfolder.
#[derive(Debug, PartialEq, Eq)]
struct WorkflowPlace {
    /// Relative path from the current folder to the top, such as `../`; empty at the top.
    up: String,
    /// Relative path from the top to the project's folder, which contains the runs; empty at the top.
    inside: String,
    /// The current folder is not the project's and is in no repository.
    is_unsure: bool,
}

impl WorkflowPlace {
    fn of(current: &Path) -> Self {
        let repository = repository(current);
        let top = repository.unwrap_or(current);
        let project = root_of(current).unwrap_or_else(|| current.to_owned());
        let below = |folder: &Path| {
            let inside = folder.strip_prefix(top).ok()?;
            let names = inside.iter().map(|name| name.to_string_lossy());
            Some(names.collect::<Vec<_>>().join("/"))
        };
        let deep = current
            .strip_prefix(top)
            .map_or(0, |way| way.iter().count());
        Self {
            up: "../".repeat(deep),
            // Folders above the repository are not part of a checkout.
            inside: below(&project)
                .or_else(|| below(current))
                .unwrap_or_default(),
            is_unsure: repository.is_none() && project != current,
        }
    }
}

/// Writes a service's workflow at the top of the repository; returns the remaining steps.
pub(super) fn write(
    writer: &mut Writer,
    ci: Ci,
    origin: &Provenance,
    shards: Option<u32>,
) -> Result<Vec<String>> {
    let place = WorkflowPlace::of(&writer.root);
    let mut next = Vec::new();
    let (name, text, runs) = match ci {
        Ci::Github => (
            ".github/workflows/evaltest.yml",
            workflow::github(origin, &place.inside, shards),
            workflow::github_folder(&place.inside),
        ),
        Ci::Gitlab => {
            const WHOLE: &str = ".gitlab-ci.yml";
            const PART: &str = ".gitlab/evaltest.yml";
            let text = workflow::gitlab(origin, &place.inside, shards);
            let file = format!("{}{WHOLE}", place.up);
            let whole = fs::read_to_string(writer.root.join(&file)).ok();
            // Never overwrite the user's own file. A workflow with this line is ours even if it was edited.
            let is_ours = |old: &String| old.lines().any(|line| line == "evaltest:");
            let is_own = whole.as_ref().is_some_and(|old| !is_ours(old));
            if is_own && !whole.is_some_and(|old| old.contains(PART)) {
                next.push(format!("add to {file}: include: [{{ local: {PART} }}]"));
            }
            let name = if is_own { PART } else { WHOLE };
            (name, text, workflow::gitlab_folder(&place.inside))
        }
    };
    let file = format!("{}{name}", place.up);
    writer.create(&file, &text)?;
    let written = fs::read_to_string(writer.root.join(&file)).unwrap_or_default();
    if !written.contains(&runs) {
        let inside = clean(&place.inside);
        next.push(format!(
            "{file} exists already: let it run in `{inside}`, too"
        ));
    }
    // An existing workflow may install from elsewhere.
    if let Some(here) = origin.of_this_machine()
        && written.contains(&workflow::install(origin))
    {
        next.push(format!(
            "edit the install line in {file}: other machines do not have {}",
            clean(&here)
        ));
    }
    if place.is_unsure {
        next.push(format!(
            "move {name} to the repository's root, where the CI looks for it; no repository was found here"
        ));
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_is_that_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let make = |name: &str| fs::create_dir_all(top.join(name)).unwrap();
        let check = |from: &str, up: &str, inside: &str, is_unsure: bool| {
            let expect = WorkflowPlace {
                up: up.to_owned(),
                inside: inside.to_owned(),
                is_unsure,
            };
            assert_eq!(WorkflowPlace::of(&top.join(from)), expect, "{from}");
        };
        make("plain/deep");
        check("plain", "", "", false);
        make("plain/evals");
        check("plain/deep", "", "", true);
        make("python/.git");
        make("python/sub/evals");
        check("python", "", "", false);
        check("python/sub", "../", "sub", false);
        make("rust/.git");
        make("rust/crates/m/evals");
        check("rust/crates/m", "../../", "crates/m", false);
        fs::write(top.join("rust/Cargo.toml"), "[workspace]\n").unwrap();
        fs::write(top.join("rust/crates/m/Cargo.toml"), "[package]\n").unwrap();
        // Runs of a member are stored in the workspace.
        check("rust/crates/m", "../../", "", false);
        // A repository inside a workspace is checked out without the workspace.
        make("rust/crates/m/.git");
        check("rust/crates/m", "", "", false);
    }
}
