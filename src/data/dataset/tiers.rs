//! The sample order that tiers are prefixes of, so that each tier contains the smaller ones.
//!
//! Every prefix of the order contains each stratum in proportion. Within a stratum samples are ordered by a hash of
//! their id, which is independent of other samples; sample `r` of the `n` of a stratum has the position
//! `(r - 1 + start) / n`. With a start of one half this is the Webster/Sainte-Laguë method. A small stratum has a
//! start derived from the hash of its name: otherwise a hundred strata of one sample each would all be in the middle,
//! and none at the beginning.

use std::collections::HashMap;

use crate::text::hash::Hasher;

/// Strata smaller than this fraction (1/16) of all samples have a start derived from their hash.
const SMALL: u64 = 16;

/// The denominator of starts.
const WHOLE: u64 = 1 << 16;

/// The indices of samples, given by id and stratum, in the order for tiers. The result does not depend on the input
/// order.
pub(crate) fn tier_order<'a>(samples: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<usize> {
    let mut strata = HashMap::<&str, Vec<TierSample<'_>>>::new();
    let mut all: usize = 0;
    for (place, (id, stratum)) in samples.into_iter().enumerate() {
        let hash = hash("sample", id);
        let sample = TierSample { hash, id, place };
        strata.entry(stratum).or_default().push(sample);
        all += 1;
    }
    let mut positions = Vec::with_capacity(all);
    for (stratum, mut samples) in strata {
        samples.sort_unstable();
        let size = samples.len() as u64;
        let start = if size * SMALL >= all as u64 {
            WHOLE / 2
        } else {
            hash("stratum", stratum) % WHOLE
        };
        for (rank, sample) in (0..).zip(samples) {
            let way = rank * WHOLE + start;
            positions.push((TierPosition { way, size }, sample));
        }
    }
    positions.sort_unstable_by(|(a, sample), (b, other)| a.cmp(b).then_with(|| sample.cmp(other)));
    positions
        .into_iter()
        .map(|(_, sample)| sample.place)
        .collect()
}

fn hash(of: &str, text: &str) -> u64 {
    let bytes = Hasher::default().part("tier").part(of).part(text);
    u64::from_be_bytes(bytes.first_bytes())
}

/// The sort key of a sample within its stratum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TierSample<'a> {
    hash: u64,
    id: &'a str,
    place: usize,
}

/// Position of a sample, as the exact fraction `way / size`.
#[derive(Clone, Copy)]
struct TierPosition {
    way: u64,
    size: u64,
}

impl TierPosition {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let left = u128::from(self.way) * u128::from(other.size);
        left.cmp(&(u128::from(other.way) * u128::from(self.size)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::stats::SplitMix64;

    /// Ids and strata of these sizes.
    fn samples(sizes: &[usize]) -> Vec<(String, String)> {
        let strata = sizes.iter().enumerate();
        let of = |(stratum, &size): (usize, &usize)| {
            (0..size).map(move |n| (format!("{stratum}-{n}"), stratum.to_string()))
        };
        strata.flat_map(of).collect()
    }

    fn ordered(samples: &[(String, String)]) -> Vec<&(String, String)> {
        let order = tier_order(samples.iter().map(|(id, stratum)| (&**id, &**stratum)));
        let mut places = order.clone();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..samples.len()));
        order.into_iter().map(|place| &samples[place]).collect()
    }

    fn random_sizes(random: &mut SplitMix64, strata: usize, most: usize) -> Vec<usize> {
        (0..strata).map(|_| 1 + random.below(most)).collect()
    }

    #[test]
    fn every_beginning_has_of_each_stratum_its_share_within_one() {
        let mut random = SplitMix64(1);
        for case in 0..300 {
            let strata = 1 + case % 3;
            // With so few strata none is small: the smallest has at least one in sixteen samples.
            let mut sizes = random_sizes(&mut random, strata, 60);
            let least = sizes.iter().sum::<usize>().div_ceil(8);
            for size in &mut sizes {
                *size = least.max(*size);
            }
            let samples = samples(&sizes);
            let mut seen = BTreeMap::<&str, usize>::new();
            for (number, (_, stratum)) in (1..).zip(ordered(&samples)) {
                *seen.entry(stratum).or_default() += 1;
                for (stratum, size) in sizes.iter().enumerate() {
                    let is = seen.get(&*stratum.to_string()).copied().unwrap_or(0);
                    // Exactly, as a fraction of one sample.
                    let off = (is * samples.len()).abs_diff(number * size);
                    assert!(off < samples.len(), "{sizes:?}: {is} of {number}");
                }
            }
        }
    }

    #[test]
    fn many_small_strata_are_spread_evenly() {
        let sizes: Vec<usize> = [100].into_iter().chain([1; 100]).collect();
        let samples = samples(&sizes);
        let order = ordered(&samples);
        for number in [20, 50, 100, 150] {
            let beginning = order[..number].iter();
            let large = beginning.filter(|(_, stratum)| stratum == "0").count();
            assert!(large.abs_diff(number / 2) <= 12, "{large} of {number}");
        }
    }

    #[test]
    fn a_sample_that_comes_in_moves_at_most_one_out_of_a_tier() {
        let mut random = SplitMix64(2);
        let (mut crossed, mut moved) = (0, 0);
        for case in 0..400 {
            let sizes = random_sizes(&mut random, 1 + case % 7, 30);
            let before = samples(&sizes);
            let stratum = random.below(sizes.len() + 1);
            let mut after = before.clone();
            let at = random.below(before.len() + 1);
            after.insert(at, (format!("new {case}"), stratum.to_string()));
            let is_small = |samples: &[(String, String)]| {
                let all = samples.len();
                let small = |of: usize| {
                    let size = samples.iter().filter(|it| it.1 == of.to_string()).count();
                    size > 0 && size * 16 < all
                };
                (0..=sizes.len()).map(small).collect::<Vec<_>>()
            };
            // A stratum that becomes small, or stops being small, gets a different start.
            let [is, was] = [&after, &before].map(|samples| is_small(samples));
            let is_another = (0..sizes.len()).any(|of| is[of] != was[of]);
            crossed += usize::from(is_another);
            let [old, new] = [&before, &after].map(|samples| ordered(samples));
            for size in 1..=before.len() {
                let old: BTreeSet<_> = old[..size].iter().collect();
                let new: BTreeSet<_> = new[..size].iter().collect();
                let out = old.difference(&new).count();
                assert!(
                    out <= 1 + usize::from(is_another),
                    "{sizes:?} {size}: {out}"
                );
                moved += out;
            }
        }
        assert!(crossed < 40 && moved > 1000, "{crossed} {moved}");
    }

    #[test]
    fn the_order_never_changes_and_is_that_of_no_dataset() {
        let samples = samples(&[4, 2]);
        let ids = |samples: &[(String, String)]| {
            let ids = ordered(samples).into_iter().map(|(id, _)| id.clone());
            ids.collect::<Vec<_>>()
        };
        assert_eq!(ids(&samples), ["0-3", "1-1", "0-0", "0-1", "1-0", "0-2"]);
        let turned: Vec<_> = samples.iter().rev().cloned().collect();
        assert_eq!(ids(&samples), ids(&turned));
        assert_eq!(tier_order([]), Vec::<usize>::new());
    }
}
