//! Python's `repr`, which the error messages and reports of the official checker quote.

use std::fmt::Write as _;

use super::half;
use super::integer::Int;
use super::printable::is_printable;
use super::text::py_repr_float;
use super::value::{Dict, Value};

/// Python refuses to write an integer of more than 4300 digits; the official checker crashes on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyDigits;

impl Value {
    /// Python's `repr`.
    pub fn repr(&self) -> Result<String, TooManyDigits> {
        let mut out = String::new();
        self.write_repr(&mut out)?;
        Ok(out)
    }

    fn write_repr(&self, out: &mut String) -> Result<(), TooManyDigits> {
        match self {
            Self::None => out.push_str("None"),
            Self::Bool(value) => out.push_str(if *value { "True" } else { "False" }),
            Self::Int(value) => write_int(value, out)?,
            Self::Float(value) => out.push_str(&py_repr_float(*value)),
            Self::Complex(re, im) => write_complex(*re, *im, out),
            Self::Str(text) => write_str(text, out),
            Self::Bytes(bytes) => write_bytes(bytes, out),
            Self::List(items) => write_items("[", items, "]", out)?,
            Self::Tuple(items) if items.len() == 1 => write_items("(", items, ",)", out)?,
            Self::Tuple(items) => write_items("(", items, ")", out)?,
            Self::Set(items) if items.is_empty() => out.push_str("set()"),
            Self::Set(items) => write_items("{", items, "}", out)?,
            Self::Dict(dict) => write_dict(dict, out)?,
            Self::Ellipsis => out.push_str("Ellipsis"),
        }
        Ok(())
    }
}

/// `repr` of a list of values.
pub fn repr_list(items: &[Value]) -> Result<String, TooManyDigits> {
    let mut out = String::new();
    write_items("[", items, "]", &mut out)?;
    Ok(out)
}

/// `repr` of a text.
pub fn repr_str(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_str(text, &mut out);
    out
}

fn write_int(value: &Int, out: &mut String) -> Result<(), TooManyDigits> {
    if let Some(small) = value.to_i64() {
        out.push_str(itoa::Buffer::new().format(small));
        return Ok(());
    }
    out.push_str(&value.to_text().ok_or(TooManyDigits)?);
    Ok(())
}

fn write_complex(re: f64, im: f64, out: &mut String) {
    let part = |value: f64| {
        let text = py_repr_float(value);
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    };
    if re == 0.0 && re.is_sign_positive() {
        let _ = write!(out, "{}j", part(im));
        return;
    }
    let im = part(im);
    let sign = if im.starts_with('-') { "" } else { "+" };
    let _ = write!(out, "({}{sign}{im}j)", part(re));
}

fn write_items(
    open: &str,
    items: &[Value],
    close: &str,
    out: &mut String,
) -> Result<(), TooManyDigits> {
    out.push_str(open);
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        item.write_repr(out)?;
    }
    out.push_str(close);
    Ok(())
}

fn write_dict(dict: &Dict, out: &mut String) -> Result<(), TooManyDigits> {
    out.push('{');
    for (place, (key, value)) in dict.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        key.write_repr(out)?;
        out.push_str(": ");
        value.write_repr(out)?;
    }
    out.push('}');
    Ok(())
}

fn write_str(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in half::characters(text) {
        let c = match c {
            Ok(c) => c,
            Err(half) => {
                let _ = write!(out, "\\u{half:04x}");
                continue;
            }
        };
        if c == quote || c == '\\' {
            out.push('\\');
            out.push(c);
        } else if is_printable(c) {
            out.push(c);
        } else {
            write_escaped(c, out);
        }
    }
    out.push(quote);
}

fn write_escaped(c: char, out: &mut String) {
    let _ = match (c, u32::from(c)) {
        ('\n', _) => out.write_str("\\n"),
        ('\r', _) => out.write_str("\\r"),
        ('\t', _) => out.write_str("\\t"),
        (_, code @ ..0x100) => write!(out, "\\x{code:02x}"),
        (_, code @ ..0x1_0000) => write!(out, "\\u{code:04x}"),
        (_, code) => write!(out, "\\U{code:08x}"),
    };
}

fn write_bytes(bytes: &[u8], out: &mut String) {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        b'"'
    } else {
        b'\''
    };
    out.push('b');
    out.push(char::from(quote));
    for &byte in bytes {
        let _ = match byte {
            b'\n' => out.write_str("\\n"),
            b'\r' => out.write_str("\\r"),
            b'\t' => out.write_str("\\t"),
            byte if byte == quote || byte == b'\\' => write!(out, "\\{}", char::from(byte)),
            b' '..=b'~' => out.write_char(char::from(byte)),
            byte => write!(out, "\\x{byte:02x}"),
        };
    }
    out.push(char::from(quote));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::half::stand_in;

    fn check(value: impl Into<Value>, expect: &str) {
        let value = value.into();
        assert_eq!(value.repr().as_deref(), Ok(expect), "{value:?}");
    }

    #[test]
    fn texts() {
        check("a", "'a'");
        check("it's", "\"it's\"");
        check("it's \"x\"", "'it\\'s \"x\"'");
        check("a\\b\n\r\t\0\x7f", "'a\\\\b\\n\\r\\t\\x00\\x7f'");
        check("é\u{a0}\u{200b}😀\u{10ffff}", "'é\\xa0\\u200b😀\\udfff'");
        check("\u{e0001}", "'\\U000e0001'");
        check(Value::Str(stand_in(0xd800).to_string()), "'\\ud800'");
        check(Value::text("\u{10f800}"), "'\\U0010f800'");
        check(Value::Bytes(b"a'\n\xff\\".to_vec()), "b\"a'\\n\\xff\\\\\"");
        check(Value::Bytes(b"'\"".to_vec()), "b'\\'\"'");
    }

    #[test]
    fn numbers() {
        check(-5, "-5");
        check(Value::Float(1e16), "1e+16");
        check(Value::Float(-0.0), "-0.0");
        check(Value::Complex(0.0, 2.0), "2j");
        check(Value::Complex(-0.0, -2.0), "(-0-2j)");
        check(Value::Complex(1.5, f64::INFINITY), "(1.5+infj)");
        check(Value::Bool(true), "True");
        let huge = Int::from_digits(&"1".repeat(5000), 16).unwrap();
        let list = Value::List(vec![Value::Int(huge)]);
        assert_eq!(list.repr(), Err(TooManyDigits));
    }

    #[test]
    fn collections() {
        check(Value::List(vec![1.into(), "a".into()]), "[1, 'a']");
        check(Value::Tuple(vec![1.into()]), "(1,)");
        check(Value::Tuple(vec![]), "()");
        check(Value::Set(vec![]), "set()");
        check(Value::Set(vec![1.into(), 2.into()]), "{1, 2}");
        let dict = Dict::of(Value::None, Value::Ellipsis);
        check(Value::Dict(dict), "{None: Ellipsis}");
    }
}
