//! Figures over several answers to a question: over epochs, and of perturbed questions.

use std::collections::BTreeMap;

use super::accuracy;
use super::source::Source;
use crate::figure::{Interval, P, Points, Share, counted, or_dash, part_of};
use crate::report::document::{Align, Block, Table, list};
use crate::verdict::summary::{EpochFigures, Estimate, PerturbFigures, Summary};

/// Maximum number of flaky samples on a terminal.
const BRIEF: usize = 10;

/// Maximum number elsewhere; `summary.json` has more.
const FULL: usize = 50;

/// pass@k, pass^k, the majority and the flaky samples, if there are several epochs.
pub(super) fn epochs(source: &Source<'_>) -> Vec<Block> {
    let summary = source.summary;
    match &summary.epochs {
        None => Vec::new(),
        Some(figures) if source.is_brief() => list(brief(summary, figures)).into_iter().collect(),
        Some(figures) => full(summary, figures),
    }
}

fn brief(summary: &Summary, figures: &EpochFigures) -> Vec<String> {
    let mut parts = Vec::new();
    for (name, estimates) in [("pass@", &figures.pass_at), ("pass^", &figures.pass_hat)] {
        parts.extend(passes(name, figures.epochs, estimates));
    }
    parts.extend(majority(figures).map(|display| format!("majority {display}")));
    let mut lines: Vec<String> = Vec::new();
    if !parts.is_empty() {
        lines.push(parts.join(", "));
    }
    if figures.incomplete > 0 {
        let (some, all) = (figures.incomplete, figures.samples);
        lines.push(format!(
            "{some} of {all} samples {} a verdict in some epoch",
            if some == 1 { "lacks" } else { "lack" }
        ));
    }
    if figures.flaky > 0 {
        let again = figures.disagreement.map(Share);
        let again = again.map_or_else(String::new, |share| {
            format!("; {share} of the verdicts differ when the agent is asked again")
        });
        let named = summary.flaky.iter().take(BRIEF);
        let named = named.map(|sample| {
            format!(
                "{} {} of {}",
                sample.sample_id, sample.correct, sample.scored
            )
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let more = match figures.flaky.saturating_sub(BRIEF as u64) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (flaky, scored) = (figures.flaky, figures.scored);
        lines.push(format!(
            "flaky: {flaky} of {scored} samples{again}; correct: {named}{more}"
        ));
    }
    lines
}

/// The figure for all epochs, and also for two if there are more.
fn passes<'a>(
    name: &'a str,
    epochs: u32,
    estimates: &'a BTreeMap<u32, Estimate>,
) -> impl Iterator<Item = String> + 'a {
    let display = [2, epochs].into_iter().take(if epochs > 2 { 2 } else { 1 });
    display.filter_map(move |k| {
        let estimate = estimates.get(&k)?;
        let display = accuracy::display(estimate.value, bounds(estimate.low, estimate.high))?;
        Some(format!("{name}{k} {display}"))
    })
}

fn bounds(low: Option<f64>, high: Option<f64>) -> Option<[f64; 2]> {
    low.zip(high).map(<[f64; 2]>::from)
}

fn majority(figures: &EpochFigures) -> Option<String> {
    let majority = &figures.majority;
    accuracy::display(majority.accuracy, bounds(majority.low, majority.high))
}

fn full(summary: &Summary, figures: &EpochFigures) -> Vec<Block> {
    let mut table = Table::new(&[
        ("figure", Align::Left),
        ("value", Align::Left),
        ("standard error", Align::Right),
        ("samples", Align::Right),
    ]);
    let error = |error: Option<f64>| {
        or_dash(error.map(|error| format!("{} points", Points(error).unsigned())))
    };
    let dash = || "-".to_owned();
    table.row([
        "accuracy".to_owned(),
        accuracy::display(summary.accuracy, summary.accuracy_bounds).unwrap_or_else(dash),
        error(figures.standard_error),
        figures.scored.to_string(),
    ]);
    for (name, estimates) in [("pass@", &figures.pass_at), ("pass^", &figures.pass_hat)] {
        // For k = 1 both are the mean of the samples' accuracies.
        for (k, estimate) in estimates.iter().filter(|(k, _)| **k > 1) {
            let display = accuracy::display(estimate.value, bounds(estimate.low, estimate.high));
            table.row([
                format!("{name}{k}"),
                display.unwrap_or_else(dash),
                error(estimate.standard_error),
                estimate.samples.to_string(),
            ]);
        }
    }
    let majority = &figures.majority;
    table.row([
        "majority".to_owned(),
        accuracy::cell(
            majority.accuracy,
            bounds(majority.low, majority.high),
            majority.accuracy_ci95,
        ),
        dash(),
        figures.scored.to_string(),
    ]);
    let times = match figures.epochs {
        2 => "twice".to_owned(),
        epochs => format!("{epochs} times"),
    };
    let lack = match figures.incomplete {
        0 => String::new(),
        1 => " 1 sample lacks a verdict in some epoch.".to_owned(),
        some => format!(" {some} samples lack a verdict in some epoch."),
    };
    let [asked, answers] = if summary.judges_items {
        ["judged", "verdicts"]
    } else {
        ["asked", "answers"]
    };
    let mut blocks = vec![
        Block::section("Epochs"),
        Block::paragraph(format!(
            "Each of the {} was {asked} {times} ({} {answers}).{lack} The counts above are of {answers}; the \
             intervals allow for several {answers} to one sample.",
            counted(figures.samples, "sample"),
            summary.samples.saturating_sub(summary.skipped)
        )),
        Block::Table(table),
    ];
    flaky(summary, figures, &mut blocks);
    blocks
}

fn flaky(summary: &Summary, figures: &EpochFigures, blocks: &mut Vec<Block>) {
    if figures.flaky == 0 {
        blocks.push(Block::paragraph(
            "No sample is correct in one epoch and wrong in another.",
        ));
        return;
    }
    let again = figures.disagreement.map(Share);
    let again = again.map_or_else(String::new, |share| {
        format!(" {share} of all verdicts differ when the agent is asked again.")
    });
    let share = part_of(figures.flaky, figures.samples, "samples");
    let mut table = Table::of_numbers(["sample", "correct", "different answers"]);
    for sample in summary.flaky.iter().take(FULL) {
        table.row([
            sample.sample_id.clone(),
            format!("{} of {}", sample.correct, sample.scored),
            sample.answers.to_string(),
        ]);
    }
    let more = figures.flaky.saturating_sub(table.rows.len() as u64);
    blocks.push(Block::Heading(3, "Flaky samples".to_owned()));
    blocks.push(Block::paragraph(format!(
        "{share} {} correct in some epochs and wrong in others.{again}",
        if figures.flaky == 1 { "is" } else { "are" }
    )));
    blocks.extend(table.block());
    if more > 0 {
        blocks.push(Block::paragraph(format!("and {more} more.")));
    }
}

/// A row for each kind of perturbation.
pub(super) fn perturbed(source: &Source<'_>) -> Vec<Block> {
    let kinds = &source.summary.perturb;
    if kinds.is_empty() {
        return Vec::new();
    }
    let mut table = Table::of_numbers([
        "perturbed",
        "pairs",
        "accuracy",
        "drop",
        "95 % interval",
        "became wrong",
        "became correct",
        "p",
    ]);
    for (kind, figures) in kinds {
        let dash = || "-".to_owned();
        table.row([
            kind.to_string(),
            figures.pairs.to_string(),
            figures
                .accuracy
                .map_or_else(dash, |share| Share(share).to_string()),
            figures
                .drop
                .map_or_else(dash, |drop| Points(drop).to_string()),
            figures
                .drop_ci95
                .map_or_else(dash, |ci95| Interval(ci95.map(Points)).to_string()),
            figures.b.to_string(),
            figures.c.to_string(),
            figures.p.map_or_else(dash, |p| P(p).cell()),
        ]);
    }
    let title = (!source.is_brief()).then(|| Block::section("Perturbed questions"));
    let lines = kinds.iter().flat_map(|(kind, figures)| {
        let lines = [wrong(figures), open(figures)].into_iter().flatten();
        lines.map(move |line| format!("{kind}: {line}"))
    });
    title
        .into_iter()
        .chain(table.block())
        .chain(list(lines))
        .collect()
}

/// What became wrong.
fn wrong(figures: &PerturbFigures) -> Option<String> {
    let named = &figures.became_wrong;
    let more = match figures.b.saturating_sub(named.len() as u64) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("became wrong: {}{more}", named.join(", ")))
}

/// What is in no pair.
fn open(figures: &PerturbFigures) -> Option<String> {
    let unchanged = (figures.unchanged > 0).then(|| {
        let questions = counted(figures.unchanged, "question");
        format!("leaves {questions} unchanged (not compared)")
    });
    let missing = (figures.missing > 0).then(|| match figures.missing {
        1 => "1 answer has no verdict".to_owned(),
        missing => format!("{missing} answers have no verdict"),
    });
    let both: Vec<String> = unchanged.into_iter().chain(missing).collect();
    (!both.is_empty()).then(|| both.join("; "))
}
