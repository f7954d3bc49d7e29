//! The pages of `view` above single runs: all evals, the runs of an eval, and links from a run to others.
//!
//! Addresses are fragments such as `eval/NAME`, `run/ID` and `compare/ID/ID`, in the escaped form of [`address`].

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::overview::{OverviewStatus, RunOverview};
use super::{agent_name, common, minute, times};
use crate::exit::Exit;
use crate::figure::{Interval, Points, Seconds, Usd, counted, or_dash};
use crate::report::document::{Align, Block, Document, Fold, Line, Table, TableFilter, Tone};
use crate::report::section::accuracy;

/// Number of runs in the line of history.
const HISTORY: usize = 20;
/// Maximum number of listed runs of an eval, and of other runs to compare a run with.
const LISTED: usize = 1_000;
const OTHERS: usize = 200;

/// A name as part of an address: characters other than letters, digits and `.-_` are percent-encoded.
pub fn address(name: &str) -> String {
    let bytes = name.bytes().map(|byte| match byte {
        b'.' | b'-' | b'_' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    bytes.collect()
}

/// The evals with their latest runs. Runs are in the order of their starts.
pub fn evals(runs: &[Arc<RunOverview>]) -> Document {
    let mut evals = BTreeMap::<&str, Vec<&RunOverview>>::new();
    for run in runs {
        evals.entry(&run.eval).or_default().push(run);
    }
    let mut evals: Vec<_> = evals.into_iter().collect();
    evals.sort_by_key(|(_, runs)| Reverse(runs.last().map(|run| &run.started_at)));
    let share = common(runs.iter().map(|run| run.subject)).share();
    let mut table = Table::new(&[
        ("eval", Align::Left),
        ("latest run", Align::Left),
        ("verdict", Align::Left),
        (share, Align::Right),
        ("since the baseline", Align::Right),
        ("history", Align::Left),
        ("cost", Align::Right),
        ("runs", Align::Right),
    ]);
    for (eval, runs) in evals {
        let Some(latest) = runs.last() else {
            continue;
        };
        let whole = runs.iter().filter(|run| !run.partial && run.tier.is_none());
        let shares: Vec<f64> = whole.filter_map(|run| run.accuracy).collect();
        table.row([
            Line::default().link(eval, format!("eval/{}", address(eval))),
            link(latest, minute(&latest.started_at)),
            verdict(latest),
            accuracy_of(latest).into(),
            change(latest),
            history(&shares[shares.len().saturating_sub(HISTORY)..]).into(),
            or_dash(latest.cost_usd.map(Usd)).into(),
            runs.len().to_string().into(),
        ]);
    }
    let mut document = Document::new("Evals");
    document.table(table.without_empty());
    document
}

/// The runs of an eval, the newest first.
pub fn eval(name: &str, runs: &[Arc<RunOverview>]) -> Document {
    let share = common(runs.iter().map(|run| run.subject)).share();
    let mut table = Table::new(&[
        ("run", Align::Left),
        ("started (UTC)", Align::Left),
        ("agent", Align::Left),
        ("commit", Align::Left),
        ("verdict", Align::Left),
        (share, Align::Right),
        ("since the baseline", Align::Right),
        ("errors", Align::Right),
        ("cost", Align::Right),
        ("time", Align::Right),
        ("compare with", Align::Left),
    ]);
    let started: Vec<String> = runs.iter().map(|run| run.started_at.clone()).collect();
    let started = times(&started);
    for (place, run) in runs.iter().enumerate().rev().take(LISTED) {
        let (agent, model) = (run.agent.as_deref(), run.model.as_deref());
        let agent = agent_name(agent, model, run.program.as_deref());
        let others = [
            ("baseline", baseline(run, runs)),
            (
                "previous run",
                place.checked_sub(1).map(|place| &*runs[place]),
            ),
        ];
        let others = others
            .into_iter()
            .filter_map(|(word, it)| Some((word, it?)));
        let mut compare = Line::default();
        for (word, other) in others {
            if !compare.0.is_empty() {
                compare = compare.plain(", ");
            }
            compare = compare.link(word, compared(other, run));
        }
        table.row([
            link(run, run.run_id.clone()),
            started[place].as_str().into(),
            or_dash(agent).into(),
            or_dash(run.commit.as_deref().and_then(|commit| commit.get(..7))).into(),
            verdict(run),
            accuracy_of(run).into(),
            change(run),
            or_dash(run.errors).into(),
            or_dash(run.cost_usd.map(Usd)).into(),
            or_dash(run.duration_s.map(Seconds)).into(),
            compare,
        ]);
    }
    let mut document = Document::new(name);
    document.blocks.push(way());
    if runs.len() > LISTED {
        let older = runs.len() - LISTED;
        document.paragraph(format!(
            "The newest {LISTED} runs; {older} older ones are not listed."
        ));
    }
    table.filter = Some(TableFilter::Columns(vec!["agent", "verdict", "commit"]));
    document.table(table.without_empty());
    document
}

/// A link to the index.
pub fn way() -> Block {
    Block::Paragraph(Line::default().link("All evals", "index"))
}

/// Links from the page of a run to its eval, and to comparisons with other runs of the eval.
pub fn above(run: &RunOverview, runs: &[Arc<RunOverview>]) -> Vec<Block> {
    let way = Line::default().link("All evals", "index").plain(" · ");
    let way = way.link(
        format!("Runs of {}", run.eval),
        format!("eval/{}", address(&run.eval)),
    );
    let accepted = baseline(run, runs).map(|it| &it.run_id);
    let others = runs.iter().rev().filter(|other| other.run_id != run.run_id);
    let others = others.take(OTHERS).map(|other| {
        let word = if Some(&other.run_id) == accepted {
            " (the baseline)"
        } else {
            ""
        };
        let line = Line::default().link(&other.run_id, compared(other, run));
        line.plain(format!(
            "{word}, {}, {}",
            minute(&other.started_at),
            accuracy_of(other)
        ))
    });
    let others: Vec<Line> = others.collect();
    let mut blocks = vec![Block::Paragraph(way)];
    if !others.is_empty() {
        let title = format!("Compare with {}", counted(others.len() as u64, "other run"));
        blocks.push(Block::folded(Fold::Closed, title, [Block::List(others)]));
    }
    blocks
}

/// The accepted run, if it is among these.
fn baseline<'a>(run: &RunOverview, runs: &'a [Arc<RunOverview>]) -> Option<&'a RunOverview> {
    let accepted = &run.change.as_ref()?.runs;
    let is_one =
        |other: &&RunOverview| other.run_id != run.run_id && accepted.contains(&other.run_id);
    runs.iter().map(|run| &**run).rfind(is_one)
}

fn compared(a: &RunOverview, b: &RunOverview) -> String {
    format!("compare/{}/{}", address(&a.run_id), address(&b.run_id))
}

fn link(run: &RunOverview, text: String) -> Line {
    Line::default().link(text, format!("run/{}", address(&run.run_id)))
}

fn verdict(run: &RunOverview) -> Line {
    let (tone, word) = match (run.status, run.exit_code) {
        (OverviewStatus::Running, _) => (Tone::Unsure, "running"),
        (OverviewStatus::Killed, _) => (Tone::Unsure, "killed"),
        (OverviewStatus::Stopped, Some(Exit::Passed)) => (Tone::Unsure, "ended early"),
        (_, Some(Exit::Passed)) => (Tone::Good, "passed"),
        (_, Some(Exit::Failed)) => (Tone::Bad, "failed"),
        (OverviewStatus::Interrupted, _) => (Tone::Unsure, "interrupted"),
        _ => (Tone::Unsure, "inconclusive"),
    };
    let partial = if run.partial { ", partial" } else { "" };
    Line::default().toned(tone, word).plain(partial)
}

fn accuracy_of(run: &RunOverview) -> String {
    accuracy::cell(run.accuracy, run.accuracy_bounds, run.accuracy_ci95)
}

fn change(run: &RunOverview) -> Line {
    let Some(change) = &run.change else {
        return "-".into();
    };
    let ends = Interval(change.difference_ci95.map(Points));
    let tone = match change.difference_ci95 {
        [_, high] if high < 0.0 => Tone::Bad,
        [low, _] if low > 0.0 => Tone::Good,
        _ => Tone::Plain,
    };
    let points = format!("{} points", Points(change.difference));
    Line::default()
        .toned(tone, points)
        .plain(format!(" ({ends})"))
}

/// `▂▅█`: the accuracy of the last runs, on a scale of at least ten points.
fn history(shares: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let high = shares.iter().copied().fold(0.0, f64::max);
    let low = shares.iter().copied().fold(high - 0.1, f64::min);
    let bar = |share: &f64| {
        let step = (share - low) / (high - low) * 8.0;
        let place = (1..8).take_while(|place| f64::from(*place) <= step).count();
        BARS[place]
    };
    shares.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_has_a_bar_for_each_run() {
        fn check(shares: &[f64], expect: &str) {
            assert_eq!(history(shares), expect, "{shares:?}");
        }
        check(&[], "");
        check(&[1.0], "█");
        check(&[0.5, 1.0, 0.75], "▁█▅");
        // A change of two points is no fall.
        check(&[0.9, 0.88], "█▇");
        check(&[0.0, 0.0], "██");
    }

    #[test]
    fn names_in_addresses_are_percent_encoded() {
        assert_eq!(
            address("e@a+b/../é <x>"),
            "e%40a%2Bb%2F..%2F%C3%A9%20%3Cx%3E"
        );
    }
}
