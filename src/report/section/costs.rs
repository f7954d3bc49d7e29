//! Resources used by the answers: time, tokens, money, attempts.

use std::fmt::Display;

use super::source::Source;
use crate::data::ConversationEnd;
use crate::figure::{Count, Seconds, Usd};
use crate::report::document::{Block, Chart, HistogramMark, Line, list};
use crate::verdict::summary::{ConversationFigures, Latency, Summary};

/// Time, tokens, cost and retries, as far as they apply.
pub(super) fn costs(source: &Source<'_>) -> Vec<Block> {
    let summary = source.summary;
    // Nobody was asked; what judges cost is another section.
    if summary.judges_items {
        return Vec::new();
    }
    if source.is_brief() {
        let parts = brief(summary);
        return list((!parts.is_empty()).then(|| parts.join(", ")))
            .into_iter()
            .collect();
    }
    let mut facts: Vec<(String, Line)> = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value.into()));
    if let Some(latency) = &summary.latency_s {
        let latencies = [
            ("mean", latency.mean),
            ("median", latency.p50),
            ("p90", latency.p90),
            ("p95", latency.p95),
            ("p99", latency.p99),
            ("slowest", latency.max),
        ];
        for (name, seconds) in latencies {
            fact(&format!("latency, {name}"), Seconds(seconds).to_string());
        }
    }
    if summary.cached > 0 {
        fact("answers from the cache", summary.cached.to_string());
    }
    if let Some(steps) = &summary.steps {
        let mean = |mean: Option<f64>, of: u64| match mean {
            Some(mean) => format!("{mean:.2} (of {of})"),
            None => "-".to_owned(),
        };
        fact(
            "steps of correct answers, mean",
            mean(steps.mean, steps.samples),
        );
        if steps.annotated > 0 {
            fact(
                "steps of correct answers by annotated steps",
                mean(steps.ratio, steps.annotated),
            );
        }
    }
    if let Some(conversations) = &summary.conversations {
        let ended = conversations.ended.iter();
        let ended = ended.map(|(why, count)| format!("{count} ended by {}", why.replace('_', " ")));
        let ended = ended.collect::<Vec<_>>();
        fact(
            "conversations",
            format!("{} ({})", conversations.count, ended.join(", ")),
        );
        let sums = [
            ("turns", conversations.turns),
            ("replies", conversations.steps),
            ("tool calls", conversations.tool_calls),
            ("failed calls", conversations.failed_calls),
            ("repeated calls", conversations.repeated_calls),
        ];
        for (name, sum) in sums {
            fact(&format!("{name} of conversations"), Count(sum).to_string());
        }
        if let Some(turns) = first_wrong(conversations) {
            fact("conversations first went wrong in", turns);
        }
        if let Some(tokens) = conversations.user_usage.tokens() {
            fact("tokens of the simulated user", Count(tokens).to_string());
        }
        if let Some(cost) = conversations.user_usage.cost_usd {
            fact("cost of the simulated user", Usd(cost).to_string());
        }
    }
    let usage = &summary.usage;
    let unknown = &usage.unknown;
    for (name, tokens, unknown) in [
        ("input tokens", usage.input_tokens, unknown.input_tokens),
        ("output tokens", usage.output_tokens, unknown.output_tokens),
    ] {
        if let Some(tokens) = tokens {
            fact(name, at_least(unknown, Count(tokens)));
        }
    }
    if let Some(cost) = usage.cost_usd {
        fact("cost", at_least(unknown.cost_usd, Usd(cost)));
    }
    fact("attempts", summary.attempts.to_string());
    let retries = &summary.recovered_by_retry;
    if retries.retried > 0 {
        let recovered = format!("{} of {}", retries.recovered, retries.retried);
        fact("recovered by retry", recovered);
    }
    let mut blocks = vec![Block::section("Time and cost"), Block::Facts(facts)];
    if let (Some(latency), Some((_, figures))) = (&summary.latency_s, source.run) {
        blocks.extend(histogram(latency, &figures.latencies));
    }
    blocks
}

/// `turn 2 (3), turn 4 (1)`
fn first_wrong(conversations: &ConversationFigures) -> Option<String> {
    let turns = conversations.first_wrong_turns.iter();
    let turns: Vec<String> = turns
        .map(|(turn, count)| format!("turn {turn} ({count})"))
        .collect();
    (!turns.is_empty()).then(|| turns.join(", "))
}

fn brief(summary: &Summary) -> Vec<String> {
    let mut parts = Vec::new();
    if summary.cached > 0 {
        let requested = summary.samples - summary.skipped;
        parts.push(format!(
            "{} of {requested} answers from the cache",
            summary.cached
        ));
    }
    parts.extend(summary.latency_s.as_ref().and_then(latencies));
    if let Some(conversations) = &summary.conversations {
        parts.push(format!("{} turns", conversations.turns));
        for why in [ConversationEnd::MaxTurns, ConversationEnd::MaxSteps] {
            let why = why.as_str();
            if let Some(count) = conversations.ended.get(why) {
                parts.push(format!("{count} ended by `{why}`"));
            }
        }
        let turns = first_wrong(conversations);
        parts.extend(turns.map(|turns| format!("first went wrong in {turns}")));
    }
    let usage = &summary.usage;
    let tokens = usage.tokens();
    parts.extend(
        tokens.map(|tokens| at_least(usage.unknown.tokens, format_args!("{tokens} tokens"))),
    );
    let cost = usage.cost_usd;
    parts.extend(cost.map(|cost| at_least(usage.unknown.cost_usd, Usd(cost))));
    let recovered = &summary.recovered_by_retry;
    if recovered.retried > 0 {
        let (recovered, retried) = (recovered.recovered, recovered.retried);
        parts.push(format!(
            "{recovered} of {retried} retried {} recovered",
            match summary.epochs {
                Some(_) => "answers",
                None => "samples",
            }
        ));
    }
    parts
}

/// A sum, which is a lower bound if answers do not report what it sums up.
pub(super) fn at_least(unknown: u64, sum: impl Display) -> String {
    match unknown {
        0 => sum.to_string(),
        _ => format!("at least {sum}"),
    }
}

/// `latency median 1.2 s, p95 3.4 s`, unless it is negligible.
pub(super) fn latencies(latency: &Latency) -> Option<String> {
    let (p50, p95) = (Seconds(latency.p50), Seconds(latency.p95));
    (latency.max >= 0.05).then(|| format!("latency median {p50}, p95 {p95}"))
}

/// A histogram of latencies.
fn histogram(latency: &Latency, values: &[f64]) -> Option<Block> {
    // Negligible latencies have no chart.
    if latency.max < 0.001 {
        return None;
    }
    let (unit, scale) = if latency.max < 0.1 {
        (" ms", 1e3)
    } else {
        (" s", 1.0)
    };
    let mark = |label: &str, value: f64| HistogramMark {
        label: label.to_owned(),
        value: value * scale,
    };
    let mut marks = vec![mark("p50", latency.p50)];
    // Labels that close would overlap.
    if latency.p95 > latency.p50 + latency.max * 0.12 {
        marks.push(mark("p95", latency.p95));
    }
    Some(Block::Chart(Chart::Histogram {
        caption: "Latency of answers".to_owned(),
        unit: unit.to_owned(),
        values: values.iter().map(|value| value * scale).collect(),
        marks,
    }))
}
