//! The methods of constants that constant arithmetic may call: pure ones, bounded in what they cost.

use ruff_python_ast::{ExprCall, Operator};

use super::arithmetic::{binary, spend, weight};
use super::conversions::written;
use super::evaluate::Evaluator;
use super::fault::not_evaluated;
use super::fault::{DecodeFault, DecodeResult};
use super::layout;
use super::text_methods::of_text;
use super::value::Value;

/// `value.name(…)`.
pub(crate) fn call(
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
pub(crate) fn part(value: &Value, name: &str) -> DecodeResult<Value> {
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

pub(crate) fn count(count: usize) -> Option<Value> {
    i64::try_from(count).ok().map(Value::from)
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
