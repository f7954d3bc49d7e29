//! The verdicts of gates and of alerts, and what they rest on.

use super::overview::has_gate;
use super::source::{Detail, Source, in_run};
use crate::exit::Exit;
use crate::report::document::{Align, Block, Fold, Line, Table, Tone, list};
use crate::verdict::alert::{AlertResult, AlertVerdict};
use crate::verdict::result::{GateResult, Verdict};
use crate::verdict::summary::Summary;
use crate::verdict::summary::account::{AccountRow, Decision};

fn heads(what: &str) -> Table {
    Table::new(&[
        (what, Align::Left),
        ("verdict", Align::Left),
        ("message", Align::Left),
    ])
}

/// The gates with their messages.
pub(in crate::report) fn gates(source: &Source<'_>) -> Vec<Block> {
    let gates = &source.summary.gates;
    if gates.is_empty() {
        return Vec::new();
    }
    // Failed gates first.
    let mut gates: Vec<&GateResult> = gates.iter().collect();
    gates.sort_by_key(|gate| match gate.verdict {
        Verdict::Failed => 0,
        Verdict::Inconclusive => 1,
        Verdict::Passed | Verdict::Ignored => 2,
    });
    // A page has those that call for action, and the others behind a line.
    let is_open =
        |gate: &&GateResult| matches!(gate.verdict, Verdict::Failed | Verdict::Inconclusive);
    let (listed, folded) = match source.run {
        Some(_) => gates.into_iter().partition(is_open),
        None => (gates, Vec::new()),
    };
    let which = if listed.is_empty() { "All" } else { "Other" };
    let title = format!("{which} gates: {}", counts(&folded).unwrap_or_default());
    let mut blocks = vec![Block::section("Gates")];
    let run = source
        .run
        .map_or("RUN_DIR", |(run, _)| &run.manifest.run_id);
    blocks.extend(table(&listed, run));
    blocks.extend(table(&folded, run).map(|table| Block::folded(Fold::Closed, title, [table])));
    let exit = source.summary.exit_code;
    let why = match exit {
        Exit::Failed if has_gate(source.summary, Verdict::Failed) => " (a gate failed)",
        Exit::Infrastructure => " (too many errors, or a gate is inconclusive)",
        _ => "",
    };
    if exit != Exit::Passed {
        blocks.push(Block::paragraph(format!("Exit code {}{why}.", exit.code())));
    }
    blocks
}

/// The commands of the messages are for this run, by its id, because the report may be read elsewhere.
fn table(gates: &[&GateResult], run: &str) -> Option<Block> {
    let mut table = heads("gate");
    for gate in gates {
        let (tone, verdict) = verdict(gate);
        table.row([
            Line::default().code(gate.gate.to_string()),
            Line::default().toned(tone, verdict),
            message(Line::default(), &in_run(&gate.message, run)),
        ]);
    }
    table.block()
}

const NOT_CHECKED: &str = "not checked";

/// What became of a gate. Without a baseline it was not checked.
fn verdict(gate: &GateResult) -> (Tone, &'static str) {
    if gate.lacks_baseline() {
        return (Tone::Faint, NOT_CHECKED);
    }
    (gate.verdict.into(), gate.verdict.as_str())
}

/// Numbers of the gates of a run by what became of them.
pub(in crate::report) fn gate_counts(summary: &Summary) -> Option<String> {
    counts(&summary.gates.iter().collect::<Vec<_>>())
}

/// `1 failed, 2 passed`, the worst first.
fn counts(gates: &[&GateResult]) -> Option<String> {
    let words = ["failed", "inconclusive", "ignored", NOT_CHECKED, "passed"];
    let counts = words.map(|word| {
        let count = gates.iter().filter(|gate| verdict(gate).1 == word).count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}

/// A line per gate, with its message changed by `edited`.
pub(in crate::report) fn gate_lines(
    gates: &[GateResult],
    edited: impl Fn(&str) -> String,
) -> Option<Block> {
    list(gates.iter().map(|gate| {
        let (tone, verdict) = verdict(gate);
        let word = match gate.verdict {
            Verdict::Failed | Verdict::Inconclusive => verdict.to_uppercase(),
            Verdict::Passed | Verdict::Ignored => verdict.to_owned(),
        };
        Line::from(format!("gate {}: ", gate.gate))
            .toned(tone, word)
            .plain(": ")
            .lines(&edited(&gate.message))
    }))
}

/// The account, and whether anything decided the run.
pub(in crate::report) fn account(source: &Source<'_>) -> Vec<Block> {
    let account = &source.summary.account;
    let samples = match account.baseline {
        None => "samples".to_owned(),
        Some(of) => format!("samples ({of} with a verdict in the baseline)"),
    };
    let mut table = Table::new(&[(&samples, Align::Left), ("count", Align::Right)]);
    for [row, count] in account_rows(source.summary, source.detail) {
        table.row([row, count]);
    }
    let mut blocks = Vec::new();
    if let Some(table) = table.block() {
        blocks.extend((!source.is_brief()).then(|| {
            Block::section(match account.baseline {
                Some(_) => "Samples compared with the baseline",
                None => "Outcome of the samples",
            })
        }));
        blocks.push(table);
    }
    let decision = decision(source.summary);
    blocks.extend(list(decision.map(|text| Line::default().marked(&text))));
    blocks
}

/// The rows of the account with their counts. Without a baseline, there is no row for new samples. In brief, there are
/// rows only if not all samples were compared, and not all are new.
pub(in crate::report) fn account_rows(
    summary: &Summary,
    detail: Detail,
) -> impl Iterator<Item = [String; 2]> {
    let account = &summary.account;
    let rows = AccountRow::ALL.into_iter();
    let is_left_out = detail == Detail::Brief && account.is_plain();
    let is_listed = |row: &AccountRow| account.baseline.is_some() || *row != AccountRow::New;
    let rows = rows.filter(move |row| !is_left_out && is_listed(row) && account.count(*row) > 0);
    rows.map(|row| [row.label().to_owned(), account.count(row).to_string()])
}

/// Says that no gate on correctness was checked, if so. A run without answers has other problems.
pub(in crate::report) fn decision(summary: &Summary) -> Option<String> {
    if summary.scored + summary.unscored == 0 {
        return None;
    }
    match summary.account.decision? {
        Decision::Decided => None,
        Decision::Undecided => Some(
            "no gate on correctness was checked (exit code 3 if `CI` is set): accept this run with `cargo evaltest \
             accept`, add a gate such as `accuracy >= 0.8`, or write `gates: []` for none (in Rust `Eval::no_gates()`)"
                .to_owned(),
        ),
        Decision::NotRequested => {
            Some("no gate on correctness: the eval turns gates off (`gates: []`)".to_owned())
        }
    }
}

/// The alerts, raised ones first.
pub(in crate::report) fn alerts(source: &Source<'_>) -> Vec<Block> {
    let alerts = in_order(source.summary);
    if source.is_brief() {
        let lines = alerts.map(|alert| {
            let word = match alert.verdict {
                AlertVerdict::Raised => "RAISED",
                AlertVerdict::Quiet => "quiet",
                AlertVerdict::Silent => "silent",
            };
            Line::from(format!(
                "alert {}: {word}: {}",
                alert.alert,
                with_since(alert)
            ))
        });
        return list(lines).into_iter().collect();
    }
    let mut table = heads("alert");
    for alert in alerts {
        let tone = match alert.verdict {
            AlertVerdict::Raised => Tone::Bad,
            AlertVerdict::Quiet => Tone::Good,
            AlertVerdict::Silent => Tone::Unsure,
        };
        table.row([
            Line::default().code(&alert.alert),
            Line::default().toned(tone, alert.verdict.as_str()),
            message(Line::default(), &with_since(alert)),
        ]);
    }
    let table = table.block().into_iter();
    table
        .flat_map(|table| [Block::section("Alerts"), table])
        .collect()
}

fn with_since(alert: &AlertResult) -> String {
    let since = alert.since.as_deref();
    let since = since.map_or_else(String::new, |since| format!(" (since {since})"));
    format!("{}{since}", alert.message)
}

fn in_order(summary: &Summary) -> impl Iterator<Item = &AlertResult> {
    let of = |raised: bool| {
        let alerts = summary.alerts.iter();
        alerts.filter(move |alert| alert.is_raised() == raised)
    };
    of(true).chain(of(false))
}

/// Appends a message of several lines, with commands marked.
fn message(line: Line, message: &str) -> Line {
    let lines = message.lines().map(str::trim).enumerate();
    lines.fold(line, |line, (place, text)| {
        let line = if place > 0 { line.newline() } else { line };
        line.marked(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Status;
    use crate::verdict::facts::Facts;
    use crate::verdict::gate::Gate;
    use crate::verdict::summary::tests::record;

    #[test]
    fn a_gate_without_a_baseline_counts_as_not_checked() {
        let mut summary = Summary::of("e", &[record("a", Status::Scored, true, "1")]);
        let facts = Facts::of(summary.clone());
        let gates = [
            "accuracy >= 0.5",
            "no_regression(alpha=0.05)",
            "tokens <= 9",
            "accuracy >= 0.1",
        ];
        let gates = gates.map(|gate| gate.parse::<Gate>().unwrap().check(&facts));
        summary.gates = gates.to_vec();
        let counts = gate_counts(&summary);
        assert_eq!(
            counts.as_deref(),
            Some("1 inconclusive, 1 not checked, 2 passed")
        );
        summary.gates.clear();
        assert_eq!(gate_counts(&summary), None);
    }
}
