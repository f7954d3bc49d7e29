//! The methods of texts. What depends on the tables of Unicode is worked out for ASCII alone.

use super::arithmetic::spend;
use super::fault::{DecodeFault, DecodeResult};
use super::half;
use super::methods::count;
use super::text::{is_py_space, py_lower};
use super::value::Value;

/// `text.name(…)`; `None` where it is not worked out.
pub(crate) fn of_text(
    text: &str,
    name: &str,
    given: &[Value],
    fuel: &mut u64,
) -> DecodeResult<Option<Value>> {
    let texts = given.iter().filter_map(Value::as_str);
    if texts.chain([text]).any(is_special) {
        return Ok(None);
    }
    match (name, given) {
        ("upper" | "lower" | "casefold" | "swapcase" | "title" | "capitalize", []) => {
            Ok(in_case(text, name).map(Value::Str))
        }
        ("strip" | "lstrip" | "rstrip" | "removeprefix" | "removesuffix", _) => {
            trimmed(text, name, given, fuel)
        }
        ("split" | "rsplit" | "splitlines", _) => split(text, name, given, fuel),
        ("partition" | "rpartition", [Value::Str(sign), rest @ ..]) => {
            partition(text, name, sign, rest)
        }
        ("join", [Value::List(items)]) => {
            let of = |item: &Value| item.as_str().map(str::to_owned);
            let Some(items) = items.iter().map(of).collect::<Option<Vec<_>>>() else {
                return Err(DecodeFault::new("sequence item: expected str instance"));
            };
            spend(fuel, (text.len() as u64).saturating_mul(items.len() as u64))?;
            Ok(Some(Value::Str(items.join(text))))
        }
        ("replace", [Value::Str(old), Value::Str(new), rest @ ..]) => {
            let Ok(most) = most(rest) else {
                return Ok(None);
            };
            let found = text.matches(&**old).count().min(most.unwrap_or(usize::MAX));
            spend(fuel, (found as u64).saturating_mul(1 + new.len() as u64))?;
            Ok(Some(Value::Str(match most {
                None => text.replace(&**old, new),
                Some(most) => text.replacen(&**old, new, most),
            })))
        }
        (
            "startswith" | "endswith" | "find" | "rfind" | "index" | "rindex" | "count",
            [part, positions @ ..],
        ) => match SearchedPart::of(text, positions) {
            Ok(span) => searched(span.as_ref(), name, part),
            Err(()) => Ok(None),
        },
        ("zfill" | "center" | "ljust" | "rjust", [width, rest @ ..]) => {
            padded(text, name, width, rest, fuel)
        }
        ("encode", []) => Ok(Some(Value::Bytes(text.as_bytes().to_vec()))),
        (_, []) => Ok(property(text, name).map(Value::Bool)),
        _ => Ok(None),
    }
}

/// Whether a text is kept otherwise than it is.
fn is_special(text: &str) -> bool {
    half::whole(text).as_deref() != Ok(text)
}

fn list(parts: Vec<&str>) -> Value {
    let parts = parts.into_iter().map(Value::from);
    Value::List(parts.collect())
}

/// How often at most: always, or as often as is asked for; an error where that is no number.
fn most(given: &[Value]) -> Result<Option<usize>, ()> {
    match given {
        [] => Ok(None),
        [most] => {
            let most = most.as_integer().and_then(|most| most.to_i64());
            Ok(usize::try_from(most.ok_or(())?).ok())
        }
        _ => Err(()),
    }
}

fn in_case(text: &str, name: &str) -> Option<String> {
    let is_plain = text.is_ascii();
    Some(match name {
        "upper" => text.to_uppercase(),
        "lower" => py_lower(text),
        _ if !is_plain => return None,
        "casefold" => text.to_ascii_lowercase(),
        "swapcase" => text.chars().map(swapped).collect(),
        "title" => title(text),
        _ => {
            let mut text = text.to_ascii_lowercase();
            if let Some(first) = text.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            text
        }
    })
}

fn swapped(c: char) -> char {
    if c.is_ascii_lowercase() {
        c.to_ascii_uppercase()
    } else {
        c.to_ascii_lowercase()
    }
}

fn title(text: &str) -> String {
    let mut is_inside = false;
    let letter = |c: char| {
        let made = if is_inside {
            c.to_ascii_lowercase()
        } else {
            c.to_ascii_uppercase()
        };
        is_inside = c.is_ascii_alphabetic();
        made
    };
    text.chars().map(letter).collect()
}

fn trimmed(text: &str, name: &str, given: &[Value], fuel: &mut u64) -> DecodeResult<Option<Value>> {
    let trim = |is_in: &dyn Fn(char) -> bool| match name {
        "strip" => text.trim_matches(is_in),
        "lstrip" => text.trim_start_matches(is_in),
        _ => text.trim_end_matches(is_in),
    };
    let left = match (name, given) {
        ("removeprefix", [Value::Str(prefix)]) => text.strip_prefix(&**prefix).unwrap_or(text),
        ("removesuffix", [Value::Str(suffix)]) => text.strip_suffix(&**suffix).unwrap_or(text),
        ("removeprefix" | "removesuffix", _) => return Ok(None),
        (_, [] | [Value::None]) => trim(&is_py_space),
        (_, [Value::Str(signs)]) => {
            spend(fuel, (signs.len() as u64).saturating_mul(text.len() as u64))?;
            trim(&|c| signs.contains(c))
        }
        _ => return Ok(None),
    };
    Ok(Some(Value::from(left)))
}

fn split(text: &str, name: &str, given: &[Value], fuel: &mut u64) -> DecodeResult<Option<Value>> {
    let mut pay = || spend(fuel, 32 * text.len() as u64);
    match (name, given) {
        ("splitlines", [] | [Value::Bool(_)]) => {
            pay()?;
            Ok(Some(list(lines(
                text,
                matches!(given, [Value::Bool(true)]),
            ))))
        }
        ("splitlines", _) => Ok(None),
        (_, [] | [Value::None]) => {
            pay()?;
            let parts = text.split(is_py_space).filter(|part| !part.is_empty());
            Ok(Some(list(parts.collect())))
        }
        (_, [Value::Str(sign), ..]) if sign.is_empty() => Err(DecodeFault::new("empty separator")),
        (_, [Value::Str(sign), rest @ ..]) => {
            let Ok(most) = most(rest) else {
                return Ok(None);
            };
            pay()?;
            Ok(Some(list(match (name, most) {
                (_, None) => text.split(&**sign).collect(),
                ("split", Some(most)) => text.splitn(most + 1, &**sign).collect(),
                (_, Some(most)) => {
                    let mut found: Vec<&str> = text.rsplitn(most + 1, &**sign).collect();
                    found.reverse();
                    found
                }
            })))
        }
        _ => Ok(None),
    }
}

fn partition(text: &str, name: &str, sign: &str, rest: &[Value]) -> DecodeResult<Option<Value>> {
    if sign.is_empty() {
        return Err(DecodeFault::new("empty separator"));
    }
    if !rest.is_empty() {
        return Ok(None);
    }
    let (found, or) = match name {
        "partition" => (text.split_once(sign), [text, "", ""]),
        _ => (text.rsplit_once(sign), ["", "", text]),
    };
    let found = found.map_or(or, |(a, b)| [a, sign, b]);
    Ok(Some(Value::Tuple(found.map(Value::from).to_vec())))
}

/// What a method that looks for a part finds; nothing is in no text.
fn searched(
    span: Option<&SearchedPart<'_>>,
    name: &str,
    part: &Value,
) -> DecodeResult<Option<Value>> {
    match (name, part) {
        ("startswith" | "endswith", part @ (Value::Str(_) | Value::Tuple(_))) => {
            let any = match part {
                Value::Tuple(parts) => parts.as_slice(),
                part => std::slice::from_ref(part),
            };
            let texts = any.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
            let Some(texts) = texts.filter(|texts| !texts.iter().any(|part| is_special(part)))
            else {
                return Ok(None);
            };
            let is_there = |part: &str| {
                span.is_some_and(|span| match name {
                    "startswith" => span.text.starts_with(part),
                    _ => span.text.ends_with(part),
                })
            };
            Ok(Some(Value::Bool(texts.into_iter().any(is_there))))
        }
        ("startswith" | "endswith", _) => Ok(None),
        ("count", Value::Str(part)) => Ok(count(
            span.map_or(0, |span| span.text.matches(&**part).count()),
        )),
        (_, Value::Str(part)) => {
            let place = span.and_then(|span| {
                let place = if name.starts_with('r') {
                    span.text.rfind(&**part)
                } else {
                    span.text.find(&**part)
                };
                Some(span.start + span.text[..place?].chars().count())
            });
            match place {
                Some(place) => Ok(count(place)),
                None if name.ends_with("find") => Ok(Some(Value::from(-1))),
                None => Err(DecodeFault::new("substring not found")),
            }
        }
        _ => Ok(None),
    }
}

fn padded(
    text: &str,
    name: &str,
    width: &Value,
    rest: &[Value],
    fuel: &mut u64,
) -> DecodeResult<Option<Value>> {
    let width = match width.as_integer().map(|width| width.to_i64()) {
        Some(Some(width)) => usize::try_from(width).unwrap_or(0),
        _ => return Ok(None),
    };
    let fill = match (name, rest) {
        ("zfill", []) => "0",
        (_, []) => " ",
        ("center" | "ljust" | "rjust", [Value::Str(fill)]) if fill.chars().count() == 1 => fill,
        _ => return Ok(None),
    };
    let missing = width.saturating_sub(text.chars().count());
    spend(fuel, (missing as u64).saturating_mul(fill.len() as u64))?;
    let fill = |count: usize| fill.repeat(count);
    Ok(Some(Value::Str(match name {
        "ljust" => format!("{text}{}", fill(missing)),
        "rjust" => format!("{}{text}", fill(missing)),
        "zfill" => {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            let (sign, digits) = text.split_at(text.len() - digits.len());
            format!("{sign}{}{digits}", fill(missing))
        }
        _ => {
            // Python gives the odd one to the left where the width is odd.
            let left = missing / 2 + (missing & width & 1);
            format!("{}{text}{}", fill(left), fill(missing - left))
        }
    })))
}

/// `isdigit` and its like.
fn property(text: &str, name: &str) -> Option<bool> {
    let all = |is: fn(&u8) -> bool| !text.is_empty() && text.bytes().all(|byte| is(&byte));
    let only = |is: fn(&u8) -> bool, is_not: fn(&u8) -> bool| {
        text.bytes().any(|byte| is(&byte)) && !text.bytes().any(|byte| is_not(&byte))
    };
    Some(match name {
        "isspace" => !text.is_empty() && text.chars().all(is_py_space),
        "isascii" => text.is_ascii(),
        _ if !text.is_ascii() => return None,
        "isdigit" | "isdecimal" | "isnumeric" => all(u8::is_ascii_digit),
        "isalpha" => all(u8::is_ascii_alphabetic),
        "isalnum" => all(u8::is_ascii_alphanumeric),
        "isupper" => only(u8::is_ascii_uppercase, u8::is_ascii_lowercase),
        "islower" => only(u8::is_ascii_lowercase, u8::is_ascii_uppercase),
        _ => return None,
    })
}

/// The part of a text that methods such as `find` look at, as positions cut it: `text.find(part, start, end)`.
struct SearchedPart<'a> {
    text: &'a str,
    /// How many characters stand before it.
    start: usize,
}

impl<'a> SearchedPart<'a> {
    /// The part between up to two positions, which count from the end where they are negative. `Ok(None)` where there is none,
    /// not even an empty one: the start lies behind the end. An error where a position is none.
    fn of(text: &'a str, positions: &[Value]) -> Result<Option<Self>, ()> {
        let (start, end) = match positions {
            [] => return Ok(Some(Self { text, start: 0 })),
            [start] => (start, &Value::None),
            [start, end] => (start, end),
            _ => return Err(()),
        };
        let length = text.chars().count();
        let place = |value: &Value, or: usize| match value {
            Value::None => Ok(or),
            value => {
                let place = value.as_integer().ok_or(())?.to_i64().ok_or(())?;
                let back = usize::try_from(place.unsigned_abs()).map_err(|_| ())?;
                Ok(if place < 0 {
                    length.saturating_sub(back)
                } else {
                    back
                })
            }
        };
        let (start, end) = (place(start, 0)?, place(end, length)?.min(length));
        if start > end {
            return Ok(None);
        }
        let at = |place: usize| {
            text.char_indices()
                .nth(place)
                .map_or(text.len(), |(at, _)| at)
        };
        let text = &text[at(start)..at(end)];
        Ok(Some(Self { text, start }))
    }
}

/// The lines of a text, by all that Python takes for the end of one; with their ends, if they are kept.
fn lines(text: &str, keeps_ends: bool) -> Vec<&str> {
    let is_end = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(is_end) {
        let behind = &rest[end..];
        let first = behind.chars().next().map_or(0, char::len_utf8);
        let length = if behind.starts_with("\r\n") { 2 } else { first };
        lines.push(&rest[..if keeps_ends { end + length } else { end }]);
        rest = &rest[end + length..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}
