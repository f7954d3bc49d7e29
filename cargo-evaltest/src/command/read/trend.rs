//! `cargo evaltest trend`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::history::History;
use evaltest::engine::report::Detail;
use evaltest::engine::report::render::{html, terminal};
use evaltest::engine::report::trend::{EvalTrend, TrendsJson, document};
use evaltest::engine::system::project::display;
use evaltest::engine::text::clean;
use evaltest::{Error, Exit, Result};

use super::compare::to_file;
use crate::histories::{self, histories};
use crate::{colour, console};

/// Show where evals go: accuracy, cost, latency and errors over the runs of their histories
///
/// A history is the file `history.jsonl` beside the snapshots of an eval, to which `run --history` and `accept` add a
/// line each; no run directory is needed. Runs over the same samples, judged alike, are a line; another dataset or
/// scorer begins a new one, and a changed agent, prompt or served model is marked on it, as is where the accuracy
/// changed its level.
///
/// The alerts of an eval are judged as its history stands now, `stale` among them; the exit code is 1 if one is raised,
/// and 2 if a line of the history is damaged.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct TrendArgs {
    /// Evals or specs; every eval of the project that has a history when none is named
    #[arg(value_name = "EVAL|SPEC")]
    evals: Vec<PathBuf>,

    /// Show at most N runs of each eval (0 = all): 20 by default, 500 on a page
    #[arg(long, value_name = "N")]
    last: Option<usize>,

    /// Print JSON
    #[arg(long, conflicts_with = "html")]
    json: bool,

    /// Write a page to this file, to open in a browser or to send, with pictures of all figures over the runs
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"format_version\", \"evals\": [{\"eval\", \"history\", \"runs\", \"older\", \"lines\", \"entries\",
\"alerts\", \"notices\"}]}: \"lines\" are the runs that can be compared, each with \"tier\", \"dataset_hash\", \"scorer_hash\", \"runs\" and the
\"changes\" of its level; \"entries\" are runs and accepted baselines as they stand in the history, each with the place of its
\"line\", the \"delta\" of its accuracy to the run before, \"accuracy_bounds\" and \"marks\".";

pub(crate) fn run(args: &TrendArgs) -> Result<Exit> {
    let found = histories(&args.evals)?;
    let last = args.last.unwrap_or(match args.html {
        Some(_) => 500,
        None => 20,
    });
    let mut read = Vec::new();
    for place in &found {
        let history = History::read(&place.path, &place.eval)?;
        for notice in history.notices() {
            console::note(&clean(&notice));
        }
        read.push(history);
    }
    let all = found.iter().zip(&read);
    let (known, empty): (Vec<_>, Vec<_>) = all.partition(|(_, history)| !history.lines.is_empty());
    if let Some((place, history)) = empty.first()
        && (known.is_empty() || !args.evals.is_empty())
    {
        return Err(match history.skipped.len() {
            0 => histories::none_of(&place.eval),
            _ => Error::usage(format!(
                "`{}` has no line that can be read",
                histories::text(place)
            ))
            .hint("restore it from version control, or delete it: git checkout HEAD -- FILE"),
        });
    }
    let trends = known.into_iter();
    let trends: Vec<_> = trends
        .map(|(place, history)| EvalTrend::of(&place.eval, history, &place.alerts, last))
        .collect();
    if args.json {
        console::print_long_json(&TrendsJson(&trends))?;
    } else if let Some(file) = &args.html {
        let title = match &*trends {
            [trend] => format!("Trend of {}", trend.eval),
            trends => format!("Trends of {} evals", trends.len()),
        };
        let trends = trends.iter().map(|trend| document(trend, Detail::Full));
        let trends: Vec<_> = trends.collect();
        to_file(file, |out| html::page(&title, &trends, out))?;
        console::print(|out| writeln!(out, "{}", clean(&display(file))))?;
    } else {
        console::print(|out| {
            for (place, trend) in trends.iter().enumerate() {
                if place > 0 {
                    writeln!(out)?;
                }
                let trend = document(trend, Detail::Brief);
                terminal::document(&trend, colour::paint(), out)?;
            }
            Ok(())
        })?;
    }
    let older: usize = trends.iter().map(EvalTrend::older).sum();
    if older > 0 {
        console::note(&format!("{older} older: `cargo evaltest trend --last 0`"));
    }
    // Shown all the same.
    for (place, history) in found.iter().zip(&read) {
        if !place.alerts.is_empty() {
            history.refuse_damage()?;
        }
    }
    Ok(if trends.iter().any(EvalTrend::is_alarmed) {
        Exit::Failed
    } else {
        Exit::Passed
    })
}
