//! `[package.metadata.evaltest]` from cargo's metadata. Errors give the position in the manifest, which cargo omits.

use std::path::Path;

use evaltest::engine::system::project::display;
use evaltest::engine::text::clean;
use evaltest::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml_edit::Document;

/// The metadata table.
#[derive(Debug, Default)]
pub(super) struct EvaltestMetadata {
    /// Glob patterns, relative to the manifest's folder.
    pub(super) specs: Vec<String>,
    /// Test targets.
    pub(super) tests: Vec<TestEntry>,
}

/// A test target with evals.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "the name of a test target, or `{ name = \"…\", evals = [\"…\"] }`"
)]
pub(super) enum TestEntry {
    Name(String),
    Table { name: String, evals: Vec<String> },
}

impl TestEntry {
    pub(super) fn name(&self) -> &str {
        let (Self::Name(name) | Self::Table { name, .. }) = self;
        name
    }
}

const TABLE: &str = "[package.metadata.evaltest]";
const SPECS: &str = "specs = [\"fixtures/*.yaml\"]";
const TESTS: &str = "tests = [\"NAME\"]";

/// Parses a manifest's table.
pub(super) fn read(table: &Value, manifest: &Path) -> Result<EvaltestMetadata> {
    let Some(table) = table.as_object() else {
        let text = format!(
            "{}: `package.metadata.evaltest` is not a table",
            named(manifest)
        );
        return Err(Error::usage(text).hint(format!("{TABLE} with {SPECS} or {TESTS}")));
    };
    let mut read = EvaltestMetadata::default();
    for (key, value) in table {
        match key.as_str() {
            "specs" => read.specs = list(key, value, manifest, SPECS)?,
            "tests" => read.tests = list(key, value, manifest, TESTS)?,
            _ => {
                return Err(Error::usage(format!(
                    "{}: unknown key `{}` in `{TABLE}`: the keys are `specs` and `tests`",
                    place(manifest, key),
                    clean(key)
                ))
                .hint(format!("{SPECS} or {TESTS}")));
            }
        }
    }
    Ok(read)
}

fn list<T: DeserializeOwned>(
    key: &str,
    value: &Value,
    manifest: &Path,
    example: &str,
) -> Result<Vec<T>> {
    Vec::deserialize(value).map_err(|error| {
        let place = place(manifest, key);
        Error::usage(format!("{place}: `{key}` in `{TABLE}`: {error}")).hint(example)
    })
}

fn named(manifest: &Path) -> String {
    clean(&display(manifest))
}

/// `FILE:LINE:COLUMN` of a key; only the file if the key cannot be found.
fn place(manifest: &Path, key: &str) -> String {
    let named = named(manifest);
    let text = std::fs::read_to_string(manifest).unwrap_or_default();
    let Some(start) = start(&text, key) else {
        return named;
    };
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default();
    format!("{named}:{line}:{}", column.chars().count() + 1)
}

/// Byte offset of the key.
fn start(text: &str, key: &str) -> Option<usize> {
    let document = Document::parse(text).ok()?;
    let package = document.get("package")?.as_table_like()?;
    let metadata = package.get("metadata")?.as_table_like()?;
    let table = metadata.get("evaltest")?.as_table_like()?;
    let (key, _) = table.get_key_value(key)?;
    Some(key.span()?.start)
}
