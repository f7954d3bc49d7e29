//! `parquet`: a row per record with typed columns, for data frames and databases. It has the columns of `csv`, with
//! unmodified texts.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::Type;

use super::table::{CellKind, ExportCell, ExportTable};
use super::{DataFormat, unwritten};
use crate::error::{Error, Result};
use crate::report::reported::ReportedRun;

/// The format `parquet`.
pub(super) struct ParquetExport;

/// Maximum rows of a row group; it also ends at a number of text bytes, because it is held in memory.
const MOST_ROWS: usize = 5_000;
const MOST_BYTES: usize = 8 << 20;

impl DataFormat for ParquetExport {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn extension(&self) -> &'static str {
        "parquet"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn write(&self, run: &ReportedRun, out: &mut dyn Write) -> Result<()> {
        let table = ExportTable::of(run);
        let columns = table.columns().iter();
        let columns = columns.map(|(name, kind)| Ok(Arc::new(column(name, *kind)?)));
        let columns = columns.collect::<std::result::Result<Vec<_>, ParquetError>>();
        let schema = columns.and_then(|columns| {
            let schema = Type::group_type_builder("evaltest");
            schema.with_fields(columns).build()
        });
        let schema = schema.map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("evaltest ", env!("CARGO_PKG_VERSION")).to_owned());
        // The writer needs its own file handle.
        let mut file = tempfile::tempfile().map_err(|error| unwritten(&error))?;
        let mut writer =
            SerializedFileWriter::new(&mut file, Arc::new(schema), Arc::new(properties.build()))
                .map_err(failed)?;
        let mut rows = RowGroup::of(&table);
        for record in run.records()? {
            rows.add(table.row(&record?));
            if rows.is_full() {
                rows.write(&mut writer).map_err(failed)?;
            }
        }
        rows.write(&mut writer).map_err(failed)?;
        writer.close().map_err(failed)?;
        copy(&mut file, out).map_err(|error| unwritten(&error))
    }
}

fn copy(file: &mut (impl Read + Seek), out: &mut dyn Write) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    io::copy(file, out).map(drop)
}

fn column(name: &str, kind: CellKind) -> std::result::Result<Type, ParquetError> {
    let (physical, logical) = match kind {
        CellKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        CellKind::Number => (Physical::DOUBLE, None),
        CellKind::Count => (Physical::INT64, None),
        CellKind::Flag => (Physical::BOOLEAN, None),
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

/// The values of a column, and whether each row has one.
struct ColumnValues {
    values: CellValues,
    levels: Vec<i16>,
}

enum CellValues {
    Texts(Vec<ByteArray>),
    Numbers(Vec<f64>),
    Counts(Vec<i64>),
    Flags(Vec<bool>),
}

/// Unwritten rows, by column.
struct RowGroup {
    columns: Vec<ColumnValues>,
    rows: usize,
    bytes: usize,
}

impl RowGroup {
    fn of(table: &ExportTable) -> Self {
        let column = |(_, kind): &(String, CellKind)| ColumnValues {
            values: match kind {
                CellKind::Text => CellValues::Texts(Vec::new()),
                CellKind::Number => CellValues::Numbers(Vec::new()),
                CellKind::Count => CellValues::Counts(Vec::new()),
                CellKind::Flag => CellValues::Flags(Vec::new()),
            },
            levels: Vec::new(),
        };
        Self {
            columns: table.columns().iter().map(column).collect(),
            rows: 0,
            bytes: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.rows >= MOST_ROWS || self.bytes >= MOST_BYTES
    }

    fn add(&mut self, row: Vec<ExportCell>) {
        self.rows += 1;
        for (column, cell) in self.columns.iter_mut().zip(row) {
            let is_there = match (&mut column.values, cell) {
                (CellValues::Texts(texts), ExportCell::Text(Some(text))) => {
                    self.bytes += text.len();
                    texts.push(ByteArray::from(text.into_bytes()));
                    true
                }
                (CellValues::Numbers(numbers), ExportCell::Number(Some(number))) => {
                    numbers.push(number);
                    true
                }
                (CellValues::Counts(counts), ExportCell::Count(Some(count))) => {
                    counts.push(count);
                    true
                }
                (CellValues::Flags(flags), ExportCell::Flag(Some(flag))) => {
                    flags.push(flag);
                    true
                }
                _ => false,
            };
            column.levels.push(is_there.into());
        }
    }

    /// Writes the rows, if any, and clears them.
    fn write<W: Write + Send>(
        &mut self,
        writer: &mut SerializedFileWriter<W>,
    ) -> std::result::Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = writer.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut into) = group.next_column()? else {
                break;
            };
            column.write(&mut into)?;
            into.close()?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

impl ColumnValues {
    fn write(
        &mut self,
        into: &mut SerializedColumnWriter<'_>,
    ) -> std::result::Result<(), ParquetError> {
        let levels = Some(&self.levels[..]);
        match &mut self.values {
            CellValues::Texts(values) => {
                into.typed::<ByteArrayType>()
                    .write_batch(values, levels, None)?;
                values.clear();
            }
            CellValues::Numbers(values) => {
                into.typed::<DoubleType>()
                    .write_batch(values, levels, None)?;
                values.clear();
            }
            CellValues::Counts(values) => {
                into.typed::<Int64Type>()
                    .write_batch(values, levels, None)?;
                values.clear();
            }
            CellValues::Flags(values) => {
                into.typed::<BoolType>().write_batch(values, levels, None)?;
                values.clear();
            }
        }
        self.levels.clear();
        Ok(())
    }
}

fn failed(error: ParquetError) -> Error {
    unwritten(&io::Error::other(error))
}
