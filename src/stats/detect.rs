//! How often the exact conditional test sees a drop, with any number of answers on each side.
//!
//! **The model.** Samples have rates, as [`Rates`] tells. Of those that are always right so many become always wrong
//! that accuracy falls by `drop`; where there are too few of these, the rates of the others fall alike.
//!
//! The number of right answers now, less what is expected given all right answers, is normal with the correction for
//! skewness (Edgeworth's), and so is the bound of the test (Cornish and Fisher's), with half an answer for the
//! continuity. Nothing is simulated; the tests simulate, and the smallest drop is within a point of theirs.

use super::conditional::ComparedSample;
use super::rates::{Changed, Rates};
use super::whole_runs::{RunGroup, design_effect};
use super::{as_f64, normal};

/// So many samples with so many answers on each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimesAsked {
    /// How many samples.
    pub samples: u64,
    /// Answers to each in the baseline.
    pub before: u32,
    /// Answers to each now.
    pub now: u32,
}

/// The smallest loss of accuracy that the comparison of these samples at level `alpha` sees with probability `power`
/// or more, in steps of one sample. `None` when there is none.
pub fn smallest_drop(samples: &[ComparedSample], alpha: f64, power: f64) -> Option<f64> {
    smallest(samples, 1.0, alpha, power)
}

/// [`smallest_drop`] where only groups are independent: chance counts for as much as whole runs spread within them,
/// while samples are taken to break one by one.
pub fn smallest_drop_of_groups(groups: &[RunGroup], alpha: f64, power: f64) -> Option<f64> {
    let samples: Vec<ComparedSample> = groups.iter().flat_map(RunGroup::samples).collect();
    smallest(&samples, design_effect(groups), alpha, power)
}

fn smallest(samples: &[ComparedSample], spread: f64, alpha: f64, power: f64) -> Option<f64> {
    let mut asked = std::collections::BTreeMap::new();
    for ComparedSample { before, now } in samples {
        if before.of > 0 && now.of > 0 {
            *asked.entry([before.of, now.of]).or_default() += 1;
        }
    }
    let pairs: u64 = asked.values().sum();
    let design: Vec<_> = asked
        .into_iter()
        .map(|([before, now], samples)| TimesAsked {
            samples,
            before,
            now,
        })
        .collect();
    let rates = Rates::of(samples)?;
    let drop = |lost: u64| as_f64(lost) / as_f64(pairs);
    least(1, pairs, |lost| {
        chance(&rates, &design, spread, drop(lost), alpha) >= power
    })
    .map(drop)
}

/// How likely the test at level `alpha` sees a loss of accuracy of `drop`.
pub fn power_with(rates: &Rates, asked: &[TimesAsked], drop: f64, alpha: f64) -> f64 {
    chance(rates, asked, 1.0, drop, alpha)
}

/// The least number from `low` to `high` that is enough, of which all above it are too.
pub(super) fn least(mut low: u64, mut high: u64, enough: impl Fn(u64) -> bool) -> Option<u64> {
    if low > high || !enough(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// What the samples add to the test: moments of the right answers of now less what is expected of them, and mean
/// moments of the distribution that they are compared with.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    mean: f64,
    variance: f64,
    third: f64,
    null_variance: f64,
    null_third: f64,
}

fn chance(rates: &Rates, asked: &[TimesAsked], spread: f64, drop: f64, alpha: f64) -> f64 {
    // A larger drop than there can be is seen if the largest is.
    let Some(kinds) = rates.after(drop.min(rates.accuracy() * (1.0 - 1e-9))) else {
        return 0.0;
    };
    let mut sum = Moments::default();
    for asked in asked {
        for kind in &kinds {
            let one = Moments::of(kind, f64::from(asked.before), f64::from(asked.now));
            let count = kind.share * as_f64(asked.samples);
            // Groups that flip together make chance larger, but not what broke.
            let spread = if kind.broken { 1.0 } else { spread };
            sum.mean += count * one.mean;
            sum.variance += count * one.variance * spread;
            sum.third += count * one.third;
            sum.null_variance += count * one.null_variance * spread;
            sum.null_third += count * one.null_third;
        }
    }
    if sum.null_variance <= 0.0 || alpha <= 0.0 {
        return 0.0;
    }
    let deviation = sum.null_variance.sqrt();
    let z = normal::percentile(1.0 - alpha.min(1.0));
    let skewness = sum.null_third / (deviation * sum.null_variance);
    let bound = deviation * (z - skewness * (z * z - 1.0) / 6.0);
    let above = sum.mean + bound + 0.5;
    if sum.variance <= 1e-9 {
        return if above < 0.0 { 1.0 } else { 0.0 };
    }
    let deviation = sum.variance.sqrt();
    let x = -above / deviation;
    let skewness = sum.third / (deviation * sum.variance);
    (normal::below(x) - skewness * (x * x - 1.0) * normal::density(x) / 6.0).clamp(0.0, 1.0)
}

impl Moments {
    /// Of one sample with `m` answers before and `k` now.
    fn of(kind: &Changed, m: f64, k: f64) -> Self {
        let all = m + k;
        let (q, r) = (kind.before, kind.now);
        let (vq, vr) = (q * (1.0 - q), r * (1.0 - r));
        let (tq, tr) = (vq * (1.0 - 2.0 * q), vr * (1.0 - 2.0 * r));
        // Of all right answers: the mean, and the second and the third power.
        let mean = m * q + k * r;
        let variance = m * vq + k * vr;
        let second = variance + mean * mean;
        let third = m * tq + k * tr + 3.0 * mean * variance + mean.powi(3);
        // Given t of them the variance is proportional to t (N - t), the third moment to t (N - t) (N - 2 t).
        let null = m * k / (all * all * (all - 1.0));
        let skew = if all > 2.0 {
            (all - 2.0 * k) / (all * (all - 2.0))
        } else {
            0.0
        };
        Self {
            mean: m * k * (r - q) / all,
            variance: m * k * (m * vr + k * vq) / (all * all),
            third: m * k * (m * m * tr - k * k * tq) / all.powi(3),
            null_variance: null * (all * mean - second),
            null_third: null * skew * (all * all * mean - 3.0 * all * second + 2.0 * third),
        }
    }
}

#[cfg(test)]
mod tests;
