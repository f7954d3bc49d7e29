//! Formats accuracies: a point with its interval, or a range if verdicts are missing.

use super::items;
use crate::figure::{Interval, Share};
use crate::report::document::{IntervalRow, Line};
use crate::verdict::summary::{Subject, Summary};

/// Whether missing verdicts make a share uncertain.
pub(in crate::report) fn is_open(bounds: Option<[f64; 2]>) -> bool {
    bounds.is_some_and(|[low, high]| low < high)
}

/// `66.7 %`, or with missing verdicts a range: `66.7 % to 100.0 %`. `None` without a value.
pub(in crate::report) fn display(share: Option<f64>, bounds: Option<[f64; 2]>) -> Option<String> {
    match bounds.filter(|_| is_open(bounds)) {
        Some(range) => Some(Interval(range.map(Share)).to_string()),
        None => share.map(|share| Share(share).to_string()),
    }
}

/// The same with the interval in brackets, or that it is a range; `-` without a value.
pub(in crate::report) fn cell(
    share: Option<f64>,
    bounds: Option<[f64; 2]>,
    ci95: Option<[f64; 2]>,
) -> String {
    match (display(share, bounds), ci95) {
        (Some(range), _) if is_open(bounds) => format!("{range} (range)"),
        (Some(share), Some(ci95)) => format!("{share} ({})", Interval(ci95.map(Share))),
        (Some(share), None) => share,
        (None, _) => "-".to_owned(),
    }
}

/// The same with a full description of the interval: `66.7 %, 95 % confidence interval 51.2 % to 79.1 %`.
pub(in crate::report) fn spelled(
    share: Option<f64>,
    bounds: Option<[f64; 2]>,
    ci95: Option<[f64; 2]>,
) -> String {
    match display(share, bounds) {
        Some(share) => share + &comma_ci95(ci95.filter(|_| !is_open(bounds))),
        None => "nothing was scored".to_owned(),
    }
}

/// `, 95 % confidence interval 51.2 % to 72.0 %`; empty if there is none.
pub(in crate::report) fn comma_ci95(ci95: Option<[f64; 2]>) -> String {
    ci95.map_or_else(String::new, |ci95| {
        format!(", {}", Interval(ci95.map(Share)).ci95())
    })
}

/// How many verdicts are missing and make the accuracy a range.
pub(in crate::report) fn missing_verdicts(summary: &Summary) -> u64 {
    let needed = match summary.early_stop {
        None => summary.skipped,
        Some(_) => 0,
    };
    summary.errors + needed
}

/// Whether the answers to those were there, or nobody was asked.
fn is_answered(summary: &Summary) -> bool {
    summary.unjudged + summary.not_judged > 0 || summary.subject() != Subject::Answers
}

/// What so many answers without a verdict are: `are missing`.
pub(in crate::report) fn are_missing(summary: &Summary, count: u64) -> &'static str {
    match (is_answered(summary), count) {
        (true, 1) => "has no verdict",
        (true, _) => "have no verdict",
        (false, 1) => "is missing",
        (false, _) => "are missing",
    }
}

/// `10 of 30 without an answer`, if any.
pub(in crate::report) fn missing(summary: &Summary) -> Option<String> {
    let unknown = missing_verdicts(summary);
    let what = if is_answered(summary) {
        "a verdict"
    } else {
        "an answer"
    };
    let all = summary.scored + unknown;
    (unknown > 0).then(|| format!("{unknown} of {all} without {what}"))
}

/// The accuracy of a run with its interval, unless verdicts are missing.
pub(in crate::report) fn known(summary: &Summary) -> Option<(f64, [f64; 2])> {
    let known = summary.accuracy.zip(summary.accuracy_ci95);
    known.filter(|_| !is_open(summary.accuracy_bounds))
}

/// The accuracy of a run with the number of answers; of pairs the win rate.
pub(in crate::report) fn value(summary: &Summary) -> String {
    if let Some(pairs) = items::deciding_pairs(summary) {
        let rate = items::win_rate(pairs).unwrap_or_else(|| "unknown".to_owned());
        return format!("{rate} ({})", items::pair_counts(pairs));
    }
    let share = spelled(
        summary.accuracy,
        summary.accuracy_bounds,
        summary.accuracy_ci95,
    );
    let (correct, scored) = (summary.correct, summary.scored);
    match (summary.accuracy_bounds, missing(summary)) {
        (None, None) => share,
        (_, Some(missing)) if scored == 0 => format!("unknown, {missing}"),
        (_, Some(missing)) => format!("{share} ({correct} of the {scored} scored, {missing})"),
        (_, None) => format!("{share} ({correct} of {scored})"),
    }
}

/// The same as a sentence; of items with their points.
pub(in crate::report) fn sentence(summary: &Summary) -> Line {
    let share = display(summary.accuracy, summary.accuracy_bounds);
    let (correct, scored) = (summary.correct, summary.scored);
    let line = Line::default();
    if let Some(pairs) = items::deciding_pairs(summary) {
        let rate = items::win_rate(pairs).unwrap_or_else(|| "unknown".to_owned());
        let counts = items::pair_counts(pairs);
        return line.plain("Win rate ").strong(rate).plain(format!(
            ", ties and inconsistent pairs count half: {counts}."
        ));
    }
    if summary.subject() == Subject::Items {
        let Some(share) = share else {
            return line.plain("No item was judged.");
        };
        let lacking = missing(summary).map(|missing| format!(" ({missing})"));
        let ci95 = comma_ci95(summary.accuracy_ci95.filter(|_| lacking.is_none()));
        let line = line
            .strong(share + &lacking.unwrap_or_default())
            .plain(format!(" of the items pass: {correct} of {scored}{ci95}."));
        let Some(points) = items::deciding_points(summary) else {
            return line;
        };
        let line = line
            .plain(" On average they get ")
            .strong(points.total.text());
        return match points.excellent.share {
            Some(share) => line.plain(format!("; {} are excellent.", Share(share))),
            None => line.plain("."),
        };
    }
    match (share, missing(summary)) {
        (Some(range), Some(_)) => {
            let missing = missing_verdicts(summary);
            let are = are_missing(summary, missing);
            line.strong(range).plain(format!(
                " correct: {correct} of {} answers {} correct, {missing} {are}.",
                scored + missing,
                if correct == 1 { "is" } else { "are" }
            ))
        }
        (Some(share), None) => {
            let ci95 = comma_ci95(summary.accuracy_ci95);
            line.strong(share)
                .plain(format!(" correct: {correct} of {scored}{ci95}."))
        }
        (None, _) => line.plain("Nothing was scored."),
    }
}

/// A chart row of an accuracy.
pub(in crate::report) fn row(
    label: impl Into<String>,
    share: Option<f64>,
    bounds: Option<[f64; 2]>,
    ci95: Option<[f64; 2]>,
    note: String,
) -> IntervalRow {
    IntervalRow {
        label: label.into(),
        value: share,
        interval: ci95.filter(|_| !is_open(bounds)),
        range: bounds.filter(|_| is_open(bounds)),
        figures: cell(share, bounds, ci95),
        note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_errors_it_is_a_range() {
        fn check(share: Option<f64>, bounds: Option<[f64; 2]>, expect: Option<&str>) {
            assert_eq!(display(share, bounds).as_deref(), expect);
        }
        check(
            Some(1.0),
            Some([20.0 / 30.0, 1.0]),
            Some("66.7 % to 100.0 %"),
        );
        check(None, Some([0.0, 1.0]), Some("0.0 % to 100.0 %"));
        check(Some(0.5), Some([0.5, 0.5]), Some("50.0 %"));
        // Runs of older versions have no bounds.
        check(Some(0.5), None, Some("50.0 %"));
        check(None, None, None);
    }
}
