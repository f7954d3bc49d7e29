//! `ExactNumber`: a decimal of any length, or a fraction. Equal numbers compare equal.

use crate::text::py_repr_float;

/// A number, exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExactNumber {
    is_negative: bool,
    magnitude: Magnitude,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Magnitude {
    /// The digits times ten to the power of the exponent. No leading or trailing zeros; zero has empty digits and
    /// exponent 0.
    Decimal { digits: String, exponent: i64 },
    /// A fraction in lowest terms that is not a finite decimal.
    Ratio { over: u128, under: u128 },
}

/// The maximum number of digits of an exponent.
const EXPONENT_DIGITS: usize = 9;

/// The maximum number of digits of a numerator or denominator.
const RATIO_DIGITS: usize = 18;

impl ExactNumber {
    /// The number with these digits before and after the decimal separator; either may be empty.
    pub(super) fn decimal(whole: &str, fraction: &str) -> Self {
        Self::new(format!("{whole}{fraction}"), -length(fraction))
    }

    fn new(mut digits: String, exponent: i64) -> Self {
        let significant = digits.trim_end_matches('0').len();
        let exponent = exponent + length(&digits[significant..]);
        digits.truncate(significant);
        let start = digits.len() - digits.trim_start_matches('0').len();
        digits.drain(..start);
        let exponent = if digits.is_empty() { 0 } else { exponent };
        Self {
            is_negative: false,
            magnitude: Magnitude::Decimal { digits, exponent },
        }
    }

    /// An integer.
    pub(super) fn whole(value: u128) -> Self {
        Self::new(value.to_string(), 0)
    }

    /// A fraction of digits, after an integer or an empty text. `None` without digits, with too many of them, or when
    /// dividing by zero.
    pub(super) fn mixed(whole: &str, over: &str, under: &str) -> Option<Self> {
        let read = |digits: &str| -> Option<u128> {
            let digits = digits.trim_start_matches('0');
            match digits.len() {
                0 => Some(0),
                1..=RATIO_DIGITS => digits.parse().ok(),
                _ => None,
            }
        };
        if over.is_empty() || under.is_empty() {
            return None;
        }
        let (whole, over, under) = (read(whole)?, read(over)?, read(under)?);
        Self::ratio(whole.checked_mul(under)?.checked_add(over)?, under)
    }

    /// A fraction.
    pub(super) fn ratio(over: u128, under: u128) -> Option<Self> {
        if under == 0 {
            return None;
        }
        let divisor = greatest_common_divisor(over, under);
        let (over, under) = (over / divisor, under / divisor);
        let mut rest = under;
        for factor in [2, 5] {
            while rest.is_multiple_of(factor) {
                rest /= factor;
            }
        }
        if rest > 1 {
            return Some(Self {
                is_negative: false,
                magnitude: Magnitude::Ratio { over, under },
            });
        }
        // The denominator has only the factors two and five: the division ends.
        let mut digits = String::new();
        let mut remainder = over % under;
        while remainder > 0 {
            let dividend = remainder.checked_mul(10)?;
            digits += &(dividend / under).to_string();
            remainder = dividend % under;
        }
        Some(Self::decimal(&(over / under).to_string(), &digits))
    }

    /// The number times a power of ten; `None` if a fraction becomes too large.
    pub(super) fn scaled(self, power: i64) -> Option<Self> {
        let scaled = match self.magnitude {
            Magnitude::Decimal { digits, exponent } => {
                Self::new(digits, exponent.checked_add(power)?)
            }
            Magnitude::Ratio { over, under } => {
                let factor = 10_u128.checked_pow(u32::try_from(power.unsigned_abs()).ok()?)?;
                if power < 0 {
                    Self::ratio(over, under.checked_mul(factor)?)?
                } else {
                    Self::ratio(over.checked_mul(factor)?, under)?
                }
            }
        };
        Some(if self.is_negative {
            scaled.negated()
        } else {
            scaled
        })
    }

    /// The negated number; zero has no sign.
    pub(super) fn negated(mut self) -> Self {
        self.is_negative = !self.is_negative && !self.is_zero();
        self
    }

    fn is_zero(&self) -> bool {
        matches!(&self.magnitude, Magnitude::Decimal { digits, .. } if digits.is_empty())
    }

    /// The nearest double.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest is what is wanted, or next to it for a fraction"
    )]
    pub(super) fn to_f64(&self) -> f64 {
        let magnitude = match &self.magnitude {
            Magnitude::Decimal { digits, exponent } => {
                plain(digits, *exponent).unwrap_or_else(|| {
                    // The `0` in front is for zero, which has no digits.
                    format!("0{digits}e{exponent}").parse().unwrap_or(f64::NAN)
                })
            }
            Magnitude::Ratio { over, under } => *over as f64 / *under as f64,
        };
        if self.is_negative {
            -magnitude
        } else {
            magnitude
        }
    }
}

/// Decimals of this many digits are distinct doubles.
const EXACT_DIGITS: usize = 15;

/// The nearest double of few digits and a small exponent: both are doubles themselves, so there is one rounding.
fn plain(digits: &str, exponent: i64) -> Option<f64> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    if digits.len() > EXACT_DIGITS {
        return None;
    }
    let power = POWERS.get(usize::try_from(exponent.unsigned_abs()).ok()?)?;
    let whole = digits
        .bytes()
        .fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0'));
    let whole = crate::stats::as_f64(whole);
    Some(if exponent < 0 {
        whole / power
    } else {
        whole * power
    })
}

/// An exponent from digits and a sign; `None` if it is too large.
pub(super) fn exponent(is_negative: bool, digits: &str) -> Option<i64> {
    let digits = match digits.trim_start_matches('0') {
        "" if digits.is_empty() => return None,
        "" => "0",
        digits => digits,
    };
    if digits.len() > EXPONENT_DIGITS {
        return None;
    }
    let exponent: i64 = digits.parse().ok()?;
    Some(if is_negative { -exponent } else { exponent })
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// As Python prints a float if that is exact: `42.0`, `0.1`, `1e+16`. Otherwise all digits, or the fraction:
/// `12345678901234567890123`, `1/3`.
impl std::fmt::Display for ExactNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.is_negative { "-" } else { "" };
        let (digits, exponent) = match &self.magnitude {
            Magnitude::Ratio { over, under } => return write!(f, "{sign}{over}/{under}"),
            Magnitude::Decimal { digits, exponent } => (digits, *exponent),
        };
        // A double never prints more digits, and these are the shortest where they are few.
        let point = length(digits) + exponent;
        if digits.len() <= EXACT_DIGITS && (-3..=16).contains(&point) {
            return fixed(f, sign, digits, point, ".0");
        }
        if digits.len() <= 17 {
            let text = py_repr_float(self.to_f64());
            if Self::from_repr(&text).is_some_and(|number| number == *self) {
                return f.write_str(&text);
            }
        }
        if exponent > 20 || point < -5 {
            let (first, rest) = digits.split_at(1.min(digits.len()));
            let dot = if rest.is_empty() { "" } else { "." };
            return write!(f, "{sign}{first}{dot}{rest}e{:+}", point - 1);
        }
        fixed(f, sign, digits, point, "")
    }
}

/// Writes digits with a point after `point` of them; behind an integer stands `end`.
fn fixed(
    f: &mut std::fmt::Formatter<'_>,
    sign: &str,
    digits: &str,
    point: i64,
    end: &str,
) -> std::fmt::Result {
    f.write_str(sign)?;
    let zeros =
        |f: &mut std::fmt::Formatter<'_>, count| (0..count).try_for_each(|_| f.write_str("0"));
    match usize::try_from(point) {
        Ok(point) if point >= digits.len() => {
            f.write_str(if digits.is_empty() { "0" } else { digits })?;
            zeros(f, point - digits.len())?;
            f.write_str(end)
        }
        Ok(point) if point > 0 => {
            f.write_str(&digits[..point])?;
            f.write_str(".")?;
            f.write_str(&digits[point..])
        }
        _ => {
            f.write_str("0.")?;
            zeros(f, usize::try_from(-point).unwrap_or(0))?;
            f.write_str(digits)
        }
    }
}

impl ExactNumber {
    /// Parses the printed form of a double.
    fn from_repr(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let number = Self::decimal(whole, fraction).scaled(power.parse().ok()?)?;
        Some(if is_negative {
            number.negated()
        } else {
            number
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_digits_are_written_as_python_writes_them() {
        for digits in [
            "1",
            "12",
            "9",
            "123456789012345",
            "100000000000001",
            "5",
            "25",
        ] {
            for exponent in -40..=25 {
                let number = ExactNumber::new(digits.to_owned(), exponent);
                let double: f64 = format!("{digits}e{exponent}").parse().unwrap();
                assert_eq!(
                    number.to_f64().to_bits(),
                    double.to_bits(),
                    "{digits}e{exponent}"
                );
                let text = number.to_string();
                assert_eq!(text, py_repr_float(double), "{digits}e{exponent}");
                assert_eq!(number.negated().to_string(), format!("-{text}"));
            }
        }
        assert_eq!(ExactNumber::whole(0).to_string(), "0.0");
        assert_eq!(ExactNumber::whole(0).to_f64().to_bits(), 0.0_f64.to_bits());
    }

    fn check(number: Option<ExactNumber>, text: &str, double: f64) {
        let number = number.expect("a number");
        assert_eq!(number.to_string(), text);
        let error = (number.to_f64() - double).abs();
        assert!(error <= double.abs() * 1e-15, "{number} {double}");
    }

    #[test]
    fn decimals() {
        let decimal = |whole, fraction| Some(ExactNumber::decimal(whole, fraction));
        check(decimal("0042", "00"), "42.0", 42.0);
        check(decimal("", "10"), "0.1", 0.1);
        check(decimal("0", ""), "0.0", 0.0);
        check(
            decimal("1234567890123456789", ""),
            "1234567890123456789",
            1.234_567_890_123_456_8e18,
        );
        check(
            decimal("1", "2345678901234567890"),
            "1.234567890123456789",
            1.234_567_890_123_456_8,
        );
        check(
            decimal("", "0012345678901234567891"),
            "0.0012345678901234567891",
            0.001_234_567_890_123_456_8,
        );
        check(
            decimal("12345678901234567891", "").map(ExactNumber::negated),
            "-12345678901234567891",
            -1.234_567_890_123_456_8e19,
        );
        let tiny = ExactNumber::decimal("1", "").scaled(-999_999_999);
        check(tiny, "1e-999999999", 0.0);
        let huge = ExactNumber::decimal("12", "")
            .scaled(400)
            .expect("a number");
        assert_eq!(
            (huge.to_string().as_str(), huge.to_f64()),
            ("1.2e+401", f64::INFINITY)
        );
        assert_eq!(
            ExactNumber::decimal("0", "0").negated(),
            ExactNumber::decimal("", "")
        );
    }

    #[test]
    fn fractions() {
        check(ExactNumber::mixed("", "3", "4"), "0.75", 0.75);
        check(ExactNumber::mixed("1", "1", "2"), "1.5", 1.5);
        check(ExactNumber::mixed("", "6", "9"), "2/3", 2.0 / 3.0);
        check(
            ExactNumber::mixed("", "1", "562949953421312"),
            "1.7763568394002504646778106689453125e-15",
            1.776_356_839_400_250_5e-15,
        );
        check(
            ExactNumber::ratio(1, 3).and_then(|third| third.scaled(3)),
            "1000/3",
            1000.0 / 3.0,
        );
        check(
            ExactNumber::ratio(100, 3).and_then(|number| number.scaled(-2)),
            "1/3",
            1.0 / 3.0,
        );
        assert_eq!(ExactNumber::mixed("", "1", "0"), None);
        assert_eq!(ExactNumber::mixed("", "1", ""), None);
        assert_eq!(ExactNumber::mixed("", "1", "1234567890123456789"), None);
        assert_eq!(
            ExactNumber::ratio(1, 3).and_then(|third| third.scaled(50)),
            None
        );
    }
}
