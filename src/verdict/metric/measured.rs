//! A value that a gate is about, and how it is written.

/// A value, and what it could be at the extremes had every sample a verdict.
pub(in crate::verdict) struct Measured {
    pub(in crate::verdict) value: f64,
    pub(in crate::verdict) low: f64,
    pub(in crate::verdict) high: f64,
    /// What it was taken from, for people.
    pub(in crate::verdict) from: String,
}

impl Measured {
    pub(in crate::verdict) fn certain(value: f64, from: String) -> Self {
        Self {
            value,
            low: value,
            high: value,
            from,
        }
    }
}

/// A value in four decimals at most, or in full where rounding would make it look like the threshold.
pub(in crate::verdict) fn show(value: f64, threshold: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    let hides = rounded.total_cmp(&threshold).is_eq() && value.total_cmp(&threshold).is_ne();
    if hides || !rounded.is_finite() {
        value.to_string()
    } else {
        rounded.to_string()
    }
}

/// What is known of the upper end of the interval.
pub(in crate::verdict) struct UpperEnds {
    /// With what errored as wrong, and as right.
    pub(in crate::verdict) ends: [f64; 2],
    /// In words.
    pub(in crate::verdict) text: String,
}

impl UpperEnds {
    /// The upper end of an interval, in words.
    pub(in crate::verdict) fn text(confidence: f64, upper: f64, threshold: f64) -> String {
        format!(
            "the upper end of the {} % interval, {},",
            // 95, not 95.00000000000001.
            (confidence * 1e6).round() / 1e4,
            show(upper, threshold)
        )
    }
}
