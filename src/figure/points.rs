//! `Points`: a difference of two shares.

use std::fmt::{self, Display, Formatter};

use super::Interval;

/// The difference of two shares in percentage points, with its sign: `+2.5`, `-0.03`.
///
/// A non-zero value that rounds to zero at one decimal gets more decimals, up to six.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Points(pub f64);

impl Points {
    /// Without a sign, if the text says the direction: a drop of `3.1` points.
    pub fn unsigned(self) -> String {
        Self(self.0.abs()).to_string().split_off(1)
    }

    /// With its interval: `+3.1 points (95 % interval -1.2 to +7.4)`.
    pub fn with_ci95(self, ci95: [f64; 2]) -> String {
        format!("{self} points ({})", Interval(ci95.map(Self)).ci95())
    }
}

impl Display for Points {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let points = self.0 * 100.0;
        // Smaller than the rounding error of 64-bit floats.
        if points.abs() < 1e-9 {
            return f.pad("+0.0");
        }
        let digits = (1..6).find(|digits| points.abs() * 10_f64.powi(*digits) >= 0.5);
        let digits = usize::try_from(digits.unwrap_or(6)).unwrap_or(1);
        f.pad(&format!("{points:+.digits$}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_never_written_as_none() {
        let check = |share: f64, expect: &str| assert_eq!(Points(share).to_string(), expect);
        check(0.0254, "+2.5");
        check(-0.12, "-12.0");
        check(0.0, "+0.0");
        check(-0.0, "+0.0");
        check(1e-17, "+0.0");
        check(-1.0 / 4000.0, "-0.03");
        check(0.0005, "+0.1");
        check(0.000_004, "+0.0004");
        check(-0.000_000_000_2, "-0.000000");
        assert_eq!(Points(-0.111).unsigned(), "11.1");
        let text = Points(0.031).with_ci95([-0.012, 0.074]);
        assert_eq!(text, "+3.1 points (95 % interval -1.2 to +7.4)");
        assert_eq!(format!("{:>6}", Points(0.01)), "  +1.0");
    }
}
