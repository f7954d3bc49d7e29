//! `HtmlReport`: runs as one HTML page, for each audience.

use std::io::{self, Write};

use super::super::audience::{answers_of_all, document, names, overview_of_all, rankings};
use super::super::document::{Block, Fold, Line};
use super::super::figures::{MOST_FAILING, RunFigures};
use super::super::format::{ReportAudience, ReportFormat, unwritten};
use super::super::matrix::in_rank;
use super::super::render::html;
use super::super::render::html::page::HtmlPage;
use super::super::render::html::{REPORT, runs};
use super::super::reported::ReportedRun;
use super::super::section::overview::{ending, titled};
use super::super::section::samples::SampleTable;
use crate::error::Result;

/// Runs as one HTML page.
pub(crate) struct HtmlReport;

impl ReportFormat for HtmlReport {
    fn name(&self) -> &'static str {
        "html"
    }

    fn about(&self) -> &'static str {
        "one HTML page, for a browser or as a CI artifact"
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn has_audiences(&self) -> bool {
        true
    }

    fn write(
        &self,
        runs: &[ReportedRun],
        audience: ReportAudience,
        out: &mut dyn Write,
    ) -> Result<()> {
        let io = |error: io::Error| unwritten(&error);
        if audience != ReportAudience::Developer {
            return without_samples(runs, audience, out);
        }
        let title = match runs {
            [run] => format!("{}: {}", run.manifest.eval, ending(run).1),
            runs => format!("{} runs", runs.len()),
        };
        let page = HtmlPage {
            title: &title,
            scripts: &[REPORT],
        };
        page.begin(out).map_err(io)?;
        content(runs, out)?;
        page.end(out).map_err(io)
    }
}

/// Writes the page's content, with the samples for its script. Variants of one spec are in the order of their ranking.
pub(crate) fn content(all: &[ReportedRun], out: &mut dyn Write) -> Result<()> {
    let io = |error: io::Error| unwritten(&error);
    let ranked = in_rank(all);
    let all = ranked.as_deref().unwrap_or(all);
    let mut fold = Fold::Never;
    if all.len() > 1 {
        let overview = overview_of_all(all);
        let rankings = rankings(all);
        // A ranking has most of the table of runs, which then follows the answers.
        let (first, last) = if let (Some(_), [ranking]) = (&ranked, &*rankings) {
            html::document(ranking, 1, out).map_err(io)?;
            let (table, charts) = overview.blocks.split_at(1);
            (charts, table)
        } else {
            html::document(&overview, 1, out).map_err(io)?;
            for ranking in &rankings {
                html::document(ranking, 2, out).map_err(io)?;
            }
            (&[][..], &[][..])
        };
        html::blocks(first, 1, out).map_err(io)?;
        html::blocks(&answers_of_all(all)?, 1, out).map_err(io)?;
        fold = Fold::Closed;
        let named = names(all).into_iter().zip(all);
        let named = named.map(|(name, run)| (name, run, ending(run)));
        html::blocks(&[Block::section("Runs")], 1, out).map_err(io)?;
        html::blocks(last, 1, out).map_err(io)?;
        runs::links(named, out).map_err(io)?;
    }
    for (place, run) in all.iter().enumerate() {
        let figures = RunFigures::of(run)?;
        let mut blocks = document(run, &figures, ReportAudience::Developer).blocks;
        // Without a baseline nothing became wrong.
        if run.summary.change.is_none() {
            blocks.splice(1..1, first_failing(run, &figures));
        }
        let without_script = failing(run, &figures);
        runs::run((place, fold), run, [&blocks, &without_script], out)?;
    }
    Ok(())
}

/// How many failed samples are shown at the top.
const FIRST: usize = 10;

/// The first failed samples, below the result of a run without a baseline.
fn first_failing(run: &ReportedRun, figures: &RunFigures) -> Option<Block> {
    let subject = run.summary.subject();
    let caption = subject.word(["Wrong answers", "Items that do not pass", "Pairs not won"]);
    let table = SampleTable::of(run).block(caption, figures.failing.iter().take(FIRST))?;
    let bad = titled(subject.bad());
    let title = match figures.all_failing {
        few if few <= FIRST as u64 => format!("{bad} or without a verdict: {few}"),
        all => format!("{bad} or without a verdict: the first {FIRST} of {all}"),
    };
    let title = Line::default().strong(title);
    Some(Block::folded(Fold::Open, title, [table]))
}

/// The failed samples, for readers without scripts.
fn failing(run: &ReportedRun, figures: &RunFigures) -> Vec<Block> {
    let title = run.summary.subject().word([
        "Wrong answers and errors",
        "Items that do not pass, and errors",
        "Pairs that are not won, and errors",
    ]);
    let all = figures.all_failing;
    let Some(table) = SampleTable::of(run).block(title, figures.failing.iter()) else {
        return Vec::new();
    };
    let more = (all > MOST_FAILING as u64).then(|| {
        Block::paragraph(format!(
            "The first {MOST_FAILING}. Enable JavaScript to see all samples in full."
        ))
    });
    let blocks = [Block::Heading(2, format!("{title}: {all}")), table];
    blocks.into_iter().chain(more).collect()
}

/// The page for audiences that do not need single samples.
fn without_samples(
    runs: &[ReportedRun],
    audience: ReportAudience,
    out: &mut dyn Write,
) -> Result<()> {
    let mut documents = Vec::new();
    if runs.len() > 1 && audience == ReportAudience::Product {
        documents.push(overview_of_all(runs));
        documents.extend(rankings(runs));
    }
    for run in runs {
        documents.push(document(run, &RunFigures::of(run)?, audience));
    }
    let title = match &*documents {
        [one] => one.title.clone(),
        _ => format!("{} runs", runs.len()),
    };
    html::page(&title, &documents, out).map_err(|error| unwritten(&error))
}
