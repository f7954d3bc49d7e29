//! `AlertJudge`: evaluates the alerts of an eval.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::drop::DropRule;
use super::{Alert, AlertFinding, AlertResult, AlertRule, Alerts, Direction, DropReference, Era};
use crate::data::history::{HistoryKind, HistoryLine};
use crate::figure::{P, with_minus};
use crate::stats::{FixedReference, MOVING, MovingReference, SteadyFalls, falls, percentile};
use crate::verdict::gate::Op;
use crate::verdict::metric::SlicedMetric;

/// The resolution of the number of baseline answers for one of a run.
const FINE: f64 = 16.0;

/// Evaluates the alerts of an eval. Thresholds are computed on first use.
#[derive(Debug)]
pub struct AlertJudge<'a> {
    alerts: &'a Alerts,
    fixed: OnceCell<FixedReference>,
    moving: OnceCell<MovingReference>,
    /// By the number of runs of a trend.
    steady: RefCell<BTreeMap<usize, Option<SteadyFalls>>>,
    /// Thresholds by alpha and number of baseline answers.
    found: RefCell<BTreeMap<(u64, u64), f64>>,
}

impl<'a> AlertJudge<'a> {
    /// For the alerts of an eval.
    pub fn new(alerts: &'a Alerts) -> Self {
        Self {
            alerts,
            fixed: OnceCell::new(),
            moving: OnceCell::new(),
            steady: RefCell::default(),
            found: RefCell::default(),
        }
    }

    /// The result of each alert for a run, which need not be among the `lines`; these are in order of time. Whether the
    /// eval is stale does not depend on a run.
    pub fn judge(&self, lines: &[HistoryLine], newest: &HistoryLine) -> Vec<AlertResult> {
        let era = Era::of(lines, newest, self.alerts.looks);
        let rules = self.alerts.rules.iter();
        let judged = rules.filter(|alert| !matches!(alert.rule, AlertRule::Stale { .. }));
        let judged = judged.map(|alert| {
            let tier = newest.tier.clone();
            result(alert, self.judge_one(alert, &era), tier)
        });
        judged.collect()
    }

    /// The current result of each alert: for the newest run of each tier with the dataset and scorer of the newest run
    /// of all; and whether the eval is stale.
    pub fn latest(&self, lines: &[HistoryLine], now: Timestamp) -> Vec<AlertResult> {
        let runs = || {
            let runs = lines.iter().rev();
            runs.filter(|line| line.kind == HistoryKind::Run)
        };
        let mut results = Vec::new();
        let mut tiers = Vec::new();
        for run in runs() {
            let current = runs().next().map(HistoryLine::comparable);
            let (dataset, scorer, tier) = run.comparable();
            if current.is_none_or(|current| (current.0, current.1) != (dataset, scorer)) {
                break;
            }
            if !tiers.contains(&tier) {
                tiers.push(tier);
                results.extend(self.judge(lines, run));
            }
        }
        for alert in &self.alerts.rules {
            if let AlertRule::Stale { days } = alert.rule {
                results.push(result(alert, stale(lines, days, now), None));
            }
        }
        results
    }

    fn judge_one(&self, alert: &Alert, era: &Era<'_>) -> AlertFinding {
        match &alert.rule {
            AlertRule::Drop {
                metric,
                against,
                alpha,
            } => {
                let slice = metric.slice.as_ref();
                let against = *against;
                let alpha = self.alerts.share(*alpha);
                let threshold = |answers: f64| self.threshold(against, alpha, answers);
                DropRule { slice, against }.judge(era, &threshold)
            }
            AlertRule::Trend {
                metric,
                runs,
                alpha,
            } => self.trend(era, metric, *runs, self.alerts.share(*alpha)),
            AlertRule::Moved {
                metric,
                by,
                direction,
            } => moved(era, metric, *by, *direction),
            AlertRule::Bound {
                metric,
                op,
                threshold,
                times,
            } => bound(era, metric, *op, *threshold, *times),
            AlertRule::Stale { .. } => AlertFinding::silent("it does not depend on a run"),
        }
    }

    fn threshold(&self, against: DropReference, alpha: f64, answers: f64) -> f64 {
        let looks = self.alerts.looks;
        let answers = match against {
            DropReference::Baseline => (answers * FINE).round().clamp(1.0, 1e4) / FINE,
            DropReference::Median => 0.0,
        };
        let key = (alpha.to_bits(), answers.to_bits());
        if let Some(found) = self.found.borrow().get(&key) {
            return *found;
        }
        let found = match against {
            DropReference::Baseline => {
                let fixed = self.fixed.get_or_init(|| FixedReference::new(looks));
                fixed.threshold(alpha, answers)
            }
            DropReference::Median => {
                let moving = self.moving.get_or_init(|| MovingReference::new(looks));
                moving.threshold(alpha)
            }
        };
        self.found.borrow_mut().insert(key, found);
        found
    }

    /// A figure that gets worse and worse over the last runs of the era.
    fn trend(&self, era: &Era<'_>, metric: &SlicedMetric, runs: usize, alpha: f64) -> AlertFinding {
        if let Some(why) = era.why_not_counted() {
            return AlertFinding::silent(why);
        }
        let last = era.last(runs);
        let values = last.iter().map(|line| metric.in_line(line));
        let Some(values) = values.collect::<Option<Vec<f64>>>() else {
            return AlertFinding::silent(format!("some of the last {runs} runs have no {metric}"));
        };
        let (Some(first), Some(newest)) = (values.first(), values.last()) else {
            return AlertFinding::silent("the history has no run");
        };
        if values.len() < runs {
            let count = values.len();
            return AlertFinding::silent(format!("needs {runs} runs, the history has {count}"));
        }
        let is_less_better = metric.entry().less_is_better;
        let sign = if is_less_better { -1.0 } else { 1.0 };
        let towards: Vec<f64> = values.iter().map(|value| sign * value).collect();
        let needed = self
            .steady
            .borrow_mut()
            .entry(runs)
            .or_insert_with(|| SteadyFalls::new(runs, self.alerts.looks))
            .as_ref()
            .and_then(|falls| falls.threshold(alpha));
        let (Some(p), Some(needed)) = (falls(&towards), needed) else {
            return AlertFinding::silent("`looks` is too large for so few runs");
        };
        let message = format!(
            "{metric} went from {} to {} in {runs} runs; p {}, raised if p is at most {}",
            metric.show(*first),
            metric.show(*newest),
            P(p).cell_at_level(needed),
            P(needed).level(),
        );
        // Both sum the same terms in different orders.
        let raised = p <= needed * (1.0 + 1e-9);
        let since = last.first().map_or("", |line| &*line.id);
        AlertFinding {
            p: Some([p, needed]),
            ..AlertFinding::of(raised, *newest, *first, message).since(since)
        }
    }
}

fn result(alert: &Alert, finding: AlertFinding, tier: Option<String>) -> AlertResult {
    AlertResult {
        alert: alert.to_string(),
        verdict: finding.verdict,
        value: finding.value,
        threshold: finding.threshold,
        p: finding.p.map(|[p, _]| p),
        p_needed: finding.p.map(|[_, needed]| needed),
        since: finding.since,
        tier,
        message: finding.message,
    }
}

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
    let limit = metric.entry().unit.limit(threshold);
    let message = match (beyond.len(), times) {
        (0, _) => format!("{metric} is {rendered}"),
        (_, 1) => format!("{metric} is {rendered}, {op} {limit}"),
        (found, _) => {
            format!("{metric} is {rendered}, {op} {limit} in {found} of {times} runs in a row")
        }
    };
    let first = beyond.last().map_or("", |line| &*line.id);
    AlertFinding::of(beyond.len() >= times, value, threshold, message).since(first)
}

/// A figure that is so much above the median of the five runs before, or below it.
pub(super) fn moved(
    era: &Era<'_>,
    metric: &SlicedMetric,
    by: f64,
    direction: Direction,
) -> AlertFinding {
    let Some((newest, before)) = era.line.split_last() else {
        return AlertFinding::silent("the history has no run");
    };
    let Some(value) = metric.in_line(newest) else {
        return AlertFinding::silent(metric.why_missing());
    };
    let known = before.iter().rev().filter_map(|line| metric.in_line(line));
    let mut five: Vec<f64> = known.take(MOVING).collect();
    if five.len() < MOVING {
        let count = five.len();
        return AlertFinding::silent(format!(
            "needs {MOVING} earlier runs with {metric}, the history has {count}"
        ));
    }
    five.sort_by(f64::total_cmp);
    let median = percentile(&five, 50.0).unwrap_or_default();
    if median <= 0.0 {
        return AlertFinding::silent(format!(
            "the median {metric} of the previous five runs is not above 0"
        ));
    }
    let message = format!(
        "{metric} is {}, {} % against the median of the previous five runs, {}",
        metric.show(value),
        with_minus(&format!("{:+.0}", (value / median - 1.0) * 100.0)),
        metric.show(median),
    );
    let (threshold, is_raised) = match direction {
        Direction::Down => {
            let threshold = median * (1.0 - by);
            (threshold, value < threshold)
        }
        Direction::Up => {
            let threshold = median * (1.0 + by);
            (threshold, value > threshold)
        }
    };
    AlertFinding::of(is_raised, value, threshold, message).since(&newest.id)
}

/// No run for this number of days.
pub(super) fn stale(lines: &[HistoryLine], days: f64, now: Timestamp) -> AlertFinding {
    let last = lines.iter().rfind(|line| line.kind == HistoryKind::Run);
    let Some(last) = last else {
        return AlertFinding::silent("the history has no run");
    };
    let age = now.duration_since(last.time).as_secs_f64() / DAY;
    let message = format!("the last run was {age:.1} days ago, {}", last.id);
    AlertFinding::of(age > days, age, days, message).since(&last.id)
}
