//! Pettitt's test: finds change points of a series.

use crate::stats::{SplitMix64, as_f64};

/// Up to this many values p comes from random orders; beyond, the asymptotic distribution is close.
const DRAWN: usize = 60;
/// The number of random orders.
const ORDERS: usize = 2_000;
/// An asymptotic p above this needs no closer look, being far above any alpha.
const FAR: f64 = 0.5;
/// The change may be wherever the sum is at least this part of the largest.
const NEARLY: f64 = 0.9;

/// A change point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChangePoint {
    /// The index of the first value of the new level.
    pub(crate) at: usize,
    /// The probability of a split as clean as this one in random order.
    pub(crate) p: f64,
    /// The mean of the values since the previous change, or the beginning.
    pub(crate) before: f64,
    /// The mean of the values up to the next change, or to the end.
    pub(crate) after: f64,
}

/// The change points of a series, in order; `alpha` is the probability of finding one in a series that did not change.
/// Each side of a change is searched in the same way.
///
/// It uses the ranks of the values, not their distances: one outlier is not a change. At alpha 0.05 at least eight
/// values are needed (four on each side). The values must be independent of each other; a slow drift has change points
/// in its middle. No change is found if a value is NaN.
///
/// Up to 60 values p comes from 2,000 random orders, the same ones in every run; beyond, from the asymptotic
/// distribution, which is never far below the truth.
///
/// Ranks decide whether there is a change. Its place is found by least squares, among the places where the split by
/// ranks is nearly the cleanest: ranks alone are often one value off.
///
/// Source: A. N. Pettitt, *A non-parametric approach to the change-point problem*, Applied Statistics 28 (1979); the
/// limit with equal values is that of the Brownian bridge for the variance that their ranks have.
pub(crate) fn change_points(values: &[f64], alpha: f64) -> Vec<ChangePoint> {
    if values.iter().any(|value| value.is_nan()) {
        return Vec::new();
    }
    let mut found: Vec<(usize, f64)> = Vec::new();
    // Ranges still to search.
    let mut pending = vec![(0, values.len())];
    while let Some((from, to)) = pending.pop() {
        if let Some((split, p)) = split(&values[from..to])
            && p <= alpha
        {
            found.push((from + split, p));
            pending.extend([(from, from + split), (from + split, to)]);
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let mean = |from: usize, to: usize| crate::stats::mean(&values[from..to]).unwrap_or_default();
    let boundary = |place: usize| found.get(place).map_or(values.len(), |(at, _)| *at);
    let all = found.iter().enumerate();
    all.map(|(place, (at, p))| ChangePoint {
        at: *at,
        p: *p,
        before: mean(place.checked_sub(1).map_or(0, boundary), *at),
        after: mean(*at, boundary(place + 1)),
    })
    .collect()
}

/// The cleanest split of a series, as the number of values before it, and its p.
fn split(values: &[f64]) -> Option<(usize, f64)> {
    let mut ranks = centred_ranks(values);
    let largest = largest_sum(&ranks);
    // In the limit, the sums are a Brownian bridge with this variance, at most that of values without ties.
    let n = as_f64(values.len() as u64);
    let squares: f64 = ranks
        .iter()
        .map(|rank| as_f64(rank.unsigned_abs()).powi(2))
        .sum();
    if largest == 0 {
        return None;
    }
    let height = as_f64(largest).powi(2) * (n - 1.0) / (squares * n);
    let limit = (2.0 * (-2.0 * height).exp()).min(1.0);
    let at = place(values, &ranks, largest);
    if values.len() > DRAWN || limit > FAR {
        return Some((at, limit));
    }
    let mut random = SplitMix64(ranks.len() as u64);
    let mut as_large = 1;
    for _ in 0..ORDERS {
        for last in (1..ranks.len()).rev() {
            ranks.swap(last, random.below(last + 1));
        }
        as_large += u64::from(largest_sum(&ranks) >= largest);
    }
    Some((at, as_f64(as_large) / as_f64(ORDERS as u64 + 1)))
}

/// The largest absolute sum of leading ranks.
fn largest_sum(ranks: &[i64]) -> u64 {
    let sums = ranks.iter().scan(0_i64, |sum, rank| {
        *sum += rank;
        Some(sum.unsigned_abs())
    });
    sums.max().unwrap_or_default()
}

/// The number of values before the split with the least squares, among the nearly cleanest splits.
fn place(values: &[f64], ranks: &[i64], largest: u64) -> usize {
    let n = as_f64(values.len() as u64);
    let mean = crate::stats::mean(values).unwrap_or_default();
    let (mut sum, mut ranked) = (0.0, 0_i64);
    let (mut at, mut best) = (0, f64::NEG_INFINITY);
    for (split, (value, rank)) in (1..values.len()).zip(values.iter().zip(ranks)) {
        sum += value - mean;
        ranked += rank;
        let before = as_f64(split as u64);
        let explained = sum * sum / (before * (n - before));
        if as_f64(ranked.unsigned_abs()) >= NEARLY * as_f64(largest) && explained > best {
            (at, best) = (split, explained);
        }
    }
    at
}

/// Twice the rank of each value, minus the mean of all: integers that sum to 0. Equal values share their ranks.
fn centred_ranks(values: &[f64]) -> Vec<i64> {
    // Turns -0 into 0.
    let values = values.iter().map(|value| value + 0.0);
    let mut sorted: Vec<_> = values.enumerate().collect();
    sorted.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let mut ranks = vec![0; sorted.len()];
    let mut before = 0;
    for equal in sorted.chunk_by(|(_, one), (_, other)| one.total_cmp(other).is_eq()) {
        let after = before + equal.len();
        for (place, _) in equal {
            ranks[*place] =
                (before + after).cast_signed() as i64 - sorted.len().cast_signed() as i64;
        }
        before = after;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(values: &[f64]) -> Vec<usize> {
        let found = change_points(values, 0.05);
        found.iter().map(|change| change.at).collect()
    }

    /// Values around a level, within `scatter` on each side.
    fn around(level: f64, scatter: f64, count: usize, random: &mut SplitMix64) -> Vec<f64> {
        let value = |_| level + scatter * (2.0 * random.share() - 1.0);
        (0..count).map(value).collect()
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let mut random = SplitMix64(1);
        let mut values = around(0.6, 0.02, 24, &mut random);
        values.extend(around(0.5, 0.02, 16, &mut random));
        let found = change_points(&values, 0.05);
        assert_eq!(found.len(), 1);
        let ChangePoint {
            at,
            p,
            before,
            after,
        } = found[0];
        assert_eq!(at, 24);
        assert!(p < 0.001 && (before - 0.6).abs() < 0.01 && (after - 0.5).abs() < 0.01);
        // Back again.
        values.extend(around(0.6, 0.02, 40, &mut random));
        assert_eq!(places(&values), [24, 40]);
        let mut long = around(0.6, 0.02, 300, &mut random);
        long.extend(around(0.58, 0.02, 200, &mut random));
        assert_eq!(places(&long).len(), 1);
        // A fall of values without scatter.
        assert_eq!(places(&[0.6, 0.6, 0.6, 0.6, 0.4, 0.4, 0.4, 0.4]), [4]);
        // Too few values, no change, one outlier, and NaN.
        assert_eq!(places(&[0.6, 0.6, 0.6, 0.4, 0.4, 0.4]), [0; 0]);
        assert_eq!(places(&[0.6; 30]), [0; 0]);
        let mut outlier = vec![0.6; 30];
        outlier[20] = 0.0;
        assert_eq!(places(&outlier), [0; 0]);
        outlier[20] = f64::NAN;
        assert_eq!(places(&outlier), [0; 0]);
        assert_eq!(places(&[]), [0; 0]);
    }

    #[test]
    fn the_ranks_are_those_of_the_paper() {
        // U of Pettitt's (3) by its definition; doubled ranks give the same.
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        let ranks = centred_ranks(&values);
        let mut sum = 0;
        for (split, rank) in ranks.iter().enumerate() {
            sum += rank;
            let (before, behind) = values.split_at(split + 1);
            let u: i64 = before
                .iter()
                .flat_map(|one| behind.iter().map(move |other| (one, other)))
                .map(|(one, other)| i64::from(one > other) - i64::from(one < other))
                .sum();
            assert_eq!(sum, u);
        }
    }

    #[test]
    fn a_series_without_a_change_has_one_in_no_more_than_alpha() {
        let mut random = SplitMix64(5);
        for (count, distinct) in [(10, 1_000), (30, 1_000), (30, 4), (100, 1_000), (100, 3)] {
            let series = 200;
            let red = (0..series).filter(|_| {
                let values: Vec<f64> = (0..count)
                    .map(|_| as_f64(random.below(distinct) as u64))
                    .collect();
                !change_points(&values, 0.05).is_empty()
            });
            let red = red.count();
            // 10 are expected, plus three standard deviations.
            assert!(red <= 19, "{count} of {distinct}: {red} of {series}");
        }
    }
}
