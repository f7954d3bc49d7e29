//! `cargo evaltest trend`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::history::{History, history_of_runs};
use evaltest::engine::report::Detail;
use evaltest::engine::report::render::{html, terminal};
use evaltest::engine::report::trend::{EvalTrend, TrendsJson, document};
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};
use evaltest::{Error, Exit, Result};

use super::compare::to_file;
use crate::histories::{self, EvalHistory, histories};
use crate::runs::run_overviews;
use crate::{colour, console};

/// Show accuracy, cost, latency and errors over time
///
/// Reads the history of each eval: `history.jsonl` in its snapshots folder, to which `run --history` and `accept` append a
/// line each. No run directory is needed. Runs with the same samples and scorers form one line of the chart; a new dataset
/// or scorer starts another. Marks show where the agent, the prompt or the served model changed, and where the accuracy
/// shifted.
///
/// Checks the alerts of each eval, including `stale`. The exit code is 1 if an alert is raised and 2 if a line of the
/// history is damaged.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct TrendArgs {
    /// Evals or specs; default: every eval with a history
    #[arg(value_name = "EVAL|SPEC")]
    evals: Vec<PathBuf>,

    /// Show at most N runs of each eval (0 = all): 20 by default, 500 on a page
    #[arg(long, value_name = "N")]
    last: Option<usize>,

    /// Print JSON
    #[arg(long, conflicts_with = "html")]
    json: bool,

    /// Write an HTML page to this file, with charts of all figures over the runs
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"format_version\", \"evals\": [{\"eval\", \"history\", \"runs\", \"older\", \"lines\", \"entries\",
\"alerts\", \"notices\"}]}: \"lines\" are the runs that can be compared, each with \"tier\", \"dataset_hash\", \"scorer_hash\", \"runs\" and the
\"changes\" of its level; \"entries\" are runs and accepted baselines as stored in the history, each with the index of
its \"line\", the \"delta\" of its accuracy to the run before, \"accuracy_bounds\" and \"marks\".";

/// The last runs of an eval that has no history, as their lines would be.
fn of_runs(place: &EvalHistory, last: usize) -> Result<History> {
    let most = if last == 0 { usize::MAX } else { last };
    let found = run_overviews(None, Some(&place.eval), most)?;
    let dirs = found.runs.into_iter().rev().map(|run| run.run_dir);
    let history = history_of_runs(&place.eval, dirs)?;
    if !history.lines.is_empty() {
        let name = shell_word(&clean(&place.eval));
        console::note(&format!(
            "eval `{name}` has no committed history, so these are the runs on this machine; to start one: cargo evaltest \
             run {name} --history"
        ));
    }
    Ok(history)
}

pub(crate) fn run(args: &TrendArgs) -> Result<Exit> {
    let found = histories(&args.evals)?;
    let last = args.last.unwrap_or(match args.html {
        Some(_) => 500,
        None => 20,
    });
    let mut read = Vec::new();
    for place in &found {
        let history = if place.path.symlink_metadata().is_ok() {
            History::read(&place.path, &place.eval)?
        } else {
            of_runs(place, last)?
        };
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
            _ => Error::usage(format!("`{}` has no readable line", histories::text(place)))
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
