//! A small table of text cells with named columns.
//!
//! Responsibility: read delimited text or a list of JSON objects into the same
//! shape, so one set of questions serves both. Limits: the first row is the
//! header, short rows are padded by absence, at most [`MAX_COLUMNS`] columns
//! are kept, tables of over [`MAX_CELLS`] cells are refused and nested JSON values are left out.

use serde_json::Value;

/// Columns beyond these are not kept.
const MAX_COLUMNS: usize = 64;

/// Tables of more cells are not read, so odd files cannot fill the memory.
const MAX_CELLS: usize = 1_000_000;

/// Named columns and rows of text.
#[derive(Debug, Default)]
pub(super) struct TextTable {
    /// Column names, in file order.
    pub(super) headers: Vec<String>,
    /// Rows; a missing cell is simply absent or empty.
    pub(super) rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Reads delimited text; `None` without a header and at least one row.
    pub(super) fn parse(text: &str, delimiter: u8) -> Option<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .has_headers(false)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut lines = reader.records().map_while(Result::ok).map(|record| {
            record
                .iter()
                .take(MAX_COLUMNS)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        });
        let headers = lines.next()?;
        let mut table = Self {
            headers,
            rows: Vec::new(),
        };
        let mut cells = 0;
        for row in lines {
            cells += row.len();
            table.rows.push(row);
            if cells > MAX_CELLS {
                return None;
            }
        }
        (!table.rows.is_empty()).then_some(table)
    }

    /// Reads the objects of a JSON list; `None` when it holds none.
    pub(super) fn from_objects(list: &[Value]) -> Option<Self> {
        let mut table = Self::default();
        let mut cells = 0;
        for object in list.iter().filter_map(Value::as_object) {
            let mut row = Vec::new();
            for (key, value) in object {
                let Some(text) = scalar(value) else { continue };
                let known = table.headers.iter().position(|header| header == key);
                let column = known.unwrap_or(table.headers.len());
                if column >= MAX_COLUMNS {
                    continue;
                }
                if known.is_none() {
                    table.headers.push(key.clone());
                }
                if row.len() <= column {
                    row.resize(column + 1, String::new());
                }
                if let Some(cell) = row.get_mut(column) {
                    *cell = text;
                }
            }
            cells += row.len();
            table.rows.push(row);
            if cells > MAX_CELLS {
                return None;
            }
        }
        (!table.rows.is_empty()).then_some(table)
    }

    /// The text of a cell of `row`, empty when it is missing.
    pub(super) fn cell(row: &[String], column: usize) -> &str {
        row.get(column).map_or("", String::as_str)
    }
}

/// The text of a JSON string, number or truth value.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: Option<TextTable>, expected: &str) {
        let shown = input.map_or_else(String::new, |table| {
            let rows: Vec<_> = table.rows.iter().map(|row| row.join("|")).collect();
            format!("{} / {}", table.headers.join("|"), rows.join(" / "))
        });
        assert_eq!(shown, expected);
    }

    #[test]
    fn reads_delimited_text() {
        check(
            TextTable::parse("a,b\n1, 2\n\"x, y\",3\n", b','),
            "a|b / 1|2 / x, y|3",
        );
        check(TextTable::parse("a\tb\n1\n", b'\t'), "a|b / 1");
        check(TextTable::parse("a,b\n", b','), "");
        check(TextTable::parse("", b','), "");
    }

    #[test]
    fn reads_objects() {
        let list = serde_json::json!([{"a": 1, "b": "x"}, 7, {"b": true, "c": [1], "d": 2.5}]);
        let table = list
            .as_array()
            .and_then(|list| TextTable::from_objects(list));
        check(table, "a|b|d / 1|x / |true|2.5");
        check(TextTable::from_objects(&[]), "");
    }
}
