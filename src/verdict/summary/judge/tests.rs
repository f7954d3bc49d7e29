use serde_json::json;

use super::*;
use crate::data::{AgentError, FailureKind, ReplyForm, Score, Status, Unread, Usage};
use crate::verdict::summary::tests::record;
use crate::verdict::summary::{Summary, SummaryBuilder};

/// A call of scorer `judge`, answered by `model`, that read 10 tokens, wrote 2 and cost a cent.
fn call(model: &str) -> JudgeCall {
    let usage = Usage {
        cached_tokens: None,
        input_tokens: Some(10),
        output_tokens: Some(2),
        cost_usd: Some(0.01),
    };
    let mut output = Output::text("{}").usage(usage);
    output.metadata.insert("model".to_owned(), model.into());
    JudgeCall {
        scorer: "judge".to_owned(),
        form: ReplyForm::Schema,
        output: Some(output),
        attempts: 1,
        latency_s: 2.0,
        ..JudgeCall::default()
    }
}

fn unread(reason: Unread) -> JudgeCall {
    JudgeCall {
        unread: Some(reason),
        ..call("m-1")
    }
}

/// An answer with a total by `judge`, the deciding scorer, on the scale from 1 to 5.
fn given(total: f64, calls: Vec<JudgeCall>) -> Record {
    let mut record = record("a", Status::Scored, true, "1");
    let score = Score::new((total - 1.0) / 4.0, true, "judged").detail("total", total);
    record.result.score = Some(score);
    record.result.judged = calls;
    record
}

fn failed(calls: Vec<JudgeCall>) -> Record {
    let mut record = record("a", Status::ScorerFailed, false, "1");
    record.result.error = Some(AgentError::new("no verdict"));
    record.result.judged = calls;
    record
}

fn summary(records: &[Record]) -> Summary {
    summary_by("judge", records)
}

/// The summary with this deciding scorer.
fn summary_by(first: &str, records: &[Record]) -> Summary {
    let mut builder = SummaryBuilder::new("e").scorer(Some(first));
    for record in records {
        builder.add(record);
    }
    builder.finish()
}

fn judge(records: &[Record]) -> JudgeSummary {
    summary(records).judge.unwrap()
}

#[test]
fn without_calls_there_is_no_member() {
    let summary = summary(&[record("a", Status::Scored, true, "1")]);
    assert_eq!(summary.judge, None);
    let json = serde_json::to_value(&summary).unwrap();
    assert!(json.get("judge").is_none());
    let read: Summary = serde_json::from_value(json).unwrap();
    assert_eq!(read.judge, None);
}

#[test]
fn calls_and_what_they_cost_stand_apart_from_the_agents() {
    let again = JudgeCall {
        again: 1,
        attempts: 3,
        latency_s: 4.0,
        form: ReplyForm::Text,
        ..call("m-2")
    };
    let mut records = vec![
        given(4.0, vec![call("m-1")]),
        given(5.0, vec![unread(Unread::Conflicting), again]),
    ];
    records[0].result.usage = Some(Usage {
        cost_usd: Some(7.0),
        ..Usage::default()
    });
    let summary = summary(&records);
    assert_eq!(summary.usage.cost_usd, Some(7.0));
    assert_eq!((summary.usage.tokens(), summary.attempts), (None, 2));
    assert_eq!(summary.latency_s.map(|latency| latency.mean), Some(1.5));
    let judge = summary.judge.unwrap();
    assert_eq!(judge.scorers["judge"].calls, 3);
    let json = serde_json::to_value(&judge).unwrap();
    let expect = json!({
        "unread": 0, "samples": 2, "calls": 3, "requests": 5, "asked_again": 1, "cached": 0, "stored": 0,
        "usage": {"input_tokens": 30, "output_tokens": 6, "cost_usd": 0.03, "samples": 3},
        "models": {"m-1": 2, "m-2": 1}, "forms": {"schema": 2, "text": 1},
    });
    for (name, value) in expect.as_object().unwrap() {
        assert_eq!(&json[name], value, "{name}");
    }
    assert!((json["latency_s"]["mean"].as_f64().unwrap() - 8.0 / 3.0).abs() < 1e-12);
    let read: JudgeSummary = serde_json::from_value(json).unwrap();
    assert_eq!(read, judge);
}

#[test]
fn what_was_given_before_costs_nothing_again() {
    let cached = JudgeCall {
        cached: true,
        ..call("m-1")
    };
    let stored = JudgeCall {
        stored: true,
        ..call("m-1")
    };
    let judge = judge(&[given(4.0, vec![cached]), given(4.0, vec![stored])]);
    assert_eq!((judge.calls, judge.cached, judge.stored), (2, 1, 1));
    assert_eq!((judge.requests, judge.usage.samples), (0, 0));
    assert_eq!((judge.usage.cost_usd, judge.latency_s), (None, None));
    assert_eq!(judge.models["m-1"], 2);
}

#[test]
fn an_answer_is_unread_whose_first_verdict_is_missing() {
    let of_repeat = |repeat: u32, call: JudgeCall| JudgeCall { repeat, ..call };
    let again = |call: JudgeCall| JudgeCall { again: 1, ..call };
    let outage = JudgeCall {
        error: Some(AgentError {
            kind: FailureKind::TimedOut,
            ..AgentError::new("no reply")
        }),
        output: None,
        ..call("m-1")
    };
    let judge = judge(&[
        given(4.0, vec![call("m-1")]),
        // The second attempt could be read.
        given(4.0, vec![unread(Unread::Conflicting), again(call("m-1"))]),
        // Later repeats do not count.
        given(
            4.0,
            vec![call("m-1"), of_repeat(1, unread(Unread::Refusal))],
        ),
        failed(vec![
            unread(Unread::Conflicting),
            again(unread(Unread::Refusal)),
        ]),
        failed(vec![unread(Unread::Truncated), of_repeat(1, call("m-1"))]),
        failed(vec![outage]),
    ]);
    assert_eq!((judge.samples, judge.unread), (6, 3));
    let json = json!({"refusal": 1, "timed_out": 1, "truncated": 1});
    assert_eq!(json!(judge.reasons), json);
    assert_eq!(json!(judge.scorers["judge"].reasons), json);
    assert_eq!(judge.scorers["judge"].unread, 3);
}

#[test]
fn as_second_scorer_the_outcome_stays_and_unread_counts() {
    let mut records = [
        given(4.0, vec![call("m-1")]),
        given(4.0, vec![unread(Unread::Refusal)]),
    ];
    let scores = [
        json!({"value": 0.5, "correct": false, "details": {"total": 3.0, "self_agreement": 0.5}}),
        json!({"error": "refused", "reason": "refusal"}),
    ];
    for (record, score) in records.iter_mut().zip(scores) {
        record
            .result
            .scores
            .insert("exact".to_owned(), json!({"value": 1.0, "correct": true}));
        record.result.scores.insert("judge".to_owned(), score);
    }
    let summary = summary_by("exact", &records);
    assert_eq!((summary.scored, summary.errors), (2, 0));
    assert_eq!(summary.scorers["judge"].unjudged, 1);
    let judge = summary.judge.unwrap();
    assert_eq!(
        (judge.unread, judge.scorers["judge"].self_agreement),
        (1, Some(0.5))
    );
}

/// Answers of these totals and lengths.
fn totals(given_totals: impl IntoIterator<Item = (f64, u64)>) -> Vec<Record> {
    let one = |(total, length)| {
        given(
            total,
            vec![JudgeCall {
                length,
                ..call("m-1")
            }],
        )
    };
    given_totals.into_iter().map(one).collect()
}

#[test]
fn constant_judge_is_reported() {
    let same = |n: u64| summary(&totals((0..n).map(|length| (4.0, length))));
    let check = |summary: &Summary, is_constant: bool, notices: &[&str]| {
        let judge = summary.judge.as_ref().unwrap();
        assert_eq!(judge.scorers["judge"].constant, is_constant);
        assert_eq!(judge_notices(summary), notices);
    };
    check(
        &same(45),
        true,
        &["judge `judge` gave all 45 answers the same score, 4.0, so it cannot distinguish them"],
    );
    check(&same(9), false, &[]);
    // An unreadable reply is not a score.
    let mut records = totals((0..10).map(|length| (2.5, length)));
    records.push(failed(vec![unread(Unread::Refusal)]));
    check(
        &summary(&records),
        true,
        &["judge `judge` gave all 10 answers the same score, 2.5, so it cannot distinguish them"],
    );
}

#[test]
fn length_correlation_is_reported() {
    let longer = |n: u32| totals((0..n).map(|place| (f64::from(place), u64::from(place) * 100)));
    let found = summary(&longer(10));
    assert_eq!(
        found.judge.as_ref().unwrap().scorers["judge"].length_correlation,
        Some(1.0)
    );
    let expect =
        "judge `judge`: its scores of 10 answers correlate with their length by 1.00 (Spearman)";
    assert_eq!(judge_notices(&found), [expect]);
    assert_eq!(judge_notices(&summary(&longer(9))), Vec::<String>::new());
    // Without a total, the value is the score.
    let mut records = longer(10);
    for record in &mut records {
        let value = -record.result.score.as_ref().unwrap().value;
        record.result.score = Some(Score::new(value, true, "judged"));
    }
    assert_eq!(
        judge(&records).scorers["judge"].length_correlation,
        Some(-1.0)
    );
}

#[test]
fn self_agreement_is_reported_with_repeats() {
    let mut records = totals([(4.0, 1), (3.0, 1)]);
    // One of the five could not be read, and is not a repeat.
    let repeats = [
        (1.0, json!([{"total": 4.0}, {"unread": "refusal"}])),
        (
            1.0 / 3.0,
            json!([{"total": 3.0}, {"total": 4.0}, {"total": 5.0}]),
        ),
    ];
    for (record, (agreement, repeats)) in records.iter_mut().zip(repeats) {
        let score = record.result.score.take().unwrap();
        let score = score.detail("self_agreement", agreement);
        record.result.score = Some(score.detail("repeats", repeats));
    }
    let found = summary(&records);
    let expect = "judge `judge`: its repeats give the same points as its first verdict in 50.0 % of 4 repeats";
    assert_eq!(judge_notices(&found), [expect]);
    let judge = &found.judge.as_ref().unwrap().scorers["judge"];
    assert_eq!((judge.repeats, judge.self_agreement), (4, Some(0.5)));
    for record in &mut records {
        let score = record.result.score.take().unwrap();
        let details = score.details.iter().filter(|(name, _)| *name != "total");
        let bare = details.fold(Score::binary(true), |bare, (name, value)| {
            bare.detail(name.to_owned(), value.clone())
        });
        record.result.score = Some(bare);
    }
    let expect = "judge `judge`: its repeats give the same choice as its first verdict in 50.0 % of 4 repeats";
    assert_eq!(judge_notices(&summary(&records)), [expect]);
}

#[test]
fn a_judge_that_is_a_part_has_its_scores_there() {
    let part =
        |total: f64| json!({"judge": {"value": 0.5, "correct": true, "details": {"total": total}}});
    let mut records = totals((0..10).map(|length| (9.0, length)));
    for (place, record) in records.iter_mut().enumerate() {
        let total = if place < 5 { 1.0 } else { 2.0 };
        record.result.score = Some(Score::binary(true).detail("parts", part(total)));
    }
    let judge = summary_by("all", &records).judge.unwrap();
    let correlation = judge.scorers["judge"].length_correlation.unwrap();
    assert!(correlation > 0.8, "{correlation}");
}
