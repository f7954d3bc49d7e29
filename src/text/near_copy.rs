//! Near copies: which of many texts a new one was copied from, though its numbers are others.
//!
//! Texts are cut into [words], numbers masked, and those into grams of eight. The share of a new text's grams that another
//! text has as well, its *containment*, tells copies from texts that merely are about the same: two genuine contest
//! problems have hardly ever half of them in common. The index has a list of texts for each gram, so that a look costs
//! what the grams of one text cost, however many texts there are.
//!
//! Grams that say nothing about a text do not count:
//! - those of [stock] phrases, such as the way in which a problem asks for a fraction in lowest terms: more than half of
//!   a short one may be that;
//! - those of more than ten texts and of more than one in a hundred: a field has phrases of its own.
//!
//! Where hardly any other is left, they do count, for a copy of a text of nothing but such phrases is still one. A text of
//! fewer than eight words is one gram, so that it is only a copy of the same words. A text without any word is a copy of
//! nothing.

mod grams;
mod stock;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;

pub(crate) use grams::TextGrams;
use grams::{AlreadyHashed, Gram};

/// As many texts may have a gram before it is common.
const COMMON: u64 = 10;
/// Common grams count where fewer than so many others are left.
const FEW: usize = 4;

/// Texts, and which of them a new one is nearest to.
#[derive(Default)]
pub struct NearCopies {
    ids: Vec<String>,
    grams: HashMap<u64, GramTexts, AlreadyHashed>,
    /// The lists of all grams in one piece: most have a single text, and a list each would take three times as much.
    links: Vec<Link>,
}

/// The text that a new one shares most with.
#[derive(Clone, Debug, PartialEq)]
pub struct NearCopy {
    /// Its id.
    pub id: String,
    /// The share of the new text's grams that it has, above 0 and up to 1.
    pub share: f64,
}

/// The texts of a gram: how many, and where the list of them begins.
#[derive(Clone, Copy)]
struct GramTexts {
    count: u64,
    last: Option<usize>,
}

/// A text of a gram, and where the text before it in that gram's list is.
#[derive(Clone, Copy)]
struct Link {
    text: usize,
    before: Option<usize>,
}

impl NearCopies {
    /// No texts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text, which later ones are then compared with.
    pub fn add(&mut self, id: &str, text: &str) {
        self.add_grams(id, &TextGrams::of(text));
    }

    /// Adds a text of these grams.
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

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The text that has most of this one's grams, the first of equals; `None` where no text has any.
    pub fn nearest(&self, text: &str) -> Option<NearCopy> {
        self.nearest_of(&TextGrams::of(text))
    }

    /// The text that has most of these grams.
    pub(crate) fn nearest_of(&self, grams: &TextGrams) -> Option<NearCopy> {
        let grams = self.telling(grams.all());
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
    fn telling(&self, grams: &[Gram]) -> Vec<Gram> {
        let own: Vec<Gram> = grams.iter().copied().filter(|gram| gram.is_own).collect();
        let own = if own.is_empty() { grams.to_vec() } else { own };
        let common = COMMON.max(self.ids.len() as u64 / 100);
        let is_rare =
            |gram: &Gram| (self.grams.get(&gram.hash)).is_none_or(|list| list.count <= common);
        let rare: Vec<Gram> = own.iter().copied().filter(is_rare).collect();
        if rare.len() < FEW { own } else { rare }
    }
}
