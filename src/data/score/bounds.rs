//! Bounds of score details.

use std::collections::BTreeMap;

/// Minimum and maximum of details, by names of scorer and detail: `value` is the score itself.
pub(crate) type DetailBounds = BTreeMap<String, BTreeMap<String, [f64; 2]>>;
