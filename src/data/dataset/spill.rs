//! Stores rows of a format without random access in a temporary file, if possible.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value};

use super::ColumnNames;
use super::row::{Row, Rows};
use super::row_file::RowFile;
use super::scan::BUFFER;
use crate::error::{Error, Result};

/// Collects rows: in memory, and above a size limit in an unnamed file.
pub(super) struct Spill<'a> {
    path: &'a Path,
    /// Maximum bytes of text kept in memory.
    large: u64,
    weight: u64,
    few: Vec<Row>,
    many: Option<SpillFile>,
}

/// Where the rows ended up.
pub(super) enum Spilled {
    Rows(Rows),
    File(RowFile, Vec<String>),
}

struct SpillFile {
    out: BufWriter<File>,
    at: u64,
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
            return file.add(fields).map_err(|error| failed(self.path, &error));
        }
        self.weight += fields.values().map(weight).sum::<u64>();
        self.few.push(Row { line: None, fields });
        if self.weight <= self.large {
            return Ok(());
        }
        let spilled = SpillFile::of(self.path, std::mem::take(&mut self.few));
        self.many = Some(spilled.map_err(|error| failed(self.path, &error))?);
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Spilled> {
        let Some(mut file) = self.many else {
            return Ok(Spilled::Rows(Rows {
                path: self.path.to_owned(),
                rows: self.few,
            }));
        };
        let written = file.out.flush();
        written.map_err(|error| failed(self.path, &error))?;
        Ok(Spilled::File(file.rows, file.columns.names))
    }
}

impl SpillFile {
    fn of(path: &Path, rows: Vec<Row>) -> std::io::Result<Self> {
        let file = tempfile::tempfile()?;
        let mut spilled = Self {
            out: BufWriter::with_capacity(BUFFER, file.try_clone()?),
            at: 0,
            rows: RowFile::new(path, file),
            columns: ColumnNames::default(),
        };
        let mut rows = rows.into_iter();
        rows.try_for_each(|row| spilled.add(row.fields))?;
        Ok(spilled)
    }

    fn add(&mut self, fields: Map<String, Value>) -> std::io::Result<()> {
        fields.keys().for_each(|name| self.columns.name(name));
        let text = serde_json::to_string(&Value::Object(fields))?;
        self.out.write_all(text.as_bytes())?;
        self.rows.add(self.at, None, text.as_bytes());
        self.at += text.len() as u64;
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

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::infrastructure(format!(
        "`{}`: its rows cannot be written to a temporary file: {error}",
        path.display()
    ))
    .hint("make room in the folder for temporary files, or name another one: `TMPDIR=DIR`")
}
