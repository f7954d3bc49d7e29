//! Calls as Python itself sees them: every argument counts, and every operator means what it says.
//!
//! [`calls`](crate::calls()) follows the official program, which leaves out positional arguments, takes every unary
//! operator for a minus and keeps nested calls apart from constants. Scorers of our own read call text here.

use std::mem;

use ruff_python_ast::{Expr, ExprCall};

use super::evaluate::Evaluator;
use super::fault::{DecodeFault, DecodeResult, class_name, unhashable, unsupported};
use super::literal::{self, SourceText};
use super::parse::parse;
use super::text::is_py_space;
use super::unparse;
use super::value::{Dict, Value};

/// A call with all its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlainCall {
    /// A name, or several with dots between them.
    pub name: String,
    /// What is given by its place.
    pub positional: Vec<Value>,
    /// In order; one that is given twice stands here twice.
    pub named: Vec<(String, Value)>,
    /// Whether a positional argument is a bare name: `f(x)` is how people write about a function.
    pub has_bare_name: bool,
}

/// The calls of a text: `f(a=1)`, `[f(a=1), g.h('b')]`, `f(), g()`.
pub fn plain_calls(text: &str) -> DecodeResult<Vec<PlainCall>> {
    parse(text.trim_matches(is_py_space), &|body, source| {
        let mut reader = PlainReader {
            source,
            evaluator: Evaluator::new(source),
            bare_names: 0,
        };
        let items = match body {
            Expr::Call(call) => return Ok(vec![reader.call(call)?]),
            Expr::List(list) => &list.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            other => return Err(no_call(other)),
        };
        let call = |item: &Expr| match item {
            Expr::Call(call) => reader.call(call),
            other => Err(no_call(other)),
        };
        items.iter().map(call).collect()
    })
}

fn no_call(expr: &Expr) -> DecodeFault {
    DecodeFault::new(format!("`{}` is no call", class_name(expr)))
}

struct PlainReader<'a> {
    source: SourceText<'a>,
    evaluator: Evaluator<'a>,
    bare_names: usize,
}

impl PlainReader<'_> {
    fn call(&mut self, call: &ExprCall) -> DecodeResult<PlainCall> {
        let mut read = PlainCall {
            name: name(&call.func).ok_or_else(|| no_call(&call.func))?,
            ..PlainCall::default()
        };
        let outer = mem::take(&mut self.bare_names);
        for argument in &call.arguments.args {
            match argument {
                Expr::Starred(starred) => match self.value(&starred.value)? {
                    Value::List(items) => read.positional.extend(items),
                    _ => return Err(unsupported("ast.Starred")),
                },
                Expr::Name(_) => {
                    self.bare_names += 1;
                    read.positional.push(self.value(argument)?);
                }
                argument => read.positional.push(self.value(argument)?),
            }
        }
        read.has_bare_name = mem::replace(&mut self.bare_names, outer) > 0;
        for keyword in &call.arguments.keywords {
            let value = self.value(&keyword.value)?;
            match (&keyword.arg, value) {
                (Some(name), value) => read.named.push((name.to_string(), value)),
                (None, Value::Dict(dict)) => {
                    for (key, value) in &dict {
                        let key = key.as_str().ok_or_else(|| unsupported("ast.keyword"))?;
                        read.named.push((key.to_owned(), value.clone()));
                    }
                }
                (None, _) => return Err(unsupported("ast.keyword")),
            }
        }
        Ok(read)
    }

    fn value(&mut self, expr: &Expr) -> DecodeResult<Value> {
        if let Some(value) = literal::constant(expr, self.source) {
            return value;
        }
        match expr {
            Expr::Name(name) => Ok(match name.id.as_str() {
                // As JSON and other languages write them.
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                "null" | "none" => Value::None,
                other => Value::from(other),
            }),
            Expr::List(list) => self.values(&list.elts).map(Value::List),
            Expr::Tuple(tuple) => self.values(&tuple.elts).map(Value::List),
            Expr::Set(set) => self.values(&set.elts).map(Value::Set),
            Expr::Dict(dict) => {
                let mut result = Dict::new();
                for item in dict {
                    let key = item.key.as_ref().ok_or_else(|| unsupported("ast.Dict"))?;
                    let key = self.value(key)?;
                    let value = self.value(&item.value)?;
                    if !key.is_hashable() {
                        return Err(unhashable(&key));
                    }
                    result.insert(key, value);
                }
                Ok(Value::Dict(result))
            }
            Expr::Call(call) if call.arguments.args.is_empty() => {
                let call = self.call(call)?;
                let named = call.named.into_iter();
                let named = named.map(|(name, value)| (Value::Str(name), value));
                let name = Value::Str(call.name);
                Ok(Value::Dict(Dict::of(name, Value::Dict(named.collect()))))
            }
            // What is no constant is its own text, in one spelling.
            other => self
                .evaluator
                .run(other)
                .or_else(|_| unparse::unparse(other, self.source).map(Value::Str)),
        }
    }

    fn values(&mut self, items: &[Expr]) -> DecodeResult<Vec<Value>> {
        items.iter().map(|item| self.value(item)).collect()
    }
}

/// A name, or a chain of attributes of one.
fn name(function: &Expr) -> Option<String> {
    let mut parts = Vec::new();
    let mut function = function;
    while let Expr::Attribute(attribute) = function {
        parts.push(attribute.attr.as_str());
        function = &attribute.value;
    }
    let Expr::Name(first) = function else {
        return None;
    };
    parts.push(first.id.as_str());
    parts.reverse();
    Some(parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        let read = plain_calls(text).ok().map(|calls| {
            let rendered = calls.iter().map(|call| {
                let positional = call.positional.iter().map(|value| value.repr().unwrap());
                let named = call.named.iter();
                let named = named.map(|(name, value)| format!("{name}={}", value.repr().unwrap()));
                let arguments: Vec<String> = positional.chain(named).collect();
                format!("{}({})", call.name, arguments.join(", "))
            });
            rendered.collect::<Vec<_>>().join("; ")
        });
        assert_eq!(read.as_deref(), expect, "{text}");
    }

    #[test]
    fn operators_and_positions_mean_what_python_means() {
        check("f(+5, --3, not True, a=~5)", Some("f(5, 3, False, a=-6)"));
        check("f(a=2+3, b=abs(-1), c=-(1+2))", Some("f(a=5, b=1, c=-3)"));
        check("[a.b(1), g()]", Some("a.b(1); g()"));
        check("f(*[1, 2], **{'a': 3})", Some("f(1, 2, a=3)"));
        check(
            "f(a=true, b=null, c=red)",
            Some("f(a=True, b=None, c='red')"),
        );
        check(
            "f(a=(1, 2), b={'x': {1}})",
            Some("f(a=[1, 2], b={'x': {1}})"),
        );
        check("f(a=g(y = 1))", Some("f(a={'g': {'y': 1}})"));
        check("f(a=g( x,\"q\" ))", Some("f(a=\"g(x, 'q')\")"));
        check("f(a=math.pi, b=x+1)", Some("f(a='math.pi', b='x + 1')"));
        check("f(a=10**10**10)", Some("f(a='10 ** 10 ** 10')"));
    }

    #[test]
    fn what_is_no_call_is_refused() {
        for text in [
            "",
            "f",
            "1",
            "[1]",
            "f()()",
            "x[0]()",
            "f(a=1",
            "f(**3)",
            "{f()}",
            "f(a={**x})",
        ] {
            check(text, None);
        }
        let bare = |text| plain_calls(text).unwrap()[0].has_bare_name;
        assert!(bare("f(x)") && bare("f(1, x, a=2)"));
        assert!(!bare("f(a=x)") && !bare("f(1, g(x))"));
    }
}
