//! Python call text to values, as the official `ast_parse` does with `ast.parse`.
//!
//! The text is parsed, never run. A keyword argument's value is a literal, a name (its text), a nested
//! call, or a constant expression; anything else is a decode failure. Positional arguments are ignored.

mod arithmetic;
mod builtins;
mod complex;
mod conversions;
mod evaluate;
#[cfg(test)]
mod evaluate_tests;
mod fault;
mod fstring;
mod layout;
pub(super) mod literal;
mod methods;
pub(super) mod nesting;
mod order;
mod percent;
mod places;
mod plain;
mod precedence;
mod rounding;
mod searched;
mod sorted;
#[cfg(test)]
mod tests;
mod tokens;
mod unparse;

use std::borrow::Cow;

use memchr::memchr;
use ruff_python_ast::{Expr, ExprCall, ExprUnaryOp, Mod, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::fast;
use super::fault::{DecodeFault, DecodeResult, no_call};
use super::value::{Dict, Value};
use crate::text::is_py_space;
use evaluate::Evaluator;
use fault::{class_name, unhashable, unsupported};
use literal::SourceText;
pub(crate) use plain::{PlainCall, plain_calls};

/// The calls of a text: `[f(a=1), g.h(b='x')]` or a single call.
pub(super) fn calls(text: &str) -> DecodeResult<Value> {
    let text = text.trim_matches(is_py_space).trim_matches('\'');
    fast::python_calls(text).unwrap_or_else(|| parsed_calls(text))
}

/// What [`calls`] gives, by the parser of all of Python.
pub(super) fn parsed_calls(text: &str) -> DecodeResult<Value> {
    parse(text, &|body, source| {
        let mut resolver = Resolver::new(source);
        if let Expr::Call(call) = body {
            return Ok(Value::List(vec![resolver.call(call)?]));
        }
        let items = match body {
            Expr::List(list) => &list.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::Set(set) => &set.elts,
            other => {
                let class = class_name(other);
                let message = format!("'{class}' object has no attribute 'elts'");
                return Err(DecodeFault::new(message));
            }
        };
        let mut calls = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Expr::Call(call) => calls.push(resolver.call(call)?),
                _ => return Err(no_call()),
            }
        }
        Ok(Value::List(calls))
    })
}

/// Python's `ast.literal_eval`, which XML answers go through.
pub(crate) fn literal_eval(text: &str) -> DecodeResult<Value> {
    parse(text.trim_start_matches([' ', '\t']), &|body, source| {
        literal::literal(body, source)
    })
}

/// The stack for deep answers; the deepest that Python reads needs less than half of it.
const DEEP_STACK: usize = 32 << 20;

/// Parses an expression and hands it on.
fn parse<T>(
    text: &str,
    use_it: &dyn Fn(&Expr, SourceText<'_>) -> DecodeResult<T>,
) -> DecodeResult<T> {
    // Blanks in front are an indentation error in an expression, and ruff would skip a byte order mark.
    if text.starts_with([' ', '\t', '\u{feff}']) {
        return Err(syntax());
    }
    let text = newlines(text);
    if memchr(0, text.as_bytes()).is_some() {
        return Err(syntax());
    }
    let depth = nesting::depth(&text).ok_or_else(syntax)?;
    parse_to(depth, &text, use_it)
}

/// Parses an expression of this depth at most.
fn parse_to<T>(
    depth: usize,
    text: &str,
    use_it: &dyn Fn(&Expr, SourceText<'_>) -> DecodeResult<T>,
) -> DecodeResult<T> {
    let run = || {
        let options =
            ParseOptions::from(Mode::Expression).with_target_version(PythonVersion::PY311);
        let parsed = parse_unchecked(text, options);
        if !parsed.errors().is_empty() || !parsed.unsupported_syntax_errors().is_empty() {
            return Err(syntax());
        }
        if !tokens::are_known(parsed.tokens(), text) {
            return Err(syntax());
        }
        match parsed.syntax() {
            Mod::Expression(expression) if fstring::has_lone_star(&expression.body, text) => {
                Err(syntax())
            }
            Mod::Expression(expression) => use_it(&expression.body, SourceText(text)),
            Mod::Module(_) => Err(syntax()),
        }
    };
    // The tree is dropped by recursion too, so all of its life is spent on the larger stack.
    if depth > nesting::SHALLOW {
        stacker::grow(DEEP_STACK, run)
    } else {
        run()
    }
}

/// Python knows only `\n` once it has read a source.
fn newlines(text: &str) -> Cow<'_, str> {
    if memchr(b'\r', text.as_bytes()).is_some() {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

fn syntax() -> DecodeFault {
    DecodeFault::new("invalid syntax")
}

struct Resolver<'a> {
    source: SourceText<'a>,
    evaluator: Evaluator<'a>,
}

impl<'a> Resolver<'a> {
    fn new(source: SourceText<'a>) -> Self {
        Self {
            source,
            evaluator: Evaluator::new(source),
        }
    }

    /// `{name: {argument: value}}`. A name is a chain of attributes; what is no name at its start adds
    /// nothing: `f()(x=1)` is a call of `""`, `x[0].g()` of `g`.
    fn call(&mut self, call: &ExprCall) -> DecodeResult<Value> {
        let mut parts = Vec::new();
        let mut function = &*call.func;
        while let Expr::Attribute(attribute) = function {
            parts.push(attribute.attr.as_str());
            function = &attribute.value;
        }
        if let Expr::Name(name) = function {
            parts.push(name.id.as_str());
        }
        parts.reverse();
        let mut arguments = Dict::new();
        for keyword in &call.arguments.keywords {
            let value = self.value(&keyword.value)?;
            // `**kw` has no name.
            let name = keyword.arg.as_ref().map(|arg| Value::from(arg.as_str()));
            arguments.insert(name.unwrap_or(Value::None), value);
        }
        Ok(Value::Dict(Dict::of(
            Value::Str(parts.join(".")),
            Value::Dict(arguments),
        )))
    }

    fn value(&mut self, expr: &Expr) -> DecodeResult<Value> {
        match expr {
            Expr::EllipsisLiteral(_) => Ok(Value::from("...")),
            Expr::UnaryOp(unary) => self.unary(unary),
            Expr::List(list) => self.values(&list.elts).map(Value::List),
            Expr::Tuple(tuple) => self.values(&tuple.elts).map(Value::Tuple),
            Expr::Dict(dict) => {
                let mut result = Dict::new();
                for item in dict {
                    let Some(key) = &item.key else {
                        return Err(unsupported("NoneType"));
                    };
                    let key = self.value(key)?;
                    let value = self.value(&item.value)?;
                    if !key.is_hashable() {
                        return Err(unhashable(&key));
                    }
                    result.insert(key, value);
                }
                Ok(Value::Dict(result))
            }
            Expr::BinOp(sum) => {
                // The official program writes it out first, and cannot write every f-string.
                if self.source.of(sum).contains('{') {
                    unparse::unparse(expr, self.source)?;
                }
                self.evaluator.run(expr)
            }
            Expr::Name(name) => Ok(Value::from(name.id.as_str())),
            Expr::Call(call) if call.arguments.keywords.is_empty() => {
                unparse::unparse(expr, self.source).map(Value::Str)
            }
            Expr::Call(call) => self.call(call),
            Expr::Lambda(lambda) => {
                let class = class_name(&lambda.body);
                let message = format!("'{class}' object is not subscriptable");
                Err(DecodeFault::new(message))
            }
            Expr::Subscript(subscript) => {
                let value = unparse::unparse(&subscript.value, self.source)?;
                let slice = unparse::unparse(&subscript.slice, self.source)?;
                Ok(Value::Str(format!("{value}[{slice}]")))
            }
            other => match literal::constant(other, self.source) {
                Some(value) => value,
                None => Err(unsupported(&format!("ast.{}", class_name(other)))),
            },
        }
    }

    fn values(&mut self, items: &[Expr]) -> DecodeResult<Vec<Value>> {
        items.iter().map(|item| self.value(item)).collect()
    }

    /// Every unary operator negates: `+5` and `~5` are -5, `not True` is -1. Only constants have a value.
    fn unary(&mut self, unary: &ExprUnaryOp) -> DecodeResult<Value> {
        let operand = &*unary.operand;
        if let Some(value) = literal::constant(operand, self.source) {
            let value = value?;
            return arithmetic::negated(&value).ok_or_else(|| bad_minus(value.type_name()));
        }
        let inner = match operand {
            Expr::Attribute(node) => class_name(&node.value),
            Expr::Subscript(node) => class_name(&node.value),
            Expr::Starred(node) => class_name(&node.value),
            Expr::Named(node) => class_name(&node.value),
            Expr::Await(node) => class_name(&node.value),
            Expr::YieldFrom(node) => class_name(&node.value),
            Expr::Yield(node) => node.value.as_deref().map_or("NoneType", class_name),
            other => {
                let class = class_name(other);
                let message = format!("'{class}' object has no attribute 'value'");
                return Err(DecodeFault::new(message));
            }
        };
        Err(bad_minus(inner))
    }
}

fn bad_minus(class: &str) -> DecodeFault {
    DecodeFault::new(format!("bad operand type for unary -: '{class}'"))
}
