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

mod grams;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;

pub(crate) use grams::TextGrams;
use grams::{AlreadyHashed, Gram};

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
