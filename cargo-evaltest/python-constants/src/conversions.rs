//! From one type of constant to another. `None` where Python fails.

use super::fault::not_evaluated;
use super::fault::{DecodeFault, DecodeResult};
use super::half;
use super::integer::{Int, MAX_DIGITS};
use super::text::py_float;
use super::value::Value;

pub(crate) fn radix(value: &Value, radix: u32, prefix: &str) -> Option<Value> {
    let text = value.as_integer()?.big().to_str_radix(radix);
    Some(Value::Str(match text.strip_prefix('-') {
        Some(digits) => format!("-{prefix}{digits}"),
        None => format!("{prefix}{text}"),
    }))
}

pub(crate) fn absolute(value: &Value) -> Option<Value> {
    match value {
        Value::Float(value) => Some(Value::Float(value.abs())),
        Value::Complex(re, im) => Some(Value::Float(re.hypot(*im))),
        other => {
            let integer = other.as_integer()?;
            let negative = integer < Int::from(0);
            Some(Value::Int(if negative {
                integer.negated()
            } else {
                integer
            }))
        }
    }
}

pub(crate) fn character(value: &Value) -> Option<Value> {
    let code = u32::try_from(value.as_integer()?.to_i64()?).ok()?;
    let is_half = (0xd800..0xe000).contains(&code);
    let c = if is_half {
        Err(code)
    } else {
        Ok(char::from_u32(code)?)
    };
    Some(Value::Str(half::encoded([c])))
}

pub(crate) fn code_point(text: &str) -> Option<Value> {
    let mut characters = half::characters(text);
    match (characters.next(), characters.next()) {
        (Some(c), None) => Some(Value::from(i64::from(
            c.map_or_else(|half| half, u32::from),
        ))),
        _ => None,
    }
}

pub(crate) fn to_float(value: &Value) -> Option<Value> {
    match value {
        Value::Float(_) => Some(value.clone()),
        Value::Str(text) => py_float(text).map(Value::Float),
        other => other.as_integer()?.to_f64().map(Value::Float),
    }
}

pub(crate) fn to_integer(value: &Value) -> Option<Value> {
    match value {
        Value::Float(value) => Int::from_f64(*value).map(Value::Int),
        Value::Str(text) => Int::from_text(text).map(Value::Int),
        other => other.as_integer().map(Value::Int),
    }
}

/// `int(text, base)`, of ASCII digits.
pub(crate) fn based(value: &Value, base: &Value) -> Option<Value> {
    let Value::Str(text) = value else {
        return None;
    };
    let base = u32::try_from(base.as_integer()?.to_i64()?).ok()?;
    if base == 10 {
        return Int::from_text(text).map(Value::Int);
    }
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let prefixed = digits.get(..2).and_then(|prefix| match prefix {
        "0x" | "0X" => Some(16),
        "0o" | "0O" => Some(8),
        "0b" | "0B" => Some(2),
        _ => None,
    });
    let (digits, base, has_prefix) = match (prefixed, base) {
        (Some(prefixed), 0) => (&digits[2..], prefixed, true),
        (Some(prefixed), base) if prefixed == base => (&digits[2..], base, true),
        (None, 0)
            if digits.starts_with('0')
                && digits.bytes().any(|byte| matches!(byte, b'1'..=b'9')) =>
        {
            return None;
        }
        (None, 0) => (digits, 10, false),
        (_, base @ 2..=36) => (digits, base, false),
        _ => return None,
    };
    let digits = if has_prefix {
        digits.strip_prefix('_').unwrap_or(digits)
    } else {
        digits
    };
    let is_spelt = !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__");
    let plain: String = digits.chars().filter(|&c| c != '_').collect();
    let fits = base.is_power_of_two() || plain.len() <= MAX_DIGITS;
    let is_digit = |c: char| c.is_digit(base);
    if !is_spelt || !fits || plain.is_empty() || !plain.chars().all(is_digit) {
        return None;
    }
    let int = Int::from_digits(&plain, base)?;
    Some(Value::Int(if negative { int.negated() } else { int }))
}

pub(crate) fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Str(text) => Some(half::count(text)),
        Value::Bytes(bytes) => Some(bytes.len()),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => Some(items.len()),
        Value::Dict(dict) => Some(dict.len()),
        _ => None,
    }
}

/// What `str` and `repr` write of what is no text.
pub(crate) fn written(value: &Value) -> DecodeResult<String> {
    fn has_many(value: &Value) -> bool {
        match value {
            Value::Set(items) => items.len() > 1,
            Value::List(items) | Value::Tuple(items) => items.iter().any(has_many),
            Value::Dict(dict) => dict.iter().any(|(_, value)| has_many(value)),
            _ => false,
        }
    }
    if has_many(value) {
        return Err(not_evaluated("the order of a set is not known here"));
    }
    value.repr().map_err(|_| {
        DecodeFault::new("Exceeds the limit (4300 digits) for integer string conversion")
    })
}
