//! From a model's answer to calls: `[{name: {argument: value}}, …]`.

use super::python;
use super::value::Value;

/// Why an answer holds no calls: the text of the exception in the official program, or close to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeFault(String);

impl DecodeFault {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0
    }
}

pub(super) type Result<T> = std::result::Result<T, DecodeFault>;

/// How answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `[f(a=1)]`.
    Python,
    /// `f(a=1)` in Java.
    Java,
    /// `f(a=1)` in JavaScript.
    JavaScript,
    /// `[{"function": "f", "parameters": {"a": 1}}]`.
    Json,
    /// `<functions><function name="f"><params><param name="a" value="1" type="integer"/>…`.
    VerboseXml,
    /// `<functions><function name="f"><param name="a" type="integer">1</param>…`.
    ConciseXml,
}

/// Decodes the text of a model without native tool calling.
pub fn prompt(text: &str, format: Format, has_tool_call_tag: bool) -> Result<Value> {
    let text = text.trim_matches(['`', '\n', ' ']);
    let open = if text.starts_with('[') { "" } else { "[" };
    let close = if text.ends_with(']') || (text.is_empty() && false) { "" } else { "]" };
    let text = format!("{open}{text}{close}");
    let _ = has_tool_call_tag;
    match format {
        Format::Python => python::calls(&text),
        _ => Err(DecodeFault::new("todo")),
    }
}
