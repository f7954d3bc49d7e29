//! Stores rows of a format without random access in a temporary file, if possible.

use std::path::Path;

use serde_json::{Map, Value};

use super::ColumnNames;
use super::row::{Row, Rows};
use super::row_file::RowFile;
use crate::error::Result;
use crate::system::file::spill::{SharedFile, SpillFile};

/// Collects rows: in memory, and above a size limit in an unnamed file.
pub(super) struct Spill<'a> {
    path: &'a Path,
    /// Maximum bytes of text kept in memory.
    large: u64,
    weight: u64,
    few: Vec<Row>,
    many: Option<JsonRows>,
}

/// Where the rows ended up.
pub(super) enum Spilled {
    Rows(Rows),
    File(RowFile, Vec<String>),
}

/// Rows as JSON in a file.
struct JsonRows {
    out: SpillFile,
    rows: RowFile,
    columns: ColumnNames,
}

impl<'a> Spill<'a> {
    pub(super) fn new(path: &'a Path, large: u64) -> Self {
        Self {
            path,
            large,
            weight: 0,
            few: Vec::new(),
            many: None,
        }
    }

    pub(super) fn add(&mut self, fields: Map<String, Value>) -> Result<()> {
        if let Some(file) = &mut self.many {
            return file.add(fields);
        }
        self.weight += fields.values().map(weight).sum::<u64>();
        self.few.push(Row { line: None, fields });
        if self.weight <= self.large {
            return Ok(());
        }
        self.many = Some(JsonRows::of(self.path, std::mem::take(&mut self.few))?);
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Spilled> {
        let Some(file) = self.many else {
            return Ok(Spilled::Rows(Rows {
                path: self.path.to_owned(),
                rows: self.few,
            }));
        };
        file.out.finish()?;
        Ok(Spilled::File(file.rows, file.columns.names))
    }
}

impl JsonRows {
    fn of(path: &Path, rows: Vec<Row>) -> Result<Self> {
        let out = SpillFile::new()?;
        let mut spilled = Self {
            rows: RowFile::new(path, &SharedFile::new(out.handle()?)),
            out,
            columns: ColumnNames::default(),
        };
        let mut rows = rows.into_iter();
        rows.try_for_each(|row| spilled.add(row.fields))?;
        Ok(spilled)
    }

    fn add(&mut self, fields: Map<String, Value>) -> Result<()> {
        fields.keys().for_each(|name| self.columns.name(name));
        let text = Value::Object(fields).to_string();
        let span = self.out.push(text.as_bytes())?;
        self.rows.add(span.start, None, text.as_bytes());
        Ok(())
    }
}

/// Approximate memory use of a value in bytes.
fn weight(value: &Value) -> u64 {
    let inside = match value {
        Value::String(text) => text.len() as u64,
        Value::Array(values) => values.iter().map(weight).sum(),
        Value::Object(map) => map.values().map(weight).sum(),
        _ => 0,
    };
    inside + size_of::<Value>() as u64
}
