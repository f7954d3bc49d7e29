//! Python call text. A separate crate parses it; the usual answers are read without it.

pub(crate) use evaltest_python_constants::{
    MAX_DIGITS, PlainCall, calls as parsed_calls, is_keyword, literal_eval, plain_calls,
};

use super::{DecodeResult, Value, fast};
use crate::text::is_py_space;

/// The calls of a text: `[f(a=1), g.h(b='x')]` or a single call.
pub(super) fn calls(text: &str) -> DecodeResult<Value> {
    let text = text.trim_matches(is_py_space).trim_matches('\'');
    fast::python_calls(text).unwrap_or_else(|| parsed_calls(text))
}
