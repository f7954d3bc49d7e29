//! The value of arithmetic, where the official program calls `eval`.
//!
//! Only constants, operators, collections, comprehensions, [builtins](super::builtins) and [methods](super::methods) that
//! change nothing exist here. A text cannot reach anything else, and what it costs is limited: everything beyond is a
//! decode failure that says so.

use ruff_python_ast::{
    BoolOp, CmpOp, Comprehension, Expr, ExprCall, ExprCompare, ExprDict, ExprLambda, ExprSubscript,
    Operator,
};

use super::arithmetic::{binary, spend, truth, unary, weight};
use super::fault::{DecodeFault, DecodeResult};
use super::fault::{class_name, not_evaluated, unhashable};
use super::half;
use super::literal::{self, SourceText};
use super::order::compare;
use super::parse::parse;
use super::places::item;
use super::value::{Dict, Value};
use super::{builtins, methods, unparse};

/// The work that the arithmetic of one answer may make, in machine words and letters.
const FUEL: u64 = 1 << 22;

/// A constant of the official module, which `eval` sees.
const MAXIMUM_STEP_LIMIT: i64 = 20;

pub(crate) struct Evaluator<'a> {
    source: SourceText<'a>,
    pub(crate) fuel: u64,
    /// The names of comprehensions and lambdas, the innermost last.
    names: Vec<(String, Value)>,
    /// What `:=` gave a name, in the order of time.
    assigned: Vec<(String, Value)>,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(source: SourceText<'a>) -> Self {
        Self {
            source,
            fuel: FUEL,
            names: Vec::new(),
            assigned: Vec::new(),
        }
    }

    /// The value of an expression.
    pub(crate) fn run(&mut self, expr: &Expr) -> DecodeResult<Value> {
        self.names.clear();
        self.assigned.clear();
        self.value(expr, 0)
    }

    /// The value of the expression that a text is, at the expense of this one.
    pub(crate) fn text(&mut self, text: &str) -> DecodeResult<Value> {
        let fuel = std::cell::Cell::new(self.fuel / 2);
        self.fuel /= 2;
        parse(text.trim_start_matches([' ', '\t']), &|body, source| {
            let mut inner = Evaluator::new(source);
            inner.fuel = fuel.get();
            inner.run(body)
        })
    }

    pub(crate) fn value(&mut self, expr: &Expr, depth: usize) -> DecodeResult<Value> {
        // The official program writes the expression out first, and fails where that does.
        if depth > unparse::MAX_DEPTH {
            return Err(unparse::too_deep());
        }
        spend(&mut self.fuel, 1)?;
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
                match (&left, &right) {
                    (Value::Set(a), Value::Set(b)) => sets(sum.op, a, b, &mut self.fuel),
                    _ => binary(sum.op, &left, &right, &mut self.fuel),
                }
            }
            Expr::UnaryOp(operation) => {
                let value = self.value(&operation.operand, depth)?;
                unary(operation.op, &value)
            }
            Expr::BoolOp(operation) => {
                let mut value = Value::None;
                for operand in &operation.values {
                    value = self.value(operand, depth)?;
                    if truth(&value) == (operation.op == BoolOp::Or) {
                        break;
                    }
                }
                Ok(value)
            }
            Expr::Compare(comparison) => self.comparison(comparison, depth),
            Expr::List(list) => self.values(&list.elts, depth).map(Value::List),
            Expr::Tuple(tuple) => self.values(&tuple.elts, depth).map(Value::Tuple),
            Expr::Set(literal) => {
                let items = self.values(&literal.elts, depth)?;
                set(items)
            }
            Expr::Dict(dict) => self.dict(dict, depth),
            Expr::ListComp(all) => self
                .comprehension(&all.generators, &[&all.elt], depth)
                .map(Value::List),
            Expr::SetComp(all) => {
                let items = self.comprehension(&all.generators, &[&all.elt], depth)?;
                set(items)
            }
            Expr::DictComp(all) => {
                let Some(key) = &all.key else {
                    return Err(unknown(expr));
                };
                let pairs = self.comprehension(&all.generators, &[key, &all.value], depth)?;
                builtins::dict(pairs).map(Value::Dict)
            }
            Expr::Name(name) => self.name(name.id.as_str()),
            Expr::Call(call) => self.call(call, depth),
            Expr::Subscript(subscript) => self.subscript(subscript, depth),
            Expr::If(choice) => {
                let holds = truth(&self.value(&choice.test, depth)?);
                self.value(if holds { &choice.body } else { &choice.orelse }, depth)
            }
            Expr::Named(named) => {
                let value = self.value(&named.value, depth)?;
                let Expr::Name(name) = &*named.target else {
                    return Err(unknown(expr));
                };
                self.assigned.push((name.id.to_string(), value.clone()));
                Ok(value)
            }
            Expr::Attribute(attribute) => {
                let value = self.value(&attribute.value, depth)?;
                methods::part(&value, attribute.attr.as_str())
            }
            Expr::FString(text) => self.interpolated(text, depth),
            other => Err(unknown(other)),
        }
    }

    fn dict(&mut self, dict: &ExprDict, depth: usize) -> DecodeResult<Value> {
        let mut result = Dict::new();
        for item in dict {
            let value = self.value(&item.value, depth)?;
            match &item.key {
                Some(key) => {
                    let key = self.value(key, depth)?;
                    put(&mut result, key, value)?;
                }
                None => match value {
                    Value::Dict(dict) => {
                        spend(&mut self.fuel, weight(&Value::Dict(dict.clone())))?;
                        for (key, value) in &dict {
                            result.insert(key.clone(), value.clone());
                        }
                    }
                    _ => return Err(DecodeFault::new("not a mapping")),
                },
            }
        }
        Ok(Value::Dict(result))
    }

    fn subscript(&mut self, subscript: &ExprSubscript, depth: usize) -> DecodeResult<Value> {
        if let Expr::Slice(slice) = &*subscript.slice {
            let value = self.value(&subscript.value, depth)?;
            return self.slice(&value, slice, depth);
        }
        let value = if builtins::is_lazy(&subscript.value) {
            // A range has places, too.
            Value::List(self.iterable(&subscript.value, depth, false)?)
        } else {
            self.value(&subscript.value, depth)?
        };
        let place = self.value(&subscript.slice, depth)?;
        item(&value, &place)
    }

    fn name(&mut self, name: &str) -> DecodeResult<Value> {
        let mut known = self.assigned.iter().chain(&self.names).rev();
        if let Some((_, value)) = known.find(|(known, _)| known == name) {
            spend(&mut self.fuel, weight(value))?;
            return Ok(value.clone());
        }
        match name {
            "MAXIMUM_STEP_LIMIT" => Ok(Value::from(MAXIMUM_STEP_LIMIT)),
            "__debug__" => Ok(Value::Bool(true)),
            "__name__" => Ok(Value::from("bfcl_eval.model_handler.utils")),
            _ => Err(builtins::unknown_name(name)),
        }
    }

    pub(crate) fn values(&mut self, items: &[Expr], depth: usize) -> DecodeResult<Vec<Value>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Expr::Starred(starred) => {
                    values.extend(self.iterable(&starred.value, depth, false)?);
                }
                item => values.push(self.value(item, depth)?),
            }
        }
        Ok(values)
    }

    /// What an expression gives when it is gone through. Sets have an order in Python, which nobody knows here: only
    /// where none is needed, they are gone through.
    pub(crate) fn iterable(
        &mut self,
        expr: &Expr,
        depth: usize,
        in_any_order: bool,
    ) -> DecodeResult<Vec<Value>> {
        if let Expr::Generator(all) = expr {
            return self.comprehension(&all.generators, &[&all.elt], depth + 1);
        }
        if let Expr::Call(call) = expr
            && let Some(items) = self.lazy(call, depth + 1)?
        {
            return Ok(items);
        }
        let value = self.value(expr, depth)?;
        spend(&mut self.fuel, weight(&value))?;
        items(value, in_any_order)
    }

    /// The values of a comprehension; of several expressions tuples.
    fn comprehension(
        &mut self,
        generators: &[Comprehension],
        of: &[&Expr],
        depth: usize,
    ) -> DecodeResult<Vec<Value>> {
        let mut values = Vec::new();
        self.collect(generators, of, depth, &mut values)?;
        Ok(values)
    }

    fn collect(
        &mut self,
        generators: &[Comprehension],
        of: &[&Expr],
        depth: usize,
        values: &mut Vec<Value>,
    ) -> DecodeResult<()> {
        let Some((generator, inner)) = generators.split_first() else {
            spend(&mut self.fuel, 32)?;
            values.push(match of {
                [one] => self.value(one, depth)?,
                several => {
                    let each = several.iter().map(|expr| self.value(expr, depth));
                    Value::Tuple(each.collect::<DecodeResult<_>>()?)
                }
            });
            return Ok(());
        };
        if generator.is_async {
            return Err(DecodeFault::new(
                "asynchronous comprehension outside of an asynchronous function",
            ));
        }
        for item in self.iterable(&generator.iter, depth, false)? {
            spend(&mut self.fuel, 8)?;
            let known = self.names.len();
            self.bind(&generator.target, item)?;
            let mut holds = true;
            for condition in &generator.ifs {
                holds = holds && truth(&self.value(condition, depth)?);
            }
            if holds {
                self.collect(inner, of, depth, values)?;
            }
            self.names.truncate(known);
        }
        Ok(())
    }

    fn bind(&mut self, target: &Expr, value: Value) -> DecodeResult<()> {
        let targets = match target {
            Expr::Name(name) => {
                self.names.push((name.id.to_string(), value));
                return Ok(());
            }
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::List(list) => &list.elts,
            other => return Err(unknown(other)),
        };
        let values = items(value, false)?;
        if targets
            .iter()
            .any(|target| matches!(target, Expr::Starred(_)))
        {
            return Err(not_evaluated("a starred target is not evaluated"));
        }
        if targets.len() != values.len() {
            return Err(DecodeFault::new("not as many values to unpack as expected"));
        }
        targets
            .iter()
            .zip(values)
            .try_for_each(|(target, value)| self.bind(target, value))
    }

    fn call(&mut self, call: &ExprCall, depth: usize) -> DecodeResult<Value> {
        match &*call.func {
            Expr::Name(name) => self.builtin(name.id.as_str(), call, depth),
            Expr::Attribute(attribute) => {
                let value = self.value(&attribute.value, depth)?;
                methods::call(self, &value, attribute.attr.as_str(), call, depth)
            }
            Expr::Lambda(lambda) => self.lambda(lambda, call, depth),
            other => Err(unknown(other)),
        }
    }

    fn lambda(
        &mut self,
        lambda: &ExprLambda,
        call: &ExprCall,
        depth: usize,
    ) -> DecodeResult<Value> {
        let limit = || not_evaluated("a lambda with such arguments is not evaluated");
        let arguments = self.values(&call.arguments.args, depth)?;
        if !call.arguments.keywords.is_empty() {
            return Err(limit());
        }
        let mut names = Vec::new();
        if let Some(parameters) = &lambda.parameters {
            let is_plain = parameters.vararg.is_none()
                && parameters.kwarg.is_none()
                && parameters.kwonlyargs.is_empty()
                && parameters
                    .iter_non_variadic_params()
                    .all(|one| one.default.is_none());
            if !is_plain {
                return Err(limit());
            }
            names.extend(
                parameters
                    .iter_non_variadic_params()
                    .map(|one| one.parameter.name.to_string()),
            );
        }
        if names.len() != arguments.len() {
            return Err(DecodeFault::new(
                "<lambda>() takes another number of arguments",
            ));
        }
        let known = self.names.len();
        self.names.extend(names.into_iter().zip(arguments));
        let value = self.value(&lambda.body, depth);
        self.names.truncate(known);
        value
    }

    fn comparison(&mut self, comparison: &ExprCompare, depth: usize) -> DecodeResult<Value> {
        let mut left = self.value(&comparison.left, depth)?;
        for (op, right) in comparison.ops.iter().zip(&comparison.comparators) {
            let is_in = matches!(op, CmpOp::In | CmpOp::NotIn);
            let right = if is_in && builtins::is_lazy(right) {
                Value::List(self.iterable(right, depth, true)?)
            } else {
                self.value(right, depth)?
            };
            spend(&mut self.fuel, weight(&left) + weight(&right))?;
            if !compare(*op, &left, &right)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    pub(crate) fn source(&self) -> SourceText<'a> {
        self.source
    }
}

/// The different ones of some values.
pub(crate) fn set(items: Vec<Value>) -> DecodeResult<Value> {
    let mut dict = Dict::new();
    for item in items {
        put(&mut dict, item, Value::None)?;
    }
    Ok(Value::Set(
        dict.iter().map(|(key, _)| key.clone()).collect(),
    ))
}

pub(crate) fn put(dict: &mut Dict, key: Value, value: Value) -> DecodeResult<()> {
    if !key.is_hashable() {
        return Err(unhashable(&key));
    }
    dict.insert(key, value);
    Ok(())
}

fn unknown(expr: &Expr) -> DecodeFault {
    let class = class_name(expr);
    not_evaluated(format!("a {class} is not evaluated"))
}

/// The values in a value.
pub(crate) fn items(value: Value, in_any_order: bool) -> DecodeResult<Vec<Value>> {
    match value {
        Value::List(items) | Value::Tuple(items) => Ok(items),
        Value::Set(items) if in_any_order || items.len() < 2 => Ok(items),
        Value::Set(_) => Err(not_evaluated("the order of a set is not known here")),
        Value::Dict(dict) => Ok(dict.iter().map(|(key, _)| key.clone()).collect()),
        Value::Str(text) => Ok(half::letters(&text).map(Value::from).collect()),
        Value::Bytes(bytes) => Ok(bytes
            .iter()
            .map(|&byte| Value::from(i64::from(byte)))
            .collect()),
        other => {
            let class = other.type_name();
            Err(DecodeFault::new(format!(
                "'{class}' object is not iterable"
            )))
        }
    }
}

/// `a | b` and the like of sets.
fn sets(op: Operator, a: &[Value], b: &[Value], fuel: &mut u64) -> DecodeResult<Value> {
    spend(fuel, 32 * (1 + a.len() as u64) * (1 + b.len() as u64))?;
    let only = |a: &[Value], b: &[Value]| -> Vec<Value> {
        a.iter().filter(|item| !b.contains(item)).cloned().collect()
    };
    Ok(Value::Set(match op {
        Operator::BitOr => [a, &only(b, a)].concat(),
        Operator::BitAnd => a.iter().filter(|item| b.contains(item)).cloned().collect(),
        Operator::Sub => only(a, b),
        Operator::BitXor => [only(a, b), only(b, a)].concat(),
        _ => {
            return Err(DecodeFault::new(
                "unsupported operand types: 'set' and 'set'",
            ));
        }
    }))
}

#[cfg(test)]
mod tests;
