//! Python's integers: small ones as machine words, all others as big ones.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{FromPrimitive as _, Num as _, ToPrimitive as _};

use super::text::py_digit;

/// The largest number of digits that Python reads from or writes to text; beyond, it raises `ValueError`.
pub const MAX_DIGITS: usize = 4300;

/// An integer of any size. A value that fits a machine word is always kept as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Int(Repr);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Repr {
    Small(i64),
    Big(Box<BigInt>),
}

impl From<i64> for Int {
    fn from(value: i64) -> Self {
        Self(Repr::Small(value))
    }
}

impl From<BigInt> for Int {
    fn from(value: BigInt) -> Self {
        match value.to_i64() {
            Some(small) => Self::from(small),
            None => Self(Repr::Big(Box::new(value))),
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            _ => self.big().cmp(&other.big()),
        }
    }
}

impl Int {
    /// Digits of a base from 2 to 36, without sign and underscores.
    pub fn from_digits(digits: &str, base: u32) -> Option<Self> {
        if let Ok(small) = i64::from_str_radix(digits, base) {
            return Some(Self::from(small));
        }
        BigInt::from_str_radix(digits, base).ok().map(Self::from)
    }

    /// Python's `int(text)`: white space around it, a sign, digits of any script, single underscores.
    /// `None` where Python raises `ValueError`.
    pub fn from_text(text: &str) -> Option<Self> {
        // Not `is_py_space`: here only the white space of C counts below U+0080, without U+001C to U+001F.
        let text = text.trim();
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let mut ascii = String::with_capacity(digits.len());
        let mut underscore = true;
        for c in digits.chars() {
            if let Some(digit) = py_digit(c) {
                ascii.push(char::from(b'0' + digit));
                underscore = false;
            } else if c == '_' && !underscore {
                underscore = true;
            } else {
                return None;
            }
        }
        if underscore || ascii.len() > MAX_DIGITS {
            return None;
        }
        let value = Self::from_digits(&ascii, 10)?;
        Some(if negative { value.negated() } else { value })
    }

    /// The whole part of a finite float.
    pub fn from_f64(value: f64) -> Option<Self> {
        BigInt::from_f64(value.trunc()).map(Self::from)
    }

    pub(crate) fn big(&self) -> BigInt {
        match &self.0 {
            Repr::Small(value) => BigInt::from(*value),
            Repr::Big(value) => (**value).clone(),
        }
    }

    /// The machine word, if it fits one.
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(value) => Some(*value),
            Repr::Big(_) => None,
        }
    }

    /// Number of bits of its absolute value.
    pub(crate) fn bits(&self) -> u64 {
        match &self.0 {
            Repr::Small(value) => u64::from(64 - value.unsigned_abs().leading_zeros()),
            Repr::Big(value) => value.bits(),
        }
    }

    /// With the other sign.
    #[must_use]
    pub fn negated(&self) -> Self {
        match &self.0 {
            Repr::Small(value) => value
                .checked_neg()
                .map_or_else(|| Self::from(-BigInt::from(*value)), Self::from),
            Repr::Big(value) => Self::from(-(**value).clone()),
        }
    }

    /// The nearest double, infinite beyond their range.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest one is what is asked for"
    )]
    pub fn nearest_f64(&self) -> f64 {
        match &self.0 {
            Repr::Small(value) => *value as f64,
            Repr::Big(value) => value.to_f64().unwrap_or(f64::INFINITY),
        }
    }

    /// Python's `float(integer)`: `None` where it raises `OverflowError`.
    pub fn to_f64(&self) -> Option<f64> {
        Some(self.nearest_f64()).filter(|value| value.is_finite())
    }

    /// Whether a float has exactly this value.
    pub fn equals_f64(&self, float: f64) -> bool {
        float.fract() == 0.0 && Self::from_f64(float).is_some_and(|whole| whole == *self)
    }

    /// Its hexadecimal digits, in linear time.
    pub fn to_hex(&self) -> String {
        format!("{:#x}", self.big())
    }

    /// Its decimal digits; `None` where Python refuses because they are too many.
    pub fn to_text(&self) -> Option<String> {
        match &self.0 {
            Repr::Small(value) => Some(value.to_string()),
            // 2¹⁴²⁸⁴ has 4300 digits: nothing with more bits needs to be written to be refused.
            Repr::Big(value) if value.bits() > 14_285 => None,
            Repr::Big(value) => {
                let text = value.to_string();
                let digits = text.trim_start_matches('-').len();
                (digits <= MAX_DIGITS).then_some(text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_to_integer() {
        fn check(text: &str, expect: Option<&str>) {
            let got = Int::from_text(text).and_then(|value| value.to_text());
            assert_eq!(got.as_deref(), expect, "{text:?}");
        }
        check("12", Some("12"));
        check(" \u{85}-1_000\n\u{2003}", Some("-1000"));
        check("\u{1c}1", None);
        check("1\u{1f}", None);
        check("+007", Some("7"));
        check("٣", Some("3"));
        check("-9223372036854775808", Some("-9223372036854775808"));
        check("9223372036854775808", Some("9223372036854775808"));
        check("", None);
        check("-", None);
        check("_1", None);
        check("1_", None);
        check("1__0", None);
        check("1.0", None);
        check("- 1", None);
        check("0x10", None);
        check(&"9".repeat(4300), Some(&"9".repeat(4300)));
        check(&"9".repeat(4301), None);
    }

    #[test]
    fn sizes() {
        let limit = Int::from_digits(&"9".repeat(4300), 10).unwrap();
        assert_eq!(limit.bits(), 14_285);
        assert!(limit.to_text().is_some());
        let beyond = Int::from(limit.big() + 1);
        assert_eq!(beyond.to_text(), None);
        assert_eq!(beyond.to_f64(), None);
        let least = Int::from(i64::MIN);
        assert_eq!(least.negated().to_text().unwrap(), "9223372036854775808");
        assert_eq!(least.negated().negated(), least);
        assert!(Int::from(5) < least.negated() && least < Int::from(5));
        assert!(Int::from(3).equals_f64(3.0) && !Int::from(3).equals_f64(3.5));
        assert!(!Int::from(3).equals_f64(f64::NAN) && !Int::from(3).equals_f64(f64::INFINITY));
    }
}
