//! `ShardCoverage`: the part of its eval that a run covers, if others complete it.
//!
//! Its samples are written to `places.json` when the run starts and read from there when it is resumed: neither hashes
//! nor recorded latencies are consulted again.

pub(crate) mod balance;
pub(crate) mod merge;
pub(crate) mod siblings;
pub(crate) mod trial_parts;

use crate::data::Shard;
use crate::error::{Error, Result};
use crate::eval::limits::Limits;
use crate::eval::plan::Plan;
use crate::figure::Usd;
use crate::store::places::PartPlaces;
use crate::store::{Manifest, RunDir, RunPart};
use crate::system::project::display;

/// The part of its eval that a run covers.
#[derive(Clone, Debug)]
pub(crate) struct ShardCoverage {
    /// What it is a part of.
    pub(crate) part: RunPart,
    /// The places of its samples in the dataset, ascending.
    pub(crate) places: Vec<usize>,
}

impl ShardCoverage {
    /// The part of an existing run, if it is one.
    ///
    /// # Errors
    /// When its places cannot be read, or are of another dataset.
    pub(super) fn of_run(dir: &RunDir, manifest: &Manifest, plan: &Plan) -> Result<Option<Self>> {
        let Some(part) = &manifest.part else {
            return Ok(None);
        };
        let part = part.clone();
        if part
            .slices
            .as_ref()
            .is_some_and(|was| *was != *plan.slices_hash())
        {
            return Err(changed_dataset(dir));
        }
        let read = PartPlaces::read_as_written(dir, manifest);
        let places = match (read, part.shard) {
            (Ok(read), _) if read.samples != plan.items.len() => return Err(changed_dataset(dir)),
            (Ok(read), _) => read.places,
            // The ids determine the places, too.
            (Err(_), Some(shard)) if part.balance.is_none() => places_of(plan, shard),
            (Err(error), _) => return Err(error),
        };
        Ok(Some(Self { part, places }))
    }

    /// The form in which it is written.
    pub(super) fn as_places(&self, plan: &Plan) -> PartPlaces {
        PartPlaces::new(plan.items.len(), self.places.clone())
    }

    /// The eval's limits for this part: all parts together stay within them.
    pub(super) fn limits(&self, limits: &Limits, plan: &Plan) -> Limits {
        match self.part.shard {
            Some(shard) => limits.of_part(shard.of(), self.places.len(), plan.items.len()),
            None => limits.clone(),
        }
    }

    /// Refuses a shard for which the eval's budget is too small to ask anything.
    ///
    /// # Errors
    /// When its share of a budget is zero.
    pub(super) fn check_budget(&self, plan: &Plan) -> Result<()> {
        let limits = &plan.eval.limits;
        let (all, own) = (&limits.budget, self.limits(limits, plan).budget);
        let shares = [
            ("requests", all.requests, own.requests),
            ("tokens", all.tokens, own.tokens),
        ];
        let nothing = shares
            .iter()
            .find(|(_, all, own)| all.is_some_and(|all| all > 0) && *own == Some(0));
        let (Some((what, Some(all), _)), false) = (nothing, self.places.is_empty()) else {
            return Ok(());
        };
        let (description, count, samples) =
            (self.part.description(), self.places.len(), plan.items.len());
        Err(Error::usage(format!(
            "{description} has {count} of {samples} samples, so its share of `limits.budget.{what}` ({all} {what}) is 0"
        ))
        .hint(format!(
            "use fewer shards, or raise the budget: --set limits.budget.{what}=N"
        )))
    }

    /// The message when a shard starts.
    pub(super) fn description(&self, limits: &Limits, plan: &Plan) -> Option<String> {
        let shard = self.part.shard?;
        let all = plan.items.len();
        let mut description = match self.places.len() {
            0 => return Some(format!("shard {shard}: 0 of {all} samples")),
            own => format!("shard {shard}: {own} of {all} samples"),
        };
        let budget = &limits.budget;
        let bounds = [
            budget.cost_usd.map(|usd| format!("{} at most", Usd(usd))),
            budget
                .tokens
                .map(|tokens| format!("{tokens} tokens at most")),
            budget
                .requests
                .map(|requests| format!("{requests} requests at most")),
            limits
                .requests_per_minute
                .map(|rate| format!("{} requests a minute", plain(rate))),
            limits
                .tokens_per_minute
                .map(|rate| format!("{} tokens a minute", plain(rate))),
        ];
        for bound in bounds.into_iter().flatten() {
            description += ", ";
            description += &bound;
        }
        Some(description)
    }
}

/// The error for a partial run whose places are not of the current dataset.
fn changed_dataset(dir: &RunDir) -> Error {
    Error::usage(format!(
        "run `{}` cannot continue: the dataset has changed since",
        display(dir.path())
    ))
    .hint("undo the change, or start a new run without `--resume`")
}

/// The places of the samples in a shard, by their ids.
pub(super) fn places_of(plan: &Plan, shard: Shard) -> Vec<usize> {
    let places = 0..plan.items.len();
    places
        .filter(|place| shard.has_hash(plan.shard_hash(*place)))
        .collect()
}

/// A rate without insignificant digits.
fn plain(rate: f64) -> String {
    let text = format!("{rate:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
