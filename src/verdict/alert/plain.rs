//! The rules without a statistical test: bound, rise, stale.

use jiff::Timestamp;

use super::AlertFinding;
use super::Era;
use crate::data::history::{HistoryKind, HistoryLine};
use crate::stats::{MOVING, percentile};
use crate::verdict::gate::Op;
use crate::verdict::metric::SlicedMetric;

const DAY: f64 = 86_400.0;

/// A figure beyond a threshold, in a number of consecutive runs.
pub(super) fn bound(
    era: &Era<'_>,
    metric: &SlicedMetric,
    op: Op,
    threshold: f64,
    times: usize,
) -> AlertFinding {
    let runs = era.line.iter().rev();
    let is_beyond = |line: &&&HistoryLine| {
        let value = metric.in_line(line);
        value.is_some_and(|value| op.holds(value, threshold))
    };
    let Some(value) = era.line.last().and_then(|line| metric.in_line(line)) else {
        return AlertFinding::silent(metric.why_missing());
    };
    let beyond: Vec<_> = runs.take_while(is_beyond).take(times).collect();
    let rendered = metric.show(value);
    let message = match (beyond.len(), times) {
        (0, _) => format!("{metric} is {rendered}"),
        (_, 1) => format!("{metric} is {rendered}, {op} {threshold}"),
        (found, _) => {
            format!("{metric} is {rendered}, {op} {threshold} in {found} of {times} runs in a row")
        }
    };
    let first = beyond.last().map_or("", |line| &*line.id);
    AlertFinding::of(beyond.len() >= times, value, threshold, message).since(first)
}

/// A figure that is so much above the median of the five runs before.
pub(super) fn rise(era: &Era<'_>, metric: &SlicedMetric, by: f64) -> AlertFinding {
    let Some((newest, before)) = era.line.split_last() else {
        return AlertFinding::silent("there is no run");
    };
    let Some(value) = metric.in_line(newest) else {
        return AlertFinding::silent(metric.why_missing());
    };
    let known = before.iter().rev().filter_map(|line| metric.in_line(line));
    let mut five: Vec<f64> = known.take(MOVING).collect();
    if five.len() < MOVING {
        let count = five.len();
        return AlertFinding::silent(format!("{count} of {MOVING} runs before it have {metric}"));
    }
    five.sort_by(f64::total_cmp);
    let median = percentile(&five, 50.0).unwrap_or_default();
    if median <= 0.0 {
        return AlertFinding::silent(format!(
            "half of the five runs before have no {metric} above 0"
        ));
    }
    let message = format!(
        "{metric} is {}, {:+.0} % to the median of the five runs before, {}",
        metric.show(value),
        (value / median - 1.0) * 100.0,
        metric.show(median),
    );
    let threshold = median * (1.0 + by);
    AlertFinding::of(value > threshold, value, threshold, message).since(&newest.id)
}

/// No run for this number of days.
pub(super) fn stale(lines: &[HistoryLine], days: f64, now: Timestamp) -> AlertFinding {
    let last = lines.iter().rfind(|line| line.kind == HistoryKind::Run);
    let Some(last) = last else {
        return AlertFinding::silent("there is no run yet");
    };
    let age = now.duration_since(last.time).as_secs_f64() / DAY;
    let message = format!("the last run was {age:.1} days ago, {}", last.id);
    AlertFinding::of(age > days, age, days, message).since(&last.id)
}
