//! The matrix for people.

use std::io::{self, Write};

use evaltest::engine::figure::{CI95, Interval, Share, or_dash};
use evaltest::engine::report::render::terminal::table::{self, cut};
use evaltest::engine::text::{clean, excerpt};
use evaltest::engine::verdict::ScorerPair;
use serde_json::Value;

use super::matrix::{Divided, Matrix};

/// What a name may take of a line.
const NAME: usize = 24;

pub(super) fn write(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    heading(matrix, out)?;
    scorers(matrix, out)?;
    leniency(matrix, out)?;
    pairs(matrix, out)?;
    divided(matrix, out)
}

fn heading(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    let counts = &matrix.counts;
    writeln!(
        out,
        "{} answers of {}",
        matrix.agreement.samples,
        clean(&matrix.input)
    )?;
    let notes = [
        (counts.unanswered, "samples without an answer are left out"),
        (counts.hidden, "answers without a ground truth are left out"),
        (
            counts.lost,
            "answers lost a secret: only recorded verdicts on them count",
        ),
    ];
    for (count, what) in notes.iter().filter(|(count, _)| *count > 0) {
        writeln!(out, "  {count} {what}")?;
    }
    if !matrix.silent.is_empty() {
        let names: Vec<String> = matrix.silent.iter().map(|name| clean(name)).collect();
        writeln!(
            out,
            "  left out, not made for such ground truths: {}",
            names.join(", ")
        )?;
    }
    Ok(())
}

fn scorers(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    let titles = ["scorer", "correct", "accuracy", CI95];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for (place, scorer) in matrix.agreement.scorers.iter().enumerate() {
        let mark = if place == matrix.reference {
            " (reference)"
        } else {
            ""
        };
        let interval = scorer.accuracy_ci95;
        let mut row = vec![
            cut(&clean(&scorer.name), NAME) + mark,
            format!("{} of {}", scorer.correct, scorer.judged),
            or_dash(scorer.accuracy.map(Share)),
            or_dash(interval.map(|ci95| Interval(ci95.map(Share)))),
        ];
        if scorer.cannot_judge > 0 {
            row.push(format!("cannot judge {}", scorer.cannot_judge));
        }
        rows.push(row);
    }
    writeln!(out)?;
    table::write("", &rows, out)
}

fn leniency(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nhow much of a score is leniency:")?;
    for against in matrix.agreement.leniency(matrix.reference) {
        writeln!(out, "  {}", clean(&against.to_string()))?;
    }
    Ok(())
}

/// Agreement in per cent above the diagonal, kappa below it.
fn pairs(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
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
    let mut rows: Vec<Vec<String>> = vec![std::iter::once(String::new()).chain(titles).collect()];
    for (row, scorer) in scorers.iter().enumerate() {
        let name = format!("{:>2} {}", row + 1, cut(&clean(&scorer.name), NAME));
        let cells = (0..count).map(|column| cell(row, column));
        rows.push(std::iter::once(name).chain(cells).collect());
    }
    writeln!(
        out,
        "\nagreement in % of the answers that both judge; below the diagonal Cohen's kappa:"
    )?;
    table::write("", &rows, out)
}

/// At most four characters, so that ten columns fit.
fn in_percent(share: f64) -> String {
    let text = format!("{share:.1}");
    // What is all but 100 is not to look like 100.
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

fn divided(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    let all = matrix.agreement.disagreements;
    let shown = matrix.divided.len();
    if all == 0 {
        return writeln!(out, "\nno answer divides the scorers");
    }
    let first = if shown as u64 == all {
        String::new()
    } else {
        format!(", the first {shown} (`--show N`, all with `--json`)")
    };
    let of = matrix.agreement.samples;
    writeln!(out, "\n{all} of {of} answers divide the scorers{first}:")?;
    matrix
        .divided
        .iter()
        .try_for_each(|divided| one(divided, matrix, out))
}

fn one(divided: &Divided, matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    let truth = match &divided.ground_truth {
        Value::String(text) => format!("\"{}\"", excerpt(text)),
        other => excerpt(&other.to_string()),
    };
    let said = match &divided.prediction {
        Some(text) => format!("\"{}\"", excerpt(text)),
        None => "nothing".to_owned(),
    };
    writeln!(
        out,
        "  {}: prediction {said}, ground truth {truth}",
        clean(&divided.id)
    )?;
    let kinds = [
        (Some(true), "accepted by"),
        (Some(false), "rejected by"),
        (None, "not judged by"),
    ];
    let mut parts = Vec::new();
    for (kind, title) in kinds {
        let scorers = matrix.agreement.scorers.iter().zip(&divided.votes);
        let who = scorers.filter(|(_, vote)| **vote == kind);
        let who: Vec<String> = who.map(|(scorer, _)| clean(&scorer.name)).collect();
        if !who.is_empty() {
            parts.push(format!("{title} {}", who.join(", ")));
        }
    }
    writeln!(out, "    {}", parts.join("; "))
}
