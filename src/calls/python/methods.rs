//! The methods of constants that constant arithmetic may call: pure ones, bounded in what they cost.

use ruff_python_ast::{ExprCall, Operator};

use super::super::fault::{DecodeFault, DecodeResult};
use super::super::half;
use super::super::value::Value;
use super::arithmetic::{binary, spend, weight};
use super::conversions::written;
use super::evaluate::Evaluator;
use super::fault::not_evaluated;
use super::layout;
use super::searched::{SearchedPart, lines};
use crate::text::{is_py_space, py_lower};

/// `value.name(…)`.
pub(super) fn call(
    evaluator: &mut Evaluator<'_>,
    value: &Value,
    name: &str,
    call: &ExprCall,
    depth: usize,
) -> DecodeResult<Value> {
    let arguments = &call.arguments;
    // Joined is whatever can be gone through.
    let given = match (&*arguments.args, value, name) {
        ([one], Value::Str(_), "join") => vec![Value::List(evaluator.iterable(one, depth, false)?)],
        (args, ..) => evaluator.values(args, depth)?,
    };
    let cost = weight(value) + given.iter().map(weight).sum::<u64>();
    spend(&mut evaluator.fuel, cost)?;
    let mut named = Vec::new();
    for keyword in &arguments.keywords {
        let argument = keyword
            .arg
            .as_ref()
            .ok_or_else(|| unsupported(value, name))?;
        named.push((argument.as_str(), evaluator.value(&keyword.value, depth)?));
    }
    if let (Value::Str(text), "format") = (value, name) {
        return formatted(text, &given, &named, &mut evaluator.fuel).map(Value::Str);
    }
    if !named.is_empty() {
        return Err(unsupported(value, name));
    }
    // Beside another type it may be the turn of the other side.
    if let (Some(op), [other]) = (operator(name), &*given)
        && value.type_name() == other.type_name()
        && !matches!(value, Value::Set(_) | Value::Str(_))
    {
        return binary(op, value, other, &mut evaluator.fuel);
    }
    let result = match value {
        Value::Str(text) => of_text(text, name, &given, &mut evaluator.fuel)?,
        Value::List(items) | Value::Tuple(items) => match (name, &*given) {
            ("count", [one]) => count(items.iter().filter(|item| *item == one).count()),
            ("index", [one]) => match items.iter().position(|item| item == one) {
                Some(place) => count(place),
                None => return Err(DecodeFault::new("the value is not in the list")),
            },
            ("copy", []) if matches!(value, Value::List(_)) => Some(value.clone()),
            ("append" | "extend" | "insert" | "sort" | "reverse" | "clear", _)
                if matches!(value, Value::List(_)) =>
            {
                return Err(unsupported(value, name));
            }
            _ => None,
        },
        Value::Dict(dict) => match (name, &*given) {
            ("get", [key, rest @ ..]) if rest.len() < 2 && key.is_hashable() => {
                let or = rest.first().unwrap_or(&Value::None);
                Some(dict.get(key).unwrap_or(or).clone())
            }
            ("copy", []) => Some(value.clone()),
            _ => None,
        },
        Value::Int(_) | Value::Bool(_) => match (name, &*given) {
            ("bit_length", []) => value
                .as_integer()
                .and_then(|int| i64::try_from(int.bits()).ok())
                .map(Value::from),
            ("bit_count", []) => value.as_integer().and_then(|int| {
                let ones: u64 = int
                    .big()
                    .magnitude()
                    .iter_u64_digits()
                    .map(|word| u64::from(word.count_ones()))
                    .sum();
                i64::try_from(ones).ok().map(Value::from)
            }),
            ("conjugate", []) => value.as_integer().map(Value::Int),
            _ => None,
        },
        Value::Float(float) => match (name, &*given) {
            ("is_integer", []) => Some(Value::Bool(float.fract() == 0.0)),
            ("conjugate", []) => Some(value.clone()),
            _ => None,
        },
        _ => None,
    };
    result.ok_or_else(|| unsupported(value, name))
}

/// `value.name`, of a number.
pub(super) fn part(value: &Value, name: &str) -> DecodeResult<Value> {
    let part = match (value, name) {
        (Value::Int(_) | Value::Bool(_), "real" | "numerator") => {
            value.as_integer().map(Value::Int)
        }
        (Value::Int(_) | Value::Bool(_), "imag") => Some(Value::from(0)),
        (Value::Int(_) | Value::Bool(_), "denominator") => Some(Value::from(1)),
        (Value::Float(_), "real") => Some(value.clone()),
        (Value::Float(_), "imag") => Some(Value::Float(0.0)),
        (Value::Complex(re, _), "real") => Some(Value::Float(*re)),
        (Value::Complex(_, im), "imag") => Some(Value::Float(*im)),
        _ => None,
    };
    part.ok_or_else(|| {
        let class = value.type_name();
        not_evaluated(format!("`{class}.{name}` is not evaluated"))
    })
}

/// The operator that a method such as `__add__` is.
fn operator(name: &str) -> Option<Operator> {
    Some(match name {
        "__add__" => Operator::Add,
        "__sub__" => Operator::Sub,
        "__mul__" => Operator::Mult,
        "__truediv__" => Operator::Div,
        "__floordiv__" => Operator::FloorDiv,
        "__mod__" => Operator::Mod,
        "__pow__" => Operator::Pow,
        "__or__" => Operator::BitOr,
        "__and__" => Operator::BitAnd,
        "__xor__" => Operator::BitXor,
        _ => return None,
    })
}

fn unsupported(value: &Value, name: &str) -> DecodeFault {
    let class = value.type_name();
    not_evaluated(format!(
        "`{class}.{name}` is not evaluated with these arguments"
    ))
}

fn count(count: usize) -> Option<Value> {
    i64::try_from(count).ok().map(Value::from)
}

#[expect(clippy::too_many_lines, reason = "a case for each method")]
fn of_text(text: &str, name: &str, given: &[Value], fuel: &mut u64) -> DecodeResult<Option<Value>> {
    let is_special = |text: &str| half::whole(text).as_deref() != Ok(text);
    let texts = given.iter().filter_map(Value::as_str);
    if texts.chain([text]).any(is_special) {
        return Ok(None);
    }
    let made = |text: String| Ok(Some(Value::Str(text)));
    let told = |is: bool| Ok(Some(Value::Bool(is)));
    let parts = |parts: Vec<&str>| {
        Ok(Some(Value::List(
            parts.into_iter().map(Value::from).collect(),
        )))
    };
    // What depends on the tables of Unicode is worked out for ASCII alone.
    let is_plain = text.is_ascii();
    match (name, given) {
        ("upper", []) => made(text.to_uppercase()),
        ("lower", []) => made(py_lower(text)),
        ("casefold", []) if is_plain => made(text.to_ascii_lowercase()),
        ("swapcase", []) if is_plain => made(text.chars().map(swapped).collect()),
        ("title", []) if is_plain => made(title(text)),
        ("capitalize", []) if is_plain => {
            let mut text = text.to_ascii_lowercase();
            if let Some(first) = text.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            made(text)
        }
        ("strip", [] | [Value::None]) => made(text.trim_matches(is_py_space).to_owned()),
        ("lstrip", [] | [Value::None]) => made(text.trim_start_matches(is_py_space).to_owned()),
        ("rstrip", [] | [Value::None]) => made(text.trim_end_matches(is_py_space).to_owned()),
        ("strip" | "lstrip" | "rstrip", [Value::Str(signs)]) => {
            spend(fuel, (signs.len() as u64).saturating_mul(text.len() as u64))?;
            let is_in = |c: char| signs.contains(c);
            made(
                match name {
                    "strip" => text.trim_matches(is_in),
                    "lstrip" => text.trim_start_matches(is_in),
                    _ => text.trim_end_matches(is_in),
                }
                .to_owned(),
            )
        }
        ("removeprefix", [Value::Str(prefix)]) => {
            made(text.strip_prefix(&**prefix).unwrap_or(text).to_owned())
        }
        ("removesuffix", [Value::Str(suffix)]) => {
            made(text.strip_suffix(&**suffix).unwrap_or(text).to_owned())
        }
        ("split" | "rsplit", [] | [Value::None]) => {
            spend(fuel, 32 * text.len() as u64)?;
            parts(
                text.split(is_py_space)
                    .filter(|part| !part.is_empty())
                    .collect(),
            )
        }
        ("split" | "rsplit" | "partition" | "rpartition", [Value::Str(sign), ..])
            if sign.is_empty() =>
        {
            Err(DecodeFault::new("empty separator"))
        }
        ("split" | "rsplit", [Value::Str(sign), rest @ ..]) => {
            let most = match rest {
                [] => None,
                [most] => match most.as_integer().and_then(|most| most.to_i64()) {
                    Some(most) => usize::try_from(most).ok(),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            };
            spend(fuel, 32 * text.len() as u64)?;
            match (name, most) {
                (_, None) => parts(text.split(&**sign).collect()),
                ("split", Some(most)) => parts(text.splitn(most + 1, &**sign).collect()),
                (_, Some(most)) => {
                    let mut found: Vec<&str> = text.rsplitn(most + 1, &**sign).collect();
                    found.reverse();
                    parts(found)
                }
            }
        }
        ("partition" | "rpartition", [Value::Str(sign)]) => {
            let found = match name {
                "partition" => text.split_once(&**sign).map(|(a, b)| [a, sign, b]),
                _ => text.rsplit_once(&**sign).map(|(a, b)| [a, sign, b]),
            };
            let found = found.unwrap_or(if name == "partition" {
                [text, "", ""]
            } else {
                ["", "", text]
            });
            Ok(Some(Value::Tuple(
                found.into_iter().map(Value::from).collect(),
            )))
        }
        ("join", [Value::List(items)]) => {
            let of = |item: &Value| item.as_str().map(str::to_owned);
            let Some(items) = items.iter().map(of).collect::<Option<Vec<_>>>() else {
                return Err(DecodeFault::new("sequence item: expected str instance"));
            };
            spend(fuel, (text.len() as u64).saturating_mul(items.len() as u64))?;
            made(items.join(text))
        }
        ("replace", [Value::Str(old), Value::Str(new), rest @ ..]) => {
            let most = match rest {
                [] => None,
                [most] => match most.as_integer().and_then(|most| most.to_i64()) {
                    Some(most) => usize::try_from(most).ok(),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            };
            let found = text.matches(&**old).count().min(most.unwrap_or(usize::MAX));
            spend(fuel, (found as u64).saturating_mul(1 + new.len() as u64))?;
            made(match most {
                None => text.replace(&**old, new),
                Some(most) => text.replacen(&**old, new, most),
            })
        }
        ("splitlines", [] | [Value::Bool(_)]) => {
            spend(fuel, 32 * text.len() as u64)?;
            parts(lines(text, matches!(given, [Value::Bool(true)])))
        }
        ("startswith" | "endswith", [part @ (Value::Str(_) | Value::Tuple(_)), positions @ ..]) => {
            let Ok(span) = SearchedPart::of(text, positions) else {
                return Ok(None);
            };
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
                let text = span.as_ref().map(|span| span.text);
                text.is_some_and(|text| match name {
                    "startswith" => text.starts_with(part),
                    _ => text.ends_with(part),
                })
            };
            told(texts.into_iter().any(is_there))
        }
        ("find" | "rfind" | "index" | "rindex", [Value::Str(part), positions @ ..]) => {
            let Ok(span) = SearchedPart::of(text, positions) else {
                return Ok(None);
            };
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
        ("count", [Value::Str(part), positions @ ..]) => match SearchedPart::of(text, positions) {
            Ok(span) => Ok(count(
                span.map_or(0, |span| span.text.matches(&**part).count()),
            )),
            Err(()) => Ok(None),
        },
        ("zfill" | "center" | "ljust" | "rjust", [width, rest @ ..]) => {
            let width = match width.as_integer().map(|width| width.to_i64()) {
                Some(Some(width)) => usize::try_from(width).unwrap_or(0),
                _ => return Ok(None),
            };
            let fill = match (name, rest) {
                ("zfill", []) => "0",
                (_, []) => " ",
                ("center" | "ljust" | "rjust", [Value::Str(fill)]) if fill.chars().count() == 1 => {
                    fill
                }
                _ => return Ok(None),
            };
            let missing = width.saturating_sub(text.chars().count());
            spend(fuel, (missing as u64).saturating_mul(fill.len() as u64))?;
            let fill = |count: usize| fill.repeat(count);
            made(match name {
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
            })
        }
        ("isdigit" | "isdecimal" | "isnumeric", []) if is_plain => {
            told(!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        }
        ("isalpha", []) if is_plain => {
            told(!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic()))
        }
        ("isalnum", []) if is_plain => {
            told(!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        }
        ("isupper", []) if is_plain => told(
            text.bytes().any(|byte| byte.is_ascii_uppercase())
                && !text.bytes().any(|byte| byte.is_ascii_lowercase()),
        ),
        ("islower", []) if is_plain => told(
            text.bytes().any(|byte| byte.is_ascii_lowercase())
                && !text.bytes().any(|byte| byte.is_ascii_uppercase()),
        ),
        ("isspace", []) => told(!text.is_empty() && text.chars().all(is_py_space)),
        ("isascii", []) => told(is_plain),
        ("encode", []) => Ok(Some(Value::Bytes(text.as_bytes().to_vec()))),
        _ => Ok(None),
    }
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

/// `'{} {0} {name:>5}'.format(…)`, with plain fields.
fn formatted(
    text: &str,
    given: &[Value],
    named: &[(&str, Value)],
    fuel: &mut u64,
) -> DecodeResult<String> {
    let mut out = String::new();
    let mut rest = text;
    let (mut next, mut has_numbers) = (0, false);
    while let Some(place) = rest.find(['{', '}']) {
        out += &rest[..place];
        let brace = &rest[place..=place];
        rest = &rest[place + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            out += brace;
            rest = after;
            continue;
        }
        let Some(end) = rest.find('}').filter(|_| brace == "{") else {
            return Err(DecodeFault::new(
                "Single brace encountered in format string",
            ));
        };
        let field = &rest[..end];
        if field.contains(['{', '[']) {
            return Err(not_evaluated("such a field of `format` is not evaluated"));
        }
        let (name, spec) = field.split_once(':').unwrap_or((field, ""));
        let (name, conversion) = name.split_once('!').unwrap_or((name, ""));
        let place = match name {
            "" => Some(next),
            name => name.parse().ok(),
        };
        if name.is_empty() {
            next += 1;
        }
        has_numbers |= !name.is_empty() && place.is_some();
        if has_numbers && next > 0 {
            return Err(DecodeFault::new(
                "cannot switch between automatic and manual field numbering",
            ));
        }
        if name.contains('.') {
            return Err(not_evaluated("such a field of `format` is not evaluated"));
        }
        let value = match place {
            Some(place) => given.get(place),
            None => named
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value),
        };
        let value = value.ok_or_else(|| DecodeFault::new("Replacement index out of range"))?;
        spend(fuel, weight(value))?;
        out += &match conversion {
            "r" => layout::format(&Value::Str(written(value)?), spec, fuel)?,
            "" => layout::format(value, spec, fuel)?,
            "s" => {
                let text = layout::format(value, "", fuel)?;
                layout::format(&Value::Str(text), spec, fuel)?
            }
            _ => return Err(not_evaluated("such a field of `format` is not evaluated")),
        };
        rest = &rest[end + 1..];
    }
    out += rest;
    Ok(out)
}
