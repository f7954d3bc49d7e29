//! A list of runs, one line each.

use std::io::{self, Write};

use crate::figure::{Seconds, Usd, or_dash};
use crate::report::document::{Align, Line, Table, Tone};
use crate::report::render::terminal as render;
use crate::report::render::terminal::Paint;
use crate::report::render::terminal::truncate;
use crate::report::reported::overview::{GateCounts, OverviewStatus, RunOverview};
use crate::report::reported::{agent_name, common, minute};
use crate::report::section::accuracy;
use crate::verdict::result::Verdict;

/// Maximum characters of a name.
const MOST: usize = 28;
/// Index of the gates column.
const GATES: usize = 6;
/// Placeholder for a missing value.
const NONE: &str = "-";
/// The columns that narrow terminals drop, in this order.
const DROPPED: [&str; 5] = ["cost", "time", "errors", "agent", "gates"];

/// Writes runs, one line each: time, eval, agent, samples, accuracy, errors, gates, cost, and the run's name. A column that
/// no run has a value for is left out; columns are also dropped to fit into `width`, if known.
pub fn write(
    runs: &[RunOverview],
    width: Option<usize>,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let heads = [
        "started (UTC)",
        "eval",
        "agent",
        "samples",
        common(runs.iter().map(|run| run.subject)).share(),
        "errors",
        "gates",
        "cost",
        "time",
        "run",
    ];
    let sides = std::iter::once(Align::Left).chain(std::iter::repeat(Align::Right));
    let heads: Vec<_> = heads.into_iter().zip(sides).collect();
    let rows: Vec<_> = runs.iter().map(|run| (run, cells(run))).collect();
    let has_value =
        |column: usize| rows.is_empty() || rows.iter().any(|(_, cells)| cells[column] != NONE);
    let tables = (0..=DROPPED.len()).map(|dropped| {
        let is_shown =
            |column: &usize| has_value(*column) && !DROPPED[..dropped].contains(&heads[*column].0);
        let shown: Vec<usize> = (0..heads.len()).filter(is_shown).collect();
        let heads: Vec<_> = shown.iter().map(|&column| heads[column]).collect();
        let mut table = Table::new(&heads);
        for (run, cells) in &rows {
            let tone = run.gates.and_then(worst).map_or(Tone::Plain, Tone::from);
            let cell = |&column: &usize| match column {
                GATES => Line::default().toned(tone, &*cells[column]),
                _ => Line::from(&*cells[column]),
            };
            table.rows.push(shown.iter().map(cell).collect());
        }
        table
    });
    let left_out = render::fitting_table(tables, width.unwrap_or(usize::MAX), paint, out)?;
    let line = || {
        format!(
            "left out at this width: {}; `--json` has all",
            left_out.join(", ")
        )
    };
    let is_needed = !left_out.is_empty() && !runs.is_empty();
    render::lines(is_needed.then(line), out)
}

fn cells(run: &RunOverview) -> [String; 10] {
    let none = || NONE.to_owned();
    let count = |count: Option<u64>| count.map_or_else(none, |count| count.to_string());
    let samples = match run.status {
        OverviewStatus::Finished => count(run.samples),
        OverviewStatus::Interrupted => format!("{} interrupted", count(run.samples)),
        OverviewStatus::Stopped => format!("{} stopped early", count(run.samples)),
        OverviewStatus::Running => "running".to_owned(),
        OverviewStatus::Killed => "killed".to_owned(),
    };
    let partial = match &run.part {
        Some(part) => format!(" ({})", part.description()),
        None if run.partial => " (partial)".to_owned(),
        None => String::new(),
    };
    let tier = run.tier.as_ref();
    let tier = tier.map_or_else(String::new, |tier| format!(" ({})", truncate(tier, MOST)));
    let (agent, model) = (run.agent.as_deref(), run.model.as_deref());
    let agent = agent_name(agent, model, run.program.as_deref()).unwrap_or_else(none);
    [
        minute(&run.started_at),
        truncate(&run.eval, MOST),
        truncate(&agent, MOST),
        samples + &tier + &partial,
        // Without any answer the range is everything.
        run.accuracy
            .and_then(|_| accuracy::display(run.accuracy, run.accuracy_bounds))
            .unwrap_or_else(none),
        count(run.errors),
        run.gates.map_or_else(none, gates),
        or_dash(run.cost_usd.map(Usd)),
        or_dash(run.duration_s.map(Seconds)),
        run.run_id.clone(),
    ]
}

/// The worst verdict; `None` if nothing was checked.
pub(super) fn worst(counts: GateCounts) -> Option<Verdict> {
    let worst_first = [
        (counts.failed, Verdict::Failed),
        (counts.inconclusive, Verdict::Inconclusive),
        (counts.passed - counts.unchecked, Verdict::Passed),
    ];
    let worst = worst_first.into_iter().find(|(count, _)| *count > 0);
    worst.map(|(_, verdict)| verdict)
}

/// `2 ✓ 1 - 1 ✗`: numbers of gates by result, the worst last; `-` are those that lack a baseline.
pub(super) fn gates(counts: GateCounts) -> String {
    let counts = [
        (counts.ignored, "ignored"),
        (counts.passed - counts.unchecked, "✓"),
        (counts.unchecked, "-"),
        (counts.inconclusive, "?"),
        (counts.failed, "✗"),
    ];
    let description = counts.iter().filter(|(count, _)| *count > 0);
    let description: Vec<_> = description
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if description.is_empty() {
        return NONE.to_owned();
    }
    description.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_counted_the_worst_last() {
        let check = |[passed, failed, inconclusive, ignored, unchecked]: [usize; 5],
                     expect: &str| {
            let counts = GateCounts {
                passed,
                failed,
                inconclusive,
                ignored,
                unchecked,
            };
            assert_eq!(gates(counts), expect);
        };
        check([0; 5], "-");
        check([2, 0, 0, 0, 0], "2 ✓");
        check([2, 0, 0, 0, 1], "1 ✓ 1 -");
        check([1, 2, 3, 4, 0], "4 ignored 1 ✓ 3 ? 2 ✗");
    }

    #[test]
    fn times_have_minute_precision() {
        assert_eq!(minute("2026-11-23T06:47:58.585Z"), "2026-11-23 06:47");
        assert_eq!(minute("no"), "no");
    }
}
