//! `Value`: the value of a metric.

use std::fmt::{self, Display, Formatter};

/// The value of a metric with four decimals, as gates compare and show it: `0.8333`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value(pub(crate) f64);

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.4}", self.0))
    }
}
