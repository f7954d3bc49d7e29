//! `cargo evaltest plan`.

mod basis;
mod rows;
mod text;

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::figure::{Points, Share};
use evaltest::engine::report::reported::overview::RunOverview;
use evaltest::engine::run::rescore;
use evaltest::engine::run::rescore::Evidence;
use evaltest::engine::store::{Manifest, RunDir};
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};
use evaltest::{Error, Exit, Result};
use serde_json::{Value, json};

use crate::console;
use crate::runs::named_or_last;
use basis::{Basis, FlipSource};
use rows::{PlanRow, PlanRows};

/// Default level of a `no_regression` gate.
const ALPHA: f64 = 0.05;

/// Estimate the samples and epochs needed to detect a drop
///
/// A power analysis from a finished run: how often its samples flip (between epochs, or against its baseline), how long
/// answers take and what they cost. No agent is called. A drop is detected if the gate `no_regression` fails with the
/// probability `--power`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// A run directory, or an eval's name for its last run; default: the last finished run of the project
    run_dir: Option<PathBuf>,

    /// The drop of accuracy to detect, in points, from 0.1 to 100
    #[arg(
        long,
        value_name = "POINTS",
        default_value_t = 5.0,
        allow_negative_numbers = true
    )]
    detect: f64,

    /// The probability of detecting the drop, above 0 and below 1
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.8,
        allow_negative_numbers = true
    )]
    power: f64,

    /// The level of the test, above 0 and below 1; default: that of the run's gate `no_regression`, else 0.05
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    alpha: Option<f64>,

    /// Print the plan as JSON, with shares from 0 to 1
    #[arg(long)]
    json: bool,
}

/// The drop to detect, and how.
struct Wish {
    /// From 0 to 1.
    drop: f64,
    power: f64,
    alpha: f64,
}

/// The run that the plan is based on.
struct PastRun {
    dir: RunDir,
    manifest: Manifest,
    evidence: Evidence,
    /// Whether a gate failed.
    has_failed: bool,
}

pub(crate) fn run(args: &PlanArgs) -> Result<Exit> {
    args.check()?;
    let run = PastRun::read(args)?;
    let wish = Wish {
        drop: args.detect / 100.0,
        power: args.power,
        alpha: args.alpha.or(run.alpha()).unwrap_or(ALPHA),
    };
    run.check_can_fall(&wish)?;
    let basis = Basis::of(&run);
    let rows = PlanRows::of(&run, &basis, &wish);
    if args.json {
        console::print_json(&json(&run, &basis, &wish, &rows))?;
    } else {
        console::print_document(&text::text(&run, &basis, &wish, &rows))?;
    }
    Ok(Exit::Passed)
}

impl PlanArgs {
    /// Returns an error for invalid options, before reading anything.
    fn check(&self) -> Result<()> {
        if !(0.1..=100.0).contains(&self.detect) {
            let why = format!("`--detect {}` is not a drop in points", self.detect);
            return Err(Error::usage(why).hint("write points, from 0.1 to 100: `--detect 3`"));
        }
        let shares = [
            ("power", Some(self.power), 0.8),
            ("alpha", self.alpha, ALPHA),
        ];
        for (name, share, usual) in shares {
            if let Some(share) = share
                && !(share > 0.0 && share < 1.0)
            {
                let why = format!("`--{name} {share}` is not between 0 and 1");
                return Err(Error::usage(why).hint(format!("`--{name} {usual}`")));
            }
        }
        Ok(())
    }
}

impl PastRun {
    fn read(args: &PlanArgs) -> Result<Self> {
        let dir = named_or_last(args.run_dir.as_deref())?;
        let manifest = dir.manifest()?;
        let evidence = rescore::evidence(&dir)?;
        let gates = RunOverview::of(&dir)?.gates;
        let run = Self {
            has_failed: gates.is_some_and(|gates| gates.failed > 0),
            dir,
            manifest,
            evidence,
        };
        if run.evidence.answers.of == 0 {
            return Err(run.refused(
                "has no answer with a verdict, so there is nothing to plan from",
                "cargo evaltest show",
            ));
        }
        Ok(run)
    }

    /// Returns an error for a drop larger than the run's accuracy.
    fn check_can_fall(&self, wish: &Wish) -> Result<()> {
        if self.evidence.answers.right == 0 {
            return Err(self.refused(
                "has no correct answer, so there is no drop to detect",
                "see what was answered: cargo evaltest show",
            ));
        }
        let accuracy = self.accuracy();
        if wish.drop <= accuracy {
            return Ok(());
        }
        let why = format!(
            "an accuracy of {} cannot fall by {} points",
            Share(accuracy),
            Points(wish.drop).unsigned()
        );
        Err(Error::usage(why).hint(format!(
            "ask for less: `--detect {}`",
            typed_points((accuracy * 50.0).ceil() / 100.0)
        )))
    }

    fn refused(&self, what: &str, hint: &str) -> Error {
        let dir = display(self.dir.path());
        Error::usage(format!("run `{dir}` {what}")).hint(format!("{hint} {dir}"))
    }

    /// The level of the run's gate; several gates share theirs.
    fn alpha(&self) -> Option<f64> {
        let gates = u32::try_from(self.evidence.gates).ok()?.max(1);
        self.evidence.alpha.map(|alpha| alpha / f64::from(gates))
    }

    fn accuracy(&self) -> f64 {
        f64::from(self.evidence.answers.right) / f64::from(self.evidence.answers.of)
    }
}

/// A share in points, formatted as typed: with at most one decimal.
fn typed_points(share: f64) -> String {
    let tenths = (share * 1000.0).round() / 10.0;
    tenths.to_string()
}

fn json(run: &PastRun, basis: &Basis, wish: &Wish, rows: &PlanRows) -> Value {
    let evidence = &run.evidence;
    json!({
        "eval": run.manifest.eval,
        "run_dir": run.dir.path(),
        "run_id": run.manifest.run_id,
        "detect": wish.drop,
        "power": wish.power,
        "alpha": wish.alpha,
        "accuracy": run.accuracy(),
        "samples": basis.samples,
        "flips": {
            "share": basis.flips(),
            "spread": evidence.spread,
            "source": basis.source.word(),
            "told": basis.text(run),
            "notes": basis.notes(run),
        },
        "answer": {
            "latency_s": evidence.price.latency_s,
            "seconds": basis.seconds,
            "concurrency": evidence.price.concurrency,
            "cost_usd": evidence.price.cost_usd,
            "tokens": evidence.price.tokens,
        },
        "rows": rows.all,
        "samples_needed": rows.needed,
        "next": of(run, wish, rows),
    })
}

/// The commands for the cheapest row, one per line; none if no row detects the drop.
fn of(run: &PastRun, wish: &Wish, rows: &PlanRows) -> Vec<String> {
    let Some(row) = rows.cheapest() else {
        return Vec::new();
    };
    let manifest = &run.manifest;
    let mut steps = Vec::new();
    if run.has_failed {
        steps.push("this run failed a gate: fix the agent first".to_owned());
    }
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
    let is_one =
        run.evidence.is_acceptable && !run.has_failed && manifest.epochs == row.epochs && has_all;
    let more = row.baseline_runs - u32::from(is_one);
    if more > 0 {
        let times = if more == 1 {
            "once".to_owned()
        } else {
            format!("{more} times")
        };
        steps.push(format!("run {times}: {}", run_command(run)));
    }
    let first = is_one.then(|| shell_word(&display(run.dir.path())));
    let dirs = (0..more).map(|_| "RUN_DIR".to_owned());
    let dirs: Vec<_> = first.into_iter().chain(dirs).collect();
    steps.push(format!("cargo evaltest accept {}", dirs.join(" ")));
    steps
}

/// How to measure what was assumed.
fn measure(run: &PastRun, basis: &Basis) -> Option<String> {
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
