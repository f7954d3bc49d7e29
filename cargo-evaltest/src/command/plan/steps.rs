//! The commands for the cheapest row.

use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};

use super::basis::{Basis, FlipSource};
use super::rows::{PlanRow, PlanRows};
use super::{PastRun, Wish};

/// The commands for the cheapest row, one per line; none if no row detects the drop.
pub(super) fn of(run: &PastRun, wish: &Wish, rows: &PlanRows) -> Vec<String> {
    let Some(row) = rows.cheapest() else {
        return Vec::new();
    };
    let manifest = &run.manifest;
    let mut steps = Vec::new();
    let has_all = row.samples == manifest.samples as u64;
    let keys = keys(run, row, wish, has_all);
    if !keys.is_empty() {
        let place = match &manifest.spec {
            Some(spec) => clean(&display(spec)),
            None => "the eval (its builder has a method of each name)".to_owned(),
        };
        steps.push(format!("in {place}: {}", keys.join(", ")));
    }
    // A suitable existing run need not be repeated.
    let is_one = run.evidence.is_acceptable && manifest.epochs == row.epochs && has_all;
    let more = row.baseline_runs - u32::from(is_one);
    if more > 0 {
        let times = if more == 1 {
            "once".to_owned()
        } else {
            format!("{more} times")
        };
        steps.push(format!("{times}: {}", run_command(run)));
    }
    let first = is_one.then(|| shell_word(&display(run.dir.path())));
    let dirs = (0..more).map(|_| "RUN_DIR".to_owned());
    let dirs: Vec<_> = first.into_iter().chain(dirs).collect();
    steps.push(format!("cargo evaltest accept {}", dirs.join(" ")));
    steps
}

/// How to measure what was assumed.
pub(super) fn measure(run: &PastRun, basis: &Basis) -> Option<String> {
    matches!(basis.source, FlipSource::Assumed { .. }).then(|| {
        format!(
            "{} --epochs 3 (or accept this run, and run again), then plan again",
            run_command(run)
        )
    })
}

fn keys(run: &PastRun, row: &PlanRow, wish: &Wish, has_all: bool) -> Vec<String> {
    let mut keys = Vec::new();
    if run.manifest.epochs != row.epochs {
        keys.push(format!("`epochs: {}`", row.epochs));
    }
    if !has_all {
        keys.push(format!("`limits: {{ limit: {} }}`", row.samples));
        // The first items of a dataset are not a random sample.
        if run
            .manifest
            .config
            .get("shuffle")
            .is_none_or(serde_json::Value::is_null)
        {
            keys.push("`shuffle: { seed: 1 }`".to_owned());
        }
    }
    let alpha = run.alpha();
    if alpha.is_none_or(|alpha| (alpha - wish.alpha).abs() > 1e-12) {
        keys.push(format!("`gates: [no_regression(alpha={})]`", wish.alpha));
    }
    keys
}

fn run_command(run: &PastRun) -> String {
    match &run.manifest.spec {
        Some(spec) => format!("cargo evaltest run {}", shell_word(&display(spec))),
        None => "cargo evaltest run".to_owned(),
    }
}
