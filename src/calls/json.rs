//! JSON as Python's `json.loads` reads it, into Python values, and as `json.dumps` writes it.
//!
//! Unlike the standard, `NaN` and infinities are numbers, integers have any size, a repeated key is no
//! error and a text may hold a lone surrogate.

mod text;

use std::borrow::Cow;

use serde_json::Number;

use super::integer::{Int, MAX_DIGITS};
use super::value::{Dict, Value, lone_surrogate, surrogate};
use crate::text::{json_special, py_repr_float};
pub(crate) use text::write_text;

/// Why Python could not read a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// `json.JSONDecodeError`: no JSON. The official JSON format takes it for an answer without calls.
    Syntax,
    /// A plain `ValueError`: an integer of more than 4300 digits.
    TooManyDigits,
    /// `RecursionError`.
    TooDeep,
}

/// Python's recursion limit of 1000, less what the official program has on its stack.
const MAX_DEPTH: usize = 985;

impl Value {
    /// Python's `json.loads`.
    pub fn from_json(text: &str) -> Result<Self, JsonFault> {
        let (value, end) = Self::from_json_start(text);
        let value = value?;
        if text[end..]
            .trim_start_matches([' ', '\t', '\n', '\r'])
            .is_empty()
        {
            return Ok(value);
        }
        Err(JsonFault::Syntax)
    }

    /// The text of a JSON string, from what stands between its quotes.
    pub fn from_json_string(escaped: &str) -> Result<Self, JsonFault> {
        let mut text = String::with_capacity(escaped.len());
        let mut reader = Reader {
            text: escaped,
            place: 0,
        };
        if reader.unescape(&mut text)? {
            return Err(JsonFault::Syntax);
        }
        Ok(Self::Str(text))
    }

    /// The JSON that a text starts with, and where it, or what can be read of it, ends.
    pub(crate) fn from_json_start(text: &str) -> (Result<Self, JsonFault>, usize) {
        let mut reader = Reader { text, place: 0 };
        reader.space();
        let value = reader.value(0);
        (value, reader.place.min(text.len()))
    }

    /// As JSON for reports. What JSON cannot hold becomes text: integers beyond 64 bits, infinities, bytes.
    pub fn to_json(&self) -> serde_json::Value {
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
            Self::Str(text) => Json::String(
                text.chars()
                    .map(|c| lone_surrogate(c).map_or(c, |_| char::REPLACEMENT_CHARACTER))
                    .collect(),
            ),
            Self::List(items) | Self::Tuple(items) => {
                Json::Array(items.iter().map(Self::to_json).collect())
            }
            Self::Dict(dict) => Json::Object(
                dict.iter()
                    .map(|(key, value)| (key_text(key).into_owned(), value.to_json()))
                    .collect(),
            ),
            Self::Complex(..) | Self::Bytes(_) | Self::Set(_) | Self::Ellipsis => {
                Json::String(self.repr().unwrap_or_default())
            }
        }
    }

    /// Python's `json.dumps(value, ensure_ascii=False, default=str)`.
    pub fn to_json_text(&self) -> String {
        let mut out = String::new();
        self.write_json(write_not_finite, &mut out);
        out
    }

    /// As [`Value::to_json_text`], but JSON of the standard: what is no finite number becomes a text.
    pub(crate) fn write_standard_json(&self, out: &mut String) {
        self.write_json(|value, out| write_text(&py_repr_float(value), out), out);
    }

    fn write_json(&self, not_finite: NotFinite, out: &mut String) {
        match self {
            Self::None => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => match value.to_i64() {
                Some(small) => out.push_str(itoa::Buffer::new().format(small)),
                None => out.push_str(value.to_text().as_deref().unwrap_or("null")),
            },
            Self::Float(value) if !value.is_finite() => not_finite(*value, out),
            Self::Float(value) => out.push_str(&py_repr_float(*value)),
            Self::Str(text) => write_text(text, out),
            Self::List(items) | Self::Tuple(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    out.push_str(if place > 0 { ", " } else { "" });
                    item.write_json(not_finite, out);
                }
                out.push(']');
            }
            Self::Dict(dict) => {
                out.push('{');
                for (place, (key, value)) in dict.iter().enumerate() {
                    out.push_str(if place > 0 { ", " } else { "" });
                    write_text(&key_text(key), out);
                    out.push_str(": ");
                    value.write_json(not_finite, out);
                }
                out.push('}');
            }
            Self::Complex(..) | Self::Bytes(_) | Self::Set(_) | Self::Ellipsis => {
                write_text(&self.repr().unwrap_or_default(), out);
            }
        }
    }
}

/// Writes infinities and what is no number.
type NotFinite = fn(f64, &mut String);

fn write_not_finite(value: f64, out: &mut String) {
    out.push_str(match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    });
}

/// The text that a key of another type becomes.
fn key_text(key: &Value) -> Cow<'_, str> {
    Cow::Borrowed(match key {
        Value::Str(text) => text,
        Value::None => "null",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        other => return Cow::Owned(other.repr().unwrap_or_default()),
    })
}

/// From values that serde has read; used for data files.
impl From<&serde_json::Value> for Value {
    fn from(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::None,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => number_from(number),
            Json::String(text) => Self::Str(text.clone()),
            Json::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Json::Object(entries) => Self::Dict(
                entries
                    .iter()
                    .map(|(key, value)| (Self::from(key.as_str()), Self::from(value)))
                    .collect(),
            ),
        }
    }
}

fn number_from(number: &Number) -> Value {
    if let Some(small) = number.as_i64() {
        return Value::from(small);
    }
    if let Some(word) = number.as_u64() {
        return Value::Int(Int::from(num_bigint::BigInt::from(word)));
    }
    Value::Float(number.as_f64().unwrap_or(f64::NAN))
}

struct Reader<'a> {
    text: &'a str,
    place: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.place += 1;
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.text.as_bytes()[self.place..].starts_with(text.as_bytes());
        if found {
            self.place += text.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonFault> {
        match self.peek().ok_or(JsonFault::Syntax)? {
            b'"' => self.string().map(Value::Str),
            b'{' | b'[' if depth >= MAX_DEPTH => Err(JsonFault::TooDeep),
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b'n' if self.eat("null") => Ok(Value::None),
            b't' if self.eat("true") => Ok(Value::Bool(true)),
            b'f' if self.eat("false") => Ok(Value::Bool(false)),
            b'N' if self.eat("NaN") => Ok(Value::Float(f64::NAN)),
            b'I' if self.eat("Infinity") => Ok(Value::Float(f64::INFINITY)),
            b'-' if self.eat("-Infinity") => Ok(Value::Float(f64::NEG_INFINITY)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(JsonFault::Syntax),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonFault> {
        let mut dict = Dict::new();
        self.place += 1;
        self.space();
        if self.eat("}") {
            return Ok(Value::Dict(dict));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(JsonFault::Syntax);
            }
            let key = self.string()?;
            self.space();
            if !self.eat(":") {
                return Err(JsonFault::Syntax);
            }
            self.space();
            let value = self.value(depth)?;
            dict.insert(Value::Str(key), value);
            self.space();
            if self.eat("}") {
                return Ok(Value::Dict(dict));
            }
            if !self.eat(",") {
                return Err(JsonFault::Syntax);
            }
            self.space();
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonFault> {
        let mut items = Vec::new();
        self.place += 1;
        self.space();
        if self.eat("]") {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.space();
            if self.eat("]") {
                return Ok(Value::List(items));
            }
            if !self.eat(",") {
                return Err(JsonFault::Syntax);
            }
            self.space();
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.place;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.place += 1;
        }
        self.place - start
    }

    fn number(&mut self) -> Result<Value, JsonFault> {
        let start = self.place;
        self.eat("-");
        // A leading zero is the whole number; what follows is a fault of its own.
        let count = if self.eat("0") { 1 } else { self.digits() };
        if count == 0 {
            return Err(JsonFault::Syntax);
        }
        let mut end = self.place;
        let mut is_float = false;
        if self.eat(".") && self.digits() > 0 {
            is_float = true;
            end = self.place;
        }
        self.place = end;
        if self.eat("e") || self.eat("E") {
            let _ = self.eat("+") || self.eat("-");
            if self.digits() > 0 {
                is_float = true;
                end = self.place;
            }
        }
        self.place = end;
        let text = &self.text[start..end];
        if is_float {
            return Ok(Value::Float(text.parse().unwrap_or(f64::NAN)));
        }
        if count > MAX_DIGITS {
            return Err(JsonFault::TooManyDigits);
        }
        let digits = text.trim_start_matches('-');
        let value = Int::from_digits(digits, 10).ok_or(JsonFault::Syntax)?;
        let negative = digits.len() < text.len();
        Ok(Value::Int(if negative { value.negated() } else { value }))
    }

    fn string(&mut self) -> Result<String, JsonFault> {
        self.place += 1;
        let rest = &self.text.as_bytes()[self.place..];
        let plain = json_special(rest).ok_or(JsonFault::Syntax)?;
        if rest[plain] == b'"' {
            let text = &self.text[self.place..self.place + plain];
            self.place += plain + 1;
            return Ok(text.to_owned());
        }
        let mut out = String::with_capacity(2 * plain + 64);
        if self.unescape(&mut out)? {
            return Ok(out);
        }
        Err(JsonFault::Syntax)
    }

    /// Reads the rest of a string, and tells whether it ends with a quote, which then is read too, or with the text.
    fn unescape(&mut self, out: &mut String) -> Result<bool, JsonFault> {
        loop {
            let rest = &self.text.as_bytes()[self.place..];
            let Some(plain) = json_special(rest) else {
                out.push_str(&self.text[self.place..]);
                self.place = self.text.len();
                return Ok(false);
            };
            out.push_str(&self.text[self.place..self.place + plain]);
            self.place += plain + 1;
            match rest[plain] {
                b'"' => return Ok(true),
                b'\\' => out.push(self.escape()?),
                _ => return Err(JsonFault::Syntax),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonFault> {
        let byte = self.peek().ok_or(JsonFault::Syntax)?;
        self.place += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.hex4().ok_or(JsonFault::Syntax)?;
                return Ok(self.joined(high));
            }
            _ => return Err(JsonFault::Syntax),
        })
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.text.get(self.place..self.place + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.place += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    /// A high surrogate joins with a low one behind it; alone, either stays what it is.
    fn joined(&mut self, code: u32) -> char {
        let start = self.place;
        if (0xd800..0xdc00).contains(&code) && self.eat("\\u") {
            match self.hex4() {
                Some(low @ 0xdc00..=0xdfff) => {
                    let joined = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    return char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER);
                }
                _ => self.place = start,
            }
        }
        char::from_u32(code).unwrap_or_else(|| surrogate(code))
    }
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
        check("\"\u{7f}é\"", Ok("'\\x7fé'"));
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
