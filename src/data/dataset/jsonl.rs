//! `.jsonl`: one JSON object per line.

use std::fmt;
use std::path::Path;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::text::yaml::OneEach;

use super::columns::kind;
use super::literal;
use super::row::Row;

/// Parses the rows of a text. Only `\n` ends a line, so U+2028 inside a text does not.
pub(crate) fn rows(path: &Path, text: &str) -> Result<Vec<Row>> {
    let row = |(number, line)| {
        Ok(Row {
            line: Some(number),
            fields: fields(path, number, line)?,
        })
    };
    lines(text).map(row).collect()
}

/// Position of a row in a text.
pub(super) struct LineSpan {
    /// Its first line, from 1.
    pub(super) number: u64,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Where the lines stand.
pub(super) fn spans(text: &str) -> Vec<LineSpan> {
    let span = |(number, line): (u64, &str)| {
        let start = line.as_ptr().addr() - text.as_ptr().addr();
        let end = start + line.len();
        LineSpan { number, start, end }
    };
    lines(text).map(span).collect()
}

/// Trimmed non-blank lines with their numbers.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let lines = (1_u64..).zip(text.split('\n'));
    let lines = lines.map(|(number, line)| (number, line.trim_ascii()));
    lines.filter(|(_, line)| !line.is_empty())
}

/// Parses a line's object; a duplicate key is an error, because one of the values would be lost.
pub(crate) fn fields(path: &Path, number: u64, line: &str) -> Result<Map<String, Value>> {
    match parse_by(line, one_each) {
        Ok(Value::Object(mut fields)) => {
            literal::keep_integers(&mut fields, line);
            Ok(fields)
        }
        Ok(other) => Err(Error::usage(format!(
            "{}:{number}: a row is an object, found {}",
            path.display(),
            kind(&other)
        ))
        .hint(if path.extension().is_some_and(|end| end == "json") {
            "let each row be one `{…}`: an item of the array, or a line"
        } else {
            "write one `{…}` per line; an array of them is read from a file named `.json`"
        })),
        Err((column, reason)) if reason.starts_with(TWICE) => Err(Error::usage(format!(
            "{}:{number}:{column}: the key {} occurs twice in an object",
            path.display(),
            &reason[TWICE.len()..]
        ))
        .hint("remove one of them, or give it another name: only one of the two could count")),
        Err((column, reason)) => Err(Error::usage(format!(
            "{}:{number}:{column}: broken JSON: {reason}",
            path.display()
        ))
        .hint("write one JSON object per line, each line complete")),
    }
}

/// These columns of a line alone, as [`fields`] has them. `None` if that takes a closer look: a value is nested, or a
/// number that is no 64-bit integer; a column occurs twice; or the line is no object.
pub(super) fn few_fields(line: &str, columns: &[String]) -> Option<Map<String, Value>> {
    let mut json = serde_json::Deserializer::from_str(line);
    let fields = json.deserialize_map(FewFields(columns)).ok()?;
    json.end().is_ok().then_some(fields)
}

struct FewFields<'a>(&'a [String]);

impl<'de> Visitor<'de> for FewFields<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(column) = map.next_key_seed(ColumnOf(self.0))? {
            let Some(column) = column else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value: Value = map.next_value()?;
            let is_plain = match &value {
                Value::Number(number) => number.is_i64(),
                Value::Null | Value::Bool(_) | Value::String(_) => true,
                Value::Array(_) | Value::Object(_) => false,
            };
            if !is_plain || fields.insert(column.to_owned(), value).is_some() {
                return Err(A::Error::custom("not plain"));
            }
        }
        Ok(fields)
    }
}

/// Reads a key; `None` if it is none of these columns.
struct ColumnOf<'a>(&'a [String]);

impl<'de, 'a> DeserializeSeed<'de> for ColumnOf<'a> {
    type Value = Option<&'a str>;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for ColumnOf<'a> {
    type Value = Option<&'a str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let column = self.0.iter().find(|column| *column == name);
        Ok(column.map(String::as_str))
    }
}

/// Parses JSON as Python writes it: bare `NaN` and `Infinity` become null.
pub fn python_json(text: &str) -> Option<Value> {
    parse(text).ok()
}

/// Parses a line; bare `NaN` and `Infinity` become null if necessary. An error has the column and the reason.
pub(crate) fn parse(line: &str) -> Result<Value, (usize, String)> {
    parse_by(line, |line| serde_json::from_str(line))
}

/// Prefix of the reader's message about a duplicate key.
const TWICE: &str = "duplicate field ";

fn one_each(line: &str) -> serde_json::Result<Value> {
    let mut json = serde_json::Deserializer::from_str(line);
    let value = OneEach.deserialize(&mut json)?;
    json.end().map(|()| value)
}

fn parse_by(
    line: &str,
    read: impl Fn(&str) -> serde_json::Result<Value>,
) -> Result<Value, (usize, String)> {
    let first = match read(line) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let Some(fixed) = without_python_numbers(line) else {
        return Err((first.column(), reason(&first)));
    };
    read(&fixed).map_err(|second| (second.column(), reason(&second)))
}

/// serde's message without its ` at line 1 column 7`, because the actual line differs.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// The line with `NaN`, `Infinity` and `-Infinity` outside of strings replaced by `null`; `None` if there is none.
pub(super) fn without_python_numbers(line: &str) -> Option<String> {
    let mut fixed = String::with_capacity(line.len());
    let mut rest = line;
    let mut found = false;
    while let Some(start) = rest.find(['"', 'N', 'I', '-']) {
        fixed.push_str(&rest[..start]);
        rest = &rest[start..];
        let token = ["NaN", "-Infinity", "Infinity"]
            .into_iter()
            .find(|token| rest.starts_with(token));
        let end = if let Some(token) = token {
            found = true;
            // Pad to the token's length, so that columns in errors stay correct (except after a `NaN`).
            fixed.push_str(&"null     "[..token.len().max(4)]);
            token.len()
        } else {
            let end = if rest.starts_with('"') {
                text_end(rest)
            } else {
                1
            };
            fixed.push_str(&rest[..end]);
            end
        };
        rest = &rest[end..];
    }
    fixed.push_str(rest);
    found.then_some(fixed)
}

/// The length of the JSON string that `rest` starts with, including quotes.
fn text_end(rest: &str) -> usize {
    let mut escaped = false;
    for (place, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return place + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{check_error, read};

    #[test]
    fn skips_blank_lines_and_counts_them() {
        let text = "\u{feff}{\"b\":1,\"a\":{\"z\":[1,null]}}\r\n\r\n  \n {\"a\":\"x\u{2028}y\"} ";
        let rows = read("rows.jsonl", text).unwrap();
        let lines: Vec<_> = rows.rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [Some(1), Some(4)]);
        let keys: Vec<_> = rows.rows[0].fields.keys().collect();
        assert_eq!(keys, ["b", "a"], "the order of the file is kept");
        assert_eq!(rows.rows[0].fields["a"], json!({"z": [1, null]}));
        assert_eq!(rows.rows[1].fields["a"], json!("x\u{2028}y"));
        assert_eq!(rows.columns(), ["b", "a"]);
        assert!(rows.place(1).to_string().ends_with("rows.jsonl:4"));
    }

    #[test]
    fn a_broken_line_is_found_by_line_and_column() {
        let expect = "{path}:3:7: broken JSON: EOF while parsing an object";
        check_error("rows.jsonl", "{\"a\":1}\n\n{\"a\": 1\n", expect);
        let expect = "{path}:3:8: broken JSON: EOF while parsing a value";
        check_error("rows.jsonl", "{}\r\n{}\r\n{\"abcd\":", expect);
        let expect = "{path}:1:3: broken JSON: trailing characters";
        check_error("rows.jsonl", "{}x", expect);
        let expect = "{path}:1:6: broken JSON: expected value";
        check_error("rows.jsonl", "{\"a\":Nan}", expect);
        let expect = "{path}:1:15: broken JSON: trailing comma";
        check_error("rows.jsonl", "{\"a\":Infinity,}", expect);
    }

    #[test]
    fn duplicate_key_is_reported() {
        let expect = "{path}:2:15: the key `a` occurs twice in an object";
        check_error("rows.jsonl", "{\"a\":1}\n{\"a\":1,\"\\u0061\":2}", expect);
        let expect = "{path}:1:21: the key `b` occurs twice in an object";
        check_error("rows.jsonl", "{\"a\":[NaN,{\"b\":1,\"b\":2}]}", expect);
        let expect = "{path}:2:10: the key `a` occurs twice in an object";
        check_error("rows.json", "[{\"a\":1},\n{\"a\":1,\"a\":1}]", expect);
        read("rows.jsonl", "{\"a\":{\"a\":1},\"A\":2}").unwrap();
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        let line = "{\"a\":".repeat(100_000);
        check_error(
            "rows.jsonl",
            line,
            "{path}:1:636: broken JSON: recursion limit exceeded",
        );
    }

    #[test]
    fn a_row_that_is_no_object_is_an_error() {
        let expect = "{path}:2: a row is an object, found an array";
        check_error("rows.jsonl", "{}\n[1]", expect);
        let expect = "{path}:1: a row is an object, found a number";
        check_error("rows.jsonl", "17", expect);
    }

    #[test]
    fn python_numbers_are_null() {
        let line = r#"{"a":NaN,"b":[Infinity,-Infinity,-1],"c":"NaN \" -Infinity","NaN":-2}"#;
        let rows = read("rows.jsonl", line).unwrap();
        let expect = json!({"a": null, "b": [null, null, -1], "c": "NaN \" -Infinity", "NaN": -2});
        assert_eq!(
            serde_json::Value::Object(rows.rows[0].fields.clone()),
            expect
        );
    }
}
