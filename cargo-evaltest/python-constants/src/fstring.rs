//! How `ast.unparse` of Python 3.11 writes f-strings: without a backslash inside the braces, with the
//! first kind of quote that needs none.

use std::fmt::Write as _;

use ruff_python_ast::visitor::{Visitor, walk_interpolated_string_element};
use ruff_python_ast::{
    ConversionFlag, Expr, ExprFString, FStringPart, InterpolatedElement, InterpolatedStringElement,
};

use super::fault::{DecodeFault, DecodeResult};
use super::half;
use super::literal::{self, SourceText};
use super::printable::is_printable;
use super::repr::repr_str;
use super::unparse::unparse_inner;

const ALL_QUOTES: [&str; 4] = ["'", "\"", "\"\"\"", "'''"];

/// Whether a star stands alone in braces, which no expression is to Python 3.11.
pub(crate) fn has_lone_star(expr: &Expr, source: &str) -> bool {
    let mut braces = source.split('{').skip(1);
    if !braces.any(|inside| inside.trim_start().starts_with('*')) {
        return false;
    }
    let mut stars = LoneStars { found: false };
    stars.visit_expr(expr);
    stars.found
}

struct LoneStars {
    found: bool,
}

impl<'a> Visitor<'a> for LoneStars {
    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        let inside = element.as_interpolation().map(|field| &*field.expression);
        self.found |= matches!(inside, Some(Expr::Starred(_)));
        walk_interpolated_string_element(self, element);
    }
}

/// A constant part or one in braces.
struct FstringPart {
    text: String,
    is_constant: bool,
}

pub(crate) fn unparse(
    node: &ExprFString,
    source: SourceText<'_>,
    avoid_backslashes: bool,
    depth: usize,
) -> DecodeResult<String> {
    let parts = parts(node, source, depth)?;
    if avoid_backslashes {
        let text: String = parts.iter().map(|part| &*part.text).collect();
        return Ok(format!("f{}", without_backslashes(&text)));
    }
    let mut quotes = ALL_QUOTES.to_vec();
    let mut text = String::new();
    for part in &parts {
        let (written, fitting) = literal(&part.text, &quotes, part.is_constant);
        text.push_str(&written);
        if !fitting.iter().any(|quote| quotes.contains(quote)) {
            // No quote fits every part: three single ones, with `repr` for each part.
            let inside = parts.iter().map(|part| {
                let text = repr_str(&format!("\"{}", part.text));
                text[2..text.len() - 1].to_owned()
            });
            return Ok(format!("f'''{}'''", inside.collect::<String>()));
        }
        quotes = fitting;
    }
    let quote = quotes.first().copied().unwrap_or("'''");
    Ok(format!("f{quote}{text}{quote}"))
}

/// A text in quotes with no backslash if that is possible.
pub(crate) fn without_backslashes(text: &str) -> String {
    let (text, quotes) = literal(text, &ALL_QUOTES, false);
    let quote = quotes.first().copied().unwrap_or("'");
    format!("{quote}{text}{quote}")
}

/// The parts, with the constants of neighbouring literals joined.
fn parts(
    node: &ExprFString,
    source: SourceText<'_>,
    depth: usize,
) -> DecodeResult<Vec<FstringPart>> {
    let mut parts: Vec<FstringPart> = Vec::new();
    for part in node.value.as_slice() {
        match part {
            FStringPart::Literal(part) => push_constant(&mut parts, &literal::text(part, source)),
            FStringPart::FString(part) => {
                for element in &part.elements {
                    push_element(&mut parts, element, source, depth)?;
                }
            }
        }
    }
    Ok(parts)
}

fn push_constant(parts: &mut Vec<FstringPart>, text: &str) {
    let text = text.replace('{', "{{").replace('}', "}}");
    match parts.last_mut() {
        Some(last) if last.is_constant => last.text.push_str(&text),
        _ if text.is_empty() => {}
        _ => parts.push(FstringPart {
            text,
            is_constant: true,
        }),
    }
}

fn push_element(
    parts: &mut Vec<FstringPart>,
    element: &InterpolatedStringElement,
    source: SourceText<'_>,
    depth: usize,
) -> DecodeResult<()> {
    match element {
        InterpolatedStringElement::Literal(text) => {
            push_constant(parts, &half::encode(&text.value));
        }
        InterpolatedStringElement::Interpolation(field) => {
            if let Some(debug) = &field.debug_text {
                let text = format!(
                    "{}{}{}",
                    debug.leading(),
                    debug.expression(),
                    debug.trailing()
                );
                push_constant(parts, &half::encode(&text));
            }
            parts.push(FstringPart {
                text: braces(field, source, depth)?,
                is_constant: false,
            });
        }
    }
    Ok(())
}

fn braces(
    field: &InterpolatedElement,
    source: SourceText<'_>,
    depth: usize,
) -> DecodeResult<String> {
    let inner = unparse_inner(&field.expression, source, depth)?;
    if inner.contains('\\') {
        let message = "Unable to avoid backslash in f-string expression part";
        return Err(DecodeFault::new(message));
    }
    // Two braces would be an escaped one.
    let mut out = String::from(if inner.starts_with('{') { "{ " } else { "{" });
    out.push_str(&inner);
    out.push_str(match field.conversion {
        ConversionFlag::Str => "!s",
        ConversionFlag::Ascii => "!a",
        ConversionFlag::Repr => "!r",
        // `{x=}` shows the `repr`.
        ConversionFlag::None if field.debug_text.is_some() && field.format_spec.is_none() => "!r",
        ConversionFlag::None => "",
    });
    if let Some(spec) = &field.format_spec {
        out.push(':');
        let mut parts = Vec::new();
        for element in &spec.elements {
            push_element(&mut parts, element, source, depth)?;
        }
        for part in parts {
            out.push_str(&part.text);
        }
    }
    out.push('}');
    Ok(out)
}

/// Python's `_str_literal_helper`: the text between quotes, and the quotes that may stand around it.
fn literal<'q>(text: &str, quotes: &[&'q str], escape_space: bool) -> (String, Vec<&'q str>) {
    let mut escaped = String::with_capacity(text.len());
    for c in half::characters(text) {
        match c {
            Ok(c @ ('\n' | '\t')) if !escape_space => escaped.push(c),
            Ok(c) if c != '\\' && is_printable(c) => escaped.push(c),
            Ok(c) => escape(c, u32::from(c), &mut escaped),
            Err(half) => escape(char::REPLACEMENT_CHARACTER, half, &mut escaped),
        }
    }
    let many_lines = escaped.contains('\n');
    let fits = |quote: &&&str| (!many_lines || quote.len() > 1) && !escaped.contains(**quote);
    let mut possible: Vec<&str> = quotes.iter().filter(fits).copied().collect();
    if possible.is_empty() {
        let text = repr_str(text);
        let mark = &text[..1];
        let quote = quotes.iter().find(|quote| quote.contains(mark)).copied();
        let quote = quote.unwrap_or(if mark == "'" { "'" } else { "\"" });
        return (text[1..text.len() - 1].to_owned(), vec![quote]);
    }
    if let Some(last) = escaped.chars().next_back() {
        possible.sort_by_key(|quote| quote.starts_with(last));
        if possible[0].starts_with(last) {
            escaped.insert(escaped.len() - 1, '\\');
        }
    }
    (escaped, possible)
}

/// Python's `unicode_escape` encoding of a character.
fn escape(c: char, code: u32, out: &mut String) {
    let _ = match (c, code) {
        ('\\', _) => out.write_str("\\\\"),
        ('\n', _) => out.write_str("\\n"),
        ('\r', _) => out.write_str("\\r"),
        ('\t', _) => out.write_str("\\t"),
        (_, code @ ..0x100) => write!(out, "\\x{code:02x}"),
        (_, code @ ..0x1_0000) => write!(out, "\\u{code:04x}"),
        (_, code) => write!(out, "\\U{code:08x}"),
    };
}
