//! The report section of a ranking.

use super::{RankedRun, Ranking};
use crate::figure::{Interval, Points, Seconds, Share, Usd, ci95, or_dash};
use crate::report::compare::ALPHA;
use crate::report::document::{Document, Table};
use crate::report::section::accuracy;

/// The runs, the best first, and which of them do not differ significantly.
pub fn document(ranking: &Ranking) -> Document {
    let has = |name: fn(&RankedRun) -> bool| ranking.runs.iter().any(name);
    let has_agents = has(|run| run.variant.agent.is_some());
    let has_prompts = has(|run| run.variant.prompt.is_some());
    let (kind, kinds) = match (has_agents, has_prompts) {
        (true, true) => ("agent, prompt", "agents and prompts"),
        (false, true) => ("prompt", "prompts"),
        _ => ("agent", "agents"),
    };
    let (eval, count) = (&ranking.eval, ranking.runs.len());
    let mut document = Document::new(format!("{eval}: {count} {kinds}, ranked by accuracy"));
    let mut table = Table::of_numbers([
        kind,
        "rank",
        "accuracy",
        ci95!(),
        "less the first",
        ci95!(),
        "group",
        "errors",
        "cost",
        "latency p50",
    ]);
    for run in &ranking.runs {
        table.row(cells(run));
    }
    document.table(table);
    let pairs = match ranking.pairs.len() {
        0 => None,
        1 => Some("the pair".to_owned()),
        pairs => Some(format!("all {pairs} pairs")),
    };
    if let Some(pairs) = pairs {
        document.paragraph(format!(
            "who shares a letter is not told apart: the interval of the paired difference, in points, holds 0, or its p, \
             adjusted by Holm over {pairs}, is not below {ALPHA}"
        ));
        if ranking.runs.iter().any(is_open) {
            document.paragraph(
                "where answers are missing, accuracy and rank are ranges without an interval, and two are told apart only \
                 if no such answer could turn them round",
            );
        }
    }
    for run in ranking.runs.iter().filter(|run| run.cached > 0) {
        document.note(format!(
            "`{}`: {} of {} answers are from the cache, and in neither cost nor latency",
            run.eval, run.cached, run.samples
        ));
    }
    for notice in &ranking.notices {
        document.note(notice);
    }
    document
}

/// The cells of a run.
fn cells(run: &RankedRun) -> [String; 10] {
    let [best, worst] = run.rank;
    let accuracy = accuracy::display(run.accuracy, run.accuracy_bounds);
    // The interval over answered samples would hide the missing ones.
    let ci95 = run.accuracy_ci95.filter(|_| !is_open(run));
    [
        run.variant.names(),
        if best == worst {
            best.to_string()
        } else {
            format!("{best} to {worst}")
        },
        or_dash(accuracy),
        or_dash(ci95.map(|ends| Interval(ends.map(Share)))),
        or_dash(run.difference.map(Points)),
        or_dash(run.difference_ci95.map(|ends| Interval(ends.map(Points)))),
        or_dash(Some(run.groups.concat()).filter(|groups| !groups.is_empty())),
        run.errors.to_string(),
        or_dash(run.cost_usd.map(Usd)),
        or_dash(run.latency_p50_s.map(Seconds)),
    ]
}

/// Whether a missing verdict may change the accuracy.
fn is_open(run: &RankedRun) -> bool {
    run.accuracy_bounds.is_some_and(|[low, high]| low < high)
}
