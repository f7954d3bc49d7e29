//! `Progressive`: how far a run came that goes on tier by tier, as in `summary.json`.

use serde::{Deserialize, Serialize};

use crate::stats::{as_f64, spending};
use crate::verdict::gate::Gate;
use crate::verdict::result::GateResult;

/// How far a run came that goes on tier by tier.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progressive {
    /// The tiers, the smallest first.
    pub tiers: Vec<TierStep>,
    /// The place of the one that was asked last, from 0.
    pub at: usize,
    /// What a run must meet to be promoted, if somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promote: Option<Gate>,
    /// What ended it before the last tier: a promotion that failed, a gate of the tier, or one that cannot hold any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended_by: Vec<GateResult>,
}

/// One of the tiers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TierStep {
    /// Its name.
    pub tier: String,
    /// How many samples it has.
    pub samples: u64,
}

impl Progressive {
    /// A run that begins, through tiers of so many samples.
    pub(crate) fn new(tiers: Vec<(String, usize)>, promote: Option<Gate>) -> Self {
        let tiers = tiers.into_iter().map(|(tier, samples)| TierStep {
            tier,
            samples: samples as u64,
        });
        Self {
            tiers: tiers.collect(),
            promote,
            ..Self::default()
        }
    }

    /// The tier that was asked last.
    pub(crate) fn tier(&self) -> Option<&TierStep> {
        self.tiers.get(self.at)
    }

    /// How many samples it did not come to.
    pub(crate) fn saved(&self) -> u64 {
        let samples = |step: Option<&TierStep>| step.map_or(0, |step| step.samples);
        samples(self.tiers.last()).saturating_sub(samples(self.tier()))
    }

    /// Whether it ended before the last tier.
    pub(crate) fn is_ended(&self) -> bool {
        self.at + 1 < self.tiers.len()
    }

    /// Where it ended, in words.
    pub(crate) fn told(&self) -> String {
        let tier = self.tier().map_or("", |step| &*step.tier);
        let all = self.tiers.last().map_or(0, |step| step.samples);
        format!(
            "it went tier by tier and ended at `{tier}`: {} of {all} samples were not asked",
            self.saved()
        )
    }

    /// What a comparison of this alpha may use of it at the tier that was asked last.
    pub(crate) fn part_of(&self, alpha: f64) -> f64 {
        let all = self.tiers.last().map_or(0, |step| step.samples);
        let share = |step: &TierStep| as_f64(step.samples) / as_f64(all.max(1));
        let shares: Vec<f64> = self.tiers.iter().map(share).collect();
        let part = spending(alpha, &shares).get(self.at).copied();
        part.unwrap_or(alpha)
    }
}
