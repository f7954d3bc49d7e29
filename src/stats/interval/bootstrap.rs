//! The percentile bootstrap: how a figure would vary over other items like these.

use crate::stats::{SplitMix64, percentile};

/// Number of resamples: the ends of an interval are within a few hundredths of its width of those with any larger
/// number.
pub(crate) const DRAWS: usize = 2_000;

/// A fixed seed, so that the same file gives the same figures.
const SEED: u64 = 0x6a75_6467_655f_6369;

/// 95 % confidence intervals `[low, high]` of figures, by drawing as many items as there are with replacement, `draws`
/// times ([`DRAWS`] are enough).
///
/// Items of one kind are equivalent for every figure: `kinds` has the kind of each item, less than `kind_count`;
/// `figures` gets the number of draws of each kind. Draws in which a figure has no value are ignored; `None` if no draw
/// has one. Source: B. Efron, *Bootstrap methods: another look at the jackknife*, Annals of Statistics 7 (1979).
pub(crate) fn bootstrap95<const N: usize>(
    kinds: &[usize],
    kind_count: usize,
    draws: usize,
    mut figures: impl FnMut(&[u64]) -> [Option<f64>; N],
) -> [Option<[f64; 2]>; N] {
    let mut random = SplitMix64(SEED);
    let mut drawn = vec![0; kind_count];
    let mut found = [(); N].map(|()| Vec::with_capacity(draws));
    for _ in 0..draws {
        drawn.fill(0);
        for _ in kinds {
            drawn[kinds[random.below(kinds.len())]] += 1;
        }
        for (found, figure) in found.iter_mut().zip(figures(&drawn)) {
            found.extend(figure);
        }
    }
    found.map(|mut found| {
        found.sort_unstable_by(f64::total_cmp);
        Some([percentile(&found, 2.5)?, percentile(&found, 97.5)?])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::ratio;

    /// The interval of the share of items of kind 1.
    fn share(kinds: &[usize], draws: usize) -> Option<[f64; 2]> {
        let [share] = bootstrap95(kinds, 2, draws, |drawn| {
            [ratio(drawn[1], drawn[0] + drawn[1])]
        });
        share
    }

    #[test]
    fn the_interval_of_a_share_is_that_of_the_binomial_distribution() {
        // 30 of 100: the quantiles of the binomial distribution are 21 and 39.
        let kinds: Vec<_> = (0..100).map(|item| usize::from(item < 30)).collect();
        let [low, high] = share(&kinds, DRAWS).unwrap();
        assert!(
            (low - 0.21).abs() < 0.0101 && (high - 0.39).abs() < 0.0101,
            "{low} {high}"
        );
        let [more_low, more_high] = share(&kinds, 10 * DRAWS).unwrap();
        assert!((low - more_low).abs() < 0.02 && (high - more_high).abs() < 0.02);
        assert_eq!(
            share(&kinds, DRAWS),
            Some([low, high]),
            "the same each time"
        );
    }

    #[test]
    fn what_has_no_value_has_no_interval() {
        assert_eq!(share(&[], 10), None);
        assert_eq!(share(&[1], 10), Some([1.0, 1.0]));
        let [never, first] = bootstrap95(&[0, 1], 2, 100, |drawn| {
            [None, (drawn[0] == 2).then_some(0.5)]
        });
        assert_eq!((never, first), (None, Some([0.5, 0.5])));
    }
}
