//! Which part of an eval a command asks.

use super::SampleChoice;
use crate::data::Shard;
use crate::error::{Error, Result};
use crate::eval::plan::Plan;
use crate::run::shard::balance::Balance;
use crate::run::shard::{ShardCoverage, places_of};
use crate::store::{Manifest, RunDir, RunPart};
use crate::text::clean;
use crate::text::setting::Override;

impl SampleChoice {
    /// The requested shard, split by sample id or by the latencies of an earlier run.
    ///
    /// # Errors
    /// When the earlier run is of another eval or was changed.
    pub(super) fn shard_of(&self, plan: &mut Plan) -> Result<Option<ShardCoverage>> {
        let Some(shard) = self.shard else {
            return Ok(None);
        };
        let overrides = &plan.eval.overrides;
        let is_drawn = overrides
            .iter()
            .any(|change| change.key == Override::DRAWN_SEED);
        if is_drawn && plan.is_limited() {
            let message = "each shard would draw other samples: `--shuffle` has no seed, and the samples are limited";
            return Err(Error::usage(message).hint("use the same seed for all shards: `--seed 7`"));
        }
        let mut part = RunPart {
            shard: Some(shard),
            slices: Some(plan.slices_hash().into_owned()),
            whole: !self.partial && !plan.is_limited(),
            ..RunPart::default()
        };
        let Some(earlier) = &self.balance else {
            let places = places_of(plan, shard);
            return Ok(Some(ShardCoverage { part, places }));
        };
        let balance = Balance::of(plan, earlier, shard.of())?;
        let shards = balance.shards.iter().zip(0..);
        let own = shards.filter(|(of, _)| **of + 1 == shard.index());
        part.balance = Some(balance.name);
        Ok(Some(ShardCoverage {
            places: own.map(|(_, place)| place).collect(),
            part,
        }))
    }

    /// The part that a continued run covers: a shard stays that shard. A partial run left by nextest becomes the whole
    /// run.
    ///
    /// # Errors
    /// When another shard is requested, or the samples of the part are no longer known.
    pub(super) fn part_of(&self, dir: &RunDir, plan: &Plan) -> Result<Option<ShardCoverage>> {
        let manifest = dir.manifest()?;
        check_shard(&manifest, self.shard)?;
        if manifest.is_from_tests() {
            return Ok(None);
        }
        ShardCoverage::of_run(dir, &manifest, plan)
    }
}

/// Refuses to continue a run as a different shard.
fn check_shard(manifest: &Manifest, requested: Option<Shard>) -> Result<()> {
    let is = manifest.part.as_ref().and_then(|part| part.shard);
    let Some(requested) = requested.filter(|requested| is != Some(*requested)) else {
        return Ok(());
    };
    let id = clean(&manifest.run_id);
    let is = is.map_or_else(|| "no shard".to_owned(), |is| format!("shard {is}"));
    let message = format!("run `{id}` is {is}, not {requested}, and continues as it began");
    Err(Error::usage(message).hint("remove `--shard`, or start a new run without `--resume`"))
}
