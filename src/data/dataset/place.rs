//! `Place`: the position of a row.

use std::fmt;
use std::path::Path;

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
