//! `win_rate95`: the uncertainty of a win rate over grouped pairs, where a pair may be half a win.

use crate::stats::{AnswerCounts, ComparedSample, repeated_difference};

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
mod tests {
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
