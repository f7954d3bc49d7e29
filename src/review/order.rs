//! `ReviewChoice`: which items to review, and in which order.

use super::items::{ListedItem, ReviewItems};
use crate::data::labels::LabelChoice;
use crate::error::{Error, Result};
use crate::stats::SplitMix64;

/// Which items to review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewChoice {
    /// All items. Answers graded by a judge come in random order: wherever a person stops, the labels so far are a
    /// random sample and can correct the judge's figures.
    All {
        /// The random seed.
        seed: u64,
    },
    /// A random sample.
    Sample {
        /// The sample size.
        count: usize,
        /// The random seed.
        seed: u64,
    },
    /// Answers of a run that match a criterion.
    Only(ReviewOnly),
}

/// A criterion for answers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewOnly {
    /// Its verdict changed since the baseline.
    Flipped,
    /// Another scorer contradicts the deciding one.
    Disagreeing,
    /// It is wrong, or ended in an error.
    Failed,
}

impl ReviewOnly {
    /// The name of the option value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flipped => "flipped",
            Self::Disagreeing => "disagreeing",
            Self::Failed => "failed",
        }
    }

    fn is_of(self, item: &ListedItem) -> bool {
        match self {
            Self::Flipped => item.flipped,
            Self::Disagreeing => item.disagreeing,
            Self::Failed => item.failed,
        }
    }
}

/// Places in order, how they were chosen, and the seed.
pub(super) type ChosenItems = (Vec<usize>, LabelChoice, Option<u64>);

impl ReviewChoice {
    /// The chosen items.
    ///
    /// # Errors
    /// If there are none.
    pub(super) fn of(self, items: &ReviewItems) -> Result<ChosenItems> {
        let all: Vec<usize> = (0..items.count()).collect();
        if all.is_empty() {
            let message = format!("`{}` has no items", items.source());
            return Err(Error::usage(message).hint("generate some, or run the eval, first"));
        }
        let is_answered = |place: &usize| items.listed(*place).is_answered;
        let has_judge = items.run().is_some_and(|run| run.judge().is_some());
        match self {
            Self::All { seed } if has_judge => {
                let (answered, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_answered);
                let mut order = by_lot(answered, usize::MAX, seed);
                order.extend(others);
                Ok((order, LabelChoice::Random, Some(seed)))
            }
            Self::All { .. } => {
                let mut order = all;
                // The sort is stable: equal items stay in dataset order.
                order.sort_by_key(|place| sort_key(items.listed(*place)));
                Ok((order, LabelChoice::All, None))
            }
            Self::Sample { count, seed } => {
                let mut answered = all;
                answered.retain(is_answered);
                if answered.is_empty() {
                    let message = format!("`{}` has no answer to review", items.source());
                    return Err(Error::usage(message).hint("look at its errors: `--only failed`"));
                }
                let drawn = by_lot(answered, count, seed);
                Ok((drawn, LabelChoice::Random, Some(seed)))
            }
            Self::Only(only) => {
                if items.run().is_none() {
                    let message = format!(
                        "`--only {}` needs the answers of a run, but `{}` is a file of items",
                        only.as_str(),
                        items.source()
                    );
                    return Err(Error::usage(message).hint("leave it out, or name a run directory"));
                }
                let mut picked = all;
                picked.retain(|place| only.is_of(items.listed(*place)));
                picked.sort_by_key(|place| sort_key(items.listed(*place)));
                if picked.is_empty() {
                    let (source, word) = (items.source(), only.as_str());
                    let message = format!("nothing in `{source}` is {word}");
                    return Err(Error::usage(message).hint("leave `--only` out"));
                }
                Ok((picked, LabelChoice::Picked, None))
            }
        }
    }
}

/// The sort key: errors by kind, flips, disagreements and wrong answers first, each by slice. Items of a file all have
/// the same key.
fn sort_key(item: &ListedItem) -> (u8, Option<&str>, Option<&str>) {
    let rank = match item.tag.as_deref() {
        Some(_) if item.is_error => 0,
        Some("flipped") => 1,
        Some("disagreeing") => 2,
        Some(_) => 3,
        None => 4,
    };
    let slice = item.slice.as_deref();
    (rank, item.tag.as_deref(), slice.filter(|_| rank < 4))
}

/// The first `count` of all in random order; a longer draw with the same seed starts with the same ones. This is the
/// draw of `judge calibrate --draw`, so labels can be recognised as part of it.
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
