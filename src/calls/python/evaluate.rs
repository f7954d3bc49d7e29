//! The value of arithmetic, where the official program calls `eval`.
//!
//! Only constants, operators, collections and the builtins below exist here. A text cannot reach anything
//! else, and what it costs is limited: everything beyond is a decode failure.

use ruff_python_ast::{Expr, ExprCall, Operator};

use super::super::fault::{DecodeFault, DecodeResult};
use super::super::integer::Int;
use super::super::value::{Dict, Value};
use super::fault::{class_name, unhashable};
use super::literal::{self, SourceText};
use super::{arithmetic, unparse};
use crate::text::py_float;

/// The work that the arithmetic of one answer may make, in machine words and letters.
const FUEL: u64 = 1 << 22;

/// A constant of the official module, which `eval` sees.
const MAXIMUM_STEP_LIMIT: i64 = 20;

pub(super) struct Evaluator<'a> {
    source: SourceText<'a>,
    fuel: u64,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(source: SourceText<'a>) -> Self {
        Self { source, fuel: FUEL }
    }

    /// The value of an expression.
    pub(super) fn run(&mut self, expr: &Expr) -> DecodeResult<Value> {
        self.value(expr, 0)
    }

    fn value(&mut self, expr: &Expr, depth: usize) -> DecodeResult<Value> {
        // The official program writes the expression out first, and fails where that does.
        if depth > unparse::MAX_DEPTH {
            return Err(unparse::too_deep());
        }
        let depth = depth + 1;
        if let Some(value) = literal::constant(expr, self.source) {
            let value = value?;
            if matches!(&value, Value::Int(int) if int.to_text().is_none()) {
                return Err(unparse::too_many_digits());
            }
            return Ok(value);
        }
        match expr {
            Expr::BinOp(sum) => {
                let left = self.value(&sum.left, depth)?;
                let right = self.value(&sum.right, depth)?;
                arithmetic::binary(sum.op, &left, &right, &mut self.fuel)
            }
            Expr::UnaryOp(unary) => {
                let value = self.value(&unary.operand, depth)?;
                arithmetic::unary(unary.op, &value)
            }
            Expr::List(list) => self.values(&list.elts, depth).map(Value::List),
            Expr::Tuple(tuple) => self.values(&tuple.elts, depth).map(Value::Tuple),
            Expr::Dict(dict) => {
                let mut result = Dict::new();
                for item in dict {
                    let key = item.key.as_ref().ok_or_else(|| unknown(expr))?;
                    let key = self.value(key, depth)?;
                    let value = self.value(&item.value, depth)?;
                    if !key.is_hashable() {
                        return Err(unhashable(&key));
                    }
                    result.insert(key, value);
                }
                Ok(Value::Dict(result))
            }
            Expr::Name(name) if name.id.as_str() == "MAXIMUM_STEP_LIMIT" => {
                Ok(Value::from(MAXIMUM_STEP_LIMIT))
            }
            Expr::Name(name) => {
                let name = name.id.as_str();
                Err(DecodeFault::new(format!("name '{name}' is not defined")))
            }
            Expr::Call(call) => self.builtin(call, depth),
            Expr::Subscript(subscript) => {
                let value = self.value(&subscript.value, depth)?;
                let place = self.value(&subscript.slice, depth)?;
                item(&value, &place).ok_or_else(|| unknown(expr))
            }
            Expr::If(choice) => {
                let holds = arithmetic::truth(&self.value(&choice.test, depth)?);
                self.value(if holds { &choice.body } else { &choice.orelse }, depth)
            }
            other => Err(unknown(other)),
        }
    }

    fn values(&mut self, items: &[Expr], depth: usize) -> DecodeResult<Vec<Value>> {
        items.iter().map(|item| self.value(item, depth)).collect()
    }

    fn builtin(&mut self, call: &ExprCall, depth: usize) -> DecodeResult<Value> {
        let Expr::Name(name) = &*call.func else {
            return Err(unknown(&call.func));
        };
        let name = name.id.as_str();
        if !call.arguments.keywords.is_empty() {
            return Err(DecodeFault::new(format!("name '{name}' is not defined")));
        }
        let arguments = self.values(&call.arguments.args, depth)?;
        let result = match (name, &*arguments) {
            ("abs", [value]) => absolute(value),
            ("bool", [value]) => Some(Value::Bool(arithmetic::truth(value))),
            ("chr", [value]) => character(value),
            ("float", [value]) => to_float(value),
            ("int", [value]) => to_integer(value),
            ("len", [value]) => length(value)
                .and_then(|n| i64::try_from(n).ok())
                .map(Value::from),
            ("max" | "min", [values]) => extreme(name, items(values)?),
            ("max" | "min", values @ [_, _, ..]) => extreme(name, values),
            ("ord", [Value::Str(text)]) => code_point(text),
            ("pow", [a, b]) => {
                return arithmetic::binary(Operator::Pow, a, b, &mut self.fuel);
            }
            ("round", [Value::Float(value)]) => {
                Int::from_f64(value.round_ties_even()).map(Value::Int)
            }
            ("round", [value]) => value.as_integer().map(Value::Int),
            ("str", [value]) => to_text(value),
            ("sum", [values]) => {
                let mut sum = Value::from(0);
                for value in items(values)? {
                    if matches!(value, Value::Str(_) | Value::Bytes(_)) {
                        return Err(refused(name));
                    }
                    sum = arithmetic::binary(Operator::Add, &sum, value, &mut self.fuel)?;
                }
                Some(sum)
            }
            (
                "abs" | "bool" | "chr" | "float" | "int" | "len" | "max" | "min" | "ord" | "round"
                | "str" | "sum",
                _,
            ) => None,
            _ => return Err(DecodeFault::new(format!("name '{name}' is not defined"))),
        };
        result.ok_or_else(|| refused(name))
    }
}

fn refused(name: &str) -> DecodeFault {
    DecodeFault::new(format!("{name}() does not take this argument"))
}

fn unknown(expr: &Expr) -> DecodeFault {
    let class = class_name(expr);
    DecodeFault::new(format!("a {class} is not evaluated"))
}

fn items(value: &Value) -> DecodeResult<&[Value]> {
    match value {
        Value::List(items) | Value::Tuple(items) => Ok(items),
        _ => Err(DecodeFault::new("not a list")),
    }
}

/// `value[place]`.
fn item(value: &Value, place: &Value) -> Option<Value> {
    if let Value::Dict(dict) = value {
        return place.is_hashable().then(|| dict.get(place).cloned())?;
    }
    let place = place.as_integer()?.to_i64()?;
    let place = match usize::try_from(place) {
        Ok(place) => place,
        Err(_) => length(value)?.checked_sub(usize::try_from(place.unsigned_abs()).ok()?)?,
    };
    match value {
        Value::Str(text) => text.chars().nth(place).map(|c| Value::Str(c.to_string())),
        Value::List(items) | Value::Tuple(items) => items.get(place).cloned(),
        Value::Bytes(bytes) => bytes.get(place).map(|&byte| Value::from(i64::from(byte))),
        _ => None,
    }
}

fn absolute(value: &Value) -> Option<Value> {
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

fn character(value: &Value) -> Option<Value> {
    let code = u32::try_from(value.as_integer()?.to_i64()?).ok()?;
    char::from_u32(code).map(|c| Value::Str(c.to_string()))
}

fn code_point(text: &str) -> Option<Value> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Some(Value::from(i64::from(u32::from(c)))),
        _ => None,
    }
}

fn to_float(value: &Value) -> Option<Value> {
    match value {
        Value::Float(_) => Some(value.clone()),
        Value::Str(text) => py_float(text).map(Value::Float),
        other => other.as_integer()?.to_f64().map(Value::Float),
    }
}

fn to_integer(value: &Value) -> Option<Value> {
    match value {
        Value::Float(value) => Int::from_f64(*value).map(Value::Int),
        Value::Str(text) => Int::from_text(text).map(Value::Int),
        other => other.as_integer().map(Value::Int),
    }
}

fn to_text(value: &Value) -> Option<Value> {
    match value {
        Value::Str(_) => Some(value.clone()),
        other => other.repr().ok().map(Value::Str),
    }
}

fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Str(text) => Some(text.chars().count()),
        Value::Bytes(bytes) => Some(bytes.len()),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => Some(items.len()),
        Value::Dict(dict) => Some(dict.len()),
        _ => None,
    }
}

/// The first of the largest or smallest: of texts, or of numbers (as doubles, and exactly if all are
/// integers).
fn extreme(name: &str, values: &[Value]) -> Option<Value> {
    let (first, rest) = values.split_first()?;
    let mut best = first;
    for value in rest {
        let less = less_than(value, best)?;
        let greater = less_than(best, value)?;
        if (name == "min" && less) || (name == "max" && greater) {
            best = value;
        }
    }
    Some(best.clone())
}

fn less_than(a: &Value, b: &Value) -> Option<bool> {
    if let (Value::Str(a), Value::Str(b)) = (a, b) {
        return Some(a < b);
    }
    if let (Some(a), Some(b)) = (a.as_integer(), b.as_integer()) {
        return Some(a < b);
    }
    let float = |value: &Value| match value {
        Value::Float(value) => Some(*value),
        other => other.as_integer()?.to_f64(),
    };
    Some(float(a)? < float(b)?)
}
