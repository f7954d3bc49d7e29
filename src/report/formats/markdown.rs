//! `MarkdownReport`: runs as Markdown, for each audience.

use std::io::{self, Write};

use super::super::audience::{document, overview_of_all, rankings};
use super::super::document::Block;
use super::super::figures::{ReportedSample, RunFigures, SampleOutcome};
use super::super::format::{ReportAudience, ReportFormat, unwritten};
use super::super::render::markdown;
use super::super::reported::ReportedRun;
use super::super::section::samples::SampleTable;
use crate::error::Result;

/// Runs as Markdown.
pub(crate) struct MarkdownReport;

impl ReportFormat for MarkdownReport {
    fn name(&self) -> &'static str {
        "md"
    }

    fn about(&self) -> &'static str {
        "Markdown"
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
        let (mut documents, mut level) = (Vec::new(), 1);
        if runs.len() > 1 && audience != ReportAudience::User {
            documents.push(overview_of_all(runs));
            level = 2;
            markdown::document(&documents[0], 1, out).map_err(io)?;
            for ranking in rankings(runs) {
                markdown::next_document(&ranking, level, out).map_err(io)?;
            }
        }
        for (place, run) in runs.iter().enumerate() {
            let figures = RunFigures::of(run)?;
            let text = document(run, &figures, audience);
            if place > 0 || level > 1 {
                markdown::next_document(&text, level, out).map_err(io)?;
            } else {
                markdown::document(&text, level, out).map_err(io)?;
            }
            if audience == ReportAudience::Developer {
                samples(run, &figures, level, out)?;
            }
        }
        Ok(())
    }
}

/// Writes the first samples and all failed ones.
fn samples(
    run: &ReportedRun,
    figures: &RunFigures,
    level: usize,
    out: &mut dyn Write,
) -> Result<()> {
    let io = |error: io::Error| unwritten(&error);
    let rows = SampleTable::of(run);
    let Some(first) = rows.block("", figures.first.iter()) else {
        return Ok(());
    };
    let title = if run.summary.judges_items {
        "First items"
    } else {
        "First samples"
    };
    let blocks = [Block::section(title), first];
    markdown::blocks(&blocks, level, out).map_err(io)?;
    if figures.all_failing == 0 {
        return Ok(());
    }
    let title = run.summary.subject().word([
        "All failing samples",
        "All items that do not pass",
        "All pairs that are not won",
    ]);
    let title = [Block::section(title)];
    markdown::blocks(&title, level, out).map_err(io)?;
    markdown::begin_table(&rows.empty().heads, out).map_err(io)?;
    for record in run.records()? {
        let record = record?;
        if SampleOutcome::of(&record).is_failing() {
            let row = rows.row(&ReportedSample::of(&record));
            markdown::row(&row, out).map_err(io)?;
        }
    }
    Ok(())
}
