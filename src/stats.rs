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
#[cfg(test)]
mod simulated;

pub(crate) use agreement::Kappas;
pub(crate) use agreement::Slope;
pub(crate) use agreement::spearman;
pub(crate) use agreement::{Alphas, Unit, scaled};
#[cfg(feature = "command")]
pub use distribution::multinomial::{SharesTest, SharesTestKind, shares_test};
use distribution::normal;
pub(crate) use interval::BoundedMean;
pub use interval::accuracy_interval;
#[cfg(feature = "command")]
pub(crate) use interval::bootstrap::{DRAWS, bootstrap95};
pub(crate) use interval::chance_of_less;
pub(crate) use interval::clusters::Clusters;
pub(crate) use interval::fall95;
pub(crate) use interval::most_of;
pub(crate) use interval::powered::{
    LabelSpread, PoweredMean, powered_mean_of_groups, shifted_mean,
};
pub(crate) use interval::win_rate95;
pub(crate) use mean::{MeanEstimate, RunningMean, grouped_mean95};
pub(crate) use paired::conditional::conditional_test_of;
pub use paired::conditional::{AnswerCounts, ComparedSample, Tested, conditional_test};
pub(crate) use paired::difference::{
    Difference, grouped_difference, paired_difference, repeated_difference,
};
pub(crate) use paired::early::{
    ANALYSES, Decision, StoppingBounds, analysis_points, repeated_p, stopping_bounds,
};
pub(crate) use paired::holm;
pub(crate) use paired::permutation::{
    Arrangements, PERMUTATIONS, PermutationP, permutation_test, seen_difference,
};
pub use paired::regression_p;
pub(crate) use paired::whole_runs::design_effect;
pub use paired::whole_runs::{RunGroup, whole_runs_test};
pub(crate) use paired::{CountedSamples, ExactTest};
pub use power::WantedDrop;
pub(crate) use power::detect::{RedBelow, smallest_drop, smallest_drop_of_groups};
pub use power::detect::{SampleDesign, smallest_drop_at};
pub use power::rates::Rates;
pub(crate) use series::mann_kendall::falls;
#[cfg(feature = "command")]
pub(crate) use series::pettitt::change_points;
pub(crate) use series::watch::{FixedReference, MOVING, MovingReference, SteadyFalls, windows};

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

/// The probability that at least one of `k` answers is correct, estimated without bias from `n` answers of
/// which `c` were correct: `1 - C(n-c, k) / C(n, k)`. `None` when `k` is 0 or above `n`.
///
/// Source: M. Chen et al., *Evaluating large language models trained on code* (2021), arXiv:2107.03374. The
/// naive `1 - (1 - c/n)^k` is too low.
pub(crate) fn pass_at(n: u64, c: u64, k: u64) -> Option<f64> {
    all_among(n, n.checked_sub(c)?, k).map(|none| 1.0 - none)
}

/// The probability that all of `k` answers are correct, estimated without bias from `n` answers of which `c`
/// were correct: `C(c, k) / C(n, k)`. `None` when `k` is 0 or above `n`.
///
/// Source: S. Yao et al., *tau-bench* (2024), arXiv:2406.12045, where it is called pass^k.
pub(crate) fn pass_hat(n: u64, c: u64, k: u64) -> Option<f64> {
    all_among(n, c, k)
}

/// `C(part, k) / C(n, k)`, factor by factor: the binomials themselves would overflow.
fn all_among(n: u64, part: u64, k: u64) -> Option<f64> {
    if k == 0 || k > n || part > n {
        return None;
    }
    if part < k {
        return Some(0.0);
    }
    if part == n {
        return Some(1.0);
    }
    let factor = |taken: u64| as_f64(part - taken) / as_f64(n - taken);
    Some((0..k).map(factor).product())
}

#[cfg(test)]
mod pass_tests {
    use super::*;

    #[test]
    fn give_the_shares_of_all_ways_to_draw() {
        // Counted over every way to draw k of n answers.
        for n in 1..=8_u64 {
            for c in 0..=n {
                for k in 1..=n {
                    let draws = (0..1_u64 << n).filter(|set| u64::from(set.count_ones()) == k);
                    let correct = (1_u64 << c) - 1;
                    let (mut all, mut any, mut every) = (0, 0, 0);
                    for set in draws {
                        all += 1;
                        any += u64::from(set & correct != 0);
                        every += u64::from(set & !correct == 0);
                    }
                    let close = |one: Option<f64>, part: u64| {
                        (one.unwrap() - as_f64(part) / as_f64(all)).abs() < 1e-12
                    };
                    assert!(close(pass_at(n, c, k), any), "pass@{k} of {c} of {n}");
                    assert!(close(pass_hat(n, c, k), every), "pass^{k} of {c} of {n}");
                }
            }
        }
    }

    #[test]
    fn are_exact_at_the_ends_and_nothing_where_there_is_no_answer() {
        assert_eq!(pass_at(5, 5, 3), Some(1.0));
        assert_eq!(pass_at(5, 0, 3), Some(0.0));
        assert_eq!(pass_at(5, 3, 3), Some(1.0 - 0.0));
        assert_eq!(pass_hat(5, 2, 3), Some(0.0));
        assert_eq!(pass_hat(3, 2, 1), Some(2.0 / 3.0));
        for (n, c, k) in [(2, 1, 3), (0, 0, 1), (3, 1, 0), (3, 4, 1)] {
            assert_eq!((pass_at(n, c, k), pass_hat(n, c, k)), (None, None));
        }
        // The example of the paper's own code, `estimator(200, 20, 10)`.
        assert!((pass_at(200, 20, 10).unwrap() - 0.660_2).abs() < 1e-3);
    }
}

/// Source: G. Steele, D. Lea, C. Flood, *Fast splittable pseudorandom number generators*, OOPSLA (2014). The seed is
/// the first state.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Uniform from 0 up to, but not including, `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next()) * (bound as u128);
        // The upper half of a product with `bound` is less than `bound`, so it fits.
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// Uniform from 0 up to, but not including, 1.
    pub(crate) fn share(&mut self) -> f64 {
        let high = u32::try_from(self.next() >> 32).unwrap_or(u32::MAX);
        f64::from(high) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod random_tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut random = SplitMix64(1_234_567);
        let numbers = [random.next(), random.next(), random.next()];
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}

// How interim analyses of a growing part of the samples share one alpha: K. K. G. Lan and D. L. `DeMets`, *Discrete
// sequential boundaries for clinical trials*, Biometrika 70 (1983), with their spending function like O'Brien and
// Fleming's.
//
// Each analysis is red below its own part, and the parts sum to alpha: an unchanged agent is red at any of them at
// most that often, however the analyses are correlated.

/// The alpha of each analysis, for these growing shares of the samples; the last takes the rest.
pub(crate) fn spending(alpha: f64, shares: &[f64]) -> Vec<f64> {
    let mut spent = 0.0;
    let last = shares.len().saturating_sub(1);
    let parts = shares.iter().enumerate().map(|(analysis, share)| {
        let by_now = if analysis == last {
            alpha
        } else {
            spent_by(alpha, *share)
        };
        let part = (by_now - spent).max(0.0);
        spent += part;
        part
    });
    parts.collect()
}

/// The alpha spent by this share of the samples: very little early, when little is known.
fn spent_by(alpha: f64, share: f64) -> f64 {
    if share <= 0.0 {
        return 0.0;
    }
    let far = normal::percentile(1.0 - alpha / 2.0) / share.min(1.0).sqrt();
    (2.0 * normal::below(-far)).min(alpha)
}

#[cfg(test)]
mod spending_tests {
    use super::*;

    #[test]
    fn the_parts_are_alpha_together_and_the_last_has_most() {
        let parts = spending(0.05, &[0.125, 0.5, 1.0]);
        let sum: f64 = parts.iter().sum();
        assert!((sum - 0.05).abs() < 1e-12, "{parts:?}");
        assert!(parts[0] < 1e-6, "{parts:?}");
        // 2 (1 - Phi(1.96 / sqrt(1/2))) = 0.00557.
        assert!((parts[1] - 0.005_57).abs() < 1e-4, "{parts:?}");
        assert_eq!(spending(0.05, &[1.0]), [0.05]);
        assert!(spending(0.05, &[]).is_empty());
    }
}

/// A running sum of floats and their number.
///
/// Source: A. Neumaier, *Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen*, ZAMM 54
/// (1974). A plain sum of 165 times 0.001 is 0.16500000000000012, and a gate at 0.165 would fail.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    rounded: f64,
    /// The accumulated rounding error.
    lost: f64,
    count: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, value: f64) {
        let next = self.rounded + value;
        self.lost += if self.rounded.abs() >= value.abs() {
            (self.rounded - next) + value
        } else {
            (value - next) + self.rounded
        };
        self.rounded = next;
        self.count += 1;
    }

    /// Adds a value `times` times, as exactly as one by one.
    pub(crate) fn add_times(&mut self, value: f64, times: u64) {
        if times == 0 {
            return;
        }
        let count = as_f64(times);
        let product = value * count;
        self.add(product);
        // The rounding error of the product is exact; there is none for infinite values.
        let lost = value.mul_add(count, -product);
        self.lost += if lost.is_finite() { lost } else { 0.0 };
        self.count += times - 1;
    }

    /// Adds another sum.
    pub(crate) fn add_all(&mut self, other: &Self) {
        if other.count > 0 {
            self.add(other.rounded);
            self.lost += other.lost;
            self.count += other.count - 1;
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// `None` without values, or if the sum overflowed.
    pub(crate) fn total(&self) -> Option<f64> {
        let total = self.rounded + self.lost;
        (self.count > 0 && total.is_finite()).then_some(total)
    }

    /// `None` without values, or if the sum overflowed. The mean of equal values is that value.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.total()?;
        let count = as_f64(self.count);
        let rough = self.rounded / count;
        // The division rounds too; its remainder is exact.
        let remainder = (-rough).mul_add(count, self.rounded) + self.lost;
        Some(rough + remainder / count)
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }
}

#[cfg(test)]
mod sum_tests {
    use super::*;

    fn check(values: impl IntoIterator<Item = f64>, total: Option<f64>, mean: Option<f64>) {
        let sum: Sum = values.into_iter().collect();
        assert_eq!((sum.total(), sum.mean()), (total, mean));
    }

    #[test]
    fn loses_nothing() {
        check([], None, None);
        check([0.001; 165], Some(0.165), Some(0.001));
        // Eleven times the float that is nearest to 0.7 is less than 7.7.
        check([0.7; 11], Some(7.699_999_999_999_999), Some(0.7));
        check([1e100, 1.0, -1e100], Some(1.0), Some(1.0 / 3.0));
        check([f64::MAX, f64::MAX], None, None);
        check([f64::NAN], None, None);
        for share in 0..1_000 {
            let value = f64::from(share) / 1e3;
            for count in [3, 7, 165] {
                let mean = std::iter::repeat_n(value, count).collect::<Sum>().mean();
                assert_eq!(mean, Some(value), "{count} times {value}");
                let mut sum = Sum::default();
                sum.add_times(value, count as u64);
                assert_eq!(sum.mean(), Some(value), "{count} times {value} at once");
            }
        }
    }
}
