//! Why an answer holds no calls.

use std::borrow::Cow;

use super::half;

/// Why an answer holds no calls: the text of the exception in the official program, or close to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodeFault {
    message: String,
    limit: Option<&'static str>,
}

impl DecodeFault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            limit: None,
        }
    }

    /// The official program may go on where this one does not.
    pub(crate) fn limited(message: impl Into<String>, limit: &'static str) -> Self {
        Self {
            limit: Some(limit),
            ..Self::new(message)
        }
    }

    /// The message.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What was too much to go on, in words.
    pub(crate) fn limit(&self) -> Option<&'static str> {
        self.limit
    }
}

pub(super) type DecodeResult<T> = std::result::Result<T, DecodeFault>;

/// The text that is kept, if Python can hand it to a parser: lone surrogates have no bytes.
pub(super) fn encoded(kept: &str) -> DecodeResult<Cow<'_, str>> {
    half::whole(kept).map_err(|half| {
        DecodeFault::new(format!(
            "'utf-8' codec can't encode character '\\u{half:04x}': surrogates not allowed"
        ))
    })
}

/// What is no call stands among the calls: an `assert` without a message.
pub(super) fn no_call() -> DecodeFault {
    DecodeFault::new("")
}
