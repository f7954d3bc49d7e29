//! `MarkdownReport`: runs as Markdown, for each audience.

use std::io::{self, Write};

use super::document::{Align, Block, Line, Table};
use super::figures::{ReportedSample, RunFigures};
use super::format::{ReportAudience, ReportFormat, unwritten};
use super::matrix::told::told;
use super::matrix::{matrices, rank};
use super::render::markdown;
use super::reported::ReportedRun;
use super::words::{overview_of_all, report_text};
use crate::error::Result;

/// Runs as Markdown.
pub(crate) struct MarkdownReport;

impl ReportFormat for MarkdownReport {
    fn name(&self) -> &'static str {
        "md"
    }

    fn about(&self) -> &'static str {
        "Markdown, to read and to send"
    }

    fn extension(&self) -> &'static str {
        "md"
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
        let mut level = 1;
        if runs.len() > 1 && audience != ReportAudience::User {
            markdown::document(&overview_of_all(runs), level, out).map_err(io)?;
            level = 2;
            rankings(runs, level, out).map_err(io)?;
        }
        for (place, run) in runs.iter().enumerate() {
            if place > 0 || level > 1 {
                writeln!(out).map_err(io)?;
            }
            let figures = RunFigures::of(run)?;
            let text = report_text(run, &figures, audience);
            markdown::document(&text, level, out).map_err(io)?;
            if audience == ReportAudience::Developer {
                samples(run, &figures, level, out)?;
            }
        }
        Ok(())
    }
}

/// The first samples, and all that failed, as they are read.
fn samples(
    run: &ReportedRun,
    figures: &RunFigures,
    level: usize,
    out: &mut dyn Write,
) -> Result<()> {
    let io = |error: io::Error| unwritten(&error);
    let title = "#".repeat(level + 1);
    let rows = SampleRows::of(run);
    if figures.first.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title} First samples").map_err(io)?;
    let mut table = rows.table();
    table.rows = figures
        .first
        .iter()
        .map(|sample| rows.cells(sample))
        .collect();
    markdown::blocks(&[Block::Table(table)], level, out).map_err(io)?;
    let mut failing = 0u64;
    for record in run.records()? {
        let record = record?;
        if !ReportedSample::is_failing(&record) {
            continue;
        }
        if failing == 0 {
            writeln!(out, "\n{title} All failing samples\n").map_err(io)?;
            markdown::heads(&rows.table().heads, out).map_err(io)?;
        }
        failing += 1;
        markdown::row(&rows.cells(&ReportedSample::of(&record)), out).map_err(io)?;
    }
    Ok(())
}

/// Which columns the rows of samples have.
struct SampleRows {
    texts: bool,
    epochs: bool,
    flips: std::collections::HashMap<String, bool>,
}

impl SampleRows {
    fn of(run: &ReportedRun) -> Self {
        let flips = run.flips().into_iter();
        Self {
            texts: !run.hides_texts,
            epochs: run.summary.epochs.is_some(),
            flips: flips.map(|(id, worse)| (id.to_owned(), worse)).collect(),
        }
    }

    fn table(&self) -> Table {
        let mut heads = vec![("id", Align::Left)];
        if self.texts {
            heads.extend(["question", "prediction", "ground truth"].map(|it| (it, Align::Left)));
        }
        heads.extend(["correct", "why"].map(|it| (it, Align::Left)));
        Table::new(&heads)
    }

    fn cells(&self, sample: &ReportedSample) -> Vec<Line> {
        let mut id = sample.id.clone();
        if self.epochs {
            id = format!("{id} (epoch {})", sample.epoch);
        }
        let mut cells = vec![id];
        if self.texts {
            let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            cells.push(sample.question.clone());
            cells.push(or_dash(&sample.prediction));
            cells.push(or_dash(&sample.ground_truth));
        }
        let changed = match self.flips.get(&sample.id) {
            Some(true) => ", was right in the baseline",
            Some(false) => ", was wrong in the baseline",
            None => "",
        };
        let correct = match sample.correct {
            Some(true) => "yes",
            Some(false) => "no",
            None => "no verdict",
        };
        cells.push(format!("{correct}{changed}"));
        cells.push(sample.why.clone());
        cells.into_iter().map(Line::from).collect()
    }
}

/// The runs of each spec that names several agents or prompts, ranked.
fn rankings(runs: &[ReportedRun], level: usize, out: &mut dyn Write) -> io::Result<()> {
    for runs in matrices(runs) {
        writeln!(out)?;
        markdown::document(&told(&rank(&runs)), level, out)?;
    }
    Ok(())
}
