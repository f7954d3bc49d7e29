//! The matrix as text.

use evaltest::engine::figure::{CI95, Interval, Share, counted, or_dash};
use evaltest::engine::report::document::{Block, Document, Table};
use evaltest::engine::report::render::terminal::truncate;
use evaltest::engine::text::excerpt;
use evaltest::engine::verdict::ScorerPair;
use serde_json::Value;

use super::matrix::{Divided, Matrix};

/// Maximum width of a name.
const NAME: usize = 24;

pub(super) fn text(matrix: &Matrix) -> Document {
    let mut text = heading(matrix);
    text.table(scorers(matrix));
    text.section("leniency compared with the reference:");
    let leniency = matrix.agreement.leniency(matrix.reference).into_iter();
    text.list(leniency.map(|against| against.to_string()));
    text.section(
        "agreement in % of the answers that both judge; Cohen's kappa below the diagonal:",
    );
    text.table(pairs(matrix));
    divided(matrix, &mut text);
    text
}

fn heading(matrix: &Matrix) -> Document {
    let counts = &matrix.counts;
    let samples = matrix.agreement.samples;
    let mut text = Document::new(format!(
        "{} of {}",
        counted(samples, "answer"),
        matrix.input
    ));
    let notes = [
        (counts.unanswered, "sample", "without an answer: skipped"),
        (counts.hidden, "answer", "without a ground truth: skipped"),
        (
            counts.lost,
            "answer",
            "with a redacted secret: only recorded verdicts count",
        ),
    ];
    let notes = notes.into_iter().filter(|(count, ..)| *count > 0);
    text.list(notes.map(|(count, noun, what)| format!("{} {what}", counted(count, noun))));
    if !matrix.silent.is_empty() {
        text.paragraph(format!(
            "skipped, because they do not support these ground truths: {}",
            matrix.silent.join(", ")
        ));
    }
    text
}

fn scorers(matrix: &Matrix) -> Table {
    let mut table = Table::of_numbers(["scorer", "correct", "accuracy", CI95]);
    for (place, scorer) in matrix.agreement.scorers.iter().enumerate() {
        let is_reference = place == matrix.reference;
        let mark = if is_reference { " (reference)" } else { "" };
        let interval = scorer.accuracy_ci95;
        let mut row = vec![
            truncate(&scorer.name, NAME) + mark,
            format!("{} of {}", scorer.correct, scorer.judged),
            or_dash(scorer.accuracy.map(Share)),
            or_dash(interval.map(|ci95| Interval(ci95.map(Share)))),
        ];
        if scorer.cannot_judge > 0 {
            row.push(format!("cannot judge {}", scorer.cannot_judge));
        }
        table.row(row);
    }
    table
}

/// Agreement in per cent above the diagonal, kappa below it.
fn pairs(matrix: &Matrix) -> Table {
    let scorers = &matrix.agreement.scorers;
    let pair = |row: usize, column: usize| {
        let (one, other) = (&scorers[row].name, &scorers[column].name);
        let pairs = &matrix.agreement.pairs;
        pairs.iter().find(|pair| {
            (&pair.one, &pair.other) == (one, other) || (&pair.other, &pair.one) == (one, other)
        })
    };
    let cell = |row: usize, column: usize| {
        let figure = |pair: &ScorerPair| {
            if row < column {
                pair.agreement.map(|share| in_percent(share * 100.0))
            } else {
                pair.kappa.map(in_hundredths)
            }
        };
        pair(row, column).and_then(figure).unwrap_or("-".to_owned())
    };
    let count = scorers.len();
    let titles = (1..=count).map(|number| number.to_string());
    let mut table = Table::of_numbers(std::iter::once(String::new()).chain(titles));
    for (row, scorer) in scorers.iter().enumerate() {
        let name = format!("{:>2} {}", row + 1, truncate(&scorer.name, NAME));
        let cells = (0..count).map(|column| cell(row, column));
        table.row(std::iter::once(name).chain(cells));
    }
    table
}

/// At most four characters, so that ten columns fit.
fn in_percent(share: f64) -> String {
    let text = format!("{share:.1}");
    // Only exactly 100 % may be shown as 100.
    match text.as_str() {
        "100.0" if share < 100.0 => "99.9".to_owned(),
        "100.0" => "100".to_owned(),
        _ => text,
    }
}

fn in_hundredths(kappa: f64) -> String {
    let text = format!("{kappa:.2}");
    match text.as_str() {
        "-0.00" => "0.00".to_owned(),
        _ => text,
    }
}

fn divided(matrix: &Matrix, text: &mut Document) {
    let all = matrix.agreement.disagreements;
    let listed = matrix.divided.len();
    if all == 0 {
        text.section("the scorers agree on all answers");
        return;
    }
    let first = if listed as u64 == all {
        String::new()
    } else {
        format!(", the first {listed} (`--show N`, all with `--json`)")
    };
    let of = matrix.agreement.samples;
    text.section(format!(
        "the scorers disagree on {all} of {of} answers{first}:"
    ));
    let divided = matrix.divided.iter();
    text.blocks
        .extend(divided.map(|divided| one(divided, matrix)));
}

fn one(divided: &Divided, matrix: &Matrix) -> Block {
    let truth = match &divided.ground_truth {
        Value::String(text) => format!("\"{}\"", excerpt(text)),
        other => excerpt(&other.to_string()),
    };
    let prediction = match &divided.prediction {
        Some(text) => format!("\"{}\"", excerpt(text)),
        None => "nothing".to_owned(),
    };
    let kinds = [
        (Some(true), "accepted by"),
        (Some(false), "rejected by"),
        (None, "not judged by"),
    ];
    let mut parts = Vec::new();
    for (kind, title) in kinds {
        let scorers = matrix.agreement.scorers.iter().zip(&divided.votes);
        let who = scorers.filter(|(_, vote)| **vote == kind);
        let who: Vec<&str> = who.map(|(scorer, _)| &*scorer.name).collect();
        if !who.is_empty() {
            parts.push(format!("{title} {}", who.join(", ")));
        }
    }
    let id = &divided.id;
    Block::group(
        format!("{id}: prediction {prediction}, ground truth {truth}"),
        [Block::paragraph(parts.join("; "))],
    )
}
