//! Statistics of one run and of two runs over the same samples: intervals, exact paired tests with their power,
//! percentiles, means.
//!
//! Pure functions of numbers. Undefined results, such as a share or percentile of nothing, are `None`, never NaN.

pub(crate) mod agreement;
pub(crate) mod distribution;
pub(crate) mod interval;
pub(crate) mod paired;
pub(crate) mod power;
pub(crate) mod series;

mod mean;
mod pass;
mod random;
#[cfg(test)]
mod simulated;
mod spending;
mod sum;

pub(crate) use agreement::alpha::{Alphas, Unit, scaled};
pub(crate) use agreement::kappa::Kappas;
pub(crate) use agreement::slope::Slope;
pub(crate) use agreement::spearman::spearman;
#[cfg(feature = "command")]
pub use distribution::multinomial::{SharesTest, SharesTestKind, shares_test};
pub use interval::accuracy::accuracy_interval;
pub(crate) use interval::accuracy::chance_of_less;
#[cfg(feature = "command")]
pub(crate) use interval::bootstrap::{DRAWS, bootstrap95};
pub(crate) use interval::bounded::BoundedMean;
pub(crate) use interval::clusters::Clusters;
pub(crate) use interval::fall::fall95;
pub(crate) use interval::finite::most_of;
pub(crate) use interval::halves::win_rate95;
pub(crate) use interval::powered::{
    LabelSpread, PoweredMean, powered_mean, powered_mean_of_groups, shifted_mean,
};
pub(crate) use mean::{MeanEstimate, RunningMean, grouped_mean95};
pub(crate) use paired::conditional::conditional_test_of;
pub use paired::conditional::{AnswerCounts, ComparedSample, Tested, conditional_test};
pub(crate) use paired::counted::CountedSamples;
pub(crate) use paired::difference::{
    Difference, grouped_difference, paired_difference, repeated_difference,
};
pub(crate) use paired::early::{
    ANALYSES, Decision, StoppingBounds, analysis_points, repeated_p, stopping_bounds,
};
pub(crate) use paired::holm::holm;
pub(crate) use paired::whole_runs::design_effect;
pub use paired::whole_runs::{RunGroup, whole_runs_test};
pub(crate) use pass::{pass_at, pass_hat};
pub(crate) use power::detect::{RedBelow, smallest_drop, smallest_drop_of_groups};
pub use power::detect::{SampleDesign, smallest_drop_at};
pub use power::plan::WantedDrop;
pub use power::rates::Rates;
pub(crate) use random::SplitMix64;
pub(crate) use series::mann_kendall::falls;
#[cfg(feature = "command")]
pub(crate) use series::pettitt::change_points;
pub(crate) use series::watch::{FixedReference, MOVING, MovingReference, SteadyFalls, windows};
pub(crate) use spending::spending;
pub(crate) use sum::Sum;

/// The 97.5th percentile of the standard normal distribution.
const Z95: f64 = 1.959_963_984_540_054;

/// The 95 % Wilson score interval `[low, high]` of a share `part / whole`, both within 0 and 1.
///
/// Source: E. B. Wilson, *Probable inference, the law of succession, and statistical inference*, JASA 22
/// (1927). Unlike the textbook interval it does not collapse to a point at 0 or at `whole`. `None` when
/// `whole` is 0.
pub(crate) fn wilson95(part: u64, whole: u64) -> Option<[f64; 2]> {
    let share = ratio(part.min(whole), whole)?;
    Some(wilson(share, as_f64(whole), Z95))
}

/// Ratio of the width of a normal interval with this confidence to that of 95 %.
pub(crate) fn half_width(confidence: f64) -> f64 {
    distribution::normal::percentile(f64::midpoint(1.0, confidence)) / Z95
}

/// [`wilson95`] of a share of `n` answers that may have partial scores.
pub(crate) fn wilson95_of_share(share: f64, n: u64) -> Option<[f64; 2]> {
    (n > 0).then(|| wilson(share, as_f64(n), Z95))
}

/// [`wilson95`] for a share of `n` answers (which may be fractional), and any quantile.
fn wilson(share: f64, n: f64, z: f64) -> [f64; 2] {
    let z2 = z * z;
    let scale = 1.0 / (1.0 + z2 / n);
    let centre = scale * (share + z2 / (2.0 * n));
    let half = scale * z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends the exact result is the end itself; avoid rounding errors.
    let low = if share <= 0.0 { 0.0 } else { centre - half };
    let high = if share >= 1.0 { 1.0 } else { centre + half };
    [low.clamp(0.0, 1.0), high.clamp(0.0, 1.0)]
}

/// `part / whole`, correctly rounded; `None` when `whole` is 0.
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| as_f64(part) / as_f64(whole))
}

/// The mean with minimal rounding error; `None` without values, or if the sum is not finite.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    values.iter().copied().collect::<Sum>().mean()
}

/// The `percent`-th percentile (0 to 100) of ascending values, interpolated linearly between the two nearest ranks:
/// bit for bit as `numpy.percentile` with its default method `linear`. `None` without values or if `percent` is out of
/// range.
pub(crate) fn percentile(sorted: &[f64], percent: f64) -> Option<f64> {
    let ranks = ranks(sorted.len() as u64, percent)?;
    let at = |place| sorted.get(usize::try_from(place).ok()?);
    Some(ranks.between(*at(ranks.below)?, *at(ranks.above)?))
}

/// The two ranks, from 0, between which a percentile lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearestRanks {
    pub below: u64,
    pub above: u64,
    /// The fraction of the distance from the lower one.
    part: f64,
}

/// The ranks for a [`percentile`] of `count` values.
pub(crate) fn ranks(count: u64, percent: f64) -> Option<NearestRanks> {
    let last = count.checked_sub(1)?;
    if !(0.0..=100.0).contains(&percent) {
        return None;
    }
    let rank = percent / 100.0 * as_f64(last);
    let below = index(rank)?.min(last);
    Some(NearestRanks {
        below,
        above: (below + 1).min(last),
        part: rank.fract(),
    })
}

impl NearestRanks {
    /// The percentile, given the values at the two ranks.
    pub(crate) fn between(&self, low: f64, high: f64) -> f64 {
        let span = high - low;
        // Both forms are mathematically equal; numpy starts at the nearer rank.
        if self.part < 0.5 {
            low + span * self.part
        } else {
            high - span * (1.0 - self.part)
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank within a slice: not negative, and truncation is what is wanted"
)]
fn index(rank: f64) -> Option<u64> {
    (rank >= 0.0).then_some(rank as u64)
}

/// The root of a function that is negative at `low` and positive at `high`, to full precision by bisection.
fn root(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if value(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// A count as a float, exact up to 2^53.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of samples and tokens stay far below 2^53"
)]
pub(crate) fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_gives_published_values() {
        fn check(part: u64, whole: u64, low: f64, high: f64) {
            let [l, h] = wilson95(part, whole).unwrap();
            assert!(
                (l - low).abs() < 5e-5 && (h - high).abs() < 5e-5,
                "{part}/{whole}: {l} {h}"
            );
        }
        // R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        check(81, 263, 0.2553, 0.3662);
        check(15, 148, 0.0624, 0.1605);
        check(0, 20, 0.0, 0.1611);
        check(1, 29, 0.0061, 0.1718);
        assert_eq!(wilson95(7, 7).unwrap()[1].to_bits(), 1.0_f64.to_bits());
        assert_eq!(wilson95(0, 0), None);
    }

    #[test]
    fn percentiles_are_those_of_numpy() {
        fn check(sorted: &[f64], percent: f64, expect: Option<f64>) {
            assert_eq!(percentile(sorted, percent), expect, "{sorted:?} p{percent}");
        }
        let four = [1.0, 2.0, 3.0, 4.0];
        check(&four, 0.0, Some(1.0));
        check(&four, 50.0, Some(2.5));
        check(&four, 90.0, Some(3.7));
        check(&four, 95.0, Some(3.849_999_999_999_999_6));
        check(&four, 100.0, Some(4.0));
        check(&[0.3], 99.0, Some(0.3));
        check(&[], 50.0, None);
        check(&four, 101.0, None);
        check(&four, f64::NAN, None);
    }

    #[test]
    fn a_mean_is_never_nan() {
        fn check(values: &[f64], expect: Option<f64>) {
            assert_eq!(mean(values), expect);
        }
        check(&[1.0, 0.0, 1.0, 1.0], Some(0.75));
        check(&[], None);
        check(&[f64::MAX, f64::MAX], None);
        check(&[f64::NAN], None);
    }
}
