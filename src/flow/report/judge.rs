//! The section on the scores of the judge and the verifications by people.

use std::fmt;

use super::{counts, shares};
use crate::figure::{Scale, ci95, counted, or_dash};
use crate::flow::figures::{DimensionPoints, ItemPoints, JudgeWorth, PointMean, ReviewedItems};
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Document, Line, Table};

/// The points of a judge.
pub(super) fn judge(judged: &ItemPoints, report: &mut Document) {
    report.paragraph(
        Line::default()
            .plain("Average ")
            .strong(judged.total.text())
            .plain(format!(
                "{}, of {}.",
                rated(&judged.total),
                counted(judged.total.n, "item")
            )),
    );
    if judged.unread > 0 {
        report.note(format!(
            "{} of {} could not be judged, for no reply could be read ({}). They are in no figure here, and gates count them \
             as the best and as the worst.",
            judged.unread,
            counted(judged.items, "item"),
            counts(&judged.reasons)
        ));
    }
    let rates = [("pass", judged.pass), ("excellent", judged.excellent)];
    report.table(shares(["by the rubric", "items"], rates));
    report.table(means("dimension", &judged.dimensions));
    if judged.topics.len() > 1 {
        report.part("Topics before the judge");
        report.table(means("topic", &judged.topics));
    }
    report.part("Judge calibration");
    worth(&judged.worth, &judged.notes, report);
}

/// The verifications by people.
pub(super) fn people(reviewed: &ReviewedItems, report: &mut Document) {
    report.part("What people say");
    report.paragraph(format!("Reviewed: {}.", reviewed.reviewed.text("items")));
    let statuses = [
        ("approved", reviewed.approved),
        ("rejected", reviewed.rejected),
        ("needs revision", reviewed.needs_revision),
    ];
    report.table(shares(["status", "items"], statuses));
    report.table(means("dimension, by people", &reviewed.dimensions));
    if let Some(agreement) = &reviewed.agreement {
        report.paragraph(agreement.as_str());
    }
}

/// How far the judge agrees with people, and notices about how it scores.
pub(super) fn worth(worth: &JudgeWorth, notes: &[String], report: &mut Document) {
    let text = format!("The judge is {}.", worth.text);
    if worth.calibrated {
        report.paragraph(text);
    } else {
        report.note(text);
    }
    let lines = worth.corrected.iter().chain(notes);
    report.list(lines.map(|line| Line::default().marked(line)));
}

/// Means with their ratings.
fn means(what: &str, rows: &[DimensionPoints]) -> Table {
    let mut table = Table::new(&[
        (what, Left),
        ("mean", Right),
        (ci95!(), Right),
        ("rating", Left),
        ("items", Right),
    ]);
    for DimensionPoints { name, points } in rows {
        let rating = points.mean.zip(points.scale);
        table.row([
            name.replace('_', " "),
            or_dash(points.mean.map(|mean| Scale(mean, 2))),
            or_dash(points.ci95()),
            or_dash(rating.map(|(mean, scale)| ItemRating::of(mean, scale))),
            points.n.to_string(),
        ]);
    }
    table
}

/// A mean with its rating and the ratings of its interval: `: good, by its interval acceptable to excellent`.
fn rated(mean: &PointMean) -> String {
    let (Some(value), Some(scale)) = (mean.mean, mean.scale) else {
        return String::new();
    };
    let rating = ItemRating::of(value, scale);
    let ends = mean.ci95;
    match ends.map(|ends| ends.map(|end| ItemRating::of(end, scale))) {
        Some([low, high]) if low < high => format!(": {rating}, by its interval {low} to {high}"),
        _ => format!(": {rating}"),
    }
}

/// A rating for points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ItemRating {
    /// Less than 3.0.
    Poor,
    /// 3.0 or more.
    Weak,
    /// 3.5 or more.
    Acceptable,
    /// 4.0 or more.
    Good,
    /// 4.5 or more.
    Excellent,
}

/// The ratings with their minimum points, on the scale from 1 to 5.
const RATINGS: [(f64, ItemRating); 4] = [
    (4.5, ItemRating::Excellent),
    (4.0, ItemRating::Good),
    (3.5, ItemRating::Acceptable),
    (3.0, ItemRating::Weak),
];

impl ItemRating {
    /// The rating of a mean; other scales are mapped to 1 to 5.
    fn of(points: f64, [low, high]: [f64; 2]) -> Self {
        let points = 1.0 + 4.0 * (points - low) / (high - low);
        let found = RATINGS.iter().find(|(least, _)| points >= *least);
        found.map_or(Self::Poor, |(_, rating)| *rating)
    }
}

impl fmt::Display for ItemRating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Poor => "poor",
            Self::Weak => "weak",
            Self::Acceptable => "acceptable",
            Self::Good => "good",
            Self::Excellent => "excellent",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rating_scale_starts_at_stated_minimum() {
        let check = |points: f64, expect: &str| {
            assert_eq!(ItemRating::of(points, [1.0, 5.0]).to_string(), expect);
        };
        check(5.0, "excellent");
        check(4.5, "excellent");
        check(4.499, "good");
        check(4.0, "good");
        check(3.999, "acceptable");
        check(3.5, "acceptable");
        check(3.4, "weak");
        check(3.0, "weak");
        check(2.99, "poor");
        check(1.0, "poor");
        // 9 of 10 is 4.6 of 5.
        assert_eq!(ItemRating::of(9.0, [0.0, 10.0]), ItemRating::Excellent);
    }
}
