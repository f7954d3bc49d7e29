//! Near copies: finds the text that a new one was copied from, even if its numbers were changed.
//!
//! Texts are split into [words], with numbers masked, and those into grams of eight. The *containment*, which is the
//! share of a new text's grams that another text has too, tells copies from texts on the same subject: two genuine
//! contest problems hardly ever share half of their grams. The index lists the texts of each gram, so a lookup costs as
//! much as the grams of one text, however many texts there are.
//!
//! Grams that are not specific to a text do not count:
//! - those of [stock] phrases, such as asking for a fraction in lowest terms, which can be more than half of a short
//!   text;
//! - those found in more than ten texts and in more than one in a hundred, as a field has phrases of its own.
//!
//! If hardly any others remain, they do count, so that a copy of a text made of such phrases is still found. A text of
//! fewer than eight words is a single gram and only a copy of the same words. A text without words is never a copy.

#[cfg(test)]
mod tests;
mod words;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use words::CopyWord;

/// A gram found in more texts may be common.
const COMMON: u64 = 10;
/// Common grams count if fewer than this many others remain.
const FEW: usize = 4;

/// An index of texts that finds the nearest one to a new text.
#[derive(Default)]
pub struct NearCopies {
    ids: Vec<String>,
    grams: HashMap<u64, GramTexts, AlreadyHashed>,
    /// The lists of all grams in one vector: most have a single text, and separate lists would take three times the
    /// memory.
    links: Vec<Link>,
}

/// The text with the largest share of a new text's grams.
#[derive(Clone, Debug, PartialEq)]
pub struct NearCopy {
    /// Its id.
    pub id: String,
    /// The share of the new text's grams that it contains, above 0 and at most 1.
    pub share: f64,
}

/// The texts of a gram: their number, and the head of their list.
#[derive(Clone, Copy)]
struct GramTexts {
    count: u64,
    last: Option<usize>,
}

/// A text of a gram, and the link to the previous text of the same gram.
#[derive(Clone, Copy)]
struct Link {
    text: usize,
    before: Option<usize>,
}

impl NearCopies {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text to the index.
    pub fn add(&mut self, id: &str, text: &str) {
        self.add_grams(id, &TextGrams::of(text));
    }

    /// Adds a text by its grams.
    pub(crate) fn add_grams(&mut self, id: &str, grams: &TextGrams) {
        let number = self.ids.len();
        self.ids.push(id.to_owned());
        for gram in grams.all() {
            let place = self.links.len();
            let list = self.grams.entry(gram.hash).or_insert(GramTexts {
                count: 0,
                last: None,
            });
            self.links.push(Link {
                text: number,
                before: list.last,
            });
            list.count += 1;
            list.last = Some(place);
        }
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The text with the most of this one's grams, the first of equals; `None` if no text has any.
    pub fn nearest(&self, text: &str) -> Option<NearCopy> {
        self.nearest_of(&TextGrams::of(text))
    }

    /// The text with the most of these grams.
    pub(crate) fn nearest_of(&self, grams: &TextGrams) -> Option<NearCopy> {
        let grams = self.significant(grams.all());
        let mut shared = vec![0_u32; self.ids.len()];
        let (mut nearest, mut most) = (None, 0);
        for gram in &grams {
            let mut next = self.grams.get(&gram.hash).and_then(|list| list.last);
            while let Some(place) = next {
                let Link { text, before } = self.links[place];
                let count = shared[text] + 1;
                shared[text] = count;
                if count > most || (count == most && nearest.is_none_or(|first| text < first)) {
                    (nearest, most) = (Some(text), count);
                }
                next = before;
            }
        }
        Some(NearCopy {
            id: self.ids[nearest?].clone(),
            share: f64::from(most) / f64::from(u32::try_from(grams.len()).unwrap_or(u32::MAX)),
        })
    }

    /// The grams that count.
    fn significant(&self, grams: &[Gram]) -> Vec<Gram> {
        let own: Vec<Gram> = grams.iter().copied().filter(|gram| gram.is_own).collect();
        let own = if own.is_empty() { grams.to_vec() } else { own };
        let common = COMMON.max(self.ids.len() as u64 / 100);
        let is_rare =
            |gram: &Gram| (self.grams.get(&gram.hash)).is_none_or(|list| list.count <= common);
        let rare: Vec<Gram> = own.iter().copied().filter(is_rare).collect();
        if rare.len() < FEW { own } else { rare }
    }
}

/// Words per gram.
const GRAM: usize = 8;
/// A gram is a text's own if at least this many of its words are outside stock phrases.
const OWN_WORDS: usize = 4;

/// The distinct grams of a text.
#[derive(Clone, Debug)]
pub(crate) struct TextGrams(Vec<Gram>);

/// A gram of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Gram {
    hash: u64,
    is_own: bool,
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

    fn all(&self) -> &[Gram] {
        &self.0
    }
}

/// A hasher for grams, which are hashes already.
#[derive(Clone, Copy, Default)]
struct AlreadyHashed;

/// Returns its input.
#[derive(Default)]
struct SameNumber(u64);

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

// Stock phrases: wording that genuine problems of a field share, as they ask for a form of answer in the same way.
//
// An index of few texts cannot recognise them by frequency, so they are listed here. A name of one letter stands for
// any other, and so does a number. Any four consecutive words of a phrase are stock.

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
struct StockPhrases(HashSet<u64, AlreadyHashed>);

impl StockPhrases {
    /// The list of all phrases.
    fn known() -> &'static Self {
        static KNOWN: LazyLock<StockPhrases> = LazyLock::new(StockPhrases::new);
        &KNOWN
    }

    fn new() -> Self {
        let phrases = PHRASES.iter().map(|phrase| words::of(phrase));
        let parts = phrases.flat_map(|words| words.windows(WORDS).map(part).collect::<Vec<_>>());
        Self(parts.collect())
    }

    /// For each word, whether it is part of a stock phrase.
    fn marks(&self, words: &[CopyWord]) -> Vec<bool> {
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
