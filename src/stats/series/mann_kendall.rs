//! The Mann-Kendall test: does a series fall?

use crate::stats::as_f64;
use crate::stats::distribution::normal;

/// Up to this many values p is exact; beyond, the normal approximation has two correct digits.
const EXACT: usize = 60;

/// The probability that a series in random order falls at least as steadily as this one: one-sided, small for a falling
/// series. It says nothing about the size of the fall.
///
/// For each pair of values it counts whether the later one is larger or smaller. Over all orders of the values, equal
/// ones included, the number of falling pairs has the law of the inversions of a multiset, a product of Mann-Whitney
/// laws; it is summed exactly up to 60 values.
///
/// The values must be independent of each other, apart from the trend. `None` if a value is NaN, and 1 if nothing could
/// differ.
///
/// Sources: H. B. Mann, *Nonparametric tests against trend*, Econometrica 13 (1945); M. G. Kendall, *Rank correlation
/// methods* (1975), also for the variance with ties; the law of inversions P. A. `MacMahon`, *Combinatory analysis*
/// (1915).
pub(crate) fn falls(values: &[f64]) -> Option<f64> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut fallen = 0;
    for (place, later) in values.iter().enumerate() {
        fallen += values[..place]
            .iter()
            .filter(|value| *value > later)
            .count();
    }
    Some(falls_in(fallen, &groups(values)))
}

/// [`falls`] from the number of falling pairs and the sizes of groups of equal values.
fn falls_in(fallen: usize, groups: &[usize]) -> f64 {
    let n: usize = groups.iter().sum();
    if n > EXACT {
        return approximate(fallen, groups);
    }
    let law = law_of_inversions(groups);
    law.iter().skip(fallen).sum::<f64>().min(1.0)
}

/// The number of occurrences of each distinct value.
fn groups(values: &[f64]) -> Vec<usize> {
    // Turns -0 into 0.
    let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let equal = sorted.chunk_by(|one, other| one.total_cmp(other).is_eq());
    equal.map(<[f64]>::len).collect()
}

/// The probability of each number of falling pairs.
pub(in crate::stats) fn law_of_inversions(groups: &[usize]) -> Vec<f64> {
    let mut law = vec![1.0];
    let mut before = 0;
    for group in groups {
        law = convolved(&law, &mann_whitney(before, *group));
        before += group;
    }
    law
}

/// The probability of each number of pairs out of order between `m` and `k` values in random order.
fn mann_whitney(m: usize, k: usize) -> Vec<f64> {
    // By the last value: it is one of the `k` larger ones, or one of the `m` after all `k`.
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]; k + 1];
    for smaller in 1..=m {
        for larger in 1..=k {
            let share = as_f64(larger as u64) / as_f64((smaller + larger) as u64);
            let mut law = vec![0.0; smaller * larger + 1];
            for (place, p) in rows[larger - 1].iter().enumerate() {
                law[place] += p * share;
            }
            for (place, p) in rows[larger].iter().enumerate() {
                law[place + larger] += p * (1.0 - share);
            }
            rows[larger] = law;
        }
    }
    rows.swap_remove(k)
}

fn convolved(one: &[f64], other: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; one.len() + other.len() - 1];
    for (at, p) in one.iter().enumerate() {
        for (also, q) in other.iter().enumerate() {
            sum[at + also] += p * q;
        }
    }
    sum
}

fn approximate(fallen: usize, groups: &[usize]) -> f64 {
    let part = |n: usize| {
        let n = as_f64(n as u64);
        (n * (n - 1.0) / 4.0, n * (n - 1.0) * (2.0 * n + 5.0) / 72.0)
    };
    let (mut mean, mut variance) = part(groups.iter().sum());
    for group in groups {
        let (less, narrower) = part(*group);
        mean -= less;
        variance -= narrower;
    }
    if variance <= 0.0 {
        return 1.0;
    }
    normal::below((mean + 0.5 - as_f64(fallen as u64)) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], expect: f64) {
        let p = falls(values).unwrap();
        assert!((p - expect).abs() <= 1e-12 * expect, "{values:?}: {p}");
    }

    #[test]
    fn known_values() {
        // One order of n!, and the order with two neighbours swapped.
        check(&[4.0, 3.0, 2.0, 1.0], 1.0 / 24.0);
        check(&[4.0, 3.0, 1.0, 2.0], 4.0 / 24.0);
        check(&[1.0, 2.0, 3.0], 1.0);
        check(&[8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 1.0 / 40_320.0);
        check(&[7.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 8.0 / 40_320.0);
        // Two of each: C(4, 2) orders.
        check(&[0.5, 0.5, 0.25, 0.25], 1.0 / 6.0);
        check(&[0.5, 0.25, 0.5, 0.25], 2.0 / 6.0);
        check(&[0.0, -0.0, 0.0], 1.0);
        check(&[], 1.0);
        assert_eq!(falls(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn it_is_the_share_of_all_orders() {
        fn orders(rest: &mut Vec<f64>, so_far: &mut Vec<f64>, all: &mut Vec<Vec<f64>>) {
            if rest.is_empty() {
                all.push(so_far.clone());
            }
            for place in 0..rest.len() {
                so_far.push(rest.remove(place));
                orders(rest, so_far, all);
                rest.insert(place, so_far.pop().unwrap());
            }
        }
        for values in [
            vec![3.0, 1.0, 2.0, 1.0, 3.0, 1.0],
            vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            vec![2.0, 2.0, 2.0, 1.0, 7.0],
        ] {
            let fallen = |values: &[f64]| {
                let pairs = (0..values.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
                pairs.filter(|(j, i)| values[*j] > values[*i]).count()
            };
            let mut all = Vec::new();
            orders(&mut values.clone(), &mut Vec::new(), &mut all);
            for order in &all {
                let as_low = all.iter().filter(|other| fallen(other) >= fallen(order));
                let expect = as_f64(as_low.count() as u64) / as_f64(all.len() as u64);
                check(order, expect);
            }
        }
    }

    #[test]
    fn an_approximation_is_near() {
        let mut random = crate::stats::SplitMix64(1);
        for distinct in [4, 1_000] {
            for tilt in [0.0, 2.0, 6.0] {
                let values: Vec<f64> = (0..EXACT)
                    .map(|i| {
                        let drawn = as_f64(random.below(distinct) as u64) / as_f64(distinct as u64);
                        drawn * 20.0 - tilt * as_f64(i as u64) / 10.0
                    })
                    .map(f64::floor)
                    .collect();
                let groups = groups(&values);
                let exact = falls(&values).unwrap();
                let pairs = (0..EXACT).flat_map(|i| (0..i).map(move |j| (j, i)));
                let fallen = pairs.filter(|(j, i)| values[*j] > values[*i]).count();
                let near = approximate(fallen, &groups);
                assert!((near - exact).abs() < 0.005, "{near} {exact}");
            }
        }
        // A long falling series is detected, and a constant one is not informative.
        let long: Vec<f64> = (0..100_u32).map(|i| -f64::from(i)).collect();
        assert!(falls(&long).unwrap() < 1e-20);
        assert!((falls(&[1.0; 100]).unwrap() - 1.0).abs() < 1e-12);
    }
}
