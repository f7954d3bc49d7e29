//! The functions of Python that constant arithmetic may call: pure ones, bounded in what they cost.

use std::cmp::Ordering;
use std::fmt::Write as _;

use ruff_python_ast::{Expr, ExprCall, Operator};

use super::arithmetic::{binary, spend, too_large, truth, weight};
use super::conversions::{
    absolute, based, character, code_point, length, radix, to_float, to_integer, written,
};
use super::evaluate::{Evaluator, items, put, set};
use super::fault::not_evaluated;
use super::fault::{DecodeFault, DecodeResult};
use super::order::{order, sorted};
use super::value::{Dict, Value};
use super::{layout, rounding};

/// Names that the official `eval` knows, and that are not worked out here.
#[rustfmt::skip]
const UNSUPPORTED: &[&str] = &[
    "__import__", "__builtins__", "__doc__", "__file__", "__loader__", "__package__", "__spec__", "aiter", "anext", "breakpoint",
    "bytearray", "bytes", "callable", "classmethod", "compile", "complex", "copyright", "credits", "delattr", "dir", "exec",
    "exit", "filter", "frozenset", "getattr", "globals", "hasattr", "hash", "help", "id", "input", "isinstance", "issubclass",
    "iter", "license", "locals", "map", "memoryview", "next", "object", "open", "print", "property", "quit", "setattr", "slice",
    "staticmethod", "super", "type", "vars", "ast", "builtins", "copy", "deepcopy", "hashlib", "json", "operator", "os", "re",
    "reduce", "Path", "List", "Optional", "Union", "Type", "Callable", "Lock",
];

/// Builtins that are no functions: exceptions and single values. Nothing is worked out of these, either.
#[rustfmt::skip]
const OBJECTS: &[&str] = &[
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError",
    "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError", "ConnectionAbortedError", "ConnectionError",
    "ConnectionRefusedError", "ConnectionResetError", "DeprecationWarning", "EOFError", "EncodingWarning", "EnvironmentError",
    "Exception", "ExceptionGroup", "FileExistsError", "FileNotFoundError", "FloatingPointError", "FutureWarning",
    "GeneratorExit", "IOError", "ImportError", "ImportWarning", "IndentationError", "IndexError", "InterruptedError",
    "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError", "NameError",
    "NotADirectoryError", "NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning", "PermissionError",
    "ProcessLookupError", "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning",
    "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError",
    "TimeoutError", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
    "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError", "Warning", "ZeroDivisionError", "Ellipsis",
    "NotImplemented", "__build_class__",
];

/// Functions whose result is gone through once, and has no value of its own here.
const LAZY: &[&str] = &["range", "enumerate", "reversed", "zip"];

/// Functions that are worked out.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "abs", "all", "any", "ascii", "bin", "bool", "chr", "dict", "divmod", "eval", "float", "format", "hex", "int", "len", "list",
    "max", "min", "oct", "ord", "pow", "repr", "round", "set", "sorted", "str", "sum", "tuple",
];

/// The fault of a name without a value.
pub(crate) fn unknown_name(name: &str) -> DecodeFault {
    let is_known = |names: &[&str]| names.contains(&name);
    if is_known(UNSUPPORTED) || is_known(OBJECTS) || is_known(LAZY) || is_known(KNOWN) {
        return not_evaluated(format!("`{name}` is not evaluated"));
    }
    DecodeFault::new(format!("name '{name}' is not defined"))
}

/// Whether an expression is a call whose result can only be gone through, or asked for a place.
pub(crate) fn is_lazy(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else {
        return false;
    };
    matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "range")
}

/// What a builtin is given.
struct BuiltinArguments {
    values: Vec<Value>,
    named: Vec<(String, Value)>,
}

impl BuiltinArguments {
    fn take(&mut self, name: &str) -> Option<Value> {
        let place = self.named.iter().position(|(known, _)| known == name)?;
        Some(self.named.swap_remove(place).1)
    }

    fn sorted(&mut self, all: &[Value]) -> DecodeResult<Value> {
        if self.take("key").is_some_and(|key| key != Value::None) {
            return Err(refused("sorted"));
        }
        let reverse = self.take("reverse");
        if reverse.as_ref().is_some_and(|it| it.as_integer().is_none()) {
            return Err(DecodeFault::new("`reverse` is no integer"));
        }
        let reverse = reverse.is_some_and(|value| truth(&value));
        Ok(Value::List(sorted(all, reverse)?))
    }
}

impl Evaluator<'_> {
    /// What `range(…)` and the like give one after the other.
    pub(crate) fn lazy(
        &mut self,
        call: &ExprCall,
        depth: usize,
    ) -> DecodeResult<Option<Vec<Value>>> {
        let arguments = &call.arguments;
        if let Expr::Attribute(attribute) = &*call.func {
            let (true, true) = (
                arguments.is_empty(),
                matches!(attribute.attr.as_str(), "keys" | "values" | "items"),
            ) else {
                return Ok(None);
            };
            let Value::Dict(dict) = self.value(&attribute.value, depth)? else {
                return Ok(None);
            };
            let of = |(key, value): &(Value, Value)| match attribute.attr.as_str() {
                "keys" => key.clone(),
                "values" => value.clone(),
                _ => Value::Tuple(vec![key.clone(), value.clone()]),
            };
            return Ok(Some(dict.iter().map(of).collect()));
        }
        let Expr::Name(name) = &*call.func else {
            return Ok(None);
        };
        let name = name.id.as_str();
        if !LAZY.contains(&name) {
            return Ok(None);
        }
        if !arguments.keywords.is_empty() {
            return Err(refused(name));
        }
        let args = &arguments.args;
        Ok(Some(match (name, &**args) {
            ("range", _) => {
                let bounds = self.values(args, depth)?;
                range(&bounds, &mut self.fuel)?
            }
            ("enumerate", [all]) => {
                let all = self.iterable(all, depth, false)?;
                let pair = |(place, value)| Value::Tuple(vec![Value::from(place), value]);
                (0..).zip(all).map(pair).collect()
            }
            ("reversed", [all]) => {
                let mut all = self.iterable(all, depth, false)?;
                all.reverse();
                all
            }
            ("zip", [_, ..]) => {
                let mut columns = Vec::new();
                for column in args {
                    columns.push(self.iterable(column, depth, false)?.into_iter());
                }
                let mut rows = Vec::new();
                while let Some(row) = columns.iter_mut().map(Iterator::next).collect() {
                    rows.push(Value::Tuple(row));
                }
                rows
            }
            _ => return Err(refused(name)),
        }))
    }

    /// A call of a function by its name.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        call: &ExprCall,
        depth: usize,
    ) -> DecodeResult<Value> {
        if !KNOWN.contains(&name) {
            return Err(unknown_name(name));
        }
        let mut given = BuiltinArguments {
            values: Vec::new(),
            named: Vec::new(),
        };
        for keyword in &call.arguments.keywords {
            let Some(argument) = &keyword.arg else {
                return Err(refused(name));
            };
            let value = self.value(&keyword.value, depth)?;
            given.named.push((argument.to_string(), value));
        }
        // What goes through its argument takes what has no value of its own.
        let in_any_order = match name {
            "all" | "any" | "len" | "max" | "min" | "set" | "sorted" | "sum" => Some(true),
            "list" | "tuple" | "dict" => Some(false),
            _ => None,
        };
        let args = &call.arguments.args;
        match (&**args, in_any_order) {
            ([Expr::Starred(_), ..], _) | (_, None) => given.values = self.values(args, depth)?,
            ([Expr::Generator(_)], _) if name == "len" => {
                return Err(DecodeFault::new("object of type 'generator' has no len()"));
            }
            ([one], Some(_))
                if name == "dict" && !matches!(one, Expr::Call(_) | Expr::Generator(_)) =>
            {
                given.values.push(self.value(one, depth)?);
            }
            ([one, rest @ ..], Some(in_any_order))
                if !matches!(name, "max" | "min") || rest.is_empty() =>
            {
                if name == "len" && !is_lazy(one) {
                    given.values.push(self.value(one, depth)?);
                } else {
                    given
                        .values
                        .push(Value::List(self.iterable(one, depth, in_any_order)?));
                }
                given.values.extend(self.values(rest, depth)?);
            }
            _ => given.values = self.values(args, depth)?,
        }
        for value in &given.values {
            spend(&mut self.fuel, weight(value))?;
        }
        let value = self.given(name, &mut given)?;
        // A name that a function does not have is a fault in any case.
        if given.named.is_empty() {
            Ok(value)
        } else {
            Err(refused(name))
        }
    }

    fn given(&mut self, name: &str, given: &mut BuiltinArguments) -> DecodeResult<Value> {
        let values = std::mem::take(&mut given.values);
        let result = match (name, &*values) {
            ("abs", [value]) => absolute(value),
            ("all", [Value::List(all)]) => Some(Value::Bool(all.iter().all(truth))),
            ("any", [Value::List(all)]) => Some(Value::Bool(all.iter().any(truth))),
            ("ascii", [value]) => Some(Value::Str(ascii(&written(value)?))),
            ("bin", [value]) => radix(value, 2, "0b"),
            ("oct", [value]) => radix(value, 8, "0o"),
            ("hex", [value]) => radix(value, 16, "0x"),
            ("bool", []) => Some(Value::Bool(false)),
            ("bool", [value]) => Some(Value::Bool(truth(value))),
            ("chr", [value]) => character(value),
            ("dict", start @ ([] | [_])) => {
                let mut result = match start {
                    [] => Dict::new(),
                    [Value::Dict(start), ..] => start.clone(),
                    [Value::List(pairs) | Value::Tuple(pairs), ..] => dict(pairs.clone())?,
                    _ => return Err(refused(name)),
                };
                for (name, value) in given.named.drain(..) {
                    result.insert(Value::Str(name), value);
                }
                Some(Value::Dict(result))
            }
            ("divmod", [a, b]) => {
                let quotient = binary(Operator::FloorDiv, a, b, &mut self.fuel)?;
                let rest = binary(Operator::Mod, a, b, &mut self.fuel)?;
                Some(Value::Tuple(vec![quotient, rest]))
            }
            ("eval", [Value::Str(text)]) => Some(self.text(text)?),
            ("float", []) => Some(Value::Float(0.0)),
            ("float", [value]) => to_float(value),
            ("format", [value]) => Some(Value::Str(layout::format(value, "", &mut self.fuel)?)),
            ("format", [value, Value::Str(spec)]) => {
                Some(Value::Str(layout::format(value, spec, &mut self.fuel)?))
            }
            ("int", []) => Some(Value::from(0)),
            ("int", [value]) => match given.take("base") {
                None => to_integer(value),
                Some(base) => based(value, &base),
            },
            ("int", [value, base]) => based(value, base),
            ("len", [value]) => length(value)
                .and_then(|n| i64::try_from(n).ok())
                .map(Value::from),
            ("list", []) => Some(Value::List(Vec::new())),
            ("tuple", []) => Some(Value::Tuple(Vec::new())),
            ("set", []) => Some(Value::Set(Vec::new())),
            ("list", [Value::List(all)]) => Some(Value::List(all.clone())),
            ("tuple", [Value::List(all)]) => Some(Value::Tuple(all.clone())),
            ("set", [Value::List(all)]) => {
                spend(&mut self.fuel, 32 * all.len() as u64)?;
                Some(set(all.clone())?)
            }
            ("max" | "min", values) if !given.named.iter().any(|(name, _)| name == "key") => {
                let or = given.take("default");
                match values {
                    [Value::List(all)] if all.is_empty() => or,
                    [Value::List(all)] => Some(extreme(name, all)?),
                    [_, _, ..] if or.is_none() => Some(extreme(name, values)?),
                    _ => None,
                }
            }
            ("ord", [Value::Str(text)]) => code_point(text),
            ("ord", [Value::Bytes(bytes)]) if bytes.len() == 1 => {
                Some(Value::from(i64::from(bytes[0])))
            }
            ("pow", [a, b]) => Some(binary(Operator::Pow, a, b, &mut self.fuel)?),
            ("pow", [a, b, modulus]) => {
                return rounding::modular_power(a, b, modulus, &mut self.fuel);
            }
            ("str", [Value::Str(text)]) => Some(Value::Str(text.clone())),
            ("repr" | "str", [value]) => Some(Value::Str(written(value)?)),
            ("round", [value]) => match given.take("ndigits") {
                None | Some(Value::None) => rounding::whole(value),
                Some(digits) => rounding::to_digits(value, &digits)?,
            },
            ("round", [value, Value::None]) => rounding::whole(value),
            ("round", [value, digits]) => rounding::to_digits(value, digits)?,
            ("sorted", [Value::List(all)]) => Some(given.sorted(all)?),
            ("str", []) => Some(Value::from("")),
            ("sum", [Value::List(all)]) => {
                let start = given.take("start").unwrap_or_else(|| Value::from(0));
                Some(self.sum(all, start)?)
            }
            ("sum", [Value::List(all), start]) => Some(self.sum(all, start.clone())?),
            _ => None,
        };
        result.ok_or_else(|| refused(name))
    }

    fn sum(&mut self, all: &[Value], start: Value) -> DecodeResult<Value> {
        if matches!(start, Value::Str(_) | Value::Bytes(_)) {
            return Err(DecodeFault::new("sum() can't sum texts"));
        }
        all.iter().try_fold(start, |sum, value| {
            binary(Operator::Add, &sum, value, &mut self.fuel)
        })
    }
}

/// A dictionary of pairs.
pub(crate) fn dict(pairs: Vec<Value>) -> DecodeResult<Dict> {
    let mut result = Dict::new();
    for pair in pairs {
        let mut pair = items(pair, false)?.into_iter();
        let (Some(key), Some(value), None) = (pair.next(), pair.next(), pair.next()) else {
            return Err(DecodeFault::new(
                "dictionary update sequence element has another length than 2",
            ));
        };
        put(&mut result, key, value)?;
    }
    Ok(result)
}

fn refused(name: &str) -> DecodeFault {
    not_evaluated(format!("{name}() does not take these arguments"))
}

/// A text of `repr` with escapes for all beyond ASCII. Surrogates are escapes there already.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c) {
            ..0x80 => out.push(c),
            code @ ..0x100 => drop(write!(out, "\\x{code:02x}")),
            code @ ..0x1_0000 => drop(write!(out, "\\u{code:04x}")),
            code => drop(write!(out, "\\U{code:08x}")),
        }
    }
    out
}

fn range(bounds: &[Value], fuel: &mut u64) -> DecodeResult<Vec<Value>> {
    let bound = |value: &Value| match value.as_integer() {
        Some(int) => int.to_i64().ok_or_else(too_large),
        None => Err(DecodeFault::new(
            "this object cannot be interpreted as an integer",
        )),
    };
    let bounds: Vec<i64> = bounds.iter().map(bound).collect::<DecodeResult<_>>()?;
    let (start, end, step) = match *bounds {
        [end] => (0, end, 1),
        [start, end] => (start, end, 1),
        [_, _, 0] => return Err(DecodeFault::new("range() arg 3 must not be zero")),
        [start, end, step] => (start, end, step),
        _ => return Err(DecodeFault::new("range expected 1 to 3 arguments")),
    };
    let length = (i128::from(end) - i128::from(start) + i128::from(step)
        - i128::from(step.signum()))
        / i128::from(step);
    let length = u64::try_from(length.max(0)).map_err(|_| too_large())?;
    spend(fuel, length.saturating_mul(32))?;
    let count = i64::try_from(length).map_err(|_| too_large())?;
    Ok((0..count)
        .map(|place| Value::from(start + place * step))
        .collect())
}

/// The first of the largest or smallest.
fn extreme(name: &str, values: &[Value]) -> DecodeResult<Value> {
    let wanted = if name == "min" {
        Ordering::Less
    } else {
        Ordering::Greater
    };
    let mut values = values.iter();
    let mut best = values
        .next()
        .ok_or_else(|| DecodeFault::new("arg is an empty sequence"))?;
    for value in values {
        if order(value, best)? == Some(wanted) {
            best = value;
        }
    }
    Ok(best.clone())
}
