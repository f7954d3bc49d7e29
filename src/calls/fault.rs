//! Why an answer holds no calls.

use memchr::memchr;

use super::value::lone_surrogate;

/// Why an answer holds no calls: the text of the exception in the official program, or close to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodeFault(String);

impl DecodeFault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The message.
    pub(crate) fn message(&self) -> &str {
        &self.0
    }
}

pub(super) type DecodeResult<T> = std::result::Result<T, DecodeFault>;

/// The text, if Python can hand it to a parser: lone surrogates have no bytes.
pub(super) fn encoded(text: &str) -> DecodeResult<&str> {
    // All of them start with the byte of the last plane.
    let code = if memchr(0xf4, text.as_bytes()).is_some() {
        text.chars().find_map(lone_surrogate)
    } else {
        None
    };
    match code {
        None => Ok(text),
        Some(code) => Err(DecodeFault(format!(
            "'utf-8' codec can't encode character '\\u{code:04x}': surrogates not allowed"
        ))),
    }
}

/// What is no call stands among the calls: an `assert` without a message.
pub(super) fn no_call() -> DecodeFault {
    DecodeFault::new("")
}
