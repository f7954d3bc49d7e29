//! The within-sample permutation test of figures: tokens, steps, points of a judge, tools in their order.

use crate::stats::distribution::normal;
use crate::stats::{MeanEstimate, SplitMix64, as_f64};

/// The usual number of permutations, unless there are so few that all are taken.
pub(crate) const PERMUTATIONS: usize = 20_000;

/// Up to so many permutations are taken one by one.
const ALL: usize = 1 << 16;

/// A sample has at most so many arrangements; of more, so many random ones are taken.
const LARGEST_TABLE: usize = 1 << 11;

/// Sums are compared with this tolerance, relative to the largest: equal ones differ by rounding.
const TOLERANCE: f64 = 1e-9;

/// What one sample adds to a statistic, for each arrangement of its answers on the two sides. All are equally likely if
/// nothing changed. The first is the observed one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arrangements {
    values: Vec<f64>,
    /// Whether swapping the two sides turns the sign: both have as many answers, and their means are compared.
    is_antisymmetric: bool,
}

/// The result of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PermutationP {
    /// The share of permutations whose sum is at least the observed one, which counts.
    pub(crate) p: f64,
    /// The smallest p that any answers could give.
    pub(crate) least: f64,
}

impl Arrangements {
    /// The mean of the values now, less the mean of all.
    pub(crate) fn mean_now(before: &[f64], now: &[f64], random: &mut SplitMix64) -> Self {
        let all: Vec<f64> = before.iter().chain(now).copied().collect();
        let mean = all.iter().sum::<f64>() / as_f64(all.len() as u64);
        let share = as_f64(now.len().max(1) as u64);
        let arrangements = Self::of(before.len(), all.len(), random, |now| {
            now.iter().map(|place| all[*place] - mean).sum::<f64>() / share
        });
        Self {
            is_antisymmetric: before.len() == now.len(),
            ..arrangements
        }
    }

    /// How far the two sides lie apart: the mean distance between them, less that within each. `distance` is that of two
    /// answers, those of before first.
    pub(crate) fn apart(
        before: usize,
        now: usize,
        random: &mut SplitMix64,
        distance: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let all = before + now;
        let mut is_now = vec![false; all];
        Self::of(before, all, random, |places| {
            is_now.fill(false);
            for place in places {
                is_now[*place] = true;
            }
            // Sum and count of the distances between the sides, within before, and within now.
            let mut sums = [[0.0; 2]; 3];
            for one in 0..all {
                for other in 0..one {
                    let kind = match [is_now[one], is_now[other]] {
                        [false, false] => 1,
                        [true, true] => 2,
                        _ => 0,
                    };
                    sums[kind][0] += distance(other, one);
                    sums[kind][1] += 1.0;
                }
            }
            let [between, within @ ..] =
                sums.map(|[sum, count]| (count > 0.0).then(|| sum / count));
            let within: Vec<f64> = within.into_iter().flatten().collect();
            let inside = within.iter().sum::<f64>() / as_f64(within.len().max(1) as u64);
            between.unwrap_or_default() - inside
        })
    }

    /// Two sides that can only be swapped as a whole: `difference` is that of now and before.
    pub(crate) fn swapped(difference: f64) -> Self {
        Self {
            values: vec![difference, -difference],
            is_antisymmetric: true,
        }
    }

    /// The value of each value to choose the answers of now out of all; `before` is how many are of before, which come
    /// first.
    fn of(
        before: usize,
        all: usize,
        random: &mut SplitMix64,
        mut value: impl FnMut(&[usize]) -> f64,
    ) -> Self {
        let now: Vec<usize> = (before..all).collect();
        let mut values = vec![value(&now)];
        if arrangement_count(all, now.len()) <= LARGEST_TABLE {
            let observed = now.clone();
            let mut chosen: Vec<usize> = (0..now.len()).collect();
            loop {
                if chosen != observed {
                    values.push(value(&chosen));
                }
                if !next_choice(&mut chosen, all) {
                    break;
                }
            }
        } else {
            let mut places: Vec<usize> = (0..all).collect();
            while values.len() < LARGEST_TABLE {
                for place in 0..now.len() {
                    let other = place + random.below(all - place);
                    places.swap(place, other);
                }
                let chosen = &places[..now.len()];
                values.push(value(chosen));
            }
        }
        Self {
            values,
            is_antisymmetric: false,
        }
    }

    /// The observed value.
    pub(crate) fn observed(&self) -> f64 {
        self.values[0]
    }

    /// Adds a sample that is always arranged alike; false if it has another number of arrangements.
    pub(crate) fn add(&mut self, other: &Self) -> bool {
        if self.values.len() != other.values.len() {
            return false;
        }
        for (value, other) in self.values.iter_mut().zip(&other.values) {
            *value += other;
        }
        true
    }

    /// Whether all values are equal, so that the sample shows nothing.
    fn is_constant(&self) -> bool {
        let first = self.values[0];
        self.values
            .iter()
            .all(|value| (value - first).abs() <= TOLERANCE * first.abs().max(1e-12))
    }
}

/// The number of ways to choose `of` out of `all`, or more than [`LARGEST_TABLE`].
fn arrangement_count(all: usize, of: usize) -> usize {
    let mut values = 1_usize;
    for place in 0..of.min(all - of) {
        values = values * (all - place) / (place + 1);
        if values > LARGEST_TABLE {
            break;
        }
    }
    values
}

/// The next choice in lexicographic order; false after the last.
fn next_choice(chosen: &mut [usize], all: usize) -> bool {
    let of = chosen.len();
    let Some(place) = (0..of).rfind(|place| chosen[*place] < all - of + place) else {
        return false;
    };
    chosen[place] += 1;
    for next in place + 1..of {
        chosen[next] = chosen[next - 1] + 1;
    }
    true
}

/// The test whether the observed sum over all samples is larger than chance makes it. `None` without samples.
///
/// If nothing changed, the answers to a sample are equally likely in any order, whatever the sample is like, so the
/// sum is one of equally likely ones. Nothing is assumed of the distribution. All permutations are taken where there
/// are at most 65,536, and so many `permutations` otherwise, the observed one included, which keeps the level.
///
/// Sources: R. A. Fisher, *The design of experiments* (1935), section 21; for the count of random permutations B.
/// Phipson and G. K. Smyth, *Permutation p-values should never be zero*, Statistical Applications in Genetics and
/// Molecular Biology 9 (2010).
pub(crate) fn permutation_test(
    samples: &[Arrangements],
    permutations: usize,
    random: &mut SplitMix64,
) -> Option<PermutationP> {
    if samples.is_empty() {
        return None;
    }
    // A sample with equal values shows nothing, but counts for `least`: its answers might have differed.
    let informative: Vec<&Arrangements> = samples.iter().filter(|it| !it.is_constant()).collect();
    let p = match all_of(informative.iter().copied()) {
        Some(all) => share_reached(&all_sums(&informative, all), &informative, 0),
        None => share_reached(
            &random_sums(&informative, permutations, random),
            &informative,
            1,
        ),
    };
    let possible = all_of(samples.iter()).unwrap_or(permutations);
    Some(PermutationP {
        p,
        least: 1.0 / as_f64(possible as u64),
    })
}

/// The number of permutations, if it is not too large to take them all.
fn all_of<'a>(mut samples: impl Iterator<Item = &'a Arrangements>) -> Option<usize> {
    samples.try_fold(1_usize, |all, sample| {
        let all = all.checked_mul(sample.values.len())?;
        (all <= ALL).then_some(all)
    })
}

/// The share of sums that reach the observed one, and of `besides`, which do.
fn share_reached(sums: &[f64], samples: &[&Arrangements], besides: usize) -> f64 {
    let observed: f64 = samples.iter().map(|sample| sample.values[0]).sum();
    let largest = |sample: &&Arrangements| {
        let values = sample.values.iter().map(|value| value.abs());
        values.fold(0.0, f64::max)
    };
    let least = observed - TOLERANCE * samples.iter().map(largest).sum::<f64>();
    let reached = sums.iter().filter(|sum| **sum >= least).count() + besides;
    as_f64(reached as u64) / as_f64((sums.len() + besides) as u64)
}

/// The smallest mean difference that is seen with 80 % power at level `alpha`, one-sided, by the spread of these
/// differences; `None` for fewer than two.
pub(crate) fn seen_difference(differences: &[f64], alpha: f64) -> Option<f64> {
    let error = MeanEstimate::of(differences).standard_error?;
    Some((normal::percentile(1.0 - alpha) + normal::percentile(0.8)) * error)
}

fn all_sums(samples: &[&Arrangements], all: usize) -> Vec<f64> {
    let mut sums = Vec::with_capacity(all);
    sums.push(0.0);
    for sample in samples {
        let before = sums.len();
        for value in &sample.values[1..] {
            for place in 0..before {
                sums.push(sums[place] + value);
            }
        }
        for sum in &mut sums[..before] {
            *sum += sample.values[0];
        }
    }
    sums
}

/// The sums of so many permutations less the observed one, sample by sample: the values of one then stay in the
/// processor's cache. Where swapping the sides turns each sign, every drawn permutation stands for its opposite, too.
fn random_sums(
    samples: &[&Arrangements],
    permutations: usize,
    random: &mut SplitMix64,
) -> Vec<f64> {
    let is_antisymmetric = samples.iter().all(|sample| sample.is_antisymmetric);
    let drawn = if is_antisymmetric {
        permutations / 2 - 1
    } else {
        permutations - 1
    };
    let mut sums = vec![0.0; drawn];
    each_table(samples, |values| {
        let count = values.len() as u64;
        // Three of 21 bits from each number: the chances of two arrangements differ by less than a thousandth.
        for sums in sums.chunks_mut(3) {
            let mut bits = random.next();
            for sum in sums {
                let place = ((bits & 0x1f_ffff) * count) >> 21;
                *sum += values[usize::try_from(place).unwrap_or_default()];
                bits >>= 21;
            }
        }
    });
    if is_antisymmetric {
        let opposite: Vec<f64> = sums.iter().map(|sum| -sum).collect();
        sums.extend(opposite);
        sums.push(-samples.iter().map(|sample| sample.values[0]).sum::<f64>());
    }
    sums
}

/// Calls `see` with the values of the samples; those of several samples with few arrangements are one table. One table
/// is in memory: a million samples have gigabytes of them.
fn each_table(samples: &[&Arrangements], mut see: impl FnMut(&[f64])) {
    let mut table: Vec<f64> = Vec::new();
    for sample in samples {
        let values = &sample.values;
        if !table.is_empty() && table.len() * values.len() <= LARGEST_TABLE {
            let pairs = values
                .iter()
                .flat_map(|value| table.iter().map(move |sum| sum + value));
            table = pairs.collect();
            continue;
        }
        if !table.is_empty() {
            see(&table);
        }
        table.clone_from(values);
    }
    if !table.is_empty() {
        see(&table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(samples: &[(&[f64], &[f64])]) -> Option<f64> {
        let mut random = SplitMix64(1);
        let arrangements: Vec<_> = samples
            .iter()
            .map(|(before, now)| Arrangements::mean_now(before, now, &mut random))
            .collect();
        permutation_test(&arrangements, PERMUTATIONS, &mut random).map(|found| found.p)
    }

    #[test]
    fn few_permutations_are_all_taken() {
        // One answer each: the sign flips of the differences. 1 of 8, then 2 of 8.
        assert_eq!(
            p(&[(&[1.0], &[2.0]), (&[1.0], &[3.0]), (&[0.0], &[5.0])]),
            Some(0.125)
        );
        assert_eq!(
            p(&[(&[2.0], &[1.0]), (&[1.0], &[3.0]), (&[0.0], &[5.0])]),
            Some(0.25)
        );
        // Two answers before, one now: the largest of three.
        assert_eq!(p(&[(&[1.0, 2.0], &[3.0])]), Some(1.0 / 3.0));
        assert_eq!(p(&[(&[1.0, 3.0], &[3.0])]), Some(2.0 / 3.0));
        // scipy.stats.permutation_test of the difference of means, permutation_type="independent".
        assert_eq!(p(&[(&[1.0, 5.0, 2.0], &[4.0, 6.0, 7.0])]), Some(2.0 / 20.0));
    }

    #[test]
    fn equal_values_show_nothing() {
        assert_eq!(p(&[]), None);
        assert_eq!(p(&[(&[0.1, 0.1], &[0.1])]), Some(1.0));
        // Nor do they count among those that do.
        assert_eq!(
            p(&[(&[7.1], &[7.1]), (&[1.0], &[2.0]), (&[1.0], &[2.0])]),
            Some(0.25)
        );
    }

    #[test]
    fn many_permutations_are_drawn_and_give_the_same_share() {
        let mut random = SplitMix64(7);
        let samples: Vec<(Vec<f64>, Vec<f64>)> = (0..16)
            .map(|_| (vec![random.share()], vec![random.share() + 0.1]))
            .collect();
        let arrangements = |samples: &[(Vec<f64>, Vec<f64>)], random: &mut SplitMix64| -> Vec<_> {
            let samples = samples.iter();
            samples
                .map(|(before, now)| Arrangements::mean_now(before, now, random))
                .collect()
        };
        let exact = permutation_test(
            &arrangements(&samples, &mut random),
            PERMUTATIONS,
            &mut random,
        )
        .unwrap();
        let informative = arrangements(&samples, &mut random);
        let informative: Vec<_> = informative.iter().collect();
        let sums = random_sums(&informative, PERMUTATIONS, &mut random);
        let observed: f64 = informative.iter().map(|sample| sample.values[0]).sum();
        let reached = sums.iter().filter(|sum| **sum >= observed - 1e-9).count();
        assert_eq!(sums.len(), PERMUTATIONS - 1);
        let drawn = as_f64(reached as u64 + 1) / as_f64(PERMUTATIONS as u64);
        assert!((exact.p - drawn).abs() < 0.015, "{} {drawn}", exact.p);
        assert!((exact.least * 65_536.0 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn choices_are_complete() {
        for (all, of) in [(1, 1), (3, 1), (5, 2), (10, 5), (6, 6)] {
            let mut chosen: Vec<usize> = (0..of).collect();
            let mut count = 1;
            while next_choice(&mut chosen, all) {
                count += 1;
            }
            assert_eq!(count, arrangement_count(all, of), "{all} {of}");
        }
    }

    #[test]
    fn two_sides_that_lie_apart_are_told_by_three_answers_and_more() {
        let mut random = SplitMix64(3);
        // Before: two like each other. Now: one unlike.
        let mut apart = |now: f64| {
            let values = [0.0, 0.0, now];
            Arrangements::apart(2, 1, &mut random, |one, other| {
                (values[one] - values[other]).abs()
            })
        };
        let informative: Vec<_> = (0..3).map(|_| apart(1.0)).collect();
        let found = permutation_test(&informative, PERMUTATIONS, &mut SplitMix64(1)).unwrap();
        assert!((found.p * 27.0 - 1.0).abs() < 1e-12, "{}", found.p);
        let one_each = Arrangements::apart(1, 1, &mut random, |_, _| 1.0);
        assert!(
            one_each.is_constant(),
            "one answer on each side shows no noise"
        );
    }

    #[test]
    fn an_unchanged_agent_is_red_as_often_as_alpha() {
        let mut random = SplitMix64(11);
        let mut red = 0;
        for _ in 0..400 {
            let mut answers =
                |count: usize| -> Vec<f64> { (0..count).map(|_| random.share().ln()).collect() };
            let samples: Vec<_> = (0..12).map(|_| (answers(2), answers(1))).collect();
            let mut seed = SplitMix64(5);
            let arrangements: Vec<_> = samples
                .iter()
                .map(|(b, n)| Arrangements::mean_now(b, n, &mut seed))
                .collect();
            red += u32::from(
                permutation_test(&arrangements, PERMUTATIONS, &mut seed)
                    .unwrap()
                    .p
                    < 0.05,
            );
        }
        assert!((8..=34).contains(&red), "{red} of 400");
    }
}
