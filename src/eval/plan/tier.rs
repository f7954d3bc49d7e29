//! The tier that a plan is of.

use std::collections::HashSet;

use super::item::Packed;
use crate::data::dataset::tier_order;
use crate::error::Result;
use crate::eval::tiers::Tiers;
use crate::verdict::gate::{Gate, Slice};

/// The tier whose samples a plan has.
#[derive(Clone, Debug)]
pub(crate) struct PlanTier {
    pub(crate) name: String,
    /// The largest tier of the eval, where that has more samples.
    pub(crate) below: Option<String>,
    /// How many samples it is to have, where the eval has fewer.
    wanted: Option<usize>,
    /// How many the eval has.
    pub(crate) samples: usize,
}

impl PlanTier {
    /// Says when the eval is smaller than its tier.
    pub(super) fn notice(&self) -> Option<String> {
        let (name, samples) = (&self.name, self.samples);
        let wanted = self.wanted.filter(|wanted| *wanted > samples)?;
        let all = if samples == 1 { "the one" } else { "all" };
        Some(format!(
            "tier `{name}` is to have {wanted} samples, and the eval has {samples}: {all} is asked"
        ))
    }
}

/// The tier that runs, and which of these samples it has, in the order in which they are asked; all of them where none
/// runs.
pub(super) fn cut(
    (tiers, asked): (&Tiers, Option<&str>),
    is_progressive: bool,
    eval: &str,
    items: &[Packed],
    mut turns: Vec<usize>,
) -> Result<(Option<PlanTier>, Vec<usize>)> {
    let Some(name) = asked else {
        return Ok((None, turns));
    };
    let tier = tiers.named(name, eval)?;
    let samples = turns.len();
    let size = tier.of(samples);
    if is_progressive {
        // One tier after the other, each in the order of all.
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

/// These places in the order out of which tiers are cut. What a test is named after is what a tier has its share of.
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
    /// Those that a limit leaves out.
    pub(super) left_out: &'a HashSet<String>,
    /// Whether it is one of the command line.
    pub(super) is_cut: bool,
    pub(super) tiers: &'a Tiers,
    /// The tier that runs.
    pub(super) tier: Option<&'a str>,
}

impl RunSize<'_> {
    /// How many samples a run of the eval asks, of all or of a slice, where this gate counts. A limit of the command
    /// line, under which gates are ignored, does not.
    pub(super) fn of(&self, gate: &Gate, slice: Option<&Slice>) -> Option<u64> {
        let (all, is_cut) = (self.items.len(), self.is_cut);
        if gate.of_tier() != self.tier {
            // Here it is ignored. What is to be asked elsewhere is known of a tier alone, unless less is here.
            let tier = gate.of_tier().and_then(|name| self.tiers.get(name))?;
            let is_whole = slice.is_none() && self.tier.is_none() && !is_cut;
            return is_whole.then(|| tier.of(all) as u64);
        }
        let Some(Slice { dimension, value }) = slice else {
            let cut = if is_cut { self.left_out.len() } else { 0 };
            return (!is_cut || self.tier.is_none()).then_some((all + cut) as u64);
        };
        let is_in = |item: &&Packed| {
            let mut slices = item.slices.iter();
            slices.any(|(of, is)| of == dimension && is == value)
        };
        (!is_cut).then(|| self.items.iter().filter(is_in).count() as u64)
    }
}
