//! What a jury makes of what its judges say.

use serde_json::{Value, json};

use super::{Court, MERIT, YES_NO, choice, points};

const AGGREGATES: [&str; 3] = ["median", "mean", "trimmed_mean"];

#[test]
fn an_outlier_is_left_out_of_means_and_listed() {
    let judges = [
        ("a", &*points("4")),
        ("b", &points("4")),
        ("c", &points("5")),
        ("d", &points("4")),
        ("e", &points("1")),
    ];
    // Of 4, 4, 4, 5: trimmed of the lowest and the highest they are 4 and 4.
    for (aggregate, total) in AGGREGATES.iter().zip([4.0, 4.25, 4.0]) {
        let options = format!(", aggregate: {aggregate}");
        let court = Court::new(1, MERIT, &judges, &options);
        court.run("eval.yaml").exits(0);
        let score = court.results()[0]["score"].clone();
        let details = &score["details"];
        assert_eq!(details["total"], total, "{aggregate}");
        assert_eq!(details["merit"], total);
        assert_eq!(score["value"], (total - 1.0) / 4.0);
        assert_eq!(
            (&score["correct"], &details["excellent"]),
            (&json!(true), &json!(false))
        );
        assert_eq!(
            (&details["spread"], &details["disagreement"]),
            (&json!(4.0), &json!(true))
        );
        assert_eq!(
            details["judges"]["e"],
            json!({ "total": 1.0, "merit": 1.0, "correct": false, "outlier": true })
        );
        assert_eq!(
            details["judges"]["c"],
            json!({ "total": 5.0, "merit": 5.0, "correct": true })
        );
    }
}

#[test]
fn gates_are_on_the_panel() {
    let judges = [
        ("a", &*points("4")),
        ("b", &points("5")),
        ("c", &points("4")),
    ];
    for (gate, code) in [
        ("mean(jury.total) >= 4.0", 0),
        ("mean(jury.total) >= 4.1", 1),
        ("mean(jury.disagreement) <= 0", 0),
        ("mean(jury.spread) >= 1.1", 1),
        ("mean(jury.merit) >= 4", 0),
        ("accuracy(jury) >= 1", 0),
        ("mean(jury.excellent) >= 0.5", 1),
    ] {
        let court = Court::new(2, MERIT, &judges, "");
        let spec = court.project.read("eval.yaml");
        court
            .project
            .write("eval.yaml", format!("{spec}gates: [\"{gate}\"]\n"));
        court.run("eval.yaml").exits(code);
    }
    let court = Court::new(1, MERIT, &judges, "");
    let spec = court.project.read("eval.yaml");
    court.project.write(
        "eval.yaml",
        format!("{spec}gates: [\"mean(jury.nothing) > 1\"]\n"),
    );
    court.run("eval.yaml").exits(2).says("nothing");
    assert_eq!(court.judged(), 0);
}

/// All orders of a list.
fn orders<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    let Some((last, rest)) = list.split_last() else {
        return vec![Vec::new()];
    };
    let mut all = Vec::new();
    for order in orders(rest) {
        for place in 0..=order.len() {
            let mut order = order.clone();
            order.insert(place, last.clone());
            all.push(order);
        }
    }
    all
}

#[test]
fn with_an_unreadable_member_all_orders_give_the_same_verdict() {
    // By question: a majority of two, one of the panel's three that is none without the unreadable, and no verdict.
    let says = |names: [&str; 3]| {
        format!(
            "case $EVALTEST_SAMPLE_ID in\n  q000) {};;\n  q001) {};;\n  q002) {};;\nesac",
            choice(names[0]),
            choice(names[1]),
            choice(names[2])
        )
    };
    let members = [
        ("a", says(["yes", "yes", "no"])),
        ("b", says(["yes", "no", "yes"])),
        ("mute", "echo Hm.".to_owned()),
    ];
    let mut fingerprints = std::collections::BTreeSet::new();
    for order in orders(&members) {
        let order: Vec<_> = order.iter().map(|(name, does)| (*name, &**does)).collect();
        let court = Court::new(3, YES_NO, &order, "");
        court.run("eval.yaml").exits(3);
        let results = court.results();
        assert_eq!(results[0]["score"]["details"]["verdict"], "yes");
        assert_eq!(results[0]["score"]["value"], 1.0);
        for result in &results[1..] {
            assert_eq!(result["status"], "scorer_failed");
            assert_eq!(result["error"]["reason"], "no_majority");
        }
        let jury = court.jury();
        assert_eq!(jury["reasons"], json!({ "no_majority": 2 }));
        let reasons = &court.project.last_json("summary.json")["judge"];
        assert_eq!(
            (&reasons["unread"], &reasons["reasons"]),
            (&json!(2), &json!({ "no_majority": 2 }))
        );
        let message = results[1]["error"]["message"].as_str().unwrap();
        for part in [
            "scorer `jury`: no_majority: no verdict has more than half of 3 judges: ",
            "`a` says `yes`",
            "`b` says `no`",
            "`mute` gave no verdict (invalid_response_format)",
        ] {
            assert!(message.contains(part), "{message}");
        }
        let manifest = court.project.last_json("manifest.json");
        fingerprints.insert(manifest["scorer_hash"].to_string());
    }
    assert_eq!(fingerprints.len(), 1, "{fingerprints:?}");
}

#[test]
fn one_that_fails_leaves_the_others() {
    let judges = [
        ("a", &*points("4")),
        ("broken", "exit 7"),
        ("c", &points("3")),
    ];
    let court = Court::new(2, MERIT, &judges, "");
    court.run("eval.yaml").exits(0);
    let results = court.results();
    let details = &results[0]["score"]["details"];
    assert_eq!(details["total"], 3.5);
    assert_eq!(details["judges"]["broken"]["unread"], "failed");
    let why = details["judges"]["broken"]["error"].as_str().unwrap();
    assert!(why.contains('7'), "{why}");
    let judge = court.project.last_json("summary.json")["judge"].clone();
    // The answers have a verdict.
    assert_eq!(
        (&judge["unread"], &judge["reasons"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(judge["scorers"]["jury/broken"]["unread"], 2);
    assert_eq!(judge["scorers"]["jury/a"]["samples"], 2);
    assert_eq!(judge["juries"]["jury"]["judges"][1]["unread"], 2);
}

#[test]
fn one_that_always_fails_ends_no_run_of_the_others() {
    let judges = [("a", &*points("4")), ("b", "exit 3"), ("c", &points("5"))];
    // More than the requests after which a judge by itself would end the run.
    let court = Court::new(25, MERIT, &judges, "");
    let ran = court.run("eval.yaml").exits(0);
    ran.says("judge `jury/b` gave no verdict on any of 25 answers")
        .says_nothing_of("stopped early");
    let results = court.results();
    assert_eq!(results.len(), 25);
    for result in results {
        assert_eq!(result["score"]["details"]["total"], 4.5);
    }
}

#[test]
fn too_few_judges_give_no_verdict() {
    let judges = [
        ("a", &*points("4")),
        ("broken", "exit 7"),
        ("mute", "echo Hm."),
    ];
    let court = Court::new(1, MERIT, &judges, "");
    court.run("eval.yaml").exits(3).says("too_few_judges");
    let result = court.results()[0].clone();
    assert_eq!(result["error"]["reason"], "too_few_judges");
    let message = "scorer `jury`: too_few_judges: 1 of 3 judges gave a verdict, but 2 must: `a` gives 4, `broken` gave no \
                verdict (failed), `mute` gave no verdict (invalid_response_format)";
    assert_eq!(result["error"]["message"], message);
    // What it heard counts in the figures all the same.
    assert_eq!(court.jury()["judges"][0]["judged"], 1);
    // No more digits of thirds than anybody reads.
    let third = "echo '{\"reasoning\": \"r\", \"tone\": 1, \"help\": 2, \"comments\": \"c\"}'";
    let two = "rubric: { dimensions: [{ name: tone }, { name: help, weight: 2 }] }";
    let court = Court::new(1, two, &[("a", third), ("broken", "exit 7")], "");
    court.run("eval.yaml").exits(3).says("`a` gives 1.6667, ");

    let court = Court::new(1, MERIT, &judges, ", min_judges: 1");
    court.run("eval.yaml").exits(0);
    assert_eq!(court.results()[0]["score"]["details"]["total"], 4.0);

    // Beside another scorer the sample keeps its verdict.
    let court = Court::as_second_scorer(1, MERIT, &judges, "", "gaia, ");
    court.run("eval.yaml").exits(0);
    let result = court.results()[0].clone();
    assert_eq!(result["status"], "scored");
    assert_eq!(result["scores"]["jury"]["reason"], "too_few_judges");
    assert_eq!(court.jury()["reasons"], json!({ "too_few_judges": 1 }));
}

#[test]
fn a_majority_of_a_rubric_is_of_those_who_let_it_pass() {
    let judges = [
        ("a", &*points("3")),
        ("b", &points("3")),
        ("c", &points("5")),
    ];
    let court = Court::new(1, MERIT, &judges, ", aggregate: majority");
    court.run("eval.yaml").exits(0);
    let score = court.results()[0]["score"].clone();
    assert_eq!(
        (&score["correct"], &score["details"]["total"]),
        (&json!(false), &json!(3.0))
    );
    // Two of four are no majority.
    let judges = [
        ("a", &*points("3")),
        ("b", &points("3")),
        ("c", &points("5")),
        ("d", &points("5")),
    ];
    let court = Court::new(1, MERIT, &judges, ", aggregate: majority");
    court.run("eval.yaml").exits(3);
    assert_eq!(court.results()[0]["error"]["reason"], "no_majority");
}

#[test]
fn weights_decide_and_a_tie_of_them_does_not() {
    let judges = [
        ("a", &*choice("yes")),
        ("b", &choice("no")),
        ("c", &choice("no")),
    ];
    for (weights, expect) in [
        ("a: 3, b: 1, c: 1.5", Some("yes")),
        ("a: 2, b: 1, c: 1.5", Some("no")),
        ("a: 3, b: 1.5, c: 1.5", None),
        ("a: 0.3, b: 0.1, c: 0.2", None),
    ] {
        let options = format!(", aggregate: weighted, weights: {{ {weights} }}");
        let court = Court::new(1, YES_NO, &judges, &options);
        court.run("eval.yaml");
        let result = court.results()[0].clone();
        match expect {
            Some(name) => assert_eq!(result["score"]["details"]["verdict"], name, "{weights}"),
            None => assert_eq!(result["error"]["reason"], "no_majority", "{weights}"),
        }
    }
    let judges = [("a", &*points("5")), ("b", &points("4"))];
    let options = ", aggregate: weighted, weights: { a: 3, b: 1 }";
    let court = Court::new(1, MERIT, &judges, options);
    court.run("eval.yaml").exits(0);
    assert_eq!(court.results()[0]["score"]["details"]["total"], 4.75);
}

#[test]
fn numbers_of_choices_are_their_values() {
    let judges = [
        ("a", &*choice("yes")),
        ("b", &choice("no")),
        ("c", &choice("yes")),
        ("d", &choice("no")),
    ];
    for (aggregate, value) in [("median", 0.5), ("mean", 0.5), ("trimmed_mean", 0.5)] {
        let options = format!(", aggregate: {aggregate}");
        let court = Court::new(1, YES_NO, &judges, &options);
        court.run("eval.yaml").exits(0);
        let score = court.results()[0]["score"].clone();
        assert_eq!(
            (&score["value"], &score["correct"]),
            (&json!(value), &json!(false))
        );
        assert_eq!(score["details"]["disagreement"], true);
        assert_eq!(score["details"]["spread"], 1.0);
        assert_eq!(score["details"]["verdict"], Value::Null);
    }
}

#[test]
fn a_trimmed_mean_leaves_out_the_ends() {
    let judges = [
        ("a", &*points("2")),
        ("b", &points("3")),
        ("c", &points("3")),
        ("d", &points("5")),
        ("e", &points("5")),
    ];
    // None is an outlier: the median is 3, and their deviation 1.
    for (aggregate, total) in AGGREGATES.iter().zip([3.0, 3.6, 11.0 / 3.0]) {
        let court = Court::new(1, MERIT, &judges, &format!(", aggregate: {aggregate}"));
        court.run("eval.yaml").exits(0);
        let score = court.results()[0]["score"].clone();
        let found = score["details"]["total"].as_f64().unwrap();
        assert!((found - total).abs() < 1e-9, "{aggregate} {found}");
        assert_eq!(score["correct"], json!(total >= 3.5));
    }
}
