//! The rows of a file.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::place::Place;

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
