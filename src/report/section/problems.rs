//! Failures grouped by common causes, and the most expensive answers.

use super::samples::worded;
use super::source::Source;
use crate::figure::{Seconds, Usd};
use crate::report::document::{Align, Block, Fold, Line, Table};
use crate::report::figures::RunFigures;
use crate::text::excerpt;
use crate::verdict::groups::SampleFigure;
use crate::verdict::summary::Subject;

/// Maximum rows of long tables.
const LISTED: usize = 20;

/// Errors by kind, wrong answers by reason and by parameter, the slowest and the most expensive answers.
pub(super) fn problems(source: &Source<'_>) -> Vec<Block> {
    let Some((run, figures)) = source.run else {
        return Vec::new();
    };
    let mut blocks = Vec::new();
    let subject = source.summary.subject();
    let has_epochs = source.summary.epochs.is_some();
    errors(figures, subject, has_epochs, &mut blocks);
    wrong(figures, subject, has_epochs, &mut blocks);
    parameters(figures, &mut blocks);
    let failures = &figures.failures;
    // With instant answers the slowest ones are irrelevant; latencies of recorded ones are unknown.
    let is_slow = failures.slowest.iter().any(|it| it.value >= 0.05);
    if is_slow && !source.summary.judges_items && !run.is_recorded() {
        let seconds = |value| Seconds(value).to_string();
        blocks.extend(largest(
            "Slowest",
            "took",
            &failures.slowest,
            has_epochs,
            seconds,
        ));
    }
    let dollars = |value| Usd(value).to_string();
    blocks.extend(largest(
        "Most expensive",
        "cost",
        &failures.dearest,
        has_epochs,
        dollars,
    ));
    blocks
}

fn section(title: &str, table: Table, remaining: usize, blocks: &mut Vec<Block>) {
    let Some(table) = table.block() else {
        return;
    };
    blocks.push(Block::section(title));
    blocks.push(table);
    if remaining > 0 {
        blocks.push(Block::paragraph(format!("and {remaining} more.")));
    }
}

fn nouns(subject: Subject) -> &'static str {
    subject.word(["answers", "items", "pairs"])
}

fn errors(figures: &RunFigures, subject: Subject, has_epochs: bool, blocks: &mut Vec<Block>) {
    let groups = &figures.failures.errors;
    let mut table = Table::new(&[
        ("kind", Align::Left),
        (nouns(subject), Align::Right),
        ("samples", Align::Left),
        ("first message", Align::Left),
    ]);
    for group in groups.iter().take(LISTED) {
        let first = group.example.lines().next().unwrap_or_default();
        table.row([
            group.kind.replace('_', " ").into(),
            group.count.to_string().into(),
            named(&group.ids, group.count, has_epochs),
            excerpt(first).into(),
        ]);
    }
    section(
        "Errors by kind",
        table,
        groups.len().saturating_sub(LISTED),
        blocks,
    );
}

fn wrong(figures: &RunFigures, subject: Subject, has_epochs: bool, blocks: &mut Vec<Block>) {
    let groups = &figures.failures.wrong;
    let mut table = Table::new(&[
        ("reason", Align::Left),
        (nouns(subject), Align::Right),
        ("samples", Align::Left),
    ]);
    for group in groups.iter().take(LISTED) {
        let reason = match group.reason.as_deref() {
            // Some scorers give no reason.
            Some("") => "(without a reason)",
            Some(reason) => reason,
            None => "(other reasons)",
        };
        table.row([
            excerpt(&worded(reason)).into(),
            group.count.to_string().into(),
            named(&group.ids, group.count, has_epochs),
        ]);
    }
    let remaining = groups.len().saturating_sub(LISTED);
    let title = subject.word([
        "Wrong answers by reason",
        "Items that do not pass, by reason",
        "Pairs that are not won, by reason",
    ]);
    section(title, table, remaining, blocks);
}

fn parameters(figures: &RunFigures, blocks: &mut Vec<Block>) {
    let wrong = &figures.wrong_parameters;
    let mut table = Table::new(&[
        ("function: parameter", Align::Left),
        ("problem", Align::Left),
        ("wrong answers", Align::Right),
    ]);
    for parameter in wrong.iter().take(LISTED) {
        table.row([
            parameter.place.clone(),
            parameter.problem.clone(),
            parameter.samples.to_string(),
        ]);
    }
    let remaining = wrong.len().saturating_sub(LISTED);
    section("Wrong parameters", table, remaining, blocks);
}

/// The first samples of a number of answers, for a cell: `a, b, c and 4 more`. With several epochs the number of samples
/// is unknown: `a, b, c, …`.
pub(super) fn named(ids: &[String], answers: u64, has_epochs: bool) -> Line {
    let first: Vec<String> = ids.iter().take(5).map(|id| excerpt(id)).collect();
    let named = first.join(", ");
    let more = answers.saturating_sub(first.len() as u64);
    Line::default().quoted(match more {
        0 => named,
        _ if !has_epochs => format!("{named} and {more} more"),
        _ if ids.len() > first.len() => format!("{named}, …"),
        _ => named,
    })
}

fn largest(
    title: &str,
    what: &str,
    found: &[SampleFigure],
    has_epochs: bool,
    display: impl Fn(f64) -> String,
) -> Option<Block> {
    let mut table = Table::of_numbers(["sample", what]);
    for sample in found.iter().filter(|it| it.value >= 1e-6) {
        let mut id = Line::default().quoted(excerpt(&sample.id));
        if has_epochs {
            id = id.plain(format!(" (epoch {})", sample.epoch));
        }
        table.row([id, display(sample.value).into()]);
    }
    let table = table.block()?;
    Some(Block::folded(
        Fold::Closed,
        Line::default().strong(title),
        [table],
    ))
}
