//! Finds what is outside of brackets and quotes in arguments that are neither JSON nor Python.

use crate::text::is_py_space;

/// Which brackets count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brackets {
    open: &'static str,
    close: &'static str,
}

impl Brackets {
    pub(super) const ALL: Self = Self {
        open: "([{",
        close: ")]}",
    };

    /// The kind that this closing bracket ends; none if it is no bracket.
    pub(super) fn closed_by(c: Option<char>) -> Self {
        let (open, close) = match c {
            Some(')') => ("(", ")"),
            Some(']') => ("[", "]"),
            Some('}') => ("{", "}"),
            _ => ("", ""),
        };
        Self { open, close }
    }
}

/// Scans a text character by character and tracks brackets and quotes.
///
/// A quote opens only at the start of a value: the one in `q=it's` is an apostrophe.
#[derive(Debug)]
pub(super) struct Outside {
    brackets: Brackets,
    depth: usize,
    quote: Option<char>,
    is_escaped: bool,
    value_begins: bool,
}

impl Outside {
    pub(super) fn of(brackets: Brackets) -> Self {
        Self {
            brackets,
            depth: 0,
            quote: None,
            is_escaped: false,
            value_begins: true,
        }
    }

    /// Whether no bracket or quote is open.
    pub(super) fn is_here(&self) -> bool {
        self.depth == 0 && self.quote.is_none()
    }

    /// Moves past the next character.
    pub(super) fn pass(&mut self, c: char) {
        if let Some(quote) = self.quote {
            if self.is_escaped {
                self.is_escaped = false;
            } else if c == '\\' {
                self.is_escaped = true;
            } else if c == quote {
                self.quote = None;
            }
        } else if self.value_begins && matches!(c, '"' | '\'') {
            self.quote = Some(c);
        } else if self.brackets.open.contains(c) {
            self.depth += 1;
        } else if self.brackets.close.contains(c) {
            self.depth = self.depth.saturating_sub(1);
        }
        self.value_begins =
            matches!(c, '=' | ':' | ',' | '[' | '(' | '{') || (self.value_begins && is_py_space(c));
    }
}
