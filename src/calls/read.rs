//! Finds tool calls anywhere in an answer: native, in messages, as JSON or call text in prose, or by a custom pattern.
//!
//! The input comes from agents, so all of it takes time linear in the length of the answer: [`Effort`] limits it.

mod arguments;
mod json;
mod message;
mod native;
mod pattern;
mod text;

use crate::calls::{JsonValue as _, PlainCall, Value};
use crate::text::is_py_space;

pub(crate) use json::calls_or_reason;
pub(crate) use native::{native, trajectory};
pub(crate) use pattern::Pattern;
pub(crate) use text::find;

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) positional: Vec<Value>,
    /// In the order written; of duplicates the last counts.
    pub(crate) named: Vec<(String, Value)>,
}

impl From<PlainCall> for Call {
    fn from(call: PlainCall) -> Self {
        Self {
            name: call.name,
            positional: call.positional,
            named: call.named,
        }
    }
}

/// Whether a ground truth consists of calls, as `ast_match` and `trajectory` read them: an object or an array of
/// objects.
pub(crate) fn are_calls(truth: &serde_json::Value) -> bool {
    let is_made_of_objects = match truth {
        serde_json::Value::Array(items) => {
            !items.is_empty() && items.iter().all(serde_json::Value::is_object)
        }
        truth => truth.is_object(),
    };
    is_made_of_objects && calls_or_reason(&Value::from_serde(truth)).is_ok()
}

/// Calls found in a text, and their form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundCalls {
    pub(crate) calls: Vec<Call>,
    pub(crate) form: &'static str,
}

/// The text is built to be read again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooComplex;

/// The work allowed for a text, in bytes examined. Usual texts are read two or three times.
#[derive(Debug)]
struct Effort(usize);

impl Effort {
    /// The limit for a text of this length.
    fn for_text(text: &str) -> Self {
        Self((1 << 18) + 64 * text.len())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), TooComplex> {
        self.0 = self.0.checked_sub(bytes).ok_or(TooComplex)?;
        Ok(())
    }
}

/// Whether it can be a tool name: letters, digits, `_`, and `.`, `-`, `/`, `:` between them.
fn is_name(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.starts_with(is_word)
        && text.ends_with(is_word)
        && text
            .chars()
            .all(|c| is_word(c) || matches!(c, '.' | '-' | '/' | ':'))
}

/// Which brackets count.
#[derive(Clone, Copy, Debug)]
struct Brackets {
    open: &'static str,
    close: &'static str,
}

impl Brackets {
    const ALL: Self = Self {
        open: "([{",
        close: ")]}",
    };

    /// The kind that this closing bracket ends; none if it is no bracket.
    fn closed_by(c: Option<char>) -> Self {
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
struct Outside {
    brackets: Brackets,
    depth: usize,
    quote: Option<char>,
    is_escaped: bool,
    value_begins: bool,
}

impl Outside {
    fn of(brackets: Brackets) -> Self {
        Self {
            brackets,
            depth: 0,
            quote: None,
            is_escaped: false,
            value_begins: true,
        }
    }

    /// Whether no bracket or quote is open.
    fn is_here(&self) -> bool {
        self.depth == 0 && self.quote.is_none()
    }

    /// Moves past the next character.
    fn pass(&mut self, c: char) {
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
