//! The table at the end of a command with several evals: one row each, a total, and the next command.
//!
//! On a narrow terminal columns are dropped or shortened to fit its width; a pipe gets all of them.

use std::io::{self, Write};

use super::{next, runs};
use crate::exit::Exit;
use crate::figure::{Interval, Points, Seconds, Share, Usd, ci95};
use crate::report::document::{Block, Line, Table, Tone};
use crate::report::render::terminal as render;
use crate::report::render::terminal::Paint;
use crate::report::render::terminal::truncate_middle;
use crate::report::reported::overview::{GateCounts, counted};
use crate::report::section::accuracy;
use crate::stats::as_f64;
use crate::verdict::conclude::Run;
use crate::verdict::summary::{BaselineChange, Summary};

/// Placeholder for a missing value.
const NONE: &str = "-";
/// Maximum number of evals named in the last line.
const NAMED: usize = 4;

/// The row of an eval.
#[derive(Clone, Debug)]
pub struct OverviewRow {
    eval: String,
    /// Numbers of requested and of all records.
    samples: Option<(u64, u64)>,
    /// As text, and as a range.
    accuracy: Option<(String, [f64; 2])>,
    change: Option<BaselineChange>,
    errors: u64,
    cost_usd: Option<f64>,
    duration_s: f64,
    gates: GateCounts,
    exit: Exit,
    /// The line with the next command.
    next: Option<String>,
}

impl OverviewRow {
    /// The row of a run.
    pub fn of(run: &Run) -> Self {
        let summary = &run.summary;
        let requested = summary.samples - summary.skipped + summary.not_judged;
        Self {
            eval: run.eval.clone(),
            samples: Some((requested, summary.samples)),
            accuracy: display_accuracy(summary),
            change: summary.change.clone(),
            errors: summary.errors,
            cost_usd: cost_usd(summary),
            duration_s: run.duration_s,
            gates: counted(
                summary
                    .gates
                    .iter()
                    .map(|gate| (gate.verdict, &*gate.message)),
            ),
            exit: summary.exit_code,
            next: next::next(run).into_iter().next(),
        }
    }

    /// The row of an eval that did not run.
    pub fn not_run(eval: &str, exit: Exit) -> Self {
        Self {
            eval: eval.to_owned(),
            samples: None,
            accuracy: None,
            change: None,
            errors: 0,
            cost_usd: None,
            duration_s: 0.0,
            gates: GateCounts::default(),
            exit,
            next: None,
        }
    }

    /// Raises the exit status if a step after the run failed.
    pub fn ends_at_least(&mut self, exit: Exit) {
        self.exit = self.exit.max(exit);
    }

    fn has_run(&self) -> bool {
        self.samples.is_some()
    }
}

/// Cost of the agent's answers and the judges.
fn cost_usd(summary: &Summary) -> Option<f64> {
    let judges = summary
        .judge
        .as_ref()
        .and_then(|judge| judge.usage.cost_usd);
    let costs = [summary.usage.cost_usd, judges];
    costs.into_iter().flatten().reduce(|sum, cost| sum + cost)
}

/// An accuracy as text and as a range: over missing verdicts, or else its interval.
fn display_accuracy(summary: &Summary) -> Option<(String, [f64; 2])> {
    let display = accuracy::display(summary.accuracy, summary.accuracy_bounds)?;
    let point = summary.accuracy.unwrap_or_default();
    let is_open = accuracy::missing(summary).is_some();
    let ends = match summary.accuracy_bounds {
        Some(bounds) if is_open => bounds,
        _ => summary.accuracy_ci95.unwrap_or([point; 2]),
    };
    Some((display, ends))
}

/// The columns that narrow terminals drop, in this order.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum OverviewColumn {
    Time,
    Interval,
    Cost,
    Errors,
    Change,
    Samples,
    /// Never dropped.
    Last,
}

/// The layout of the table.
#[derive(Clone, Copy, Debug)]
struct OverviewLayout {
    /// Maximum length of a name.
    name: usize,
    /// Length of the bar; 0 for none.
    bar: usize,
    /// Columns before this one are dropped.
    first: OverviewColumn,
}

impl OverviewLayout {
    const WHOLE: Self = Self {
        name: usize::MAX,
        bar: 10,
        first: OverviewColumn::Time,
    };

    /// All layouts, from the widest to the narrowest.
    fn all() -> impl Iterator<Item = Self> {
        let steps: [fn(&mut Self); 13] = [
            |_| {},
            |it| it.name = 28,
            |it| it.bar = 6,
            |it| it.first = OverviewColumn::Interval,
            |it| it.name = 20,
            |it| it.first = OverviewColumn::Cost,
            |it| it.first = OverviewColumn::Errors,
            |it| it.bar = 0,
            |it| it.first = OverviewColumn::Change,
            |it| it.name = 10,
            |it| it.first = OverviewColumn::Samples,
            |it| it.name = 4,
            |it| it.first = OverviewColumn::Last,
        ];
        steps.into_iter().scan(Self::WHOLE, |layout, step| {
            step(layout);
            Some(*layout)
        })
    }

    fn has(self, column: OverviewColumn) -> bool {
        column >= self.first
    }
}

/// Writes the table, limited to `width` if known, and a line with the result of the command.
pub fn overview(
    rows: &[OverviewRow],
    exit: Exit,
    width: Option<usize>,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = width.unwrap_or(usize::MAX);
    render::lines([String::new()], out)?;
    let tables = OverviewLayout::all().map(|layout| table(rows, layout));
    render::fitting_table(tables, width, paint, out)?;
    render::blocks(&[Block::Paragraph(last_line(rows, exit))], 0, paint, out)
}

fn table(rows: &[OverviewRow], layout: OverviewLayout) -> Table {
    let is_there = |has: fn(&OverviewRow) -> bool| rows.iter().any(has);
    let has_change = layout.has(OverviewColumn::Change) && is_there(|row| row.change.is_some());
    let has_interval = layout.has(OverviewColumn::Interval);
    let has_cost = layout.has(OverviewColumn::Cost) && is_there(|row| row.cost_usd.is_some());
    let columns = [
        ("eval", true),
        ("samples", layout.has(OverviewColumn::Samples)),
        // The grey part of a bar is the interval.
        ("▒ 95 %", layout.bar > 0),
        ("accuracy", true),
        (ci95!(), has_interval),
        ("change", has_change),
        (ci95!(), has_change && has_interval),
        ("errors", layout.has(OverviewColumn::Errors)),
        ("cost", has_cost),
        ("time", layout.has(OverviewColumn::Time)),
        ("gates", true),
    ];
    let heads = columns.iter().filter(|(_, display)| *display);
    let mut table = Table::of_numbers(heads.map(|(head, _)| *head));
    table.head_tone = Tone::Faint;
    let body = rows.iter().map(|row| one(row, layout)).chain([total(rows)]);
    for row in body {
        let cells = row.into_iter().zip(columns);
        table.row(cells.filter_map(|(cell, (_, display))| display.then_some(cell)));
    }
    table
}

fn toned(tone: Tone, text: impl Into<String>) -> Line {
    Line::default().toned(tone, text)
}

fn one(row: &OverviewRow, layout: OverviewLayout) -> Vec<Line> {
    let none = || toned(Tone::Faint, NONE);
    let name_tone = match row.exit {
        Exit::Passed => Tone::Plain,
        exit => exit.into(),
    };
    let bar = row.accuracy.as_ref();
    let bar = bar.map(|(_, ends)| bar_of(*ends, layout.bar));
    let (accuracy, interval) = match &row.accuracy {
        // The text already is the range.
        Some((display, _)) if display.contains(" to ") => (display.as_str().into(), none()),
        Some((display, ends)) => (
            display.as_str().into(),
            Interval(ends.map(Share)).to_string().into(),
        ),
        None => (none(), none()),
    };
    let (change, change_interval) = match &row.change {
        Some(change) => {
            let tone = match change.difference_ci95 {
                [_, high] if high < 0.0 => Tone::Bad,
                [low, _] if low > 0.0 => Tone::Good,
                _ => Tone::Plain,
            };
            (
                toned(tone, Points(change.difference).to_string()),
                Interval(change.difference_ci95.map(Points))
                    .to_string()
                    .into(),
            )
        }
        None => (none(), none()),
    };
    let has_run = |cell: Line| if row.has_run() { cell } else { none() };
    vec![
        toned(name_tone, truncate_middle(&row.eval, layout.name)),
        match row.samples {
            None => toned(Tone::Bad, "not run"),
            Some((requested, all)) if requested == all => all.to_string().into(),
            Some((requested, all)) => format!("{requested} of {all}").into(),
        },
        bar.map_or_else(Line::default, Line::from),
        accuracy,
        interval,
        change,
        change_interval,
        has_run(match row.errors {
            0 => "0".into(),
            errors => toned(Tone::Unsure, errors.to_string()),
        }),
        row.cost_usd
            .map_or_else(none, |usd| Usd(usd).to_string().into()),
        has_run(Seconds(row.duration_s).to_string().into()),
        gates(row.gates),
    ]
}

/// The totals, for columns that can be summed.
fn total(rows: &[OverviewRow]) -> Vec<Line> {
    let requested = rows.iter().filter_map(|row| row.samples);
    let requested: u64 = requested.map(|(requested, _)| requested).sum();
    let errors: u64 = rows.iter().map(|row| row.errors).sum();
    let seconds: f64 = rows.iter().map(|row| row.duration_s).sum();
    let costs = rows.iter().filter_map(|row| row.cost_usd);
    let cost = costs.reduce(|sum, cost| sum + cost);
    let gates_of = |count: fn(&GateCounts) -> usize| rows.iter().map(|row| count(&row.gates)).sum();
    let all = GateCounts {
        passed: gates_of(|gates| gates.passed),
        failed: gates_of(|gates| gates.failed),
        inconclusive: gates_of(|gates| gates.inconclusive),
        ignored: gates_of(|gates| gates.ignored),
        unchecked: gates_of(|gates| gates.unchecked),
    };
    let faint = |text: String| toned(Tone::Faint, text);
    vec![
        faint("all".to_owned()),
        faint(requested.to_string()),
        Line::default(),
        Line::default(),
        Line::default(),
        Line::default(),
        Line::default(),
        faint(errors.to_string()),
        faint(cost.map(|usd| Usd(usd).to_string()).unwrap_or_default()),
        faint(Seconds(seconds).to_string()),
        gates(all),
    ]
}

fn gates(counts: GateCounts) -> Line {
    let tone = runs::worst(counts).map_or(Tone::Faint, Tone::from);
    toned(tone, runs::gates(counts))
}

/// `████▒▒▒▒▒░`: full up to the lower bound of an accuracy, grey up to the upper bound.
fn bar_of([low, high]: [f64; 2], cells: usize) -> String {
    let place = |share: f64| {
        let mut cell = 0;
        let full = |cell: usize| as_f64(cell as u64) / as_f64(cells as u64);
        while cell < cells && full(2 * cell + 1) / 2.0 <= share {
            cell += 1;
        }
        cell
    };
    let (low, high) = (place(low), place(high));
    let high = high.max(low);
    format!(
        "{}{}{}",
        "█".repeat(low),
        "▒".repeat(high - low),
        "░".repeat(cells - high)
    )
}

/// The result of the command, the eval that caused it, and the next command.
fn last_line(rows: &[OverviewRow], exit: Exit) -> Line {
    let mut line = format!("{} evals, exit code {}", rows.len(), exit.code());
    let mut parts = Vec::new();
    for ending in ENDINGS {
        let named = rows.iter().filter(|row| ended(row) == ending);
        let names: Vec<&str> = named.map(|row| &*row.eval).collect();
        if !names.is_empty() {
            parts.push(format!("{ending}: {}", listed(&names)));
        }
    }
    if !parts.is_empty() {
        line += "; ";
        line += &parts.join("; ");
    }
    let line = toned(exit.into(), line);
    let worst = rows.iter().filter(|row| row.exit != Exit::Passed);
    // The first of the worst evals with a next command.
    let next = worst.filter_map(|row| Some((row.exit, row.next.as_ref()?)));
    let next = next.reduce(|worst, row| if row.0 > worst.0 { row } else { worst });
    match next {
        Some((_, next)) => line.plain(format!("; {next}")),
        None => line,
    }
}

const PASSED: &str = "passed";
const FAILED: &str = "failed";
/// Something else than the failed gate decides the exit code.
const BOTH: &str = "failed and inconclusive";
const INCONCLUSIVE: &str = "inconclusive";
const NOT_RUN: &str = "not run";
const INTERRUPTED: &str = "interrupted";

/// The order in which the last line lists evals.
const ENDINGS: [&str; 5] = [FAILED, NOT_RUN, BOTH, INCONCLUSIVE, INTERRUPTED];

/// How an eval ended.
fn ended(row: &OverviewRow) -> &'static str {
    match row.exit {
        Exit::Passed => PASSED,
        Exit::Failed => FAILED,
        Exit::Infrastructure if row.gates.failed > 0 => BOTH,
        Exit::Infrastructure => INCONCLUSIVE,
        Exit::Usage => NOT_RUN,
        Exit::Interrupted => INTERRUPTED,
    }
}

fn listed(names: &[&str]) -> String {
    let display = names.iter().take(NAMED);
    let display: Vec<_> = display.map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMED) {
        0 => display.join(", "),
        more => format!("{} and {more} more", display.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::result::Verdict;

    fn row(eval: &str, exit: Exit) -> OverviewRow {
        let summary = Summary::of(eval, &[]);
        OverviewRow {
            eval: eval.to_owned(),
            samples: Some((30, 30)),
            accuracy: Some(("66.7 %".to_owned(), [0.488, 0.808])),
            change: summary.change,
            errors: 2,
            cost_usd: Some(0.0123),
            duration_s: 1.25,
            gates: counted([(Verdict::Passed, ""), (Verdict::Failed, "")]),
            exit,
            next: Some(format!("next: cargo evaltest show {eval}")),
        }
    }

    fn written(rows: &[OverviewRow], width: Option<usize>) -> String {
        let mut out = Vec::new();
        let exit = Exit::worst(rows.iter().map(|row| row.exit));
        overview(rows, exit, width, Paint::Plain, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_bar_is_full_up_to_what_is_sure() {
        let check = |ends: [f64; 2], expect: &str| assert_eq!(bar_of(ends, 10), expect, "{ends:?}");
        check([0.488, 0.808], "█████▒▒▒░░");
        check([0.0, 0.0], "░░░░░░░░░░");
        check([1.0, 1.0], "██████████");
        check([0.0, 1.0], "▒▒▒▒▒▒▒▒▒▒");
        check([0.566, 1.0], "██████▒▒▒▒");
    }

    #[test]
    fn the_last_line_names_what_failed_and_what_to_type() {
        let mut rows = [
            row("a", Exit::Passed),
            row("b", Exit::Failed),
            row("c", Exit::Infrastructure),
        ];
        let mut check = |gates: GateCounts, expect: &str| {
            rows[2].gates = gates;
            let last = written(&rows, None).lines().last().unwrap().to_owned();
            let expect = format!("3 evals, exit code 3; {expect}; next: cargo evaltest show c");
            assert_eq!(last, expect);
        };
        let open = counted([(Verdict::Inconclusive, "")]);
        check(open, "failed: `b`; inconclusive: `c`");
        let both = counted([(Verdict::Failed, ""), (Verdict::Inconclusive, "")]);
        check(both, "failed: `b`; failed and inconclusive: `c`");
        let text = written(&[row("a", Exit::Passed), row("b", Exit::Passed)], None);
        assert_eq!(text.lines().last(), Some("2 evals, exit code 0"));
    }

    #[test]
    fn no_line_of_the_table_is_wider_than_the_terminal() {
        let mut rows = vec![row(&"a long name of an eval ".repeat(4), Exit::Passed)];
        rows[0].change = None;
        rows.push(OverviewRow::not_run("b", Exit::Usage));
        for width in 24..140 {
            let text = written(&rows, Some(width));
            let table = text.lines().take(text.lines().count() - 1);
            for line in table {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}
