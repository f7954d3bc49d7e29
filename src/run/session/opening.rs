//! The opening line of a run: which agent and dataset, within which limits, and the possible cost.

use std::time::Duration;

use serde_json::Value;

use crate::data::record::perturb::trials;
use crate::eval::Eval;
use crate::eval::limits::Limits;
use crate::eval::plan::Plan;
use crate::figure::{Count, Seconds, Usd};
use crate::report::reported::program_of;
use crate::report::terminal::{epochs, perturbed};
use crate::scorer::Scorer;
use crate::system::project::display;
use crate::text::clean;

/// With more questions than this, the maximum cost is not computed, as it takes too long.
const MOST_COUNTED: usize = 20_000;

/// The opening line of a run of the samples at these places, within these limits; `resumed` questions were answered
/// before.
pub(in crate::run) fn opening(
    plan: &Plan,
    bounds: &Limits,
    places: &[usize],
    resumed: usize,
) -> String {
    let eval = &plan.eval;
    let ending = if places.len() == 1 { "" } else { "s" };
    let samples = match places.len() {
        of if resumed > 0 && plan.trials() == 1 => format!("{} of {of}", of - resumed.min(of)),
        samples => samples.to_string(),
    };
    if eval.agent.item_parts().is_some() {
        let most = bounds.concurrency;
        let mut line = format!(
            "judging {samples} item{ending} of {}; {most} in parallel",
            source(plan)
        );
        let cost = cost(plan, bounds, places);
        line += &cost.map_or_else(String::new, |cost| format!(", {cost}"));
        return line;
    }
    let by_tier = match eval.progressive {
        Some(_) => "tier by tier up to",
        None => "tier",
    };
    let tier = plan.tier.as_ref();
    let tier = tier.map_or_else(String::new, |tier| {
        format!(", {by_tier} `{}`", clean(&tier.name))
    });
    let (agent, mut epochs) = (agent(eval), epochs(eval.epochs));
    let mut line = if eval.benchmark.name() == "generate" {
        // The files that it reads are examples, not samples.
        format!("asking {agent} for {samples} item{ending}{tier}{epochs}")
    } else {
        if !(tier.is_empty() && epochs.is_empty()) {
            epochs.push(',');
        }
        let source = source(plan);
        format!("sending {samples} sample{ending} of {source}{tier}{epochs} to {agent}")
    };
    line += &perturbed(eval.perturb.as_ref().map_or(0, |it| it.kinds.len()));
    let parts = limits(bounds, eval.agent.asks_endpoint())
        .into_iter()
        .chain(cost(plan, bounds, places));
    for (number, part) in parts.enumerate() {
        line += if number == 0 { "; " } else { ", " };
        line += &part;
    }
    line
}

fn source(plan: &Plan) -> String {
    if let Some(dataset) = &plan.dataset {
        return format!("`{}`", clean(dataset));
    }
    let benchmark = &plan.eval.benchmark;
    match &*benchmark.read_paths() {
        [] => format!("benchmark `{}`", clean(benchmark.name())),
        [path] => format!("`{}`", clean(&display(path))),
        [path, more @ ..] => format!("`{}` and {} more", clean(&display(path)), more.len()),
    }
}

fn agent(eval: &Eval) -> String {
    let keys = eval.config.get("agent").unwrap_or(&Value::Null);
    let kind = keys.as_str().or_else(|| keys.get("type")?.as_str());
    let Some(kind) = kind else {
        return "an agent in Rust".to_owned();
    };
    let model = eval.agent.model().map(str::to_owned);
    match model.or_else(|| program_of(keys)) {
        Some(program) if kind == "command" => format!("agent `{}`", clean(&program)),
        Some(name) => format!("agent `{}` (`{}`)", clean(kind), clean(&name)),
        None => format!("agent `{}`", clean(kind)),
    }
}

fn limits(limits: &Limits, asks_endpoint: bool) -> Vec<String> {
    let mut parts = vec![format!("{} in parallel", limits.concurrency)];
    let time = |time: Duration| {
        if time.is_zero() {
            "0 s".to_owned()
        } else {
            Seconds::from(time).to_string().replace(".0 s", " s")
        }
    };
    parts.push(format!("timeout {}", time(limits.timeout)));
    parts.push(match limits.retries {
        0 => "no retries".to_owned(),
        1 => "1 retry".to_owned(),
        retries => format!("{retries} retries"),
    });
    let is_shown = asks_endpoint || limits.rate_limit_wait.is_some();
    let wait = limits.longest_rate_limit_wait().filter(|_| is_shown);
    parts.extend(wait.map(|wait| format!("{} of rate limits a sample", time(wait))));
    let rates = [
        (limits.requests_per_minute, "requests"),
        (limits.tokens_per_minute, "tokens"),
    ];
    for (rate, what) in rates {
        parts.extend(rate.map(|rate| format!("{rate} {what} a minute")));
    }
    let deadline = limits.deadline;
    parts.extend(deadline.map(|limit| format!("{} in all", time(limit))));
    let budget = &limits.budget;
    let tokens = budget.tokens;
    parts.extend(tokens.map(|tokens| format!("{} tokens at most", Count(tokens))));
    let requests = budget.requests;
    parts.extend(requests.map(|requests| format!("{requests} requests at most")));
    parts
}

/// The maximum cost if known; a note that it is unknown if something is paid.
fn cost(plan: &Plan, bounds: &Limits, places: &[usize]) -> Option<String> {
    let eval = &plan.eval;
    let most = most_usd(plan, places);
    let judges = plan.scorers.iter().flat_map(|scorer| {
        let mut judges = scorer.agents();
        // Replayed answers cost nothing.
        judges.retain(|judge| !judge.is_deterministic());
        judges
    });
    let mut judges = judges.peekable();
    let asks_judges = judges.peek().is_some();
    let pays_judges = judges.any(|judge| judge.asks_endpoint());
    match (most, bounds.budget.cost_usd) {
        (Some(most), Some(budget)) if most <= budget && !asks_judges => {
            Some(format!("costs at most {}", Usd(most)))
        }
        (_, Some(budget)) => Some(format!("costs at most {} by its budget", Usd(budget))),
        (Some(most), None) if asks_judges => Some(format!(
            "costs at most {} and what its judges take",
            Usd(most)
        )),
        (Some(most), None) => Some(format!("costs at most {}", Usd(most))),
        (None, None) if eval.agent.asks_endpoint() || pays_judges => {
            Some("with no limit on its cost".to_owned())
        }
        (None, None) => None,
    }
}

/// The maximum cost of the agent's answers in US dollars, with every attempt, if known.
fn most_usd(plan: &Plan, places: &[usize]) -> Option<f64> {
    let eval = &plan.eval;
    eval.agent.most_usd(0)?;
    if places.len() > MOST_COUNTED {
        return None;
    }
    let usd = places.iter().map(|&place| {
        let packed = plan.items.get(place).filter(|item| item.files.is_empty())?;
        let sample = packed.sample().ok()?;
        let prompt = eval.prompt.render(&*eval.benchmark, &sample);
        eval.agent.most_usd(prompt.len())
    });
    let usd: f64 = usd.sum::<Option<f64>>()?;
    Some(
        usd * f64::from(trials(eval.epochs, eval.perturb.as_ref()))
            * f64::from(eval.limits.retries + 1),
    )
}
