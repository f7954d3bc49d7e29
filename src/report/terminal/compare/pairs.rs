//! Three runs or more: each by itself, and all pairs of them.

use std::io::{self, Write};

use crate::figure::{P, ci95, or_dash};
use crate::report::compare::figures::figure_rows;
use crate::report::compare::said::{ALPHA, difference_cells, rows_apart};
use crate::report::compare::{ComparedRun, RunPair};
use crate::report::render::terminal::table;

/// Writes the runs side by side, and then all pairs of them.
pub(super) fn write(
    runs: &[ComparedRun],
    pairs: &[RunPair],
    out: &mut dyn Write,
) -> io::Result<()> {
    let all: Vec<&ComparedRun> = runs.iter().collect();
    let letters = runs.iter().map(|run| run.letter.clone());
    let mut rows = vec![std::iter::once(String::new()).chain(letters).collect()];
    let figures = figure_rows(&all).into_iter();
    rows.extend(figures.map(|(title, cells)| std::iter::once(title).chain(cells).collect()));
    table::write("  ", &rows, out)?;
    writeln!(out)?;
    let heads = ["", "pairs", "points", ci95!(), "p", "Holm", ""];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(pairs.iter().map(|pair| row(runs, pair)));
    table::write("  ", &rows, out)?;
    let names = pairs.iter().map(|pair| name(runs, pair));
    let names: Vec<_> = names.collect();
    let figures = pairs.iter().map(|pair| &pair.comparison.whole);
    let named = names.iter().map(String::as_str).zip(figures);
    if let Some(note) = rows_apart(named) {
        writeln!(out, "  {note}")?;
    }
    for line in pairs.iter().filter_map(|pair| pair.left_out(runs)) {
        writeln!(out, "  {line}")?;
    }
    writeln!(
        out,
        "p is two-sided, and Holm adjusts it over all pairs: two runs are told apart where the interval leaves out 0 and the \
         adjusted p is below {ALPHA}. Name two of them to see who flipped, and what cannot be paired"
    )
}

fn name(runs: &[ComparedRun], pair: &RunPair) -> String {
    let [a, b] = pair.places.map(|place| &*runs[place].letter);
    format!("{b} less {a}")
}

fn row(runs: &[ComparedRun], pair: &RunPair) -> Vec<String> {
    let figures = &pair.comparison.whole;
    let p = |p: Option<f64>| or_dash(p.map(|p| P(p).cell()));
    let mut row = vec![name(runs, pair), figures.n.to_string()];
    row.extend(difference_cells(figures));
    row.extend([p(figures.p_two_sided), p(pair.p_holm), pair.said()]);
    row
}
