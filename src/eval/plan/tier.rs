//! The tier of a plan.

use std::collections::HashSet;

use super::item::Packed;
use crate::data::dataset::tier_order;
use crate::error::Result;
use crate::eval::tiers::Tiers;
use crate::verdict::gate::{Gate, Slice};

/// The tier of a plan's samples.
#[derive(Clone, Debug)]
pub(crate) struct PlanTier {
    pub(crate) name: String,
    /// The largest tier of the eval, if that has more samples.
    pub(crate) below: Option<String>,
    /// The size of the tier, if the eval has fewer samples.
    wanted: Option<usize>,
    /// How many samples the eval has.
    pub(crate) samples: usize,
}

impl PlanTier {
    /// A notice if the eval is smaller than its tier.
    pub(super) fn notice(&self) -> Option<String> {
        let (name, samples) = (&self.name, self.samples);
        let wanted = self.wanted.filter(|wanted| *wanted > samples)?;
        let all = if samples == 1 { "the one" } else { "all" };
        Some(format!(
            "tier `{name}` needs {wanted} samples, the eval has {samples}: {all} is asked"
        ))
    }
}

/// The tier that runs and its samples, in asking order; all samples if none runs.
pub(super) fn limited(
    (tiers, requested): (&Tiers, Option<&str>),
    is_progressive: bool,
    eval: &str,
    items: &[Packed],
    mut turns: Vec<usize>,
) -> Result<(Option<PlanTier>, Vec<usize>)> {
    let Some(name) = requested else {
        return Ok((None, turns));
    };
    let tier = tiers.named(name, eval)?;
    let samples = turns.len();
    let size = tier.of(samples);
    if is_progressive {
        // One tier after the other, each in the overall order.
        turns = order(items, &turns);
        turns.truncate(size);
    } else if size < samples {
        let order = order(items, &turns);
        let chosen: HashSet<usize> = order[..size].iter().copied().collect();
        turns.retain(|place| chosen.contains(place));
    }
    let tier = PlanTier {
        name: name.to_owned(),
        below: tiers.above(name, samples).map(|it| it.name.clone()),
        wanted: tier.limit,
        samples,
    };
    Ok((Some(tier), turns))
}

/// These places in tier order, stratified by the first slice.
fn order(items: &[Packed], places: &[usize]) -> Vec<usize> {
    let samples = places.iter().map(|&place| {
        let item = &items[place];
        let first = item.slices.first();
        (&*item.id, first.map_or("", |(_, value)| value.as_str()))
    });
    let order = tier_order(samples).into_iter();
    order.map(|place| places[place]).collect()
}

/// How many samples a run asks.
pub(super) struct RunSize<'a> {
    pub(super) items: &'a [Packed],
    /// Samples excluded by a limit.
    pub(super) excluded: &'a HashSet<String>,
    /// Whether the limit is from the command line.
    pub(super) is_limited: bool,
    pub(super) tiers: &'a Tiers,
    /// The tier that runs.
    pub(super) tier: Option<&'a str>,
}

impl RunSize<'_> {
    /// How many samples a run of the eval asks, in total or of a slice, where this gate counts. Ignores a limit of the
    /// command line, under which gates are ignored.
    pub(super) fn of(&self, gate: &Gate, slice: Option<&Slice>) -> Option<u64> {
        let (all, is_limited) = (self.items.len(), self.is_limited);
        if gate.of_tier() != self.tier {
            // The gate is ignored here. The size elsewhere is only known for a tier, unless fewer samples are here.
            let tier = gate.of_tier().and_then(|name| self.tiers.get(name))?;
            let is_whole = slice.is_none() && self.tier.is_none() && !is_limited;
            return is_whole.then(|| tier.of(all) as u64);
        }
        let Some(Slice { dimension, value }) = slice else {
            let limited = if is_limited { self.excluded.len() } else { 0 };
            return (!is_limited || self.tier.is_none()).then_some((all + limited) as u64);
        };
        let is_in = |item: &&Packed| {
            let mut slices = item.slices.iter();
            slices.any(|(of, is)| of == dimension && is == value)
        };
        (!is_limited).then(|| self.items.iter().filter(is_in).count() as u64)
    }
}
