//! Which of an eval's tiers a command runs.

use clap::Args;
use evaltest::engine::run::drive::Drive;
use evaltest::engine::store::Manifest;
use evaltest::engine::text::clean;
use evaltest::{Error, Result};

/// A tier, or all of them.
#[derive(Debug, Args)]
pub(super) struct TierArgs {
    /// Ask this tier of the spec's `tiers`: a whole run of so many samples, whose gates count
    #[arg(long, value_name = "NAME")]
    pub(super) tier: Option<String>,

    /// Go through the spec's `tiers`, the smallest first, in one run, and end where the gates cannot hold any more
    #[arg(long, conflicts_with_all = ["tier", "limit", "filter", "failed", "watch"])]
    pub(super) progressive: bool,

    /// What the run must meet at the end of a tier to go on to the next: `accuracy > 0.8`
    #[arg(long, value_name = "GATE", requires = "progressive")]
    pub(super) promote: Option<String>,
}

/// A run goes on with the samples that it began with.
pub(super) fn keep_tier(manifest: &Manifest, drive: &mut Drive) -> Result<()> {
    let id = clean(&manifest.run_id);
    if let Some(run) = &manifest.progressive {
        let samples = &mut drive.samples;
        let is_other = |promote: &String| run.promote.as_ref() != Some(promote);
        if samples.tier.is_some() || samples.promote.as_ref().is_some_and(is_other) {
            let message = format!("run `{id}` goes on tier by tier as it began");
            return Err(Error::usage(message).hint("leave `--tier` and `--promote` out"));
        }
        samples.progressive = true;
        samples.promote.clone_from(&run.promote);
        return Ok(());
    }
    if drive.samples.progressive {
        let message = format!("run `{id}` does not go on tier by tier");
        return Err(Error::usage(message).hint("leave `--progressive` out, or start a new run"));
    }
    let asked = drive.samples.tier.take();
    drive.samples.tier.clone_from(&manifest.tier);
    if asked.is_none() || asked == manifest.tier {
        return Ok(());
    }
    let of = match &manifest.tier {
        Some(tier) => format!("of tier `{}`", clean(tier)),
        None => "of all samples".to_owned(),
    };
    Err(
        Error::usage(format!("run `{id}` is {of}, and goes on as it began"))
            .hint("leave `--tier` out, or start a new run without `--resume`"),
    )
}
