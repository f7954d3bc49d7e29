//! What the tests of several languages share.

use super::Value;
use super::crash::Crash;
use super::fault::DecodeResult;

/// Asserts what is read of a text, as Python shows it; `None` for what cannot be read.
#[track_caller]
pub(super) fn check_calls(text: &str, got: &DecodeResult<Value>, expect: Option<&str>) {
    let repr = got.as_ref().ok().map(|value| value.repr().unwrap());
    assert_eq!(repr.as_deref(), expect, "{text:?} {got:?}");
}

/// Asserts what a text is converted to, as Python shows it.
#[track_caller]
pub(super) fn check_value(text: &str, got: Result<Value, Crash>, expect: &str) {
    assert_eq!(got.unwrap().repr().unwrap(), expect, "{text:?}");
}
