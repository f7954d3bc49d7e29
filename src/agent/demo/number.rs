//! Numbers as the demo solver reads, combines and prints them.
//!
//! Responsibility: exact whole numbers while they fit in 128 bits, otherwise
//! floating point; every operation is checked and gives `None` when it has no
//! finite result. Limits: at most ten decimals are printed, fewer for large
//! numbers, and nothing inexact above 10^15.

use std::sync::LazyLock;

use regex::Regex;

/// Inexact results of this size or more are not printed.
const MAX_REAL: f64 = 1e15;

/// A number, exact as long as possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// An exact whole number.
    Whole(i128),
    /// Anything else; always finite.
    Real(f64),
}

impl Number {
    /// Reads a whole cell or word such as `1,250`, `-3.5`, `$12`, `7%`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bare = text
            .trim()
            .trim_start_matches(['$', '€', '£'])
            .trim_end_matches('%');
        let plain: String = bare.chars().filter(|&c| c != ',').collect();
        let unsigned = plain.strip_prefix(['-', '+']).unwrap_or(&plain);
        if !unsigned.starts_with(|c: char| c.is_ascii_digit())
            || !unsigned.chars().all(|c| c.is_ascii_digit() || c == '.')
        {
            return None;
        }
        plain
            .parse()
            .map(Self::Whole)
            .ok()
            .or_else(|| Self::real(plain.parse().ok()?))
    }

    /// A finite real number.
    pub(super) fn real(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self::Real(value))
    }

    /// The number of things in a collection.
    pub(super) fn count(many: usize) -> Self {
        Self::Whole(i128::try_from(many).unwrap_or(i128::MAX))
    }

    /// The nearest floating-point value.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest value is what is wanted"
    )]
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    /// The exact whole value, if this is one.
    pub(super) fn whole(self) -> Option<i128> {
        match self {
            Self::Whole(value) => Some(value),
            Self::Real(_) => None,
        }
    }

    /// Applies the exact operation where it fits and the real one otherwise.
    fn combine(
        self,
        other: Self,
        exact: fn(i128, i128) -> Option<i128>,
        inexact: fn(f64, f64) -> f64,
    ) -> Option<Self> {
        if let (Self::Whole(left), Self::Whole(right)) = (self, other)
            && let Some(value) = exact(left, right)
        {
            return Some(Self::Whole(value));
        }
        Self::real(inexact(self.to_f64(), other.to_f64()))
    }

    /// `self + other`.
    pub(super) fn add(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_add, |left, right| left + right)
    }

    /// `self - other`.
    pub(super) fn sub(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_sub, |left, right| left - right)
    }

    /// `self * other`.
    pub(super) fn mul(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_mul, |left, right| left * right)
    }

    /// `self / other`; nothing for a zero divisor.
    pub(super) fn div(self, other: Self) -> Option<Self> {
        let exact = |left: i128, right: i128| {
            (left.checked_rem(right)? == 0).then(|| left.checked_div(right))?
        };
        self.combine(other, exact, |left, right| left / right)
    }

    /// The non-negative remainder of `self / other`; nothing for a zero divisor.
    pub(super) fn rem(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_rem_euclid, f64::rem_euclid)
    }

    /// `self` to the power of `other`.
    pub(super) fn pow(self, other: Self) -> Option<Self> {
        let exact = |left: i128, right: i128| left.checked_pow(u32::try_from(right).ok()?);
        self.combine(other, exact, f64::powf)
    }

    /// The square root; exact for square numbers.
    pub(super) fn sqrt(self) -> Option<Self> {
        if let Self::Whole(value) = self {
            let root = value.checked_isqrt()?;
            if root.checked_mul(root) == Some(value) {
                return Some(Self::Whole(root));
            }
        }
        Self::real(self.to_f64().sqrt())
    }

    /// Prints the number plainly, rounded (half away from zero) if asked.
    pub(super) fn render(self, rounding: Option<u8>) -> Option<String> {
        let value = match self {
            Self::Whole(value) => return Some(value.to_string()),
            Self::Real(value) if value.abs() >= MAX_REAL => return None,
            Self::Real(value) => value,
        };
        let mut limit = 1.0;
        let mut shown: usize = 15;
        while limit <= value.abs() && shown > 0 {
            limit *= 10.0;
            shown -= 1;
        }
        let rounded = rounding.map_or(value, |decimals| {
            let scale = 10_f64.powi(i32::from(decimals));
            (value * scale * (1.0 + 1e-12)).round() / scale
        });
        let text = format!("{rounded:.*}", shown.min(10));
        let trimmed = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        Some(if trimmed == "-0" {
            "0".to_owned()
        } else {
            trimmed.to_owned()
        })
    }
}

/// The phrase that asks for a rounded answer, such as `rounded to two decimal places`.
static ROUNDING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\bround(?:ed|ing)?\b [^.?!]{0,40}? \b(?:
            (?P<places>\d|one|two|three|four|five|six)\s+(?:decimal|digits?\s+after)[a-z\ ]*
          | nearest\s+(?P<unit>integer|whole(?:\s+number)?|unit|tenth|hundredth|thousandth)\b
          | (?:an?|the)\s+(?P<whole>integer|whole\s+number)\b)",
    )
    .ok()
});

/// How many decimals a question asks for, if it asks for rounding.
pub(super) fn rounding(question: &str) -> Option<u8> {
    let found = ROUNDING.as_ref()?.captures(question)?;
    let Some(wanted) = found.name("places").or_else(|| found.name("unit")) else {
        return Some(0);
    };
    Some(match wanted.as_str().to_lowercase().as_str() {
        "one" | "1" | "tenth" => 1,
        "two" | "2" | "hundredth" => 2,
        "three" | "3" | "thousandth" => 3,
        "four" | "4" => 4,
        "five" | "5" => 5,
        "six" | "6" => 6,
        "7" => 7,
        "8" => 8,
        "9" => 9,
        _ => 0,
    })
}

/// The question without its rounding phrase.
pub(super) fn without_rounding(question: &str) -> String {
    ROUNDING.as_ref().map_or_else(
        || question.to_owned(),
        |pattern| pattern.replace_all(question, " ").into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: Option<Number>, expected: Option<&str>) {
        assert_eq!(
            input.and_then(|number| number.render(None)).as_deref(),
            expected
        );
    }

    fn check_rounding(question: &str, expected: Option<u8>) {
        assert_eq!(rounding(question), expected, "{question}");
    }

    #[test]
    fn prints_plainly() {
        check(Number::real(0.1 + 0.2), Some("0.3"));
        check(Number::real(17.0), Some("17"));
        check(Number::real(100.0), Some("100"));
        check(Number::real(-0.000_000_000_000_1), Some("0"));
        check(Number::real(2.0 / 3.0), Some("0.6666666667"));
        check(Number::real(123_456_789_012.1), Some("123456789012.1"));
        check(Number::real(1e300), None);
        check(Number::parse("1,250"), Some("1250"));
        check(Number::parse("$-3.50"), Some("-3.5"));
        check(Number::parse("3.5.1"), None);
        check(Number::parse("n/a"), None);
        check(Number::parse(&"9".repeat(400)), None);
    }

    #[test]
    fn combines_without_panicking() {
        let number = |text: &str| Number::parse(text).expect("a number");
        check(
            number("123456789").mul(number("987654321")),
            Some("121932631112635269"),
        );
        check(number("7").div(number("2")), Some("3.5"));
        check(number("7").div(number("0")), None);
        check(number("7").rem(number("0")), None);
        check(number("-7").rem(number("3")), Some("2"));
        check(
            number("2").pow(number("100")),
            Some("1267650600228229401496703205376"),
        );
        check(number("9").pow(number("99999999")), None);
        check(number("2").pow(number("-1")), Some("0.5"));
        check(number("144").sqrt(), Some("12"));
        check(number("-4").sqrt(), None);
        check(Number::Whole(i128::MIN).div(Number::Whole(-1)), None);
    }

    #[test]
    fn rounds_as_asked() {
        check_rounding("Round your answer to two decimal places.", Some(2));
        check_rounding("rounded to the nearest whole number", Some(0));
        check_rounding("Rounded to the nearest tenth", Some(1));
        check_rounding("the round table has 2 legs", None);
        assert_eq!(Number::Real(2.675).render(Some(2)).as_deref(), Some("2.68"));
        assert_eq!(Number::Real(-0.4).render(Some(0)).as_deref(), Some("0"));
    }
}
