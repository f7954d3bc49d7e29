//! `Progressive`: the progress of a run through its tiers, as in `summary.json`.

use serde::{Deserialize, Serialize};

use crate::stats::{as_f64, spending};
use crate::verdict::gate::Gate;
use crate::verdict::result::GateResult;

/// The progress of a run through its tiers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progressive {
    /// The tiers, the smallest first.
    pub tiers: Vec<TierStep>,
    /// The index of the tier that was asked last.
    pub at: usize,
    /// The condition for promotion to the next tier, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promote: Option<Gate>,
    /// What ended it before the last tier: a failed promotion, a gate of the tier, or a gate that can no longer pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended_by: Vec<GateResult>,
}

/// A tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TierStep {
    /// Its name.
    pub tier: String,
    /// Its number of samples.
    pub samples: u64,
}

impl Progressive {
    /// The start of a run through tiers with these sizes.
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

    /// The number of samples that were not asked.
    pub(crate) fn saved(&self) -> u64 {
        let samples = |step: Option<&TierStep>| step.map_or(0, |step| step.samples);
        samples(self.tiers.last()).saturating_sub(samples(self.tier()))
    }

    /// Whether it ended before the last tier.
    pub(crate) fn is_ended(&self) -> bool {
        self.at + 1 < self.tiers.len()
    }

    /// Where it ended, as text.
    pub(crate) fn description(&self) -> String {
        let tier = self.tier().map_or("", |step| &*step.tier);
        let all = self.tiers.last().map_or(0, |step| step.samples);
        format!(
            "it went tier by tier and ended at `{tier}`: {} of {all} samples were not asked",
            self.saved()
        )
    }

    /// The part of alpha that a comparison may use at the current tier.
    pub(crate) fn part_of(&self, alpha: f64) -> f64 {
        let all = self.tiers.last().map_or(0, |step| step.samples);
        let share = |step: &TierStep| as_f64(step.samples) / as_f64(all.max(1));
        let shares: Vec<f64> = self.tiers.iter().map(share).collect();
        let part = spending(alpha, &shares).get(self.at).copied();
        part.unwrap_or(alpha)
    }
}

/// An interim analysis, over the samples so far, for gates that may stop a run early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InterimAnalysis {
    /// The number of the analysis, 1 to `of`.
    #[serde(rename = "look")]
    pub number: u32,
    /// The number of analyses; the last is over all samples.
    pub of: u32,
}

impl InterimAnalysis {
    /// Analysis `number` of `of`.
    pub fn new(number: u32, of: u32) -> Self {
        let of = of.max(1);
        Self {
            number: number.clamp(1, of),
            of,
        }
    }

    /// Its index, from 0.
    pub(crate) fn index(self) -> usize {
        self.number as usize - 1
    }

    /// Whether samples remain to be asked.
    pub(crate) fn is_early(self) -> bool {
        self.number < self.of
    }
}
