//! `EventIndexes`: the indexes of events seen in a journal.

use std::collections::BTreeMap;

/// A set of numbers, as ranges: an undamaged journal has one.
#[derive(Debug, Default)]
pub(super) struct EventIndexes {
    /// The exclusive ends of ranges, by their starts.
    ranges: BTreeMap<u64, u64>,
}

impl EventIndexes {
    /// Adds a number, if it is new. The very last number is refused.
    pub(super) fn add(&mut self, index: u64) -> bool {
        let Some(next) = index.checked_add(1) else {
            return false;
        };
        let before = self.ranges.range(..=index).next_back();
        let before = before.map(|(start, end)| (*start, *end));
        let start = match before {
            Some((_, end)) if index < end => return false,
            Some((start, end)) if index == end => start,
            _ => index,
        };
        let end = self.ranges.remove(&next).unwrap_or(next);
        self.ranges.insert(start, end);
        true
    }

    /// The number after all of them.
    pub(super) fn next(&self) -> u64 {
        self.ranges.values().next_back().copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_counts_once_in_any_order() {
        let mut seen = EventIndexes::default();
        assert_eq!(seen.next(), 0);
        for index in [0, 1, 5, 3, 4, 2, 9] {
            assert!(seen.add(index), "{index}");
            assert!(!seen.add(index), "{index}");
        }
        assert!(!seen.add(3) && !seen.add(u64::MAX));
        assert_eq!(seen.next(), 10);
        assert_eq!(seen.ranges, BTreeMap::from([(0, 6), (9, 10)]));
    }
}
