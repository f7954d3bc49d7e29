//! The named operations on whole lists of numbers.
//!
//! Responsibility: sums, products, means, extremes, common divisors and the
//! like, digit sums and factorials. Limits: divisors and digit sums want exact
//! whole numbers, factorials at most 33.

use super::super::number::Number;
use super::super::query::median;

/// The names of the operations on lists.
pub(super) const KINDS: [&str; 13] = [
    "sum",
    "product",
    "difference",
    "average",
    "mean",
    "median",
    "quotient",
    "largest",
    "smallest",
    "gcd",
    "greatest common divisor",
    "lcm",
    "least common multiple",
];

/// Applies a named operation to its numbers, from left to right.
pub(super) fn fold(kind: &str, values: Vec<Number>) -> Option<Number> {
    let many = Number::count(values.len());
    let all = values.clone().into_iter();
    let pick = |left: Number, right: Number, wanted: std::cmp::Ordering| {
        let ordering = right.to_f64().partial_cmp(&left.to_f64());
        if ordering == Some(wanted) {
            right
        } else {
            left
        }
    };
    let step = |left: Number, right: Number| match kind {
        "product" => left.mul(right),
        "difference" => left.sub(right),
        "quotient" => left.div(right),
        "largest" => Some(pick(left, right, std::cmp::Ordering::Greater)),
        "smallest" => Some(pick(left, right, std::cmp::Ordering::Less)),
        "gcd" | "greatest common divisor" => Some(Number::Whole(divisor(left, right)?)),
        "lcm" | "least common multiple" => {
            left.mul(right)?.div(Number::Whole(divisor(left, right)?))
        }
        _ => left.add(right),
    };
    if kind == "median" {
        return median(values);
    }
    let mut rest = all;
    let first = rest.next()?;
    let value = rest.try_fold(first, step)?;
    match kind {
        "average" | "mean" => value.div(many),
        "difference" if value.to_f64() < 0.0 => Number::Whole(0).sub(value),
        _ => Some(value),
    }
}

/// The greatest common divisor of two whole numbers.
fn divisor(left: Number, right: Number) -> Option<i128> {
    let (mut large, mut small) = (left.whole()?.checked_abs()?, right.whole()?.checked_abs()?);
    while small != 0 {
        (large, small) = (small, large.checked_rem(small)?);
    }
    Some(large)
}

/// The sum of the decimal digits of a whole number.
pub(super) fn digit_sum(value: Number) -> Option<Number> {
    let digits = value.whole()?.unsigned_abs().to_string();
    let sum = digits
        .chars()
        .filter_map(|digit| digit.to_digit(10))
        .sum::<u32>();
    Some(Number::Whole(i128::from(sum)))
}

/// The factorial of a small whole number.
pub(super) fn factorial(value: Number) -> Option<Number> {
    let many = value.whole().filter(|many| (0..=33).contains(many))?;
    let product = (1..=many).try_fold(1_i128, i128::checked_mul)?;
    Some(Number::Whole(product))
}

/// The sum of the whole numbers from `first` to `last`, with `Some(0)` only of
/// the even and with `Some(1)` only of the odd ones.
pub(super) fn range_sum(first: i128, last: i128, parity: Option<usize>) -> Option<Number> {
    let wrong =
        |value: i128| parity.is_some_and(|odd| usize::from(value.rem_euclid(2) == 1) != odd);
    let first = first.checked_add(i128::from(wrong(first)))?;
    let last = last.checked_sub(i128::from(wrong(last)))?;
    if first > last {
        return Some(Number::Whole(0));
    }
    let step = if parity.is_some() { 2 } else { 1 };
    let many = last.checked_sub(first)?.checked_div(step)?.checked_add(1)?;
    let twice = first.checked_add(last)?.checked_mul(many)?;
    Some(Number::Whole(twice.checked_div(2)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, values: &[i128], expected: Option<&str>) {
        let numbers = values.iter().copied().map(Number::Whole).collect();
        let shown = fold(kind, numbers).and_then(|value| value.render(None));
        assert_eq!(shown.as_deref(), expected, "{kind} of {values:?}");
    }

    #[test]
    fn folds_lists() {
        check("sum", &[1, 2, 3], Some("6"));
        check("difference", &[2, 9], Some("7"));
        check("quotient", &[7, 2], Some("3.5"));
        check("quotient", &[7, 0], None);
        check("median", &[9, 1, 4, 2], Some("3"));
        check("largest", &[3, 9, 4], Some("9"));
        check("smallest", &[3, -9, 4], Some("-9"));
        check("gcd", &[48, 180, 30], Some("6"));
        check("lcm", &[0, 0], None);
        check("gcd", &[i128::MIN, 3], None);
        check("sum", &[], None);
    }

    #[test]
    fn sums_ranges() {
        assert_eq!(range_sum(1, 100, None), Some(Number::Whole(5_050)));
        assert_eq!(range_sum(-3, 4, Some(0)), Some(Number::Whole(4)));
        assert_eq!(range_sum(5, 5, Some(0)), Some(Number::Whole(0)));
        assert_eq!(range_sum(i128::MIN, i128::MAX, Some(1)), None);
    }

    #[test]
    fn single_numbers() {
        assert_eq!(digit_sum(Number::Whole(-98_765)), Some(Number::Whole(35)));
        assert_eq!(factorial(Number::Whole(10)), Some(Number::Whole(3_628_800)));
        assert_eq!(factorial(Number::Whole(1_000_000)), None);
        assert_eq!(factorial(Number::Real(2.5)), None);
    }
}
