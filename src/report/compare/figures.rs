//! The figures of runs by themselves, side by side: how right, how dear, how fast, what errored.

use super::ComparedRun;
use crate::report::accuracy;
use crate::text::{clean, percent};

/// The rows: a title, and a cell for each run. Those that no run has are left out.
pub(crate) fn figure_rows(runs: &[&ComparedRun]) -> Vec<(String, Vec<String>)> {
    let mut rows: Vec<(String, Vec<Option<String>>)> = Vec::new();
    let mut row = |title: &str, cell: &dyn Fn(&ComparedRun) -> Option<String>| {
        rows.push((title.to_owned(), runs.iter().map(|run| cell(run)).collect()));
    };
    row("samples, times epochs", &|run| {
        (run.epochs > 1).then(|| run.samples.to_string())
    });
    row("samples", &|run| {
        (run.epochs == 1).then(|| run.samples.to_string())
    });
    row("accuracy", &|run| {
        accuracy::shown(run.accuracy, run.accuracy_bounds)
    });
    row("95 % interval", &|run| {
        let is_range = run.accuracy_bounds.is_some_and(|[low, high]| low < high);
        // That of what was answered would hide what was not.
        let [low, high] = run.accuracy_ci95.filter(|_| !is_range)?;
        Some(format!("{} to {}", percent(low), percent(high)))
    });
    row("errors", &|run| Some(run.errors.to_string()));
    for kind in kinds(runs) {
        row(&format!("  {}", clean(&kind.replace('_', " "))), &|run| {
            Some(run.failures.get(kind)?.to_string())
        });
    }
    row("error rate", &|run| {
        run.error_rate.filter(|rate| *rate > 0.0).map(percent)
    });
    row("skipped", &|run| {
        (run.skipped > 0).then(|| run.skipped.to_string())
    });
    row("from the cache", &|run| {
        (run.cached > 0).then(|| run.cached.to_string())
    });
    row("input tokens", &|run| {
        Some(run.usage.input_tokens?.to_string())
    });
    row("output tokens", &|run| {
        Some(run.usage.output_tokens?.to_string())
    });
    row("cost", &|run| run.usage.cost_usd.map(usd));
    row("cost per sample", &|run| {
        let cost = run.usage.cost_usd?;
        Some(usd(cost / crate::stats::as_f64(run.usage.samples.max(1))))
    });
    row("cost of judges", &|run| run.judge_usage?.cost_usd.map(usd));
    row("latency p50", &|run| Some(seconds(run.latency_s?.p50)));
    row("latency p95", &|run| Some(seconds(run.latency_s?.p95)));
    let known = rows.into_iter();
    let known = known.filter(|(_, cells)| cells.iter().any(Option::is_some));
    let known = known.map(|(title, cells)| {
        let cells = cells.into_iter();
        let cells = cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
        (title, cells.collect())
    });
    known.collect()
}

/// The kinds of the errors of all runs.
fn kinds<'a>(runs: &[&'a ComparedRun]) -> Vec<&'a String> {
    let mut kinds: Vec<_> = runs.iter().flat_map(|run| run.failures.keys()).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

fn usd(usd: f64) -> String {
    if usd.abs() < 0.1 && usd != 0.0 {
        format!("{usd:.6} USD")
    } else {
        format!("{usd:.2} USD")
    }
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.3} s")
}
