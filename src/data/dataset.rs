//! Datasets: reads rows of `.jsonl`, `.csv` or `.parquet` files, with the steps shared by all benchmarks.
//!
//! [`Rows::read`] returns the rows with their positions. A benchmark finds its columns ([`Rows::require_column`],
//! [`Rows::find_column`]), builds samples, checks their ids ([`unique_ids`]) and applies a [`Filter`]. Every error
//! names the file and the line; the whole dataset is read before any agent starts.

mod cell;
mod columns;
mod csv;
mod field;
mod filter;
mod ids;
mod json;
pub(crate) mod jsonl;
mod lines;
mod names;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod place;
mod row;
mod row_file;
pub(crate) mod scan;
#[cfg(feature = "parquet")]
mod spill;
mod table;
mod tiers;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::data::Sample;
use crate::error::{Error, Result};

pub(crate) use cell::{required, scalar, slice_value};
pub use columns::Columns;
pub(crate) use columns::{Header, kind, text};
pub(crate) use field::Field;
pub use filter::Filter;
pub(crate) use filter::shuffle;
pub use jsonl::python_json;
pub(crate) use lines::read_text;
pub use place::Place;
pub use row::{Row, Rows};

#[cfg(feature = "bfcl")]
pub(crate) use row_file::RowFile;
pub(crate) use row_file::{SamplePlace, TakePlaced};
#[cfg(test)]
pub(crate) use table::LARGE_HERE;
pub(crate) use table::Table;
#[cfg(feature = "bfcl")]
pub(crate) use table::is_large;
pub(crate) use tiers::tier_order;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `.jsonl`: one object per line.
    Jsonl,
    /// `.csv` and `.tsv`: a header, then rows of the same length.
    Csv,
    /// `.json`: an array of objects, or one object per line.
    Json,
    /// `.parquet`, behind the cargo feature `parquet`.
    Parquet,
}

impl Format {
    /// The format for a file's extension.
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("jsonl") => Ok(Self::Jsonl),
            Some("json") => Ok(Self::Json),
            Some("csv" | "tsv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(Error::usage(format!(
                "`{}`: a dataset is a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file",
                path.display()
            ))
            .hint("give the file the end of its format: `.jsonl` has one object per line, `.json` an array of them")),
        }
    }
}

impl Rows {
    /// Reads a file; the format follows from its extension.
    ///
    /// - `.jsonl`: one object per line; blank lines are skipped, a BOM and CRLF are accepted, Python's bare `NaN` and
    ///   `Infinity` become null.
    /// - `.json`: an array of objects; or an object per line.
    /// - `.csv`: a header, then rows of the same length; cells are texts, an empty cell is null (but `""` in the
    ///   columns `file_name` and `file_path`, as in the other formats). The separator is `,`, or `;` or a tab if the
    ///   header contains that and no `,`; in `.tsv` it is a tab.
    /// - `.parquet`: needs the cargo feature `parquet`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::read_as(path, Format::of(path)?)
    }

    /// Reads a file as this format, regardless of its extension.
    pub fn read_as(path: impl AsRef<Path>, format: Format) -> Result<Self> {
        let path = path.as_ref();
        let rows = match format {
            Format::Jsonl => jsonl::rows(path, &read_text(path)?)?,
            Format::Json => json::rows(path, read_text(path)?)?,
            Format::Csv => csv::rows(path, &read_text(path)?)?,
            Format::Parquet => read_parquet(path)?,
        };
        if rows.is_empty() {
            return Err(empty(path));
        }
        Ok(Self {
            path: path.to_owned(),
            rows,
        })
    }

    /// Converts each row and its index to a sample, with unique ids. Errors name the position of the row.
    pub(crate) fn into_samples(
        self,
        mut make: impl FnMut(Map<String, Value>, usize) -> Result<Sample>,
    ) -> Result<Vec<Sample>> {
        let Self { path, rows } = self;
        let mut samples = Vec::with_capacity(rows.len());
        let mut places = Vec::with_capacity(rows.len());
        for (index, Row { line, fields }) in rows.into_iter().enumerate() {
            let place = Place {
                path: &path,
                line,
                index,
            };
            samples.push(make(fields, index).map_err(|error| error.at(place))?);
            places.push(place);
        }
        let ids = samples.iter().map(|sample| sample.id.as_str());
        unique_ids(ids.zip(places))?;
        Ok(samples)
    }
}

fn empty(path: &Path) -> Error {
    Error::usage(format!("`{}`: the dataset is empty", path.display()))
        .hint("a dataset needs at least one row")
}

/// Hint for a path that does not exist.
pub(crate) const WRONG_PATH: &str =
    "correct the path; a relative one counts from the folder where the program runs";

/// Returns an error for pipes and devices: a dataset is read more than once, and must end.
pub(crate) fn refuse_endless(path: &Path) -> Result<()> {
    let is_other = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if !is_other {
        return Ok(());
    }
    Err(Error::usage(format!("`{}` is no file", path.display()))
        .hint("write the rows into a file, and name that"))
}

/// Returns an error if the path is not a file; for a folder it suggests one.
pub(crate) fn check_file(path: &Path) -> Result<()> {
    let found =
        fs::metadata(path).map_err(|error| Error::io("open", path, &error).hint(WRONG_PATH))?;
    if !found.is_dir() {
        return refuse_endless(path);
    }
    let is_data = |path: &PathBuf| {
        let end = path.extension().unwrap_or_default();
        ["jsonl", "json", "csv", "tsv", "parquet"]
            .iter()
            .any(|name| end == *name)
    };
    let files = fs::read_dir(path).into_iter().flatten().flatten();
    let first = files.map(|entry| entry.path()).filter(is_data).min();
    let first = first.unwrap_or_else(|| path.join("data.jsonl"));
    Err(Error::usage(format!(
        "`{}` is a folder, where one file of rows is needed",
        path.display()
    ))
    .hint(format!("name the file: `path: {}`", first.display())))
}

/// Checks that ids are unique; the error names both positions.
pub(crate) fn unique_ids<'a>(ids: impl IntoIterator<Item = (&'a str, Place<'a>)>) -> Result<()> {
    let mut seen = HashMap::new();
    for (id, place) in ids {
        if let Some(first) = seen.insert(id, place) {
            return Err(taken(id, first, place));
        }
    }
    Ok(())
}

fn taken(id: &str, first: Place<'_>, place: Place<'_>) -> Error {
    Error::usage(format!(
        "the id `{}` is taken by the row at {first}",
        id.escape_debug()
    ))
    .at(place)
    .hint("give every row an id of its own, or name another column: `columns: { id: NAME }`")
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path) -> Result<Vec<Row>> {
    parquet::rows(path)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path) -> Result<Vec<Row>> {
    // Report a missing file first.
    fs::metadata(path).map_err(|error| Error::io("read", path, &error))?;
    Err(Error::usage(format!(
        "`{}`: reading parquet needs the cargo feature `parquet` of evaltest",
        path.display()
    ))
    .hint("`cargo add --dev evaltest --features parquet`, or give the dataset as `.jsonl`"))
}

#[cfg(test)]
pub(crate) mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A temporary folder with one file in it.
    pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        (folder, path)
    }

    /// Reads a file of this content.
    pub(crate) fn read(name: &str, content: impl AsRef<[u8]>) -> Result<Rows> {
        let (_folder, path) = file(name, content);
        Rows::read(path)
    }

    /// Checks a file's error message; `{path}` stands for the path.
    #[track_caller]
    pub(crate) fn check_error(name: &str, content: impl AsRef<[u8]>, expect: &str) {
        let (_folder, path) = file(name, content);
        let error = Rows::read(&path).unwrap_err();
        let message = error
            .message()
            .replace(&path.display().to_string(), "{path}");
        assert_eq!(message, expect);
        assert_eq!(error.exit(), crate::Exit::Usage);
    }

    #[test]
    fn lists_the_legal_extensions() {
        let expect =
            "`{path}`: a dataset is a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file";
        check_error("rows.txt", "{}", expect);
        check_error("rows", "{}", expect);
        assert!(read("rows.JSONL", "{}").is_ok());
    }

    #[test]
    fn names_a_missing_file() {
        for name in ["none.jsonl", "none.csv", "none.parquet"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            let error = Rows::read(&path).unwrap_err();
            let expect = format!("cannot read `{}`: No such file", path.display());
            assert!(error.message().starts_with(&expect), "{error}");
            assert_eq!(error.exit(), crate::Exit::Usage);
        }
    }

    #[test]
    fn an_empty_dataset_is_an_error() {
        let expect = "`{path}`: the dataset is empty";
        check_error("rows.jsonl", "", expect);
        check_error("rows.jsonl", "\u{feff}\n \r\n\n", expect);
        check_error("rows.csv", "id,question\n\n", expect);
    }

    #[test]
    fn invalid_utf8_is_found_by_line_and_column() {
        let content = b"{\"a\":1}\n{\"a\":\"\xe9\"}\n";
        check_error("rows.jsonl", content, "{path}:2:7: invalid UTF-8");
        check_error("rows.csv", b"a\nb\n\xff", "{path}:3:1: invalid UTF-8");
    }

    #[test]
    fn two_rows_of_one_id_are_both_named() {
        let path = Path::new("d.jsonl");
        let place = |index, line| Place { path, line, index };
        let lines = [
            ("a", place(0, Some(1))),
            ("b", place(1, Some(3))),
            ("a", place(2, Some(4))),
        ];
        let error = unique_ids(lines).unwrap_err();
        let expect = "d.jsonl:4: the id `a` is taken by the row at d.jsonl:1";
        assert_eq!(error.message(), expect);
        let rows = [("a", place(0, None)), ("a", place(1, None))];
        let error = unique_ids(rows).unwrap_err();
        let expect = "d.jsonl: row 2: the id `a` is taken by the row at d.jsonl: row 1";
        assert_eq!(error.message(), expect);
        assert!(unique_ids([("a", place(0, None)), ("A", place(1, None))]).is_ok());
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn parquet_without_the_feature_names_it() {
        let (_folder, path) = file("rows.parquet", "PAR1");
        let error = Rows::read(path).unwrap_err().to_string();
        assert!(
            error.contains("cargo feature `parquet` of evaltest"),
            "{error}"
        );
        assert!(error.contains("--features parquet"), "{error}");
    }
}
