//! Reads the JSON of a reply, also where it is not quite JSON, so that an answer that was paid for is not lost.
//!
//! Repaired are: a byte order mark; `NaN`, `Infinity` and numbers out of range, which become texts; half of a surrogate
//! pair and bytes that are no UTF-8, which become U+FFFD. Sound JSON is parsed once and not copied.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::text::splice::Members;

/// The UTF-8 byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// How half of a surrogate pair is replaced.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// A JSON text and its value.
#[derive(Debug)]
pub(crate) struct Json<'a> {
    text: Cow<'a, [u8]>,
    pub(crate) value: Value,
}

/// Reads JSON.
pub(crate) fn read(json: &[u8]) -> serde_json::Result<Value> {
    Json::read(json).map(|json| json.value)
}

impl<'a> Json<'a> {
    /// Reads JSON.
    pub(crate) fn read(json: &'a [u8]) -> serde_json::Result<Self> {
        let text = json.strip_prefix(MARK).unwrap_or(json);
        match serde_json::from_slice(text) {
            Ok(value) => Ok(Self {
                text: text.into(),
                value,
            }),
            Err(error) => {
                let text = repaired(text).ok_or(error)?;
                let value = serde_json::from_slice(&text)?;
                Ok(Self {
                    text: text.into(),
                    value,
                })
            }
        }
    }

    /// The value at a JSON pointer as text: a string as it is, a number with the digits of the source, anything else as
    /// JSON in one line.
    pub(crate) fn written(&self, pointer: &str) -> Option<String> {
        let value = self.value.pointer(pointer)?;
        Some(match value {
            Value::String(text) => text.clone(),
            Value::Null | Value::Bool(_) => value.to_string(),
            Value::Number(_) | Value::Array(_) | Value::Object(_) => self
                .source(pointer, value)
                .unwrap_or_else(|| value.to_string()),
        })
    }

    /// The `answer` of an agent as text, if it is a number.
    pub(crate) fn written_answer(&self) -> Option<String> {
        let answer = self.value.get("answer")?;
        answer.is_number().then(|| self.written("/answer"))?
    }

    /// The source of a value in one line.
    fn source(&self, pointer: &str, value: &Value) -> Option<String> {
        let mut raw: &RawValue = serde_json::from_slice(&self.text).ok()?;
        for step in pointer.split('/').skip(1) {
            let source = raw.get();
            let next = if source.starts_with('{') {
                let name = step.replace("~1", "/").replace("~0", "~");
                serde_json::from_str::<Members<'_>>(source)
                    .ok()?
                    .get(&name)?
            } else {
                let items: Vec<&RawValue> = serde_json::from_str(source).ok()?;
                items.get(step.parse::<usize>().ok()?)?.get()
            };
            raw = serde_json::from_str(next).ok()?;
        }
        let source = compact(raw.get());
        // Of a member that is there twice, the value is the last one.
        let is_same = serde_json::from_str::<Value>(&source).ok()? == *value;
        is_same.then_some(source)
    }
}

/// JSON in one line: texts as they are always written, numbers as they stand.
fn compact(json: &str) -> String {
    let mut written = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest.as_bytes()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        match first {
            ' ' | '\t' | '\r' | '\n' => {}
            '"' => match serde_json::from_str::<Value>(token) {
                Ok(text) => written.push_str(&text.to_string()),
                Err(_) => written.push_str(token),
            },
            _ => written.push_str(token),
        }
        rest = after;
    }
    written
}

/// The text as JSON; `None` if there is nothing to repair.
fn repaired(json: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(json);
    let mut is_fixed = matches!(text, Cow::Owned(_));
    let mut fixed = Vec::with_capacity(text.len() + 16);
    let mut rest = text.as_bytes();
    while let Some(&first) = rest.first() {
        let length = match first {
            b'"' => string_length(rest),
            b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => rest
                .iter()
                .position(|byte| !(byte.is_ascii_alphanumeric() || b"+-.".contains(byte)))
                .unwrap_or(rest.len()),
            _ => 1,
        };
        let (token, after) = rest.split_at(length);
        if first == b'"' {
            is_fixed |= whole_pairs(token, &mut fixed);
        } else if is_foreign(token) {
            is_fixed = true;
            fixed.push(b'"');
            fixed.extend_from_slice(token);
            fixed.push(b'"');
        } else {
            fixed.extend_from_slice(token);
        }
        rest = after;
    }
    is_fixed.then_some(fixed)
}

/// Whether a token is a number of other languages, or one out of range.
fn is_foreign(token: &[u8]) -> bool {
    match token {
        b"NaN" | b"-NaN" | b"Infinity" | b"-Infinity" => true,
        [b'-' | b'0'..=b'9', ..] => {
            std::str::from_utf8(token).is_ok_and(|text| text.parse().is_ok_and(f64::is_infinite))
        }
        _ => false,
    }
}

/// Copies a string, with half surrogate pairs replaced. Returns whether there were any.
fn whole_pairs(string: &[u8], out: &mut Vec<u8>) -> bool {
    let mut is_fixed = false;
    let mut rest = string;
    while let Some(place) = rest.iter().position(|byte| *byte == b'\\') {
        let (before, escape) = rest.split_at(place);
        out.extend_from_slice(before);
        let length = match (code_unit(escape), escape.get(6..).and_then(code_unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                is_fixed = true;
                out.extend_from_slice(REPLACEMENT);
                rest = &escape[6..];
                continue;
            }
            _ => 2.min(escape.len()),
        };
        let (escape, after) = escape.split_at(length);
        out.extend_from_slice(escape);
        rest = after;
    }
    out.extend_from_slice(rest);
    is_fixed
}

/// The code unit of an escape `\u1234` at the start.
fn code_unit(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The length of the string at the start of the text.
fn string_length(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().skip(1).position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::fuzz::{fuzz, in_time, megabyte};

    #[track_caller]
    fn check(json: impl AsRef<[u8]>, expect: &Value) {
        let json = json.as_ref();
        let text = String::from_utf8_lossy(json);
        assert_eq!(read(json).unwrap(), *expect, "{text}");
    }

    #[test]
    fn numbers_that_json_does_not_know_are_texts_and_texts_stay() {
        check(
            r#"{"answer": "NaN \" NaN", "b": NaN}"#,
            &json!({"answer": "NaN \" NaN", "b": "NaN"}),
        );
        check(
            "[-Infinity,1,2.5e3,\"\\\\\",NaN]",
            &json!(["-Infinity", 1, 2500.0, "\\", "NaN"]),
        );
        for json in [
            "",
            "{",
            "NaNs",
            "\"",
            "{\"a\": NaN",
            "nan",
            "[1e]",
            "\"\\u",
            "\"\\ud83",
        ] {
            assert!(read(json.as_bytes()).is_err(), "{json}");
        }
    }

    #[test]
    fn half_pairs_and_foreign_bytes_are_replaced() {
        check(r#"["4 \ud835"]"#, &json!(["4 \u{fffd}"]));
        check(
            r#"["\uDC00 \ud835\udc00 \\ud835"]"#,
            &json!(["\u{fffd} \u{1d400} \\ud835"]),
        );
        check(
            r#"["\ud835\ud835\udc00\u0041"]"#,
            &json!(["\u{fffd}\u{1d400}A"]),
        );
        check(r#"{"\ud835": NaN}"#, &json!({"\u{fffd}": "NaN"}));
        check(b"[\"4 \xff\", 1e999]", &json!(["4 \u{fffd}", "1e999"]));
        check("\u{feff}[1]", &json!([1]));
    }

    #[test]
    fn numbers_are_written_as_they_stand() {
        let text = r#" {"a": 1.10, "b": [12345678901234567890123, {"c": 1e3}, "\u00e9 1.10", null],
            "d~/": -0.0, "e": true, "f": "x", "g": 1e999, "h": 1, "h": 2.0} "#;
        let json = Json::read(text.as_bytes()).unwrap();
        for (pointer, expect) in [
            ("/a", "1.10"),
            ("/b", r#"[12345678901234567890123,{"c":1e3},"é 1.10",null]"#),
            ("/b/1/c", "1e3"),
            ("/d~0~1", "-0.0"),
            ("/e", "true"),
            ("/f", "x"),
            ("/g", "1e999"),
            ("/h", "2.0"),
        ] {
            assert_eq!(json.written(pointer).as_deref(), Some(expect), "{pointer}");
        }
        assert_eq!(json.written("/b/7"), None);
    }

    #[test]
    fn sound_json_is_not_changed_and_no_text_breaks_the_reader() {
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\ud835", "\\udc00", "NaN", "1e999", "a",
        ];
        fuzz(|dice| {
            let value = dice.json(&["a", "\\", "\"", "é"], 3);
            let text = value.to_string();
            let json = Json::read(text.as_bytes()).unwrap();
            assert_eq!(json.value, serde_json::from_str::<Value>(&text).unwrap());
            let whole = json.written("").unwrap();
            let expect = value.as_str().map_or_else(|| text.clone(), str::to_owned);
            assert_eq!(whole, expect);
            let _ = read(dice.wild(&pieces).as_bytes());
        });
        for piece in ["\\ud835", "NaN,", "\"\\\"", "\u{7f}"] {
            in_time(piece, || {
                let _ = read(format!("[\"{}", megabyte(piece)).as_bytes());
            });
        }
    }
}
