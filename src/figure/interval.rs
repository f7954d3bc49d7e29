//! `Interval`: two figures as bounds.

use std::fmt::{self, Display, Formatter};

/// The bounds of an interval: `51.2 % to 72.0 %`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval<T>(pub [T; 2]);

impl<T: Display> Interval<T> {
    /// With its level: `95 % interval 51.2 % to 72.0 %`.
    pub fn ci95(&self) -> String {
        format!("{} {self}", ci95!())
    }
}

impl<T: Display> Display for Interval<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self([low, high]) = self;
        f.pad(&format!("{low} to {high}"))
    }
}

/// A number with this many decimals, such as a judge's points or kappa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub f64, pub usize);

impl Display for Scale {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(value, digits) = *self;
        let text = format!("{:.digits$}", value + 0.0);
        f.pad(&text)
    }
}

/// The text `95 % interval` with a prefix and suffix, for table heads.
macro_rules! ci95 {
    ($($before:literal)? $(; $after:literal)?) => {
        concat!($($before,)? "95 % interval" $(, $after)?)
    };
}
pub(crate) use ci95;

/// The text alone.
pub const CI95: &str = ci95!();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Points, Share};

    #[test]
    fn an_interval_is_two_figures() {
        let shares = Interval([Share(0.5123), Share(0.72)]);
        assert_eq!(shares.to_string(), "51.2 % to 72.0 %");
        assert_eq!(shares.ci95(), "95 % interval 51.2 % to 72.0 %");
        assert_eq!(
            Interval([Points(-0.01), Points(0.02)]).to_string(),
            "-1.0 to +2.0"
        );
        assert_eq!(
            Interval([1.0, 2.0].map(|it| Scale(it, 2))).to_string(),
            "1.00 to 2.00"
        );
        assert_eq!(ci95!("share ("; ")"), "share (95 % interval)");
    }
}
