//! `TextGrams`: the grams of a text, computed once for all comparisons.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use super::words;
use super::words::CopyWord;

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

const WORDS: usize = 4;

/// Phrases of mathematical problems.
const PHRASES: [&str; 22] = [
    "can be written in the form \\frac{m}{n}, where m and n are relatively prime positive integers. Find m + n.",
    "can be expressed as \\frac{m}{n}, where m and n are relatively prime positive integers. What is m + n?",
    "can be expressed as a fraction \\frac{m}{n} in lowest terms, where m and n are coprime positive integers. Compute m + n.",
    "can be written as m/n, where m and n are relatively prime. Find the value of m + n.",
    "is \\frac{m}{n}, where m and n are relatively prime positive integers. Determine m + n.",
    "Let \\frac{m}{n} be the probability that, where m and n are relatively prime positive integers",
    "can be expressed in the form \\frac{a\\sqrt{b}}{c}, where a, b, and c are positive integers, a and c are relatively prime, \
     and b is not divisible by the square of any prime. Find a + b + c.",
    "can be written in the form a\\sqrt{b}, where a and b are positive integers and b is not divisible by the square of any \
     prime. Find a + b.",
    "can be written as m\\sqrt{n}, where m and n are positive integers and n is not divisible by the square of any prime \
     number. Find m + n.",
    "where a, b, c, and d are positive integers, and c is not divisible by the square of any prime. Find a + b + c + d.",
    "can be written in the form m + \\sqrt{n}, where m and n are integers. Find m + n.",
    "can be written in the form a\\pi + b\\sqrt{c}, where a, b, and c are integers",
    "Find the remainder when N is divided by 1000.",
    "Find the remainder when the product is divided by 1000. What is the remainder when this number is divided by 1000?",
    "Find the number of ordered pairs (a, b) of positive integers such that",
    "Find the number of ordered triples (a, b, c) of nonnegative integers that satisfy the equation",
    "How many ordered pairs (a, b) of integers satisfy the equation",
    "Find the number of positive integers n less than or equal to 1000 such that",
    "Find the greatest integer less than or equal to",
    "Find the sum of all possible values of the sum of all positive integers n such that",
    "Find the least positive integer n such that, the smallest positive integer n for which",
    "Express your answer as a common fraction. Give your answer as an integer between 0 and 999.",
];

/// The stock phrases, four words at a time.
pub(super) struct StockPhrases(HashSet<u64, AlreadyHashed>);

impl StockPhrases {
    /// The list of all phrases.
    pub(super) fn known() -> &'static Self {
        static KNOWN: LazyLock<StockPhrases> = LazyLock::new(StockPhrases::new);
        &KNOWN
    }

    fn new() -> Self {
        let phrases = PHRASES.iter().map(|phrase| words::of(phrase));
        let parts = phrases.flat_map(|words| words.windows(WORDS).map(part).collect::<Vec<_>>());
        Self(parts.collect())
    }

    /// For each word, whether it is part of a stock phrase.
    pub(super) fn marks(&self, words: &[CopyWord]) -> Vec<bool> {
        let mut marks = vec![false; words.len()];
        for (place, words) in words.windows(WORDS).enumerate() {
            if self.0.contains(&part(words)) {
                marks[place..place + WORDS].fill(true);
            }
        }
        marks
    }
}

fn part(words: &[CopyWord]) -> u64 {
    words::gram(words.iter().map(|word| word.unnamed))
}
