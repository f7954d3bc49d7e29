//! A text to the syntax tree of an expression, where Python 3.11 has one.

use std::borrow::Cow;

use memchr::memchr;
use ruff_python_ast::{Expr, Mod, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::fault::{DecodeFault, DecodeResult};
use super::literal::SourceText;
use super::{fstring, nesting, tokens};

/// The stack for deep answers; the deepest that Python reads needs less than half of it.
const DEEP_STACK: usize = 32 << 20;

/// Parses an expression and hands it on.
pub(crate) fn parse<T>(
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
pub(crate) fn parse_to<T>(
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
