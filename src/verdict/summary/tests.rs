//! Tests of the summary, and records for other tests.

use serde_json::json;

use super::*;
use crate::data::{AgentError, FailureKind, Outcome, Score, Status, Usage};

/// A record with a verdict, at some level, that took 1.5 seconds.
pub(crate) fn record(id: &str, status: Status, correct: bool, level: &str) -> Record {
    let mut slices = Map::new();
    slices.insert("level".to_owned(), level.into());
    Record {
        sample_id: id.to_owned(),
        eval: "test".to_owned(),
        epoch: 0,
        perturb: None,
        unchanged: false,
        prompt: "".into(),
        ground_truth: Value::Null,
        metadata: Map::new(),
        slices,
        cluster: None,
        input_hash: "i".to_owned(),
        target_hash: "t".to_owned(),
        question_hash: String::new(),
        question: None,
        mask: String::new(),
        older_mask: String::new(),
        older_target_hash: String::new(),
        annotated_steps: None,
        result: Outcome {
            status,
            score: (status == Status::Scored).then(|| Score::binary(correct)),
            attempts: u32::from(status != Status::Skipped),
            latency_s: 1.5,
            ..Outcome::default()
        },
    }
}

/// A record with the verdicts of several scorers, the first being the deciding one.
pub(crate) fn judged(id: &str, verdicts: &[(&str, Option<bool>)]) -> Record {
    let first = verdicts.first().and_then(|(_, verdict)| *verdict);
    let mut record = record(id, Status::Scored, first == Some(true), "1");
    let score = |verdict: &Option<bool>| match verdict {
        Some(correct) => serde_json::to_value(Score::binary(*correct)).unwrap(),
        None => json!({ "error": "cannot judge" }),
    };
    let scores = verdicts.iter();
    let scores = scores.map(|(name, verdict)| ((*name).to_owned(), score(verdict)));
    record.result.scores = scores.collect();
    record
}

/// Records of a classification: ground truth, prediction.
pub(crate) fn labelled(pairs: &[(&str, Option<&str>)]) -> Vec<Record> {
    let record = |(truth, label): &(&str, Option<&str>)| {
        let mut record = record("a", Status::Scored, *label == Some(*truth), "1");
        let details = json!({ "label": label, "target_label": truth });
        record.result.score.as_mut().unwrap().details = object(details).into();
        record
    };
    pairs.iter().map(record).collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

#[test]
fn counts_by_status() {
    fn check(statuses: &[Status], accuracy: Option<f64>, error_rate: Option<f64>) {
        let records: Vec<_> = statuses
            .iter()
            .map(|status| record("a", *status, true, "1"))
            .collect();
        let summary = Summary::of("test", &records);
        assert_eq!(summary.accuracy, accuracy, "{statuses:?}");
        assert_eq!(summary.error_rate, error_rate, "{statuses:?}");
        let parts = summary.scored + summary.errors + summary.unscored + summary.skipped;
        assert_eq!(summary.samples, parts);
        assert_eq!(
            summary.slices.get("level").map_or(0, |l| l["1"].samples),
            parts
        );
    }
    check(&[], None, None);
    check(&[Status::Skipped], None, None);
    check(&[Status::Unscored], None, Some(0.0));
    check(&[Status::AgentFailed, Status::TimedOut], None, Some(1.0));
    check(
        &[Status::Scored, Status::ScorerFailed],
        Some(1.0),
        Some(0.5),
    );
    check(
        &[
            Status::Scored,
            Status::Unscored,
            Status::TimedOut,
            Status::Skipped,
        ],
        Some(1.0),
        Some(1.0 / 3.0),
    );
}

#[test]
fn keys_are_in_the_order_of_the_format() {
    let mut summary = Summary::of("test", &[record("a", Status::Scored, true, "1")]);
    let json = object(serde_json::to_value(&summary).unwrap());
    let contract = [
        "format_version",
        "eval",
        "samples",
        "scored",
        "correct",
        "errors",
        "accuracy",
        "accuracy_ci95",
        "error_rate",
        "means",
        "slices",
        "usage",
        "attempts",
        "recovered_by_retry",
        "gates",
        "exit_code",
    ];
    let keys: Vec<&str> = json.keys().map(String::as_str).collect();
    let known: Vec<&str> = keys
        .iter()
        .copied()
        .filter(|key| contract.contains(key))
        .collect();
    assert_eq!(known, contract);
    let group = json["slices"]["level"]["1"].as_object().unwrap();
    assert_eq!(group["samples"], 1);
    assert_eq!(group["accuracy"], 1.0);

    summary.exit_code = Exit::Interrupted;
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}

#[test]
fn means_of_the_score_and_its_details() {
    let details = [
        json!({"f1": 0.5, "exact": true, "note": "x", "value": 9}),
        json!({"f1": 1, "exact": false, "list": [1]}),
        json!({"exact": true}),
    ];
    let records: Vec<_> = details
        .into_iter()
        .enumerate()
        .map(|(i, details)| {
            let mut record = record("a", Status::Scored, i == 0, if i == 0 { "1" } else { "2" });
            record.result.score.as_mut().unwrap().details = object(details).into();
            record
        })
        .collect();
    let summary = Summary::of("test", &records);
    let expect = [("exact", 2.0 / 3.0), ("f1", 0.75), ("value", 1.0 / 3.0)];
    let expect = expect.map(|(name, mean)| (name.to_owned(), mean));
    assert_eq!(summary.means, BTreeMap::from(expect));
    let range = summary.mean_ranges["f1"];
    assert_eq!((range.count, range.min, range.max), (2, 0.5, 1.0));
    assert_eq!(
        summary.slices["level"]["2"].means["f1"].to_bits(),
        1.0_f64.to_bits()
    );
}

#[test]
fn several_scorers_have_figures_each() {
    let mut a = record("a", Status::Scored, true, "1");
    a.result.scores = object(json!({
        "gaia": {"value": 1.0, "correct": true, "details": {}},
        "fuzzy": {"value": 0.5, "correct": false, "details": {"ratio": 0.8}},
    }));
    let mut b = record("b", Status::Scored, false, "1");
    b.result.scores = object(json!({
        "gaia": {"value": 0.0, "correct": false, "details": {}},
        "fuzzy": {"error": "no judge"},
    }));
    let failed = record("c", Status::AgentFailed, false, "1");
    let summary = Summary::of("test", &[a, b, failed]);
    let gaia = &summary.scorers["gaia"];
    assert_eq!((gaia.scored, gaia.correct, gaia.errors), (2, 1, 1));
    assert_eq!(gaia.accuracy, Some(0.5));
    let fuzzy = &summary.scorers["fuzzy"];
    assert_eq!((fuzzy.scored, fuzzy.correct, fuzzy.errors), (1, 0, 2));
    assert_eq!(fuzzy.means["ratio"].to_bits(), 0.8_f64.to_bits());
    assert_eq!(summary.slices["level"]["1"].scorers["fuzzy"], *fuzzy);
}

#[test]
fn unscored_samples_are_outside_a_scorers_figures() {
    let scored = |id: &str, scores: Value| {
        let mut one = record(id, Status::Scored, true, "1");
        one.result.scores = object(scores);
        one
    };
    let right = json!({"value": 1.0, "correct": true, "details": {}});
    let both = scored("a", json!({"gaia": right, "pairwise": right}));
    let one = scored("b", json!({"gaia": right}));
    let failed = record("c", Status::AgentFailed, false, "1");
    let summary = Summary::of("test", &[both.clone(), one.clone()]);
    let pairwise = &summary.scorers["pairwise"];
    assert_eq!((pairwise.scored, pairwise.errors), (1, 0));
    assert_eq!(pairwise.accuracy_bounds, Some([1.0, 1.0]));
    // The sample that errored might have been a pair.
    let summary = Summary::of("test", &[both.clone(), one.clone(), failed]);
    assert_eq!(summary.scorers["pairwise"].errors, 1);
    let mut epochs = SummaryBuilder::new("test").epochs(2);
    for record in [&both, &both, &one, &one] {
        epochs.add(record);
    }
    let summary = epochs.finish();
    let figures = summary.scorers["pairwise"].epochs.as_ref().unwrap();
    assert_eq!((figures.samples, figures.incomplete), (1, 0));
    assert_eq!(summary.scorers["gaia"].epochs.as_ref().unwrap().samples, 2);
}

#[test]
fn usage_latency_and_attempts() {
    let usage = |input, output, cost| {
        Some(Usage {
            cached_tokens: None,
            input_tokens: input,
            output_tokens: output,
            cost_usd: cost,
        })
    };
    let mut records = vec![
        record("a", Status::Scored, true, "1"),
        record("b", Status::Unscored, true, "1"),
        record("c", Status::AgentFailed, true, "1"),
        record("d", Status::Skipped, true, "1"),
    ];
    records[0].result.usage = usage(Some(10), None, Some(0.25));
    records[1].result.usage = usage(Some(u64::MAX), Some(7), Some(f64::NAN));
    records[0].result.attempts = 3;
    records[2].result.attempts = 2;
    records[1].result.latency_s = 2.5;
    records[2].result.latency_s = 99.0;
    records[3].result.latency_s = f64::NAN;
    let error = AgentError::of(FailureKind::OutputTooLarge, "too much");
    records[2].result.error = Some(error);
    let summary = Summary::of("test", &records);
    assert_eq!(summary.usage.input_tokens, Some(u64::MAX));
    assert_eq!(summary.usage.output_tokens, Some(7));
    assert_eq!(summary.usage.cost_usd, Some(0.25));
    assert_eq!(summary.usage.samples, 2);
    let latency = summary.latency_s.unwrap();
    let figures = [latency.mean, latency.p50, latency.p90, latency.max];
    assert_eq!(
        figures.map(f64::to_bits),
        [2.0, 2.0, 2.4, 2.5].map(f64::to_bits)
    );
    assert_eq!(summary.attempts, 6);
    let recovered = summary.recovered_by_retry;
    assert_eq!((recovered.retried, recovered.recovered), (2, 1));
    assert_eq!(recovered.share, Some(0.5));
    assert_eq!(
        summary.failures,
        BTreeMap::from([("output_too_large".to_owned(), 1)])
    );
}

#[test]
fn costs_add_up_as_on_paper() {
    fn check(cost: f64, count: usize, expect: f64) {
        let mut one = record("a", Status::Scored, true, "1");
        one.result.usage = Some(Usage {
            cost_usd: Some(cost),
            ..Usage::default()
        });
        let summary = Summary::of("test", &vec![one; count]);
        assert_eq!(summary.usage.cost_usd, Some(expect));
    }
    check(0.1, 3, 0.3);
    check(0.7, 11, 7.7);
    check(0.001, 165, 0.165);
    check(1e-9, 7, 7e-9);
    check(1e300, 2, 2e300);
}

#[test]
fn difficulty_drop_is_relative_and_between_neighbours() {
    fn check(levels: &[(&str, &[bool])], expect: &[(&str, &str, Option<f64>)]) {
        let records: Vec<_> = levels
            .iter()
            .flat_map(|(level, verdicts)| {
                verdicts
                    .iter()
                    .map(|v| record("a", Status::Scored, *v, level))
            })
            .collect();
        let summary = Summary::of("test", &records);
        let drops: Vec<_> = summary
            .difficulty_drop
            .iter()
            .map(|step| (step.from.as_str(), step.to.as_str(), step.drop))
            .collect();
        assert_eq!(drops, expect);
    }
    let (all, half, none): (&[_], &[_], &[_]) = (&[true, true], &[true, false], &[false]);
    check(&[], &[]);
    check(&[("1", all)], &[]);
    check(&[("1", all), ("2", half)], &[("1", "2", Some(0.5))]);
    check(
        &[("2", all), ("10", half), ("1", half)],
        &[("1", "2", Some(-1.0)), ("2", "10", Some(0.5))],
    );
    check(&[("1", none), ("2", half)], &[("1", "2", None)]);
    check(&[("easy", all), ("hard", none)], &[]);
}

#[test]
fn slices_of_any_shape() {
    let mut one = record("a", Status::Scored, true, "x");
    one.slices = object(json!({"level": 1, "tag": ["p", "q", null], "none": null, "yes": true}));
    let summary = Summary::of("test", &[one]);
    let slices: Vec<_> = summary
        .slices
        .iter()
        .flat_map(|(dimension, values)| {
            values
                .keys()
                .map(move |value| format!("{dimension}={value}"))
        })
        .collect();
    assert_eq!(slices, ["level=1", "tag=p", "tag=q", "yes=true"]);
}

#[test]
fn adds_up_epochs_and_numbers_that_are_none() {
    let mut wild = record("a", Status::Scored, true, "1");
    wild.result.score.as_mut().unwrap().value = f64::INFINITY;
    wild.result.latency_s = f64::INFINITY;
    let mut again = record("a", Status::Scored, false, "1");
    again.epoch = 1;
    let summary = Summary::of("test", &[wild, again]);
    assert_eq!(summary.accuracy, Some(0.5));
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}

/// The figures of the run, of its slice, and of the scorers of both.
fn figures(summary: &Summary) -> Vec<&EpochFigures> {
    let slice = &summary.slices["level"]["1"];
    let of_scorers = summary.scorers.values().chain(slice.scorers.values());
    let all = [&summary.epochs, &slice.epochs].into_iter();
    let all = all.chain(of_scorers.map(|scorer| &scorer.epochs));
    all.flatten().collect()
}

#[test]
fn what_was_not_needed_opens_no_range_of_epochs() {
    // Three answers per sample: `+`, `-`, `!` for an error, `.` for a skipped one.
    let summary = |samples: &[&str]| {
        let mut records = Vec::new();
        for (number, answers) in samples.iter().enumerate() {
            for (epoch, answer) in (0..).zip(answers.chars()) {
                let scorers = [("a", Some(answer == '+')), ("b", Some(true))];
                let mut record = judged(&format!("s{number}"), &scorers);
                let status = match answer {
                    '!' => Status::AgentFailed,
                    '.' => Status::Skipped,
                    _ => Status::Scored,
                };
                if status != Status::Scored {
                    record = self::record(&record.sample_id, status, false, "1");
                }
                record.epoch = epoch;
                records.push(record);
            }
        }
        Summary::of("test", &records)
    };
    for answers in [&["+++", "+-+", "---"][..], &["+++", "+-!", "+!!", "---"]] {
        let expect = summary(answers);
        let mut sure = summary(&[answers, &["...", "..."]].concat());
        assert_ne!(sure.accuracy_bounds, expect.accuracy_bounds);
        sure.leave_out_skipped();
        assert_eq!(sure.accuracy_bounds, expect.accuracy_bounds);
        assert_eq!(figures(&sure).len(), 6);
        let bounds = |summary: &Summary| {
            let slice = &summary.slices["level"]["1"];
            let scorers = summary.scorers.values().chain(slice.scorers.values());
            let scorers = scorers.map(|scorer| scorer.accuracy_bounds);
            scorers.chain([slice.accuracy_bounds]).collect::<Vec<_>>()
        };
        assert_eq!(bounds(&sure), bounds(&expect));
        for (sure, expect) in figures(&sure).into_iter().zip(figures(&expect)) {
            let near = |sure: Option<f64>, expect: Option<f64>| {
                let (sure, expect) = (sure.unwrap(), expect.unwrap());
                assert!((sure - expect).abs() < 1e-12, "{sure} {expect}");
            };
            assert_eq!(
                (sure.samples, sure.incomplete),
                (expect.samples, expect.incomplete)
            );
            let estimates = |figures: &EpochFigures| {
                let all = figures.pass_at.values().chain(figures.pass_hat.values());
                all.copied().collect::<Vec<_>>()
            };
            for (sure, expect) in estimates(sure).into_iter().zip(estimates(expect)) {
                near(sure.low, expect.low);
                near(sure.high, expect.high);
            }
            near(sure.majority.low, expect.majority.low);
            near(sure.majority.high, expect.majority.high);
            if sure.incomplete == 0 {
                assert_eq!(sure.majority, expect.majority);
            }
        }
    }
}
