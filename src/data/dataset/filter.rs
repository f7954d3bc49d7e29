//! `Filter`: selects and orders the samples of a benchmark.

use std::collections::HashSet;

use crate::data::Sample;
use crate::error::{Error, Result, nearest};
use crate::stats::SplitMix64;

/// Selects ids, then shuffles, then limits, as far as each is set.
///
/// # The shuffle
///
/// The order for a seed is a stable guarantee: the same on every platform and in every version, so that
/// `shuffle: { seed: 7 }` with `limit: 50` selects the same 50 samples for everyone. It is Fisher–Yates from the last
/// position down to the second: for `i` from `n - 1` to `1`, the samples at `i` and `j` are swapped, where `j` is the
/// upper 64 bits of the 128-bit product of the next random number and `i + 1`. The numbers are those of `SplitMix64`
/// with the seed as its first state: the state grows by `0x9E3779B97F4A7C15`, and the number is the state mixed
/// (`z ^= z >> 30`, `z *= 0xBF58476D1CE4E5B9`, `z ^= z >> 27`, `z *= 0x94D049BB133111EB`, `z ^= z >> 31`), all modulo
/// 2⁶⁴.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Select these samples, in the order of the dataset.
    pub ids: Option<Vec<String>>,
    /// Shuffle with this seed.
    pub seed: Option<u64>,
    /// Maximum number of samples.
    pub limit: Option<usize>,
}

impl Filter {
    /// The selected samples, possibly none. An unknown id is an error.
    pub fn apply(&self, mut samples: Vec<Sample>) -> Result<Vec<Sample>> {
        if let Some(ids) = &self.ids {
            samples = select(samples, ids)?;
        }
        self.arrange(&mut samples);
        Ok(samples)
    }

    /// Streaming selection by id. Shuffle and limit are applied later by the plan, not by the dataset.
    pub(crate) fn stream(&self) -> WantedIds<'_> {
        WantedIds::of(self.ids.as_deref())
    }

    /// Indices of the samples after shuffle and limit.
    pub(crate) fn order(&self, samples: usize) -> Vec<usize> {
        let mut order = (0..samples).collect();
        self.arrange(&mut order);
        order
    }

    fn arrange<T>(&self, samples: &mut Vec<T>) {
        if let Some(seed) = self.seed {
            shuffle(samples, seed);
        }
        if let Some(limit) = self.limit {
            samples.truncate(limit);
        }
    }
}

fn select(mut samples: Vec<Sample>, ids: &[String]) -> Result<Vec<Sample>> {
    let mut wanted = WantedIds::of(Some(ids));
    samples.retain(|sample| wanted.passes(&sample.id));
    wanted.finish()?;
    Ok(samples)
}

/// Streaming selection of ids.
pub(crate) struct WantedIds<'a> {
    ids: Option<&'a [String]>,
    wanted: HashSet<&'a str>,
    /// All ids seen, for the error about a missing one.
    seen: Vec<Box<str>>,
}

impl<'a> WantedIds<'a> {
    fn of(ids: Option<&'a [String]>) -> Self {
        Self {
            ids,
            wanted: ids.unwrap_or_default().iter().map(String::as_str).collect(),
            seen: Vec::new(),
        }
    }

    pub(crate) fn passes(&mut self, id: &str) -> bool {
        if self.ids.is_none() {
            return true;
        }
        self.seen.push(id.into());
        self.wanted.contains(id)
    }

    /// # Errors
    /// If a wanted id was not seen.
    pub(crate) fn finish(self) -> Result<()> {
        let seen: HashSet<&str> = self.seen.iter().map(|id| &**id).collect();
        let mut ids = self.ids.unwrap_or_default().iter();
        let Some(id) = ids.find(|id| !seen.contains(id.as_str())) else {
            return Ok(());
        };
        let error = Error::usage(format!(
            "no sample `{}` among {}",
            id.escape_debug(),
            self.seen.len()
        ));
        Err(match nearest(id, self.seen.iter().map(|id| &**id)) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("`cargo evaltest list` shows all ids"),
        })
    }
}

pub(crate) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut random = SplitMix64(seed);
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: usize) -> Vec<Sample> {
        (0..count)
            .map(|n| Sample::new(format!("s{n}"), "?"))
            .collect()
    }

    #[track_caller]
    fn check(filter: &Filter, count: usize, expect: &[&str]) {
        let remaining = filter.apply(samples(count)).unwrap();
        let ids: Vec<_> = remaining.iter().map(|sample| sample.id.as_str()).collect();
        assert_eq!(ids, expect);
    }

    #[test]
    fn the_order_for_a_seed_never_changes() {
        let seed = |seed| Filter {
            seed: Some(seed),
            ..Filter::default()
        };
        check(
            &seed(7),
            8,
            &["s7", "s4", "s6", "s1", "s2", "s5", "s0", "s3"],
        );
        check(
            &seed(0),
            8,
            &["s1", "s2", "s6", "s5", "s4", "s0", "s3", "s7"],
        );
        check(&seed(7), 1, &["s0"]);
        check(&seed(7), 0, &[]);
    }

    #[test]
    fn shuffled_orders_are_even() {
        let mut first = [0_u32; 4];
        for seed in 0..4000 {
            let mut items = [0, 1, 2, 3];
            shuffle(&mut items, seed);
            first[items[0]] += 1;
        }
        assert!(first.iter().all(|n| (850..1150).contains(n)), "{first:?}");
    }

    #[test]
    fn ids_then_shuffle_then_limit() {
        let filter = Filter {
            ids: Some(vec!["s3".into(), "s1".into(), "s1".into()]),
            ..Filter::default()
        };
        check(&filter, 5, &["s1", "s3"]);
        let limit = Filter {
            limit: Some(2),
            ..Filter::default()
        };
        check(&limit, 5, &["s0", "s1"]);
        check(&limit, 1, &["s0"]);
        let all = Filter {
            ids: Some(samples(50).into_iter().map(|s| s.id).collect()),
            seed: Some(3),
            limit: Some(50),
        };
        let mut ids: Vec<_> = all.apply(samples(50)).unwrap();
        ids.sort_by_key(|sample| sample.id[1..].parse::<u32>().unwrap());
        assert!(
            ids.iter()
                .map(|s| &s.id)
                .eq(samples(50).iter().map(|s| &s.id))
        );
    }

    #[test]
    fn an_unknown_id_names_the_nearest() {
        let filter = Filter {
            ids: Some(vec!["s33".into()]),
            ..Filter::default()
        };
        let error = filter.apply(samples(5)).unwrap_err();
        assert_eq!(error.message(), "no sample `s33` among 5");
        assert!(error.hint_text().unwrap().starts_with("did you mean `s"));
    }
}
