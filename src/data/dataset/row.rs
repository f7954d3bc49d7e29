//! The rows of a file.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{kind, text};
use crate::error::{Error, Result};

/// The rows of one file. Not empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The file, as given.
    pub path: PathBuf,
    /// The rows in the order of the file.
    pub rows: Vec<Row>,
}

/// One row of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The line on which it starts, from 1; `None` for parquet, which has no lines.
    pub line: Option<u64>,
    /// The columns in the order of the file.
    pub fields: Map<String, Value>,
}

impl Rows {
    /// Position of the row at `index` (from 0).
    pub fn place(&self, index: usize) -> Place<'_> {
        Place {
            path: &self.path,
            line: self.rows.get(index).and_then(|row| row.line),
            index,
        }
    }
}

/// The cell as text; `None` if it is null or missing.
pub(crate) fn scalar(column: &str, cell: Option<&Value>) -> Result<Option<String>> {
    match cell {
        None | Some(Value::Null) => Ok(None),
        Some(nested @ (Value::Array(_) | Value::Object(_))) => Err(Error::usage(format!(
            "column `{column}` has {}, but a text, a number or a bool is needed",
            kind(nested)
        ))
        .hint("name another column in `columns`, or write the value as a text")),
        Some(value) => Ok(text(value.clone())),
    }
}

/// A required text that must not be blank.
pub(crate) fn required(column: &str, role: &str, cell: Option<String>) -> Result<String> {
    match cell {
        Some(text) if !text.trim().is_empty() => Ok(text),
        Some(_) => Err(Error::usage(format!("the {role} in `{column}` is blank"))
            .hint("fill it in, or remove the row")),
        None => Err(Error::usage(format!(
            "the {role} is missing: `{column}` is null or absent"
        ))
        .hint("fill it in, or remove the row")),
    }
}

/// The value of a slice; `1.0` becomes `1`, because pandas converts integer columns with gaps to floats. `None` if
/// blank.
pub(crate) fn slice_value(cell: Option<String>) -> Option<String> {
    let cell = cell?;
    let value = cell.trim();
    let plain = match value.strip_suffix(".0") {
        Some(integer) if integer.parse::<i64>().is_ok() => integer,
        _ => value,
    };
    (!plain.is_empty()).then(|| plain.to_owned())
}

/// The position of a row, displayed as `data.jsonl:7`, `data.json:1: element 7`, or `data.parquet: row 7` (the first
/// row is 1).
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The file.
    pub path: &'a Path,
    /// The line, if the file has lines.
    pub line: Option<u64>,
    /// Index of the row in the file, from 0.
    pub index: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let is_array = self
            .path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("json"));
        match self.line {
            // All elements may be on one line.
            Some(line) if is_array => write!(f, "{path}:{line}: element {}", self.index + 1),
            Some(line) => write!(f, "{path}:{line}"),
            None => write!(f, "{path}: row {}", self.index + 1),
        }
    }
}
