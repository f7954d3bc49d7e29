//! Python's `format % values`, for the conversions that texts and plain numbers need.

use std::fmt::Write as _;

use super::conversions::{character, written};
use super::fault::not_evaluated;
use super::fault::{DecodeFault, DecodeResult};
use super::half;
use super::integer::Int;
use super::repr::TooManyDigits;
use super::value::Value;

/// Widths and precisions beyond this are refused.
const MAX_WIDTH: usize = 1 << 16;

/// The formatted text.
pub(crate) fn format(format: &str, values: &Value) -> DecodeResult<String> {
    let single = std::slice::from_ref(values);
    let mut formatter = Formatter {
        values,
        left: match values {
            Value::Tuple(items) => items.iter(),
            _ => single.iter(),
        },
        used_keys: false,
    };
    let mut out = String::with_capacity(format.len());
    let mut rest = format;
    while let Some((text, after)) = rest.split_once('%') {
        out.push_str(text);
        rest = formatter.place(after, &mut out)?;
    }
    out.push_str(rest);
    // What can be asked by key need not be used up.
    let keyed = matches!(values, Value::Dict(_) | Value::List(_) | Value::Bytes(_));
    if formatter.left.len() > 0 && !keyed {
        return Err(fault(
            "not all arguments converted during string formatting",
        ));
    }
    Ok(out)
}

/// What bytes without a conversion become.
pub(crate) fn bytes(format: &[u8], values: &Value) -> DecodeResult<Vec<u8>> {
    let mut out = Vec::with_capacity(format.len());
    let mut rest = format.iter();
    while let Some(&byte) = rest.next() {
        if byte == b'%' && rest.next() != Some(&b'%') {
            return Err(not_evaluated("a conversion in bytes is not evaluated"));
        }
        out.push(byte);
    }
    let is_used_up = match values {
        Value::Tuple(items) => items.is_empty(),
        values => matches!(values, Value::Dict(_) | Value::List(_)),
    };
    if is_used_up {
        Ok(out)
    } else {
        Err(fault("not all arguments converted during bytes formatting"))
    }
}

fn fault(message: &str) -> DecodeFault {
    DecodeFault::new(message)
}

struct Formatter<'a> {
    values: &'a Value,
    left: std::slice::Iter<'a, Value>,
    used_keys: bool,
}

#[derive(Default)]
struct Layout {
    left: bool,
    sign: Option<char>,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

impl<'a> Formatter<'a> {
    /// Reads one place behind its `%`, writes its value, and returns what follows.
    fn place<'t>(&mut self, text: &'t str, out: &mut String) -> DecodeResult<&'t str> {
        // Python 3.10 and later know this sign only right behind the first one.
        if let Some(after) = text.strip_prefix('%') {
            out.push('%');
            return Ok(after);
        }
        let mut rest = text;
        let mut key = None;
        if let Some(after) = rest.strip_prefix('(') {
            let (name, after) = after
                .split_once(')')
                .ok_or_else(|| fault("incomplete format key"))?;
            key = Some(name);
            rest = after;
        }
        let mut layout = Layout::default();
        while let Some(flag) = rest.chars().next().filter(|c| "-+ 0#".contains(*c)) {
            match flag {
                '-' => layout.left = true,
                '+' => layout.sign = Some('+'),
                ' ' => layout.sign = layout.sign.or(Some(' ')),
                '0' => layout.zero = true,
                _ => layout.alternate = true,
            }
            rest = &rest[1..];
        }
        if let Some(after) = rest.strip_prefix('*') {
            let width = self.star()?;
            layout.left |= width < 0;
            layout.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
            rest = after;
        } else {
            (layout.width, rest) = number(rest)?;
        }
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, after) = match after.strip_prefix('*') {
                Some(after) => (usize::try_from(self.star()?).unwrap_or(0), after),
                None => number(after)?,
            };
            layout.precision = Some(precision);
            rest = after;
        }
        rest = rest.strip_prefix(['h', 'l', 'L']).unwrap_or(rest);
        let mut chars = rest.chars();
        let conversion = chars.next().ok_or_else(|| fault("incomplete format"))?;
        let value = self.value(key)?;
        layout.write(conversion, value, out)?;
        Ok(chars.as_str())
    }

    /// The next value, as a width or a precision.
    fn star(&mut self) -> DecodeResult<i64> {
        let int = self.value(None)?.as_integer();
        let int = int.ok_or_else(|| fault("* wants int"))?;
        let limit = i64::try_from(MAX_WIDTH).unwrap_or(i64::MAX);
        let int = int.to_i64().filter(|int| int.abs() <= limit);
        int.ok_or_else(|| not_evaluated("width too big"))
    }

    fn value(&mut self, key: Option<&str>) -> DecodeResult<&'a Value> {
        if let Some(key) = key {
            self.used_keys = true;
            let dict = self
                .values
                .as_dict()
                .ok_or_else(|| fault("format requires a mapping"))?;
            return dict.get_str(key).ok_or_else(|| fault("KeyError"));
        }
        if self.used_keys {
            return Err(fault("not enough arguments for format string"));
        }
        let next = self.left.next();
        next.ok_or_else(|| fault("not enough arguments for format string"))
    }
}

fn number(text: &str) -> DecodeResult<(usize, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    if digits.is_empty() {
        return Ok((0, rest));
    }
    let number = digits.parse().ok().filter(|&number| number <= MAX_WIDTH);
    number
        .map(|number| (number, rest))
        .ok_or_else(|| not_evaluated("width too big"))
}

impl Layout {
    fn write(&self, conversion: char, value: &Value, out: &mut String) -> DecodeResult<()> {
        let too_long = |_| fault("Exceeds the limit (4300 digits) for integer string conversion");
        match conversion {
            's' | 'r' => {
                let text = match (conversion, value) {
                    ('s', Value::Str(text)) => text.clone(),
                    _ => written(value)?,
                };
                let length = self.precision.unwrap_or(usize::MAX);
                let text: String = half::letters(&text).take(length).collect();
                self.pad("", &text, false, out);
            }
            'c' => {
                let c = match value {
                    Value::Str(text) if half::count(text) == 1 => Some(text.clone()),
                    other => match character(other) {
                        Some(Value::Str(text)) => Some(text),
                        _ => None,
                    },
                };
                let c = c.ok_or_else(|| fault("%c requires int or char"))?;
                self.pad("", &c, false, out);
            }
            'd' | 'i' | 'u' => {
                let int = match value {
                    Value::Float(float) => Int::from_f64(*float),
                    other => other.as_integer(),
                };
                let int = int.ok_or_else(|| fault("%d format: a real number is required"))?;
                let text = int.to_text().ok_or_else(|| too_long(TooManyDigits))?;
                self.integer("", &text, out);
            }
            'x' | 'X' | 'o' => {
                let int = value
                    .as_integer()
                    .ok_or_else(|| fault("%x format: an integer is required"))?;
                let radix = if conversion == 'o' { 8 } else { 16 };
                let text = int.big().to_str_radix(radix);
                let text = if conversion == 'X' {
                    text.to_uppercase()
                } else {
                    text
                };
                let prefix = if self.alternate {
                    format!("0{conversion}")
                } else {
                    String::new()
                };
                self.integer(&prefix, &text, out);
            }
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' => {
                let float = match value {
                    Value::Float(float) => Some(*float),
                    other => other.as_integer().and_then(|int| int.to_f64()),
                };
                let float = float.ok_or_else(|| fault("must be real number"))?;
                let precision = self.precision.unwrap_or(6);
                let mut text = match conversion {
                    _ if !float.is_finite() => format!("{float}").to_lowercase(),
                    'f' | 'F' => format!("{float:.precision$}"),
                    'e' | 'E' => exponent(float, precision),
                    _ => general(float, precision, self.alternate),
                };
                if self.alternate && float.is_finite() && !text.contains('.') {
                    text.insert(text.find('e').unwrap_or(text.len()), '.');
                }
                let text = if conversion.is_uppercase() {
                    text.to_uppercase()
                } else {
                    text
                };
                let (sign, digits) = self.signed(&text);
                self.pad(&sign, digits, true, out);
            }
            'a' => return Err(not_evaluated("`%a` is not evaluated")),
            _ => return Err(fault("unsupported format character")),
        }
        Ok(())
    }

    fn integer(&self, prefix: &str, text: &str, out: &mut String) {
        let (sign, digits) = self.signed(text);
        let digits = format!("{digits:0>width$}", width = self.precision.unwrap_or(0));
        self.pad(&format!("{sign}{prefix}"), &digits, true, out);
    }

    fn signed<'t>(&self, text: &'t str) -> (String, &'t str) {
        match text.strip_prefix('-') {
            Some(digits) => ("-".to_owned(), digits),
            None => (self.sign.map(String::from).unwrap_or_default(), text),
        }
    }

    fn pad(&self, sign: &str, text: &str, zeros: bool, out: &mut String) {
        let missing = self.width.saturating_sub(sign.len() + half::count(text));
        let _ = match (self.left, self.zero && zeros) {
            (true, _) => write!(out, "{sign}{text}{}", " ".repeat(missing)),
            (false, true) => write!(out, "{sign}{}{text}", "0".repeat(missing)),
            (false, false) => write!(out, "{}{sign}{text}", " ".repeat(missing)),
        };
    }
}

/// `%g`: so many digits, with an exponent where the number is large or small. Zeros at the end are left out, unless all
/// are wanted.
pub(crate) fn general(float: f64, precision: usize, all: bool) -> String {
    let digits = precision.max(1);
    let text = exponent(float, digits - 1);
    let power: i64 = text
        .split_once('e')
        .and_then(|(_, power)| power.parse().ok())
        .unwrap_or(0);
    let text = match usize::try_from(i64::try_from(digits).unwrap_or(i64::MAX) - 1 - power) {
        Ok(places) if power >= -4 => format!("{float:.places$}"),
        _ => text,
    };
    if all { text } else { without_zeros(&text) }
}

/// A number without the zeros at the end of its digits, and without a point that nothing follows.
pub(crate) fn without_zeros(text: &str) -> String {
    let (digits, power) = text.split_at(text.find('e').unwrap_or(text.len()));
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    format!("{digits}{power}")
}

/// `1.5e+03`: at least two digits of exponent.
pub(crate) fn exponent(float: f64, precision: usize) -> String {
    let text = format!("{float:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{digits}e-{exponent:0>2}"),
        None => format!("{digits}e+{exponent:0>2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dict;

    #[test]
    fn formats() {
        fn check(text: &str, values: impl Into<Value>, expect: Option<&str>) {
            let values = values.into();
            let got = format(text, &values);
            assert_eq!(got.as_deref().ok(), expect, "{text:?} {values:?}");
        }
        let pair = || Value::Tuple(vec!["a".into(), 5.into()]);
        check("%s", "a", Some("a"));
        check("%s-%d%%", pair(), Some("a-5%"));
        check(
            "%r|%5s|%-5d|",
            Value::Tuple(vec!["a".into(), "b".into(), 5.into()]),
            Some("'a'|    b|5    |"),
        );
        check(
            "%05d %+d %x %#X",
            Value::Tuple(vec![(-5).into(), 5.into(), 255.into(), 255.into()]),
            Some("-0005 +5 ff 0XFF"),
        );
        check(
            "%.2f %5.1f %e",
            Value::Tuple(vec![Value::Float(2.675), 1.into(), Value::Float(1500.0)]),
            Some("2.67   1.0 1.500000e+03"),
        );
        check("%d", Value::Float(5.9), Some("5"));
        check("%.1s", "abc", Some("a"));
        check(
            "%c%c",
            Value::Tuple(vec!["x".into(), 65.into()]),
            Some("xA"),
        );
        check("%s", Value::List(vec![1.into()]), Some("[1]"));
        let dict = || Value::Dict(Dict::of("k".into(), 1.into()));
        check("%(k)s", dict(), Some("1"));
        check("%(x)s", dict(), None);
        check("x", dict(), Some("x"));
        check("x", Value::List(vec![]), Some("x"));
        check("x", Value::Tuple(vec![]), Some("x"));
        check("x", 1, None);
        check("%s", pair(), None);
        check("%s %s", "a", None);
        check("%d", "a", None);
        check("%", 1, None);
        check("%q", 1, None);
        check("%99999999999d", 1, None);
    }
}
