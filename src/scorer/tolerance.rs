//! `Tolerance`: how far a number may be from the expected one.

use serde::Serialize;

use super::OptionReader;
use crate::error::Result;

/// How far a number may be from the expected one. The larger of both limits applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tolerance {
    /// The absolute limit.
    pub abs: f64,
    /// The limit as a share of the expected number.
    pub rel: f64,
}

pub(super) const ABS_TOL: (&str, &str) = (
    "abs_tol",
    "by how much a number may differ from the expected one; default 0",
);
pub(super) const REL_TOL: (&str, &str) = (
    "rel_tol",
    "by which share of the expected one a number may differ; default 0",
);

impl Tolerance {
    pub(super) fn read(options: &OptionReader<'_>) -> Result<Self> {
        let number = |name| Ok(options.number_in(name, 0.0, f64::MAX)?.unwrap_or(0.0));
        Ok(Self {
            abs: number("abs_tol")?,
            rel: number("rel_tol")?,
        })
    }

    /// Whether the number is close enough. A difference equal to the tolerance is accepted, up to rounding: 1.1 is
    /// within 0.1 of 1.
    pub(super) fn covers(self, got: f64, expected: f64) -> bool {
        let allowed = self.abs.max(self.rel * expected.abs());
        let rounding = 4.0 * f64::EPSILON * got.abs().max(expected.abs());
        allowed > 0.0 && (got - expected).abs() <= allowed + rounding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(abs: f64, rel: f64, got: f64, expected: f64, expect: bool) {
        let tolerance = Tolerance { abs, rel };
        assert_eq!(
            tolerance.covers(got, expected),
            expect,
            "{tolerance:?} {got} {expected}"
        );
    }

    #[test]
    fn near_enough() {
        check(0.1, 0.0, 1.1, 1.0, true);
        check(0.1, 0.0, 0.9, 1.0, true);
        check(0.1, 0.0, 1.101, 1.0, false);
        check(0.0, 0.01, 99.0, 100.0, true);
        check(0.0, 0.01, 101.0, 100.0, true);
        check(0.0, 0.01, -100.0, 100.0, false);
        check(0.0, 0.01, 1e-9, 0.0, false);
        check(5.0, 0.01, 104.0, 100.0, true);
        check(0.0, 0.0, 1.0, 1.0, false);
        check(1.0, 0.0, f64::INFINITY, f64::INFINITY, false);
        check(f64::MAX, 0.0, f64::NAN, 1.0, false);
        check(0.0, 2.0, f64::MAX, f64::MAX / 2.0, true);
    }
}
