//! Python's operators on constants, with a limit on the work they may make.

use num_bigint::{BigInt, Sign};
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};
use ruff_python_ast::{Operator, UnaryOp};

use super::fault::not_evaluated;
use super::fault::{DecodeFault, DecodeResult};
use super::integer::Int;
use super::value::{Dict, Value};
use super::{complex, percent};

/// The largest result of arithmetic, in bits. Python would go on until memory or patience ends; nothing
/// near this size can be printed, so no answer hangs on it.
const MAX_BITS: u64 = 1 << 17;

/// Python's unary minus; `None` where it raises `TypeError`.
pub(crate) fn negated(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Bool(value) => Value::from(-i64::from(*value)),
        Value::Int(value) => Value::Int(value.negated()),
        Value::Float(value) => Value::Float(-value),
        Value::Complex(re, im) => Value::Complex(-re, -im),
        _ => return None,
    })
}

/// A unary operator as `eval` applies it.
pub(crate) fn unary(op: UnaryOp, value: &Value) -> DecodeResult<Value> {
    let result = match op {
        UnaryOp::USub => negated(value),
        UnaryOp::UAdd => negated(value).and_then(|value| negated(&value)),
        UnaryOp::Not => Some(Value::Bool(!truth(value))),
        UnaryOp::Invert => value
            .as_integer()
            .map(|value| Value::Int(Int::from(-value.big() - BigInt::from(1)))),
    };
    let sign = op.as_str();
    result.ok_or_else(|| {
        let class = value.type_name();
        DecodeFault::new(format!("bad operand type for unary {sign}: '{class}'"))
    })
}

/// Whether Python takes a value for true.
pub(crate) fn truth(value: &Value) -> bool {
    match value {
        Value::None => false,
        Value::Bool(value) => *value,
        Value::Int(value) => value.bits() > 0,
        Value::Float(value) => *value != 0.0,
        Value::Complex(re, im) => *re != 0.0 || *im != 0.0,
        Value::Str(text) => !text.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => !items.is_empty(),
        Value::Dict(dict) => !dict.is_empty(),
        Value::Ellipsis => true,
    }
}

/// A binary operator. What it costs is taken from `fuel`; without fuel it fails.
pub(crate) fn binary(
    op: Operator,
    left: &Value,
    right: &Value,
    fuel: &mut u64,
) -> DecodeResult<Value> {
    if let Some(result) = sequences(op, left, right, fuel)? {
        return Ok(result);
    }
    if let (Some(a), Some(b)) = (left.as_integer(), right.as_integer()) {
        let both_bools = matches!((left, right), (Value::Bool(_), Value::Bool(_)));
        return integers(op, &a, &b, both_bools, fuel)?.ok_or_else(|| mismatch(op, left, right));
    }
    let complex = matches!(left, Value::Complex(..)) || matches!(right, Value::Complex(..));
    if complex && let (Some(a), Some(b)) = (as_complex(left)?, as_complex(right)?) {
        return complex::binary(op, a, b)?.ok_or_else(|| mismatch(op, left, right));
    }
    if let (Some(a), Some(b)) = (as_float(left)?, as_float(right)?) {
        return floats(op, a, b)?.ok_or_else(|| mismatch(op, left, right));
    }
    Err(mismatch(op, left, right))
}

fn mismatch(op: Operator, left: &Value, right: &Value) -> DecodeFault {
    let sign = match op {
        Operator::Pow => "** or pow()",
        op => op.as_str(),
    };
    let (left, right) = (left.type_name(), right.type_name());
    DecodeFault::new(format!(
        "unsupported operand type(s) for {sign}: '{left}' and '{right}'"
    ))
}

pub(crate) fn spend(fuel: &mut u64, cost: u64) -> DecodeResult<()> {
    *fuel = fuel.checked_sub(cost).ok_or_else(too_large)?;
    Ok(())
}

pub(crate) fn too_large() -> DecodeFault {
    not_evaluated("the result is too large")
}

pub(crate) fn zero_division() -> DecodeFault {
    DecodeFault::new("division by zero")
}

fn as_float(value: &Value) -> DecodeResult<Option<f64>> {
    if let Value::Float(value) = value {
        return Ok(Some(*value));
    }
    let Some(integer) = value.as_integer() else {
        return Ok(None);
    };
    let message = "int too large to convert to float";
    let float = integer.to_f64().ok_or_else(|| DecodeFault::new(message))?;
    Ok(Some(float))
}

fn as_complex(value: &Value) -> DecodeResult<Option<(f64, f64)>> {
    match value {
        Value::Complex(re, im) => Ok(Some((*re, *im))),
        other => Ok(as_float(other)?.map(|re| (re, 0.0))),
    }
}

/// Joining and repeating.
fn sequences(
    op: Operator,
    left: &Value,
    right: &Value,
    fuel: &mut u64,
) -> DecodeResult<Option<Value>> {
    match op {
        Operator::Add => {
            let Some(joined) = joined(left, right) else {
                return Ok(None);
            };
            spend(fuel, weight(left) + weight(right))?;
            Ok(Some(joined()))
        }
        Operator::Mult if is_sequence(left) => repeated(left, right, fuel),
        Operator::Mult if is_sequence(right) => repeated(right, left, fuel),
        Operator::BitOr => Ok(match (left, right) {
            (Value::Dict(a), Value::Dict(b)) => {
                spend(fuel, weight(left) + weight(right))?;
                let joined: Dict = a.iter().chain(b.iter()).cloned().collect();
                Some(Value::Dict(joined))
            }
            _ => None,
        }),
        Operator::Mod => match left {
            Value::Str(format) => {
                let text = percent::format(format, right)?;
                spend(fuel, text.len() as u64)?;
                Ok(Some(Value::Str(text)))
            }
            Value::Bytes(format) => {
                let bytes = percent::bytes(format, right)?;
                spend(fuel, bytes.len() as u64)?;
                Ok(Some(Value::Bytes(bytes)))
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

fn is_sequence(value: &Value) -> bool {
    matches!(
        value,
        Value::Str(_) | Value::Bytes(_) | Value::List(_) | Value::Tuple(_)
    )
}

/// What a copy costs: letters, and some 32 for each value.
pub(crate) fn weight(value: &Value) -> u64 {
    32 + match value {
        Value::Str(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::Int(int) => int.bits() / 8,
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => {
            items.iter().map(weight).sum()
        }
        Value::Dict(dict) => dict
            .iter()
            .map(|(key, value)| weight(key) + weight(value))
            .sum(),
        _ => 0,
    }
}

/// The join of two sequences of a kind, made when it is called.
fn joined<'a>(left: &'a Value, right: &'a Value) -> Option<Box<dyn FnOnce() -> Value + 'a>> {
    Some(match (left, right) {
        (Value::Str(a), Value::Str(b)) => Box::new(move || Value::Str(format!("{a}{b}"))),
        (Value::Bytes(a), Value::Bytes(b)) => Box::new(move || Value::Bytes([&**a, b].concat())),
        (Value::List(a), Value::List(b)) => Box::new(move || Value::List([&**a, b].concat())),
        (Value::Tuple(a), Value::Tuple(b)) => Box::new(move || Value::Tuple([&**a, b].concat())),
        _ => return None,
    })
}

fn repeated(sequence: &Value, count: &Value, fuel: &mut u64) -> DecodeResult<Option<Value>> {
    let Some(count) = count.as_integer() else {
        return Ok(None);
    };
    // A count that no machine word holds is a fault in any case.
    let count = count.to_i64().ok_or_else(too_large)?;
    let count = if truth(sequence) {
        usize::try_from(count).unwrap_or(0)
    } else {
        0
    };
    spend(fuel, weight(sequence).saturating_mul(count as u64))?;
    let items = |items: &[Value]| {
        items
            .iter()
            .cycle()
            .take(items.len() * count)
            .cloned()
            .collect()
    };
    Ok(Some(match sequence {
        Value::Str(text) => Value::Str(text.repeat(count)),
        Value::Bytes(bytes) => Value::Bytes(bytes.repeat(count)),
        Value::List(list) => Value::List(items(list)),
        Value::Tuple(tuple) => Value::Tuple(items(tuple)),
        _ => return Ok(None),
    }))
}

fn integers(
    op: Operator,
    a: &Int,
    b: &Int,
    bools: bool,
    fuel: &mut u64,
) -> DecodeResult<Option<Value>> {
    let words = |int: &Int| int.bits() / 64 + 1;
    spend(fuel, words(a).saturating_mul(words(b)))?;
    if a.bits().max(b.bits()) > MAX_BITS {
        return Err(too_large());
    }
    let is_zero = b.bits() == 0;
    let (big_a, big_b) = (a.big(), b.big());
    let result = match op {
        Operator::Add => big_a + big_b,
        Operator::Sub => big_a - big_b,
        Operator::Mult => big_a * big_b,
        Operator::Div if is_zero => return Err(zero_division()),
        Operator::Div => return quotient(&big_a, &big_b).map(|value| Some(Value::Float(value))),
        Operator::FloorDiv | Operator::Mod if is_zero => {
            return Err(DecodeFault::new("integer division or modulo by zero"));
        }
        Operator::FloorDiv => floor_division(&big_a, &big_b).0,
        Operator::Mod => floor_division(&big_a, &big_b).1,
        Operator::Pow => return power(a, b, fuel).map(Some),
        Operator::LShift | Operator::RShift => {
            if b < &Int::from(0) {
                return Err(DecodeFault::new("negative shift count"));
            }
            let right = op == Operator::RShift;
            let count = match b.to_i64().and_then(|count| u64::try_from(count).ok()) {
                Some(count) if right => count.min(2 * MAX_BITS),
                Some(count) if count <= MAX_BITS => count,
                None if right => 2 * MAX_BITS,
                _ if a.bits() == 0 => 0,
                _ => return Err(too_large()),
            };
            if right {
                big_a >> count
            } else {
                big_a << count
            }
        }
        Operator::BitAnd => big_a & big_b,
        Operator::BitOr => big_a | big_b,
        Operator::BitXor => big_a ^ big_b,
        Operator::MatMult => return Ok(None),
    };
    let bitwise = matches!(op, Operator::BitAnd | Operator::BitOr | Operator::BitXor);
    Ok(Some(if bools && bitwise {
        Value::Bool(!result.is_zero())
    } else {
        Value::Int(Int::from(result))
    }))
}

/// Quotient and rest, rounded down.
fn floor_division(a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    let (quotient, rest) = (a / b, a % b);
    if rest.is_zero() || rest.sign() == b.sign() {
        (quotient, rest)
    } else {
        (quotient - 1, rest + b)
    }
}

/// The double nearest to a quotient of integers.
fn quotient(a: &BigInt, b: &BigInt) -> DecodeResult<f64> {
    let exact = |int: &BigInt| int.to_f64().filter(|_| int.bits() <= 53);
    if let (Some(a), Some(b)) = (exact(a), exact(b)) {
        return Ok(a / b);
    }
    // At least 66 bits of quotient, the last of which stands for all that follow.
    let shift = (66 + b.bits()).saturating_sub(a.bits());
    let (mut whole, rest) = {
        let scaled = a.abs() << shift;
        (&scaled / b.abs(), scaled % b.abs())
    };
    if !rest.is_zero() {
        whole |= BigInt::from(1);
    }
    let overflow = || DecodeFault::new("integer division result too large for a float");
    let mut value = whole.to_f64().unwrap_or(f64::INFINITY);
    // Two steps, because 2⁻¹⁰⁷⁴ times 2¹⁰⁰⁰ is none that a double can be multiplied by at once.
    let mut left = i32::try_from(shift).map_err(|_| overflow())?;
    while left > 0 && value != 0.0 {
        let step = left.min(1000);
        value *= 2f64.powi(-step);
        left -= step;
    }
    if !value.is_finite() {
        return Err(overflow());
    }
    let negative = (a.sign() == Sign::Minus) != (b.sign() == Sign::Minus);
    Ok(if negative { -value } else { value })
}

fn power(base: &Int, exponent: &Int, fuel: &mut u64) -> DecodeResult<Value> {
    if exponent < &Int::from(0) {
        let message = "int too large to convert to float";
        let float = |int: &Int| int.to_f64().ok_or_else(|| DecodeFault::new(message));
        let result = floats(Operator::Pow, float(base)?, float(exponent)?)?;
        return result.ok_or_else(too_large);
    }
    let bits = base.bits();
    let exponent = match exponent
        .to_i64()
        .and_then(|exponent| u32::try_from(exponent).ok())
    {
        Some(exponent) => exponent,
        // 0, 1 and -1 to any power: only whether it is odd matters.
        None if bits <= 1 => 2 + u32::from(exponent.big().bit(0)),
        None => return Err(too_large()),
    };
    let size = bits.saturating_mul(u64::from(exponent));
    if bits > 1 && size > MAX_BITS {
        return Err(too_large());
    }
    spend(fuel, (size / 64 + 1).saturating_mul(size / 64 + 1))?;
    Ok(Value::Int(Int::from(base.big().pow(exponent))))
}

fn floats(op: Operator, a: f64, b: f64) -> DecodeResult<Option<Value>> {
    Ok(Some(Value::Float(match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mult => a * b,
        Operator::Div | Operator::FloorDiv | Operator::Mod if b == 0.0 => {
            return Err(zero_division());
        }
        Operator::Div => a / b,
        Operator::FloorDiv => float_division(a, b).0,
        Operator::Mod => float_division(a, b).1,
        Operator::Pow => return float_power(a, b).map(Some),
        _ => return Ok(None),
    })))
}

/// Python's `divmod` of floats.
fn float_division(a: f64, b: f64) -> (f64, f64) {
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest == 0.0 {
        rest = 0f64.copysign(b);
    } else if (b < 0.0) != (rest < 0.0) {
        rest += b;
        quotient -= 1.0;
    }
    let whole = if quotient == 0.0 {
        0f64.copysign(a / b)
    } else {
        let floor = quotient.floor();
        if quotient - floor > 0.5 {
            floor + 1.0
        } else {
            floor
        }
    };
    (whole, rest)
}

fn float_power(a: f64, b: f64) -> DecodeResult<Value> {
    if a == 0.0 && b < 0.0 {
        let message = "0.0 cannot be raised to a negative power";
        return Err(DecodeFault::new(message));
    }
    if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 {
        let (re, im) = complex::power((a, 0.0), (b, 0.0))?;
        return Ok(Value::Complex(re, im));
    }
    let result = a.powf(b);
    if result.is_infinite() && a.is_finite() && b.is_finite() {
        return Err(DecodeFault::new("(34, 'Numerical result out of range')"));
    }
    Ok(Value::Float(result))
}
