//! How constants compare.

use std::cmp::Ordering;

use ruff_python_ast::CmpOp;

use super::fault::{DecodeFault, DecodeResult};
use super::fault::{not_evaluated, unhashable};
use super::half;
use super::integer::Int;
use super::value::Value;

/// Whether a comparison holds.
pub(crate) fn compare(op: CmpOp, left: &Value, right: &Value) -> DecodeResult<bool> {
    let ordered = |expect: fn(Ordering) -> bool| Ok(order(left, right)?.is_some_and(expect));
    match op {
        CmpOp::Eq => Ok(left == right),
        CmpOp::NotEq => Ok(left != right),
        CmpOp::Lt => ordered(Ordering::is_lt),
        CmpOp::LtE => ordered(Ordering::is_le),
        CmpOp::Gt => ordered(Ordering::is_gt),
        CmpOp::GtE => ordered(Ordering::is_ge),
        CmpOp::In => contains(right, left),
        CmpOp::NotIn => contains(right, left).map(|is_in| !is_in),
        CmpOp::Is | CmpOp::IsNot => {
            let is_single =
                |value: &Value| matches!(value, Value::None | Value::Bool(_) | Value::Ellipsis);
            if !is_single(left) && !is_single(right) {
                return Err(not_evaluated(
                    "`is` is evaluated for `None`, `True` and `False` alone",
                ));
            }
            let is_same = left.type_name() == right.type_name() && left == right;
            Ok(is_same == (op == CmpOp::Is))
        }
    }
}

fn contains(all: &Value, one: &Value) -> DecodeResult<bool> {
    match (all, one) {
        (Value::Str(all), Value::Str(one)) => Ok(all.contains(&**one)),
        (Value::Str(_), _) => Err(DecodeFault::new(
            "'in <string>' requires string as left operand",
        )),
        (Value::Bytes(_), _) => Err(not_evaluated("`in` is not evaluated for bytes")),
        (Value::List(items) | Value::Tuple(items), one) => Ok(items.contains(one)),
        (Value::Set(items), one) if one.is_hashable() => Ok(items.contains(one)),
        (Value::Dict(dict), one) if one.is_hashable() => Ok(dict.get(one).is_some()),
        (Value::Set(_) | Value::Dict(_), one) => Err(unhashable(one)),
        (other, _) => {
            let class = other.type_name();
            Err(DecodeFault::new(format!(
                "argument of type '{class}' is not iterable"
            )))
        }
    }
}

/// The order of two values: none beside what is no number.
pub(crate) fn order(a: &Value, b: &Value) -> DecodeResult<Option<Ordering>> {
    let lists = |a: &[Value], b: &[Value]| -> DecodeResult<Option<Ordering>> {
        match a.iter().zip(b).find(|(a, b)| a != b) {
            Some((a, b)) => order(a, b),
            None => Ok(Some(a.len().cmp(&b.len()))),
        }
    };
    match (a, b) {
        // Halves come before the characters beyond them, as everywhere in Python.
        (Value::Str(a), Value::Str(b)) if a.is_ascii() && b.is_ascii() => Ok(Some(a.cmp(b))),
        (Value::Str(a), Value::Str(b)) => Ok(Some(code_points(a).cmp(code_points(b)))),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(Some(a.cmp(b))),
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => lists(a, b),
        (Value::Set(_), Value::Set(_)) => Err(not_evaluated("sets are not compared")),
        (Value::Float(a), Value::Float(b)) => Ok(a.partial_cmp(b)),
        (Value::Float(float), other) => Ok(beside(other, *float, a, b)?.map(Ordering::reverse)),
        (other, Value::Float(float)) => beside(other, *float, a, b),
        _ => match (a.as_integer(), b.as_integer()) {
            (Some(a), Some(b)) => Ok(Some(a.cmp(&b))),
            _ => Err(unordered(a, b)),
        },
    }
}

/// An integer beside a float, exactly.
fn beside(int: &Value, float: f64, a: &Value, b: &Value) -> DecodeResult<Option<Ordering>> {
    let int = int.as_integer().ok_or_else(|| unordered(a, b))?;
    if float.is_nan() {
        return Ok(None);
    }
    let Some(whole) = Int::from_f64(float) else {
        return Ok(Some(if float > 0.0 {
            Ordering::Less
        } else {
            Ordering::Greater
        }));
    };
    let rest = 0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal);
    Ok(Some(int.cmp(&whole).then(rest)))
}

fn code_points(text: &str) -> impl Iterator<Item = u32> {
    half::characters(text).map(|c| c.map_or_else(|half| half, u32::from))
}

fn unordered(a: &Value, b: &Value) -> DecodeFault {
    let (a, b) = (a.type_name(), b.type_name());
    DecodeFault::new(format!(
        "'<' not supported between instances of '{a}' and '{b}'"
    ))
}

/// `sorted`: the values from the smallest to the largest, or the other way round; equal ones stay as they are. It ends at
/// the first pair that has no order, where the sort of the standard library may panic.
pub(crate) fn sorted(all: &[Value], reverse: bool) -> DecodeResult<Vec<Value>> {
    let mut places: Vec<&Value> = all.iter().collect();
    if reverse {
        places.reverse();
    }
    let mut sorted: Vec<Value> = merged(&places)?.into_iter().cloned().collect();
    if reverse {
        sorted.reverse();
    }
    Ok(sorted)
}

fn merged<'a>(all: &[&'a Value]) -> DecodeResult<Vec<&'a Value>> {
    if all.len() < 2 {
        return Ok(all.to_vec());
    }
    let (left, right) = all.split_at(all.len() / 2);
    let (left, right) = (merged(left)?, merged(right)?);
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    let mut result = Vec::with_capacity(all.len());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let order = order(other, one)?
            .ok_or_else(|| not_evaluated("what is no number has no place in an order"))?;
        result.extend(if order == Ordering::Less {
            right.next()
        } else {
            left.next()
        });
    }
    result.extend(left);
    result.extend(right);
    Ok(result)
}
