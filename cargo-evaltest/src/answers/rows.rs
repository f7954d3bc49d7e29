//! The rows of CSV and parquet files, as chunks of JSON lines.

use std::path::Path;

use evaltest::dataset::{self, Row, Rows};
use evaltest::{Error, Result};

use super::InputFormat;
use super::chunks::{InputChunk, READ_SIZE};

/// Reads all rows.
pub(super) fn read(path: &Path, format: InputFormat) -> Result<Rows> {
    let is_csv = format == InputFormat::Csv;
    let format = if is_csv {
        dataset::Format::Csv
    } else {
        dataset::Format::Parquet
    };
    if path != Path::new("-") {
        // Said here, because to the dataset's reader paths are those of a spec.
        std::fs::File::open(path).map_err(|error| Error::io("read", path, &error))?;
        return Rows::read_as(path, format);
    }
    if is_csv {
        return Rows::read_as("/dev/stdin", format);
    }
    Err(Error::usage("parquet cannot be read from standard input").hint("name the file"))
}

/// The rows as lines, each with the number of its line or row in the file.
pub(super) fn chunks(rows: Rows) -> impl Iterator<Item = InputChunk> + Send {
    let mut rows = rows.rows.into_iter().zip(1_u64..);
    std::iter::from_fn(move || {
        let mut bytes = Vec::new();
        let mut numbers = Vec::new();
        for (Row { line, fields }, number) in rows.by_ref() {
            // A map of JSON values can always be written.
            let _ = serde_json::to_writer(&mut bytes, &fields);
            bytes.push(b'\n');
            numbers.push(line.unwrap_or(number));
            if bytes.len() >= READ_SIZE {
                break;
            }
        }
        (!numbers.is_empty()).then(|| InputChunk::numbered(bytes, numbers))
    })
}
