//! Figures in words.

use crate::figure::{Interval, Points, Share, Usd};
use crate::report::accuracy;
use crate::stats::as_f64;
use crate::verdict::result::Verdict;
use crate::verdict::summary::{BaselineChange, Summary};

/// The accuracy with its interval, unless samples without a verdict leave it open.
pub(in crate::report) fn surely(summary: &Summary) -> Option<(f64, [f64; 2])> {
    let bounds = summary.accuracy_bounds;
    let is_open = bounds.is_some_and(|[low, high]| low < high);
    let known = summary.accuracy.zip(summary.accuracy_ci95);
    known.filter(|_| !is_open)
}

/// A share of answers with its interval, or the range that it is.
pub(super) fn share(
    share: Option<f64>,
    bounds: Option<[f64; 2]>,
    ci95: Option<[f64; 2]>,
) -> String {
    let is_range = bounds.is_some_and(|[low, high]| low < high);
    match (accuracy::shown(share, bounds), ci95) {
        (Some(share), Some(ci95)) if !is_range => {
            format!("{share}, {}", Interval(ci95.map(Share)).ci95())
        }
        (Some(share), _) => share,
        (None, _) => "nothing was scored".to_owned(),
    }
}

/// The accuracy, of how many.
pub(super) fn accuracy_of(summary: &Summary) -> String {
    let told = share(
        summary.accuracy,
        summary.accuracy_bounds,
        summary.accuracy_ci95,
    );
    let (correct, scored) = (summary.correct, summary.scored);
    match (summary.accuracy_bounds, accuracy::missing(summary)) {
        (None, None) => told,
        (_, Some(missing)) if scored == 0 => format!("not known, {missing}"),
        (_, Some(missing)) => format!("{told} ({correct} of the {scored} scored, {missing})"),
        (_, None) => format!("{told} ({correct} of {scored})"),
    }
}

/// The sides on which a difference can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum ChangeSide {
    Worse,
    Better,
    NotToldApart,
    /// Better, were it not for samples without a verdict.
    Open,
}

/// On which side a change is: its interval tells, never the difference alone.
pub(in crate::report) fn side(change: &BaselineChange, summary: &Summary) -> ChangeSide {
    match change.difference_ci95 {
        [_, high] if high < 0.0 => ChangeSide::Worse,
        [low, _] if low > 0.0 && surely(summary).is_none() => ChangeSide::Open,
        [low, _] if low > 0.0 => ChangeSide::Better,
        _ => ChangeSide::NotToldApart,
    }
}

/// `+3.1 points (95 % confidence interval -1.2 to +7.4)`.
pub(in crate::report) fn difference(change: &BaselineChange) -> String {
    Points(change.difference).with_ci95(change.difference_ci95)
}

/// The change with what follows of it.
pub(super) fn change(change: &BaselineChange, summary: &Summary) -> String {
    let side = match side(change, summary) {
        ChangeSide::Worse => "worse",
        ChangeSide::Better => "better",
        ChangeSide::NotToldApart => "not told apart",
        ChangeSide::Open => "open for those without a verdict",
    };
    format!(
        "{}, {side}: {} became wrong, {} became right, of {} that both have",
        difference(change),
        change.worse,
        change.better,
        change.n
    )
}

/// What a thousand answers cost, by those that tell: `1.1800 USD per 1,000 answers, by the 68 of 90 that tell`.
pub(super) fn cost_per_thousand(summary: &Summary, of: &str) -> Option<String> {
    let usage = &summary.usage;
    let cost = usage.cost_usd.filter(|_| usage.samples > 0)?;
    let told = Usd(cost / as_f64(usage.samples) * 1000.0);
    let asked = summary.scored + summary.errors + summary.unscored;
    let asked = asked.saturating_sub(summary.cached);
    Some(if usage.samples < asked {
        format!("{told}{of}, by the {} of {asked} that tell", usage.samples)
    } else {
        format!("{told}{of}")
    })
}

/// How many gates came out how, the worst first.
pub(super) fn gates(summary: &Summary) -> Option<String> {
    let counted = |verdict: Verdict| {
        let of = summary.gates.iter().filter(|it| it.verdict == verdict);
        of.count()
    };
    let words = [
        (Verdict::Failed, "failed"),
        (Verdict::Inconclusive, "inconclusive"),
        (Verdict::Ignored, "ignored"),
        (Verdict::Passed, "passed"),
    ];
    let words = words
        .into_iter()
        .map(|(verdict, word)| (counted(verdict), word))
        .filter(|(count, _)| *count > 0);
    let words: Vec<_> = words
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Answers that were asked for and did not come, and how many were asked for.
pub(super) fn outages(summary: &Summary) -> (u64, u64) {
    let lacking = summary.errors.saturating_sub(summary.unjudged()) + summary.failed_as_wrong;
    let asked = summary.scored + summary.errors + summary.unscored;
    (lacking, asked)
}

/// `a, b, c and 4 more`.
pub(super) fn listed(ids: &[String], of: u64) -> String {
    let more = of.saturating_sub(ids.len() as u64);
    let named = ids.join(", ");
    match more {
        0 => named,
        _ => format!("{named} and {more} more"),
    }
}

/// `level` as `Level`.
pub(super) fn titled(name: &str) -> String {
    let name = name.replace('_', " ");
    let mut chars = name.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}
