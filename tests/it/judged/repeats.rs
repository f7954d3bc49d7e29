//! Verdicts that are asked for several times, and answers that are given several times.

use std::collections::BTreeMap;

use serde_json::json;

use super::court::{Court, number, points};
use crate::server::{Server, chat, fine};

#[test]
fn each_is_asked_for_whatever_the_first_was_and_the_first_alone_counts() {
    // By question: the points of each ask in turn.
    let replies: BTreeMap<u32, [u32; 3]> = [(0, [4, 2, 5]), (1, [2, 2, 2]), (2, [5, 5, 4])].into();
    let judge = Server::new(move |requested, n| fine(&points(replies[&number(requested)][n % 3])));
    let court = Court::of(
        3,
        judge,
        ", repeats: 3",
        "gates: [mean(judge.total) <= 3.7]\n",
    );
    court.run("eval.yaml").exits(0);
    assert_eq!(court.judged(), 9);
    let results = court.results();
    let figures: Vec<_> = results
        .iter()
        .map(|result| {
            let score = &result["score"];
            json!([
                score["correct"],
                score["details"]["merit"],
                score["details"]["self_agreement"]
            ])
        })
        .collect();
    assert_eq!(
        json!(figures),
        json!([[true, 4, 0.0], [false, 2, 1.0], [true, 5, 0.5]])
    );
    let summary = court.summary();
    assert_eq!(summary["judge"]["scorers"]["judge"]["self_agreement"], 0.5);
    assert_eq!(summary["judge"]["scorers"]["judge"]["repeats"], 6);
    assert_eq!(
        json!([summary["judge"]["calls"], summary["judge"]["samples"]]),
        json!([9, 3])
    );
}

#[test]
fn an_unreadable_first_is_not_replaced_and_an_unreadable_repeat_costs_nothing() {
    let judge = Server::new(|requested, _| {
        let is_first = number(requested) == 0;
        if is_first {
            fine(&chat("Hm."))
        } else {
            fine(&points(4))
        }
    });
    let court = Court::of(2, judge, ", repeats: 2", "");
    court.run("eval.yaml").exits(3);
    // Two asks for each of its repeats, and one for those of the other.
    assert_eq!(court.judged(), 6);
    assert_eq!(
        court.results()[0]["error"]["reason"],
        "invalid_response_format"
    );
    // The third ask is the repeat of question 0.
    let judge = Server::new(|_, n| {
        if n == 0 {
            fine(&points(4))
        } else {
            fine(&chat("Hm."))
        }
    });
    let court = Court::of(1, judge, ", repeats: 2", "");
    court.run("eval.yaml").exits(0);
    assert_eq!(court.judged(), 3);
    assert_eq!(court.summary()["judge"]["unread"], 0);
    assert_eq!(court.results()[0]["score"]["correct"], true);
}

#[test]
fn every_epoch_is_judged() {
    let judge = Server::new(|_, n| fine(&points(if n % 2 == 0 { 5 } else { 1 })));
    let court = Court::of(
        2,
        judge,
        "",
        "epochs: 2\ngates: ['pass@2 >= 1', 'accuracy(judge) <= 0.5']\n",
    );
    court.run("eval.yaml").exits(0);
    assert_eq!((court.judged(), court.answered()), (4, 4));
    let results = court.results();
    let merits: Vec<_> = results
        .iter()
        .map(|result| result["score"]["details"]["merit"].clone())
        .collect();
    assert_eq!(merits, [5, 1, 5, 1]);
    court
        .run(&format!("--resume {}", court.dir().display()))
        .exits(0);
    assert_eq!(court.judged(), 4);
}
