//! `ReferencePairs`: selects what each item is compared with.
//!
//! Items that share an id with a reference are compared with it. If none of a benchmark's ids match, its references are
//! drawn randomly, each equally often.

use std::collections::{HashMap, HashSet};

use super::references::{Reference, References};
use crate::error::{Error, Result};
use crate::stats::SplitMix64;

/// How many ids an error lists.
const NAMED: usize = 3;

/// What each item is compared with.
#[derive(Clone, Debug, Default)]
pub(super) struct ReferencePairs {
    /// Reference ids by item id. Items without an entry were not drawn, or have no reference.
    of: HashMap<String, String>,
    /// Whether references were drawn randomly. Then they have nothing in common with their items.
    pub(super) by_lot: bool,
    /// The number of items that could have been drawn, and of those whose reference has no answer.
    candidates: usize,
    unanswered: usize,
}

/// How pairs are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Draw {
    /// How many; `None` for all.
    pub(super) pairs: Option<u64>,
    pub(super) seed: u64,
}

impl ReferencePairs {
    /// Pairs items with references.
    ///
    /// # Errors
    /// When they have no item in common.
    pub(super) fn of(ids: &[&str], references: &References, draw: Draw) -> Result<Self> {
        let mut random = SplitMix64(draw.seed);
        let shared = ids.iter().copied();
        let shared: Vec<&str> = shared
            .filter(|id| references.items.contains_key(*id))
            .collect();
        let by_lot = shared.is_empty() && references.are_samples();
        if shared.is_empty() && !by_lot {
            return Err(Self::disjoint(ids, references));
        }
        let all: Vec<&str> = if by_lot { ids.to_vec() } else { shared };
        let answered = |id: &&str| by_lot || references.items[*id].is_answered();
        let mut chosen: Vec<&str> = all.iter().copied().filter(answered).collect();
        let (candidates, unanswered) = (chosen.len(), all.len() - chosen.len());
        if chosen.is_empty() {
            let error = Error::usage(format!(
                "`against` shares {unanswered} items with the judged answers, but answers none of them"
            ));
            return Err(error.hint("name answers, or a benchmark with ground truths"));
        }
        // The draw does not depend on the order of the dataset.
        chosen.sort_unstable();
        chosen.dedup();
        if draw.pairs.is_some() || by_lot {
            shuffle(&mut chosen, &mut random);
        }
        if let Some(pairs) = draw.pairs.and_then(|pairs| usize::try_from(pairs).ok()) {
            chosen.truncate(pairs);
        }
        let partners: Vec<&str> = if by_lot {
            in_turns(&references.order, chosen.len(), &mut random)
        } else {
            chosen.clone()
        };
        let of = chosen.into_iter().zip(partners);
        let of = of.map(|(id, partner)| (id.to_owned(), partner.to_owned()));
        Ok(Self {
            of: of.collect(),
            by_lot,
            candidates,
            unanswered,
        })
    }

    /// The error for an `against` without anything to compare with.
    fn disjoint(ids: &[&str], references: &References) -> Error {
        let named = |ids: &mut dyn Iterator<Item = &str>| {
            let named: Vec<String> = ids
                .take(NAMED)
                .map(|id| format!("`{}`", id.escape_debug()))
                .collect();
            named.join(", ")
        };
        let here = named(&mut ids.iter().copied());
        let there = named(&mut references.order.iter().map(String::as_str));
        Error::usage(format!(
            "`against` shares no item with the judged answers: here are {here}, there {there}"
        ))
        .hint("name answers to the same questions: items are paired by their ids")
    }

    /// The id of the reference that an item is compared with.
    pub(super) fn partner(&self, id: &str) -> Option<&str> {
        self.of.get(id).map(String::as_str)
    }

    /// Notices about the pairs.
    pub(super) fn notices(&self, draw: Draw) -> Vec<String> {
        let mut notices = Vec::new();
        if self.by_lot {
            let drawn: HashSet<&String> = self.of.values().collect();
            notices.push(format!(
                "`against` shares no id with the items: each of {} is compared with one of {} references sampled at \
                 random, and only the two texts are shown",
                self.of.len(),
                drawn.len()
            ));
        }
        if self.unanswered > 0 {
            notices.push(format!(
                "`against` has no answer to {} of the items that it shares: they are not compared",
                self.unanswered
            ));
        }
        let wanted = draw.pairs.and_then(|pairs| usize::try_from(pairs).ok());
        if let Some(wanted) = wanted.filter(|wanted| *wanted > self.candidates) {
            notices.push(format!(
                "`pairs` is {wanted}, and there are {}",
                self.candidates
            ));
        }
        notices
    }
}

impl References {
    fn are_samples(&self) -> bool {
        let mut items = self.items.values();
        items.any(|item| matches!(item, Reference::Sample { .. }))
    }
}

/// Draws `count` of these; none is repeated before all others were drawn.
fn in_turns<'a>(all: &'a [String], count: usize, random: &mut SplitMix64) -> Vec<&'a str> {
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let mut turn: Vec<&str> = all.iter().map(String::as_str).collect();
        shuffle(&mut turn, random);
        turn.truncate(count - drawn.len());
        drawn.extend(turn);
    }
    drawn
}

/// A uniformly random order. Source: R. Durstenfeld, *Algorithm 235: random permutation*, CACM 7 (1964).
fn shuffle<T>(all: &mut [T], random: &mut SplitMix64) {
    for place in (1..all.len()).rev() {
        all.swap(place, random.below(place + 1));
    }
}

#[cfg(test)]
mod tests;
