//! The figures of runs by themselves, side by side: how right, how dear, how fast, what errored.

use super::ComparedRun;
use crate::figure::{Interval, Seconds, Share, Usd, ci95};
use crate::report::section::accuracy;
use crate::text::clean;

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
    row(ci95!(), &|run| {
        let is_range = run.accuracy_bounds.is_some_and(|[low, high]| low < high);
        // That of what was answered would hide what was not.
        let ends = run.accuracy_ci95.filter(|_| !is_range)?;
        Some(Interval(ends.map(Share)).to_string())
    });
    row("errors", &|run| Some(run.errors.to_string()));
    for kind in kinds(runs) {
        row(&format!("  {}", clean(&kind.replace('_', " "))), &|run| {
            Some(run.failures.get(kind)?.to_string())
        });
    }
    row("error rate", &|run| {
        let rate = run.error_rate.filter(|rate| *rate > 0.0)?;
        Some(Share(rate).to_string())
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
    row("cost", &|run| Some(Usd(run.usage.cost_usd?).to_string()));
    row("cost per sample", &|run| {
        let cost = run.usage.cost_usd?;
        Some(Usd(cost / crate::stats::as_f64(run.usage.samples.max(1))).to_string())
    });
    row("cost of judges", &|run| {
        Some(Usd(run.judge_usage?.cost_usd?).to_string())
    });
    row("latency p50", &|run| {
        Some(Seconds(run.latency_s?.p50).to_string())
    });
    row("latency p95", &|run| {
        Some(Seconds(run.latency_s?.p95).to_string())
    });
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
