//! Why an answer holds no calls: the exception's text in the official program, or close to it.

use std::borrow::Cow;

use super::half;
pub(crate) use evaltest_python_constants::{DecodeFault, DecodeResult, no_call};

/// The text, if Python can pass it to a parser: lone surrogates cannot be encoded.
pub(super) fn encoded(text: &str) -> DecodeResult<Cow<'_, str>> {
    half::whole(text).map_err(|half| {
        DecodeFault::new(format!(
            "'utf-8' codec can't encode character '\\u{half:04x}': surrogates not allowed"
        ))
    })
}
