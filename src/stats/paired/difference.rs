//! The paired difference of two runs over the same samples, with its interval.

use super::CountedSamples;
use super::conditional::ComparedSample;
use crate::stats::distribution::student;
use crate::stats::{Sum, Z95, as_f64};

/// The change in the rate of right answers, over the samples that have answers on both sides.
///
/// Every sample has the same weight, however many answers it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The share of right answers in the baseline.
    pub before: f64,
    /// The share of right answers now.
    pub now: f64,
    /// `now - before`: negative if the agent became worse.
    pub value: f64,
    /// The 95 % confidence interval `[low, high]` of the difference, within -1 and 1. It is never a point.
    pub ci95: [f64; 2],
}

/// The paired difference of independent samples; `None` if no sample has answers on both sides.
///
/// With one answer on each side the interval is Tango's score interval. With several it is Tango's interval for the
/// number of pairs of the side with fewer answers, with as many changes as give the mean difference the variance
/// observed between the samples, and with Student's quantile. So it accounts for samples that react differently to a
/// change as well as for chance in the answers. In simulations its coverage is 93.5 to 99 % with 40 samples or more.
///
/// Source: T. Tango, *Equivalence test and confidence interval for the difference in proportions for the paired-sample
/// design*, Statistics in Medicine 17 (1998).
pub(crate) fn paired_difference(samples: &CountedSamples) -> Option<Difference> {
    let kinds = samples.kinds();
    bounds(
        kinds.map(|(sample, times)| (std::slice::from_ref(sample), times)),
        true,
    )
}

/// [`paired_difference`] if only groups of samples are independent: the pairs are groups.
pub(crate) fn grouped_difference(groups: &[Vec<ComparedSample>]) -> Option<Difference> {
    bounds(groups.iter().map(|group| (group.as_slice(), 1)), true)
}

/// [`grouped_difference`] that does not treat groups of single pairs as a special case: for groups of one pair each, it
/// is the same as for these pairs repeated, and few of them carry little information.
pub(crate) fn repeated_difference(groups: &[Vec<ComparedSample>]) -> Option<Difference> {
    bounds(groups.iter().map(|group| (group.as_slice(), 1)), false)
}

/// The contribution of one group, and the number of equal groups.
struct Unit {
    times: u64,
    samples: f64,
    /// The sum of its samples' differences.
    change: f64,
}

/// From groups with their multiplicities. With `single`, groups of single pairs are treated as independent pairs.
fn bounds<'a>(
    groups: impl Iterator<Item = (&'a [ComparedSample], u64)>,
    mut single: bool,
) -> Option<Difference> {
    let (mut units, mut shares) = (Vec::new(), [Sum::default(), Sum::default()]);
    // Over the samples: the number of pairs that the answers to one form.
    let mut pairs = 0.0;
    for (group, times) in groups {
        let mut unit = Unit {
            times,
            samples: 0.0,
            change: 0.0,
        };
        for ComparedSample { before, now } in group {
            if before.of == 0 || now.of == 0 {
                continue;
            }
            let share = |right: u32, of: u32| f64::from(right.min(of)) / f64::from(of);
            let (was, is) = (share(before.right, before.of), share(now.right, now.of));
            shares[0].add_times(was, times);
            shares[1].add_times(is, times);
            unit.samples += 1.0;
            unit.change += is - was;
            single &= before.of == 1 && now.of == 1;
            pairs += as_f64(times) * f64::from(before.of.min(now.of));
        }
        if unit.samples > 0.0 {
            single &= unit.samples < 1.5;
            units.push(unit);
        }
    }
    let sum = |part: &dyn Fn(&Unit) -> f64| -> Option<f64> {
        let mut sum = Sum::default();
        for unit in &units {
            sum.add_times(part(unit), unit.times);
        }
        sum.total()
    };
    let samples = sum(&|unit| unit.samples)?;
    let value = sum(&|unit| unit.change)? / samples;
    let squares = sum(&|unit| (unit.change - value * unit.samples).powi(2))?;
    let count = units.iter().map(|unit| unit.times).sum::<u64>();
    // Groups of unequal sizes count as fewer groups of equal size.
    let sizes = sum(&|unit| unit.samples.powi(2))?;
    let pairs = samples / sizes * pairs;
    let variance = squares / (samples * samples);
    let (spread, quantile) = if single {
        (Spread::of(value, variance, pairs), Z95)
    } else {
        let correction = as_f64(count) / as_f64(count.max(2) - 1);
        (
            Spread::of(value, correction * variance, pairs),
            student::percentile(0.975, count - 1),
        )
    };
    Some(Difference {
        before: shares[0].total()? / samples,
        now: shares[1].total()? / samples,
        value,
        ci95: [
            -spread.mirrored().highest(quantile),
            spread.highest(quantile),
        ],
    })
}

/// A table of pairs as shares, which need not be whole numbers of pairs.
struct Spread {
    pairs: f64,
    better: f64,
    worse: f64,
}

impl Spread {
    /// A table of `pairs` pairs with the mean difference `value` and this variance. Uses fewer pairs if the variance is
    /// too large even when all pairs change, and a larger variance if it is too small even when none change back.
    fn of(value: f64, variance: f64, pairs: f64) -> Self {
        let all = 1.0 - value * value;
        let pairs = if variance * pairs > all {
            all / variance
        } else {
            pairs
        };
        let changed = (value * value + variance * pairs).clamp(value.abs(), 1.0);
        Self {
            pairs,
            better: f64::midpoint(changed, value).max(0.0),
            worse: f64::midpoint(changed, -value).max(0.0),
        }
    }

    fn mirrored(&self) -> Self {
        Self {
            pairs: self.pairs,
            better: self.worse,
            worse: self.better,
        }
    }

    /// The upper end of Tango's interval: the largest difference that the score test does not reject.
    fn highest(&self, quantile: f64) -> f64 {
        let value = self.better - self.worse;
        let outside = |at: f64| {
            // The share that became worse, if the difference is `at`.
            let b = (2.0 - self.better + self.worse) * at - self.better - self.worse;
            let c = -self.worse * at * (1.0 - at);
            let worse = ((b * b - 8.0 * c).max(0.0).sqrt() - b) / 4.0;
            let variance = (2.0 * worse + at * (1.0 - at)).max(0.0) / self.pairs;
            (at - value) - quantile * variance.sqrt()
        };
        crate::stats::root(value, 1.0, outside).min(1.0)
    }
}

#[cfg(test)]
mod tests;
