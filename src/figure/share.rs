//! `Share`: a part of a whole.

use std::fmt::{self, Display, Formatter};

use super::{Interval, or_dash};
use crate::stats::{ratio, wilson95};

/// A part of a whole, from 0 to 1: `62.2 %`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

impl Display for Share {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        // 3,999 of 4,000 must not be shown as 100 %.
        let text = if (99.95..100.0).contains(&percent) {
            "more than 99.9 %".to_owned()
        } else if percent > 1e-9 && percent < 0.05 {
            "less than 0.1 %".to_owned()
        } else {
            // Avoid `-0.0`.
            format!("{:.1} %", percent + 0.0)
        };
        f.pad(&text)
    }
}

impl Share {
    /// With its interval: `62.2 % (95 % interval 51.2 % to 72.0 %)`.
    pub fn with_ci95(self, ci95: [f64; 2]) -> String {
        format!("{self} ({})", Interval(ci95.map(Self)).ci95())
    }

    /// With its interval, for a column whose head explains the brackets: `62.2 % (51.2 % to 72.0 %)`.
    pub fn with_interval(self, interval: [f64; 2]) -> String {
        format!("{self} ({})", Interval(interval.map(Self)))
    }
}

/// A share as a count out of 100, for people who do not read percentages: `84`, `more than 99`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Of100(pub(crate) f64);

impl Display for Of100 {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let of_100 = self.0 * 100.0;
        f.pad(&if (99.5..100.0).contains(&of_100) {
            "more than 99".to_owned()
        } else if of_100 > 1e-9 && of_100 < 0.5 {
            "less than 1".to_owned()
        } else {
            format!("{:.0}", of_100.clamp(0.0, 100.0))
        })
    }
}

/// `12 of 80 answers (15.0 %, 95 % interval 8.8 % to 24.4 %)`, with the Wilson interval.
pub fn part_of(part: u64, whole: u64, of: &str) -> String {
    let of = format!(
        "{part} of {whole}{}{of}",
        if of.is_empty() { "" } else { " " }
    );
    match ratio(part, whole).zip(wilson95(part, whole)) {
        Some((share, ci95)) => format!(
            "{of} ({}, {})",
            Share(share),
            Interval(ci95.map(Share)).ci95()
        ),
        None => of,
    }
}

/// A share with its interval, for a column whose head explains the brackets; `-` if missing.
pub(crate) fn share_cell(share: Option<f64>, ci95: Option<[f64; 2]>) -> String {
    let both = share.zip(ci95);
    or_dash(both.map(|(share, ci95)| Share(share).with_interval(ci95)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_and_nothing_are_written_only_where_they_are() {
        let check = |share: f64, expect: &str| assert_eq!(Share(share).to_string(), expect);
        check(0.6222, "62.2 %");
        check(1.0, "100.0 %");
        check(3999.0 / 4000.0, "more than 99.9 %");
        check(0.9994, "99.9 %");
        check(0.0, "0.0 %");
        check(-0.0, "0.0 %");
        check(1.0 / 4000.0, "less than 0.1 %");
        check(0.0005, "0.1 %");
        check(1e-18, "0.0 %");
        assert_eq!(format!("{:>8}", Share(0.5)), "  50.0 %");
    }

    #[test]
    fn some_of_a_hundred_are_not_all() {
        let check = |share: f64, expect: &str| assert_eq!(Of100(share).to_string(), expect);
        check(0.844, "84");
        check(3999.0 / 4000.0, "more than 99");
        check(0.001, "less than 1");
        check(1.0, "100");
        check(0.0, "0");
    }

    #[test]
    fn a_part_has_its_interval() {
        assert_eq!(
            part_of(12, 80, "answers"),
            "12 of 80 answers (15.0 %, 95 % interval 8.8 % to 24.4 %)"
        );
        assert_eq!(part_of(0, 0, ""), "0 of 0");
    }
}
