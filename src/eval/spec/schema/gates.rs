//! Gates: texts, with their grammar as a pattern.

use serde_json::{Value, json};

use crate::verdict::gate::METRICS;

/// A number, in plain or scientific notation.
pub(super) const NUMBER: &str = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?";
pub(super) const ARGUMENT: &str = r"\s*\(\s*[^)\s][^)]*\)";
pub(super) const SLICE: &str = r"(\s*\[\s*[^=\s][^=]*=\s*[^\s].*\])?";
pub(super) const OP: &str = r"\s*(>=|<=|>|<)\s*";

pub(super) fn gate() -> Value {
    let examples: Vec<_> = METRICS.iter().map(|entry| entry.example).collect();
    json!({
        "type": "string",
        "pattern": pattern(),
        "description": "A metric, an operator (`>=`, `>`, `<=`, `<`) and a number: `accuracy >= 0.6`, \
                        `accuracy[level=1] >= 75%`, `latency_p95 <= 20s`; or `no_regression(alpha=0.05)`.",
        "examples": examples,
    })
}

/// What the parser of gates accepts; it checks itself whether a threshold makes sense.
fn pattern() -> String {
    let scorer = format!(r"(accuracy|macro_f1|majority|pass[@^][1-9][0-9]*)({ARGUMENT})?");
    let of_one = format!(r"(mean|metric|corrected){ARGUMENT}");
    let share = format!(r"({scorer}|{of_one}|error_rate|failure_rate){SLICE}{OP}{NUMBER}\s*%?");
    let drop = r"difficulty_drop(\s*\(\s*[^)\s]([^)]*[^)\s])?\s*->\s*[^)\s][^)]*\))?";
    let of_run = format!(r"({drop}|recovered_by_retry){OP}{NUMBER}\s*%?");
    let confidence = format!(r"(\s*\(\s*confidence\s*=\s*{NUMBER}\s*%?\s*\))?");
    let latency = r"latency_(mean|max|p([0-9]+\.?[0-9]*|\.[0-9]+))";
    let latency = format!(r"{latency}{SLICE}{OP}{NUMBER}\s*s?");
    let amount =
        "(min_samples|samples|cost_usd|cost|tokens|input_tokens|output_tokens|steps|steps_ratio)";
    let amount = format!(r"{amount}{SLICE}{OP}{NUMBER}");
    let samples = format!(r"(min_samples|samples)\s*\(\s*{NUMBER}\s*\){SLICE}");
    let number = format!(r"(alpha|max_drop|min_pairs)\s*=\s*{NUMBER}\s*%?");
    let option = format!(r"\s*({number}|(mid_p|early_stop)\s*=\s*(true|false))\s*");
    let regression = format!(r"no_regression(\s*\((\s*|{option}(,{option})*)\))?{SLICE}");
    format!(r"^\s*(({share}|{of_run}|{latency}|{amount}){confidence}|{samples}|{regression})\s*$")
}
