//! Who a judge is: another one is another scorer, and another address is not another one.

use serde_json::json;

use super::court::{Court, lenient, points};
use crate::server::{Server, fine};

const GATES: &str = "gates: [no_regression(max_drop=0.5)]\n";

/// Changes of a spec that make another judge.
const CHANGES: [(&str, &str); 5] = [
    ("model: judge-1", "model: judge-2"),
    ("temperature: 0", "temperature: 1"),
    ("temperature: 0", "temperature: 0, seed: 1"),
    (
        "name: merit",
        "name: merit, weight: 2, description: Is it so?",
    ),
    (
        "{ name: merit }] }",
        "{ name: merit }] }, sees: [prediction, prompt, ground_truth]",
    ),
];

/// With an accepted baseline.
fn accepted() -> Court {
    let court = Court::new(4, GATES, |_, _| fine(&points(4)));
    court.run("eval.yaml").exits(0);
    let dir = court.dir();
    court
        .project
        .run(&format!("accept {}", dir.display()))
        .exits(0);
    court
}

#[test]
fn another_judge_than_the_baselines_is_refused_before_anything_is_asked() {
    let court = accepted();
    let spec = court.project.read("eval.yaml");
    let resume = format!("--resume {}", court.dir().display());
    let before = (court.judged(), court.answered());
    for (from, to) in CHANGES {
        court.edit(from, to);
        court.run("eval.yaml").exits(2).says("scorer");
        court.run(&resume).exits(2).says("scorer");
        assert_eq!((court.judged(), court.answered()), before, "{to}");
        court.project.write("eval.yaml", &spec);
    }
    court.run("eval.yaml").exits(0);
}

#[test]
fn a_run_goes_on_with_the_judge_that_began_it() {
    let court = Court::new(4, "", |_, _| fine(&points(4)));
    court.run("eval.yaml").exits(0);
    let spec = court.project.read("eval.yaml");
    let resume = format!("--resume {}", court.dir().display());
    for (from, to) in CHANGES {
        court.edit(from, to);
        court.run(&resume).exits(2).says("cannot be resumed");
        assert_eq!((court.judged(), court.answered()), (4, 4), "{to}");
        court.project.write("eval.yaml", &spec);
    }
}

#[test]
fn the_same_judge_at_another_address_with_another_key_is_the_same() {
    let court = accepted();
    let moved = lenient();
    court.edit(&court.judge.url("/v1"), &moved.url("/v1"));
    court.edit(
        "temperature: 0",
        "temperature: 0, headers: { x-key: other }, price: { input: 1, output: 1 }",
    );
    court
        .run("eval.yaml")
        .exits(0)
        .says("✓ no_regression(max_drop=0.5)");
    assert_eq!((court.judged(), moved.requested().len()), (4, 4));
}

#[test]
fn another_model_as_served_leaves_the_gates_against_the_baseline_open() {
    let court = accepted();
    let newer = Server::new(|_, _| {
        let mut reply = points(4);
        reply["model"] = json!("tiny-2027");
        fine(&reply)
    });
    court.edit(&court.judge.url("/v1"), &newer.url("/v1"));
    let ran = court.run("eval.yaml").exits(3);
    ran.says("tiny-2026")
        .says("tiny-2027")
        .says("? no_regression(max_drop=0.5)");
    court.project.run("compare").exits(0).says(
        "is served by `tiny-2027` in B and by `tiny-2026` in A: the change may come from the judge",
    );
    // Judging went on.
    assert_eq!(newer.requested().len(), 4);
    assert_eq!(court.summary()["accuracy"], 1.0);
}

#[test]
fn a_cache_credits_no_other_judge() {
    let court = Court::new(3, "cache: true\n", |_, _| fine(&points(4)));
    // Without a word of whom it is, a program's answers are not kept; the judge's replies are.
    let run = "eval.yaml";
    court.run(run).exits(0);
    assert_eq!(court.judged(), 3);
    court.run(run).exits(0);
    assert_eq!(court.judged(), 3, "the replies were kept");
    let judge = court.summary()["judge"].clone();
    assert_eq!(
        json!([judge["cached"], judge["requests"]]),
        json!([3, 0]),
        "{judge}"
    );
    let spec = court.project.read("eval.yaml");
    for (so_far, (from, to)) in CHANGES.into_iter().enumerate() {
        court.edit(from, to);
        court.run(run).exits(0);
        assert_eq!(court.judged(), 3 * (so_far + 2), "{to}");
        court.project.write("eval.yaml", &spec);
    }
}
