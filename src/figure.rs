//! Formats figures for people: each kind is a type, and only its `Display` rounds.
//!
//! | type | is | written |
//! |---|---|---|
//! | [`Share`] | a part of a whole, 0 to 1 | `62.2 %`, `more than 99.9 %` |
//! | [`Of100`] | the same in whole hundredths | `62`, `more than 99` |
//! | [`Percent`] | a share as it was typed, such as a limit | `80 %`, `97.5 %` |
//! | [`Points`] | a difference of two shares | `+2.5`, `−0.03` |
//! | [`Usd`] | money | `12.35 USD`, `0.0012 USD` |
//! | [`Seconds`] | a time | `48 ms`, `4.2 s`, `3 min 5 s` |
//! | [`Count`] | how many, where there may be millions | `950`, `12.3k` |
//! | [`Value`] | the value of a metric, as gates have it | `0.8333` |
//! | [`Interval`] | two of these | `51.2 % to 72.0 %` |
//! | [`P`] | a p-value | `p = 0.031`, `p < 0.001` |
//!
//! Rounding never suggests an exact value: only 100 % is written as 100 %, and a difference other than zero has a
//! non-zero digit. A minus is `−`. JSON has the exact numbers.

use std::fmt;
use std::fmt::{Display, Formatter};
use std::time::Duration;

use crate::stats::{as_f64, ratio, wilson95};

/// The text `95 % interval` with a prefix and suffix, for table heads.
macro_rules! ci95 {
    ($($before:literal)? $(; $after:literal)?) => {
        concat!($($before,)? "95 % interval" $(, $after)?)
    };
}
pub(crate) use ci95;

/// The text alone.
pub const CI95: &str = ci95!();

/// Placeholder for a missing figure.
pub(crate) const NONE: &str = "-";

/// The figure, or `-` if missing.
pub fn or_dash(figure: Option<impl Display>) -> String {
    figure.map_or_else(|| NONE.to_owned(), |figure| figure.to_string())
}

/// A formatted number with a typographic minus: `−2.5`.
pub fn with_minus(number: &str) -> String {
    number.replace('-', "−")
}

/// `0.00` for a negative number that is rounded to `-0.00`.
fn unsigned_zero(number: &str) -> &str {
    let is_zero = |rest: &&str| rest.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    number.strip_prefix('-').filter(is_zero).unwrap_or(number)
}

/// A count that may be in the millions: `950`, `12.3k`, `4.5M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let amount = as_f64(self.0);
        f.pad(&match self.0 {
            0..10_000 => self.0.to_string(),
            10_000..999_950 => format!("{:.1}k", amount / 1e3),
            _ => format!("{:.1}M", amount / 1e6),
        })
    }
}

/// A count with its noun: `1 item`, `3 items`, `2 replies`, `2 losses`.
pub fn counted(number: u64, noun: &str) -> String {
    let stem = noun
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'o']));
    match (number, stem) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ if noun.ends_with('s') => format!("{number} {noun}es"),
        _ => format!("{number} {noun}s"),
    }
}

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
        // Avoid `−0.0000`.
        f.pad(&with_minus(&format!("{:.digits$} USD", self.0 + 0.0)))
    }
}

/// A p-value with two significant digits: `p = 0.031`. Never written as zero: `p < 0.001`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct P(pub f64);

impl P {
    /// Without `p =`, for a table cell: `0.031`, `< 0.001`.
    pub fn cell(self) -> String {
        let digits = match self.0 {
            tiny if tiny < 0.001 => return "< 0.001".to_owned(),
            small if small < 0.01 => 4,
            some if some < 0.1 => 3,
            _ => 2,
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

    /// Like [`cell_at_level`](Self::cell_at_level), with `p`.
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

/// The difference of two shares in percentage points, with its sign: `+2.5`, `−0.03`.
///
/// A non-zero value that rounds to zero at one decimal gets more decimals, up to six.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Points(pub f64);

impl Points {
    /// Without a sign, if the text says the direction: a drop of `3.1` points.
    pub fn unsigned(self) -> String {
        Self(self.0.abs()).to_string().split_off(1)
    }

    /// With its interval: `+3.1 points (95 % interval −1.2 to +7.4)`.
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
        f.pad(&with_minus(&format!("{points:+.digits$}")))
    }
}

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
            // Avoid `−0.0`.
            with_minus(&format!("{:.1} %", percent + 0.0))
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

/// A share as it was typed, such as a limit, in percent: `80 %`, `97.5 %`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

impl Display for Percent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // 95, not 95.00000000000001.
        let percent = (self.0 * 1e10).round() / 1e8 + 0.0;
        f.pad(&with_minus(&format!("{percent} %")))
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

/// A duration in seconds: `0.1 ms`, `48 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds(pub f64);

impl Seconds {
    /// An estimated duration without decimals: `4 s`.
    pub fn whole(seconds: f64) -> String {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "such a cast stays within its bounds"
        )]
        let whole = seconds.round().max(0.0) as u64;
        match (whole / 3600, whole / 60 % 60, whole % 60) {
            (0, 0, seconds) => format!("{seconds} s"),
            (0, minutes, 0) => format!("{minutes} min"),
            (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
            (hours, 0, _) => format!("{hours} h"),
            (hours, minutes, _) => format!("{hours} h {minutes} min"),
        }
    }
}

impl From<Duration> for Seconds {
    fn from(time: Duration) -> Self {
        Self(time.as_secs_f64())
    }
}

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = match self.0.max(0.0) {
            short if short < 0.001 => format!("{:.1} ms", short * 1e3),
            short if short < 0.0995 => format!("{:.0} ms", short * 1e3),
            some if some < 99.95 => format!("{some:.1} s"),
            long => Self::whole(long),
        };
        f.pad(&text)
    }
}

/// The value of a metric with four decimals, as gates compare and show it: `0.8333`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value(pub(crate) f64);

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&with_minus(unsigned_zero(&format!("{:.4}", self.0))))
    }
}

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

/// A number with this many decimals, such as a judge's points or kappa; `{:+}` for a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub f64, pub usize);

impl Display for Scale {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(value, digits) = *self;
        let number = format!("{value:.digits$}");
        let number = unsigned_zero(&number);
        let is_plus = f.sign_plus() && !number.starts_with('-');
        let plus = if is_plus { "+" } else { "" };
        f.pad(&format!("{plus}{}", with_minus(number)))
    }
}

#[cfg(test)]
mod count_tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        let check = |count: u64, expect: &str| assert_eq!(Count(count).to_string(), expect);
        check(9_999, "9999");
        check(12_345, "12.3k");
        check(4_510_000, "4.5M");
    }

    #[test]
    fn things_are_counted() {
        let check =
            |number: u64, noun: &str, expect: &str| assert_eq!(counted(number, noun), expect);
        check(1, "item", "1 item");
        check(0, "item", "0 items");
        check(2, "reply", "2 replies");
        check(3, "essay", "3 essays");
        check(2, "loss", "2 losses");
    }
}

#[cfg(test)]
mod interval_tests {
    use super::*;

    #[test]
    fn an_interval_is_two_figures() {
        let shares = Interval([Share(0.5123), Share(0.72)]);
        assert_eq!(shares.to_string(), "51.2 % to 72.0 %");
        assert_eq!(shares.ci95(), "95 % interval 51.2 % to 72.0 %");
        assert_eq!(
            Interval([Points(-0.01), Points(0.02)]).to_string(),
            "−1.0 to +2.0"
        );
        assert_eq!(
            Interval([1.0, 2.0].map(|it| Scale(it, 2))).to_string(),
            "1.00 to 2.00"
        );
        assert_eq!(Scale(-0.004, 2).to_string(), "0.00");
        assert_eq!(format!("{:+}", Scale(-0.004, 2)), "+0.00");
        assert_eq!(format!("{:+}", Scale(-0.006, 2)), "−0.01");
        assert_eq!(ci95!("share ("; ")"), "share (95 % interval)");
    }
}

#[cfg(test)]
mod money_tests {
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
        check(-12.345, "−12.35 USD");
    }
}

#[cfg(test)]
mod p_value_tests {
    use super::*;

    #[test]
    fn no_probability_is_zero() {
        let check = |p: f64, expect: &str| assert_eq!(P(p).to_string(), expect);
        check(0.0, "p < 0.001");
        check(0.0004, "p < 0.001");
        check(0.00123, "p = 0.0012");
        check(0.0312, "p = 0.031");
        check(0.45, "p = 0.45");
        check(1.0, "p = 1.00");
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

#[cfg(test)]
mod points_tests {
    use super::*;

    #[test]
    fn a_difference_is_never_written_as_none() {
        let check = |share: f64, expect: &str| assert_eq!(Points(share).to_string(), expect);
        check(0.0254, "+2.5");
        check(-0.12, "−12.0");
        check(0.0, "+0.0");
        check(-0.0, "+0.0");
        check(1e-17, "+0.0");
        check(-1.0 / 4000.0, "−0.03");
        check(0.0005, "+0.1");
        check(0.000_004, "+0.0004");
        check(-0.000_000_000_2, "−0.000000");
        assert_eq!(Points(-0.111).unsigned(), "11.1");
        let text = Points(0.031).with_ci95([-0.012, 0.074]);
        assert_eq!(text, "+3.1 points (95 % interval −1.2 to +7.4)");
        assert_eq!(format!("{:>6}", Points(0.01)), "  +1.0");
    }
}

#[cfg(test)]
mod share_tests {
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
    fn a_limit_is_shown_as_it_was_typed() {
        let check = |share: f64, expect: &str| assert_eq!(Percent(share).to_string(), expect);
        check(0.8, "80 %");
        check(0.857_14, "85.714 %");
        check(0.0, "0 %");
        check(-0.1, "−10 %");
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

#[cfg(test)]
mod time_tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        let check = |seconds: f64, expect: &str| assert_eq!(Seconds(seconds).to_string(), expect);
        check(0.0, "0.0 ms");
        check(0.000_1, "0.1 ms");
        check(0.0214, "21 ms");
        check(0.0994, "99 ms");
        check(0.0996, "0.1 s");
        check(4.24, "4.2 s");
        check(90.0, "90.0 s");
        check(99.96, "1 min 40 s");
        check(7261.0, "2 h 1 min");
        assert_eq!(Seconds::whole(3.6), "4 s");
        assert_eq!(Seconds::whole(120.0), "2 min");
        assert_eq!(
            Seconds::from(Duration::from_millis(48)).to_string(),
            "48 ms"
        );
    }
}
