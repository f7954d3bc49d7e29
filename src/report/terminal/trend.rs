//! Where an eval goes, a run a line, the newest last.

use std::io::{self, Write};

use crate::figure::{Interval, Seconds, Share, Usd};
use crate::report::document::Tone;
use crate::report::render::terminal::paint::Paint;
use crate::report::render::terminal::table::{self, TableCell, cut};
use crate::report::trend::{EvalTrend, alert, delta, mark, measured, minute, short_commit};
use crate::text::clean;
use crate::verdict::alert::AlertVerdict;
use crate::verdict::trend::{TrendEntry, TrendMark};

/// So many characters of a name are shown.
const MOST: usize = 28;
/// So many runs are bars beside each other.
const BARS: usize = 60;

/// Writes the trend of an eval: what changed, and a line for each run that is shown.
pub fn write(eval: &EvalTrend<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let name = clean(eval.eval);
    writeln!(out, "{name}: {} ({})", eval.headline(), clean(&eval.file))?;
    for line in 0..eval.trend.lines.len() {
        bars(eval, line, out)?;
    }
    rows(eval, paint, out)?;
    for change in eval.changes() {
        writeln!(out, "  {}", clean(&change))?;
    }
    for result in &eval.alerts {
        let tone = match result.verdict {
            AlertVerdict::Raised => Tone::Bad,
            AlertVerdict::Quiet => Tone::Good,
            AlertVerdict::Silent => Tone::Faint,
        };
        writeln!(out, "  {}", paint.tone(tone, &clean(&alert(result))))?;
    }
    Ok(())
}

/// The accuracies of a line beside each other, from the lowest to the highest of them.
fn bars(eval: &EvalTrend<'_>, line: usize, out: &mut dyn Write) -> io::Result<()> {
    const SIGNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let runs = eval.entries().iter();
    let runs = runs.filter(|entry| entry.is_run() && entry.line == line);
    let values: Vec<f64> = runs.filter_map(|entry| entry.of.accuracy).collect();
    let values = &values[values.len().saturating_sub(BARS)..];
    if values.len() < 2 {
        return Ok(());
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sign = |value: &f64| {
        // What differs by less than a point looks alike.
        let share = (value - low) / (high - low).max(0.08);
        let steps = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875];
        SIGNS[steps.iter().filter(|step| share >= **step).count()]
    };
    let bars: String = values.iter().map(sign).collect();
    let of = &eval.trend.lines[line];
    let tier = of
        .tier
        .map_or_else(String::new, |tier| format!(" {}", clean(tier)));
    let range = Interval([Share(low), Share(high)]);
    writeln!(out, "  accuracy{tier} {bars} {range}")
}

/// A column that is left out where no run has it.
struct Column {
    head: &'static str,
    cell: fn(&TrendEntry<'_>) -> Option<String>,
    is_optional: bool,
}

const COLUMNS: [Column; 9] = [
    column("time (UTC)", |entry| Some(minute(entry.of.time)), false),
    column(
        "commit",
        |entry| shown(&short_commit(entry.of.commit.as_deref())),
        true,
    ),
    column("tier", |entry| shown(entry.of.tier.as_deref()?), true),
    column("samples", |entry| Some(entry.of.samples.to_string()), false),
    column("accuracy", measured, false),
    column("points", delta, true),
    column("errors", |entry| Some(entry.of.errors.to_string()), false),
    column(
        "cost",
        |entry| Some(Usd(entry.of.cost_usd?).to_string()),
        true,
    ),
    column(
        "p50",
        |entry| Some(Seconds(entry.of.latency_s?.p50).to_string()),
        true,
    ),
];

const fn column(
    head: &'static str,
    cell: fn(&TrendEntry<'_>) -> Option<String>,
    is_optional: bool,
) -> Column {
    Column {
        head,
        cell,
        is_optional,
    }
}

fn shown(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| cut(&clean(text), MOST))
}

fn rows(eval: &EvalTrend<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let entries = eval.entries();
    let has = |column: &&Column| {
        let mut cells = entries.iter().map(|entry| (column.cell)(entry));
        !column.is_optional || cells.any(|cell| cell.is_some())
    };
    let columns: Vec<&Column> = COLUMNS.iter().filter(has).collect();
    let marks: Vec<String> = entries.iter().map(marks_of).collect();
    // The last column begins where that of the row above does.
    let widest = marks.iter().map(|marks| marks.chars().count()).max();
    let widest = widest.unwrap_or_default();
    let heads = columns.iter().map(|column| TableCell::plain(column.head));
    let mut table = vec![heads.collect::<Vec<_>>()];
    for (entry, marks) in entries.iter().zip(&marks) {
        let cell = |column: &&Column| TableCell::plain((column.cell)(entry).unwrap_or_default());
        let mut row: Vec<_> = columns.iter().map(cell).collect();
        if !marks.is_empty() {
            row.push(TableCell::new(tone(entry), format!("{marks:<widest$}")));
        }
        table.push(row);
    }
    let mut text = Vec::new();
    table::write_cells("  ", &table, table::first_left, paint, &mut text)?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines();
    if let Some(heads) = lines.next() {
        writeln!(out, "{heads}")?;
    }
    for (entry, line) in entries.iter().zip(lines) {
        if entry.marks.iter().any(TrendMark::begins_a_line) {
            writeln!(out, "  {}", begins(entry))?;
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// What stands between runs that cannot be compared.
fn begins(entry: &TrendEntry<'_>) -> String {
    let has = |mark: &TrendMark| entry.marks.contains(mark);
    let what = match (has(&TrendMark::Dataset), has(&TrendMark::Scorer)) {
        (true, true) => "dataset and another scorer",
        (true, false) => "dataset",
        _ => "scorer",
    };
    let tier = entry.of.tier.as_deref();
    let tier = tier.map_or_else(String::new, |tier| format!(" of tier {}", clean(tier)));
    format!("-- another {what}{tier} from here: not compared with the runs above --")
}

fn marks_of(entry: &TrendEntry<'_>) -> String {
    let marks = entry.marks.iter().filter(|mark| !mark.begins_a_line());
    let marks = marks.map(|told| cut(&clean(&mark(told)), 2 * MOST));
    let accepted = (!entry.is_run()).then(|| match entry.of.runs.len() {
        0 | 1 => "accepted as the baseline".to_owned(),
        runs => format!("{runs} runs accepted as the baseline"),
    });
    let told: Vec<String> = accepted.into_iter().chain(marks).collect();
    told.join("; ")
}

/// The colour of the worst mark.
fn tone(entry: &TrendEntry<'_>) -> Tone {
    let of = |mark: &TrendMark| match mark {
        TrendMark::Level { before, after, .. } if after < before => Tone::Bad,
        TrendMark::Gates { failed, .. } if *failed > 0 => Tone::Bad,
        TrendMark::Gates { .. } => Tone::Unsure,
        TrendMark::Level { .. } => Tone::Good,
        _ => Tone::Plain,
    };
    let tones: Vec<_> = entry.marks.iter().map(of).collect();
    let worst = [Tone::Bad, Tone::Unsure, Tone::Good];
    let worst = worst.into_iter().find(|tone| tones.contains(tone));
    worst.unwrap_or_default()
}
