//! Runs side by side: what became of the second, by how much and how sure that is, and where they differ.

mod means;
mod pairs;

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::LISTED;
use crate::figure::{P, ci95, or_dash};
use crate::report::compare::figures::figure_rows;
use crate::report::compare::ids::IdList;
use crate::report::compare::said::{difference_cells, rows_apart, said, share};
use crate::report::compare::texts::{FlipAnswer, FlipTexts, ShownFlips};
use crate::report::compare::{ComparedRun, ComparedRuns, RunPair, UnpairedIds};
use crate::report::render::terminal::table::{self, cut};
use crate::text::{clean, excerpt};
use crate::verdict::check::PairedFigures;

/// So many characters of a name are shown.
const MOST: usize = 28;

/// Writes two runs side by side, or a table of all pairs of several. The flips are those of two runs.
pub fn write(
    compared: &ComparedRuns,
    flips: ShownFlips<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for run in &compared.runs {
        writeln!(out, "{}", named(run))?;
    }
    for notice in &compared.notices {
        writeln!(out, "note: {}", clean(notice))?;
    }
    writeln!(out)?;
    match (&*compared.runs, &*compared.pairs) {
        ([a, b], [pair]) => two([a, b], pair, flips, out),
        (runs, pairs) => pairs::write(runs, pairs, out),
    }
}

/// `A: gaia-3f09ab, 2026-11-23 07:51, openai gpt-5`
fn named(run: &ComparedRun) -> String {
    let minute = run.started_at.get(..16).unwrap_or(&run.started_at);
    let agent = [run.agent.as_deref(), run.model.as_deref()];
    let agent: Vec<_> = agent.into_iter().flatten().map(clean).collect();
    format!(
        "{}: {} of {}, {}, {}",
        run.letter,
        clean(&run.run_id),
        clean(&run.eval),
        clean(&minute.replace('T', " ")),
        agent.join(" ")
    )
}

fn two(
    runs: [&ComparedRun; 2],
    pair: &RunPair,
    flips: ShownFlips<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let compared = &pair.comparison;
    for (place, sentence) in said(runs, compared).iter().enumerate() {
        let indent = if place == 0 { "" } else { "  " };
        writeln!(out, "{indent}{sentence}")?;
    }
    writeln!(out)?;
    figures(runs, out)?;
    for (dimension, values) in &compared.slices {
        by_name(dimension, values, out)?;
    }
    by_name("scorer", &compared.scorers, out)?;
    means::write(&compared.means, out)?;
    let texts = flips.texts();
    for (title, ids, worse) in [
        ("became wrong", &pair.flips.worse, true),
        ("became correct", &pair.flips.better, false),
    ] {
        if ids.is_empty() {
            continue;
        }
        writeln!(out, "\n{title}, {}: {}", ids.count(), ids_of(ids))?;
        for flip in texts.iter().filter(|flip| flip.worse == worse) {
            one_flip(runs, flip, out)?;
        }
    }
    if flips.are_masked() && pair.has_flips() {
        writeln!(
            out,
            "the eval masks its snapshots, so questions and answers are not shown; `--show-texts` shows them"
        )?;
    }
    unpaired(runs, &pair.unpaired, out)
}

/// What each run amounts to by itself.
fn figures(runs: [&ComparedRun; 2], out: &mut dyn Write) -> io::Result<()> {
    let mut rows = vec![
        [
            String::new(),
            runs[0].letter.clone(),
            runs[1].letter.clone(),
        ]
        .to_vec(),
    ];
    let figures = figure_rows(&runs).into_iter();
    rows.extend(figures.map(|(title, cells)| std::iter::once(title).chain(cells).collect()));
    table::write("  ", &rows, out)
}

/// The figures of slices or scorers under each other.
fn by_name(
    title: &str,
    figures: &BTreeMap<String, PairedFigures>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if figures.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let heads = [title, "pairs", "A", "B", "points", ci95!(), "p (two-sided)"];
    let mut rows = vec![heads.map(clean).to_vec()];
    rows.extend(figures.iter().take(LISTED).map(|(name, it)| {
        let mut row = vec![
            cut(&clean(name), MOST),
            it.n.to_string(),
            share(it.accuracy_a),
            share(it.accuracy_b),
        ];
        row.extend(difference_cells(it));
        row.push(or_dash(it.p_two_sided.map(|p| P(p).cell())));
        row
    }));
    table::write("  ", &rows, out)?;
    let shown = figures.iter().take(LISTED);
    if let Some(note) = rows_apart(shown.map(|(name, it)| (&**name, it))) {
        writeln!(out, "  {note}")?;
    }
    match figures.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more: `--json`"),
    }
}

fn ids_of(ids: &IdList) -> String {
    let named: Vec<_> = ids
        .first()
        .iter()
        .take(LISTED)
        .map(|id| clean(id))
        .collect();
    match ids.count().saturating_sub(named.len() as u64) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// A sample that changed sides: what was asked, and both answers under each other.
fn one_flip([a, b]: [&ComparedRun; 2], flip: &FlipTexts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {}", clean(&flip.id))?;
    writeln!(out, "    asked:  {}", excerpt(&flip.prompt))?;
    if let Some(truth) = &flip.ground_truth {
        writeln!(out, "    truth:  {}", excerpt(truth))?;
    }
    for (run, answer) in [(a, &flip.a), (b, &flip.b)] {
        let FlipAnswer {
            answer,
            correct,
            reason,
            prompt,
            ..
        } = answer;
        if let Some(prompt) = prompt {
            writeln!(out, "    {} was asked: {}", run.letter, excerpt(prompt))?;
        }
        let said = answer
            .as_deref()
            .map_or_else(|| "(nothing)".to_owned(), excerpt);
        let verdict = if *correct { "correct" } else { "wrong" };
        let reason = reason.as_ref().map(|reason| format!(", {}", clean(reason)));
        let reason = reason.filter(|_| !correct).unwrap_or_default();
        writeln!(out, "    {}:      {said}  ({verdict}{reason})", run.letter)?;
    }
    Ok(())
}

/// What has no counterpart, by name.
fn unpaired(
    [a, b]: [&ComparedRun; 2],
    unpaired: &UnpairedIds,
    out: &mut dyn Write,
) -> io::Result<()> {
    let told = unpaired.told([&a.letter, &b.letter]);
    if !told.is_empty() {
        writeln!(out, "\nnot compared:")?;
    }
    told.iter()
        .try_for_each(|(title, ids)| writeln!(out, "  {title}, {}: {}", ids.count(), ids_of(ids)))
}
