//! How long to wait before a failed attempt is repeated.

use std::time::Duration;

use crate::text::hash::Hasher;

/// No pause is longer.
const LONGEST: Duration = Duration::from_secs(30);

/// `first * 2^(failures - 1)`, at most 30 s, less up to a quarter: samples that failed together, because
/// the endpoint was down, do not come back together. The share depends on the sample and its
/// epoch alone, so that runs are repeatable.
pub(super) fn backoff(first: Duration, failures: u32, id: &str, epoch: u32) -> Duration {
    let factor = 1_u32
        .checked_shl(failures.saturating_sub(1))
        .unwrap_or(u32::MAX);
    let pause = first.saturating_mul(factor).min(LONGEST);
    let spread = Hasher::default()
        .part(id)
        .part(failures.to_le_bytes())
        .part(epoch.to_le_bytes())
        .short();
    let share = u32::from_str_radix(&spread[..4], 16).unwrap_or_default();
    pause.mul_f64(1.0 - f64::from(share) / 65_536.0 / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_and_stays_below_the_longest() {
        let first = Duration::from_secs(1);
        for (failures, most) in [(1, 1.0), (2, 2.0), (3, 4.0), (40, 30.0)] {
            let pause = backoff(first, failures, "a", 0).as_secs_f64();
            assert!(pause <= most && pause >= most * 0.75, "{failures}: {pause}");
        }
        assert_eq!(backoff(Duration::ZERO, 1, "a", 0), Duration::ZERO);
    }
}
