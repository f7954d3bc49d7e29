//! Reads JSON into Python values as Python's `json.loads` does, and writes it as `json.dumps` does.
//!
//! Unlike in the standard, `NaN` and infinities are numbers, integers have any size, a repeated key is no error and a
//! string may hold a lone surrogate.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::memchr;
use serde_json::Number;

use super::{Dict, Int, MAX_DIGITS, Value, half};
use crate::text::json_cursor::{Cursor, JsonWord, Unexpected};
use crate::text::{json_special, py_repr_float};

/// Why Python could not read a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// `json.JSONDecodeError`: invalid JSON. The official JSON format treats it as an answer without calls.
    Syntax,
    /// A plain `ValueError`: an integer of more than 4300 digits.
    TooManyDigits,
    /// `RecursionError`.
    TooDeep,
}

/// Python's recursion limit of 1000, minus the stack of the official program.
const MAX_DEPTH: usize = 985;

/// Python's `json` module, for values.
///
/// ```
/// use evaltest::engine::leaderboard::calls::{JsonValue, Value};
///
/// // No JSON to others, and a number to Python.
/// assert!(Value::from_json("[NaN]").is_ok());
/// ```
pub trait JsonValue: Sized {
    /// Python's `json.loads`.
    fn from_json(text: &str) -> Result<Self, JsonFault>;

    /// The same, for a text in which stand-ins replace lone surrogates.
    fn from_encoded_json(text: &str) -> Result<Self, JsonFault>;

    /// The value of a JSON string, from the text between its quotes.
    fn from_json_string(escaped: &str) -> Result<Self, JsonFault>;

    /// The JSON at the start of a text, and where it ends or becomes unreadable.
    fn from_json_start(text: &str) -> (Result<Self, JsonFault>, usize);

    /// As JSON for reports. What JSON cannot hold becomes a string: integers beyond 64 bits, infinities, bytes.
    fn to_json(&self) -> serde_json::Value;

    /// Python's `json.dumps(value, ensure_ascii=False, default=str)`.
    fn to_json_text(&self) -> String;

    /// Like [`Value::to_json_text`], but as standard JSON: numbers that are not finite become strings.
    fn write_standard_json(&self, out: &mut String);

    /// Converts a value that serde has read; used for data files.
    fn from_serde(json: &serde_json::Value) -> Self;
}

impl JsonValue for Value {
    fn from_json(text: &str) -> Result<Self, JsonFault> {
        Self::from_encoded_json(&half::encode(text))
    }

    fn from_encoded_json(text: &str) -> Result<Self, JsonFault> {
        let (value, end) = encoded_json_start(text);
        let value = value?;
        if text[end..]
            .trim_start_matches([' ', '\t', '\n', '\r'])
            .is_empty()
        {
            return Ok(value);
        }
        Err(JsonFault::Syntax)
    }

    fn from_json_string(escaped: &str) -> Result<Self, JsonFault> {
        let mut text = String::with_capacity(escaped.len());
        let escaped = half::encode(escaped);
        let mut cursor = Cursor::new(&escaped, Vec::new());
        if cursor.unescape(&mut text, half::push)? {
            return Err(JsonFault::Syntax);
        }
        Ok(Self::Str(text))
    }

    fn from_json_start(text: &str) -> (Result<Self, JsonFault>, usize) {
        let (value, end) = encoded_json_start(text);
        // Only what was read: who searches a text for JSON calls this at every bracket of it.
        match (value, half::encode(&text[..end])) {
            (Ok(_), Cow::Owned(encoded)) => (Self::from_encoded_json(&encoded), end),
            (value, _) => (value, end),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::None => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Int(value) => match value.to_i64() {
                Some(small) => Json::from(small),
                None => Json::String(value.to_text().unwrap_or_else(|| "…".to_owned())),
            },
            Self::Float(value) => Number::from_f64(*value)
                .map_or_else(|| Json::String(py_repr_float(*value)), Json::Number),
            Self::Str(text) => Json::String(half::readable(text).into_owned()),
            Self::List(items) | Self::Tuple(items) => {
                Json::Array(items.iter().map(Self::to_json).collect())
            }
            Self::Dict(dict) => Json::Object(
                dict.iter()
                    .map(|(key, value)| {
                        (half::readable(&key_text(key)).into_owned(), value.to_json())
                    })
                    .collect(),
            ),
            Self::Complex(..) | Self::Bytes(_) | Self::Set(_) | Self::Ellipsis => {
                Json::String(self.repr().unwrap_or_default())
            }
        }
    }

    fn to_json_text(&self) -> String {
        let mut out = String::new();
        write_json(self, write_not_finite, &mut out);
        out
    }

    fn write_standard_json(&self, out: &mut String) {
        write_json(
            self,
            |value, out| write_text(&py_repr_float(value), out),
            out,
        );
    }

    fn from_serde(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::None,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => number_from(number),
            Json::String(text) => Self::text(text),
            Json::Array(items) => Self::List(items.iter().map(Self::from_serde).collect()),
            Json::Object(entries) => Self::Dict(
                entries
                    .iter()
                    .map(|(key, value)| (Self::text(key), Self::from_serde(value)))
                    .collect(),
            ),
        }
    }
}

fn encoded_json_start(text: &str) -> (Result<Value, JsonFault>, usize) {
    let mut reader = JsonReader(Cursor::new(text, Vec::new()));
    reader.0.skip_space();
    let value = reader.value(0);
    (value, reader.0.place())
}

fn write_json(value: &Value, not_finite: NotFinite, out: &mut String) {
    match value {
        Value::None => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => match value.to_i64() {
            Some(small) => out.push_str(itoa::Buffer::new().format(small)),
            None => out.push_str(value.to_text().as_deref().unwrap_or("null")),
        },
        Value::Float(value) if !value.is_finite() => not_finite(*value, out),
        Value::Float(value) => out.push_str(&py_repr_float(*value)),
        Value::Str(text) => write_text(text, out),
        Value::List(items) | Value::Tuple(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                write_json(item, not_finite, out);
            }
            out.push(']');
        }
        Value::Dict(dict) => {
            out.push('{');
            for (place, (key, value)) in dict.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                write_text(&key_text(key), out);
                out.push_str(": ");
                write_json(value, not_finite, out);
            }
            out.push('}');
        }
        Value::Complex(..) | Value::Bytes(_) | Value::Set(_) | Value::Ellipsis => {
            write_text(&value.repr().unwrap_or_default(), out);
        }
    }
}

/// Writes a NaN or an infinity.
type NotFinite = fn(f64, &mut String);

fn write_not_finite(value: f64, out: &mut String) {
    out.push_str(match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    });
}

/// The string that a key becomes.
fn key_text(key: &Value) -> Cow<'_, str> {
    Cow::Borrowed(match key {
        Value::Str(text) => text,
        Value::None => "null",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        other => return Cow::Owned(other.repr().unwrap_or_default()),
    })
}

fn number_from(number: &Number) -> Value {
    if let Some(small) = number.as_i64() {
        return Value::from(small);
    }
    if number.is_u64()
        && let Some(large) = Int::from_digits(&number.to_string(), 10)
    {
        return Value::Int(large);
    }
    Value::Float(number.as_f64().unwrap_or(f64::NAN))
}

/// Builds Python values from tokens.
struct JsonReader<'a>(Cursor<'a>);

impl JsonReader<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, JsonFault> {
        Ok(match self.0.peek().ok_or(JsonFault::Syntax)? {
            b'"' => Value::Str(self.string()?),
            b'{' | b'[' if depth >= MAX_DEPTH => return Err(JsonFault::TooDeep),
            b'{' => self.object(depth + 1)?,
            b'[' => self.array(depth + 1)?,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => match self.0.word()? {
                JsonWord::Null => Value::None,
                JsonWord::True => Value::Bool(true),
                JsonWord::False => Value::Bool(false),
                JsonWord::NaN => Value::Float(f64::NAN),
                JsonWord::Infinity => Value::Float(f64::INFINITY),
            },
        })
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonFault> {
        let mut dict = Dict::new();
        self.0.eat(b'{');
        self.0.skip_space();
        if self.0.eat(b'}') {
            return Ok(Value::Dict(dict));
        }
        loop {
            let key = self.string()?;
            self.0.colon()?;
            let value = self.value(depth)?;
            dict.insert(Value::Str(key), value);
            self.0.skip_space();
            if self.0.eat(b'}') {
                return Ok(Value::Dict(dict));
            }
            if !self.0.eat(b',') {
                return Err(JsonFault::Syntax);
            }
            self.0.skip_space();
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonFault> {
        let mut items = Vec::new();
        self.0.eat(b'[');
        self.0.skip_space();
        if self.0.eat(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.0.skip_space();
            if self.0.eat(b']') {
                return Ok(Value::List(items));
            }
            if !self.0.eat(b',') {
                return Err(JsonFault::Syntax);
            }
            self.0.skip_space();
        }
    }

    fn number(&mut self) -> Result<Value, JsonFault> {
        let start = self.0.place();
        let number = self.0.number()?;
        let text = self.0.between(start, number.end);
        self.0.back_to(number.end);
        if !number.is_integer {
            return Ok(Value::Float(text.parse().unwrap_or(f64::NAN)));
        }
        let digits = text.trim_start_matches('-');
        if digits.len() > MAX_DIGITS {
            return Err(JsonFault::TooManyDigits);
        }
        let value = Int::from_digits(digits, 10).ok_or(JsonFault::Syntax)?;
        let negative = digits.len() < text.len();
        Ok(Value::Int(if negative { value.negated() } else { value }))
    }

    fn string(&mut self) -> Result<String, JsonFault> {
        let plain = self.0.plain_string();
        if let Ok(Some(plain)) = plain {
            return Ok(plain.to_owned());
        }
        self.0.eat(b'"');
        plain?;
        let mut out = String::with_capacity(128);
        if self.0.unescape(&mut out, half::push)? {
            return Ok(out);
        }
        Err(JsonFault::Syntax)
    }
}

impl From<Unexpected> for JsonFault {
    fn from(_: Unexpected) -> Self {
        Self::Syntax
    }
}

/// Writes a text in quotes. Stand-ins for lone surrogates become escapes.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(place) = special(rest.as_bytes()) {
        out.push_str(&rest[..place]);
        let letter = half::letters(&rest[place..]).next().unwrap_or_default();
        for c in half::characters(letter) {
            write_escaped(c, out);
        }
        rest = &rest[place + letter.len()..];
    }
    out.push_str(rest);
    out.push('"');
}

/// The position of the first byte that needs an escape or may need one: stand-ins for surrogates are in the last plane,
/// whose characters start with this byte.
fn special(bytes: &[u8]) -> Option<usize> {
    let special = json_special(bytes);
    let before = &bytes[..special.unwrap_or(bytes.len())];
    if before.is_ascii() {
        return special;
    }
    memchr(0xf4, before).or(special)
}

fn write_escaped(c: Result<char, u32>, out: &mut String) {
    let c = match c {
        Ok(c) => c,
        Err(half) => {
            let _ = write!(out, "\\u{half:04x}");
            return;
        }
    };
    let _ = match c {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\x08' => out.write_str("\\b"),
        '\x0c' => out.write_str("\\f"),
        '\0'..' ' => write!(out, "\\u{:04x}", u32::from(c)),
        c => out.write_char(c),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<&str, JsonFault>) {
        let got = Value::from_json(text).map(|value| value.repr().unwrap());
        assert_eq!(got.as_deref(), expect.as_ref().copied(), "{text:?}");
    }

    #[test]
    fn reads_what_python_reads() {
        check(
            " {\"a\": [1, -2.50, true, null]}\n",
            Ok("{'a': [1, -2.5, True, None]}"),
        );
        check(
            "[NaN, Infinity, -Infinity, 1e999, -0, -0.0]",
            Ok("[nan, inf, -inf, inf, 0, -0.0]"),
        );
        check(
            "123456789012345678901234567890",
            Ok("123456789012345678901234567890"),
        );
        check("{\"a\": 1, \"b\": 2, \"a\": 3}", Ok("{'a': 3, 'b': 2}"));
        check(
            r#""\ud83d\ude00 \ud83d \ude00 \ud83dx""#,
            Ok(r"'😀 \ud83d \ude00 \ud83dx'"),
        );
        check(r#""\u00e9\/\b\f""#, Ok(r"'é/\x08\x0c'"));
        check("1E5", Ok("100000.0"));
        check(
            "\"\u{10ffff}\\udbff\\udfff\\udfff\"",
            Ok(r"'\U0010ffff\U0010ffff\udfff'"),
        );
        check("\"\u{7f}é\"", Ok("'\\x7fé'"));
    }

    #[test]
    fn what_starts_a_text_ends_at_a_character() {
        let check = |text: &str, expect: usize| {
            let (_, end) = Value::from_json_start(text);
            assert!(end == expect && text.is_char_boundary(end), "{text} {end}");
        };
        check("{} é", 2);
        check("1.5e+é", 3);
        check("[1.é", 2);
        check("\"\\é", 2);
        check("\"é", 1);
        check("[\"a\\n", 5);
    }

    #[test]
    fn faults() {
        for text in [
            "",
            " ",
            "{",
            "[1,]",
            "[1 2]",
            "{\"a\" 1}",
            "{a: 1}",
            "{'a': 1}",
            "{\"a\": 1,}",
            "01",
            "1.",
            ".5",
            "1.e5",
            "1e",
            "+1",
            "-",
            "nul",
            "'a'",
            "\"a",
            "\"\\q\"",
            "\"\\u12\"",
            "\"\\u+123\"",
            "\"\\u12é\"",
            "\"a\nb\"",
            "\"a\0b\"",
            "\u{feff}1",
            "1 2",
            "[\u{a0}1]",
            "-NaN",
            "\"\\",
        ] {
            check(text, Err(JsonFault::Syntax));
        }
        check(&"1".repeat(4301), Err(JsonFault::TooManyDigits));
        check(&"[".repeat(100_000), Err(JsonFault::TooDeep));
        assert!(Value::from_json(&format!("{}{}", "[".repeat(900), "]".repeat(900))).is_ok());
    }

    #[test]
    fn writes_what_python_writes() {
        let text = r#"{"a": [1, 2.0, "é\n\u0001", null, true], "b": {}}"#;
        assert_eq!(Value::from_json(text).unwrap().to_json_text(), text);
        let odd: Dict = [
            (Value::None, Value::Tuple(vec![Value::Complex(0.0, 1.0)])),
            (Value::from(1), Value::Float(f64::INFINITY)),
        ]
        .into_iter()
        .collect();
        let odd = Value::Dict(odd);
        assert_eq!(odd.to_json_text(), r#"{"null": ["1j"], "1": Infinity}"#);
        assert_eq!(odd.to_json().to_string(), r#"{"null":["1j"],"1":"inf"}"#);
    }
}

#[cfg(test)]
mod text_tests {
    use super::write_text;
    use crate::calls::half::{encode, stand_in};

    #[test]
    fn escapes_wherever_they_stand() {
        let half = stand_in(0xd800).to_string();
        let encode = |c: char| encode(&c.to_string()).into_owned();
        for (c, expect) in [
            (encode('"'), "\\\""),
            (encode('\\'), "\\\\"),
            (encode('\0'), "\\u0000"),
            (encode('\x1f'), "\\u001f"),
            (encode('é'), "é"),
            (encode('\u{10ffff}'), "\u{10ffff}"),
            (encode('\u{10f7ff}'), "\u{10f7ff}"),
            (half, "\\ud800"),
        ] {
            for place in 0..20 {
                let (before, after) = ("é".repeat(place), "a".repeat(20 - place));
                let mut out = String::new();
                write_text(&format!("{before}{c}{after}\""), &mut out);
                assert_eq!(out, format!("\"{before}{expect}{after}\\\"\""));
            }
        }
    }
}
