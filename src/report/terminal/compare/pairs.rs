//! Three runs or more: each by itself, and all pairs of them.

use std::io::{self, Write};

use super::{ALPHA, difference_cells, rows_of, word};
use crate::report::compare::{ComparedRun, RunPair};
use crate::report::terminal::table;
use crate::verdict::check::{ComparedVerdict, show_p};

/// Writes the runs side by side, and then all pairs of them.
pub(super) fn write(
    runs: &[ComparedRun],
    pairs: &[RunPair],
    out: &mut dyn Write,
) -> io::Result<()> {
    let all: Vec<&ComparedRun> = runs.iter().collect();
    let letters = runs.iter().map(|run| run.letter.clone());
    let mut rows = vec![std::iter::once(String::new()).chain(letters).collect()];
    let figures = rows_of(&all);
    rows.extend(figures.map(|(title, cells)| {
        let title = std::iter::once(title.to_owned());
        title.chain(cells).collect::<Vec<_>>()
    }));
    table::write("  ", &rows, out)?;
    writeln!(out)?;
    let heads = ["", "pairs", "points", "95 % interval", "p", "Holm", ""];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(pairs.iter().map(|pair| row(runs, pair)));
    table::write("  ", &rows, out)?;
    for pair in pairs {
        let [a, b] = pair.places.map(|place| &*runs[place].letter);
        if let Some(left) = left_out([a, b], pair) {
            writeln!(out, "  {b} less {a} leaves out {left}")?;
        }
    }
    writeln!(
        out,
        "p is two-sided, and Holm adjusts it over all pairs: two runs are told apart where the interval leaves out 0 and the \
         adjusted p is below {ALPHA}. Name two of them to see who flipped, and what cannot be paired"
    )
}

/// What of two runs cannot be paired, in numbers.
fn left_out([a, b]: [&str; 2], pair: &RunPair) -> Option<String> {
    let unpaired = &pair.unpaired;
    let lists = [
        (&unpaired.only_in_a, format!("only in {a}")),
        (&unpaired.only_in_b, format!("only in {b}")),
        (
            &unpaired.changed,
            "with another question, file or ground truth".to_owned(),
        ),
        (
            &unpaired.without_verdict,
            "without a verdict in one of the two".to_owned(),
        ),
    ];
    let told = lists.iter().filter(|(ids, _)| !ids.is_empty());
    let told = told.map(|(ids, what)| format!("{} {what}", ids.count()));
    let told = told.collect::<Vec<_>>().join(", ");
    (!told.is_empty()).then_some(told)
}

fn row(runs: &[ComparedRun], pair: &RunPair) -> Vec<String> {
    let [a, b] = pair.places.map(|place| &*runs[place].letter);
    let figures = &pair.comparison.whole;
    let p = |p: Option<f64>| p.map_or_else(|| "-".to_owned(), show_p);
    let mut row = vec![format!("{b} less {a}"), figures.n.to_string()];
    row.extend(difference_cells(figures));
    row.extend([p(figures.p_two_sided), p(pair.p_holm), told(pair)]);
    row
}

/// What the pair says beside all others.
fn told(pair: &RunPair) -> String {
    let verdict = pair.comparison.whole.verdict;
    let is_sure = pair.p_holm.is_some_and(|p| p < ALPHA);
    let verdict = match verdict {
        ComparedVerdict::Worse | ComparedVerdict::Better if !is_sure => {
            ComparedVerdict::NotToldApart
        }
        verdict => verdict,
    };
    match &pair.comparison.judge {
        None => word(verdict).to_owned(),
        Some(_) => format!("{} (judged by another model)", word(verdict)),
    }
}
