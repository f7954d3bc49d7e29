//! For who mends the agent: all figures. The rows of the samples come below.

use super::told::{listed, share};
use super::{overview, slices};
use crate::figure::{Seconds, Share, Usd, or_dash, part_of};
use crate::report::document::{Align, Block, Document, Line, Table};
use crate::report::figures::RunFigures;
use crate::report::judge::{corrected, jury, line, pairs};
use crate::report::metrics::ReportedMetrics;
use crate::report::recommend::recommendations;
use crate::report::reported::ReportedRun;
use crate::report::reviewed::lines as reviewed_lines;
use crate::text::excerpt;
use crate::verdict::groups::SampleFigure;
use crate::verdict::summary::{Summary, judge_notices};

/// So many rows a table has of what may be long.
const LISTED: usize = 20;

use Align::{Left, Right};

pub(super) fn text(run: &ReportedRun, figures: &RunFigures) -> Document {
    let summary = &run.summary;
    let mut text = Document::new(summary.eval.clone());
    overview::verdict(run, &mut text);
    overview::notices(run, &mut text);
    text.table(overview::table(run));
    let advice = recommendations(run, figures);
    if !advice.is_empty() {
        text.section("What to do");
        text.blocks.push(Block::Numbered(advice));
    }
    gates(summary, &mut text);
    slices::sections(summary, &mut text);
    errors(figures, &mut text);
    wrong(figures, &mut text);
    scorers(summary, figures, &mut text);
    judges(summary, &mut text);
    reviewed(summary, &mut text);
    repeats(summary, figures, &mut text);
    let seconds = |it: &SampleFigure| Seconds(it.value).to_string();
    let dollars = |it: &SampleFigure| Usd(it.value).to_string();
    // Of answers that are there at once, the slowest says nothing.
    let is_slow = figures.failures.slowest.iter().any(|it| it.value >= 0.05);
    if is_slow && !run.is_recorded() {
        largest(
            "Slowest",
            "took",
            &figures.failures.slowest,
            summary,
            seconds,
            &mut text,
        );
    }
    largest(
        "Dearest",
        "cost",
        &figures.failures.dearest,
        summary,
        dollars,
        &mut text,
    );
    labels(summary, &mut text);
    metrics(summary, figures, &mut text);
    text
}

/// What a page does not draw: it stands between its charts and the samples.
pub(super) fn beside_charts(run: &ReportedRun, figures: &RunFigures) -> Document {
    let summary = &run.summary;
    let mut text = Document::default();
    parameters(figures, &mut text);
    slices::beside_charts(summary, &mut text);
    reviewed(summary, &mut text);
    repeats(summary, figures, &mut text);
    labels(summary, &mut text);
    metrics(summary, figures, &mut text);
    text
}

fn gates(summary: &Summary, text: &mut Document) {
    if summary.gates.is_empty() {
        return;
    }
    text.section("Gates");
    let mut table = Table::new(&[("gate", Left), ("verdict", Left), ("message", Left)]);
    for result in &summary.gates {
        let lines: Vec<_> = result.message.lines().map(str::trim).collect();
        table.row([
            Line::default().code(result.gate.to_string()),
            Line::default().strong(result.verdict.as_str()),
            Line::default().marked(&lines.join("; ")),
        ]);
    }
    text.table(table);
    text.paragraph(format!("Exit code {}.", summary.exit_code.code()));
}

/// What people say of the items.
fn reviewed(summary: &Summary, text: &mut Document) {
    let Some(reviewed) = &summary.reviewed else {
        return;
    };
    text.section("Reviewed by people");
    let lines = reviewed_lines(reviewed).into_iter();
    let lines = lines.map(Line::from);
    text.blocks.push(Block::List(lines.collect()));
}

fn errors(figures: &RunFigures, text: &mut Document) {
    let groups = &figures.failures.errors;
    if groups.is_empty() {
        return;
    }
    text.section("Errors by kind");
    let mut table = Table::new(&[
        ("kind", Left),
        ("answers", Right),
        ("samples", Left),
        ("the first said", Left),
    ]);
    for group in groups.iter().take(LISTED) {
        let first = group.example.lines().next().unwrap_or_default();
        table.row([
            group.kind.clone(),
            group.count.to_string(),
            named(&group.ids, group.count),
            excerpt(first),
        ]);
    }
    text.table(table);
}

fn wrong(figures: &RunFigures, text: &mut Document) {
    let groups = &figures.failures.wrong;
    if !groups.is_empty() {
        text.section("Wrong answers by reason");
        let mut table = Table::new(&[("reason", Left), ("answers", Right), ("samples", Left)]);
        for group in groups.iter().take(LISTED) {
            let reason = group.reason.as_deref().unwrap_or("(other reasons)");
            table.row([
                excerpt(reason),
                group.count.to_string(),
                named(&group.ids, group.count),
            ]);
        }
        text.table(table);
    }
    parameters(figures, text);
}

fn parameters(figures: &RunFigures, text: &mut Document) {
    let wrong = &figures.wrong_parameters;
    if !wrong.is_empty() {
        text.section("Wrong parameters");
        let mut table = Table::new(&[
            ("function: parameter", Left),
            ("problem", Left),
            ("wrong answers", Right),
        ]);
        for parameter in wrong.iter().take(LISTED) {
            table.row([
                parameter.place.clone(),
                parameter.problem.clone(),
                parameter.samples.to_string(),
            ]);
        }
        text.table(table);
        if wrong.len() > LISTED {
            text.paragraph(format!("and {} more.", wrong.len() - LISTED));
        }
    }
}

/// Ids, as many as stand in a cell.
fn named(ids: &[String], of: u64) -> String {
    let shown: Vec<String> = ids.iter().take(5).map(|id| excerpt(id)).collect();
    listed(&shown, of)
}

fn scorers(summary: &Summary, figures: &RunFigures, text: &mut Document) {
    if summary.scorers.is_empty() {
        return;
    }
    text.section("Scorers");
    let decides = |name: &str| summary.scorer.as_deref() == Some(name);
    let mut table = Table::new(&[
        ("scorer", Left),
        ("accuracy", Left),
        ("correct", Right),
        ("errors", Right),
    ]);
    let mut scorers: Vec<_> = summary.scorers.iter().collect();
    scorers.sort_by_key(|(name, _)| !decides(name));
    for (name, of) in scorers {
        let mut title = name.clone();
        if decides(name) {
            title.push_str(" (decides)");
        }
        if summary.is_uncalibrated(name) {
            title.push_str(", uncalibrated");
        }
        table.row([
            title,
            share(of.accuracy, of.accuracy_bounds, of.accuracy_ci95),
            format!("{} of {}", of.correct, of.scored),
            of.errors.to_string(),
        ]);
    }
    text.table(table);
    let groups = &figures.failures.disagreements;
    if groups.is_empty() {
        return;
    }
    text.part("Where they disagree");
    let mut table = Table::new(&[
        ("the one that decides", Left),
        ("the other", Left),
        ("answers", Left),
        ("samples", Left),
    ]);
    let found = |accepts: bool| if accepts { "accepts" } else { "rejects" };
    for group in groups.iter().take(LISTED) {
        let decides = group.scorer.as_deref().unwrap_or("-");
        table.row([
            format!("{decides} {}", found(group.accepted)),
            format!("{} {}", group.other, found(!group.accepted)),
            part_of(group.count, summary.scored, "answers"),
            named(&group.ids, group.count),
        ]);
    }
    text.table(table);
}

fn judges(summary: &Summary, text: &mut Document) {
    let Some(judge) = &summary.judge else {
        return;
    };
    text.section("Judge and calibration");
    let mut lines = Vec::new();
    for (name, of) in &judge.scorers {
        lines.push(format!("{name}: {}", line(of)));
        lines.extend(
            of.pairs
                .iter()
                .flat_map(pairs::lines)
                .map(|told| format!("{name}: {told}")),
        );
        let figures = corrected(of.calibration.as_ref());
        lines.extend(figures.into_iter().map(|told| format!("{name}: {told}")));
    }
    for (name, of) in &judge.juries {
        lines.push(format!("jury {name}: {}", jury::line(of)));
        lines.extend(jury::labels_line(of).map(|told| format!("jury {name}: {told}")));
        let figures = corrected(of.calibration.as_ref());
        lines.extend(
            figures
                .into_iter()
                .map(|told| format!("jury {name}: {told}")),
        );
    }
    text.blocks.push(Block::List(
        lines
            .iter()
            .map(|line| Line::default().marked(line))
            .collect(),
    ));
    let notices = judge_notices(summary);
    if !notices.is_empty() {
        text.paragraph("To be seen to:");
        let notices = notices.iter().map(|line| Line::default().marked(line));
        text.blocks.push(Block::List(notices.collect()));
    }
}

fn repeats(summary: &Summary, figures: &RunFigures, text: &mut Document) {
    let Some(epochs) = summary.epochs.as_ref().filter(|_| summary.scored > 0) else {
        return;
    };
    text.section("Repeats");
    let mut table = Table::new(&[("figure", Left), ("value", Left), ("standard error", Right)]);
    for (name, estimates) in [("pass@", &epochs.pass_at), ("pass^", &epochs.pass_hat)] {
        // Of one answer both are the mean of the samples' accuracies.
        for (k, estimate) in estimates.iter().filter(|(k, _)| **k > 1) {
            let bounds = estimate.low.zip(estimate.high).map(<[f64; 2]>::from);
            let error = estimate.standard_error.map(Share);
            let shown = crate::report::section::accuracy::shown(estimate.value, bounds);
            table.row([
                format!("{name}{k}"),
                shown.unwrap_or_else(|| "-".to_owned()),
                or_dash(error),
            ]);
        }
    }
    let majority = &epochs.majority;
    let bounds = majority.low.zip(majority.high).map(<[f64; 2]>::from);
    table.row([
        "majority".to_owned(),
        share(majority.accuracy, bounds, majority.accuracy_ci95),
        "-".to_owned(),
    ]);
    text.table(table);
    if epochs.flaky == 0 {
        text.paragraph("No sample is right in one epoch and wrong in another.");
        return;
    }
    text.part("Flaky samples");
    let again = epochs.disagreement.map(Share);
    let again = again.map(|changed| format!(" Asked again, {changed} of all verdicts change."));
    text.paragraph(format!(
        "{} are right in some epochs and wrong in others.{}",
        part_of(epochs.flaky, epochs.samples, "samples"),
        again.unwrap_or_default()
    ));
    let mut table = Table::new(&[("sample", Left), ("right", Right)]);
    let flaky = &figures.failures.flaky;
    for sample in flaky.samples.iter().take(LISTED) {
        let right = format!("{} of {}", sample.correct, sample.scored);
        table.row([excerpt(&sample.id), right]);
    }
    let shown = table.rows.len() as u64;
    text.table(table);
    if flaky.count > shown {
        text.paragraph(format!("and {} more.", flaky.count - shown));
    }
}

fn largest(
    title: &str,
    what: &str,
    found: &[SampleFigure],
    summary: &Summary,
    told: impl Fn(&SampleFigure) -> String,
    text: &mut Document,
) {
    if found.is_empty() {
        return;
    }
    text.section(title);
    let mut table = Table::new(&[("sample", Left), (what, Right)]);
    for sample in found {
        let mut id = excerpt(&sample.id);
        if summary.epochs.is_some() {
            id = format!("{id} (epoch {})", sample.epoch);
        }
        table.row([id, told(sample)]);
    }
    text.table(table);
}

fn labels(summary: &Summary, text: &mut Document) {
    if let Some(labels) = &summary.labels
        && let Some(macro_f1) = labels.macro_f1
    {
        text.section("Labels");
        text.paragraph(format!("Macro-F1 {macro_f1:.4}, the mean of the F1 below."));
        let heads = [
            ("label", Left),
            ("precision", Right),
            ("recall", Right),
            ("F1", Right),
            ("support", Right),
            ("predicted", Right),
        ];
        let mut table = Table::new(&heads);
        for (label, it) in &labels.by_label {
            let shares = [it.precision, it.recall, it.f1].map(|share| format!("{share:.4}"));
            let counts = [it.support, it.predicted].map(|count| count.to_string());
            table.row([label.clone()].into_iter().chain(shares).chain(counts));
        }
        text.table(table);
    }
}

/// What the benchmark itself says.
fn metrics(summary: &Summary, figures: &RunFigures, text: &mut Document) {
    let metrics = ReportedMetrics::of(summary);
    if summary.metrics.is_empty() {
        return;
    }
    text.section("The benchmark's own metrics");
    let bounded = metrics.numbers.iter().any(|number| number.bounds.is_some());
    let value = if bounded {
        "value, or what it is with every sample judged"
    } else {
        "value"
    };
    let mut table = Table::new(&[("metric", Left), (value, Right)]);
    for number in metrics.numbers {
        // Under errors no point.
        let told = match number.bounds.filter(|[low, high]| low != high) {
            Some([low, high]) => format!("{low} to {high}"),
            None => number.value,
        };
        table.row([number.name, told]);
    }
    for name in metrics.unknown {
        table.row([name, "N/A".to_owned()]);
    }
    text.table(table);
    for (title, list) in metrics.texts {
        text.paragraph(format!("{title}: {list}"));
    }
    for shown in metrics.tables {
        // Of a run whose samples tell, they have a section.
        if shown.title == "wrong parameters" && !figures.wrong_parameters.is_empty() {
            continue;
        }
        text.part(shown.title);
        let heads: Vec<_> = shown.heads.iter().map(|head| (&**head, Left)).collect();
        let mut table = Table::new(&heads);
        shown.rows.into_iter().for_each(|cells| table.row(cells));
        text.table(table);
    }
}
