//! Answers that are judged again: what is stored is taken, what is not is announced.

use std::path::Path;

use serde_json::{Value, json};

use super::court::{Court, RUBRIC, judge, points};
use crate::project::Ran;
use crate::server::{Answer, chat, fine};

const OTHER: &str = "rubric: { dimensions: [{ name: merit, description: Strictly. }] }";

fn rescore(court: &Court, dir: &Path, arguments: &[&str]) -> Ran {
    let dir = dir.display().to_string();
    court
        .project
        .run_of(&[&["rescore", &dir][..], arguments].concat())
}

/// The judge with another rubric, and keys of its agent.
fn other(court: &Court, more: &str) -> String {
    let keys = format!("temperature: 0{more}");
    judge(&court.judge, "")
        .replace(RUBRIC, OTHER)
        .replace("temperature: 0", &keys)
}

#[test]
fn the_same_rubric_asks_nothing_and_another_says_before_how_much_it_asks() {
    let court = Court::new(4, "", |requested, _| {
        fine(&points(if requested.prompt().contains("Strictly.") {
            2
        } else {
            4
        }))
    });
    court.run("eval.yaml").exits(0);
    let dir = court.dir();
    rescore(&court, &dir, &[])
        .exits(0)
        .says("no model is called");
    assert_eq!((court.judged(), court.answered()), (4, 4));
    let judge = court.summary()["judge"].clone();
    assert_eq!(
        json!([
            judge["stored"],
            judge["requests"],
            judge["usage"]["input_tokens"]
        ]),
        json!([4, 0, null]),
        "{judge}"
    );
    // Another one is told first.
    let strict = other(&court, "");
    rescore(&court, &dir, &["--scorer", &strict, "--dry-run"])
        .exits(0)
        .says("is asked 4 times, at most 8")
        .says("the cost is unknown");
    assert_eq!(court.judged(), 4);
    let priced = other(&court, ", max_tokens: 100, price: { input: 1, output: 10 }");
    let ran = rescore(&court, &dir, &["--scorer", &priced])
        .exits(0)
        .says("is asked 4 times");
    assert!(ran.err.contains("; at most 0.0"), "{}", ran.err);
    assert_eq!((court.judged(), court.answered()), (8, 4));
    let results = court.results();
    assert!(
        results
            .iter()
            .all(|result| result["score"]["details"]["merit"] == 2)
    );
    // What that was told is stored there in its turn.
    rescore(&court, &court.dir(), &[])
        .exits(0)
        .says("no model is called");
    assert_eq!(court.judged(), 8);
}

#[test]
fn an_unreadable_reply_is_stored_as_any_other() {
    let court = Court::new(2, "", |_, _| fine(&chat("Hm.")));
    court.run("eval.yaml").exits(3);
    let dir = court.dir();
    rescore(&court, &dir, &[])
        .exits(0)
        .says("no model is called");
    assert_eq!(court.judged(), 4);
    assert_eq!(court.summary()["judge"]["unread"], 2);
}

#[test]
fn the_budget_of_the_run_holds_and_what_was_said_until_then_is_kept() {
    // 12 tokens a reply, and 90 for the strict: the run had 80 for everything.
    let court = Court::new(
        6,
        "limits: { concurrency: 1, budget: { tokens: 80 } }\n",
        |requested, _| {
            let mut reply = points(4);
            if requested.prompt().contains("Strictly.") {
                reply["usage"] = json!({ "prompt_tokens": 80, "completion_tokens": 10 });
            }
            fine(&reply)
        },
    );
    court.run("eval.yaml").exits(0);
    assert_eq!(court.judged(), 6);
    let dir = court.dir();
    let strict = other(&court, "");
    // Each part gets no further than its budget, and asks for nothing that was said before.
    for judged in 7..12 {
        rescore(&court, &dir, &["--scorer", &strict])
            .exits(3)
            .says("error: the budget is used up: ")
            .says("limits.budget.tokens")
            .says("the replies so far are stored");
        assert_eq!(court.judged(), judged);
    }
    rescore(&court, &dir, &["--scorer", &strict]).exits(0);
    assert_eq!((court.judged(), court.answered()), (12, 6));
}

#[test]
fn the_budget_of_the_spec_whose_rubric_is_taken_holds_and_one_that_is_raised_goes_on() {
    // 12 tokens a reply; the run had no budget.
    let court = Court::new(6, "", |_, _| fine(&points(4)));
    court.run("eval.yaml").exits(0);
    let dir = court.dir();
    court.edit(RUBRIC, OTHER);
    let bounded = |from: &str, to: &str| court.edit(from, to);
    bounded("concurrency: 1", "concurrency: 1, budget: { requests: 2 }");
    rescore(&court, &dir, &["--spec", "eval.yaml"])
        .exits(3)
        .says("limits.budget.requests");
    assert_eq!(court.judged(), 8);
    bounded("requests: 2", "tokens: 20");
    rescore(&court, &dir, &["--spec", "eval.yaml"])
        .exits(3)
        .says("limits.budget.tokens");
    assert_eq!(court.judged(), 10);
    bounded("tokens: 20", "tokens: 2000");
    rescore(&court, &dir, &["--spec", "eval.yaml"]).exits(0);
    assert_eq!((court.judged(), court.answered()), (12, 6));
}

#[test]
fn a_judge_that_serves_no_more_is_not_needed_for_what_is_stored() {
    let court = Court::new(2, "", |_, number| match number {
        0 | 1 => fine(&points(4)),
        _ => Answer::Raw(Vec::new()),
    });
    court.run("eval.yaml").exits(0);
    rescore(&court, &court.dir(), &[]).exits(0);
    let scores: Vec<Value> = court
        .results()
        .iter()
        .map(|result| result["score"]["value"].clone())
        .collect();
    assert_eq!(scores, [0.75, 0.75]);
}
