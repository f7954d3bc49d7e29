//! Confidence intervals.

#[cfg(feature = "command")]
pub(crate) mod bootstrap;
pub(crate) mod clusters;
pub(crate) mod powered;

use crate::stats::distribution::binomial::upper_tail;
use crate::stats::distribution::law::Law;
use crate::stats::distribution::normal;
use crate::stats::{
    AnswerCounts, Clusters, ComparedSample, Z95, as_f64, ratio, repeated_difference, wilson,
};

/// The two-sided confidence interval `[low, high]` of the share of right answers at level `confidence` (above 0, below
/// 1); `None` without answers.
///
/// Entries are independent of each other: a sample with its answers, or a group of samples, and how many are alike. With single answers this is
/// Wilson's interval. Otherwise it is Wilson's interval for the effective number of independent answers, with Student's
/// quantile; if all are right or all wrong, each entry counts once. The interval displayed with an accuracy is this one
/// at 0.95.
pub fn accuracy_interval(
    groups: impl IntoIterator<Item = (AnswerCounts, u64)>,
    confidence: f64,
) -> Option<[f64; 2]> {
    clusters(groups).bounds(confidence)
}

/// The probability that an agent whose accuracy is exactly `threshold` gets a smaller share of right answers, with as
/// many answers as `groups` have: how often a gate without an interval fails an agent that is just good enough. `None`
/// without answers.
///
/// Binomial for single answers; otherwise normal, with the effective number of independent answers.
pub(crate) fn chance_of_less(
    groups: impl IntoIterator<Item = (AnswerCounts, u64)>,
    threshold: f64,
) -> Option<f64> {
    let clusters = clusters(groups);
    let answers = clusters.answers();
    if answers == 0 {
        return None;
    }
    if threshold <= 0.0 || threshold >= 1.0 {
        return Some(if threshold > 1.0 { 1.0 } else { 0.0 });
    }
    // The fewest right answers that suffice, compared as gates do.
    let (mut few, mut enough) = (0, answers);
    while few < enough {
        let middle = few + (enough - few) / 2;
        if ratio(middle, answers)? >= threshold {
            enough = middle;
        } else {
            few = middle + 1;
        }
    }
    if clusters.is_single() {
        return Some(1.0 - upper_tail(enough, answers, threshold));
    }
    let error = (threshold * (1.0 - threshold) / clusters.effective()?).sqrt();
    let end = (as_f64(enough) - 0.5) / as_f64(answers);
    Some(normal::below((end - threshold) / error))
}

fn clusters(groups: impl IntoIterator<Item = (AnswerCounts, u64)>) -> Clusters {
    let mut clusters = Clusters::default();
    for (AnswerCounts { right, of }, times) in groups {
        clusters.add_times(u64::from(right.min(of)), u64::from(of), times);
    }
    clusters
}

/// A mean of labels on a scale, with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoundedMean {
    /// The mean, within the scale.
    pub(crate) mean: f64,
    /// Its standard error, for use with the normal quantile.
    error: f64,
    /// Number of independent labels: labelled items, or groups of them.
    labels: u64,
    /// The lowest and highest possible label, if known.
    scale: Option<[f64; 2]>,
    /// Whether all labels are at the ends of the scale, so that the mean is a share.
    is_share: bool,
}

impl BoundedMean {
    /// From a mean with a 95 % confidence interval that ignores the scale.
    pub(crate) fn of(
        (mean, ci95): (f64, [f64; 2]),
        labels: u64,
        scale: Option<[f64; 2]>,
        is_share: bool,
    ) -> Self {
        let scale = scale.filter(|[low, high]| low < high);
        Self {
            mean: scale.map_or(mean, |[low, high]| mean.clamp(low, high)),
            error: (ci95[1] - ci95[0]).max(0.0) / 2.0 / Z95,
            labels,
            scale,
            is_share,
        }
    }

    /// Its 95 % confidence interval.
    pub(crate) fn ci95(&self) -> Option<[f64; 2]> {
        self.bounds(1.0)
    }

    /// The interval that is `wider` times as wide as that of 95 %; `None` if nothing varies and the scale is unknown.
    ///
    /// It never leaves the scale and is never a point: if all labels agree with the judge, or are equal, the next one
    /// may still differ. What does not occur among n labels may have a share of up to z² / (n + z²), the bound of
    /// Wilson's interval at its end, and then be off by the whole scale. For a share it is Wilson's interval with the
    /// effective number of answers, at least the number of labels.
    pub(crate) fn bounds(&self, wider: f64) -> Option<[f64; 2]> {
        let z = Z95 * wider;
        let Some([low, high]) = self.scale else {
            let half = z * self.error;
            return (half > 0.0).then_some([self.mean - half, self.mean + half]);
        };
        let (width, n) = (high - low, as_f64(self.labels));
        let unseen = width * unseen(n, z);
        let [from, to] = if self.is_share {
            let share = (self.mean - low) / width;
            let variance = (self.error / width).powi(2);
            let of = if variance > 0.0 {
                (share * (1.0 - share) / variance).max(n)
            } else {
                n
            };
            wilson(share, of, z).map(|end| low + width * end)
        } else {
            let half = z * self.error;
            [self.mean - half, self.mean + half]
        };
        Some([
            from.min(self.mean - unseen).max(low),
            to.max(self.mean + unseen).min(high),
        ])
    }
}

/// The largest plausible share of a kind that does not occur among n: Wilson's bound at its end.
pub(super) fn unseen(n: f64, z: f64) -> f64 {
    z * z / (n + z * z)
}

/// The 95 % confidence interval `[low, high]` of the relative fall (before - after) / before of two independent shares,
/// each with its own interval; at most 1, negative for a rise. `None` if the first share may be 0.
///
/// Source: A. Donner, G. Zou, *Closed-form confidence intervals for functions of the normal mean and standard
/// deviation*, Statistical Methods in Medical Research 21 (2012), the ratio of two parameters (MOVER-R). It inherits
/// whatever the intervals of the shares account for, such as groups of samples.
pub(crate) fn fall95(
    (before, [low_before, high_before]): (f64, [f64; 2]),
    (after, [low_after, high_after]): (f64, [f64; 2]),
) -> Option<[f64; 2]> {
    let product = before * after;
    // The ends of the ratio after / before.
    let end = |of_after: f64, of_before: f64, sign: f64| {
        let below = of_before * (2.0 * before - of_before);
        let spread = product * product - of_after * (2.0 * after - of_after) * below;
        let end = (product + sign * spread.max(0.0).sqrt()) / below;
        end.is_finite().then_some(end)
    };
    if before <= 0.0 || low_before <= 0.0 {
        return None;
    }
    let least = end(low_after, high_before, -1.0)?;
    let most = end(high_after, low_before, 1.0)?;
    (least <= most).then_some([1.0 - most, 1.0 - least.max(0.0)])
}

/// The largest plausible number of hits among `all` when `seen` of `drawn` are hits: with more, so few hits would be
/// seen with a probability of at most `alpha`. Never more than possible, that is, if all that were not drawn are hits.
pub(crate) fn most_of(all: u32, drawn: u32, seen: u32, alpha: f64) -> u32 {
    let drawn = drawn.min(all);
    let seen = seen.min(drawn);
    let (mut can, mut cannot) = (seen, seen + (all - drawn) + 1);
    let is_likely = |so: u32| {
        let law = Law::hypergeometric(drawn, so, all - so);
        law.at_most()(i64::from(seen)) > alpha
    };
    // The more hits there are, the less likely so few are seen.
    while cannot - can > 1 {
        let middle = can + (cannot - can) / 2;
        if is_likely(middle) {
            can = middle;
        } else {
            cannot = middle;
        }
    }
    can
}

/// The 95 % confidence interval `[low, high]` of a win rate. Each pair of each group has 0, 1 or 2 halves of a win.
/// Groups are independent, pairs within a group are not. `None` without pairs.
///
/// In a win only one side is better, in a loss only the other, and half a win favours neither. So wins minus losses are
/// the [`repeated_difference`] of the two sides, and the rate is (1 + that) / 2. This is Tango's score interval with
/// Student's quantile: for n groups that are all won it is n / (n + t²) to 1, for half wins alone ½ ± ½ t² / (n + t²),
/// and never a point. Repeating pairs with the same outcome changes nothing.
pub(crate) fn win_rate95(groups: &[Vec<u8>]) -> Option<[f64; 2]> {
    let groups: Vec<Vec<ComparedSample>> = groups
        .iter()
        .map(|pairs| pairs.iter().map(|halves| compared(*halves)).collect())
        .collect();
    let rate = |difference: f64| f64::midpoint(1.0, difference);
    Some(repeated_difference(&groups)?.ci95.map(rate))
}

/// A pair as the answers of its two sides.
fn compared(halves: u8) -> ComparedSample {
    let better = |is: bool| AnswerCounts::new(u32::from(is), 1);
    ComparedSample {
        before: better(halves == 0),
        now: better(halves >= 2),
    }
}

#[cfg(test)]
mod accuracy_tests {
    use super::*;
    use crate::stats::simulated::draw;
    use crate::stats::{SplitMix64, wilson95};

    /// Each group once.
    fn once(groups: &[AnswerCounts]) -> impl Iterator<Item = (AnswerCounts, u64)> {
        groups.iter().map(|group| (*group, 1))
    }

    fn single(right: u32, of: u32) -> Vec<AnswerCounts> {
        (0..of)
            .map(|i| AnswerCounts::new(u32::from(i < right), 1))
            .collect()
    }

    #[test]
    fn of_single_answers_it_is_wilson() {
        for (right, of) in [(0, 5), (3, 7), (40, 40), (99, 165)] {
            let [low, high] = accuracy_interval(once(&single(right, of)), 0.95).unwrap();
            let [l, h] = wilson95(u64::from(right), u64::from(of)).unwrap();
            assert!((low - l).abs() < 1e-9 && (high - h).abs() < 1e-9);
        }
        // statsmodels.stats.proportion.proportion_confint(99, 165, 0.10, "wilson")
        let [low, high] = accuracy_interval(once(&single(99, 165)), 0.9).unwrap();
        assert!(
            (low - 0.536_141_6).abs() < 1e-6 && (high - 0.660_631_8).abs() < 1e-6,
            "{low} {high}"
        );
        assert_eq!(accuracy_interval([], 0.95), None);
    }

    #[test]
    fn holds_the_truth() {
        const RUNS: u32 = 1_000;
        let mut random = SplitMix64(6);
        // Samples with individual rates and five answers each; groups with correlated answers.
        for (count, of, apart) in [(40, 5, 0.3), (165, 5, 0.3), (8, 8, 0.62), (40, 8, 0.62)] {
            let held = (0..RUNS).filter(|_| {
                let groups: Vec<_> = (0..count)
                    .map(|_| {
                        let up = random.share() < 0.62;
                        let rate = 0.62 + apart * if up { 0.38 } else { -0.62 };
                        draw(of, rate, &mut random)
                    })
                    .collect();
                let [low, high] = accuracy_interval(once(&groups), 0.95).unwrap();
                low <= 0.62 && 0.62 <= high
            });
            let held = f64::from(u32::try_from(held.count()).unwrap()) / f64::from(RUNS);
            assert!(held >= 0.93, "{count} of {of}: {held}");
        }
    }

    #[test]
    fn displayed_interval_decides() {
        let groups: Vec<_> = [(2, 23), (1, 13), (0, 4)]
            .into_iter()
            .flat_map(|(right, count)| vec![AnswerCounts::new(right, 2); count])
            .collect();
        let displayed = clusters(once(&groups)).interval95();
        assert_eq!(displayed, accuracy_interval(once(&groups), 0.95));
        assert!(
            (displayed.unwrap()[1] - 0.8301).abs() < 5e-5,
            "{displayed:?}"
        );
    }

    #[test]
    fn one_group_says_nothing() {
        assert_eq!(
            accuracy_interval([(AnswerCounts::new(4, 8), 1)], 0.95),
            Some([0.0, 1.0])
        );
        let [low, high] = accuracy_interval(once(&single(1, 1)), 0.95).unwrap();
        assert!(low < 0.3 && high > 0.99);
    }

    #[test]
    fn chance_puts_a_just_good_agent_below() {
        #[track_caller]
        fn check(groups: &[AnswerCounts], threshold: f64, expect: f64) {
            let got = chance_of_less(once(groups), threshold).unwrap();
            assert!((got - expect).abs() < 1e-6, "{got}, not {expect}");
        }
        // scipy.stats.binom.cdf(98, 165, 0.6), (24, 40, 0.62), (30, 50, 0.62)
        check(&single(3, 165), 0.6, 0.466_253_4);
        check(&single(3, 40), 0.62, 0.455_983_7);
        check(&single(50, 50), 0.62, 0.437_649_0);
        check(&single(50, 50), 1.0, 0.0);
        check(&single(50, 50), 0.0, 0.0);
        assert_eq!(chance_of_less([], 0.6), None);
        // Ten fully correlated groups are about ten answers: the chance is slightly below one half.
        let groups: Vec<_> = (0..10)
            .map(|i| AnswerCounts::new(8 * u32::from(i < 6), 8))
            .collect();
        let chance = chance_of_less(once(&groups), 0.6).unwrap();
        assert!(chance > 0.4 && chance < 0.5, "{chance}");
    }
}

#[cfg(test)]
mod bounded_tests {
    use super::*;
    use crate::stats::{SplitMix64, powered_mean_of_groups, wilson95};

    #[track_caller]
    fn check(mean: BoundedMean, expect: [f64; 2]) {
        let found = mean.ci95().unwrap();
        let off = [found[0] - expect[0], found[1] - expect[1]];
        assert!(off.iter().all(|off| off.abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn nothing_is_certain_and_nothing_lies_off_the_scale() {
        let of = |mean: f64, half: f64, scale, is_share| {
            BoundedMean::of((mean, [mean - half, mean + half]), 12, scale, is_share)
        };
        // Twelve of twelve.
        check(
            of(1.0, 0.0, Some([0.0, 1.0]), true),
            wilson95(12, 12).unwrap(),
        );
        let unseen = 4.0 * (1.0 - wilson95(12, 12).unwrap()[0]);
        check(
            of(4.0, 0.0, Some([1.0, 5.0]), false),
            [4.0 - unseen, 4.0 + unseen].map(|it| it.min(5.0)),
        );
        check(of(3.0, 1.5, Some([1.0, 5.0]), false), [1.5, 4.5]);
        check(of(4.5, 1.5, Some([1.0, 5.0]), false), [3.0, 5.0]);
        check(of(5.5, 1.5, Some([1.0, 5.0]), false), [3.5, 5.0]);
        check(of(2.0, 0.5, None, false), [1.5, 2.5]);
        assert_eq!(of(2.0, 0.0, None, false).ci95(), None);
        // As certain as 48 answers, of which 12 have a label; the bound for unseen labels is further up.
        let half = Z95 * (0.25_f64 * 0.75 / 48.0).sqrt();
        let share = of(0.75, half, Some([0.0, 1.0]), true);
        let unseen = 1.0 - wilson95(12, 12).unwrap()[0];
        check(share, [0.75 - unseen, 0.75 + unseen]);
        let few = BoundedMean {
            labels: 1_000,
            ..share
        };
        check(few, wilson95(750, 1_000).unwrap());
        let [low, high] = share.bounds(1.3).unwrap();
        assert!(low < 0.75 - unseen && high > 0.75 + unseen);
    }

    /// Coverage of the interval over 400 draws of labels of 600 answers.
    fn coverage(
        labels: usize,
        mut item: impl FnMut(&mut SplitMix64) -> (f64, f64),
        truth: f64,
        (scale, is_share): ([f64; 2], bool),
    ) -> f64 {
        let mut random = SplitMix64(5);
        let names: Vec<String> = (0..600).map(|at| at.to_string()).collect();
        let mut covered = 0.0;
        for _ in 0..400 {
            let items: Vec<_> = names
                .iter()
                .map(|name| (item(&mut random), &**name))
                .collect();
            let (few, rest) = items.split_at(labels);
            let few: Vec<_> = few
                .iter()
                .map(|((judge, label), name)| (*judge, *label, *name))
                .collect();
            let rest: Vec<_> = rest
                .iter()
                .map(|((judge, _), name)| (*judge, *name))
                .collect();
            let found = powered_mean_of_groups(&few, &rest);
            let found = (found.mean.unwrap(), found.ci95.unwrap());
            let found = BoundedMean::of(found, labels as u64, Some(scale), is_share);
            let [low, high] = found.ci95().unwrap();
            covered += if (low..=high).contains(&truth) {
                1.0
            } else {
                0.0
            };
        }
        covered / 400.0
    }

    fn chance(random: &mut SplitMix64, percent: usize) -> bool {
        random.below(100) < percent
    }

    #[test]
    fn interval_coverage_is_nominal() {
        let yes = |is: bool| if is { 1.0 } else { 0.0 };
        for (labels, right, errs) in [(12, 96, 0), (50, 96, 5), (100, 98, 0), (100, 90, 30)] {
            let draw = |random: &mut SplitMix64| {
                let label = chance(random, right);
                (yes(label != chance(random, errs)), yes(label))
            };
            let truth = as_f64(right as u64) / 100.0;
            let share = coverage(labels, draw, truth, ([0.0, 1.0], true));
            assert!(
                share >= 0.92,
                "{labels} labels, {right} %, {errs} %: {share}"
            );
        }
        // 4.9 of 5 points, which the judge gives for nine of ten answers; otherwise any points.
        let draw = |random: &mut SplitMix64| {
            let label = if chance(random, 10) { 4.0 } else { 5.0 };
            let judge = if chance(random, 10) {
                as_f64(1 + random.below(5) as u64)
            } else {
                label
            };
            (judge, label)
        };
        let share = coverage(50, draw, 4.9, ([1.0, 5.0], false));
        assert!(share >= 0.92, "{share}");
    }
}

#[cfg(test)]
mod fall_tests {
    use super::*;
    use crate::stats::{as_f64, wilson95};

    fn fall(before: (u64, u64), after: (u64, u64)) -> Option<[f64; 2]> {
        let share = |(part, whole): (u64, u64)| {
            Some((as_f64(part) / as_f64(whole), wilson95(part, whole)?))
        };
        fall95(share(before)?, share(after)?)
    }

    #[test]
    fn the_interval_holds_the_fall() {
        let check = |before, after, expect: Option<[f64; 2]>| {
            let found = fall(before, after);
            let render = |[low, high]: [f64; 2]| format!("{low:.3} {high:.3}");
            assert_eq!(
                found.map(render),
                expect.map(render),
                "{before:?} {after:?}"
            );
        };
        check((11, 16), (2, 12), Some([0.274, 0.932]));
        check((80, 100), (80, 100), Some([-0.153, 0.132]));
        check((800, 1000), (400, 1000), Some([0.458, 0.540]));
        // Everything lost, and nothing to lose.
        check((5, 5), (0, 5), Some([0.518, 1.0]));
        check((0, 5), (3, 5), None);
    }

    #[test]
    fn one_of_twenty_is_outside() {
        let mut random = crate::stats::SplitMix64(7);
        let mut drawn = |share: f64, of: u64| {
            let hits = (0..of).filter(|_| random.share() < share);
            hits.count() as u64
        };
        let (before, after, draws) = (0.8, 0.5, 4000u64);
        let held = (0..draws).filter(|_| {
            let found = fall((drawn(before, 60), 60), (drawn(after, 40), 40));
            found.is_some_and(|[low, high]| low <= 0.375 && 0.375 <= high)
        });
        let share = as_f64(held.count() as u64) / as_f64(draws);
        assert!((0.935..0.97).contains(&share), "{share}");
    }
}

#[cfg(test)]
mod finite_tests {
    use super::*;
    use crate::stats::SplitMix64;

    #[test]
    fn the_bound_is_exact_and_no_further_than_what_is_certain() {
        // 1 of 5 drawn from 40: so few with p = (792 + 28 * 495) / 658008 = 0.0223 for 28, and 0.0152 for 29.
        assert_eq!(most_of(40, 5, 1, 0.02), 28);
        assert_eq!(most_of(40, 5, 1, 0.0), 36);
        assert_eq!(most_of(40, 40, 7, 0.05), 7);
        assert_eq!(most_of(40, 38, 7, 1e-9), 9);
        assert_eq!(most_of(5, 0, 0, 0.05), 5);
        assert_eq!(most_of(0, 0, 0, 0.05), 0);
    }

    #[test]
    fn the_truth_is_above_it_no_more_often_than_alpha() {
        let mut random = SplitMix64(9);
        let mut above = 0;
        for _ in 0..4000 {
            let mut lot: Vec<bool> = (0..60).map(|at| at < 33).collect();
            crate::data::dataset::shuffle(&mut lot, random.below(1 << 30) as u64);
            let seen = lot[..15].iter().filter(|is| **is).count();
            let seen = u32::try_from(seen).unwrap();
            above += u32::from(most_of(60, 15, seen, 0.05) < 33);
        }
        // One in twenty, plus the variation over 4,000 draws.
        assert!((20..=256).contains(&above), "{above}");
    }
}

#[cfg(test)]
mod halves_tests {
    use super::*;
    use crate::stats::distribution::student;
    use crate::stats::{SplitMix64, as_f64, wilson};

    /// Wins, losses and half wins, each a group of its own.
    fn singles(wins: usize, losses: usize, halves: usize) -> Vec<Vec<u8>> {
        let all = [(2, wins), (0, losses), (1, halves)];
        let all = all
            .into_iter()
            .flat_map(|(halves, count)| vec![vec![halves]; count]);
        all.collect()
    }

    #[track_caller]
    fn check(groups: &[Vec<u8>], low: f64, high: f64) {
        let [l, h] = win_rate95(groups).unwrap();
        assert!(
            (l - low).abs() < 5e-5 && (h - high).abs() < 5e-5,
            "{l} to {h}"
        );
    }

    #[test]
    fn half_wins_are_no_coin_flips() {
        // Tango's interval for the equivalent counts, with the likelihood maximised by another program.
        check(&singles(12, 2, 26), 0.533_420_6, 0.713_061_5);
        // A sign test of 4 against none has p = 0.125.
        check(&singles(4, 0, 16), 0.489_088_9, 0.716_813_2);
        // Only half wins: at most t² / (n + t²) went either way.
        for n in [3, 20, 1_000] {
            let t2 = student::percentile(0.975, n - 1).powi(2);
            let half = t2 / (as_f64(n) + t2) / 2.0;
            let count = usize::try_from(n).unwrap();
            check(&singles(0, 0, count), 0.5 - half, 0.5 + half);
        }
        assert_eq!(win_rate95(&singles(1, 0, 0)), Some([0.0, 1.0]));
        assert_eq!(win_rate95(&[]), None);
        assert_eq!(win_rate95(&[vec![], vec![]]), None);
    }

    #[test]
    fn without_half_wins_it_is_wilsons_by_students_quantile() {
        for (wins, losses) in [(16, 4), (12, 8), (7, 7), (20, 0), (0, 20), (4, 0)] {
            let n = wins + losses;
            let share = as_f64(wins) / as_f64(n);
            // With one outcome alone, the variance is not estimated with one degree of freedom less.
            let lost = u64::from(wins > 0 && losses > 0);
            let quantile = student::percentile(0.975, n - 1);
            let [low, high] = wilson(share, as_f64(n - lost), quantile);
            let [wins, losses] = [wins, losses].map(|count| usize::try_from(count).unwrap());
            check(&singles(wins, losses, 0), low, high);
        }
    }

    #[test]
    fn epochs_of_an_item_are_not_so_many_items() {
        let width = |groups: &[Vec<u8>]| {
            let [low, high] = win_rate95(groups).unwrap();
            assert!(0.0 <= low && low < high && high <= 1.0, "{low} to {high}");
            high - low
        };
        for one in [
            singles(12, 2, 26),
            singles(20, 20, 0),
            singles(10, 0, 0),
            singles(0, 0, 10),
        ] {
            let often: Vec<_> = one.iter().map(|pair| pair.repeat(5)).collect();
            assert!((width(&one) - width(&often)).abs() < 1e-9, "{one:?}");
        }
        // Independent pairs count as that many more.
        assert!(width(&singles(60, 10, 130)) < 0.5 * width(&singles(12, 2, 26)));
        assert_eq!(win_rate95(&[vec![2; 4]]), Some([0.0, 1.0]));
    }

    /// Coverage of the interval for items with these chances to win and lose, asked `epochs` times each; an item
    /// repeats its first outcome with the probability `repeat_chance`.
    fn coverage(items: usize, epochs: usize, [win, loss]: [f64; 2], repeat_chance: f64) -> f64 {
        const DRAWS: u32 = 300;
        let mut random = SplitMix64(16);
        let truth = f64::midpoint(1.0, win - loss);
        let mut one = || match random.share() {
            at if at < win => 2,
            at if at < win + loss => 0,
            _ => 1,
        };
        let mut again = SplitMix64(17);
        let held = (0..DRAWS).filter(|_| {
            let groups = (0..items).map(|_| {
                let first = one();
                let further = (1..epochs).map(|_| match again.share() {
                    at if at < repeat_chance => first,
                    _ => one(),
                });
                let further: Vec<u8> = further.collect();
                [vec![first], further].concat()
            });
            let [low, high] = win_rate95(&groups.collect::<Vec<_>>()).unwrap();
            low <= truth && truth <= high
        });
        f64::from(u32::try_from(held.count()).unwrap()) / f64::from(DRAWS)
    }

    #[test]
    fn holds_the_truth_in_93_of_100() {
        for chances in [
            [0.5, 0.5],
            [0.3, 0.3],
            [0.3, 0.05],
            [0.1, 0.1],
            [0.9, 0.05],
            [0.02, 0.02],
        ] {
            for items in [5, 10, 20, 40, 100] {
                for (epochs, repeat_chance) in [(1, 0.0), (4, 0.0), (4, 0.8), (4, 1.0)] {
                    let held = coverage(items, epochs, chances, repeat_chance);
                    // Minus three standard errors.
                    assert!(
                        held >= 0.93 - 0.044,
                        "{chances:?}, {items} items, {epochs} epochs, {repeat_chance}: {held}"
                    );
                }
            }
        }
    }
}
