//! The report of a trend: changes, charts, and a table of runs.

use super::charts::charts;
use super::{EvalTrend, minute, short_commit};
use crate::figure::{Interval, P, Points, Seconds, Share, Usd, ci95, counted};
use crate::report::document::{Align, Block, Document, Line, Table, Tone};
use crate::report::render::terminal::truncate;
use crate::report::reported;
use crate::report::section::Detail;
use crate::report::section::accuracy;
use crate::verdict::alert::{AlertResult, AlertVerdict};
use crate::verdict::trend::{TrendEntry, TrendMark};

/// Maximum number of bars.
const BARS: usize = 60;

/// The report of an eval's trend. On a terminal the newest run and the alerts come last, where they are visible.
pub fn document(eval: &EvalTrend<'_>, detail: Detail) -> Document {
    let runs = eval.trend.runs();
    let mut title = format!("{}: {}", eval.eval, counted(runs as u64, "run"));
    if let Some(first) = eval.trend.entries.first() {
        title = format!("{title} since {}", first.of.time.strftime("%Y-%m-%d"));
    }
    let accepted = eval.trend.entries.len() - runs;
    if runs == 0 && accepted > 0 {
        title = format!(
            "{}: {}, no other runs; `cargo evaltest run --history` adds a run to the history",
            eval.eval,
            counted(accepted as u64, "accepted baseline")
        );
    } else if accepted > 0 {
        title = format!("{title}, {} accepted", counted(accepted as u64, "baseline"));
    }
    let mut document = Document::new(match detail {
        Detail::Brief if runs > 0 => format!("{title} ({})", eval.file),
        Detail::Brief | Detail::Full => title,
    });
    match detail {
        Detail::Brief => {
            let lines = 0..eval.trend.lines.len();
            document
                .blocks
                .extend(lines.filter_map(|line| bars(eval, line)));
            document.table(table(eval, detail));
            document.blocks.extend(changes(eval));
            document.blocks.extend(alerts(eval));
        }
        Detail::Full => {
            document.paragraph(Line::default().toned(Tone::Faint, &eval.file));
            for notice in &eval.notices {
                document.note(notice);
            }
            document.blocks.extend(alerts(eval));
            document.blocks.extend(changes(eval));
            if eval.older() > 0 {
                let older = format!("{} older runs are not shown; ", eval.older());
                let line = Line::default().toned(Tone::Faint, older);
                let line = line.code("cargo evaltest trend --last 0 --html FILE");
                document.paragraph(line.toned(Tone::Faint, " shows them"));
            }
            document.blocks.extend(charts(eval));
            document.table(table(eval, detail));
        }
    }
    document
}

/// The result of each alert, with the reason.
fn alerts(eval: &EvalTrend<'_>) -> impl Iterator<Item = Block> {
    eval.alerts.iter().map(|result: &AlertResult| {
        let (word, tone) = match result.verdict {
            AlertVerdict::Raised => ("ALERT", Tone::Bad),
            AlertVerdict::Quiet => ("quiet", Tone::Good),
            AlertVerdict::Silent => ("silent", Tone::Faint),
        };
        let tier = result.tier.as_deref();
        let tier = tier.map_or_else(String::new, |tier| format!(" (tier {tier})"));
        let text = format!("{word}: {}{tier}: {}", result.alert, result.message);
        let line = Line::default().toned(tone, text);
        Block::Framed(tone, vec![Block::Paragraph(line)])
    })
}

/// The changes of the accuracy's level, the newest last.
fn changes(eval: &EvalTrend<'_>) -> Option<Block> {
    let entries = eval.trend.entries.iter();
    let changes = entries.flat_map(|entry| {
        let marks = entry.marks.iter();
        marks.filter_map(move |mark| change(entry, mark))
    });
    let changes: Vec<_> = changes.map(Block::paragraph).collect();
    (!changes.is_empty()).then_some(Block::Framed(Tone::Plain, changes))
}

/// The accuracies of a line as bars, scaled from the lowest to the highest.
fn bars(eval: &EvalTrend<'_>, line: usize) -> Option<Block> {
    const SIGNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let runs = eval.entries().iter();
    let runs = runs.filter(|entry| entry.is_run() && entry.line == line);
    let values: Vec<f64> = runs.filter_map(|entry| entry.of.accuracy).collect();
    let values = &values[values.len().saturating_sub(BARS)..];
    if values.len() < 2 {
        return None;
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sign = |value: &f64| {
        // Differences of less than a point look equal.
        let share = (value - low) / (high - low).max(0.08);
        let steps = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875];
        SIGNS[steps.iter().filter(|step| share >= **step).count()]
    };
    let bars: String = values.iter().map(sign).collect();
    let tier = eval.trend.lines[line].tier;
    let tier = tier.map_or_else(String::new, |tier| format!(" {tier}"));
    let range = Interval([low, high].map(Share));
    Some(Block::paragraph(format!("accuracy{tier} {bars} {range}")))
}

/// The cell of a run in a column.
type Cell = fn(&TrendEntry<'_>) -> Option<String>;

/// The columns between those of times and marks, with their heads on a page and on a terminal. Those without a figure, or with
/// zeros alone, are dropped.
const COLUMNS: [([&str; 2], Cell); 9] = [
    (["commit"; 2], |entry| short_commit(entry.of)),
    (["tier"; 2], |entry| entry.of.tier.clone()),
    (["samples"; 2], |entry| {
        let judged = entry.of.scored.saturating_add(entry.of.errors);
        (entry.of.samples != judged).then(|| entry.of.samples.to_string())
    }),
    ([ci95!("accuracy, "), "accuracy (95 %)"], accuracy_cell),
    (["points vs. previous", "vs. previous"], |entry| {
        Some(Points(entry.delta?).to_string())
    }),
    (["correct"; 2], |entry| {
        Some(format!("{} of {}", entry.of.correct, entry.of.scored))
    }),
    (["errors"; 2], |entry| Some(entry.of.errors.to_string())),
    (["cost"; 2], |entry| {
        Some(Usd(entry.of.cost_usd?).to_string())
    }),
    (["median latency", "latency"], |entry| {
        let latency = entry.of.latency_s.filter(|_| entry.is_run())?;
        Some(Seconds(latency.p50).to_string())
    }),
];

/// A row per run and accepted baseline shown.
fn table(eval: &EvalTrend<'_>, detail: Detail) -> Table {
    let entries = eval.entries();
    let is_given = |text: Option<String>| text.is_some_and(|text| text != "0");
    let has = |(_, cell): &&([&str; 2], Cell)| entries.iter().any(|entry| is_given(cell(entry)));
    let columns: Vec<_> = COLUMNS.iter().filter(has).collect();
    let times: Vec<String> = entries.iter().map(|it| it.of.time.to_string()).collect();
    let is_full = detail == Detail::Full;
    let heads = columns.iter().map(|([full, brief], _)| match detail {
        Detail::Full => *full,
        Detail::Brief => *brief,
    });
    let mut table = Table::of_numbers(std::iter::once("time (UTC)").chain(heads));
    let has_marks = entries
        .iter()
        .any(|entry| !entry.is_run() || !entry.marks.is_empty());
    let heads = [(is_full, "run"), (has_marks, "changes")].into_iter();
    let heads = heads.filter_map(|(is_there, head)| is_there.then_some(head));
    table
        .heads
        .extend(heads.map(|head| (head.to_owned(), Align::Left)));
    for (entry, time) in entries.iter().zip(reported::times(&times)) {
        let cells = columns.iter().map(|(_, cell)| cell(entry));
        let cells = std::iter::once(Some(time)).chain(cells);
        let cells = cells.map(|text| Line::from(text.unwrap_or_default()));
        let run = is_full.then(|| {
            if entry.is_run() {
                Line::default().code(&entry.of.id)
            } else {
                Line::default()
            }
        });
        let marks = has_marks.then(|| marks(entry, detail));
        table.row(cells.chain(run).chain(marks));
    }
    if is_full {
        table.caption = format!("Runs of {}, newest first", eval.eval);
        table.rows.reverse();
    }
    table
}

/// The changes in a run, one line each.
fn marks(entry: &TrendEntry<'_>, detail: Detail) -> Line {
    let mut lines = Vec::new();
    if !entry.is_run() {
        let line = Line::default().strong("baseline accepted");
        let runs = entry.of.runs.iter().enumerate();
        lines.push(runs.fold(line, |line, (place, run)| {
            line.plain(if place == 0 { " " } else { ", " }).code(run)
        }));
    }
    lines.extend(entry.marks.iter().map(|mark| {
        let mut text = self::mark(mark);
        if detail == Detail::Brief {
            text = truncate(&text, 56);
        }
        if mark.begins_a_line() {
            text += ": not compared with older runs";
        }
        match tone(mark) {
            Tone::Plain => Line::default().strong(text),
            tone => Line::default().toned(tone, text),
        }
    }));
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |all, line| all.newline().line(line))
}

fn tone(mark: &TrendMark) -> Tone {
    match mark {
        TrendMark::Level { before, after, .. } if after < before => Tone::Bad,
        TrendMark::Gates { failed, .. } if *failed > 0 => Tone::Bad,
        TrendMark::Gates { .. } => Tone::Unsure,
        TrendMark::Level { .. } => Tone::Good,
        _ => Tone::Plain,
    }
}

/// A mark in a few words.
fn mark(mark: &TrendMark) -> String {
    match mark {
        TrendMark::Dataset => "other dataset".to_owned(),
        TrendMark::Scorer => "other scorer".to_owned(),
        TrendMark::Agent => "agent changed".to_owned(),
        TrendMark::Prompt { after, .. } => match after {
            Some(prompt) => format!("prompt {prompt}"),
            None => "prompt omitted".to_owned(),
        },
        TrendMark::Model { before, after } => {
            let less = |these: &[String], those: &[String]| {
                let mut names = these.to_vec();
                names.retain(|name| !those.contains(name));
                names.join(", ")
            };
            match &*less(after, before) {
                "" => format!("no longer served {}", less(before, after)),
                new => format!("served {new}"),
            }
        }
        TrendMark::Judge => "judge changed".to_owned(),
        TrendMark::Level { before, after, p } => {
            let sign = if after < before { '▼' } else { '▲' };
            let points = Points(after - before).unsigned();
            format!("{sign} {points} points from here, {}", P(*p))
        }
        TrendMark::Gates {
            failed,
            inconclusive,
        } => {
            let gates = [(failed, "failed"), (inconclusive, "inconclusive")].into_iter();
            let gates = gates.filter(|(count, _)| **count > 0);
            let gates =
                gates.map(|(count, what)| format!("{} {what}", counted(*count as u64, "gate")));
            gates.collect::<Vec<_>>().join(", ")
        }
        TrendMark::Cached => "answers from the cache".to_owned(),
        TrendMark::Dirty => "not committed".to_owned(),
    }
}

/// The accuracy with its interval, or its range if there are errors.
pub(super) fn accuracy_cell(entry: &TrendEntry<'_>) -> Option<String> {
    let bounds = entry.bounds();
    accuracy::display(entry.of.accuracy, bounds)?;
    Some(accuracy::cell(
        entry.of.accuracy,
        bounds,
        entry.of.accuracy_ci95,
    ))
}

/// Describes a change of the level, if the mark is one: its size, the first run, and other changes there.
fn change(entry: &TrendEntry<'_>, of: &TrendMark) -> Option<String> {
    let TrendMark::Level { before, after, p } = of else {
        return None;
    };
    let verb = if after < before { "fell" } else { "rose" };
    let tier = entry.of.tier.as_deref();
    let tier = tier.map_or_else(String::new, |tier| format!(", tier {tier}"));
    let commit = short_commit(entry.of);
    let commit = commit.map_or_else(String::new, |commit| format!(", commit {commit}"));
    let new = entry.marks.iter().filter(|mark| mark.is_of_the_agent());
    let new = match &*new.map(mark).collect::<Vec<_>>() {
        [] => String::new(),
        new => format!("; in the same run: {}", new.join(", ")),
    };
    Some(format!(
        "accuracy {verb} by {} points, from {} to {} ({}), with run {} of {}{tier}{commit}{new}",
        Points(after - before).unsigned(),
        Share(*before),
        Share(*after),
        P(*p),
        entry.of.id,
        minute(entry.of.time),
    ))
}
