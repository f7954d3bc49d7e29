//! Places and slices of constant sequences.

use ruff_python_ast::{Expr, ExprSlice};

use super::arithmetic::{spend, weight};
use super::evaluate::Evaluator;
use super::fault::unhashable;
use super::fault::{DecodeFault, DecodeResult};
use super::half;
use super::integer::Int;
use super::value::Value;

impl Evaluator<'_> {
    /// `value[lower:upper:step]`.
    pub(crate) fn slice(
        &mut self,
        value: &Value,
        slice: &ExprSlice,
        depth: usize,
    ) -> DecodeResult<Value> {
        let mut bound = |bound: &Option<Box<Expr>>| match bound {
            None => Ok(None),
            Some(bound) => {
                match self.value(bound, depth)? {
                    Value::None => Ok(None),
                    value => {
                        let int = value.as_integer().ok_or_else(|| {
                        DecodeFault::new("slice indices must be integers or None or have an __index__ method")
                    })?;
                        // Beyond a machine word is beyond every text.
                        let is_negative = int < Int::from(0);
                        Ok(Some(int.to_i64().unwrap_or(if is_negative {
                            i64::MIN
                        } else {
                            i64::MAX
                        })))
                    }
                }
            }
        };
        let (lower, upper, step) = (
            bound(&slice.lower)?,
            bound(&slice.upper)?,
            bound(&slice.step)?,
        );
        spend(&mut self.fuel, weight(value))?;
        let places = |count: usize| places(count, lower, upper, step.unwrap_or(1));
        Ok(match value {
            Value::Str(text) => {
                let letters: Vec<&str> = half::letters(text).collect();
                Value::Str(
                    places(letters.len())?
                        .into_iter()
                        .map(|place| letters[place])
                        .collect(),
                )
            }
            Value::Bytes(bytes) => Value::Bytes(
                places(bytes.len())?
                    .into_iter()
                    .map(|place| bytes[place])
                    .collect(),
            ),
            Value::List(items) => Value::List(
                places(items.len())?
                    .into_iter()
                    .map(|place| items[place].clone())
                    .collect(),
            ),
            Value::Tuple(items) => Value::Tuple(
                places(items.len())?
                    .into_iter()
                    .map(|place| items[place].clone())
                    .collect(),
            ),
            other => {
                let class = other.type_name();
                return Err(DecodeFault::new(format!(
                    "'{class}' object is not subscriptable"
                )));
            }
        })
    }
}

/// The places that a slice takes of so many.
fn places(
    count: usize,
    lower: Option<i64>,
    upper: Option<i64>,
    step: i64,
) -> DecodeResult<Vec<usize>> {
    if step == 0 {
        return Err(DecodeFault::new("slice step cannot be zero"));
    }
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let (first, last) = if step > 0 {
        (0, count)
    } else {
        (-1, count - 1)
    };
    let within = |bound: Option<i64>, or: i64| match bound {
        None => or,
        Some(bound) if bound < 0 => bound.saturating_add(count).clamp(first, last),
        Some(bound) => bound.clamp(first, last),
    };
    let (mut place, end) = if step > 0 {
        (within(lower, first), within(upper, last))
    } else {
        (within(lower, last), within(upper, first))
    };
    let mut places = Vec::new();
    while (step > 0 && place < end) || (step < 0 && place > end) {
        places.extend(usize::try_from(place));
        place = place.saturating_add(step);
    }
    Ok(places)
}

/// `value[place]`.
pub(crate) fn item(value: &Value, place: &Value) -> DecodeResult<Value> {
    let missing = || DecodeFault::new("index out of range");
    if let Value::Dict(dict) = value {
        if !place.is_hashable() {
            return Err(unhashable(place));
        }
        return dict
            .get(place)
            .cloned()
            .ok_or_else(|| DecodeFault::new("KeyError"));
    }
    let place = place
        .as_integer()
        .ok_or_else(|| DecodeFault::new("indices must be integers or slices"))?;
    let place = place.to_i64().ok_or_else(missing)?;
    let count = match value {
        Value::Str(text) => half::count(text),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) | Value::Tuple(items) => items.len(),
        other => {
            let class = other.type_name();
            return Err(DecodeFault::new(format!(
                "'{class}' object is not subscriptable"
            )));
        }
    };
    let place = match usize::try_from(place) {
        Ok(place) => Some(place),
        Err(_) => usize::try_from(place.unsigned_abs())
            .ok()
            .and_then(|back| count.checked_sub(back)),
    };
    let place = place.filter(|&place| place < count).ok_or_else(missing)?;
    Ok(match value {
        Value::Str(text) => half::letters(text).nth(place).unwrap_or_default().into(),
        Value::Bytes(bytes) => Value::from(i64::from(bytes[place])),
        Value::List(items) | Value::Tuple(items) => items[place].clone(),
        _ => return Err(missing()),
    })
}
