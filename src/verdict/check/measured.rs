//! A measured value and its format.

/// A value, and its bounds if every sample had a verdict.
pub(super) struct Measured {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Its source, as text.
    pub(super) from: String,
}

impl Measured {
    pub(super) fn certain(value: f64, from: String) -> Self {
        Self {
            value,
            low: value,
            high: value,
            from,
        }
    }
}

/// A value with at most four decimals, or in full if rounding would make it equal the threshold.
pub(super) fn show(value: f64, threshold: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    let hides = rounded.total_cmp(&threshold).is_eq() && value.total_cmp(&threshold).is_ne();
    if hides || !rounded.is_finite() {
        value.to_string()
    } else {
        rounded.to_string()
    }
}
