//! An exact bound for a share of a finite population of which a part was drawn, by the hypergeometric distribution.

use crate::stats::distribution::law::Law;

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

#[cfg(test)]
mod tests {
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
