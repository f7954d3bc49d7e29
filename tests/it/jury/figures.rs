//! What the summary has of a jury.

use serde_json::{Value, json};

use super::{Court, MERIT, YES_NO, choice, labels, points};

#[test]
fn how_far_judges_agree() {
    // The third is far from the others on three of ten.
    let odd = format!(
        "case $EVALTEST_SAMPLE_ID in q001|q003|q005) {};; *) {};; esac",
        points("1"),
        points("4")
    );
    let even = format!(
        "case $EVALTEST_SAMPLE_ID in *0|*2|*4|*6|*8) {};; *) {};; esac",
        points("5"),
        points("4")
    );
    let judges = [("flat", &*points("4")), ("even", &even), ("odd", &odd)];
    let court = Court::new(10, MERIT, &judges, "");
    let ran = court.run("eval.yaml").exits(0);
    ran.says("jury `jury`: 3 judges on 10 answers, alpha ")
        .says("jury `jury`: judge `odd` is far from the others in 30.0 % of 10 answers")
        .says("judge `jury/flat` gave all 10 answers the same score")
        .says_nothing_of("judge `even` is far");
    let jury = court.jury();
    assert_eq!(jury["judges"][0]["constant"], true);
    assert_eq!(jury["judges"][1]["constant"], Value::Null);
    assert_eq!(
        (
            &jury["judges"][2]["outliers"],
            &jury["judges"][2]["outlier_share"]
        ),
        (&json!(3), &json!(0.3))
    );
    let rows: Vec<[f64; 3]> = (0..10)
        .map(|n| {
            [
                4.0,
                if n % 2 == 0 { 5.0 } else { 4.0 },
                if [1, 3, 5].contains(&n) { 1.0 } else { 4.0 },
            ]
        })
        .collect();
    let squares = |values: &[f64]| {
        let pairs = values
            .iter()
            .flat_map(|one| values.iter().map(move |two| (one - two).powi(2)));
        pairs.sum::<f64>()
    };
    let observed: f64 = rows.iter().map(|row| squares(row) / 2.0).sum();
    let all = rows.concat();
    let alpha = 1.0 - observed * 29.0 / squares(&all);
    let found = jury["alpha"].as_f64().unwrap();
    assert!((found - alpha).abs() < 1e-9, "{found} {alpha}");
    let pair = &jury["pairs"][1];
    assert_eq!(
        (&pair["one"], &pair["other"]),
        (&json!("flat"), &json!("odd"))
    );
    assert_eq!(
        (&pair["agreement"], &pair["only_one"]),
        (&json!(0.7), &json!(3))
    );

    let output = std::fs::read_to_string(court.project.last_run().join("summary.md")).unwrap();
    for part in [
        "## Jury `jury`",
        "| judge | judged | unread | outlier |",
        "| odd | 10 | 0 | 3 (30.0 %) |",
        "| flat, odd | 70.0 % of 10, kappa ",
    ] {
        assert!(output.contains(part), "{part} is not in {output}");
    }
    // The same again from the records.
    let gate = format!("gate {} --gate accuracy(jury)>=0.5", court.dir());
    court.project.run(&gate).exits(0);
}

#[test]
fn a_panel_that_is_worse_than_its_best_judge_is_told() {
    // Two judges that share their mistakes outvote the one who is right.
    let judges = [
        ("good", &*choice("yes")),
        ("one", &choice("no")),
        ("two", &choice("no")),
    ];
    let court = Court::new(12, YES_NO, &judges, ", labels: labels.jsonl");
    let labels = |from: u32| labels(from..12, |_| json!({ "label": "yes" }));
    court.project.write("labels.jsonl", labels(0));
    let message = "jury `jury` is worse than its best judge: the panel agrees with the labels of 12 answers in 0.0 %, its judge \
                `good` alone in 100.0 %: −100.0 points, 95 % interval −100.0 to ";
    court.run("eval.yaml").exits(0).says(message);
    let jury = court.jury();
    assert_eq!(jury["worse"]["judge"], "good");
    assert_eq!(jury["worse"]["difference"], -1.0);
    // Of two labels nobody knows.
    court.project.write("labels.jsonl", labels(11));
    court
        .run("eval.yaml")
        .exits(0)
        .says("1 label, agreement: panel 0.0 %")
        .says_nothing_of("is worse than");
}

#[test]
fn of_points_the_distance_from_labels_counts() {
    let judges = [
        ("good", &*points("4")),
        ("one", &points("2")),
        ("two", &points("2")),
    ];
    let court = Court::new(12, MERIT, &judges, ", labels: labels.jsonl");
    let labels = labels(0..12, |n| json!({ "labels": [4 + n % 2, 4] }));
    court.project.write("labels.jsonl", labels);
    let message = "the panel is 2.25 points from the labels of 12 answers, its judge `good` alone 0.25: +2.00, 95 % interval \
                +2.00 to +2.00";
    court.run("eval.yaml").exits(0).says(message);
    let jury = court.jury();
    assert_eq!(jury["panel"]["distance"], 2.25);
    assert_eq!(jury["judges"][0]["labels"]["distance"], 0.25);
    assert_eq!(court.results()[1]["judged"][0]["vote"]["label"], 4.5);
}

#[test]
fn distances_are_over_the_answers_that_all_gave_a_verdict_on() {
    // The good one is far off where another is silent, and the fourth never says anything.
    let one = format!(
        "case $EVALTEST_SAMPLE_ID in q000|q001|q002|q003) exit 7;; *) {};; esac",
        points("2")
    );
    let judges = [
        ("good", &*points("4")),
        ("one", &one),
        ("two", &points("2")),
        ("mute", "echo Hm."),
    ];
    let court = Court::new(12, MERIT, &judges, ", labels: labels.jsonl");
    let labels = labels(0..12, |n| json!({ "label": if n < 4 { 1 } else { 4 } }));
    court.project.write("labels.jsonl", labels);
    court
        .run("eval.yaml")
        .exits(0)
        .says("12 labels, mean distance on the 8 judged by all: panel 2.00 points (2.00 to 2.00), good 0.00 points")
        .says("the panel is 2.00 points from the labels of 8 answers, its judge `good` alone 0.00")
        .says("judge `jury/one` gave no verdict on 4 of 12 answers (4 exited)");
    let jury = court.jury();
    assert_eq!(
        (&jury["labelled"], &jury["compared"]),
        (&json!(12), &json!(8))
    );
    let judged = |judge: usize| jury["judges"][judge]["labels"]["judged"].clone();
    assert_eq!(
        [judged(0), judged(1), judged(3)],
        [12, 8, 0].map(Value::from)
    );
}
