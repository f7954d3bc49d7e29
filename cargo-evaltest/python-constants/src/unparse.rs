//! Python's `ast.unparse`: the text of a positional call or a subscript in one canonical spelling.

use ruff_python_ast::{
    BoolOp, CmpOp, Comprehension, Expr, ExprCall, ExprDict, ExprLambda, Operator,
    ParameterWithDefault, UnaryOp,
};

use super::fault::{DecodeFault, DecodeResult};
use super::fstring;
use super::literal::{self, SourceText};
use super::precedence::Precedence;
use super::repr::repr_str;
use super::value::Value;

/// Each level takes three of the 1000 calls that Python nests; the official program has some open already.
pub(crate) const MAX_DEPTH: usize = 320;

pub(crate) fn too_deep() -> DecodeFault {
    DecodeFault::new("maximum recursion depth exceeded")
}

pub(crate) fn too_many_digits() -> DecodeFault {
    DecodeFault::new("Exceeds the limit (4300 digits) for integer string conversion")
}

/// The text of an expression.
pub(crate) fn unparse(expr: &Expr, source: SourceText<'_>) -> DecodeResult<String> {
    unparse_at(expr, source, Precedence::Test, false, 0)
}

/// Inside the braces of an f-string, where no backslash may stand.
pub(crate) fn unparse_inner(
    expr: &Expr,
    source: SourceText<'_>,
    depth: usize,
) -> DecodeResult<String> {
    unparse_at(expr, source, Precedence::Or, true, depth)
}

fn unparse_at(
    expr: &Expr,
    source: SourceText<'_>,
    precedence: Precedence,
    avoid_backslashes: bool,
    depth: usize,
) -> DecodeResult<String> {
    let mut unparser = Unparser {
        out: String::new(),
        source,
        avoid_backslashes,
        depth,
    };
    unparser.write(expr, precedence)?;
    Ok(unparser.out)
}

struct Unparser<'a> {
    out: String,
    source: SourceText<'a>,
    avoid_backslashes: bool,
    depth: usize,
}

impl Unparser<'_> {
    /// Writes an expression where at least the given precedence is asked for.
    fn write(&mut self, expr: &Expr, at: Precedence) -> DecodeResult<()> {
        if self.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        self.depth += 1;
        let own = Precedence::of(expr);
        let parenthesized = own.is_some_and(|own| at > own);
        if parenthesized {
            self.out.push('(');
        }
        self.bare(expr)?;
        if parenthesized {
            self.out.push(')');
        }
        self.depth -= 1;
        Ok(())
    }

    fn test(&mut self, expr: &Expr) -> DecodeResult<()> {
        self.write(expr, Precedence::Test)
    }

    fn bare(&mut self, expr: &Expr) -> DecodeResult<()> {
        match expr {
            Expr::Name(name) => self.out.push_str(&name.id),
            Expr::Call(call) => self.call(call)?,
            Expr::Attribute(attribute) => {
                self.write(&attribute.value, Precedence::Atom)?;
                // `3.real` would be a float. A `bool` is an integer too.
                let value = literal::constant(&attribute.value, self.source).transpose()?;
                if matches!(value, Some(Value::Int(_) | Value::Bool(_))) {
                    self.out.push(' ');
                }
                self.out.push('.');
                self.out.push_str(&attribute.attr);
            }
            Expr::Subscript(subscript) => {
                self.write(&subscript.value, Precedence::Atom)?;
                self.out.push('[');
                match &*subscript.slice {
                    Expr::Tuple(tuple) if !tuple.elts.is_empty() => {
                        self.tuple_items(&tuple.elts)?;
                    }
                    slice => self.test(slice)?,
                }
                self.out.push(']');
            }
            Expr::Slice(slice) => {
                if let Some(lower) = &slice.lower {
                    self.test(lower)?;
                }
                self.out.push(':');
                if let Some(upper) = &slice.upper {
                    self.test(upper)?;
                }
                if let Some(step) = &slice.step {
                    self.out.push(':');
                    self.test(step)?;
                }
            }
            Expr::Starred(starred) => {
                self.out.push('*');
                self.write(&starred.value, Precedence::BitOr)?;
            }
            Expr::List(list) => self.delimited("[", &list.elts, "]")?,
            Expr::Set(set) => self.delimited("{", &set.elts, "}")?,
            Expr::Tuple(tuple) if tuple.elts.is_empty() => self.out.push_str("()"),
            Expr::Tuple(tuple) => self.tuple_items(&tuple.elts)?,
            Expr::Dict(dict) => self.dict(dict)?,
            Expr::FString(node) => {
                let text = fstring::unparse(node, self.source, self.avoid_backslashes, self.depth)?;
                self.out.push_str(&text);
            }
            Expr::ListComp(node) => self.comprehension("[", &node.elt, &node.generators, "]")?,
            Expr::SetComp(node) => self.comprehension("{", &node.elt, &node.generators, "}")?,
            Expr::Generator(node) => self.comprehension("(", &node.elt, &node.generators, ")")?,
            Expr::DictComp(node) => {
                self.out.push('{');
                if let Some(key) = &node.key {
                    self.test(key)?;
                    self.out.push_str(": ");
                }
                self.test(&node.value)?;
                self.generators(&node.generators)?;
                self.out.push('}');
            }
            Expr::EllipsisLiteral(_) => self.out.push_str("..."),
            other => match literal::constant(other, self.source) {
                Some(value) => self.constant(&value?, other)?,
                None => self.operation(other)?,
            },
        }
        Ok(())
    }

    fn operation(&mut self, expr: &Expr) -> DecodeResult<()> {
        match expr {
            Expr::BinOp(node) => {
                let own = Precedence::of_operator(node.op);
                let (left, right) = match node.op {
                    Operator::Pow => (own.next(), own),
                    _ => (own, own.next()),
                };
                self.write(&node.left, left)?;
                self.spaced(node.op.as_str());
                self.write(&node.right, right)?;
            }
            Expr::UnaryOp(node) => {
                self.out.push_str(node.op.as_str());
                let own = match node.op {
                    UnaryOp::Not => {
                        self.out.push(' ');
                        Precedence::Not
                    }
                    _ => Precedence::Factor,
                };
                self.write(&node.operand, own)?;
            }
            Expr::Compare(node) => {
                self.write(&node.left, Precedence::BitOr)?;
                for (op, value) in node.ops.iter().zip(&node.comparators) {
                    self.spaced(comparison(*op));
                    self.write(value, Precedence::BitOr)?;
                }
            }
            Expr::BoolOp(node) => {
                // Each value asks for one more level than the one before, in Python too.
                let mut level = match node.op {
                    BoolOp::Or => Precedence::Or,
                    BoolOp::And => Precedence::And,
                };
                for (place, value) in node.values.iter().enumerate() {
                    if place > 0 {
                        self.spaced(node.op.as_str());
                    }
                    level = level.next();
                    self.write(value, level)?;
                }
            }
            Expr::If(node) => {
                self.write(&node.body, Precedence::Or)?;
                self.spaced("if");
                self.write(&node.test, Precedence::Or)?;
                self.spaced("else");
                self.test(&node.orelse)?;
            }
            Expr::Named(node) => {
                self.write(&node.target, Precedence::Atom)?;
                self.spaced(":=");
                self.write(&node.value, Precedence::Atom)?;
            }
            Expr::Lambda(node) => self.lambda(node)?,
            Expr::Await(node) => {
                self.out.push_str("await ");
                self.write(&node.value, Precedence::Atom)?;
            }
            Expr::Yield(node) => {
                self.out.push_str("yield");
                if let Some(value) = &node.value {
                    self.out.push(' ');
                    self.write(value, Precedence::Atom)?;
                }
            }
            Expr::YieldFrom(node) => {
                self.out.push_str("yield from ");
                self.write(&node.value, Precedence::Atom)?;
            }
            _ => return Err(DecodeFault::new("cannot be written as Python")),
        }
        Ok(())
    }

    fn spaced(&mut self, word: &str) {
        self.out.push(' ');
        self.out.push_str(word);
        self.out.push(' ');
    }

    fn constant(&mut self, value: &Value, expr: &Expr) -> DecodeResult<()> {
        if let Expr::StringLiteral(literal) = expr {
            let first = literal.value.as_slice().first();
            if first.is_some_and(|part| self.source.of(part).starts_with('u')) {
                self.out.push('u');
            }
        }
        match value {
            Value::Str(text) if self.avoid_backslashes => {
                self.out.push_str(&fstring::without_backslashes(text));
            }
            Value::Str(text) => self.out.push_str(&repr_str(text)),
            value => {
                let text = value.repr().map_err(|_| too_many_digits())?;
                // What overflows is written as a number that does, too.
                let is_float = matches!(value, Value::Float(_) | Value::Complex(..));
                self.out.push_str(&if is_float {
                    text.replace("inf", "1e309")
                } else {
                    text
                });
            }
        }
        Ok(())
    }

    fn items(&mut self, items: &[Expr]) -> DecodeResult<()> {
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                self.out.push_str(", ");
            }
            self.test(item)?;
        }
        Ok(())
    }

    fn tuple_items(&mut self, items: &[Expr]) -> DecodeResult<()> {
        self.items(items)?;
        if items.len() == 1 {
            self.out.push(',');
        }
        Ok(())
    }

    fn delimited(&mut self, open: &str, items: &[Expr], close: &str) -> DecodeResult<()> {
        self.out.push_str(open);
        self.items(items)?;
        self.out.push_str(close);
        Ok(())
    }

    fn dict(&mut self, dict: &ExprDict) -> DecodeResult<()> {
        self.out.push('{');
        for (place, item) in dict.iter().enumerate() {
            if place > 0 {
                self.out.push_str(", ");
            }
            if let Some(key) = &item.key {
                self.test(key)?;
                self.out.push_str(": ");
                self.test(&item.value)?;
            } else {
                self.out.push_str("**");
                self.write(&item.value, Precedence::BitOr)?;
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn call(&mut self, call: &ExprCall) -> DecodeResult<()> {
        self.write(&call.func, Precedence::Atom)?;
        self.out.push('(');
        self.items(&call.arguments.args)?;
        let mut comma = !call.arguments.args.is_empty();
        for keyword in &call.arguments.keywords {
            if comma {
                self.out.push_str(", ");
            }
            comma = true;
            match &keyword.arg {
                Some(name) => {
                    self.out.push_str(name);
                    self.out.push('=');
                }
                None => self.out.push_str("**"),
            }
            self.test(&keyword.value)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn comprehension(
        &mut self,
        open: &str,
        item: &Expr,
        generators: &[Comprehension],
        close: &str,
    ) -> DecodeResult<()> {
        self.out.push_str(open);
        self.test(item)?;
        self.generators(generators)?;
        self.out.push_str(close);
        Ok(())
    }

    fn generators(&mut self, generators: &[Comprehension]) -> DecodeResult<()> {
        for generator in generators {
            self.spaced(if generator.is_async {
                "async for"
            } else {
                "for"
            });
            self.write(&generator.target, Precedence::Tuple)?;
            self.spaced("in");
            self.write(&generator.iter, Precedence::Or)?;
            for condition in &generator.ifs {
                self.spaced("if");
                self.write(condition, Precedence::Or)?;
            }
        }
        Ok(())
    }

    fn lambda(&mut self, lambda: &ExprLambda) -> DecodeResult<()> {
        self.out.push_str("lambda");
        if let Some(parameters) = &lambda.parameters {
            let mut separator = " ";
            for (place, parameter) in parameters.posonlyargs.iter().enumerate() {
                self.parameter(separator, parameter)?;
                separator = ", ";
                if place + 1 == parameters.posonlyargs.len() {
                    self.out.push_str(", /");
                }
            }
            for parameter in &parameters.args {
                self.parameter(separator, parameter)?;
                separator = ", ";
            }
            if parameters.vararg.is_some() || !parameters.kwonlyargs.is_empty() {
                self.out.push_str(separator);
                self.out.push('*');
                if let Some(vararg) = &parameters.vararg {
                    self.out.push_str(&vararg.name);
                }
                separator = ", ";
            }
            for parameter in &parameters.kwonlyargs {
                self.parameter(separator, parameter)?;
            }
            if let Some(kwarg) = &parameters.kwarg {
                self.out.push_str(separator);
                self.out.push_str("**");
                self.out.push_str(&kwarg.name);
            }
        }
        self.out.push_str(": ");
        self.test(&lambda.body)
    }

    fn parameter(&mut self, separator: &str, parameter: &ParameterWithDefault) -> DecodeResult<()> {
        self.out.push_str(separator);
        self.out.push_str(&parameter.parameter.name);
        if let Some(default) = &parameter.default {
            self.out.push('=');
            self.test(default)?;
        }
        Ok(())
    }
}

fn comparison(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "==",
        CmpOp::NotEq => "!=",
        CmpOp::Lt => "<",
        CmpOp::LtE => "<=",
        CmpOp::Gt => ">",
        CmpOp::GtE => ">=",
        CmpOp::Is => "is",
        CmpOp::IsNot => "is not",
        CmpOp::In => "in",
        CmpOp::NotIn => "not in",
    }
}
