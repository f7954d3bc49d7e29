//! `Balance`: shards of equal duration, by the latencies of an earlier run.
//!
//! Greedy: the longest sample first, each into the shard with the least total. Uses whole microseconds and breaks ties
//! by hash, so that the same run gives the same shards on every machine.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::Path;

use crate::data::shard_hash;
use crate::error::{Error, Result};
use crate::eval::plan::Plan;
use crate::run::record::readable::{Readable, readable};
use crate::store::files::RECORDS;
use crate::store::{RunDir, read_lean_records};
use crate::system::project::display;
use crate::text::hash::Hasher;

/// The shards of an eval, balanced by an earlier run.
pub(in crate::run) struct Balance {
    /// The shard of each sample in dataset order, from 0.
    pub(in crate::run) shards: Vec<u32>,
    /// The id of the run with a hash of its results: equal names mean equal shards.
    pub(in crate::run) name: String,
}

impl Balance {
    /// Splits the plan into `of` shards, by the run in this directory.
    ///
    /// # Errors
    /// When that run is of another eval, or was changed.
    pub(in crate::run) fn of(plan: &mut Plan, earlier: &Path, of: u32) -> Result<Self> {
        let Readable { dir, notices } = readable(RunDir::open(earlier)?)?;
        plan.notices.extend(notices);
        let manifest = dir.manifest()?;
        if manifest.eval != plan.eval.name {
            return Err(Error::usage(format!(
                "run `{}` is of eval `{}`, not of `{}`: its latencies do not apply",
                display(dir.path()),
                manifest.eval,
                plan.eval.name
            ))
            .hint("use the spec that the run was made with, or remove `--balance`"));
        }
        let mut took: HashMap<String, u64> = HashMap::new();
        for record in read_lean_records(&dir.file(RECORDS))? {
            let record = record?;
            let sum = took.entry(record.sample_id).or_default();
            *sum = sum.saturating_add(microseconds(record.result.latency_s));
        }
        let samples = plan.items.iter().map(|item| {
            // A latency of zero means that it was never asked.
            let took = took.get(&*item.id).copied().filter(|took| *took > 0);
            (shard_hash(&item.id), took)
        });
        let shards = assigned(&samples.collect::<Vec<_>>(), of);
        let mut hasher = Hasher::default().part("balance").part(of.to_string());
        for (item, shard) in plan.items.iter().zip(&shards) {
            hasher = hasher.part(&*item.id).part(shard.to_string());
        }
        let name = format!("{} {}", manifest.run_id, hasher.short());
        Ok(Self { shards, name })
    }
}

/// A latency as an integer: such sums do not depend on their order.
fn microseconds(seconds: f64) -> u64 {
    let time = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default();
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The shard of each sample, from 0. Samples are a hash and the latency; if that is unknown, the mean is used.
fn assigned(samples: &[(u64, Option<u64>)], of: u32) -> Vec<u32> {
    let known = samples.iter().filter_map(|(_, took)| *took);
    let sum: u128 = known.clone().map(u128::from).sum();
    let mean = sum.checked_div(known.count() as u128);
    // With nothing known, each counts the same.
    let mean = mean.map_or(1, |mean| u64::try_from(mean).unwrap_or(u64::MAX));
    let mut order: Vec<_> = samples
        .iter()
        .zip(0..)
        .map(|((hash, took), place)| (Reverse(took.unwrap_or(mean)), *hash, place))
        .collect();
    order.sort_unstable();
    let mut loads: BinaryHeap<_> = (0..of).map(|shard| Reverse((0_u128, shard))).collect();
    let mut shards = vec![0; samples.len()];
    for (Reverse(took), _, place) in order {
        let Some(mut least) = loads.peek_mut() else {
            break;
        };
        let Reverse((load, shard)) = &mut *least;
        let place: usize = place;
        shards[place] = *shard;
        *load += u128::from(took);
    }
    shards
}

#[cfg(test)]
mod tests;
