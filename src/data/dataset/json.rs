//! `.json`: an array of objects, or an object per line as in `.jsonl`.

use std::path::Path;

use serde_json::value::RawValue;

use super::jsonl::{self, LineSpan};
use super::lines::count_newlines;
use super::row::Row;
use crate::error::{Error, Result};

/// Parses the rows of a text.
pub(super) fn rows(path: &Path, text: String) -> Result<Vec<Row>> {
    let (text, spans) = spans(path, text)?;
    let row = |LineSpan { number, start, end }| {
        Ok(Row {
            line: Some(number),
            fields: jsonl::fields(path, number, &text[start..end])?,
        })
    };
    spans.into_iter().map(row).collect()
}

/// The positions of rows in a text, and the text with Python's `NaN` and `Infinity` replaced by `null`.
pub(super) fn spans(path: &Path, text: String) -> Result<(String, Vec<LineSpan>)> {
    if !text.trim_ascii_start().starts_with('[') {
        return lines(path, text);
    }
    match elements(&text) {
        Ok(spans) => Ok((text, spans)),
        Err(error) => match jsonl::without_python_numbers(&text) {
            Some(fixed) => {
                let spans = elements(&fixed).map_err(|error| broken(path, &error))?;
                Ok((fixed, spans))
            }
            None => Err(broken(path, &error)),
        },
    }
}

/// The elements of an array as text spans: parsed trees would need four times the memory.
fn elements(text: &str) -> Result<Vec<LineSpan>, serde_json::Error> {
    let elements: Vec<&RawValue> = serde_json::from_str(text)?;
    let (mut number, mut counted) = (1, 0);
    let span = |element: &RawValue| {
        let start = element.get().as_ptr().addr() - text.as_ptr().addr();
        number += count_newlines(&text.as_bytes()[counted..start]);
        counted = start;
        LineSpan {
            number,
            start,
            end: start + element.get().len(),
        }
    };
    Ok(elements.into_iter().map(span).collect())
}

/// The lines of a text that is not an array.
fn lines(path: &Path, text: String) -> Result<(String, Vec<LineSpan>)> {
    let spans = jsonl::spans(&text);
    if let Some(first) = spans.first() {
        check_first(path, &text[first.start..first.end])?;
    }
    Ok((text, spans))
}

/// Checks that the first line of a text with an object per line is an object.
pub(super) fn check_first(path: &Path, line: &str) -> Result<()> {
    if jsonl::parse(line).is_ok_and(|value| value.is_object()) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{}:1: a `.json` dataset is an array of objects, or an object per line",
        path.display()
    ))
    .hint("write only the rows: `[{…}, {…}]`"))
}

fn broken(path: &Path, error: &serde_json::Error) -> Error {
    let reason = jsonl::reason(error);
    let (line, column) = (error.line(), error.column());
    let path = path.display();
    Error::usage(format!("{path}:{line}:{column}: broken JSON: {reason}"))
        .hint("the file is one array of objects: `[{…}, {…}]`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{check_error, read};

    #[test]
    fn an_array_is_rows_with_their_lines() {
        let text =
            "\u{feff}[\n  {\"b\": 1,\n   \"a\": [NaN]},\n\n  {\"a\": \"x\"}, {\"c\": 2}\n]\n";
        let rows = read("rows.json", text).unwrap();
        assert_eq!(rows.columns(), ["b", "a", "c"]);
        let lines: Vec<_> = rows.rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [Some(2), Some(5), Some(5)]);
        let fields = |row: usize| serde_json::Value::Object(rows.rows[row].fields.clone());
        assert_eq!(fields(0), json!({"b": 1, "a": [null]}));
        assert_eq!(fields(2), json!({"c": 2}));
        let place = rows.place(2).to_string();
        assert!(place.ends_with("rows.json:5: element 3"), "{place}");
    }

    #[test]
    fn an_object_per_line_is_read_too() {
        let rows = read("rows.json", "{\"a\": 1}\n\n{\"a\": 2}\n").unwrap();
        let lines: Vec<_> = rows.rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [Some(1), Some(3)]);
    }

    #[test]
    fn non_array_of_objects_is_reported() {
        check_error("rows.json", "[]", "`{path}`: the dataset is empty");
        check_error("rows.json", " ", "`{path}`: the dataset is empty");
        let expect = "{path}:2:0: broken JSON: EOF while parsing a list";
        check_error("rows.json", "[{\"a\": 1}\n", expect);
        let expect = "{path}:2:1: broken JSON: trailing comma";
        check_error("rows.json", "[{\"a\": 1},\n]", expect);
        let expect = "{path}:2: a row is an object, found a number";
        check_error("rows.json", "[{\"a\": 1},\n17]", expect);
        // Do not suggest `.json`, which it already is.
        let error = read("rows.json", "[17]").err().unwrap();
        let hint = "let each row be one `{…}`: an item of the array, or a line";
        assert_eq!(error.hint_text(), Some(hint));
        let expect = "{path}:1: a `.json` dataset is an array of objects, or an object per line";
        check_error("rows.json", "{\n \"data\": [{\"a\": 1}]\n}", expect);
        check_error("rows.json", "17", expect);
    }
}
