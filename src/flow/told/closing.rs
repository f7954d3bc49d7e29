//! What follows from the figures: conclusion, suggestions, next steps.

use crate::figure::counted;
use crate::flow::figures::FlowFigures;
use crate::flow::sentences::FlowFinding;
use crate::report::document::{Block, Document, Line};
use crate::text::shell_word;
use crate::verdict::result::Verdict;

/// What the figures say, and what became of the gates.
pub(super) fn conclusion(figures: &FlowFigures, found: &[FlowFinding], text: &mut Document) {
    for (stage, why) in failures(figures) {
        text.note(
            Line::default()
                .strong(format!("Stage {stage} failed"))
                .plain(": ")
                .marked(why)
                .plain(". Nothing is concluded about it."),
        );
    }
    let said = found.iter().filter_map(FlowFinding::says);
    let said: Vec<_> = said.map(|said| Line::default().marked(&said)).collect();
    if said.is_empty() {
        text.paragraph("There is no figure to conclude from.");
    } else {
        text.blocks.push(Block::List(said));
    }
    gates(figures, text);
}

fn gates(figures: &FlowFigures, text: &mut Document) {
    // The error rate of a stage is said where it is too high.
    let told = |verdict: Verdict, default: bool| !default || verdict != Verdict::Passed;
    let gates = figures.gates.iter();
    let gates: Vec<_> = gates
        .filter(|gate| told(gate.verdict, gate.default))
        .collect();
    if gates.is_empty() {
        return;
    }
    text.part("Gates");
    let lines = gates.iter().map(|gate| {
        let stage = gate.stage.as_str();
        let line = Line::default().strong(gate.verdict.as_str());
        let line = line.plain(format!(", {stage}: "));
        line.marked(&gate.told())
    });
    text.blocks.push(Block::List(lines.collect()));
    let passed = gates.iter().filter(|gate| gate.verdict == Verdict::Passed);
    text.paragraph(format!(
        "{} of {} passed. A gate compares a figure with a number; how sure that figure is, its interval says.",
        passed.count(),
        counted(gates.len() as u64, "gate")
    ));
}

/// What to do about the figures.
pub(super) fn suggestions(figures: &FlowFigures, found: &[FlowFinding], text: &mut Document) {
    let mut todo: Vec<String> = Vec::new();
    if failures(figures).next().is_some() {
        todo.push(
            "mend what made a stage fail, and go on: what was answered is not asked again (part 7)"
                .to_owned(),
        );
    }
    for finding in found {
        todo.extend(finding.todo().filter(|one| !todo.contains(one)));
    }
    if todo.is_empty() {
        text.paragraph("No figure asks for anything.");
        return;
    }
    let todo = todo.iter().map(|one| Line::default().marked(one));
    text.blocks.push(Block::Numbered(todo.collect()));
}

/// What to type next.
pub(super) fn next_steps(figures: &FlowFigures, text: &mut Document) {
    let places = &figures.basics.places;
    let mut steps = Vec::new();
    let mut step = |what: &str, command: String| {
        let line = Line::default().plain(format!("{what}: "));
        steps.push(line.code(format!("cargo evaltest {command}")));
    };
    if failures(figures).next().is_some() {
        let folder = shell_word(&places.folder);
        step(
            "go on where a stage failed",
            format!("flow --resume {folder}"),
        );
        let is_unread = |why: Option<&str>| why.is_some_and(|why| why.contains("could be read"));
        if is_unread(figures.judge.failure()) || is_unread(figures.winrate.failure()) {
            step(
                "the same with another judge, whose replies can be read",
                format!("flow --resume {folder} --judge JUDGE"),
            );
        }
    }
    if let Some(items) = places.items.as_deref().filter(|_| has_items(figures)) {
        step(
            "have people look at the items",
            format!("review {}", shell_word(items)),
        );
    }
    let runs = [
        ("what was refused, and why", &places.generation),
        ("what the judge said of each item", &places.judge),
        ("what the judge said of each pair", &places.winrate),
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
            "hold the judge against what people say",
            format!("judge calibrate {judge} --labels FILE"),
        );
    }
    if steps.is_empty() {
        text.paragraph("There is nothing to look at.");
    } else {
        text.blocks.push(Block::List(steps));
    }
}

fn has_items(figures: &FlowFigures) -> bool {
    let generated = figures.generation.found();
    generated.is_some_and(|generated| generated.accepted > 0)
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
