//! The keys of `limits`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::keys::{BudgetKeys, LimitsKeys};
use crate::error::{Error, Result};
use crate::eval::limits::{Budget, Limits};

/// The limits in the keys, otherwise those of `default`.
pub(super) fn limits(keys: &LimitsKeys, default: &Limits) -> Result<Limits> {
    let or = |given: Option<Duration>, default: Option<Duration>| given.or(default);
    let least = 0.001;
    Ok(Limits {
        concurrency: at_least_one("concurrency", keys.concurrency)?.unwrap_or(default.concurrency),
        timeout: parse_seconds("timeout_s", keys.timeout_s, least)?.unwrap_or(default.timeout),
        conversation_timeout: or(
            parse_seconds("conversation_timeout_s", keys.conversation_timeout_s, least)?,
            default.conversation_timeout,
        ),
        sample_timeout: or(
            parse_seconds("sample_timeout_s", keys.sample_timeout_s, least)?,
            default.sample_timeout,
        ),
        deadline: or(
            parse_seconds("deadline_s", keys.deadline_s, least)?,
            default.deadline,
        ),
        budget: budget(keys.budget.as_ref(), default.budget)?,
        requests_per_minute: per_minute("requests_per_minute", keys.requests_per_minute)?
            .or(default.requests_per_minute),
        tokens_per_minute: per_minute("tokens_per_minute", keys.tokens_per_minute)?
            .or(default.tokens_per_minute),
        ramp_up: or(
            parse_seconds("ramp_up_s", keys.ramp_up_s, 0.0)?,
            default.ramp_up,
        ),
        retries: keys.retries.unwrap_or(default.retries),
        own_retries: keys.retries,
        rate_limit_wait: or(
            parse_seconds("rate_limit_wait_s", keys.rate_limit_wait_s, 0.0)?,
            default.rate_limit_wait,
        ),
        backoff: parse_seconds("backoff_s", keys.backoff_s, 0.0)?.unwrap_or(default.backoff),
        max_output_bytes: match keys.max_output_bytes {
            Some(0) => {
                let error = Error::usage("limits.max_output_bytes is 0, so no answer is possible");
                let hint = "write a number of bytes: `max_output_bytes: 1048576`";
                return Err(error.hint(hint).under("max_output_bytes"));
            }
            given => given.unwrap_or(default.max_output_bytes),
        },
        limit: at_least_one("limit", keys.limit)?.or(default.limit),
        fail_fast: keys.fail_fast.unwrap_or(default.fail_fast),
        keep_going: keys.keep_going.unwrap_or(default.keep_going),
    })
}

fn at_least_one(key: &str, value: Option<usize>) -> Result<Option<usize>> {
    match value {
        Some(0) => Err(Error::usage(format!("limits.{key} must be at least 1"))
            .hint(format!("write a whole number from 1: `{key}: 4`"))
            .under(key)),
        value => Ok(value),
    }
}

pub(super) fn parse_seconds(key: &str, value: Option<f64>, least: f64) -> Result<Option<Duration>> {
    match value {
        None => Ok(None),
        Some(value) if value.is_finite() && value >= least && value <= 1e9 => {
            Ok(Some(Duration::from_secs_f64(value)))
        }
        Some(value) => {
            let message = format!(
                "limits.{key} is {value}, which is not a number of seconds from {least} to 1000000000"
            );
            let hint = format!("write seconds: `{key}: 30`");
            Err(Error::usage(message).hint(hint).under(key))
        }
    }
}

fn per_minute(key: &str, value: Option<f64>) -> Result<Option<f64>> {
    match value.filter(|value| !(value.is_finite() && *value > 0.0)) {
        None => Ok(value),
        Some(wrong) => {
            let message = format!("limits.{key} is {wrong}; it must be above 0");
            let hint = format!("write a number per minute: `{key}: 600`");
            Err(Error::usage(message).hint(hint).under(key))
        }
    }
}

/// The budget in the `limits` of a spec that is only partly read.
pub(crate) fn budget_of(keys: &Value) -> Result<Budget> {
    let keys = LimitsKeys::deserialize(keys);
    let keys = keys.map_err(|error| Error::usage(format!("`limits`: {error}")))?;
    Ok(limits(&keys, &Limits::default())?.budget)
}

fn budget(keys: Option<&BudgetKeys>, default: Budget) -> Result<Budget> {
    let Some(keys) = keys else { return Ok(default) };
    let is_wrong = |cost: f64| !(cost.is_finite() && cost > 0.0);
    let wrong = [
        ("cost_usd", keys.cost_usd.is_some_and(is_wrong)),
        ("tokens", keys.tokens == Some(0)),
        ("requests", keys.requests == Some(0)),
    ];
    if let Some((key, _)) = wrong.into_iter().find(|(_, is_wrong)| *is_wrong) {
        let message = format!("limits.budget.{key} must be above 0");
        let error = Error::usage(message).hint("`--dry-run` asks nothing");
        return Err(error.under(key).under("budget"));
    }
    Ok(Budget {
        cost_usd: keys.cost_usd.or(default.cost_usd),
        tokens: keys.tokens.or(default.tokens),
        requests: keys.requests.or(default.requests),
    })
}
