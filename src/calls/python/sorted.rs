//! `sorted`: a stable sort that ends at the first pair that has no order. That of the standard library may panic on such a list.

use std::cmp::Ordering;

use super::super::fault::DecodeResult;
use super::super::value::Value;
use super::fault::not_evaluated;
use super::order::order;

/// The values from the smallest to the largest, or the other way round; equal ones stay as they are.
pub(super) fn sorted(all: &[Value], reverse: bool) -> DecodeResult<Vec<Value>> {
    let mut places: Vec<&Value> = all.iter().collect();
    if reverse {
        places.reverse();
    }
    let mut sorted: Vec<Value> = merged(&places)?.into_iter().cloned().collect();
    if reverse {
        sorted.reverse();
    }
    Ok(sorted)
}

fn merged<'a>(all: &[&'a Value]) -> DecodeResult<Vec<&'a Value>> {
    if all.len() < 2 {
        return Ok(all.to_vec());
    }
    let (left, right) = all.split_at(all.len() / 2);
    let (left, right) = (merged(left)?, merged(right)?);
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    let mut result = Vec::with_capacity(all.len());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let order = order(other, one)?
            .ok_or_else(|| not_evaluated("what is no number has no place in an order"))?;
        result.extend(if order == Ordering::Less {
            right.next()
        } else {
            left.next()
        });
    }
    result.extend(left);
    result.extend(right);
    Ok(result)
}
