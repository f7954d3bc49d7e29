//! What the answers took: time, tokens, money, attempts.

use std::io::{self, Write};

use super::{row, section, table};
use crate::figure::{Seconds, Usd, or_dash};
use crate::verdict::summary::Summary;

pub(super) fn costs(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let count = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
    let usage = &summary.usage;
    section(out, "Time and cost")?;
    table(out, &["figure", "value"])?;
    if let Some(latency) = &summary.latency_s {
        let latencies = [
            ("latency, mean", latency.mean),
            ("latency, median", latency.p50),
            ("latency, p90", latency.p90),
            ("latency, p95", latency.p95),
            ("latency, p99", latency.p99),
            ("latency, slowest", latency.max),
        ];
        for (name, seconds) in latencies {
            row(out, &[name.to_owned(), Seconds(seconds).to_string()])?;
        }
    }
    let cost = or_dash(usage.cost_usd.map(Usd));
    if summary.cached > 0 {
        row(
            out,
            &[
                "answers from the cache".to_owned(),
                summary.cached.to_string(),
            ],
        )?;
    }
    if let Some(steps) = &summary.steps {
        let told = |mean: Option<f64>, of: u64| match mean {
            Some(mean) => format!("{mean:.2} (of {of})"),
            None => "-".to_owned(),
        };
        let mean = told(steps.mean, steps.samples);
        row(out, &["steps of correct answers, mean".to_owned(), mean])?;
        if steps.annotated > 0 {
            let ratio = told(steps.ratio, steps.annotated);
            row(out, &["the same by annotated steps".to_owned(), ratio])?;
        }
    }
    let recovered = &summary.recovered_by_retry;
    let figures = [
        ("input tokens", count(usage.input_tokens)),
        ("output tokens", count(usage.output_tokens)),
        ("cost", cost),
        ("attempts", summary.attempts.to_string()),
        (
            "recovered by retry",
            format!("{} of {}", recovered.recovered, recovered.retried),
        ),
    ];
    for (name, value) in figures {
        row(out, &[name.to_owned(), value])?;
    }
    Ok(())
}
