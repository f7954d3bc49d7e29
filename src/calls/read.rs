//! Finds tool calls anywhere in an answer: native, in messages, as JSON or call text in prose, or by a custom pattern.
//!
//! The input comes from agents, so all of it takes time linear in the length of the answer: [`Effort`] limits it.

mod arguments;
mod json;
mod native;
mod outside;
mod pattern;
mod text;

use crate::calls::PlainCall;
use crate::calls::{JsonValue as _, Value};

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
