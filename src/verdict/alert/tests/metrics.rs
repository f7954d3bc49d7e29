//! The metrics of gates in alerts.

use super::*;
use crate::data::history::HistoryGate;
use crate::verdict::metric::{METRICS, UsedBy};

#[test]
fn an_alert_takes_every_metric_of_gates() {
    for entry in METRICS.iter().filter(|entry| entry.used_by == UsedBy::Both) {
        for form in entry.forms {
            let alert: Result<Alert> = form.example.parse();
            let message = alert.map(|alert| alert.to_string());
            assert_eq!(message.unwrap(), form.example);
        }
    }
    for text in [
        "pass@3(qa)[level=1] < 0.5 twice",
        "accuracy(qa) < 0.5",
        "difficulty_drop(1->2) > 0.3",
        "trend(macro_f1(choice), runs=8)",
        "rise(latency_p99.9, 0.5)",
        "reviewed.rejected > 20%",
        "samples < 30",
        "duration_s > 60s",
    ] {
        assert!(text.parse::<Alert>().is_ok(), "{text}");
    }
    for (text, why) in [
        ("no_regression > 0.5", "the history does not record"),
        ("latency_p101 > 5", "between 0 and 100"),
        ("pass@0 < 0.5", "not a valid number of answers"),
        ("reviewed.share[level=1] < 0.5", "only for the whole run"),
        ("difficulty_drop > 1", "never above 1"),
        ("min_samples(3)", "takes no `(3)`"),
        ("rise(tokens x, 0.5)", "unexpected `x`"),
    ] {
        let error = text.parse::<Alert>().unwrap_err();
        assert!(error.message().contains(why), "{text}: {error}");
    }
}

#[test]
fn what_a_line_does_not_have_itself_is_read_from_its_gates() {
    let measured = |minute, gates: &[(&str, Option<f64>)]| HistoryLine {
        gates: gates
            .iter()
            .map(|(gate, value)| HistoryGate {
                gate: (*gate).to_owned(),
                value: *value,
                ..HistoryGate::default()
            })
            .collect(),
        ..run(minute, 80, 100)
    };
    let gates = [
        ("latency_p90 <= 20", Some(25.0)),
        ("pass@3[level=1] >= 0.5", Some(0.4)),
        ("pass@3 >= 0.5", None),
        ("accuracy(qa) >= 0.5", Some(0.25)),
        ("no_regression(alpha=0.05)", Some(0.5)),
    ];
    let lines = [measured(0, &gates), measured(1, &gates)];
    check(
        "latency_p90 > 20s twice",
        &lines,
        Raised,
        "latency_p90 is 25",
    );
    check(
        "pass@3[level=1] < 0.5",
        &lines,
        Raised,
        "pass@3[level=1] is 40.0 %",
    );
    let missing =
        "the run has no pass@3: add a gate on it to the eval, so that the history records it";
    check("pass@3 < 0.5", &lines, Silent, missing);
    check("macro_f1 < 0.5", &lines, Silent, "the run has no macro_f1");
    check(
        "accuracy(qa) >= 0.5",
        &lines,
        Quiet,
        "accuracy(qa) is 25.0 %",
    );
    check("accuracy < 0.5", &lines, Quiet, "accuracy is 80.0 %");
    check("min_samples < 200", &lines, Raised, "min_samples is 100");
    check(
        "trend(latency_p90, runs=8)",
        &lines,
        Silent,
        "needs 8 runs, the history has 2",
    );
}
