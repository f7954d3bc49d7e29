//! Reads a cargo project where cargo is missing, as with the Python wheel: manifests are enough to find specs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item};

use serde_json::json;

use super::{Package, PackageMetadata};

/// The packages of a workspace with their specs; their test targets are listed in `excluded`.
pub(super) fn packages(root: &Path, excluded: &mut BTreeSet<String>) -> Vec<Package> {
    let mut tests = false;
    let mut packages = Vec::new();
    for (path, manifest) in manifests(root) {
        let of_package = manifest.get("package");
        let metadata = of_package.and_then(|package| package.get("metadata")?.get("evaltest"));
        tests |= metadata.is_some_and(|metadata| metadata.get("tests").is_some());
        let specs = metadata.and_then(|metadata| metadata.get("specs"));
        let name = of_package.and_then(|package| package.get("name")?.as_str());
        packages.push(Package {
            name: name.unwrap_or_default().to_owned(),
            manifest_path: path,
            targets: Vec::new(),
            metadata: Some(PackageMetadata {
                evaltest: Some(json!({ "specs": texts(specs) })),
            }),
        });
    }
    excluded.insert(if tests {
        "cargo is not installed: specs are found without it, evals in test targets are skipped"
            .to_owned()
    } else {
        "cargo is not installed: specs are found without it".to_owned()
    });
    packages
}

/// The readable manifests of the workspace.
fn manifests(root: &Path) -> BTreeMap<PathBuf, DocumentMut> {
    let read = |folder: &Path| {
        let path = folder.join("Cargo.toml");
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path, text.parse::<DocumentMut>().ok()?))
    };
    let top = read(root);
    let members = top
        .as_ref()
        .and_then(|(_, manifest)| manifest.get("workspace")?.get("members"));
    let members = texts(members)
        .into_iter()
        .filter_map(|member| glob::glob(&root.join(member).to_string_lossy()).ok())
        .flat_map(|folders| folders.flatten().collect::<Vec<_>>());
    let members: Vec<_> = members.filter_map(|folder| read(&folder)).collect();
    members.into_iter().chain(top).collect()
}

/// The strings of a list.
fn texts(item: Option<&Item>) -> Vec<String> {
    let items = item.and_then(Item::as_array).into_iter().flatten();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}
