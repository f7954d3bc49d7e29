//! Helpers for the tests of several languages.

use super::Crash;
use super::DecodeResult;
use super::Value;

/// Asserts which calls are read from a text, in Python's notation; `None` if it cannot be read.
#[track_caller]
pub(super) fn check_calls(text: &str, got: &DecodeResult<Value>, expect: Option<&str>) {
    let repr = got.as_ref().ok().map(|value| value.repr().unwrap());
    assert_eq!(repr.as_deref(), expect, "{text:?} {got:?}");
}

/// Asserts which value a text is converted to, in Python's notation.
#[track_caller]
pub(super) fn check_value(text: &str, got: Result<Value, Crash>, expect: &str) {
    assert_eq!(got.unwrap().repr().unwrap(), expect, "{text:?}");
}
