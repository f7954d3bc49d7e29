//! Changing a user's `Cargo.toml` without touching its comments and layout.

use std::path::Path;

use evaltest::{Error, Result};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

use super::checkout;

/// What the example asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExampleAgent {
    /// Comes with the library, behind a feature of it.
    Demo,
    /// Of the user's own; an answer may cost money.
    Program,
}

fn read(path: &Path) -> Result<DocumentMut> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    text.parse()
        .map_err(|error| Error::usage(format!("{}: {error}", path.display())))
}

/// Whether the manifest is of a package and not only of a workspace.
pub(super) fn is_package(path: &Path) -> Result<bool> {
    Ok(read(path)?.contains_key("package"))
}

/// Adds the dev-dependency, the test target and the metadata; false if the target was there.
pub(super) fn add_test(path: &Path, name: &str, agent: ExampleAgent) -> Result<bool> {
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
    if agent == ExampleAgent::Program {
        test["test"] = value(false);
        let note = " # asked only by name: cargo test --test NAME".replace("NAME", name);
        if let Some(item) = test["test"].as_value_mut() {
            item.decor_mut().set_suffix(note);
        }
    }
    tests.push(test);

    let dependencies = manifest
        .entry("dev-dependencies")
        .or_insert(Item::Table(Table::new()));
    let dependencies = dependencies
        .as_table_like_mut()
        .ok_or_else(|| broken("dev-dependencies"))?;
    if dependencies.get("evaltest").is_none() {
        let version = env!("CARGO_PKG_VERSION");
        let dependency = match checkout() {
            Some(folder) => {
                let mut table = InlineTable::new();
                table.insert("path", folder.to_string_lossy().as_ref().into());
                value(table)
            }
            None => value(version),
        };
        dependencies.insert("evaltest", dependency);
    }
    if agent == ExampleAgent::Demo {
        let added = dependencies
            .get_mut("evaltest")
            .is_some_and(|dependency| add_feature(dependency, "demo"));
        if !added {
            return Err(broken("dev-dependencies.evaltest"));
        }
    }

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

/// Asks for a feature of a dependency, unless it is asked for; false if that is no dependency.
fn add_feature(dependency: &mut Item, feature: &str) -> bool {
    if let Item::Value(Value::String(version)) = dependency {
        // The comment behind it stays there.
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

/// A table that shows no header of its own.
fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_was_there_is_asked_for_the_demo_agent_too() {
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
}
