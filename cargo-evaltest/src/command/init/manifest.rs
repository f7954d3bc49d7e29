//! Edits a user's `Cargo.toml` without changing its comments and layout.

use std::path::Path;

use evaltest::{Error, Result};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

use super::provenance::Provenance;

/// The additions to the manifest.
pub(super) struct ExampleTest<'a> {
    /// Name of the eval and of the test target.
    pub(super) name: &'a str,
    /// Whether answers are free, so that a plain `cargo test` may request them.
    pub(super) is_free: bool,
    /// Features of the library that the eval needs.
    pub(super) features: &'a [&'a str],
    /// Source of the library, if known.
    pub(super) origin: Option<Provenance>,
}

const TABLE: &str = "dev-dependencies";
const NAME: &str = "evaltest";

fn read(path: &Path) -> Result<DocumentMut> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    text.parse()
        .map_err(|error| Error::usage(format!("{}: {error}", path.display())))
}

/// Whether the manifest has a package and is not only a workspace.
pub(super) fn is_package(path: &Path) -> Result<bool> {
    Ok(read(path)?.contains_key("package"))
}

/// Whether a folder's manifest, if any, names evals outside `evals/`.
pub(super) fn names_evals(folder: &Path) -> Result<bool> {
    let path = folder.join("Cargo.toml");
    if !path.is_file() {
        return Ok(false);
    }
    let manifest = read(&path)?;
    let mut table = Some(manifest.as_item());
    for key in ["package", "metadata", "evaltest"] {
        table = table.and_then(|table| table.get(key));
    }
    Ok(table.is_some())
}

/// Whether cargo has the library, or can get it from where the command was installed.
pub(super) fn can_have_library(path: &Path, origin: Option<&Provenance>) -> Result<bool> {
    let manifest = read(path)?;
    let there = manifest.get(TABLE).and_then(|table| table.get(NAME));
    Ok(there.is_some() || dependency(origin, env!("CARGO_PKG_REPOSITORY")).is_some())
}

/// Adds the dev-dependency, the test target and the metadata; returns false if the target exists.
pub(super) fn add_test(path: &Path, example: &ExampleTest<'_>) -> Result<bool> {
    let name = example.name;
    let mut manifest = read(path)?;
    let broken = |key: &str| {
        Error::usage(format!(
            "{}: `{key}` is not what cargo expects",
            path.display()
        ))
        .hint("correct it and type `cargo evaltest init` again")
    };
    let tests = manifest
        .entry("test")
        .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let tests = tests
        .as_array_of_tables_mut()
        .ok_or_else(|| broken("test"))?;
    if tests
        .iter()
        .any(|test| test.get("name").and_then(Item::as_str) == Some(name))
    {
        return Ok(false);
    }
    let mut test = Table::new();
    test["name"] = value(name);
    test["harness"] = value(false);
    if !example.is_free {
        test["test"] = value(false);
        let note = " # asked only by name: cargo test --test NAME".replace("NAME", name);
        if let Some(item) = test["test"].as_value_mut() {
            item.decor_mut().set_suffix(note);
        }
    }
    tests.push(test);

    add_dependency(&mut manifest, example).map_err(broken)?;

    let package = manifest["package"]
        .as_table_mut()
        .ok_or_else(|| broken("package"))?;
    let metadata = package.entry("metadata").or_insert(implicit());
    let metadata = metadata
        .as_table_mut()
        .ok_or_else(|| broken("package.metadata"))?;
    let evaltest = metadata
        .entry("evaltest")
        .or_insert(Item::Table(Table::new()));
    let evaltest = evaltest
        .as_table_like_mut()
        .ok_or_else(|| broken("package.metadata.evaltest"))?;
    let tests = evaltest.entry("tests").or_insert(value(Array::new()));
    let tests = tests
        .as_array_mut()
        .ok_or_else(|| broken("package.metadata.evaltest.tests"))?;
    let mut entry = InlineTable::new();
    entry.insert("name", name.into());
    entry.insert("evals", Array::from_iter([name]).into());
    tests.push(entry);
    std::fs::write(path, manifest.to_string()).map_err(|error| Error::io("write", path, &error))?;
    Ok(true)
}

/// Adds the library, or more features of it; returns the conflicting key, if any.
fn add_dependency(
    manifest: &mut DocumentMut,
    example: &ExampleTest<'_>,
) -> std::result::Result<(), &'static str> {
    let table = manifest.entry(TABLE).or_insert(Item::Table(Table::new()));
    let is_inline = table.is_inline_table();
    let table = table.as_table_like_mut().ok_or(TABLE)?;
    let mut note = None;
    if table.get(NAME).is_none() {
        let (dependency, comment) =
            dependency(example.origin.as_ref(), env!("CARGO_PKG_REPOSITORY")).ok_or(TABLE)?;
        table.insert(NAME, dependency);
        note = comment;
    }
    if let Some(comment) = note {
        // An inline table cannot hold it.
        let key = if is_inline {
            manifest.key_mut(TABLE)
        } else {
            table.key_mut(NAME)
        };
        if let Some(mut key) = key {
            let decor = key.leaf_decor_mut();
            let before = decor.prefix().and_then(|text| text.as_str());
            let before = before.unwrap_or_default().to_owned();
            decor.set_prefix(format!("{before}{comment}\n"));
        }
    }
    let dependency = &mut manifest[TABLE][NAME];
    for feature in example.features {
        if !add_feature(dependency, feature) {
            return Err("dev-dependencies.evaltest");
        }
    }
    Ok(())
}

/// The dependency entry for the command's source, and remarks; `None` if cargo could not find the library there.
fn dependency(
    origin: Option<&Provenance>,
    repository: &str,
) -> Option<(Item, Option<&'static str>)> {
    let mut table = InlineTable::new();
    let mut note = None;
    match origin {
        Some(Provenance::Path(folder)) => {
            table.insert("path", folder.to_string_lossy().as_ref().into());
            note = Some(
                "# This path exists only on the machine where `evaltest init` ran; others need `version = \"…\"` or \
                 `git = \"…\"`.",
            );
        }
        Some(Provenance::Git { address, rev }) => {
            table.insert("git", address.as_str().into());
            if let Some(rev) = rev {
                table.insert("rev", rev.as_str().into());
            }
        }
        Some(Provenance::Registry) => return Some((value(env!("CARGO_PKG_VERSION")), None)),
        // A Python index has only the command.
        Some(Provenance::Index | Provenance::Wheel(_)) | None => {
            if repository.is_empty() {
                return None;
            }
            table.insert("git", repository.into());
        }
    }
    Some((value(table), note))
}

/// Enables a feature of a dependency if needed; false if the item is not a dependency.
fn add_feature(dependency: &mut Item, feature: &str) -> bool {
    if let Item::Value(Value::String(version)) = dependency {
        // Keep the comment after it.
        let decor = version.decor().clone();
        let mut table = InlineTable::new();
        table.insert("version", version.value().as_str().into());
        *table.decor_mut() = decor;
        *dependency = value(table);
    }
    let Some(dependency) = dependency.as_table_like_mut() else {
        return false;
    };
    let features = dependency.entry("features").or_insert(value(Array::new()));
    let Some(features) = features.as_array_mut() else {
        return false;
    };
    if !features.iter().any(|known| known.as_str() == Some(feature)) {
        features.push(feature);
    }
    true
}

/// A table without a header of its own.
fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_dependency_gets_the_demo_feature() {
        let check = |old: &str, expect: &str| {
            let mut manifest: DocumentMut = old.parse().unwrap();
            assert!(add_feature(
                &mut manifest["dev-dependencies"]["evaltest"],
                "demo"
            ));
            assert_eq!(manifest.to_string(), expect);
        };
        check(
            "[dev-dependencies]\nevaltest = \"0.1\" # ours\na = \"1\"\n",
            "[dev-dependencies]\nevaltest = { version = \"0.1\", features = [\"demo\"] } # ours\na = \"1\"\n",
        );
        check(
            "[dev-dependencies]\nevaltest = { path = \"..\", features = [\"http\"] }\n",
            "[dev-dependencies]\nevaltest = { path = \"..\", features = [\"http\", \"demo\"] }\n",
        );
        check(
            "[dev-dependencies.evaltest]\nworkspace = true\n",
            "[dev-dependencies.evaltest]\nworkspace = true\nfeatures = [\"demo\"]\n",
        );
        let there = "[dev-dependencies]\nevaltest = { path = \"..\", features = [\"demo\"] }\n";
        check(there, there);
        let dotted = "[dev-dependencies]\nevaltest.path = \"..\"\n";
        check(dotted, &format!("{dotted}evaltest.features = [\"demo\"]\n"));
    }

    #[test]
    fn unavailable_library_is_not_added() {
        let check = |origin: Option<&Provenance>, repository: &str, expect: Option<&str>| {
            let found = dependency(origin, repository).map(|(found, _)| found.to_string());
            assert_eq!(found.as_deref(), expect);
        };
        let wheel = Provenance::Wheel("/tmp/a.whl".to_owned());
        for origin in [Some(&wheel), Some(&Provenance::Index), None] {
            check(origin, "", None);
            let address = "https://example.org/e";
            check(origin, address, Some("{ git = \"https://example.org/e\" }"));
        }
        let path = Provenance::Path("/u/e".into());
        check(Some(&path), "", Some("{ path = \"/u/e\" }"));

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Cargo.toml");
        let has = |manifest: &str| {
            std::fs::write(&path, manifest).unwrap();
            can_have_library(&path, Some(&wheel)).unwrap()
        };
        let is_published = !env!("CARGO_PKG_REPOSITORY").is_empty();
        assert_eq!(has("[package]\nname = \"a\"\n"), is_published);
        assert!(has("[dev-dependencies]\nevaltest.path = \"..\"\n"));
    }

    #[test]
    fn evals_may_be_named_by_the_manifest_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!names_evals(folder.path()).unwrap());
        let check = |manifest: &str, expect: bool| {
            std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
            assert_eq!(names_evals(folder.path()).unwrap(), expect, "{manifest}");
        };
        check("[package]\nname = \"a\"\n", false);
        check("[package.metadata.other]\na = 1\n", false);
        check("[package.metadata.evaltest]\ntests = [\"a\"]\n", true);
    }
}
