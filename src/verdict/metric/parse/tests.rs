use super::*;

/// Checks the gate of a text, its canonical text, and its name.
fn check(text: &str, expect: &Gate, canonical: &str, name: &str) {
    let gate: Gate = text.parse().unwrap();
    assert_eq!(gate, *expect, "{text}");
    assert_eq!(gate.to_string(), canonical);
    assert_eq!(gate.name(), name);
    assert_eq!(canonical.parse::<Gate>().unwrap(), gate, "{canonical}");
    let json = serde_json::to_string(&gate).unwrap();
    assert_eq!(serde_json::from_str::<Gate>(&json).unwrap(), gate);
}

#[test]
fn reads_rates_and_slices() {
    check(
        "accuracy >= 0.60",
        &Gate::accuracy(0.6),
        "accuracy >= 0.6",
        "accuracy",
    );
    check(
        " accuracy>=60% ",
        &Gate::accuracy(0.6),
        "accuracy >= 0.6",
        "accuracy",
    );
    check(
        "accuracy [ level = 1 ] >= 0.75",
        &Gate::accuracy(0.75).slice("level", "1"),
        "accuracy[level=1] >= 0.75",
        "accuracy[level=1]",
    );
    check(
        "accuracy(fuzzy)[category=a >= [b]] >= 0.1%",
        &Gate::accuracy_of("fuzzy", 0.001).slice("category", "a >= [b]"),
        "accuracy(fuzzy)[category=a >= [b]] >= 0.001",
        "accuracy(fuzzy)[category=a >= [b]]",
    );
    check(
        "error_rate <= 0.02",
        &Gate::error_rate(0.02),
        "error_rate <= 0.02",
        "error_rate",
    );
    check(
        "failure_rate <= 4e-1",
        &Gate::failure_rate(0.4),
        "failure_rate <= 0.4",
        "failure_rate",
    );
}

#[test]
fn reads_metrics_of_difficulty_and_effort() {
    check(
        "difficulty_drop <= 30%",
        &Gate::difficulty_drop(0.3),
        "difficulty_drop <= 0.3",
        "difficulty_drop",
    );
    check(
        "difficulty_drop( 1 -> 2 ) <= -0.1",
        &Gate::difficulty_drop_between("1", "2", -0.1),
        "difficulty_drop(1->2) <= -0.1",
        "difficulty_drop(1->2)",
    );
    check(
        "recovered_by_retry <= 10%",
        &Gate::recovered_by_retry(0.1),
        "recovered_by_retry <= 0.1",
        "recovered_by_retry",
    );
    check(
        "steps[level=1] <= 8.5",
        &Gate::steps(8.5).slice("level", "1"),
        "steps[level=1] <= 8.5",
        "steps[level=1]",
    );
    check(
        "steps_ratio <= 2",
        &Gate::steps_ratio(2.0),
        "steps_ratio <= 2",
        "steps_ratio",
    );
}

#[test]
fn parses_gates() {
    check(
        "reviewed.approved >= 90%",
        &Gate::reviewed_approved(0.9),
        "reviewed.approved >= 0.9",
        "reviewed.approved",
    );
    check(
        "reviewed.difficulty_match >= 4",
        &Gate::reviewed("difficulty_match", 4.0),
        "reviewed.difficulty_match >= 4",
        "reviewed.difficulty_match",
    );
    for (text, why) in [
        ("reviewed. >= 1", "unknown metric"),
        ("reviewed >= 1", "unknown metric"),
        ("reviewed.share >= 2", "must be between 0 and 1"),
        ("reviewed.clarity >= 50%", "is not a share"),
        ("reviewed.clarity >= -1", "below 0"),
        ("reviewed.share(judge) >= 0.5", "takes no `(judge)`"),
    ] {
        let error = text.parse::<Gate>().unwrap_err();
        assert!(error.message().contains(why), "{text}: {error}");
    }
}

#[test]
fn reads_other_metrics() {
    for text in ["min_samples(30)", "min_samples >= 30", "samples >= 30"] {
        check(
            text,
            &Gate::min_samples(30),
            "min_samples >= 30",
            "min_samples",
        );
    }
    check(
        "mean(f1) >= 0.7",
        &Gate::mean("f1", 0.7),
        "mean(f1) >= 0.7",
        "mean(f1)",
    );
    check(
        "mean(qa_f1.f1)[level=1] > 70%",
        &Gate {
            bound: Some((Op::Above, 0.7)),
            ..Gate::mean("qa_f1.f1", 0.7).slice("level", "1")
        },
        "mean(qa_f1.f1)[level=1] > 0.7",
        "mean(qa_f1.f1)[level=1]",
    );
    check(
        "macro_f1 >= 60%",
        &Gate::macro_f1(0.6),
        "macro_f1 >= 0.6",
        "macro_f1",
    );
    check(
        "macro_f1(choice)[subject=law] >= 0.6",
        &Gate::macro_f1_of("choice", 0.6).slice("subject", "law"),
        "macro_f1(choice)[subject=law] >= 0.6",
        "macro_f1(choice)[subject=law]",
    );
    check(
        "latency_p95 <= 2.5s",
        &Gate::latency_percentile(95.0, 2.5),
        "latency_p95 <= 2.5",
        "latency_p95",
    );
    check(
        "latency_p99.9 <= 10",
        &Gate::latency_percentile(99.9, 10.0),
        "latency_p99.9 <= 10",
        "latency_p99.9",
    );
    check(
        "latency_max <= 10 s",
        &Gate::latency_percentile(100.0, 10.0),
        "latency_max <= 10",
        "latency_max",
    );
    check(
        "latency_mean <= 1",
        &Gate::latency_mean(1.0),
        "latency_mean <= 1",
        "latency_mean",
    );
    check(
        "cost <= 0.5",
        &Gate::cost_usd(0.5),
        "cost_usd <= 0.5",
        "cost_usd",
    );
    check(
        "tokens <= 1e6",
        &Gate::tokens(1_000_000),
        "tokens <= 1000000",
        "tokens",
    );
    for text in ["no_regression", "no_regression()", "no_regression ( )"] {
        check(
            text,
            &Gate::no_regression(),
            "no_regression",
            "no_regression",
        );
    }
    check(
        "no_regression(max_drop=2%,alpha=0.05)[level=1]",
        &Gate::no_regression()
            .alpha(0.05)
            .max_drop(0.02)
            .slice("level", "1"),
        "no_regression(alpha=0.05, max_drop=0.02)[level=1]",
        "no_regression[level=1]",
    );
    check(
        "no_regression(early_stop=true, mid_p = true, min_pairs=50%)",
        &Gate::no_regression().mid_p().early_stop().min_pairs(0.5),
        "no_regression(min_pairs=0.5, mid_p=true, early_stop=true)",
        "no_regression",
    );
}

#[test]
fn each_form_is_read_as_a_metric_of_its_entry() {
    for entry in METRICS.iter().filter(|entry| entry.is_of_gates()) {
        for form in entry.forms {
            let gate: Gate = form.example.parse().unwrap();
            let found = gate.metric.entry();
            assert!(std::ptr::eq(found, entry), "{}: {found:?}", form.form);
            assert!(form.example.starts_with(entry.name), "{}", form.example);
        }
    }
}

#[test]
fn all_of_the_pairs_may_be_wanted() {
    for (text, share) in [("1", 1.0), ("100%", 1.0), ("0", 0.0)] {
        let text = format!("no_regression(min_pairs={text})");
        let gate: Gate = text.parse().unwrap();
        assert_eq!(gate, Gate::no_regression().min_pairs(share));
    }
}

#[track_caller]
fn refused(text: &str, message: &str, hint: &str) {
    let error = text.parse::<Gate>().unwrap_err();
    assert!(error.message().contains(message), "{text}: {error}");
    assert!(error.message().starts_with("gate `"), "{text}: {error}");
    assert!(
        error.hint_text().unwrap_or("").contains(hint),
        "{text}: {error}"
    );
}

#[test]
fn refuses_what_makes_no_sense() {
    refused(
        "acuracy >= 0.6",
        "unknown metric `acuracy`",
        "did you mean `accuracy`?",
    );
    refused(
        "acuracy >= 0.6",
        "",
        "`accuracy`, `accuracy(SCORER)`, `error_rate`",
    );
    refused("latency_pp <= 1", "unknown metric", "`latency_p95`");
    refused("", "unknown metric ``", "the metrics are");
    refused(
        "judge.total >= 3.5",
        "unknown metric `judge.total`",
        "write `mean(judge.total)` for a figure of a scorer",
    );
    refused(">= 3", "unknown metric ``", "");
    refused("accuracy", "no operator", "how `accuracy` must compare");
    refused("accuracy 0.6", "does not start with an operator", "`>=`");
    refused("accuracy = 0.6", "does not start with an operator", "`>=`");
    refused("accuracy ≥ 0.6", "does not start with an operator", "`>=`");
    refused("accuracy >=", "no number", "");
    refused("accuracy >= high", "`high` is not a number", "");
    refused("accuracy >= nan", "`nan` is not a number", "");
    refused("accuracy >= inf", "`inf` is not a number", "");
    refused("accuracy >= 1e999", "is not a number", "");
    refused(
        "accuracy >= 60",
        "between 0 and 1",
        "did you mean `accuracy >= 0.6`",
    );
    refused("accuracy[level=1] >= 60", "", "`accuracy[level=1] >= 0.6`");
    refused("accuracy >= -0.1", "between 0 and 1", "");
    refused("accuracy >= 150%", "between 0 and 1", "");
    refused("accuracy > 1", "can never pass", "");
    refused("error_rate < 0", "can never pass", "");
    refused("accuracy() >= 0.5", "empty parentheses", "");
    refused("error_rate(x) <= 0.5", "takes no `(x)`", "");
    refused("mean >= 0.5", "`mean` needs a figure", "mean(value)");
    refused("accuracy[level] >= 0.5", "is not a slice", "[level=1]");
    refused("accuracy[level=1 >= 0.5", "`[` without `]`", "");
    refused("accuracy(x >= 0.5", "`(` without `)`", "");
    refused("min_samples(2.5)", "whole number", "");
    refused("min_samples <= 5", "takes `>=`", "");
    refused("min_samples(5) >= 5", "two thresholds", "");
    refused("cost_usd <= 50%", "not a share", "");
    refused("latency_p95 <= 500ms", "is not a number", "in seconds");
    refused("latency_p101 <= 1", "between 0 and 100", "");
}

#[test]
fn refuses_senseless_options() {
    refused(
        "no_regression >= 0.5",
        "no threshold",
        "no_regression(alpha=0.05)",
    );
    refused(
        "no_regression(beta=1)",
        "unknown option `beta`",
        "`max_drop`",
    );
    refused(
        "no_regression(alpha)",
        "unknown option `alpha`",
        "alpha=0.05",
    );
    refused("no_regression(alpha=0)", "`alpha`", "such as `alpha=0.05`");
    refused("no_regression(alpha=5)", "`alpha` must be", "`alpha=5%`");
    refused("no_regression(alpha=0.1, alpha=0.2)", "twice", "");
    refused("no_regression(max_drop=2)", "`max_drop`", "`max_drop=2%`");
    refused("no_regression(max_drop=1)", "`max_drop`", "");
    refused(
        "no_regression(min_pairs=1.1)",
        "`min_pairs`",
        "`min_pairs=0.9`",
    );
    refused(
        "accuracy >= 0.6 (confidence=95)",
        "`confidence`",
        "`confidence=95%`",
    );
    refused(
        "accuracy >= 0.6 (min_scored=95)",
        "`min_scored`",
        "`min_scored=50%`",
    );
    refused(
        "accuracy >= 0.6 (min_scored=0.5, min_scored=0.6)",
        "given twice",
        "gates are such as",
    );
    refused(
        "tokens <= 9 (min_scored=0.5)",
        "`min_scored` belongs to",
        "gates are such as",
    );
    refused(
        "no_regression(min_scored=0.5)",
        "unknown option `min_scored`",
        "",
    );
    let both = "accuracy >= 0.6 (confidence=0.95, min_scored=0.5)";
    assert_eq!(both.parse::<Gate>().unwrap().to_string(), both);
    refused(
        "no_regression[level=1](alpha=0.05)",
        "its options go before the slice",
        "write `no_regression(alpha=0.05)[level=1]`",
    );
    refused(
        "no_regression(mid_p=true)[level=1](alpha=0.05)",
        "",
        "write `no_regression(alpha=0.05, mid_p=true)[level=1]`",
    );
    refused(
        "no_regression[level=1](confidence=0.9)",
        "unknown option",
        "",
    );
    // Errors are always reported as those of a gate.
    refused(
        "accuracy >=",
        "no number",
        "gates are such as `accuracy >= 0.6`",
    );
    refused("no_regression(early_stop=yes)", "not `yes`", "`early_stop`");
    refused(
        "no_regression(early_stop=true, max_drop=0.1)",
        "exclude",
        "remove one of the two",
    );
}
