//! Python's operators on complex numbers, step by step as it does them, so that the last digits are the same.

use ruff_python_ast::Operator;

use super::arithmetic::zero_division;
use super::fault::{DecodeFault, DecodeResult};
use super::value::Value;

/// Up to this exponent, Python multiplies.
const MAX_PRODUCTS: f64 = 100.0;

/// The real and the imaginary part.
type ComplexParts = (f64, f64);

/// An operator on two complex numbers; `None` where Python has none.
pub(crate) fn binary(
    op: Operator,
    a: ComplexParts,
    b: ComplexParts,
) -> DecodeResult<Option<Value>> {
    let (re, im) = match op {
        Operator::Add => (a.0 + b.0, a.1 + b.1),
        Operator::Sub => (a.0 - b.0, a.1 - b.1),
        Operator::Mult => product(a, b),
        Operator::Div => quotient(a, b).ok_or_else(zero_division)?,
        Operator::Pow => power(a, b)?,
        _ => return Ok(None),
    };
    Ok(Some(Value::Complex(re, im)))
}

fn product(a: ComplexParts, b: ComplexParts) -> ComplexParts {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// By Smith's method; `None` of nothing.
fn quotient(a: ComplexParts, b: ComplexParts) -> Option<ComplexParts> {
    if b == (0.0, 0.0) {
        return None;
    }
    // What is no number is neither larger nor smaller.
    if b.0.abs() >= b.1.abs() {
        let ratio = b.1 / b.0;
        let scale = b.0 + b.1 * ratio;
        Some(((a.0 + a.1 * ratio) / scale, (a.1 - a.0 * ratio) / scale))
    } else {
        let ratio = b.0 / b.1;
        let scale = b.0 * ratio + b.1;
        Some(((a.0 * ratio + a.1) / scale, (a.1 * ratio - a.0) / scale))
    }
}

/// `a ** b`.
pub(crate) fn power(a: ComplexParts, b: ComplexParts) -> DecodeResult<ComplexParts> {
    let of_zero = || DecodeFault::new("0.0 to a negative or complex power");
    let is_whole = b.1 == 0.0 && b.0.fract() == 0.0;
    let result = if is_whole && b.0.abs() <= MAX_PRODUCTS {
        let whole = repeated(a, b.0.abs());
        if b.0 > 0.0 {
            whole
        } else {
            quotient((1.0, 0.0), whole).ok_or_else(of_zero)?
        }
    } else if a == (0.0, 0.0) {
        if b.1 != 0.0 || b.0 < 0.0 {
            return Err(of_zero());
        }
        (0.0, 0.0)
    } else {
        let (length, angle) = (a.0.hypot(a.1), a.1.atan2(a.0));
        let mut new_length = length.powf(b.0);
        let mut new_angle = angle * b.0;
        if b.1 != 0.0 {
            new_length /= (angle * b.1).exp();
            new_angle += b.1 * length.ln();
        }
        (new_length * new_angle.cos(), new_length * new_angle.sin())
    };
    if result.0.is_infinite() || result.1.is_infinite() {
        return Err(DecodeFault::new("complex exponentiation"));
    }
    Ok(result)
}

/// A power by squares.
fn repeated(base: ComplexParts, exponent: f64) -> ComplexParts {
    let (mut result, mut square, mut remaining) = ((1.0, 0.0), base, exponent);
    while remaining >= 1.0 {
        if remaining % 2.0 > 0.0 {
            result = product(result, square);
        }
        remaining = (remaining / 2.0).floor();
        square = product(square, square);
    }
    result
}
