//! How low and how high details can be.

use std::collections::BTreeMap;

/// The lowest and the highest that details can be, by the name of the scorer and of the detail: `value` is the score
/// itself.
pub(crate) type DetailBounds = BTreeMap<String, BTreeMap<String, [f64; 2]>>;
