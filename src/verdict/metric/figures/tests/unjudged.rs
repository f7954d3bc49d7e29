//! Gates on a scorer that could not judge all answers: these count as its lowest and highest values.

use super::*;
use crate::data::{AgentError, DetailBounds, Score};
use crate::verdict::result::GateResult;

const POINTS: [&str; 2] = ["total", "clarity"];

fn bounds() -> DetailBounds {
    let details = POINTS.map(|name| (name.to_owned(), [1.0, 5.0]));
    DetailBounds::from([("judge".to_owned(), details.into())])
}

/// The score of the judge: points from 1 to 5, correct from 3.5.
fn score_of(points: f64) -> Score {
    let score = Score::new((points - 1.0) / 4.0, points >= 3.5, "judged");
    let score = score.detail("total", points).detail("clarity", points);
    score.detail("excellent", points >= 4.5)
}

fn unread() -> Value {
    json!({"error": "no verdict", "reason": "conflicting"})
}

/// Answers at some level, with points of the judge or unreadable; the judge is deciding or additional to `exact`.
fn answers(is_first: bool, answers: &[(&str, Option<f64>)]) -> Vec<Record> {
    let one = |(place, (level, given)): (usize, &(&str, Option<f64>))| {
        let id = place.to_string();
        if !is_first {
            let mut record = record(&id, Status::Scored, true, level);
            let exact = serde_json::to_value(Score::binary(true)).unwrap();
            let judge = given.map_or_else(unread, |given| {
                serde_json::to_value(score_of(given)).unwrap()
            });
            record.result.scores = [("exact", exact), ("judge", judge)]
                .map(|(name, score)| (name.to_owned(), score))
                .into_iter()
                .collect();
            return record;
        }
        let Some(given) = given else {
            let mut record = record(&id, Status::ScorerFailed, false, level);
            record.result.error = Some(AgentError::new("no verdict"));
            return record;
        };
        let mut record = record(&id, Status::Scored, *given >= 3.5, level);
        record.result.score = Some(score_of(*given));
        record
    };
    answers.iter().enumerate().map(one).collect()
}

fn result(gate: &str, is_first: bool, records: &[Record]) -> GateResult {
    let gate: Gate = gate.parse().unwrap();
    let mut summary = Summary::of("test", records);
    summary.scorer = Some(if is_first { "judge" } else { "exact" }.to_owned());
    let facts = Facts {
        detail_bounds: bounds(),
        ..Facts::of(summary)
    };
    gate.check(&facts)
}

/// The verdict is the same whether the judge is deciding or additional.
#[track_caller]
fn check_both(gate: &str, given: &[(&str, Option<f64>)], verdict: Verdict, says: &str) {
    for is_first in [true, false] {
        let result = result(gate, is_first, &answers(is_first, given));
        assert_eq!(result.verdict, verdict, "{is_first}: {}", result.message);
        assert!(
            result.message.contains(says),
            "{is_first}: {}",
            result.message
        );
    }
}

/// A share of 100 % of the readable ones says little if most were not readable.
#[test]
fn decided_gate_reports_unjudged_answers() {
    let given = [Some(5.0), None, None].map(|points| ("1", points));
    let open = "`judge` could not judge 2 answers, so it is between 33.3 % and 100.0 %";
    for (gate, verdict, says) in [
        ("accuracy(judge) >= 0.3", Passed, "limit 30 %"),
        ("accuracy(judge) <= 0.3", Failed, "limit 30 %"),
    ] {
        check_both(gate, &given, verdict, &format!("{says}; {open}"));
    }
    let open = "; `judge` could not judge 2 answers, so it is between 2.3333 and 5";
    check_both("mean(judge.total) >= 2", &given, Passed, open);
    // The figure does not depend on these, or all were judged: no message.
    for (gate, is_first, given) in [
        ("accuracy >= 0.5", false, &given[..]),
        ("min_samples >= 1", true, &given),
        ("accuracy(judge) >= 0.5", true, &given[..1]),
    ] {
        let message = result(gate, is_first, &answers(is_first, given)).message;
        assert!(!message.contains("could not judge"), "{gate}: {message}");
    }
}

#[test]
fn a_mean_is_open_between_the_ends_of_the_scale() {
    // 4.5 over four; a fifth is 1 or 5: 3.8 to 4.6.
    let four = [5.0, 5.0, 4.0, 4.0].map(|points| ("1", Some(points)));
    let five = [&four[..], &[("1", None)]].concat();
    check_both("mean(judge.total) >= 4.5", &four, Passed, "");
    check_both(
        "mean(judge.total) >= 4.5",
        &five,
        Inconclusive,
        "between 3.8 and 4.6",
    );
    check_both(
        "mean(judge.total) >= 3.8",
        &five,
        Passed,
        "mean(judge.total) 4.5",
    );
    check_both(
        "mean(judge.clarity) >= 4.7",
        &five,
        Failed,
        "mean(judge.clarity) 4.5",
    );
    // Neither 0 nor the lowest observed value is the end of the scale: 4.0 to 5.0 would pass.
    check_both("mean(judge.total) >= 3.75", &five, Passed, "");
    check_both(
        "mean(judge.total) >= 3.9",
        &five,
        Inconclusive,
        "`judge` could not judge",
    );
    check_both("mean(judge.excellent) >= 0.4", &five, Passed, "");
    check_both(
        "mean(judge.excellent) >= 0.5",
        &five,
        Inconclusive,
        "between 0.4 and 0.6",
    );
    check_both(
        "mean(judge.value) <= 0.7",
        &five,
        Inconclusive,
        "between 0.7 and 0.9",
    );
}

#[test]
fn a_pass_rate_counts_them_as_wrong_and_as_right() {
    let four = [5.0, 5.0, 4.0, 1.0].map(|points| ("1", Some(points)));
    let five = [&four[..], &[("1", None)]].concat();
    for metric in ["accuracy(judge)", "majority(judge)", "pass@1(judge)"] {
        check_both(&format!("{metric} >= 0.6"), &five, Passed, "");
        check_both(&format!("{metric} >= 0.81"), &five, Failed, "");
        check_both(
            &format!("{metric} >= 0.75"),
            &five,
            Inconclusive,
            "between 60.0 % and 80.0 %",
        );
    }
}

#[test]
fn several_epochs_too() {
    // Two samples in two epochs; the judge could read only one answer to the second.
    for is_first in [true, false] {
        let mut records = answers(is_first, &[5.0, 5.0, 5.0].map(|points| ("1", Some(points))));
        records.extend(answers(is_first, &[("1", None)]));
        for (place, record) in records.iter_mut().enumerate() {
            record.sample_id = (place / 2).to_string();
            record.epoch = u32::from(place % 2 == 1);
        }
        let check = |gate: &str, verdict: Verdict| {
            let result = result(gate, is_first, &records);
            assert_eq!(result.verdict, verdict, "{is_first}: {}", result.message);
            result.message
        };
        check("pass^2(judge) >= 0.5", Passed);
        check("pass^2(judge) >= 0.9", Inconclusive);
        check("pass@1(judge) >= 0.75", Passed);
        check("pass@1(judge) >= 0.8", Inconclusive);
        check("mean(judge.total) >= 4.0", Passed);
        let message = check("mean(judge.total) >= 4.5", Inconclusive);
        assert_eq!(message.contains("1 errored answer (1 that"), is_first);
    }
}

#[test]
fn a_slice_has_only_its_own() {
    let given = [("1", Some(4.0)), ("2", Some(4.0)), ("2", None), ("3", None)];
    check_both("mean(judge.total)[level=1] >= 4", &given, Passed, "");
    check_both(
        "mean(judge.total)[level=2] >= 4",
        &given,
        Inconclusive,
        "between 2.5 and 4.5",
    );
    check_both("mean(judge.total)[level=2] >= 2.5", &given, Passed, "");
    check_both(
        "accuracy(judge)[level=2] >= 0.6",
        &given,
        Inconclusive,
        "between 50.0 % and 100.0 %",
    );
    check_both("mean(judge.total)[level=3] >= 2", &given, Inconclusive, "");
}

#[test]
fn the_message_says_who_could_not_judge_how_many_and_what_to_type() {
    let given = [("1", Some(4.0)), ("1", None), ("1", None)];
    let gate = "mean(judge.total) >= 4";
    let expect = "mean(judge.total) 4 (over 1 sample of `judge`), limit 4, undecided: `judge` could not judge 2 answers, \
                  so it is between 2 and 4.6667; judge again with `cargo evaltest run --resume RUN_DIR` \
                  (unreadable replies are not judged again)";
    assert_eq!(result(gate, false, &answers(false, &given)).message, expect);
    let first = "mean(judge.total) 4 (over 1 sample of `judge`), limit 4, undecided: 2 errored samples (2 that `judge` \
                 could not judge), so it is between 2 and 4.6667; ask again with `cargo evaltest run --resume \
                 RUN_DIR`";
    assert_eq!(result(gate, true, &answers(true, &given)).message, first);
    let mut both = answers(false, &given);
    both.push(record("x", Status::TimedOut, false, "1"));
    let message = result(gate, false, &both).message;
    let says = "undecided: 1 errored sample, and 2 that `judge` could not judge, so it is";
    assert!(message.contains(says), "{message}");
    // A gate on the deciding scorer does not depend on the additional judge.
    assert_eq!(
        result("accuracy >= 1", false, &answers(false, &given)).verdict,
        Passed
    );
}

#[test]
fn judged_answers_are_never_open() {
    let none = answers(false, &[("1", None), ("1", None)]);
    let says = "`judge` could not judge 2 answers";
    let result = result("mean(judge.total) >= 1", false, &none);
    assert_eq!((result.verdict, &*result.message), (Inconclusive, says));
}

#[test]
fn samples_without_a_ground_truth_count_where_the_judge_needs_none() {
    // The first scorer judges one of three; the judge should judge all, and cannot read one.
    let mut records = answers(false, &[("1", Some(5.0)), ("1", Some(5.0)), ("1", None)]);
    for record in &mut records[1..] {
        record.result.status = Status::Unscored;
        record.result.score = None;
        record.result.scores.remove("exact");
    }
    let check = |gate: &str, verdict: Verdict| {
        let result = result(gate, false, &records);
        assert_eq!(result.verdict, verdict, "{}", result.message);
    };
    check("mean(judge.total) >= 3.6", Passed);
    check("mean(judge.total) >= 4", Inconclusive);
    check("accuracy(judge) >= 0.6", Passed);
    check("accuracy(judge) >= 0.7", Inconclusive);
}
