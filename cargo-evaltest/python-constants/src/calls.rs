//! Call text as values, as the official `ast_parse` reads it with `ast.parse`.
//!
//! A keyword argument's value is a literal, a name (its text), a nested call, or a constant expression; anything else
//! is a fault. Positional arguments are ignored.

#[cfg(test)]
mod tests;

use ruff_python_ast::{Expr, ExprCall, ExprUnaryOp};

use super::evaluate::Evaluator;
use super::fault::{DecodeFault, DecodeResult, class_name, no_call, unhashable, unsupported};
use super::literal::{self, SourceText};
use super::parse::parse;
use super::value::{Dict, Value};
use super::{arithmetic, unparse};

/// The calls of a text, `[f(a=1), g.h(b='x')]` or a single call, each as `{name: {argument: value}}`.
pub fn calls(text: &str) -> DecodeResult<Value> {
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
