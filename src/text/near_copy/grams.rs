//! `TextGrams`: the grams of a text, computed once for all comparisons.

use std::hash::{BuildHasher, Hasher};

use super::stock::StockPhrases;
use super::words;

/// Words per gram.
const GRAM: usize = 8;
/// A gram is a text's own if at least this many of its words are outside stock phrases.
const OWN_WORDS: usize = 4;

/// The distinct grams of a text.
#[derive(Clone, Debug)]
pub(crate) struct TextGrams(Vec<Gram>);

/// A gram of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gram {
    pub(super) hash: u64,
    pub(super) is_own: bool,
}

impl TextGrams {
    /// The grams of a text.
    pub(crate) fn of(text: &str) -> Self {
        let words = words::of(text);
        if words.is_empty() {
            return Self(Vec::new());
        }
        let is_stock = StockPhrases::known().marks(&words);
        let size = GRAM.min(words.len());
        let mut grams: Vec<Gram> = words
            .windows(size)
            .zip(is_stock.windows(size))
            .map(|(words, is_stock)| Gram {
                hash: words::gram(words.iter().map(|word| word.hash)),
                is_own: is_stock.iter().filter(|is_stock| !**is_stock).count() >= OWN_WORDS,
            })
            .collect();
        grams.sort_unstable();
        grams.dedup_by_key(|gram| gram.hash);
        Self(grams)
    }

    pub(super) fn all(&self) -> &[Gram] {
        &self.0
    }
}

/// A hasher for grams, which are hashes already.
#[derive(Clone, Copy, Default)]
pub(super) struct AlreadyHashed;

/// Returns its input.
#[derive(Default)]
pub(super) struct SameNumber(u64);

impl BuildHasher for AlreadyHashed {
    type Hasher = SameNumber;

    fn build_hasher(&self) -> SameNumber {
        SameNumber::default()
    }
}

impl Hasher for SameNumber {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
