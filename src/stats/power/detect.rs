//! The power of the exact conditional test, with any number of answers on each side.
//!
//! **The model.** Samples have rates, as in [`Rates`]. Of those that are always right, as many become always wrong as
//! lower accuracy by `drop`; if there are too few, the rates of the others fall equally.
//!
//! The number of right answers now, minus its expectation given all right answers, is normal with skewness correction
//! (Edgeworth's), and so is the bound of the test (Cornish and Fisher's), with half an answer of continuity correction.
//! Nothing is simulated except for groups; tests simulate, and the smallest drop is within a point of theirs. If no
//! sample ever flips by chance, the test itself is used, which is exact.

mod groups;

use super::rates::{Changed, Rates};
use crate::stats::as_f64;
use crate::stats::distribution::normal;
use crate::stats::paired::conditional::{AnswerCounts, ComparedSample, conditional_test_of};
use crate::stats::paired::{CountedSamples, ExactTest};

pub(crate) use groups::smallest_drop_of_groups;

/// The number of samples and of answers on each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleDesign {
    /// Number of samples.
    pub samples: u64,
    /// Answers to each in the baseline.
    pub before: u32,
    /// Answers to each now.
    pub now: u32,
}

/// The criterion of the test for red.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RedBelow {
    /// Red if p is below this.
    pub alpha: f64,
    /// The test whose p that is.
    pub test: ExactTest,
}

/// The smallest loss of accuracy that a comparison of these samples detects with probability `power` or more, in steps
/// of one sample. `None` if there is none.
pub(crate) fn smallest_drop(samples: &CountedSamples, red: RedBelow, power: f64) -> Option<f64> {
    let compared = |both: &ComparedSample| both.before.of > 0 && both.now.of > 0;
    let samples = samples.kinds().filter(|(both, _)| compared(both));
    let samples: CountedSamples = samples.map(|(both, times)| (*both, times)).collect();
    let rates = Rates::of_counted(&samples)?;
    // Estimated on a grid: what never flips has at most this noise.
    if rates.noise() < 1e-6 {
        return smallest_without_chance(&samples, red);
    }
    let mut design = std::collections::BTreeMap::new();
    for (ComparedSample { before, now }, times) in samples.kinds() {
        *design.entry([before.of, now.of]).or_default() += times;
    }
    let design: Vec<_> = design
        .into_iter()
        .map(|([before, now], samples)| SampleDesign {
            samples,
            before,
            now,
        })
        .collect();
    smallest_at(&rates, &design, 1.0, red, power)
}

/// Further answers that the bound of the unconditional test lies out where samples are drawn.
const DRAWN: f64 = 0.1;

/// By the test itself, as no chance is involved.
fn smallest_without_chance(samples: &CountedSamples, red: RedBelow) -> Option<f64> {
    let is_right = |both: &ComparedSample| both.before.right == both.before.of;
    let right = || samples.kinds().filter(|(both, _)| is_right(both));
    let p = |mut lost: u64| {
        let mut broken = CountedSamples::default();
        for (both, times) in right() {
            let breaking = times.min(lost);
            lost -= breaking;
            for (right, times) in [(0, breaking), (both.now.of, times - breaking)] {
                let now = AnswerCounts::new(right, both.now.of);
                let before = both.before;
                broken.add(ComparedSample { before, now }, times);
            }
        }
        red.test.p(&conditional_test_of(&broken), &broken)
    };
    let most = right().map(|(_, times)| times).sum();
    let lost = least(1, most, |lost| p(lost) < red.alpha)?;
    Some(as_f64(lost) / as_f64(samples.count()))
}

fn smallest_at(
    rates: &Rates,
    design: &[SampleDesign],
    spread: f64,
    red: RedBelow,
    power: f64,
) -> Option<f64> {
    let samples: u64 = design.iter().map(|design| design.samples).sum();
    let drop = |lost: u64| as_f64(lost) / as_f64(samples);
    least(1, samples, |lost| {
        chance(rates, design, spread, drop(lost), red) >= power
    })
    .map(drop)
}

/// The smallest detectable drop for this number of answers at these rates. `spread` multiplies the variance, 1 if
/// samples flip independently. `None` if even the largest drop is not detected.
pub fn smallest_drop_at(
    rates: &Rates,
    design: &[SampleDesign],
    spread: f64,
    alpha: f64,
    power: f64,
) -> Option<f64> {
    smallest_at(rates, design, spread, RedBelow::p(alpha), power)
}

/// The probability that the test at level `alpha` detects a loss of accuracy of `drop` over a population of which some
/// samples are drawn: how many of the drawn ones break is random as well.
pub(in crate::stats) fn power_of_drawn(
    rates: &Rates,
    design: SampleDesign,
    spread: f64,
    drop: f64,
    alpha: f64,
) -> f64 {
    let Some(kinds) = fallen(rates, drop) else {
        return 0.0;
    };
    let (m, k) = (f64::from(design.before), f64::from(design.now));
    let kinds: Vec<_> = kinds
        .iter()
        .map(|kind| (kind.share, Moments::spread(kind, m, k, spread)))
        .collect();
    let each = |part: &dyn Fn(&Moments) -> f64| -> f64 {
        kinds.iter().map(|(share, one)| share * part(one)).sum()
    };
    let count = as_f64(design.samples);
    // Broken samples also raise the bound of the test: by this much per unit of variance.
    let null_variance = each(&|one| one.null_variance);
    let rise =
        normal::percentile(1.0 - alpha.clamp(0.0, 1.0)) / (2.0 * (count * null_variance).sqrt());
    let place = |one: &Moments| one.mean + rise * one.null_variance;
    let middle = each(&place);
    let off = |one: &Moments| place(one) - middle;
    let sum = Moments {
        mean: count * each(&|one| one.mean),
        variance: count * each(&|one| one.variance + off(one).powi(2)),
        third: count * each(&|one| one.third + 3.0 * one.variance * off(one) + off(one).powi(3)),
        null_variance: count * null_variance,
        null_third: count * each(&|one| one.null_third),
    };
    // Where samples are drawn, too, the number of flips varies more than the approximation allows for: by simulation.
    let red = RedBelow::p(alpha).of_design(&[design]);
    let drawn = if red.test == ExactTest::Unconditional {
        DRAWN
    } else {
        0.0
    };
    sum.chance(alpha, red.continuity() + drawn)
}

impl RedBelow {
    pub(in crate::stats) fn p(alpha: f64) -> Self {
        Self {
            alpha,
            test: ExactTest::default(),
        }
    }

    /// For these numbers of answers: only samples with one on each side have an unconditional test.
    fn of_design(self, design: &[SampleDesign]) -> Self {
        let is_single = design.iter().all(|it| it.before == 1 && it.now == 1);
        match self.test {
            ExactTest::Unconditional if !is_single => Self {
                test: ExactTest::Conditional,
                ..self
            },
            _ => self,
        }
    }

    /// By how many answers the bound lies farther out than it would without steps. The unconditional test comes nearer to
    /// its level than the conditional one, and not quite as near as the mid-p: by simulation.
    fn continuity(self) -> f64 {
        match self.test {
            ExactTest::Conditional => 0.5,
            ExactTest::Unconditional => 0.2,
            ExactTest::MidP => 0.0,
        }
    }
}

/// The smallest number from `low` to `high` that suffices, if all larger ones do too.
pub(in crate::stats) fn least(
    mut low: u64,
    mut high: u64,
    enough: impl Fn(u64) -> bool,
) -> Option<u64> {
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

/// The contribution of the samples to the test: moments of the right answers of now minus their expectation, and mean
/// moments of the null distribution.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    mean: f64,
    variance: f64,
    third: f64,
    null_variance: f64,
    null_third: f64,
}

/// The samples after a drop. A drop larger than possible is taken for the largest.
fn fallen(rates: &Rates, drop: f64) -> Option<Vec<Changed>> {
    rates.after(drop.min(rates.accuracy() * (1.0 - 1e-9)))
}

pub(in crate::stats) fn chance(
    rates: &Rates,
    design: &[SampleDesign],
    spread: f64,
    drop: f64,
    red: RedBelow,
) -> f64 {
    let Some(kinds) = fallen(rates, drop) else {
        return 0.0;
    };
    let mut sum = Moments::default();
    for design in design {
        for kind in &kinds {
            let (m, k) = (f64::from(design.before), f64::from(design.now));
            let one = Moments::spread(kind, m, k, spread);
            let count = kind.share * as_f64(design.samples);
            sum.mean += count * one.mean;
            sum.variance += count * one.variance;
            sum.third += count * one.third;
            sum.null_variance += count * one.null_variance;
            sum.null_third += count * one.null_third;
        }
    }
    let red = red.of_design(design);
    sum.chance(red.alpha, red.continuity())
}

impl Moments {
    /// The probability that the test is red.
    fn chance(&self, alpha: f64, continuity: f64) -> f64 {
        if self.null_variance <= 0.0 || alpha <= 0.0 {
            return 0.0;
        }
        let deviation = self.null_variance.sqrt();
        let z = normal::percentile(1.0 - alpha.min(1.0));
        let skewness = self.null_third / (deviation * self.null_variance);
        let bound = deviation * (z - skewness * (z * z - 1.0) / 6.0);
        let above = self.mean + bound + continuity;
        if self.variance <= 1e-9 {
            return if above < 0.0 { 1.0 } else { 0.0 };
        }
        let deviation = self.variance.sqrt();
        let x = -above / deviation;
        let skewness = self.third / (deviation * self.variance);
        (normal::below(x) - skewness * (x * x - 1.0) * normal::density(x) / 6.0).clamp(0.0, 1.0)
    }

    /// For one sample with its variance multiplied by `spread`. Correlated groups increase chance, but not what broke.
    fn spread(kind: &Changed, m: f64, k: f64, spread: f64) -> Self {
        let one = Self::of(kind, m, k);
        let spread = if kind.broken { 1.0 } else { spread };
        Self {
            variance: one.variance * spread,
            null_variance: one.null_variance * spread,
            ..one
        }
    }

    /// For one sample with `m` answers before and `k` now.
    fn of(kind: &Changed, m: f64, k: f64) -> Self {
        let all = m + k;
        let (q, r) = (kind.before, kind.now);
        let (vq, vr) = (q * (1.0 - q), r * (1.0 - r));
        let (tq, tr) = (vq * (1.0 - 2.0 * q), vr * (1.0 - 2.0 * r));
        // Of all right answers: the mean, and the second and third moment.
        let mean = m * q + k * r;
        let variance = m * vq + k * vr;
        let second = variance + mean * mean;
        let third = m * tq + k * tr + 3.0 * mean * variance + mean.powi(3);
        // Given t right answers, the variance is proportional to t (N - t), the third moment to t (N - t) (N - 2 t).
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
