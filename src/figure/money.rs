//! `Usd`: an amount of money.

use std::fmt::{self, Display, Formatter};

/// An amount of money: `12.35 USD`, `0.0012 USD`, `0.000013 USD`.
///
/// Two decimals from ten dollars on, four below, and two significant digits below a tenth of a cent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usd(pub f64);

impl Display for Usd {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let digits = match self.0.abs() {
            large if large >= 10.0 => 2,
            small if !(1e-12..0.001).contains(&small) => 4,
            tiny => (5..12)
                .find(|digits| tiny * 10_f64.powi(*digits) >= 9.95)
                .unwrap_or(12),
        };
        let digits = usize::try_from(digits).unwrap_or(4);
        // Avoid `-0.0000`.
        f.pad(&format!("{:.digits$} USD", self.0 + 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_one_form() {
        let check = |usd: f64, expect: &str| assert_eq!(Usd(usd).to_string(), expect);
        check(0.0, "0.0000 USD");
        check(0.05, "0.0500 USD");
        check(0.001_23, "0.0012 USD");
        check(0.000_012_5, "0.000013 USD");
        check(0.000_9, "0.00090 USD");
        check(2.5, "2.5000 USD");
        check(12.345, "12.35 USD");
        check(-12.345, "-12.35 USD");
    }
}
