//! Detects test targets with evals that use libtest's harness, which would not run them.

use std::collections::BTreeSet;
use std::path::Path;

use evaltest::engine::system::project::display;
use evaltest::engine::text::clean;
use evaltest::{Error, Result};
use serde::Deserialize;
use toml_edit::{DocumentMut, Item};

use super::Package;

/// A target in cargo's metadata.
#[derive(Deserialize)]
pub(super) struct CargoTarget {
    name: String,
    kind: BTreeSet<String>,
    src_path: std::path::PathBuf,
}

/// Returns an error for a target that the manifest lists as one with evals but that uses libtest's harness; reports
/// others that look like one.
pub(super) fn check(
    package: &Package,
    named: &[&str],
    excluded: &mut BTreeSet<String>,
) -> Result<()> {
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
                "{manifest}: the test target `{name}` has no `harness = false`, so that its `main` is never called"
            ))
            .hint(format!("add {add}")));
        }
        if holds_main(&target.src_path) {
            let file = clean(&display(&target.src_path));
            excluded.insert(format!(
                "`{file}` calls `evaltest::run`, and nobody calls its `main`: add {add} to {manifest}"
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
