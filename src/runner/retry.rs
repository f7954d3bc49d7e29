//! How long to wait before a failed attempt is repeated.

use std::time::Duration;

use crate::agent::{AgentError, LONGEST_RETRY_AFTER};
use crate::hash::Hasher;

/// No pause is longer.
const LONGEST: Duration = Duration::from_secs(30);

/// `first * 2^(failures - 1)`, at most 30 s, less up to a quarter: samples that failed together, because
/// the endpoint was down, do not come back together. The share depends on the sample alone, so that runs
/// are repeatable.
pub(super) fn backoff(first: Duration, failures: u32, id: &str) -> Duration {
    let factor = 1_u32
        .checked_shl(failures.saturating_sub(1))
        .unwrap_or(u32::MAX);
    let pause = first.saturating_mul(factor).min(LONGEST);
    let spread = Hasher::default()
        .part(id)
        .part(failures.to_le_bytes())
        .short();
    let share = u32::from_str_radix(&spread[..4], 16).unwrap_or_default();
    pause.mul_f64(1.0 - f64::from(share) / 65_536.0 / 4.0)
}

/// How long the agent itself asks to be left alone.
pub(super) fn wanted(error: &AgentError) -> Duration {
    let seconds = error.retry_after_s.unwrap_or_default();
    Duration::try_from_secs_f64(seconds.min(LONGEST_RETRY_AFTER)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_and_stays_below_the_longest() {
        let first = Duration::from_secs(1);
        for (failures, most) in [(1, 1.0), (2, 2.0), (3, 4.0), (40, 30.0)] {
            let pause = backoff(first, failures, "a").as_secs_f64();
            assert!(pause <= most && pause >= most * 0.75, "{failures}: {pause}");
        }
        assert_eq!(backoff(Duration::ZERO, 1, "a"), Duration::ZERO);
    }
}
