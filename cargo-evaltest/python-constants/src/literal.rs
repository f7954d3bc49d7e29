//! Constants of the syntax tree as values, and `ast.literal_eval`.

use ruff_python_ast::{Expr, Number, Operator, StringLiteral, UnaryOp};
use ruff_text_size::Ranged;

use super::arithmetic;
use super::fault::{DecodeFault, DecodeResult, unhashable};
use super::half::{self, stand_in};
use super::integer::{Int, MAX_DIGITS};
use super::parse::parse;
use super::value::{Dict, Value};

/// The text that was parsed: some constants are read from it, because the tree does not keep all of them.
#[derive(Clone, Copy)]
pub(crate) struct SourceText<'a>(pub(crate) &'a str);

impl SourceText<'_> {
    pub(crate) fn of(&self, node: &impl Ranged) -> &str {
        &self.0[node.range()]
    }
}

/// The value of what Python's `ast` calls a `Constant`, but for the ellipsis as itself.
pub(crate) fn constant(expr: &Expr, source: SourceText<'_>) -> Option<DecodeResult<Value>> {
    Some(Ok(match expr {
        Expr::NoneLiteral(_) => Value::None,
        Expr::BooleanLiteral(literal) => Value::Bool(literal.value),
        Expr::EllipsisLiteral(_) => Value::Ellipsis,
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(int) => match int.as_i64() {
                Some(small) => Value::from(small),
                None => match big(source.of(literal)) {
                    Some(value) => Value::Int(value),
                    None => return Some(Err(too_many_digits())),
                },
            },
            Number::Float(value) => Value::Float(*value),
            Number::Complex { real, imag } => Value::Complex(*real, *imag),
        },
        Expr::StringLiteral(literal) => {
            let parts = literal.value.as_slice();
            match parts {
                [part] => Value::Str(text(part, source)),
                parts => Value::Str(parts.iter().map(|part| text(part, source)).collect()),
            }
        }
        Expr::BytesLiteral(literal) => Value::Bytes(literal.value.bytes().collect()),
        _ => return None,
    }))
}

fn too_many_digits() -> DecodeFault {
    DecodeFault::new(
        "Exceeds the limit (4300 digits) for integer string conversion - Consider hexadecimal for huge \
         integer literals to avoid decimal conversion limits.",
    )
}

/// An integer that needs more than a machine word. Only decimals have a largest one.
fn big(token: &str) -> Option<Int> {
    let digits = token.replace('_', "");
    match digits.get(..2) {
        Some("0x" | "0X") => Int::from_digits(&digits[2..], 16),
        Some("0o" | "0O") => Int::from_digits(&digits[2..], 8),
        Some("0b" | "0B") => Int::from_digits(&digits[2..], 2),
        _ if digits.len() > MAX_DIGITS => None,
        _ => Int::from_digits(&digits, 10),
    }
}

/// The text of a string literal, as it is kept. The parser turns an escaped lone surrogate into U+FFFD; here it comes
/// back, by reading the escapes along with the characters they became.
pub(crate) fn text(literal: &StringLiteral, source: SourceText<'_>) -> String {
    let value = &*literal.value;
    let raw = source.of(literal);
    if !value.contains(char::REPLACEMENT_CHARACTER) || !raw.contains('\\') {
        return half::encode(value).into_owned();
    }
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    let mut raw = raw
        .trim_start_matches(|c: char| c != '\'' && c != '"')
        .chars();
    let quote = raw.clone().next();
    let opening = raw.as_str();
    let triple = quote.is_some_and(|q| opening.starts_with(&String::from_iter([q, q, q])));
    raw.nth(if triple { 2 } else { 0 });
    while let Some(c) = raw.next() {
        if c != '\\' {
            push(chars.next(), &mut out);
            continue;
        }
        let rest = raw.as_str();
        let width = match rest.chars().next() {
            Some('u') => 4,
            Some('U') => 8,
            Some('x') => 2,
            Some('N') => rest.find('}').unwrap_or(0),
            Some('0'..='7') => octal_digits(rest) - 1,
            _ => 0,
        };
        let code = rest
            .get(1..=width)
            .filter(|_| rest.starts_with(['u', 'U']))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .filter(|code| (0xd800..0xe000).contains(code));
        match (code, rest.chars().next()) {
            (Some(code), _) => {
                chars.next();
                out.push(stand_in(code));
            }
            // A continued line leaves nothing.
            (None, Some('\n') | None) => {}
            (None, Some(c)) => {
                push(chars.next(), &mut out);
                let known = "\\'\"abfnrtv01234567xuUN".contains(c);
                if !known {
                    push(chars.next(), &mut out);
                }
            }
        }
        raw.nth(width);
    }
    out
}

fn push(c: Option<char>, encoded: &mut String) {
    if let Some(c) = c {
        half::push(Ok(c), encoded);
    }
}

fn octal_digits(text: &str) -> usize {
    let is_octal = |byte: &u8| (b'0'..b'8').contains(byte);
    text.bytes().take(3).take_while(is_octal).count()
}

/// Python's `ast.literal_eval`.
pub fn literal_eval(text: &str) -> DecodeResult<Value> {
    parse(text.trim_start_matches([' ', '\t']), &|body, source| {
        literal(body, source)
    })
}

/// What `ast.literal_eval` accepts: constants, collections of them, signed numbers and `1 + 2j`.
pub(crate) fn literal(expr: &Expr, source: SourceText<'_>) -> DecodeResult<Value> {
    if let Some(value) = constant(expr, source) {
        return value;
    }
    let all = |items: &[Expr]| {
        items
            .iter()
            .map(|item| literal(item, source))
            .collect::<DecodeResult<Vec<_>>>()
    };
    match expr {
        Expr::List(list) => all(&list.elts).map(Value::List),
        Expr::Tuple(tuple) => all(&tuple.elts).map(Value::Tuple),
        Expr::Set(set) => {
            let mut items: Vec<Value> = Vec::new();
            for item in all(&set.elts)? {
                if !item.is_hashable() {
                    return Err(unhashable(&item));
                }
                if !items.contains(&item) {
                    items.push(item);
                }
            }
            Ok(Value::Set(items))
        }
        Expr::Dict(dict) => {
            let mut result = Dict::new();
            for item in dict {
                let key = literal(item.key.as_ref().ok_or_else(malformed)?, source)?;
                let value = literal(&item.value, source)?;
                if !key.is_hashable() {
                    return Err(unhashable(&key));
                }
                result.insert(key, value);
            }
            Ok(Value::Dict(result))
        }
        Expr::Call(call)
            if call.arguments.args.is_empty()
                && call.arguments.keywords.is_empty()
                && matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "set") =>
        {
            Ok(Value::Set(Vec::new()))
        }
        Expr::BinOp(sum) => {
            let left = signed(&sum.left, source)?;
            let right = number(&sum.right, source)?;
            match (&left, &right, sum.op) {
                (
                    Value::Int(_) | Value::Float(_),
                    Value::Complex(..),
                    Operator::Add | Operator::Sub,
                ) => {
                    let mut fuel = u64::MAX;
                    arithmetic::binary(sum.op, &left, &right, &mut fuel)
                }
                _ => Err(malformed()),
            }
        }
        other => signed(other, source),
    }
}

fn signed(expr: &Expr, source: SourceText<'_>) -> DecodeResult<Value> {
    match expr {
        Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => {
            let value = number(&unary.operand, source)?;
            arithmetic::negated(&value).ok_or_else(malformed)
        }
        Expr::UnaryOp(unary) if unary.op == UnaryOp::UAdd => number(&unary.operand, source),
        other => number(other, source),
    }
}

/// A number, which for `literal_eval` no `bool` is.
fn number(expr: &Expr, source: SourceText<'_>) -> DecodeResult<Value> {
    match constant(expr, source).ok_or_else(malformed)?? {
        value @ (Value::Int(_) | Value::Float(_) | Value::Complex(..)) => Ok(value),
        _ => Err(malformed()),
    }
}

fn malformed() -> DecodeFault {
    DecodeFault::new("malformed node or string")
}
