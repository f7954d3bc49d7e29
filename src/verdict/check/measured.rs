//! A value that a gate is about, and how it is written.

/// A value, and what it could be at the extremes had every sample a verdict.
pub(super) struct Measured {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// What it was taken from, for people.
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

/// A value in four decimals at most, or in full where rounding would make it look like the threshold.
pub(super) fn show(value: f64, threshold: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    let hides = rounded.total_cmp(&threshold).is_eq() && value.total_cmp(&threshold).is_ne();
    if hides || !rounded.is_finite() {
        value.to_string()
    } else {
        rounded.to_string()
    }
}
