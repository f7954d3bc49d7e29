//! The result of a flow: conclusion, next steps, suggestions.

use crate::figure::{ci95, counted, share_cell};
use crate::flow::figures::{FlowFigures, GeneratedItems};
use crate::flow::findings::FlowFinding;
use crate::report::document::{
    Block, Document, IntervalRow, IntervalScale, Intervals, Line, Tone, list,
};
use crate::text::shell_word;
use crate::verdict::result::Verdict;

/// The findings, the main figures as a chart, and the verdicts of the gates.
pub(super) fn conclusion(figures: &FlowFigures, found: &[FlowFinding], report: &mut Document) {
    for (stage, why) in failures(figures) {
        report.note(
            Line::default()
                .strong(format!("Stage {stage} failed"))
                .plain(": ")
                .marked(why)
                .plain(". It has no conclusions."),
        );
    }
    let sentences = found.iter().filter_map(FlowFinding::text);
    let sentences = list(sentences.map(|text| Line::default().marked(&text)));
    let nothing = || Block::paragraph("There are no figures to conclude from.");
    let blocks = chart(figures).into_iter();
    let blocks = blocks.chain([sentences.unwrap_or_else(nothing)]);
    let framed = Block::Framed(tone(figures), blocks.collect());
    report.blocks.push(framed);
    gates(figures, report);
}

/// The colour of the worst verdict.
fn tone(figures: &FlowFigures) -> Tone {
    let has = |verdict| figures.gates.iter().any(|gate| gate.verdict == verdict);
    if has(Verdict::Failed) {
        Tone::Bad
    } else if failures(figures).next().is_some() || has(Verdict::Inconclusive) {
        Tone::Unsure
    } else if has(Verdict::Passed) {
        Tone::Good
    } else {
        Tone::Plain
    }
}

/// The share of accepted items, of items that pass the judge, and the win rate.
fn chart(figures: &FlowFigures) -> Option<Block> {
    let made = figures.generation.found().map(GeneratedItems::share);
    let passed = figures.judge.found().map(|judged| judged.pass);
    let row = |label: &str, value: f64, interval: Option<[f64; 2]>, note: String| IntervalRow {
        label: label.to_owned(),
        value: Some(value),
        interval,
        figures: share_cell(Some(value), interval),
        note,
        ..IntervalRow::default()
    };
    let shares = [("accepted items", made), ("pass the judge", passed)];
    let shares = shares.into_iter().filter_map(|(label, share)| {
        let share = share?;
        let note = format!("{} of {}", share.part, share.of);
        Some(row(label, share.share?, share.ci95, note))
    });
    let pairs = figures.winrate.found().map(|compared| &compared.pairs);
    let won = pairs.and_then(|pairs| {
        let note = format!("{}, 50 % is equal", counted(pairs.n, "pair"));
        Some(row("win rate", pairs.win_rate?, pairs.ci95, note))
    });
    let rows: Vec<_> = shares.chain(won).collect();
    (!rows.is_empty()).then(|| {
        Block::Intervals(Intervals {
            caption: "Main figures".to_owned(),
            heads: ["", ci95!("share, "), "count"].map(str::to_owned),
            scale: IntervalScale::SHARES,
            rows,
        })
    })
}

fn gates(figures: &FlowFigures, report: &mut Document) {
    let gates: Vec<_> = figures.listed_gates().collect();
    if gates.is_empty() {
        return;
    }
    report.part("Gates");
    report.list(gates.iter().map(|gate| {
        let stage = gate.stage.as_str();
        let line = Line::default().strong(gate.verdict.as_str());
        let line = line.plain(format!(", {stage}: "));
        line.marked(&gate.text())
    }));
    let passed = gates.iter().filter(|gate| gate.verdict == Verdict::Passed);
    report.paragraph(format!(
        "{} of {} passed. A gate compares a figure with a limit; the interval shows how certain the figure is.",
        passed.count(),
        counted(gates.len() as u64, "gate")
    ));
}

/// Advice.
pub(super) fn suggestions(figures: &FlowFigures, found: &[FlowFinding], report: &mut Document) {
    let mut advice: Vec<String> = Vec::new();
    if failures(figures).next().is_some() {
        advice.push(
            "fix the cause of the failed stage, then continue: answered requests are not repeated (see the next steps)"
                .to_owned(),
        );
    }
    for finding in found {
        advice.extend(finding.advice().filter(|one| !advice.contains(one)));
    }
    if advice.is_empty() {
        report.paragraph("No suggestions.");
        return;
    }
    let advice = advice.iter().map(|one| Line::default().marked(one));
    report.blocks.push(Block::Numbered(advice.collect()));
}

/// Commands to run next.
pub(super) fn next_steps(figures: &FlowFigures, report: &mut Document) {
    let places = &figures.basics.places;
    let mut steps = Vec::new();
    let mut step = |what: &str, command: String| {
        let line = Line::default().plain(format!("{what}: "));
        steps.push(line.code(format!("cargo evaltest {command}")));
    };
    if failures(figures).next().is_some() {
        let folder = shell_word(&places.folder);
        step(
            "continue from the failed stage",
            format!("flow --resume {folder}"),
        );
        let is_unread = |why: Option<&str>| why.is_some_and(|why| why.contains("could be read"));
        if is_unread(figures.judge.failure()) || is_unread(figures.winrate.failure()) {
            step(
                "the same with another judge",
                format!("flow --resume {folder} --judge JUDGE"),
            );
        }
    }
    let made = figures.generation.found();
    let is_given = figures.basics.items.is_some();
    let has_items = is_given || made.is_some_and(|made| made.accepted > 0);
    if let Some(items) = places.items.as_deref().filter(|_| has_items) {
        step("review the items", format!("review {}", shell_word(items)));
    }
    let runs = [
        ("refused replies and reasons", &places.generation),
        ("the judge's verdict on each item", &places.judge),
        ("the judge's verdict on each pair", &places.winrate),
    ];
    for (what, run) in runs {
        if let Some(run) = run {
            step(what, format!("show {}", shell_word(run)));
        }
    }
    let uncalibrated = figures.judge.found();
    let uncalibrated = uncalibrated.is_some_and(|judged| !judged.worth.calibrated);
    if let Some(judge) = places.judge.as_deref().filter(|_| uncalibrated) {
        let judge = shell_word(judge);
        step(
            "compare the judge with human labels",
            format!("judge calibrate {judge} --labels FILE"),
        );
    }
    if steps.is_empty() {
        report.paragraph("There are no next steps.");
    }
    report.list(steps);
}

/// The stages that failed, and why.
fn failures(figures: &FlowFigures) -> impl Iterator<Item = (&'static str, &str)> {
    let made = figures.generation.found();
    let made = made.and_then(|made| made.failure.as_deref());
    let all = [
        ("generate", figures.generation.failure().or(made)),
        ("judge", figures.judge.failure()),
        ("winrate", figures.winrate.failure()),
    ];
    all.into_iter()
        .filter_map(|(stage, why)| Some((stage, why?)))
}
