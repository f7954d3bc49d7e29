//! The reports of a flow, as blocks that render to Markdown and HTML, and as files.
//!
//! The comprehensive report has seven sections, the conclusion first; that of a single stage has parts for this stage.
//! For a stage
//! without figures it gives the reason instead of an empty table.

mod conclusion;
mod judge;

use std::io;
use std::path::Path;

use self::conclusion::{conclusion, next_steps, suggestions};
use super::figures::{CountedShare, FlowFigures, FlowStage, StageCost, StageFigures};
use super::findings::findings;
use crate::error::{Error, Result};
use crate::figure::{Interval, P, Seconds, Usd, ci95, counted, or_dash, share_cell, with_minus};
use crate::flow::figures::{ComparedItems, GeneratedItems};
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Block, Document, Fold, Line, Table};
use crate::report::items;
use crate::report::render::{html, markdown};
use crate::system::file::write_atomically;

/// Writes the reports of a flow into its folder and returns their names: the comprehensive one as Markdown and HTML,
/// and one for each stage that has figures, with the time in its name.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write_reports(
    figures: &FlowFigures,
    folder: &Path,
    time: &str,
) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut write = |name: String, render: &dyn Fn(&mut Vec<u8>) -> io::Result<()>| {
        let path = folder.join(&name);
        let mut content = Vec::new();
        render(&mut content).map_err(|error| Error::io("write", &path, &error))?;
        write_atomically(&path, &content)?;
        names.push(name);
        Ok(())
    };
    if figures.judge.found().is_some() {
        let name = format!("llm_judge_report_{time}.md");
        let title = format!("{} scored by a judge", items_of(figures));
        let report = single(figures, FlowStage::Judge, &title);
        write(name, &|out| markdown::document(&report, 1, out))?;
    }
    if figures.winrate.found().is_some() {
        let name = format!("win_rate_report_{time}.md");
        let title = format!("{} compared with real ones", items_of(figures));
        let report = single(figures, FlowStage::Winrate, &title);
        write(name, &|out| markdown::document(&report, 1, out))?;
    }
    let whole = comprehensive(figures);
    write("comprehensive_report.md".to_owned(), &|out| {
        markdown::document(&whole, 1, out)
    })?;
    write("comprehensive_report.html".to_owned(), &|out| {
        html::page(&whole.title, std::slice::from_ref(&whole), out)
    })?;
    Ok(names)
}

/// The comprehensive report: the result first, then what it rests on, in detail.
fn comprehensive(figures: &FlowFigures) -> Document {
    let found = findings(figures);
    let name = &figures.basics.name;
    let items = items_of(figures);
    let what = match (&figures.judge, &figures.winrate) {
        (StageFigures::Skipped(_), _) => "compared",
        (_, StageFigures::Skipped(_)) if figures.basics.items.is_some() => "judged",
        _ => "judged and compared",
    };
    let mut report = Document::new(format!("{name}: {items}, {what}"));
    report.section("1. Conclusion");
    conclusion(figures, &found, &mut report);
    report.section("2. Next steps");
    next_steps(figures, &mut report);
    report.section("3. Suggestions");
    suggestions(figures, &found, &mut report);
    if let Some(items) = &figures.basics.items {
        report.section("4. Items");
        let count = counted(figures.basics.count, "item");
        report.paragraph(Line::from(format!("{count} of ")).code(items).plain("."));
    } else {
        report.section("4. Generation");
        folded(&mut report, |report| {
            stage(&figures.generation, report, generation);
        });
    }
    report.section("5. Judge");
    folded(&mut report, |report| {
        stage(&figures.judge, report, judge::judge);
        if let Some(reviewed) = &figures.reviewed {
            judge::people(reviewed, report);
        }
    });
    report.section("6. Win rate against real items");
    folded(&mut report, |report| {
        stage(&figures.winrate, report, winrate);
    });
    report.section("7. Setup and cost");
    basics(figures, &mut report);
    report
}

/// Adds blocks; those from the first table or heading on are collapsed on a page.
fn folded(report: &mut Document, write: impl FnOnce(&mut Document)) {
    let mut part = Document::default();
    write(&mut part);
    let is_detail = |block: &Block| matches!(block, Block::Table(_) | Block::Heading(..));
    let first = part.blocks.iter().position(is_detail);
    let details = part.blocks.split_off(first.unwrap_or(part.blocks.len()));
    report.blocks.extend(part.blocks);
    if !details.is_empty() {
        report
            .blocks
            .push(Block::folded(Fold::Closed, Line::default(), details));
    }
}

/// The report of a single stage.
fn single(figures: &FlowFigures, of: FlowStage, title: &str) -> Document {
    let mut figures = figures.clone();
    figures.generation = StageFigures::default();
    if of == FlowStage::Judge {
        figures.winrate = StageFigures::default();
    } else {
        figures.judge = StageFigures::default();
    }
    figures.reviewed = None;
    figures.gates.retain(|gate| gate.stage == of);
    figures.costs.retain(|cost| cost.stage == of);
    let found = findings(&figures);
    let mut report = Document::new(format!("{}: {title}", figures.basics.name));
    report.section("Basic information");
    basics(&figures, &mut report);
    report.section("Figures");
    if of == FlowStage::Judge {
        stage(&figures.judge, &mut report, judge::judge);
    } else {
        stage(&figures.winrate, &mut report, winrate);
    }
    report.section("Conclusion");
    conclusion(&figures, &found, &mut report);
    report.section("Suggestions");
    suggestions(&figures, &found, &mut report);
    report
}

/// What the items are called.
fn items_of(figures: &FlowFigures) -> &'static str {
    match figures.basics.items {
        Some(_) => "items",
        None => "generated items",
    }
}

/// The section of a stage, or why it is empty.
fn stage<T>(stage: &StageFigures<T>, report: &mut Document, write: fn(&T, &mut Document)) {
    match stage {
        StageFigures::Found(figures) => write(figures, report),
        StageFigures::Failed(why) => report.note(
            Line::default()
                .strong("This stage failed, so there are no figures:")
                .plain(" ")
                .marked(why),
        ),
        StageFigures::Skipped(why) => {
            report.paragraph(Line::default().plain("Not run: ").marked(why));
        }
    }
}

/// The setup and the costs.
fn basics(figures: &FlowFigures, report: &mut Document) {
    let basics = &figures.basics;
    let started = basics.started_at.split('.').next().unwrap_or_default();
    let started = started.trim_end_matches('Z').replace('T', " ");
    let reference = basics.reference.as_deref().unwrap_or("none");
    let accepted = figures.generation.found().map(|items| items.accepted);
    let version = concat!("evaltest ", env!("CARGO_PKG_VERSION"));
    let facts = [
        ("flow", Some(basics.run_id.clone())),
        ("started", Some(format!("{started} UTC"))),
        (
            "generator",
            Some(basics.generator.clone()).filter(|_| basics.items.is_none()),
        ),
        ("items", basics.items.clone()),
        ("judge", Some(basics.judge.clone())),
        ("real items", Some(reference.to_owned())),
        (
            match basics.items {
                Some(_) => "number of items",
                None => "items requested",
            },
            Some(basics.count.to_string()),
        ),
        (
            "items accepted",
            accepted.map(|accepted| accepted.to_string()),
        ),
        ("seed", basics.seed.map(|seed| seed.to_string())),
        ("written by", Some(version.to_owned())),
    ];
    let facts = facts.into_iter();
    let facts = facts.filter_map(|(what, is)| Some((what.to_owned(), is?.into())));
    report.blocks.push(Block::Facts(facts.collect()));
    if basics.judges_itself {
        report.note(
            "The judge is the generator itself. Models favour their own output, so its points and wins are not \
             independent.",
        );
    }
    for family_notices in basics
        .family_notices
        .iter()
        .filter(|_| !basics.judges_itself)
    {
        report.note(Line::default().marked(family_notices));
    }
    costs(&figures.costs, report);
}

/// The cost of each stage.
fn costs(costs: &[StageCost], report: &mut Document) {
    if costs.is_empty() {
        return;
    }
    let mut table = Table::of_numbers(["stage", "requests", "tokens", "cost", "time"]);
    let mut row = |name: &str, costs: &[StageCost]| {
        // If all values are unknown, so is the sum.
        let sum = |of: fn(&StageCost) -> Option<f64>| {
            let known = costs.iter().filter_map(of);
            known.reduce(|sum, one| sum + one)
        };
        let tokens = costs.iter().filter_map(|cost| cost.tokens);
        let requests: u64 = costs.iter().map(|cost| cost.requests).sum();
        table.row([
            name.to_owned(),
            requests.to_string(),
            or_dash(tokens.reduce(|sum, one| sum + one)),
            or_dash(sum(|cost| cost.cost_usd).map(Usd)),
            or_dash(sum(|cost| cost.duration_s).map(Seconds)),
        ]);
    };
    for cost in costs {
        row(cost.stage.as_str(), std::slice::from_ref(cost));
    }
    if costs.len() > 1 {
        row("all", costs);
    }
    report.part("Cost and time");
    report.table(table.without_empty());
}

/// `2 cut off, 1 refused`.
fn counts<'a>(reasons: impl IntoIterator<Item = (&'a String, &'a u64)>) -> String {
    let reasons = reasons.into_iter();
    let reasons = reasons.map(|(reason, times)| format!("{times} {}", reason.replace('_', " ")));
    reasons.collect::<Vec<_>>().join(", ")
}

/// Generated items compared with real ones.
fn winrate(compared: &ComparedItems, report: &mut Document) {
    let pairs = &compared.pairs;
    report.blocks.extend(items::compared(pairs, "item"));
    if pairs.unreadable > 0 {
        let reasons = match &*counts(&compared.reasons) {
            "" => String::new(),
            reasons => format!(" ({reasons})"),
        };
        report.note(format!(
            "{} could not be read{reasons}; no share includes them.",
            counted(pairs.unreadable, "pair")
        ));
    }
    report.part("Effects of order and length");
    let mut notes = Vec::new();
    if pairs.inconsistent > 0 {
        let first = CountedShare::of(pairs.first_shown_wins, pairs.inconsistent);
        notes.push(format!(
            "position bias: in {} the item shown first was preferred both times",
            first.text("inconsistent pairs")
        ));
    }
    if let Some(slope) = pairs.length_coefficient {
        let signed = |value: f64| with_minus(&format!("{value:+.2}"));
        let ci95 = pairs.length_ci95.map_or_else(String::new, |ends| {
            let interval = Interval(ends.map(signed));
            format!(" ({})", interval.ci95())
        });
        notes.push(format!(
            "length: a much longer item wins {} often: {}{ci95}, not corrected",
            if slope < 0.0 { "less" } else { "more" },
            signed(slope)
        ));
    }
    notes.extend(compared.notes.iter().cloned());
    judge::worth(&compared.worth, &notes, report);
}

/// Generated and refused items.
fn generation(items: &GeneratedItems, report: &mut Document) {
    report.paragraph(format!(
        "Accepted: {}. {}.",
        items.share().text("requested items"),
        match items.refused {
            0 => "No reply was refused".to_owned(),
            1 => "1 reply was refused".to_owned(),
            refused => format!("{refused} replies were refused"),
        }
    ));
    if items.errors > 0 {
        report.note(format!(
            "The generator gave no reply for {}.",
            counted(items.errors, "item")
        ));
    }
    topics(items, report);
    checks(items, report);
    if let Some(solver) = &items.solver {
        report.paragraph(format!(
            "An independent solver, without seeing the solution, finds the answer of {}.",
            solver.text("items")
        ));
    }
}

fn topics(items: &GeneratedItems, report: &mut Document) {
    if items.topics.is_empty() {
        return;
    }
    report.part("Topics");
    let mut table = Table::new(&[
        ("topic", Left),
        ("requested", Right),
        ("accepted", Right),
        (ci95!("share ("; ")"), Left),
    ]);
    for topic in &items.topics {
        table.row([
            topic.topic.clone(),
            topic.requested.to_string(),
            topic.reached.part.to_string(),
            share_cell(topic.reached.share, topic.reached.ci95),
        ]);
    }
    report.table(table);
    if let Some(p) = items.topics_p {
        let p = P(p);
        report.paragraph(format!(
            "Exact test of the topic distribution against the requested one: {p}."
        ));
    }
}

fn checks(items: &GeneratedItems, report: &mut Document) {
    if !items.checks.is_empty() {
        report.part("Checks");
        let mut table = Table::new(&[
            ("check", Left),
            ("passed", Right),
            ("of", Right),
            (ci95!("share ("; ")"), Left),
        ]);
        for check in &items.checks {
            table.row([
                check.name.replace('_', " "),
                check.passed.part.to_string(),
                check.passed.of.to_string(),
                share_cell(check.passed.share, check.passed.ci95),
            ]);
        }
        report.table(table);
    }
    if !items.reasons.is_empty() {
        report.part("Refused replies");
        let mut table = Table::of_numbers(["failed check", "replies"]);
        for (check, replies) in &items.reasons {
            table.row([check.replace('_', " "), replies.to_string()]);
        }
        report.table(table);
    }
}
