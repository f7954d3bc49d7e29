//! The values of metrics for people: with their unit, and next to a limit with enough digits.

use super::Unit;
use crate::figure::{Percent, Seconds, Share, Usd, with_minus};

impl Unit {
    /// A value with its unit: `83.3 %`, `1.2000 USD`, `4.2 s`, `0.6667`.
    pub(crate) fn written(self, value: f64) -> String {
        match self {
            Self::Share | Self::Drop => Share(value).to_string(),
            Self::Usd => Usd(value).to_string(),
            Self::Seconds => Seconds(value).to_string(),
            Self::Count | Self::Amount(_) | Self::Any(_) => {
                with_minus(&((value * 1e4).round() / 1e4).to_string())
            }
        }
    }

    /// The same, or with more digits where rounding would make it look like the limit.
    pub(in crate::verdict) fn alongside(self, value: f64, limit: f64) -> String {
        let written = self.written(value);
        if written != self.written(limit) || value.total_cmp(&limit).is_eq() {
            return written;
        }
        match self {
            Self::Share | Self::Drop => format!("{} %", show(value * 100.0, limit * 100.0)),
            Self::Usd => format!("{} USD", show(value, limit)),
            Self::Seconds => format!("{} s", show(value, limit)),
            Self::Count | Self::Amount(_) | Self::Any(_) => show(value, limit),
        }
    }

    /// A limit as it was typed: `80 %`, `2 USD`, `20 s`.
    pub(in crate::verdict) fn limit(self, limit: f64) -> String {
        match self {
            Self::Share | Self::Drop => Percent(limit).to_string(),
            Self::Usd => format!("{limit} USD"),
            Self::Seconds => format!("{limit} s"),
            Self::Count | Self::Amount(_) | Self::Any(_) => with_minus(&limit.to_string()),
        }
    }
}

/// A value in four decimals at most, or in full where rounding would make it look like the limit.
pub(in crate::verdict) fn show(value: f64, limit: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    let hides = rounded.total_cmp(&limit).is_eq() && value.total_cmp(&limit).is_ne();
    let shown = if hides || !rounded.is_finite() {
        value
    } else {
        rounded
    };
    with_minus(&shown.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_does_not_hide_a_miss() {
        assert_eq!(show(0.599_99, 0.6), "0.59999");
        assert_eq!(show(0.6, 0.6), "0.6");
        assert_eq!(show(2.0 / 3.0, 0.6), "0.6667");
        let check = |unit: Unit, value: f64, limit: f64, expect: &str| {
            assert_eq!(unit.alongside(value, limit), expect);
        };
        check(Unit::Share, 0.0, 0.8, "0.0 %");
        check(Unit::Share, 0.599_99, 0.6, "59.999 %");
        check(Unit::Share, 0.6, 0.6, "60.0 %");
        check(Unit::Share, 6.0 / 7.0, 0.857_14, "85.7143 %");
        check(Unit::Drop, -0.05, 0.1, "−5.0 %");
        check(Unit::Seconds, 1.54, 1.5, "1.54 s");
        check(Unit::Seconds, 2.0, 1.5, "2.0 s");
        check(Unit::Usd, 2.000_01, 2.0, "2.00001 USD");
        check(Unit::Any("points"), 10.0 / 3.0, 4.9, "3.3333");
    }

    #[test]
    fn a_limit_has_its_unit() {
        let check = |unit: Unit, limit: f64, expect: &str| assert_eq!(unit.limit(limit), expect);
        check(Unit::Share, 0.8, "80 %");
        check(Unit::Seconds, 20.0, "20 s");
        check(Unit::Usd, 2.0, "2 USD");
        check(Unit::Count, 100.0, "100");
        check(Unit::Any("points"), -0.5, "−0.5");
    }
}
