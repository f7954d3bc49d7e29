//! What judges of a jury said is not asked for again.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Court, MERIT, YES_NO, choice, labels, points};

/// Three judges of choices: the first is right on even questions, the second always, the third never.
fn three() -> [(&'static str, String); 3] {
    let even = "case $EVALTEST_SAMPLE_ID in *0|*2|*4|*6|*8) echo 'VERDICT: yes';; *) echo 'VERDICT: no';; esac";
    [
        ("even", even.to_owned()),
        ("good", choice("yes")),
        ("bad", choice("no")),
    ]
}

#[test]
fn a_run_that_was_killed_asks_no_judge_again() {
    let judges = [
        ("a", &*points("4")),
        ("b", &points("5")),
        ("c", &points("3")),
    ];
    let court = Court::new(2, MERIT, &judges, "");
    court.run("eval.yaml").exits(0);
    assert_eq!(court.judged(), 6);
    let journal = court.project.last_run().join("events.jsonl");
    let events = fs::read_to_string(&journal).unwrap();
    let ends: Vec<usize> = events
        .match_indices("\"kind\":\"judged\"")
        .map(|(at, _)| at)
        .collect();
    assert_eq!(ends.len(), 6);
    // Killed before each of the replies was on disk.
    for (stored, end) in ends.into_iter().enumerate() {
        fs::write(&journal, &events[..=events[..end].rfind('\n').unwrap()]).unwrap();
        let before = court.judged();
        court.run(&format!("--resume {}", court.dir())).exits(0);
        assert_eq!(court.judged() - before, 6 - stored);
        let results = court.results();
        for result in &results {
            assert_eq!(result["score"]["details"]["total"], 4.0);
            assert_eq!(result["judged"].as_array().unwrap().len(), 3);
        }
        assert_eq!(court.jury()["judges"][2]["judged"], 2);
    }
}

#[test]
fn judges_that_are_the_same_are_asked_each() {
    let court = Court::new(1, MERIT, &[("a", &points("4"))], ", min_judges: 1");
    let one = super::juror("a", MERIT);
    let same = one.replace("name: a,", "name: b,");
    court.edit(&one, &format!("{one}, {same}"));
    let message = "judge `b` is the same as one before it";
    court.run("eval.yaml").exits(0).says(message);
    assert_eq!(court.judged(), 2);
    let results = court.results();
    let keys: Vec<_> = (0..2)
        .map(|call| &results[0]["judged"][call]["key"])
        .collect();
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn weights_are_learnt_from_a_run_and_its_labels() {
    let judges = three();
    let judges: Vec<_> = judges.iter().map(|(name, does)| (*name, &**does)).collect();
    let court = Court::new(10, YES_NO, &judges, "");
    court.run("eval.yaml").exits(0);
    let majority = court.jury();
    assert_eq!(majority["panel"], serde_json::Value::Null);
    let first = court.dir();
    // The second is right on every answer.
    let labels = labels(0..10, |_| json!({ "label": "yes", "chosen": "all" }));
    court.project.write("labels.jsonl", labels);
    let requested = court.judged();
    court.edit(
        " }]\nlimits",
        &format!(
            ", aggregate: weighted, labels: labels.jsonl, weights_from: '{first}' }}]\nlimits"
        ),
    );
    court
        .project
        .run(&format!("rescore {first} --spec eval.yaml"))
        .exits(0)
        .says("jury `jury`: 10 labels, agreement: panel 100.0 %")
        .says("good 100.0 %");
    assert_eq!(court.judged(), requested);
    for result in court.results() {
        assert_eq!(result["score"]["details"]["verdict"], "yes");
    }
    let jury = court.jury();
    assert_eq!(jury["labelled"], 10);
    assert_eq!(jury["panel"]["agreement"], 1.0);
    let shares: Vec<_> = (0..3)
        .map(|judge| jury["judges"][judge]["labels"]["agreement"].clone())
        .collect();
    assert_eq!(shares, [json!(0.5), json!(1.0), json!(0.0)]);
    // The same as a run, from whose records the summary is made again.
    let again = court.run("eval.yaml").exits(0);
    assert!(again.out.contains(" 10 labels, "), "{}", again.out);
    assert_eq!(court.jury(), jury);
    assert_eq!(court.judged(), 2 * requested);
}

/// Each reply of a judge is another one, so that one which is taken for another shows.
#[test]
fn a_run_that_is_scored_again_has_the_records_that_it_had() {
    let random = "n=$(wc -l < judged.log); echo \"{\\\"merit\\\": $((1 + n % 5))}\"";
    let judges = [("a", random), ("b", random)];
    let pair = "case $(wc -l < judged.log) in *[05]) echo Hm.;; *[1-3]) echo '{\"verdict\": \"first\"}';; \
                *) echo '{\"verdict\": \"tie\"}';; esac";
    let alone = super::juror("a", MERIT).replace("name: a", "name: alone");
    let first = format!(
        "{alone}, {{ type: pairwise, against: {{ path: others.jsonl }}, criteria: Which is right?, \
         agent: {{ type: command, command: [./pair.sh] }} }}, "
    );
    let court = Court::as_second_scorer(6, MERIT, &judges, "", &first);
    // The first judge of the jury is the one that stands alone, and the last is the second once more.
    let second = super::juror("b", MERIT);
    let third = second.replace("name: b", "name: c");
    court.edit(&second, &format!("{second}, {third}"));
    court.judge("pair", pair);
    let others = (0..6).map(|n| format!("{{\"id\":\"q{n:03}\",\"answer\":\"other\"}}\n"));
    court
        .project
        .write("others.jsonl", others.collect::<String>());
    court.run("eval.yaml");
    let (dir, before, requested) = (court.dir(), court.results(), court.judged());
    assert!(before[0]["judged"].as_array().unwrap().len() >= 6);
    let check = |arguments: &str| {
        court.project.run(arguments);
        let mut again = court.results();
        for result in &mut again {
            for call in result["judged"].as_array_mut().unwrap() {
                call.as_object_mut().unwrap().remove("stored");
            }
        }
        for (again, before) in again.iter().zip(&before) {
            assert_eq!(again, before, "{arguments}");
        }
        assert_eq!(again.len(), before.len());
        assert_eq!(court.judged(), requested, "{arguments}");
    };
    check(&format!("rescore {dir}"));
    let again = court.dir();
    check(&format!("rescore {again}"));
    // The same of a run that was killed before its last verdicts were written.
    let journal = Path::new(&dir).join("events.jsonl");
    let events = fs::read_to_string(&journal).unwrap();
    let end = events.rfind("\"kind\":\"judged\"").unwrap();
    let end = end + events[end..].find('\n').unwrap();
    fs::write(&journal, &events[..=end]).unwrap();
    check(&format!("run --resume {dir}"));
}

#[test]
fn weights_of_points_are_learnt_by_how_far_they_are_off() {
    // Labels are 4: the first is off by 0 and 1 in turn, the second always by 2.
    let near = format!(
        "case $EVALTEST_SAMPLE_ID in *0|*2|*4|*6|*8) {};; *) {};; esac",
        points("4"),
        points("3")
    );
    let judges = [("near", &*near), ("far", &points("2"))];
    let court = Court::new(20, MERIT, &judges, "");
    court.run("eval.yaml").exits(0);
    let (dir, requested) = (court.dir(), court.judged());
    assert_eq!(court.results()[0]["score"]["details"]["total"], 3.0);
    // Half of them are labelled: what is learnt from these ten counts for the others.
    let labels = labels(
        0..10,
        |_| json!({ "label": 4, "chosen": "random", "seed": 1 }),
    );
    court.project.write("labels.jsonl", labels);
    court.edit(
        " }]\nlimits",
        &format!(", aggregate: weighted, labels: labels.jsonl, weights_from: '{dir}' }}]\nlimits"),
    );
    court
        .project
        .run(&format!("rescore {dir} --spec eval.yaml"))
        .exits(0)
        .says(" 10 labels, ")
        .says("far 2.00 points");
    assert_eq!(court.judged(), requested);
    // Mean squared errors of 0.5 and 4, drawn to 2.25 as by two more items.
    let [one, other] = [5.0, 40.0].map(|sum: f64| 12.0 / (sum + 2.0 * 2.25));
    let total = (4.0 * one + 2.0 * other) / (one + other);
    for result in court.results().iter().skip(10).step_by(2) {
        let found = result["score"]["details"]["total"].as_f64().unwrap();
        assert!((found - total).abs() < 1e-9, "{found} {total}");
    }
}
