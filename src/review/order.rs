//! `ReviewChoice`: which items are looked at, and in which order.

use super::items::ReviewItems;
use crate::data::labels::LabelChoice;
use crate::error::{Error, Result};
use crate::stats::SplitMix64;

/// Which items are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewChoice {
    /// All of them.
    All,
    /// So many by lot.
    Sample {
        /// How many.
        count: usize,
        /// What the lot is drawn with.
        seed: u64,
    },
}

/// Places in order, how they were chosen, and with which seed.
pub(super) type ChosenItems = (Vec<usize>, LabelChoice, Option<u64>);

impl ReviewChoice {
    /// The items of this choice.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn of(self, items: &ReviewItems) -> Result<ChosenItems> {
        let all: Vec<usize> = (0..items.count()).collect();
        if all.is_empty() {
            let message = format!("`{}` has no items", items.source());
            return Err(Error::usage(message));
        }
        Ok(match self {
            Self::All => (all, LabelChoice::All, None),
            Self::Sample { count, seed } => {
                let drawn = by_lot(all, count, seed);
                (drawn, LabelChoice::Random, Some(seed))
            }
        })
    }
}

/// The first so many of all in a random order: of a longer draw with the same seed they are the first ones, too.
fn by_lot(mut all: Vec<usize>, count: usize, seed: u64) -> Vec<usize> {
    let mut random = SplitMix64(seed);
    let count = count.min(all.len());
    for place in 0..count {
        let other = place + random.below(all.len() - place);
        all.swap(place, other);
    }
    all.truncate(count);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_draw_begins_with_the_shorter_one() {
        let all: Vec<usize> = (0..100).collect();
        let short = by_lot(all.clone(), 10, 7);
        let mut long = by_lot(all.clone(), 1000, 7);
        assert_eq!(short, long[..10]);
        assert_ne!(short, by_lot(all.clone(), 10, 8));
        long.sort_unstable();
        assert_eq!(long, all);
    }
}
