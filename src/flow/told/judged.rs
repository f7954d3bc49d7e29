//! The points of a judge.

use super::words::{cell, mean_interval, mean_points};
use crate::figure::{Scale, ci95, counted, or_dash};
use crate::flow::figures::{DimensionPoints, ItemPoints, JudgeWorth, PointMean};
use crate::flow::rating::ItemRating;
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Block, Document, Line, Table};

/// The points of a judge.
pub(super) fn judged(judged: &ItemPoints, text: &mut Document) {
    text.paragraph(
        Line::default()
            .plain("Average ")
            .strong(mean_points(&judged.total))
            .plain(format!(
                "{}, of {}.",
                rated(&judged.total),
                counted(judged.total.n, "item")
            )),
    );
    if judged.unread > 0 {
        let reasons = judged.reasons.iter();
        let reasons = reasons.map(|(reason, times)| format!("{times} {reason}"));
        let reasons: Vec<_> = reasons.collect();
        text.note(format!(
            "{} of {} could not be judged, for no reply could be read ({}). They are in no figure here, and gates count them \
             as the best and as the worst.",
            judged.unread,
            counted(judged.items, "item"),
            reasons.join(", ")
        ));
    }
    let heads = [
        ("by the rubric", Left),
        ("items", Right),
        (ci95!("share ("; ")"), Left),
    ];
    let mut rates = Table::new(&heads);
    for (what, share) in [("pass", &judged.pass), ("excellent", &judged.excellent)] {
        rates.row([what.to_owned(), share.part.to_string(), cell(share)]);
    }
    text.table(rates);
    table("dimension", &judged.dimensions, text);
    if judged.topics.len() > 1 {
        text.part("Topics before the judge");
        table("topic", &judged.topics, text);
    }
    text.part("What the judge is worth");
    worth(&judged.worth, &judged.notes, text);
}

/// Means with their ratings.
pub(super) fn table(what: &str, rows: &[DimensionPoints], text: &mut Document) {
    let mut table = Table::new(&[
        (what, Left),
        ("mean", Right),
        (ci95!(), Right),
        ("rating", Left),
        ("items", Right),
    ]);
    for row in rows {
        let mean = row.points.mean;
        let rating = mean.zip(row.points.scale);
        table.row([
            row.name.replace('_', " "),
            or_dash(mean.map(|mean| Scale(mean, 2))),
            or_dash(mean_interval(&row.points)),
            rating.map_or_else(
                || "-".to_owned(),
                |(mean, scale)| ItemRating::of(mean, scale).to_string(),
            ),
            row.points.n.to_string(),
        ]);
    }
    text.table(table);
}

/// What labels of people say of the judge, and what is to be known of how it judges.
pub(super) fn worth(worth: &JudgeWorth, notes: &[String], text: &mut Document) {
    let told = format!("The judge is {}.", worth.told);
    if worth.calibrated {
        text.paragraph(told);
    } else {
        text.note(told);
    }
    let lines = worth.corrected.iter().chain(notes);
    let lines: Vec<_> = lines.map(|line| Line::default().marked(line)).collect();
    if !lines.is_empty() {
        text.blocks.push(Block::List(lines));
    }
}

/// `: good, by its interval acceptable to excellent`.
fn rated(mean: &PointMean) -> String {
    let (Some(value), Some(scale)) = (mean.mean, mean.scale) else {
        return String::new();
    };
    let word = ItemRating::of(value, scale);
    match mean
        .ci95
        .map(|ends| ends.map(|end| ItemRating::of(end, scale)))
    {
        Some([low, high]) if low < high => format!(": {word}, by its interval {low} to {high}"),
        _ => format!(": {word}"),
    }
}
