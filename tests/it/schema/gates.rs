//! The pattern of gates is their grammar.

use evaltest::Gate;
use serde_json::json;

use super::{SCHEMA, VALIDATOR};

fn is_taken(gate: &str) -> bool {
    let spec = json!({ "benchmark": "gaia", "agent": "echo", "gates": [gate] });
    VALIDATOR.is_valid(&spec)
}

const METRICS: &[&str] = &[
    "accuracy",
    "accuracy(gaia)",
    "accuracy( )",
    "error_rate",
    "error_rate(x)",
    "failure_rate",
    "min_samples",
    "samples",
    "min_samples(3)",
    "mean",
    "mean(f1)",
    "mean(a.b)",
    "metric(overall)",
    "macro_f1",
    "macro_f1(a)",
    "pass@3",
    "pass^3",
    "pass@0",
    "pass@",
    "pass@3(a)",
    "majority",
    "majority(b)",
    "latency_p95",
    "latency_p99.9",
    "latency_p",
    "latency_mean",
    "latency_max",
    "cost",
    "cost_usd",
    "tokens",
    "input_tokens",
    "output_tokens",
    "difficulty_drop",
    "difficulty_drop(1->2)",
    "difficulty_drop( 1 -> 2 )",
    "difficulty_drop(1)",
    "difficulty_drop(->2)",
    "difficulty_drop(1->)",
    "difficulty_drop()",
    "recovered_by_retry",
    "recovered_by_retry(a)",
    "steps",
    "steps(1)",
    "steps_ratio",
    "no_regression",
    "no_regression()",
    "no_regression(alpha=0.05)",
    "no_regression(alpha=0.05, mid_p=true)",
    "no_regression(alpha=5%)",
    "no_regression(alpha)",
    "no_regression(exact=conditional)",
    "no_regression(exact=no)",
    "no_regression(steps)",
    "no_regression(judge.total)",
    "no_regression(judge.value, by=0.2)",
    "no_increase",
    "no_increase()",
    "no_increase(tokens)",
    "no_increase(tokens, by=10%, alpha=0.01, of=correct)",
    "no_increase(tokens, by)",
    "no_increase(tokens, mid_p=true)",
    "no_decrease( judge.total , by=0.2, min_pairs=0.5 )",
    "no_increase(accuracy)",
    "no_change(trajectory, alpha=1%)",
    "no_change(tokens)",
    "no_regression(alpha=0.05, alpha=0.05)",
    "no_regression(alpha=0.05,)",
    "no_regression(early_stop=yes)",
    "no_regression( max_drop = 0.1 )",
    "acuracy",
    "Accuracy",
    "",
];

#[test]
fn the_pattern_takes_what_is_read() {
    assert!(SCHEMA["$defs"]["gate"]["pattern"].is_string());
    let slices = [
        "",
        "[level=1]",
        " [ level = 1 ]",
        "[level]",
        "[=1]",
        "[a=b]c]",
        "[level=1",
    ];
    let bounds = [
        "",
        " >= 0.5",
        ">=0.5",
        " > 1e-1",
        " <= .5",
        " < 5.",
        " >= 50%",
        " >= 50 %",
        " <= 2s",
        " <= 2 s",
        " = 1",
        " >=",
        " >= x",
        " >= 0.5 0",
    ];
    let ends = [
        "",
        " (confidence=0.95)",
        "(confidence = 95%)",
        " (confidence)",
        " (x=1)",
        " (confidence=0.95",
    ];
    let (mut checked, mut good) = (0, 0);
    for metric in METRICS {
        for slice in slices {
            for bound in bounds {
                for end in ends {
                    let text = format!("{metric}{slice}{bound}{end}");
                    let read: Result<Gate, _> = text.parse();
                    checked += 1;
                    match read {
                        Ok(_) => {
                            good += 1;
                            assert!(is_taken(&text), "`{text}` is a gate");
                        }
                        Err(error) if means_nothing(error.message()) => {}
                        Err(error) => assert!(!is_taken(&text), "`{text}`: {error}"),
                    }
                }
            }
        }
    }
    assert!(checked > 10_000 && good > 500, "{good} of {checked}");
}

/// Whether a gate is refused for what it means, not for how it is written.
fn means_nothing(message: &str) -> bool {
    const OF_MEANING: &[&str] = &[
        "`confidence` belongs to `accuracy >=`",
        "must be between 0 and 1",
        "exists only for the whole run",
        "exclude each other",
        "never fails",
        "is not a whole number",
        "takes `>=`",
        "below 0",
        "a drop is at most 1",
        "is given twice",
        "cannot be written as a text",
    ];
    OF_MEANING.iter().any(|text| message.contains(text))
}
