//! `HtmlReport`: runs as one page.

use std::io::{self, Write};

use super::charts::{accuracy_row, charts};
use super::embedded::embedded;
use super::matrix::ranked;
use super::noted::{MOST_FAILING, NotedSamples};
use super::overview::{begin_table, overview, row, verdict};
use super::problems::problems;
use super::{draw, intervals};
use crate::error::Result;
use crate::figure::{Seconds, Usd, ci95};
use crate::report::document::{Block, Chart, IntervalScale, ScatterPoint};
use crate::report::figures::RunFigures;
use crate::report::format::{ReportAudience, ReportFormat, unwritten};
use crate::report::matrix::told::told as ranked_in_words;
use crate::report::matrix::{matrices, rank};
use crate::report::recommend::recommendations;
use crate::report::render::html;
use crate::report::render::html::REPORT;
use crate::report::render::html::escape::text;
use crate::report::render::html::page::HtmlPage;
use crate::report::reported::ReportedRun;
use crate::report::words::{beside_charts, overview_of_all, report_text, steps};
use crate::verdict::groups::GroupedFailures;

/// Runs as one page.
pub(crate) struct HtmlReport;

impl ReportFormat for HtmlReport {
    fn name(&self) -> &'static str {
        "html"
    }

    fn about(&self) -> &'static str {
        "one page to open in a browser, from disk or as an artifact of CI"
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
            return in_words(runs, audience, out);
        }
        let title = match runs {
            [run] => format!("{}: {}", run.manifest.eval, verdict(run).1),
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

/// What stands in the page, with the samples that its script reads.
pub(crate) fn content(runs: &[ReportedRun], out: &mut dyn Write) -> Result<()> {
    let io = |error: io::Error| unwritten(&error);
    head(runs, out).map_err(io)?;
    for (place, run) in runs.iter().enumerate() {
        let (noted, groups) = NotedSamples::of(run)?;
        let figures = RunFigures::of(run)?;
        section(place, run, &noted, (&groups, &figures), out).map_err(io)?;
        embedded(place, run, out)?;
    }
    Ok(())
}

/// For who does not look at single samples: what the run says in words.
fn in_words(runs: &[ReportedRun], audience: ReportAudience, out: &mut dyn Write) -> Result<()> {
    let io = |error: io::Error| unwritten(&error);
    let said = runs.iter().map(|run| {
        let figures = RunFigures::of(run)?;
        Ok(report_text(run, &figures, audience))
    });
    let mut said = said.collect::<Result<Vec<_>>>()?;
    if runs.len() > 1 && audience == ReportAudience::Product {
        let ranked = matrices(runs).into_iter();
        let ranked = ranked.map(|runs| ranked_in_words(&rank(&runs)));
        let all = [overview_of_all(runs)].into_iter().chain(ranked);
        said.splice(0..0, all.collect::<Vec<_>>());
    }
    let title = match &*said {
        [one] => one.title.clone(),
        _ => format!("{} runs", runs.len()),
    };
    let page = HtmlPage {
        title: &title,
        scripts: &[],
    };
    page.begin(out).map_err(io)?;
    for text in &said {
        html::document(text, 1, out).map_err(io)?;
    }
    page.end(out).map_err(io)
}

/// What stands over several runs: all of them side by side.
fn head(runs: &[ReportedRun], out: &mut dyn Write) -> io::Result<()> {
    if let [_] = runs {
        return Ok(());
    }
    writeln!(out, "<h1>{} runs</h1>\n<ul>", runs.len())?;
    for (place, run) in runs.iter().enumerate() {
        let (class, word) = verdict(run);
        writeln!(
            out,
            "<li>{}: <a href=\"#run-{place}\">{}</a> <span class=\"{}\">{word}</span></li>",
            letter(place),
            text(&run.manifest.run_id),
            match class {
                "passed" => "good",
                "failed" => "bad",
                _ => "warn",
            }
        )?;
    }
    writeln!(out, "</ul>")?;
    for runs in matrices(runs) {
        ranked(&rank(&runs), out)?;
    }
    let rows = runs.iter().enumerate().map(|(place, run)| {
        let summary = &run.summary;
        accuracy_row(
            format!("{} {}", letter(place), run.manifest.eval),
            summary.accuracy,
            summary.accuracy_bounds,
            summary.accuracy_ci95,
            format!("{} of {}", summary.correct, summary.scored),
        )
    });
    let rows: Vec<_> = rows.collect();
    let heads = ["run", ci95!("accuracy, "), "correct"];
    intervals("Accuracy", heads, IntervalScale::SHARES, &rows, out)?;
    let points = runs.iter().enumerate().filter_map(|(place, run)| {
        Some(ScatterPoint {
            letter: letter(place),
            x: run.summary.usage.cost_usd?,
            y: run.summary.accuracy?,
            interval: run.summary.accuracy_ci95,
        })
    });
    let points: Vec<_> = points.collect();
    if points.len() > 1 && points.iter().any(|point| point.x > 0.0) {
        draw(
            Chart::Scatter {
                caption: "Accuracy against cost".into(),
                below: "cost in USD".into(),
                points,
            },
            out,
        )?;
    }
    Ok(())
}

/// `A`, `B`, … `Z`, `A2`, …
fn letter(place: usize) -> String {
    let letter = ('A'..='Z').nth(place % 26).unwrap_or('?');
    match place / 26 {
        0 => letter.to_string(),
        more => format!("{letter}{}", more + 1),
    }
}

fn section(
    place: usize,
    run: &ReportedRun,
    noted: &NotedSamples,
    (groups, figures): (&GroupedFailures, &RunFigures),
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "<section id=\"run-{place}\" aria-labelledby=\"title-{place}\">\n<h2 id=\"title-{place}\" class=\"run\">{} <span class=\"soft\">{}</span></h2>",
        text(&run.manifest.eval),
        text(&run.manifest.run_id)
    )?;
    overview(run, noted, out)?;
    let advice = recommendations(run, figures);
    if !advice.is_empty() {
        writeln!(out, "<h3>What to do</h3>")?;
        html::blocks(&[Block::Numbered(advice)], 2, out)?;
    }
    facts(run, out)?;
    problems(groups, run.is_recorded(), out)?;
    charts(&run.summary, noted, out)?;
    html::blocks(&beside_charts(run, figures).blocks, 2, out)?;
    failing(noted, out)?;
    writeln!(out, "</section>")
}

fn facts(run: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
    let (summary, manifest) = (&run.summary, &run.manifest);
    let mut facts: Vec<(&str, String)> = Vec::new();
    facts.push(("samples", summary.samples.to_string()));
    if manifest.epochs > 1 {
        facts.push(("epochs", manifest.epochs.to_string()));
    }
    facts.push(("errors", summary.errors.to_string()));
    for (name, count) in [
        ("unscored", summary.unscored),
        ("skipped", summary.skipped),
        ("from the cache", summary.cached),
        ("recovered by retry", summary.recovered_by_retry.recovered),
    ] {
        if count > 0 {
            facts.push((name, count.to_string()));
        }
    }
    if let Some(steps) = steps(summary) {
        facts.push(("steps of a right answer", steps));
    }
    if let Some(cost) = summary.usage.cost_usd {
        facts.push(("cost", Usd(cost).to_string()));
    }
    let judge = summary.judge.as_ref();
    if let Some(cost) = judge.and_then(|judge| judge.usage.cost_usd) {
        facts.push(("of judges", Usd(cost).to_string()));
    }
    if let Some(tokens) = summary.usage.tokens() {
        facts.push(("tokens", tokens.to_string()));
    }
    if let Some(seconds) = manifest.duration_s {
        facts.push(("took", Seconds(seconds).to_string()));
    }
    if let Some(agent) = run.agent() {
        facts.push(("agent", agent.to_owned()));
    }
    if let Some(model) = run.model() {
        facts.push(("model", model.to_owned()));
    }
    if let Some(scorer) = manifest.scorers.first() {
        facts.push(("scorer", scorer.clone()));
    }
    let started = manifest.started_at.split('.').next().unwrap_or_default();
    facts.push(("started", started.replace('T', " ")));
    if let Some(sha) = &manifest.git_sha {
        let dirty = match manifest.git_dirty {
            Some(true) => ", changed",
            _ => "",
        };
        let short: String = sha.chars().take(12).collect();
        facts.push(("commit", format!("{short}{dirty}")));
    }
    writeln!(out, "<h3>Figures</h3>\n<ul class=\"facts\">")?;
    for (name, value) in facts {
        writeln!(
            out,
            "<li><span class=\"soft\">{name}</span> <b>{}</b></li>",
            text(&value)
        )?;
    }
    writeln!(out, "</ul>")
}

/// The samples that failed, for who reads without scripts.
fn failing(noted: &NotedSamples, out: &mut dyn Write) -> io::Result<()> {
    if noted.failing.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<div class=\"without\"><h3>Wrong answers and errors: {}</h3>",
        noted.all_failing
    )?;
    begin_table("Wrong answers and errors", out)?;
    noted
        .failing
        .iter()
        .try_for_each(|sample| row(sample, out))?;
    writeln!(out, "</tbody></table></div>")?;
    if noted.failing.len() == MOST_FAILING && noted.all_failing > MOST_FAILING as u64 {
        writeln!(
            out,
            "<p>The first {MOST_FAILING}. All samples, with whole texts, are in this page for a browser that runs its script.</p>"
        )?;
    }
    writeln!(out, "</div>")
}
