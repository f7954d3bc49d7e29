//! `.csv`: a header and rows of texts.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::system::file::spill::{RowSpan, SharedFile};
use crate::text::quoted;

use super::lines::{BOM, column_after, count_newlines, invalid_utf8};
use super::row::Row;
use super::row_file::RowFile;
use super::scan::BUFFER;

/// Columns in which an empty cell is `""` rather than null, as in the other formats of published datasets.
const TEXT_COLUMNS: [&str; 2] = ["file_name", "file_path"];

/// Parses the rows of a text.
pub(super) fn rows(path: &Path, text: &str) -> Result<Vec<Row>> {
    let start = Start::of(path, text);
    // The reader's own line numbers are off by one after CRLF; its byte positions are correct.
    let mut lines = LineNumbers {
        text: text.as_bytes(),
        byte: 0,
        line: 1,
    };
    let mut reader = reader(start.delimiter).from_reader(&text.as_bytes()[start.skip..]);
    let mut header: Option<CsvHeader> = None;
    let mut rows = Vec::new();
    let mut record = csv::StringRecord::new();
    loop {
        let more = reader
            .read_record(&mut record)
            .map_err(|error| broken(path, &error))?;
        if !more {
            break;
        }
        let skip = start.skip as u64;
        let line = lines.at(skip + record.position().map_or(0, csv::Position::byte));
        let place = || format!("{}:{line}", path.display());
        let is_last = skip + reader.position().byte() >= text.len() as u64;
        if header.is_some() && is_last && is_unclosed(&text[lines.byte..]) {
            return Err(unclosed().at(place()));
        }
        if is_blank(&record) {
            continue;
        }
        let Some(header) = &header else {
            let found = CsvHeader::of(&record, start.delimiter);
            header = Some(found.map_err(|error| error.at(place()))?);
            continue;
        };
        rows.push(Row {
            line: Some(line),
            fields: header.row(&record).map_err(|error| error.at(place()))?,
        });
    }
    if header.is_none() {
        return Err(without_header(path));
    }
    Ok(rows)
}

/// Scans a file whose rows stay on disk, and returns their columns.
pub(super) fn scan(path: &Path, mut file: File) -> Result<(RowFile, Vec<String>)> {
    let failed = |error: io::Error| Error::io("read", path, &error);
    let length = file.metadata().map_err(failed)?.len();
    let head = usize::try_from(length.min(LONGEST_HEADER)).unwrap_or_default();
    let head = RowSpan {
        start: 0,
        length: head,
    }
    .read(&mut file)
    .map_err(failed)?;
    let head = String::from_utf8_lossy(&head);
    let begin = if head.starts_with(BOM) { BOM.len() } else { 0 };
    let Start { delimiter, skip } = Start::of(path, &head[begin..]);
    let begin = (begin + skip) as u64;
    let file = SharedFile::new(file);
    let mut rows = RowFile::new(path, &file);
    let mut reader = reader(delimiter)
        .buffer_capacity(BUFFER)
        .from_reader(file.reader(begin));
    let mut record = csv::ByteRecord::new();
    let mut header: Option<CsvHeader> = None;
    // A line that names the separator comes before.
    let (mut end, mut newlines) = (begin, u64::from(skip > 0));
    loop {
        let more = reader.read_byte_record(&mut record);
        if !more.map_err(|error| broken(path, &error))? {
            break;
        }
        let start = std::mem::replace(&mut end, begin + reader.position().byte());
        let span = RowSpan {
            start,
            length: usize::try_from(end - start).unwrap_or_default(),
        };
        let bytes = file.bytes(span).map_err(failed)?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let valid = &bytes[..error.valid_up_to()];
            let line = 1 + newlines + count_newlines(valid);
            invalid_utf8(path, line, column_after(valid))
        })?;
        // The record may start with the end of the previous line.
        let row = text.trim_start_matches(['\r', '\n']);
        let before = text.len() - row.len();
        let line = 1 + newlines + count_newlines(&bytes[..before]);
        newlines += count_newlines(&bytes);
        let place = || format!("{}:{line}", path.display());
        let found = csv::StringRecord::from_byte_record_lossy(record.clone());
        if header.is_some() && end >= length && is_unclosed(row) {
            return Err(unclosed().at(place()));
        }
        if is_blank(&found) {
            continue;
        }
        let Some(header) = &header else {
            let found = CsvHeader::of(&found, delimiter);
            header = Some(found.map_err(|error| error.at(place()))?);
            continue;
        };
        header.check(&found).map_err(|error| error.at(place()))?;
        rows.add(start + before as u64, Some(line), row.as_bytes());
    }
    let header = header.ok_or_else(|| without_header(path))?;
    let columns = header.columns();
    let rows = rows.read_by(Box::new(move |place, text| {
        fields(text, &header).map_err(|error| error.at(place))
    }));
    Ok((rows, columns))
}

/// Maximum number of bytes searched for the end of the header.
const LONGEST_HEADER: u64 = 1 << 20;

/// Parses a text with one record.
fn fields(text: &str, header: &CsvHeader) -> Result<Map<String, Value>> {
    let mut record = csv::StringRecord::new();
    // Prevent the reader from removing a byte order mark at the start of a record.
    let text = b"\n".chain(text.as_bytes());
    let read = reader(header.delimiter)
        .from_reader(text)
        .read_record(&mut record);
    read.map_err(|error| Error::usage(format!("broken CSV: {error}")))?;
    header.row(&record)
}

fn reader(delimiter: u8) -> csv::ReaderBuilder {
    let mut reader = csv::ReaderBuilder::new();
    reader
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true);
    reader
}

/// Whether a record has nothing but blank cells, as spreadsheets write empty rows.
fn is_blank(record: &csv::StringRecord) -> bool {
    record.iter().all(|cell| cell.trim().is_empty())
}

/// The names of the columns. Spreadsheets also write empty columns, which have no name.
struct CsvHeader {
    names: Vec<String>,
    delimiter: u8,
    /// The one column that has no name, as the index that pandas writes.
    unnamed: Option<usize>,
}

impl CsvHeader {
    fn of(record: &csv::StringRecord, delimiter: u8) -> Result<Self> {
        let names: Vec<String> = record.iter().map(|name| name.trim().to_owned()).collect();
        for (place, name) in names.iter().enumerate() {
            if !name.is_empty() && names[..place].contains(name) {
                return Err(Error::usage(format!(
                    "the header names a column twice: {}",
                    quoted([name.as_str()])
                )));
            }
        }
        let mut unnamed = (0..names.len()).filter(|&column| names[column].is_empty());
        let first = unnamed.next();
        Ok(Self {
            unnamed: first.filter(|_| unnamed.next().is_none()),
            names,
            delimiter,
        })
    }

    /// The columns that rows may have.
    fn columns(&self) -> Vec<String> {
        let columns = self.names.iter().enumerate();
        let columns = columns.filter(|(place, name)| self.has(*place, name));
        columns.map(|(_, name)| name.clone()).collect()
    }

    fn has(&self, column: usize, name: &str) -> bool {
        !name.is_empty() || self.unnamed == Some(column)
    }

    /// The cells of a row by column.
    fn row(&self, record: &csv::StringRecord) -> Result<Map<String, Value>> {
        self.check(record)?;
        let cells = self.names.iter().zip(record).enumerate();
        let cells = cells.filter(|(column, (name, _))| self.has(*column, name));
        Ok(cells
            .map(|(_, (name, cell))| (name.clone(), value(name, cell)))
            .collect())
    }

    /// Checks that every cell has a column, and every column a cell; blank cells at the end do not count.
    fn check(&self, record: &csv::StringRecord) -> Result<()> {
        let (cells, columns) = (record.len(), self.names.len());
        let is_blank = |cell: &str| cell.trim().is_empty();
        let is_short = cells < columns && !self.names[cells..].iter().all(String::is_empty);
        if is_short || !record.iter().skip(columns).all(is_blank) {
            return Err(Error::usage(format!(
                "the row has {cells} cells, the header has {columns}"
            ))
            .hint(format!(
                "put double quotes around a text that has {} or a line break in it",
                match self.delimiter {
                    b',' => "a comma".to_owned(),
                    b'\t' => "a tab".to_owned(),
                    other => format!("a `{}`", char::from(other)),
                }
            )));
        }
        let mut cells = self.names.iter().zip(record).enumerate();
        match cells.find(|(column, (name, cell))| !self.has(*column, name) && !is_blank(cell)) {
            None => Ok(()),
            Some((column, _)) => Err(Error::usage(format!(
                "cell {} of the row has no column in the header",
                column + 1
            ))
            .hint("name the column in the first line")),
        }
    }
}

fn broken(path: &Path, error: &csv::Error) -> Error {
    Error::usage(format!("`{}`: broken CSV: {error}", path.display()))
}

fn unclosed() -> Error {
    Error::usage("a quote in this row is never closed").hint(
        "close it with `\"` at the end of the text; within a text between quotes, a `\"` is written twice",
    )
}

fn without_header(path: &Path) -> Error {
    Error::usage(format!("`{}`: the header is missing", path.display()))
        .hint("the first line of a CSV file names the columns: `id,question,answer`")
}

/// How a file begins.
struct Start {
    delimiter: u8,
    /// Length of the line that names the separator.
    skip: usize,
}

impl Start {
    /// A first line `sep=;` names the separator, as spreadsheets write it.
    fn of(path: &Path, text: &str) -> Self {
        let line = text.split_inclusive('\n').next().unwrap_or_default();
        let name = line.trim_end_matches(['\r', '\n']).trim_matches('"');
        let start = name
            .get(..4)
            .filter(|start| start.eq_ignore_ascii_case("sep="));
        match start.map(|_| name.as_bytes()) {
            Some([.., delimiter]) if name.len() == 5 && !delimiter.is_ascii_alphanumeric() => {
                Self {
                    delimiter: *delimiter,
                    skip: line.len(),
                }
            }
            _ => Self {
                delimiter: delimiter(path, text),
                skip: 0,
            },
        }
    }
}

/// The separator: a tab in `.tsv`; otherwise `,`, unless the header contains `;` or a tab and no `,`, as spreadsheets
/// write in locales with decimal commas.
fn delimiter(path: &Path, text: &str) -> u8 {
    if path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("tsv"))
    {
        return b'\t';
    }
    let mut is_quoted = false;
    let header = text.trim_start().bytes().take_while(|&byte| {
        is_quoted ^= byte == b'"';
        is_quoted || byte != b'\n'
    });
    let mut is_quoted = false;
    let mut found = b',';
    for byte in header {
        is_quoted ^= byte == b'"';
        match byte {
            _ if is_quoted => {}
            b',' => return b',',
            b';' => found = b';',
            b'\t' if found == b',' => found = b'\t',
            _ => {}
        }
    }
    found
}

fn value(column: &str, cell: &str) -> Value {
    if cell.is_empty() && !TEXT_COLUMNS.contains(&column) {
        Value::Null
    } else {
        Value::String(cell.to_owned())
    }
}

/// Whether the last record of a file ends inside a quoted cell. The reader accepts it, and the rest of the file would
/// silently become one cell.
fn is_unclosed(record: &str) -> bool {
    let quotes = record.bytes().filter(|&byte| byte == b'"').count();
    quotes % 2 == 1 && record.trim_end().contains('\n')
}

/// Converts increasing byte positions to line numbers.
struct LineNumbers<'a> {
    text: &'a [u8],
    byte: usize,
    line: u64,
}

impl LineNumbers<'_> {
    /// The line of the first byte at or after `start` that is not a line end.
    fn at(&mut self, start: u64) -> u64 {
        let mut start = usize::try_from(start).unwrap_or(usize::MAX);
        while matches!(self.text.get(start), Some(b'\r' | b'\n')) {
            start += 1;
        }
        let start = start.clamp(self.byte, self.text.len());
        self.line += count_newlines(&self.text[self.byte..start]);
        self.byte = start;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{check_error, read};

    #[test]
    fn reads_cells_as_texts_and_empty_ones_as_null() {
        let text = "\u{feff}id, question ,file_name,n\r\n1,\"a, \"\"b\"\"\",,\r\n";
        let rows = read("rows.csv", text).unwrap();
        assert_eq!(rows.columns(), ["id", "question", "file_name", "n"]);
        assert_eq!(
            serde_json::Value::Object(rows.rows[0].fields.clone()),
            json!({"id": "1", "question": "a, \"b\"", "file_name": "", "n": null})
        );
    }

    #[test]
    fn the_header_tells_what_stands_between_cells() {
        let check = |name: &str, text: &str, expect: [&str; 2]| {
            let rows = read(name, text).unwrap();
            assert_eq!(rows.columns(), ["id", "q,;"], "{text}");
            let fields = &rows.rows[0].fields;
            assert_eq!([&fields["id"], &fields["q,;"]], expect, "{text}");
        };
        check(
            "rows.csv",
            "id;\"q,;\"\n1;\"a;b, 1,5\"\n",
            ["1", "a;b, 1,5"],
        );
        check("rows.csv", "\nid\t\"q,;\"\r\n1\t2,5;3\r\n", ["1", "2,5;3"]);
        check("rows.csv", "id,\"q,;\"\n1;2,x;y\n", ["1;2", "x;y"]);
        check("rows.TSV", "id\tq,;\n1,2\tx\n", ["1,2", "x"]);
        assert_eq!(
            read("rows.csv", "question\na;b\n").unwrap().columns(),
            ["question"]
        );
        let expect = "{path}:2: the row has 3 cells, the header has 2";
        check_error("rows.csv", "id;q\n1;a;b\n", expect);
    }

    #[test]
    fn a_first_line_may_name_the_separator() {
        for first in ["sep=;", "\"sep=;\"", "SEP=;"] {
            let rows = read("rows.csv", format!("\u{feff}{first}\r\nid;q\r\n1;a, b\r\n")).unwrap();
            assert_eq!(rows.columns(), ["id", "q"], "{first}");
            assert_eq!(rows.rows[0].fields["q"], "a, b");
            assert_eq!(rows.rows[0].line, Some(3));
        }
        let rows = read("rows.csv", "sep=|\nid|q\n1|a;b,c\n").unwrap();
        assert_eq!(rows.rows[0].fields["q"], "a;b,c");
        let expect = "{path}:3: the row has 3 cells, the header has 2";
        check_error("rows.csv", "sep=;\nid;q\n1;2;3\n", expect);
    }

    #[test]
    fn empty_rows_and_columns_of_spreadsheets_are_left_out() {
        let text = ",,,\nid,q,,\n1,a,,\n,,,\n2,b,,\n , ,,\n3,c\n4,d,,,,\n,,,\n";
        let rows = read("rows.csv", text).unwrap();
        assert_eq!(rows.columns(), ["id", "q"]);
        let lines: Vec<_> = rows.rows.iter().filter_map(|row| row.line).collect();
        assert_eq!(lines, [3, 5, 7, 8]);
        let expect = "{path}:2: cell 4 of the row has no column in the header";
        check_error("rows.csv", "id,q,,\n1,a,,x\n", expect);
        // The index that pandas writes.
        let rows = read("rows.csv", ",id,q\n0,1,a\n").unwrap();
        assert_eq!(rows.columns(), ["", "id", "q"]);
    }

    #[test]
    fn knows_the_line_of_every_row() {
        for end in ["\n", "\r\n"] {
            let text = "id,q\n1,\"two\nlines\"\n\n\n2,x\n3,\"\n\"\n4,y".replace('\n', end);
            let rows = read("rows.csv", text).unwrap();
            let lines: Vec<_> = rows.rows.iter().filter_map(|row| row.line).collect();
            assert_eq!(lines, [2, 6, 7, 9], "{end:?}");
        }
    }

    #[test]
    fn a_ragged_row_is_found_by_line() {
        let expect = "{path}:3: the row has 3 cells, the header has 2";
        check_error("rows.csv", "id,q\r\n1,x\r\n2,y,z\r\n", expect);
        let expect = "{path}:2: the row has 1 cells, the header has 2";
        check_error("rows.csv", "id,q\n1\n", expect);
    }

    #[test]
    fn a_header_is_needed_and_names_each_column_once() {
        check_error("rows.csv", "", "`{path}`: the header is missing");
        check_error("rows.csv", "\n\n", "`{path}`: the header is missing");
        let expect = "{path}:1: the header names a column twice: `id`";
        check_error("rows.csv", "id,q,id\n1,2,3\n", expect);
    }

    #[test]
    fn an_unclosed_quote_does_not_swallow_the_rest() {
        let expect = "{path}:3: a quote in this row is never closed";
        check_error("rows.csv", "id,q\n1,x\n2,\"y\n3,z\n", expect);
        check_error("rows.csv", "id,q\n1,x\n\"2,y\n3,z", expect);
        let error = read("rows.csv", "id,q\n1,\"y\n2,z\n").err().unwrap();
        assert!(
            error
                .hint_text()
                .unwrap_or_default()
                .contains("close it with")
        );
        assert!(read("rows.csv", "id,q\n1,5\" pipe\n").is_ok());
        assert!(read("rows.csv", "id,q\n1,5\" pipe\n2,\"x\ny\"\n").is_ok());
    }
}
