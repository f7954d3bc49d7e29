//! Why there is no verdict: what came of each reply, and whom that touches.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::court::{Court, is_again, number, points};
use crate::server::{Answer, Request, Server, chat, fine, refusal};

const REASONS: [&str; 5] = [
    "invalid_response_format",
    "conflicting",
    "refusal",
    "truncated",
    "no_response",
];

/// A reply that fails for the reason of the question's number, and 4 points for further questions.
fn spoilt(requested: &Request) -> Answer {
    let mut reply = match number(requested) {
        0 => chat(r#"{"reason": "r", "merit": true, "comments": "c"}"#),
        1 => chat("{\"merit\": 4}\n{\"merit\": 5}"),
        2 | 3 => chat("{\"merit\": 4"),
        4 => chat(""),
        _ => points(4),
    };
    match number(requested) {
        2 => reply["choices"][0]["message"]["refusal"] = json!("I would rather not."),
        3 => reply["choices"][0]["finish_reason"] = json!("length"),
        _ => {}
    }
    fine(&reply)
}

#[test]
fn a_first_scorer_that_cannot_judge_says_why() {
    let court = Court::new(6, "", |requested, _| spoilt(requested));
    court.run("eval.yaml").exits(3);
    let results = court.results();
    for (result, reason) in results.iter().zip(REASONS) {
        assert_eq!(result["status"], "scorer_failed");
        assert_eq!(result["error"]["reason"], reason, "{result}");
        let unread: Vec<_> = result["judged"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| call["unread"].clone())
            .collect();
        assert_eq!(unread, [reason, reason], "{result}");
        assert_eq!(result["score"], Value::Null);
    }
    assert_eq!(results[5]["score"]["correct"], true);
    let requested = court.judge.requested();
    for question in 0..5 {
        let of: Vec<_> = requested
            .iter()
            .filter(|requested| number(requested) == question)
            .map(is_again)
            .collect();
        assert_eq!(of, [false, true], "{question}");
    }
    let judge = court.summary()["judge"].clone();
    assert_eq!(
        judge["reasons"],
        json!(
            REASONS
                .map(|reason| (reason, 1))
                .into_iter()
                .collect::<BTreeMap<_, _>>()
        )
    );
    assert_eq!(
        json!([
            judge["unread"],
            judge["calls"],
            judge["asked_again"],
            judge["requests"]
        ]),
        json!([5, 11, 5, 11])
    );
    // Nobody's answers are asked again, and no reply.
    court
        .run(&format!("--resume {}", court.dir().display()))
        .exits(3);
    assert_eq!((court.judged(), court.answered()), (11, 6));
}

#[test]
fn beside_another_scorer_it_changes_no_outcome_and_gates_count_both_ways() {
    for (gate, code) in [
        ("accuracy(judge) >= 0.1", 0),
        ("accuracy(judge) >= 0.5", 3),
        ("mean(judge.total) >= 1.5", 0),
        ("mean(judge.total) >= 4", 3),
        ("mean(judge.merit) <= 4", 3),
        ("mean(judge.total) >= 4.9", 1),
        ("accuracy >= 0.5", 0),
    ] {
        let court = Court::as_second_scorer(6, &format!("gates: ['{gate}']\n"), |requested, _| {
            spoilt(requested)
        });
        court.run("eval.yaml").exits(code);
        for (number, (result, reason)) in court.results().iter().zip(REASONS).enumerate() {
            assert_eq!(result["status"], "scored");
            assert_eq!(result["score"]["correct"], number % 2 == 0);
            let error = result["scores"]["judge"]["error"].as_str().unwrap();
            assert!(error.starts_with(reason), "{error}");
        }
        let summary = court.summary();
        assert_eq!(summary["judge"]["unread"], 5);
        assert_eq!(summary["errors"], 0);
    }
}

#[test]
fn a_second_ask_that_can_be_read_is_the_verdict() {
    let court = Court::new(2, "", |requested, _| {
        if is_again(requested) {
            fine(&points(5))
        } else {
            fine(&chat("It is rather good."))
        }
    });
    court.run("eval.yaml").exits(0);
    assert_eq!(court.judged(), 4);
    let result = &court.results()[0];
    assert_eq!(result["score"]["details"]["merit"], 5);
    assert_eq!(result["judged"][0]["unread"], "invalid_response_format");
    assert_eq!(result["judged"][1]["unread"], Value::Null);
    let judge = &court.summary()["judge"];
    assert_eq!(
        json!([judge["unread"], judge["asked_again"]]),
        json!([0, 2])
    );
}

#[test]
fn failed_requests_are_repeated_as_the_limits_say_or_the_judge() {
    for (limits, own, requests) in [
        ("1", "", 2),
        ("1", ", retries: 0", 1),
        ("0", ", retries: 2", 3),
    ] {
        let judge = Server::new(|_, _| refusal("500 Internal Server Error", "no"));
        let more = format!("limits: {{ retries: {limits}, backoff_s: 0.001 }}\n");
        let court = Court::of(1, judge, own, &more);
        court.run("eval.yaml").exits(3);
        assert_eq!(court.judged(), requests, "{limits} {own}");
        let result = &court.results()[0];
        assert_eq!(result["status"], "scorer_failed");
        assert_eq!(result["judged"][0]["attempts"], requests);
        assert_eq!(
            result["judged"].as_array().unwrap().len(),
            1,
            "what failed is not unread"
        );
    }
}
