use serde_json::json;

use super::*;
use crate::data::{AgentError, FailureKind, Usage};
use crate::verdict::summary::tests::{judged, record};

fn grouped(records: &[Record]) -> GroupedFailures {
    let mut groups = FailureGroups::new(Some("exact")).naming(2);
    for record in records {
        groups.add(record);
    }
    groups.finish()
}

fn failed(id: &str, kind: FailureKind, level: &str) -> Record {
    let mut record = record(id, Status::AgentFailed, false, level);
    record.result.error = Some(AgentError::of(kind, format!("said of {id}")));
    record
}

#[test]
fn errors_are_grouped_by_kind_and_named_up_to_a_number() {
    let mut as_wrong = record("f", Status::Scored, false, "1");
    as_wrong.result.error = Some(AgentError::of(FailureKind::Exited, "counted as wrong"));
    let groups = grouped(&[
        record("a", Status::TimedOut, false, "1"),
        failed("b", FailureKind::Exited, "1"),
        failed("c", FailureKind::Exited, "1"),
        failed("d", FailureKind::Exited, "1"),
        record("e", Status::Scored, true, "1"),
        as_wrong,
    ]);
    let [exited, timed_out] = &groups.errors[..] else {
        panic!("{:?}", groups.errors);
    };
    assert_eq!(
        (&*exited.kind, exited.count, exited.as_wrong),
        ("exited", 4, 1)
    );
    assert_eq!(
        (exited.ids.as_slice(), &*exited.example),
        (&["b".to_owned(), "c".to_owned()][..], "said of b")
    );
    assert_eq!((&*timed_out.kind, timed_out.count), ("timed_out", 1));
    assert!(groups.wrong.is_empty(), "it is an error, not an answer");
}

#[test]
fn wrong_answers_are_grouped_by_the_reason_of_the_scorer_and_reasons_are_bounded() {
    let wrong = |id: usize, reason: String| {
        let mut record = record(&id.to_string(), Status::Scored, false, "1");
        record.result.score.as_mut().unwrap().reason = reason.into();
        record
    };
    let mut records: Vec<_> = (0..MOST_REASONS + 5)
        .map(|n| wrong(n, format!("why {n}")))
        .collect();
    records.push(wrong(1000, "why 7".to_owned()));
    let groups = grouped(&records);
    assert_eq!(groups.wrong.len(), MOST_REASONS + 1);
    assert_eq!(groups.wrong[0].reason.as_deref(), Some("why 7"));
    assert_eq!(groups.wrong[0].ids, ["7", "1000"]);
    let rest = groups.wrong.last().unwrap();
    assert_eq!((&rest.reason, rest.count), (&None, 5));
}

#[test]
fn disagreements_are_reported_by_direction() {
    let groups = grouped(&[
        judged("a", &[("exact", Some(false)), ("judge", Some(true))]),
        judged("b", &[("exact", Some(false)), ("judge", Some(true))]),
        judged("c", &[("exact", Some(true)), ("judge", Some(false))]),
        judged("d", &[("exact", Some(true)), ("judge", Some(true))]),
        judged("e", &[("exact", Some(true)), ("judge", None)]),
    ]);
    let found = serde_json::to_value(&groups.disagreements).unwrap();
    let expect = json!([
        {"scorer": "exact", "other": "judge", "accepted": false, "count": 2, "ids": ["a", "b"]},
        {"scorer": "exact", "other": "judge", "accepted": true, "count": 1, "ids": ["c"]},
    ]);
    assert_eq!(found, expect);
}

#[test]
fn slices_are_ranked_by_the_share_that_failed() {
    let groups = grouped(&[
        record("a", Status::Scored, false, "1"),
        record("b", Status::Scored, true, "1"),
        record("c", Status::Scored, false, "2"),
        failed("d", FailureKind::Exited, "2"),
        record("e", Status::Skipped, false, "2"),
        record("f", Status::Unscored, false, "2"),
        record("g", Status::Scored, true, "3"),
    ]);
    let slices = groups.slices.iter();
    let found: Vec<_> = slices
        .map(|it| (&*it.value, it.failed, it.wrong, it.errors, it.of))
        .collect();
    assert_eq!(found, [("2", 2, 1, 1, 2), ("1", 1, 1, 0, 2)]);
    assert_eq!(groups.slices[0].ids, ["c", "d"]);
}

#[test]
fn epochs_that_differ_make_a_sample_flaky_and_it_is_named_once() {
    let epoch = |id: &str, epoch: u32, correct: bool| Record {
        epoch,
        ..record(id, Status::Scored, correct, "1")
    };
    let groups = grouped(&[
        epoch("a", 0, true),
        epoch("a", 1, false),
        epoch("a", 2, false),
        epoch("b", 0, false),
        epoch("b", 1, false),
        epoch("c", 0, false),
        epoch("c", 1, true),
    ]);
    assert_eq!(groups.flaky.count, 2);
    let first = &groups.flaky.samples[0];
    assert_eq!((&*first.id, first.scored, first.correct), ("a", 3, 1));
    assert_eq!(
        (groups.wrong[0].count, &*groups.wrong[0].ids),
        (5, &["a".to_owned(), "b".to_owned()][..])
    );
}

#[test]
fn slowest_and_most_expensive_exclude_cached_answers() {
    let answer = |id: &str, seconds: f64, cost: f64, cached: bool| {
        let mut record = record(id, Status::Scored, true, "1");
        record.result.latency_s = seconds;
        record.result.cached = cached;
        record.result.usage = Some(Usage::default().cost_usd(cost));
        record
    };
    let groups = grouped(&[
        answer("a", 1.0, 0.3, false),
        answer("b", 9.0, 9.0, true),
        answer("c", 3.0, f64::NAN, false),
        answer("d", 2.0, 0.5, false),
        answer("e", 2.0, 0.1, false),
    ]);
    let ids = |figures: &[SampleFigure]| figures.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&groups.slowest), ["c", "d"]);
    assert_eq!(ids(&groups.dearest), ["d", "a"]);
}
