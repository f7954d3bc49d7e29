//! The interval of a relative fall of a share.

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

#[cfg(test)]
mod tests {
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
