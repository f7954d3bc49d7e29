//! A delay between requests, as the rate that it is.

use serde_json::Value;

use crate::error::{Error, Result};

/// How many may be asked in a minute; null for no bound, also where the spec has one.
///
/// # Errors
/// When it is no number of seconds from 0 on.
pub fn per_minute(delay_s: f64) -> Result<Value> {
    if !delay_s.is_finite() || delay_s < 0.0 {
        return Err(Error::usage(format!(
            "`--delay-s` must be a number of seconds from 0 on, not {delay_s}"
        )));
    }
    Ok(if delay_s > 0.0 {
        (60.0 / delay_s).into()
    } else {
        Value::Null
    })
}
