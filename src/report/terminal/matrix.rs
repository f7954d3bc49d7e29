//! The runs of one spec that names several agents or prompts, ranked.

use std::io::{self, Write};

use super::table;
use crate::report::accuracy;
use crate::report::matrix::{ALPHA, RankedRun, Ranking};
use crate::text::{clean, percent};

/// So many characters of a name are shown.
const MOST: usize = 40;

/// Writes the runs, the best first, and which of them are not told apart.
pub fn write(ranking: &Ranking, out: &mut dyn Write) -> io::Result<()> {
    let has = |name: fn(&RankedRun) -> bool| ranking.runs.iter().any(name);
    let has_agents = has(|run| run.variant.agent.is_some());
    let has_prompts = has(|run| run.variant.prompt.is_some());
    let kinds = match (has_agents, has_prompts) {
        (true, true) => "agent, prompt",
        (false, true) => "prompt",
        _ => "agent",
    };
    let count = ranking.runs.len();
    let what = match kinds {
        "agent, prompt" => "agents and prompts".to_owned(),
        one => format!("{one}s"),
    };
    writeln!(
        out,
        "{}: {count} {what}, ranked by accuracy",
        clean(&ranking.eval)
    )?;
    let heads = [
        kinds,
        "rank",
        "accuracy",
        "95 % interval",
        "less the first",
        "95 % interval",
        "group",
        "errors",
        "cost",
        "latency p50",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(ranking.runs.iter().map(row));
    table::write("  ", &rows, out)?;
    let pairs = match ranking.pairs.len() {
        0 => return notices(ranking, out),
        1 => "the pair".to_owned(),
        pairs => format!("all {pairs} pairs"),
    };
    writeln!(
        out,
        "  who shares a letter is not told apart: the interval of the paired difference, in points, holds 0, or its p, \
         adjusted by Holm over {pairs}, is not below {ALPHA}"
    )?;
    if has(is_open) {
        writeln!(
            out,
            "  where answers are missing, accuracy and rank are ranges, and two are told apart only if no such answer could \
             turn them round"
        )?;
    }
    notices(ranking, out)
}

/// Whether a verdict is missing that may move it.
fn is_open(run: &RankedRun) -> bool {
    run.accuracy_bounds.is_some_and(|[low, high]| low < high)
}

fn notices(ranking: &Ranking, out: &mut dyn Write) -> io::Result<()> {
    for run in ranking.runs.iter().filter(|run| run.cached > 0) {
        let (eval, cached, all) = (clean(&run.eval), run.cached, run.samples);
        writeln!(
            out,
            "  note: `{eval}`: {cached} of {all} answers are from the cache, and in neither cost nor latency"
        )?;
    }
    let mut notices = ranking.notices.iter();
    notices.try_for_each(|notice| writeln!(out, "  note: {}", clean(notice)))
}

fn row(run: &RankedRun) -> Vec<String> {
    let none = || "-".to_owned();
    let [best, worst] = run.rank;
    let interval = |ends: Option<[f64; 2]>, show: fn(f64) -> String| {
        ends.map_or_else(none, |[low, high]| {
            format!("{} to {}", show(low), show(high))
        })
    };
    let points: fn(f64) -> String = |share| format!("{:+.1}", share * 100.0);
    let groups = run.groups.join("");
    vec![
        table::cut(&clean(&run.variant.names()), MOST),
        if best == worst {
            best.to_string()
        } else {
            format!("{best} to {worst}")
        },
        accuracy::shown(run.accuracy, run.accuracy_bounds).unwrap_or_else(none),
        interval(run.accuracy_ci95, percent),
        run.difference.map_or_else(none, points),
        interval(run.difference_ci95, points),
        if groups.is_empty() { none() } else { groups },
        run.errors.to_string(),
        run.cost_usd.map_or_else(none, usd),
        run.latency_p50_s
            .map_or_else(none, |seconds| format!("{seconds:.3} s")),
    ]
}

fn usd(usd: f64) -> String {
    if usd.abs() < 0.1 && usd != 0.0 {
        format!("{usd:.6} USD")
    } else {
        format!("{usd:.2} USD")
    }
}
