//! `round` and `pow` with a modulus.

use num_bigint::BigInt;
use num_traits::Zero as _;

use super::arithmetic::{spend, too_large};
use super::fault::{DecodeFault, DecodeResult};
use super::integer::Int;
use super::value::Value;

/// `round(value)`: the nearest integer, of two the even one.
pub(crate) fn whole(value: &Value) -> Option<Value> {
    match value {
        Value::Float(value) => Int::from_f64(value.round_ties_even()).map(Value::Int),
        value => value.as_integer().map(Value::Int),
    }
}

/// `round(value, digits)`.
pub(crate) fn to_digits(value: &Value, digits: &Value) -> DecodeResult<Option<Value>> {
    let Some(digits) = digits.as_integer() else {
        return Err(DecodeFault::new("the digits are no integer"));
    };
    let Some(digits) = digits.to_i64() else {
        return Err(too_large());
    };
    match value {
        Value::Float(float) => Ok(Some(Value::Float(float_to_digits(*float, digits)?))),
        value => match value.as_integer() {
            Some(int) if digits >= 0 => Ok(Some(Value::Int(int))),
            Some(int) => integer_to_digits(&int, digits.unsigned_abs()).map(Some),
            None => Ok(None),
        },
    }
}

fn float_to_digits(float: f64, digits: i64) -> DecodeResult<f64> {
    // A double has no digit behind the 323rd, and none of its own before the 309th.
    if !float.is_finite() || float == 0.0 || digits > 323 {
        return Ok(float);
    }
    if digits < -309 {
        return Ok(0f64.copysign(float));
    }
    let text = if let Ok(digits) = usize::try_from(digits) {
        format!("{float:.digits$}")
    } else {
        // Through the exact integer, of which a fraction can only break a tie.
        let power = BigInt::from(10).pow(u32::try_from(-digits).unwrap_or(u32::MAX));
        let Some(exact) = Int::from_f64(float.abs()) else {
            return Ok(float);
        };
        let exact = exact.big();
        let (down, rest) = (&exact / &power, &exact % &power);
        let twice: BigInt = rest * 2;
        let is_odd = down.bit(0);
        let is_more = twice > power || (twice == power && (float.fract() != 0.0 || is_odd));
        let rounded: BigInt = (down + i32::from(is_more)) * power;
        format!("{}{rounded}", if float < 0.0 { "-" } else { "" })
    };
    let rounded: f64 = text.parse().unwrap_or(f64::NAN);
    if rounded.is_infinite() {
        return Err(DecodeFault::new("rounded value too large to represent"));
    }
    Ok(rounded)
}

fn integer_to_digits(int: &Int, digits: u64) -> DecodeResult<Value> {
    let digits = u32::try_from(digits)
        .ok()
        .filter(|&digits| digits <= 20_000);
    let power = BigInt::from(10).pow(digits.ok_or_else(too_large)?);
    let big = int.big();
    let half = &power / 2;
    let mut rest: BigInt = &big % &power;
    if rest < BigInt::zero() {
        rest += &power;
    }
    let down: BigInt = &big - &rest;
    let is_odd = (&down / &power).bit(0);
    let is_more = rest > half || (rest == half && is_odd);
    Ok(Value::Int(Int::from(if is_more {
        down + power
    } else {
        down
    })))
}

/// `pow(base, exponent, modulus)` of integers.
pub(crate) fn modular_power(
    base: &Value,
    exponent: &Value,
    modulus: &Value,
    fuel: &mut u64,
) -> DecodeResult<Value> {
    let int = |value: &Value| {
        value.as_integer().ok_or_else(|| {
            DecodeFault::new("pow() 3rd argument not allowed unless all arguments are integers")
        })
    };
    let (base, exponent, modulus) = (int(base)?, int(exponent)?, int(modulus)?);
    if modulus.bits() == 0 {
        return Err(DecodeFault::new("pow() 3rd argument cannot be 0"));
    }
    let words = modulus.bits() / 64 + 1;
    spend(
        fuel,
        words
            .saturating_mul(words)
            .saturating_mul(exponent.bits() + 1)
            + base.bits(),
    )?;
    let modulus = modulus.big();
    let (base, exponent) = if exponent < Int::from(0) {
        let inverse = base.big().modinv(&modulus);
        let inverse = inverse
            .ok_or_else(|| DecodeFault::new("base is not invertible for the given modulus"))?;
        (inverse, exponent.negated().big())
    } else {
        (base.big(), exponent.big())
    };
    Ok(Value::Int(Int::from(base.modpow(&exponent, &modulus))))
}
