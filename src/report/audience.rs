//! The sections of a report for each audience, in order.

mod product;
mod user;

use std::collections::BTreeSet;

use super::compare::answers::answers;
use super::compare::letter;
use super::document::{
    Align, Block, Chart, Document, IntervalScale, Intervals, Line, ScatterPoint, Table,
};
use super::figures::RunFigures;
use super::format::ReportAudience;
use super::matrix::{self, matrices, rank};
use super::recommend::recommendations;
use super::reported::{ReportedRun, agent_name, noun_of_all, program, subject_of_all};
use super::section::{self, Source, accuracy, overview};
use crate::data::Variant;
use crate::error::Result;
use crate::figure::{CI95, Seconds, Usd};
use crate::text::shell_word;
use crate::verdict::summary::Summary;

/// The content of a run for an audience. For developers the rows of all samples follow it.
pub fn document(run: &ReportedRun, figures: &RunFigures, audience: ReportAudience) -> Document {
    match audience {
        ReportAudience::Developer => Document {
            title: run.summary.eval.clone(),
            blocks: developer(run, figures),
        },
        ReportAudience::Product => product::document(run, figures),
        ReportAudience::User => user::document(run),
    }
}

/// Everything, for developers of the agent.
fn developer(run: &ReportedRun, figures: &RunFigures) -> Vec<Block> {
    let source = Source::of_run(run, figures);
    let mut blocks = vec![overview::overview(&source)];
    blocks.extend(overview::notes(&source));
    blocks.extend(section::became_wrong(&source));
    blocks.extend(section::gates(&source));
    blocks.extend(section::alerts(&source));
    blocks.extend(section::became_right(&source));
    blocks.extend(overview::next_commands(run, figures));
    let advice = recommendations(run, figures);
    if !advice.is_empty() {
        blocks.push(Block::section("Recommendations"));
        blocks.push(Block::Numbered(advice));
    }
    blocks.push(Block::section("Figures"));
    blocks.push(overview::facts(&source));
    blocks.extend(section::figures(&source));
    blocks.extend(section::account(&source));
    blocks
}

/// Names of the runs of a page: agent and prompt if they are variants of one spec, else a letter, the eval and the agent.
pub(super) fn names(runs: &[ReportedRun]) -> Vec<String> {
    let variants = matrix::in_rank(runs).map(|_| {
        let variants = runs.iter().filter_map(|run| run.manifest.variant.as_ref());
        variants.map(Variant::names).collect::<Vec<_>>()
    });
    let is_unique = |names: &Vec<String>| {
        let distinct: BTreeSet<&String> = names.iter().collect();
        distinct.len() == runs.len()
    };
    variants.filter(is_unique).unwrap_or_else(|| {
        let runs = runs.iter().enumerate();
        runs.map(|(place, run)| {
            let (eval, program) = (&run.manifest.eval, program(&run.manifest));
            let agent = agent_name(run.agent(), run.model(), program.as_deref());
            let agent = agent.map_or_else(String::new, |agent| format!(", {agent}"));
            format!("{}: {eval}{agent}", letter(place))
        })
        .collect()
    })
}

/// The answers side by side, if the runs are of one eval or its variants.
pub(super) fn answers_of_all(runs: &[ReportedRun]) -> Result<Vec<Block>> {
    let mut families = runs
        .iter()
        .map(|run| Variant::family_of(&run.manifest.eval));
    let first = families.next();
    if families.any(|family| Some(family) != first) {
        return Ok(Vec::new());
    }
    answers(runs, &names(runs))
}

/// An overview of several runs, before the report on each.
pub fn overview_of_all(runs: &[ReportedRun]) -> Document {
    let mut document = Document::new(format!("{} runs", runs.len()));
    let subject = subject_of_all(runs);
    let columns = [
        ("eval", Align::Left),
        ("run", Align::Left),
        ("agent", Align::Left),
        (noun_of_all(runs), Align::Right),
        (subject.share(), Align::Left),
        ("change since the baseline", Align::Left),
        ("errors", Align::Right),
        ("cost", Align::Right),
        ("p95", Align::Right),
        ("gates", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let dash = || "-".to_owned();
    let names = names(runs);
    for (run, name) in runs.iter().zip(&names) {
        let summary = &run.summary;
        let latency = summary.latency_s.as_ref().filter(|_| !run.is_recorded());
        let cost = summary.usage.cost_usd;
        table.row([
            name.clone(),
            run.manifest.run_id.clone(),
            overview::agent(run),
            summary.samples.to_string(),
            accuracy::spelled(
                summary.accuracy,
                summary.accuracy_bounds,
                summary.accuracy_ci95,
            ),
            summary
                .change
                .as_ref()
                .map_or_else(dash, section::changes::difference),
            summary.errors.to_string(),
            cost.map_or_else(dash, |usd| Usd(usd).to_string()),
            latency.map_or_else(dash, |latency| Seconds(latency.p95).to_string()),
            section::gate_counts(summary).unwrap_or_else(dash),
        ]);
    }
    document.table(table);
    document.blocks.extend(charts_of_all(runs, &names));
    let mut evals: Vec<&str> = runs.iter().map(|run| &*run.manifest.eval).collect();
    evals.sort_unstable();
    if let Some(pair) = evals.windows(2).find(|pair| pair[0] == pair[1]) {
        let of_one = runs.iter().filter(|run| run.manifest.eval == pair[0]);
        let ids: Vec<_> = of_one.map(|run| shell_word(&run.manifest.run_id)).collect();
        let command = format!("cargo evaltest compare {}", ids.join(" "));
        document.paragraph(Line::from("The paired test shows which is better: ").code(command));
    }
    document
}

/// Charts of the accuracy and cost of all runs.
fn charts_of_all(runs: &[ReportedRun], names: &[String]) -> Vec<Block> {
    let rows = runs.iter().zip(names).map(|(run, name)| {
        let summary = &run.summary;
        accuracy::row(
            name,
            summary.accuracy,
            summary.accuracy_bounds,
            summary.accuracy_ci95,
            format!("{} of {}", summary.correct, summary.scored),
        )
    });
    let subject = subject_of_all(runs);
    let mut blocks = vec![Block::Intervals(Intervals {
        caption: overview::titled(subject.share()),
        heads: [
            "run",
            &format!("{}, {CI95}", subject.share()),
            subject.good(),
        ]
        .map(str::to_owned),
        scale: IntervalScale::SHARES,
        rows: rows.collect(),
    })];
    let points = runs.iter().zip(names).filter_map(|(run, name)| {
        Some(ScatterPoint {
            letter: name.clone(),
            x: run.summary.usage.cost_usd?,
            y: run.summary.accuracy?,
            interval: run.summary.accuracy_ci95,
        })
    });
    let points: Vec<_> = points.collect();
    if points.len() > 1 && points.iter().any(|point| point.x > 0.0) {
        blocks.push(Block::Chart(Chart::Scatter {
            caption: "Accuracy against cost".to_owned(),
            below: "cost in USD".to_owned(),
            points,
        }));
    }
    blocks
}

/// A ranking for each spec with several agents or prompts.
pub(super) fn rankings(runs: &[ReportedRun]) -> Vec<Document> {
    let specs = matrices(runs).into_iter();
    specs.map(|runs| matrix::document(&rank(&runs))).collect()
}

/// Numbers of missing and of requested answers.
fn outages(summary: &Summary) -> (u64, u64) {
    let lacking = summary.errors.saturating_sub(summary.unjudged) + summary.failed_as_wrong;
    let attempts = summary.scored + summary.errors + summary.unscored;
    (lacking, attempts)
}
