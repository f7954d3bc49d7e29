//! Which samples of an eval to ask.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::data::Shard;
use crate::error::Result;
use crate::eval::Eval;
use crate::eval::tiers::Promotion;
use crate::text::shell_word;

/// Which samples of an eval to ask.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SampleChoice {
    /// Only those of this tier.
    pub tier: Option<String>,
    /// All tiers, one after the other.
    pub progressive: bool,
    /// What the run must meet to continue with the next tier.
    pub promote: Option<String>,
    /// Only those whose test name contains this text.
    pub filter: Option<String>,
    /// Only those that failed or flipped in this run.
    pub failed: Option<PathBuf>,
    /// Only this shard of the selected samples; others ask the rest.
    pub shard: Option<Shard>,
    /// Balance shards by the latencies of this run, not by ids alone.
    pub balance: Option<PathBuf>,
    /// The run does not cover its eval as the spec defines it.
    pub partial: bool,
}

impl SampleChoice {
    /// Applies the chosen tier to an eval.
    pub(super) fn choose_tier(&self, eval: &mut Eval) -> Result<()> {
        eval.requested_tier.clone_from(&self.tier);
        if self.progressive {
            eval.requested_tier = Some(eval.tiers.largest(&eval.name)?.name.clone());
            eval.progressive = Some(Promotion::parse(self.promote.as_deref())?);
        }
        Ok(())
    }

    /// A hint for a filter that matches no test name and looks like a pattern; filters are no patterns.
    pub fn hint_of_filter(&self) -> Option<String> {
        const MARKS: [char; 9] = ['*', '?', '[', ']', '^', '$', '|', '\\', '+'];
        let filter = self.filter.as_deref().filter(|text| text.contains(MARKS))?;
        let longest = filter.split(MARKS).max_by_key(|piece| piece.len());
        let example = longest.filter(|piece| !piece.is_empty());
        let example = example.map(|text| format!(": --filter {}", shell_word(text)));
        Some(format!(
            "`--filter` is a text that the name of a test holds, and not a pattern{}",
            example.unwrap_or_default()
        ))
    }
}
