//! `P`: a p-value.

use std::fmt::{self, Display, Formatter};

/// A p-value with two significant digits: `p = 0.031`. Never written as zero: `p < 0.001`.
///
/// A p of 1, as for runs without a flip, is `1.0000`, as in every `summary.json`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct P(pub f64);

impl P {
    /// Without `p =`, for a table cell: `0.031`, `< 0.001`.
    pub fn cell(self) -> String {
        let digits = match self.0 {
            tiny if tiny < 0.001 => return "< 0.001".to_owned(),
            small if small < 0.01 => 4,
            some if some < 0.1 => 3,
            some if some < 1.0 => 2,
            _ => 4,
        };
        format!("{:.digits$}", self.0)
    }

    /// A significance level with two significant digits: `0.00084`.
    pub fn level(self) -> String {
        let digits = (2..16).find(|&digits| self.0 * 10_f64.powi(digits) >= 9.95);
        let digits = usize::try_from(digits.unwrap_or(16)).unwrap_or(2);
        format!("{:.digits$}", self.0)
    }

    /// The same with enough digits to see on which side of `level` it is: `p = 0.0498` for 0.05.
    pub fn cell_at_level(self, level: f64) -> String {
        let cell = self.cell();
        let is_below = self.0 < level;
        let digits = (4..12).find(|&digits| {
            let rounded = format!("{:.digits$}", self.0).parse::<f64>();
            rounded.is_ok_and(|rounded| (rounded < level) == is_below && rounded > 0.0)
        });
        match (cell.trim_start_matches("< ").parse::<f64>(), digits) {
            (Ok(parsed), Some(digits))
                if cell.starts_with('<') && !(is_below && parsed <= level) =>
            {
                format!("{:.digits$}", self.0)
            }
            (Ok(parsed), Some(digits))
                if !cell.starts_with('<') && (parsed < level) != is_below =>
            {
                format!("{:.digits$}", self.0)
            }
            _ => cell,
        }
    }

    /// Like [`cell_at_level`](Self::cell_beside), with `p`.
    pub fn at_level(self, level: f64) -> String {
        named(&self.cell_at_level(level))
    }
}

fn named(cell: &str) -> String {
    let sign = if cell.starts_with('<') { "" } else { "= " };
    format!("p {sign}{cell}")
}

impl Display for P {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&named(&self.cell()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_probability_is_zero() {
        let check = |p: f64, expect: &str| assert_eq!(P(p).to_string(), expect);
        check(0.0, "p < 0.001");
        check(0.0004, "p < 0.001");
        check(0.00123, "p = 0.0012");
        check(0.0312, "p = 0.031");
        check(0.45, "p = 0.45");
        check(1.0, "p = 1.0000");
        assert_eq!(P(0.0312).cell(), "0.031");
        assert_eq!(P(0.000_836).level(), "0.00084");
        assert_eq!(P(0.05).level(), "0.050");
        let check =
            |p: f64, level: f64, expect: &str| assert_eq!(P(p).cell_at_level(level), expect);
        check(0.0312, 0.05, "0.031");
        check(0.049_83, 0.05, "0.0498");
        check(0.049_996, 0.05, "0.049996");
        check(0.05, 0.05, "0.050");
        check(0.000_2, 0.05, "< 0.001");
        check(0.000_2, 0.000_1, "0.0002");
        check(0.000_2, 0.000_5, "0.0002");
    }
}
