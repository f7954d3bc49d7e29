//! What a ranking says, for terminals and reports.

use super::{ALPHA, RankedRun, Ranking};
use crate::figure::{Interval, Points, Seconds, Share, Usd, ci95, or_dash};
use crate::report::document::{Align, Document, Table};
use crate::report::section::accuracy;

/// What a ranking says, as a report.
pub fn told(ranking: &Ranking) -> Document {
    let mut told = Document::new(title(ranking));
    let sides = [Align::Left].into_iter();
    let sides = sides.chain(std::iter::repeat(Align::Right));
    let heads: Vec<_> = heads(ranking).into_iter().zip(sides).collect();
    let mut table = Table::new(&heads);
    for run in &ranking.runs {
        table.row(row(run));
    }
    told.table(table);
    for line in explained(ranking) {
        told.paragraph(line);
    }
    for notice in notices(ranking) {
        told.note(notice);
    }
    told
}

/// `e: 4 agents and prompts, ranked by accuracy`
pub(in crate::report) fn title(ranking: &Ranking) -> String {
    let count = ranking.runs.len();
    let what = match kinds(ranking) {
        "agent, prompt" => "agents and prompts".to_owned(),
        one => format!("{one}s"),
    };
    format!("{}: {count} {what}, ranked by accuracy", ranking.eval)
}

/// What a run has a name for.
fn kinds(ranking: &Ranking) -> &'static str {
    let has = |name: fn(&RankedRun) -> bool| ranking.runs.iter().any(name);
    let has_agents = has(|run| run.variant.agent.is_some());
    let has_prompts = has(|run| run.variant.prompt.is_some());
    match (has_agents, has_prompts) {
        (true, true) => "agent, prompt",
        (false, true) => "prompt",
        _ => "agent",
    }
}

/// What stands above the columns.
pub(in crate::report) fn heads(ranking: &Ranking) -> [&'static str; 10] {
    [
        kinds(ranking),
        "rank",
        "accuracy",
        ci95!(),
        "less the first",
        ci95!(),
        "group",
        "errors",
        "cost",
        "latency p50",
    ]
}

/// A run, a cell for each column.
pub(in crate::report) fn row(run: &RankedRun) -> [String; 10] {
    let none = || "-".to_owned();
    let [best, worst] = run.rank;
    let groups = run.groups.join("");
    [
        run.variant.names(),
        if best == worst {
            best.to_string()
        } else {
            format!("{best} to {worst}")
        },
        accuracy::shown(run.accuracy, run.accuracy_bounds).unwrap_or_else(none),
        // That of what was answered would hide what was not.
        or_dash(
            run.accuracy_ci95
                .filter(|_| !is_open(run))
                .map(|ends| Interval(ends.map(Share))),
        ),
        or_dash(run.difference.map(Points)),
        or_dash(run.difference_ci95.map(|ends| Interval(ends.map(Points)))),
        if groups.is_empty() { none() } else { groups },
        run.errors.to_string(),
        or_dash(run.cost_usd.map(Usd)),
        or_dash(run.latency_p50_s.map(Seconds)),
    ]
}

/// How the table is read.
pub(in crate::report) fn explained(ranking: &Ranking) -> Vec<String> {
    let pairs = match ranking.pairs.len() {
        0 => return Vec::new(),
        1 => "the pair".to_owned(),
        pairs => format!("all {pairs} pairs"),
    };
    let mut lines = vec![format!(
        "who shares a letter is not told apart: the interval of the paired difference, in points, holds 0, or its p, adjusted \
         by Holm over {pairs}, is not below {ALPHA}"
    )];
    if ranking.runs.iter().any(is_open) {
        lines.push(
            "where answers are missing, accuracy and rank are ranges without an interval, and two are told apart only if no \
             such answer could turn them round"
                .to_owned(),
        );
    }
    lines
}

/// Whether a verdict is missing that may move it.
fn is_open(run: &RankedRun) -> bool {
    run.accuracy_bounds.is_some_and(|[low, high]| low < high)
}

/// What people should know besides.
pub(in crate::report) fn notices(ranking: &Ranking) -> Vec<String> {
    let cached = ranking.runs.iter().filter(|run| run.cached > 0);
    let cached = cached.map(|run| {
        let (eval, cached, all) = (&run.eval, run.cached, run.samples);
        format!(
            "`{eval}`: {cached} of {all} answers are from the cache, and in neither cost nor latency"
        )
    });
    cached.chain(ranking.notices.iter().cloned()).collect()
}
