//! `HalfWins`: the uncertainty of a win rate over pairs that come in groups, where a pair may be half a win.

use super::{Clusters, as_f64, student, wilson, wilson95_of_share};

/// Running sums over groups of pairs; the groups are independent of one another, the pairs in one are not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HalfWins {
    /// Of halves of a win among two for each pair: the share is the same.
    halves: Clusters,
    groups: u64,
    pairs: u64,
    won: u64,
}

impl HalfWins {
    /// Adds a group of pairs that are won so many halves; an empty one counts as none.
    pub(crate) fn add(&mut self, halves: u64, pairs: u64) {
        self.halves.add(halves, 2 * pairs);
        self.groups += u64::from(pairs > 0);
        self.pairs += pairs;
        self.won += halves;
    }

    /// The 95 % interval `[low, high]` of the win rate; `None` of nothing.
    ///
    /// Wilson's of so many pairs where each group is one. Otherwise it is that of [`Clusters::interval95`], for the
    /// effective number of pairs: never above the real one, and each group counts once where all is won or lost.
    pub(crate) fn interval95(&self) -> Option<[f64; 2]> {
        let share = self.halves.share()?;
        if self.groups == self.pairs {
            return wilson95_of_share(share, self.pairs);
        }
        let quantile = student::percentile(0.975, self.groups - 1);
        if !quantile.is_finite() {
            return Some([0.0, 1.0]);
        }
        let effective = match self.halves.standard_error() {
            _ if self.won == 0 || self.won == 2 * self.pairs => as_f64(self.groups),
            None => 1.0,
            Some(error) => share * (1.0 - share) / (error * error),
        };
        let effective = effective.clamp(1.0, as_f64(self.pairs));
        Some(wilson(share, effective, quantile))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(groups: &[(u64, u64)]) -> [f64; 2] {
        let mut all = HalfWins::default();
        for &(halves, pairs) in groups {
            all.add(halves, pairs);
        }
        all.interval95().unwrap()
    }

    #[test]
    fn single_pairs_have_wilsons_interval() {
        let singles = [(2, 1), (1, 1), (0, 1), (1, 1)];
        assert_eq!(Some(interval(&singles)), wilson95_of_share(0.5, 4));
        assert_eq!(HalfWins::default().interval95(), None);
    }

    #[test]
    fn epochs_of_an_item_are_not_so_many_items() {
        let singles: Vec<_> = (0..40).map(|number| (2 * (number % 2), 1)).collect();
        // Ten items, each four times with the same outcome: ten pairs, by Student's quantile.
        let items: Vec<_> = (0..10).map(|number| (8 * (number % 2), 4)).collect();
        let width = |[low, high]: [f64; 2]| high - low;
        assert!(width(interval(&items)) > 1.7 * width(interval(&singles)));
        // Nothing but half wins shows no spread, and is no certainty.
        let [low, high] = interval(&[(4, 4), (4, 4), (4, 4)]);
        assert!(low < 0.3 && high > 0.7, "{low} {high}");
        // All won is so many items won.
        let [low, _] = interval(&[(8, 4), (8, 4), (8, 4)]);
        assert!(low < 0.5, "{low}");
        assert_eq!(format!("{:?}", interval(&[(8, 4)])), "[0.0, 1.0]");
    }
}
