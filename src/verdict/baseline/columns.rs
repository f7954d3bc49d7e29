//! Columns: one member of many samples side by side, in hardly more memory than its bytes.
//!
//! A million samples as structs with lists and texts of their own take a gigabyte.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::text::hash::{from_hex, hex};
use crate::verdict::gate::Slice;

/// Where each of several lists ends that lie one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Offsets {
    /// All are of one length.
    Even {
        length: usize,
        lists: usize,
    },
    Short(Vec<u32>),
    Long(Vec<usize>),
}

impl Default for Offsets {
    fn default() -> Self {
        Self::Even {
            length: 0,
            lists: 0,
        }
    }
}

impl Offsets {
    fn len(&self) -> usize {
        match self {
            Self::Even { lists, .. } => *lists,
            Self::Short(ends) => ends.len(),
            Self::Long(ends) => ends.len(),
        }
    }

    /// Adds a list that reaches from `start` to `end`.
    fn push(&mut self, start: usize, end: usize) {
        match self {
            Self::Even { length, lists } if *lists == 0 || *length == end - start => {
                (*length, *lists) = (end - start, *lists + 1);
                return;
            }
            Self::Even { length, lists } => {
                let ends = (1..=*lists).map(|list| list * *length);
                *self = Self::Long(ends.collect()).shortened();
            }
            Self::Short(_) | Self::Long(_) => {}
        }
        if let Self::Short(ends) = self {
            match u32::try_from(end) {
                Ok(end) => return ends.push(end),
                Err(_) => *self = Self::Long(ends.iter().map(|end| *end as usize).collect()),
            }
        }
        if let Self::Long(ends) = self {
            ends.push(end);
        }
    }

    /// In fewer bytes, if the last end fits.
    fn shortened(self) -> Self {
        let Self::Long(ends) = &self else {
            return self;
        };
        let short: Result<_, _> = ends.iter().map(|end| u32::try_from(*end)).collect();
        short.map_or(self, Self::Short)
    }

    fn range(&self, place: usize) -> Range<usize> {
        let end = |place: usize| match self {
            Self::Even { length, .. } => (place + 1) * length,
            Self::Short(ends) => ends[place] as usize,
            Self::Long(ends) => ends[place],
        };
        let start = place.checked_sub(1).map_or(0, end);
        start..end(place)
    }
}

/// A list for each sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lists<T> {
    all: Vec<T>,
    ends: Offsets,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            ends: Offsets::default(),
        }
    }
}

impl<T> Lists<T> {
    /// Makes room for so many items of all lists. Growing would hold them twice.
    pub(super) fn reserve(&mut self, items: usize) {
        self.all.reserve_exact(items);
    }

    pub(super) fn push(&mut self, list: impl IntoIterator<Item = T>) {
        let start = self.all.len();
        self.all.extend(list);
        self.ends.push(start, self.all.len());
    }

    pub(super) fn get(&self, place: usize) -> &[T] {
        &self.all[self.ends.range(place)]
    }

    /// Where the items of a list are among all of them.
    pub(super) fn range(&self, place: usize) -> Range<usize> {
        self.ends.range(place)
    }

    /// For how many items there is room.
    pub(super) fn room(&self) -> usize {
        self.all.capacity()
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many items all lists have.
    pub(super) fn items(&self) -> usize {
        self.all.len()
    }
}

/// A text for each sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    all: String,
    ends: Offsets,
}

impl Texts {
    /// Makes room for so many bytes.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.all.reserve_exact(bytes);
    }

    /// How many bytes they have.
    pub(crate) fn bytes(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn push(&mut self, text: &str) {
        let start = self.all.len();
        self.all.push_str(text);
        self.ends.push(start, self.all.len());
    }

    pub(crate) fn get(&self, place: usize) -> &str {
        &self.all[self.ends.range(place)]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|place| self.get(place))
    }

    /// Where a text is among these, which are in order.
    pub(crate) fn binary_search(&self, text: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.get(middle).cmp(text) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// A value for each sample, most often the default; the last defaults take no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sparse<T>(Vec<T>);

impl<T: Clone + Default + PartialEq> Sparse<T> {
    /// Makes room for the values of so many samples.
    pub(super) fn reserve(&mut self, samples: usize) {
        self.0.reserve_exact(samples);
    }

    /// Sets the value of the sample at a place, which is behind all that have one.
    pub(super) fn set(&mut self, place: usize, value: T) {
        if value != T::default() {
            self.0.resize(place, T::default());
            self.0.push(value);
        }
    }

    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.0.get(place)
    }

    /// The value, by default where none was set.
    pub(super) fn value(&self, place: usize) -> T {
        self.get(place).cloned().unwrap_or_default()
    }
}

/// A text for some samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SparseTexts {
    /// The number of the text of each sample, counted from 1.
    numbers: Sparse<u32>,
    texts: Texts,
}

impl SparseTexts {
    pub(super) fn set(&mut self, place: usize, text: Option<&str>) {
        let Some(text) = text else {
            return;
        };
        let count = self.texts.len();
        // Samples of a group are mostly neighbours.
        if count == 0 || self.texts.get(count - 1) != text {
            self.texts.push(text);
        }
        self.numbers.set(place, number(self.texts.len()));
    }

    pub(super) fn get(&self, place: usize) -> Option<&str> {
        let number = self.numbers.value(place).checked_sub(1)?;
        Some(self.texts.get(number as usize))
    }
}

/// The slices of each sample; equal lists are one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SliceLists {
    /// The number of the list of each sample, counted from 1; 0 without slices.
    numbers: Sparse<u32>,
    lists: Vec<Arc<[Slice]>>,
    known: BTreeMap<Arc<[Slice]>, u32>,
}

impl SliceLists {
    pub(super) fn reserve(&mut self, samples: usize) {
        self.numbers.reserve(samples);
    }

    pub(super) fn set(&mut self, place: usize, slices: &Arc<[Slice]>) {
        if slices.is_empty() {
            return;
        }
        let known = self.known.get(slices).copied();
        let number = known.unwrap_or_else(|| {
            self.lists.push(Arc::clone(slices));
            let number = number(self.lists.len());
            self.known.insert(Arc::clone(slices), number);
            number
        });
        self.numbers.set(place, number);
    }

    pub(super) fn get(&self, place: usize) -> &[Slice] {
        let number = self.numbers.value(place).checked_sub(1);
        number.map_or(&[][..], |number| &*self.lists[number as usize])
    }

    /// The same as a list to share.
    pub(super) fn shared(&self, place: usize) -> Arc<[Slice]> {
        let number = self.numbers.value(place).checked_sub(1);
        number.map_or_else(Arc::default, |number| {
            Arc::clone(&self.lists[number as usize])
        })
    }
}

/// A hash for each sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hashes {
    short: Vec<[u8; 8]>,
    /// Those that are not 16 hexadecimal digits.
    others: BTreeMap<usize, Box<str>>,
}

impl Hashes {
    pub(super) fn reserve(&mut self, samples: usize) {
        self.short.reserve_exact(samples);
    }

    pub(super) fn push(&mut self, hash: &str) {
        let short = from_hex(hash);
        if short.is_none() {
            self.others.insert(self.short.len(), hash.into());
        }
        self.short.push(short.unwrap_or_default());
    }

    pub(super) fn get(&self, place: usize) -> Cow<'_, str> {
        match self.others.get(&place) {
            Some(other) => Cow::Borrowed(other),
            None => Cow::Owned(hex(&self.short[place])),
        }
    }
}

/// The number of one of so many things. More than four billion do not fit into memory.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_as_they_were_pushed() {
        let check = |lists: &[&[u8]], is_even: bool| {
            let mut all = Lists::default();
            for list in lists {
                all.push(list.iter().copied());
            }
            let read: Vec<_> = (0..all.len()).map(|place| all.get(place)).collect();
            assert_eq!(read, lists);
            assert_eq!(matches!(all.ends, Offsets::Even { .. }), is_even);
        };
        check(&[], true);
        check(&[&[1], &[2], &[3]], true);
        check(&[&[], &[]], true);
        check(&[&[1, 2], &[3, 4], &[5], &[], &[6, 7, 8]], false);
        check(&[&[], &[1]], false);
    }

    #[test]
    fn ends_of_more_than_four_gigabytes_are_long() {
        let mut ends = Offsets::default();
        let (two, many) = (1_usize << 31, 1_usize << 33);
        for (start, end) in [(0, 2), (2, two), (two, many), (many, many)] {
            ends.push(start, end);
        }
        let ranges: Vec<_> = (0..ends.len()).map(|place| ends.range(place)).collect();
        assert_eq!(ranges, [0..2, 2..two, two..many, many..many]);
    }

    #[test]
    fn what_most_samples_lack_takes_no_memory() {
        let mut texts = SparseTexts::default();
        for (place, text) in [None, Some("a"), Some("a"), None, Some("")]
            .iter()
            .enumerate()
        {
            texts.set(place, *text);
        }
        let read: Vec<_> = (0..6).map(|place| texts.get(place)).collect();
        assert_eq!(read, [None, Some("a"), Some("a"), None, Some(""), None]);
        assert_eq!(texts.texts.len(), 2);
        let mut flags = Sparse::default();
        for place in 0..1000 {
            flags.set(place, place == 3);
        }
        assert_eq!(flags.0.len(), 4);
        assert!(flags.value(3) && !flags.value(2) && !flags.value(999));
    }

    #[test]
    fn hashes_are_read_as_they_were() {
        let all = [
            "0123456789abcdef",
            "",
            "0123456789ABCDEF",
            "old",
            "00000000000000ff",
        ];
        let mut hashes = Hashes::default();
        for hash in all {
            hashes.push(hash);
        }
        let read: Vec<_> = (0..all.len()).map(|place| hashes.get(place)).collect();
        assert_eq!(read, all);
        assert_eq!(hashes.others.len(), 3);
    }
}
