//! Where the official program crashes instead of giving a verdict.

use crate::calls::TooManyDigits;

/// The exception, as Python prints it. The answer is wrong with `checker_crash_in_official`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crash(String);

impl Crash {
    pub(crate) fn new(exception: impl Into<String>) -> Self {
        Self(exception.into())
    }

    pub(crate) fn message(self) -> String {
        self.0
    }
}

/// A message that quotes a huge integer cannot be printed.
impl From<TooManyDigits> for Crash {
    fn from(_: TooManyDigits) -> Self {
        Self::new("ValueError: Exceeds the limit (4300 digits) for integer string conversion")
    }
}
