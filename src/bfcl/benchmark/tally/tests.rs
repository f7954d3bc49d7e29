use serde_json::json;

use super::*;
use crate::bfcl::checker::BfclScorer;
use crate::data::Target;
use crate::scorer::{Answer, Scorer as _};
use crate::verdict::summary::tests::record;

/// A record of an answer to an entry with the calls `f(a=1)`, and `b` which may be left out.
fn answered(category: &str, answer: &str) -> Record {
    let call = json!({"f": {"a": [1], "b": ["x", ""]}});
    let calls = if category.contains("parallel") { 2 } else { 1 };
    let target = Target(if category.contains("relevance") {
        Value::Null
    } else {
        vec![call; calls].into()
    });
    let metadata = json!({"category": category, "function": [{"name": "f", "parameters": {
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"],
    }}]});
    let metadata = metadata.as_object().unwrap();
    let score = BfclScorer::default()
        .score(&Answer::new(answer, &target).metadata(metadata))
        .unwrap();
    let mut record = unjudged(category, Status::Scored);
    record.result.score = Some(score);
    record
}

fn unjudged(category: &str, status: Status) -> Record {
    let mut record = record("a", status, false, "1");
    record.slices.insert("category".to_owned(), category.into());
    record
}

fn metrics(records: &[Record], weights: &[(&str, f64)]) -> Map<String, Value> {
    let mut tally = BfclTally::default();
    for record in records {
        tally.add(record);
    }
    let weights = weights.iter();
    tally.finish(
        &weights
            .map(|&(name, weight)| (name.to_owned(), weight))
            .collect(),
    )
}

#[track_caller]
fn check(metrics: &Map<String, Value>, expect: &[(&str, Value)]) {
    for (name, expect) in expect {
        let found = &metrics[*name];
        match (found.as_f64(), expect.as_f64()) {
            (Some(found), Some(expect)) => {
                assert!((found - expect).abs() < 1e-12, "{name}: {found}");
            }
            _ => assert_eq!(found, expect, "{name}"),
        }
    }
}

#[test]
fn figures_of_a_run() {
    let records = [
        answered("simple_python", "f(a=1)"),
        answered("simple_python", "f(a=1, b='x')"),
        answered("simple_python", "f(a=2, b='x', c=3)"),
        answered("simple_python", "f(a=2)"),
        answered("parallel", "f(a=1), f(a=7)"),
        answered("irrelevance", "f(a=1)"),
        answered("irrelevance", "Sorry."),
        unjudged("live_simple", Status::Unscored),
    ];
    let found = metrics(&records, &[("simple_python", 3.0), ("parallel", 1.0)]);
    check(
        &found,
        &[
            ("simple", Value::Null),
            ("non_live", json!((0.5 / 3.0) / 4.0)),
            ("overall", json!(((0.5 / 3.0) / 4.0 + 0.25) * 0.1)),
            // Half of it was not run, and the official tables say so.
            ("irrelevance", Value::Null),
            ("live", Value::Null),
            ("multi_turn", Value::Null),
            ("unweighted", json!((0.5 + 0.0 + 0.5) / 3.0)),
            ("weighted", json!(0.375)),
            // Three of six calls; the irrelevant one is none of them.
            ("call_precision", json!(0.5)),
            ("call_recall", json!(0.5)),
            ("call_f1", json!(0.5)),
            // 1 + 2 of the right ones, `b` of the third, one of two of the parallel ones.
            ("parameter_accuracy", json!(5.0 / 8.0)),
            ("parameter_precision", json!(5.0 / 9.0)),
            ("parameter_f1", json!(10.0 / 17.0)),
            ("weights", json!({"simple_python": 3.0, "parallel": 1.0})),
        ],
    );
    let wrong = |category: &str, error_type: &str, samples: u64| json!({"category": category, "error_type": error_type, "samples": samples, "share": 1.0});
    let expect = [
        wrong("simple_python", "value_error:others", 2),
        wrong("irrelevance", "irrelevance_error:decoder_success", 1),
        wrong(
            "parallel",
            "parallel_function_checker_no_order:cannot_find_match",
            1,
        ),
    ];
    assert_eq!(found["error_types"], Value::from(expect.to_vec()));
    assert_eq!(
        found["wrong_parameters"][0],
        json!({"function": "f", "parameter": "a", "problem": "value", "samples": 3})
    );
    assert_eq!(found["wrong_parameters"][1]["problem"], "unexpected");
    let zeros = found["counted_as_zero"].as_array().unwrap();
    assert!(zeros.contains(&"multi_turn_base".into()) && !zeros.contains(&"irrelevance".into()));
    assert!(!found.contains_key("bounds"));
}

#[test]
fn an_outage_is_no_wrong_answer() {
    let records = [
        answered("simple_python", "f(a=1)"),
        unjudged("simple_python", Status::TimedOut),
        unjudged("live_simple", Status::AgentFailed),
    ];
    let found = metrics(&records, &[("simple_python", 1.0)]);
    let non_live = 1.0 / 3.0 / 4.0;
    check(
        &found,
        &[
            ("weighted", json!(1.0)),
            ("unweighted", Value::Null),
            ("non_live", json!(non_live)),
            // Nothing of `live_simple` is known, so neither is what depends on it.
            ("live", Value::Null),
            ("overall", Value::Null),
            ("call_f1", json!(1.0)),
        ],
    );
    let bounds = &found["bounds"];
    assert_eq!(bounds["weighted"], json!([0.5, 1.0]));
    assert_eq!(bounds["call_f1"], json!([0.0, 1.0]));
    assert_eq!(bounds["non_live"], json!([0.5 / 3.0 / 4.0, non_live]));
    assert_eq!(bounds.get("overall"), None);
    let zeros = found["counted_as_zero"].as_array().unwrap();
    assert!(!zeros.contains(&"live_simple".into()));
}

#[test]
fn categories_of_ones_own_have_no_official_figures() {
    let found = metrics(&[answered("weather", "f(a=1)")], &[("other", 1.0)]);
    check(
        &found,
        &[
            ("overall", Value::Null),
            ("unweighted", json!(1.0)),
            ("weighted", Value::Null),
        ],
    );
    assert!(!found.contains_key("counted_as_zero"));
}

#[test]
fn names_are_those_of_the_figures_that_there_will_be() {
    let of = |categories: &[&str]| {
        let categories: Vec<_> = categories
            .iter()
            .map(|name| Category::named(name))
            .collect();
        names(&categories, &Weights::new())
    };
    let names = of(&["simple_python", "live_simple"]);
    for name in [
        "overall",
        "non_live",
        "live",
        "unweighted",
        "call_f1",
        "parameter_accuracy",
    ] {
        assert!(names.contains(&name.to_owned()), "{name}");
    }
    for name in ["multi_turn", "irrelevance", "simple", "weighted"] {
        assert!(!names.contains(&name.to_owned()), "{name}");
    }
    assert!(!of(&["irrelevance"]).contains(&"call_f1".to_owned()));
    assert!(of(&["irrelevance", "live_irrelevance"]).contains(&"irrelevance".to_owned()));
}
