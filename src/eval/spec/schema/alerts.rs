//! Alerts: texts, with their grammar as a pattern, and the number of looks.

use serde_json::{Value, json};

use super::gates::{NUMBER, OP, SLICE, metric};
use crate::verdict::metric::{METRICS, UsedBy};

pub(super) fn alert() -> Value {
    json!({ "anyOf": [
        {
            "type": "string",
            "pattern": pattern(),
            "description": "A rule over the history of the eval: `drop(accuracy, against=baseline, alpha=0.05)` or \
                            `against=median(5)`, `trend(accuracy, runs=8)`, `stale(days=7)`, `rise(cost_usd, 0.5)`, or a \
                            figure beyond a threshold: `error_rate > 0.05 twice`, `latency_p95 > 20s 3 times`.",
            "examples": [
                "drop(accuracy, against=baseline)",
                "drop(accuracy, against=median(5), alpha=0.05)",
                "trend(accuracy, runs=8)",
                "stale(days=7)",
                "rise(cost_usd, 0.5)",
                "error_rate > 0.05 twice",
            ],
        },
        {
            "type": "object",
            "properties": { "looks": {
                "type": "integer",
                "minimum": 1,
                "maximum": 365,
                "default": 30,
                "description": "How many runs share one alpha of the statistical rules.",
            } },
            "required": ["looks"],
            "additionalProperties": false,
        },
    ] })
}

/// What the parser of alerts accepts; it checks itself whether a rule can be raised.
fn pattern() -> String {
    let alternatives = |has_slice: bool| {
        let entries = METRICS.iter().filter(|entry| entry.is_for(UsedBy::Alerts));
        let entries = entries.filter(|entry| entry.has_slices_in_history() == has_slice);
        let metrics: Vec<_> = entries.filter_map(metric).collect();
        metrics.join("|")
    };
    let figure = format!("(({}){SLICE}|{})", alternatives(true), alternatives(false));
    let number = format!(r"{NUMBER}\s*%?");
    let alpha = format!(r"alpha\s*=\s*{number}");
    let against = r"against\s*=\s*(baseline|median\s*\(\s*5\s*\))";
    let drop = format!(r"drop\s*\(\s*accuracy{SLICE}\s*(,\s*({against}|{alpha})\s*)*\)");
    let trend = format!(r"trend\s*\(\s*{figure}\s*(,\s*(runs\s*=\s*[0-9]+|{alpha})\s*)*\)");
    let stale = format!(r"stale\s*\(\s*days\s*=\s*{number}\s*\)");
    let rise = format!(r"rise\s*\(\s*{figure}\s*,\s*{number}\s*\)");
    let bound = format!(r"{figure}{OP}{NUMBER}[%s]?(\s+(once|twice|[0-9]+\s+times))?");
    format!(r"^\s*({drop}|{trend}|{stale}|{rise}|{bound})\s*$")
}
