//! Several scorers: in one eval, and side by side over answers that are there.

use std::path::Path;

use serde_json::{Value, json};

use crate::project::{Project, Ran};

/// The agent repeats the question.
const QUESTIONS: [(&str, u32, &str, &str); 5] = [
    ("exact", 1, "17", "17"),
    ("wordy", 1, "17 apples", "17"),
    ("part", 2, "7", "17"),
    ("wrong", 2, "Paris", "London"),
    ("gull", 2, "Sea-gull", "sea gull"),
];

fn project(more: &str) -> Project {
    Project::with_eval(&QUESTIONS, "echo", more)
}

fn matrix(project: &Project, arguments: &[&str]) -> Ran {
    let arguments = [&["scorers"][..], arguments].concat();
    Ran::of(&project.command_of(&arguments).output().unwrap())
}

#[test]
fn all_are_recorded_summarised_and_gated() {
    let project = project(
        "scorers: [gaia, { type: substring, name: loose }, qa_f1, quasi_exact]\n\
         gates:\n  - accuracy >= 0.4\n  - accuracy(loose) >= 0.6\n  - accuracy(loose)[level=2] >= 0.5\n  \
         - mean(f1) >= 0.3\n  - mean(quasi_exact.value) >= 0.1\n  - mean(qa_f1.em)[level=1] >= 0.6\n",
    );
    let ran = project.run("run -v eval.yaml").exits(1);
    ran.says("gaia (decides)   2 of 5    40.0 %")
        .says("loose            3 of 5    60.0 %")
        .says("gate accuracy(loose) >= 0.6: passed: accuracy(loose) 60.0 % (3 of 5 correct")
        .says("gate accuracy(loose)[level=2] >= 0.5: FAILED: accuracy(loose)[level=2] 33.3 %")
        // 1, 2/3 and three times nothing.
        .says("gate mean(f1) >= 0.3: passed: mean(f1) 0.3333 (over 5 samples of `qa_f1`)")
        .says("gate mean(quasi_exact.value) >= 0.1: passed")
        .says("gate mean(qa_f1.em)[level=1] >= 0.6: FAILED: mean(qa_f1.em)[level=1] 0.5");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["scorer"], "gaia");
    assert_eq!(
        summary["slices"]["level"]["2"]["scorers"]["loose"]["correct"],
        1
    );
    assert_eq!(summary["scorers"]["qa_f1"]["mean_ranges"]["f1"]["max"], 1.0);
    let record = &project.last_lines("samples.jsonl")[1]["result"];
    assert_eq!(record["score"]["correct"], false);
    assert_eq!(record["scores"]["loose"]["correct"], true);
    let text = std::fs::read_to_string(project.last_run().join("summary.md")).unwrap();
    for line in [
        " gaia (decides): 40.0 % (11.8 % to 76.9 %), 2 of 5\n",
        "## Scorers by level",
        "| level | gaia | loose | qa\\_f1 | quasi\\_exact |",
        "| 2 | 33.3 % | 33.3 % | 0.0 % | 0.0 % |",
    ] {
        assert!(text.contains(line), "`{line}` is missing in\n{text}");
    }
    let dir = project.last_run().display().to_string();
    let gate = |gate: &str| {
        Ran::of(
            &project
                .command_of(&["gate", "-v", &dir, "--gate", gate])
                .output()
                .unwrap(),
        )
    };
    gate("mean(em) >= 0.2").exits(0);
    gate("mean(f2) >= 0.2")
        .exits(2)
        .says("no score has `f2`, did you mean `f1`?");
    gate("accuracy(strict) >= 0.2")
        .exits(2)
        .says("no scorer is called `strict`")
        .says("`gaia`, `loose`, `qa_f1`, `quasi_exact`");
    gate("macro_f1 >= 0.2")
        .exits(3)
        .says("no score has the label");
}

#[test]
fn labels_have_macro_f1_and_a_confusion_matrix() {
    let questions = [
        ("a", 1, "yes", "yes"),
        ("b", 1, "NO", "yes"),
        ("c", 2, "no", "no"),
        ("d", 2, "perhaps", "no"),
    ];
    let project = Project::with_eval(
        &questions,
        "echo",
        "scorers: [{ type: exact, labels: [yes, no], ignore_case: true }, gaia]\n\
         gates: [macro_f1 >= 0.58, 'macro_f1[level=1] >= 0.34', macro_f1(exact) < 0.6]\n",
    );
    // yes: 1 of 2, predicted once; no: 1 of 2, predicted twice; (2/3 + 1/2) / 2.
    project
        .run("run -v eval.yaml")
        .exits(1)
        .says("macro-F1 0.5833 over 2 labels")
        .says("    no        0.5000  0.5000  0.5000        2")
        .says("    yes   1    1        0")
        .says("gate macro_f1 >= 0.58: passed: macro-F1 58.3 % (2 labels in 4 samples), limit 58 %")
        .says("gate macro_f1[level=1] >= 0.34: FAILED: macro-F1[level=1] 33.3 %")
        .says("gate macro_f1(exact) < 0.6: passed");
    let labels = project.last_json("summary.json")["labels"].clone();
    let confusion = json!({"labels": ["no", "yes"], "counts": [[1, 0, 1], [1, 1, 0]]});
    assert_eq!(labels["confusion"], confusion);
    assert_eq!(labels["by_label"]["yes"]["recall"], 0.5);
    let text = std::fs::read_to_string(project.last_run().join("summary.md")).unwrap();
    for line in [
        "Macro-F1 **0.5833**",
        "| label | precision | recall | F1 | support | predicted |",
        "| yes | 1.0000 | 0.5000 | 0.6667 | 2 | 1 |",
        "|  | no | yes | (other) |",
        "| yes | 1 | 1 | 0 |",
    ] {
        assert!(text.contains(line), "`{line}` is missing in\n{text}");
    }
}

#[test]
fn unknown_scorers_in_gates_are_found_before_the_agent_starts() {
    let project = project("scorers: [gaia, substring]\ngates: [macro_f1(choice) >= 0.5]\n");
    project
        .run("run eval.yaml")
        .exits(2)
        .says("eval.yaml:7:9: gate `macro_f1(choice) >= 0.5`: no scorer is called `choice`")
        .says("the scorers are `gaia`, `substring`");
    assert!(project.runs().is_empty());
}

#[test]
fn a_run_is_compared_with_its_deciding_scorer() {
    let project = project("scorer: substring\n");
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run().display().to_string();
    let ran = matrix(&project, &[&dir]).exits(0);
    ran.says("5 answers of ")
        .says("substring (reference)   3 of 5    60.0 %")
        .says("`gaia` accepts 1 of 2 answers that `substring` rejects and rejects 2 of 3 that `substring` accepts: −20.0 points")
        .says("wordy: prediction \"17 apples\", ground truth \"17\"")
        .says("agreement in %");
    let json = matrix(&project, &[&dir, "--scorers", "gaia,substring", "--json"])
        .exits(0)
        .json();
    assert_eq!(json["reference"], "gaia");
    assert_eq!(
        (&json["samples"], &json["disagreements"]),
        (&json!(5), &json!(3))
    );
    let pair = &json["pairs"][0];
    let counts = ["both", "neither", "only_one", "only_other"].map(|key| pair[key].clone());
    assert_eq!(counts, [1, 1, 1, 2]);
    assert_eq!(pair["agreement"], 0.4);
    // 0.4 observed; 0.4 · 0.6 + 0.6 · 0.4 by chance.
    let kappa = pair["kappa"].as_f64().unwrap();
    assert!((kappa - (0.4 - 0.48) / 0.52).abs() < 1e-12, "{kappa}");
    let ids: Vec<&Value> = json["divided"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["wordy", "part", "gull"]);
    assert_eq!(
        json["divided"][0]["verdicts"],
        json!({"gaia": false, "substring": true})
    );
    assert_eq!(json["leniency"][0]["more"], 2);
    // Verdicts of a scorer that is not known here count as they are recorded.
    let manifest = project.last_run().join("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let text = text.replace(
        "\"scorers\": [\n    \"substring\"",
        "\"scorers\": [\n    \"mine\"",
    );
    // Manifests of older versions have no checksum.
    let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
    older["format_version"] = 1.into();
    older.as_object_mut().unwrap().shift_remove("checksum");
    std::fs::write(&manifest, older.to_string()).unwrap();
    let ran = matrix(&project, &[&dir, "--scorers", "mine,substring"]).exits(0);
    ran.says("mine (reference)   3 of 5")
        .says("`substring` and `mine` agree on every answer");
}

#[test]
fn a_file_is_compared_with_gaia() {
    let project = Project::new();
    project.write(
        "answers.jsonl",
        "{\"q\":\"one\",\"said\":\"FINAL ANSWER: 17\",\"truth\":\"17\"}\n\n\
         {\"q\":\"two\",\"said\":\"FINAL ANSWER: 17 apples\",\"truth\":\"17\"}\n\
         {\"q\":\"three\",\"said\":null,\"truth\":\"17\"}\n",
    );
    project.write(
        "answers.csv",
        "prediction,ground_truth\n17,17\n\"17, or 18\",17\n",
    );
    let map = [
        "answers.jsonl",
        "--map",
        "prediction=said,ground_truth=truth,id=q",
    ];
    let ran = matrix(
        &project,
        &[&map[..], &["--extract", "final_answer", "--show", "1"]].concat(),
    );
    let ran = ran
        .exits(0)
        .says("gaia (reference)")
        .says("1 of 3    33.3 %")
        .says("the scorers disagree on 2 of 3 answers, the first 1 (`--show N`, all with `--json`)")
        .says("two: prediction \"17 apples\"");
    ran.says("; rejected by gaia, ").says_nothing_of("three: ");
    let list = "gaia,{type: substring, compat: true, name: 'a, b'},substring";
    let json = matrix(&project, &["answers.csv", "--scorers", list, "--json"])
        .exits(0)
        .json();
    let names: Vec<&Value> = json["scorers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["gaia", "a, b", "substring"]);
    assert_eq!(json["divided"][0]["id"], "line 3");
    // The same on standard input.
    let piped = ["scorers", "--scorers", "gaia,substring"];
    let mut command = project.command_of(&piped);
    let file = std::fs::File::open(project.file("answers.csv")).unwrap();
    let ran = Ran::of(
        &command
            .arg("--format")
            .arg("csv")
            .stdin(file)
            .output()
            .unwrap(),
    );
    ran.exits(0).says("2 answers of -");
}

#[test]
fn mistakes_are_told() {
    let project = Project::new();
    project.write(
        "a.jsonl",
        "{\"prediction\":\"1\",\"ground_truth\":\"1\"}\n{\"prediction\":1}\n",
    );
    project.write("empty.jsonl", "\n");
    let check = |arguments: &[&str], says: &str| {
        matrix(&project, arguments).exits(2).says(says);
    };
    check(
        &["a.jsonl"],
        "a.jsonl:2: `prediction` must be a string or null",
    );
    check(&["empty.jsonl"], "has no answer to judge");
    check(&["gone.jsonl"], "cannot read `gone.jsonl`");
    check(
        &["a.jsonl", "--scorers", "gaia"],
        "a comparison needs at least two scorers",
    );
    check(
        &["a.jsonl", "--scorers", "gaia,gaia"],
        "`gaia` is given twice",
    );
    check(
        &["a.jsonl", "--scorers", "gaia,strict"],
        "unknown scorer `strict`",
    );
    check(
        &["a.jsonl", "--scorers", "gaia,{type: substring"],
        "is not YAML",
    );
    check(&[".", "--scorers", "gaia,substring"], "not a run directory");
}

#[test]
fn redacted_answers_are_not_judged_anew() {
    let project = Project::with_eval(
        &[("a", 1, "corp-17", "corp-17"), ("b", 1, "1", "1")],
        "echo",
        "redact: ['corp-[0-9]+']\n",
    );
    project.run("run eval.yaml").exits(0).says("2 correct");
    let dir = project.last_run().display().to_string();
    matrix(&project, &[&dir])
        .exits(0)
        .says("1 answer with a redacted secret")
        .says("gaia (reference)   2 of 2")
        .says("1 of 1   100.0 %  20.7 % to 100.0 %  cannot judge 1");
    // Nor when it is scored again: the verdict on the answer as it was stays.
    let rescore = project
        .run(&format!("rescore {dir} --scorer substring"))
        .exits(0);
    rescore
        .says("verdicts are kept for 1 record with a redacted secret")
        .says("2 correct");
}

#[test]
fn scorers_are_listed_and_explained() {
    let project = Project::new();
    let list = matrix(&project, &["--list"]).exits(0).out;
    let names: Vec<_> = list
        .lines()
        .map(|line| line.split("  ").next().unwrap())
        .collect();
    assert!(names.contains(&"gaia") && names.is_sorted(), "{list}");
    let json = matrix(&project, &["--list", "--json"]).exits(0).json();
    assert_eq!(json.as_array().unwrap().len(), names.len());
    for name in names {
        let ran = matrix(&project, &["--explain", name]).exits(0);
        ran.says("options:").says("examples, ").says("ground truth");
    }
    matrix(&project, &["--explain", "gaia"])
        .exits(0)
        .says("\"$1,234.50\" for \"1234.5\": correct (exact_match)");
    matrix(&project, &["--explain", "substring"])
        .exits(0)
        .says("compat: ");
    matrix(&project, &["--explain", "gaya"])
        .exits(2)
        .says("did you mean `gaia`?");
    let json = matrix(&project, &["--explain", "qa_f1", "--json"])
        .exits(0)
        .json();
    assert_eq!(json["examples"][1]["score"]["details"]["f1"], 0.5);
    assert!(!Path::new("evaltest-runs").exists());
}

#[test]
fn a_scorer_that_only_watches_leaves_the_baseline_alone() {
    let gates = "gates: ['no_regression(alpha=0.05, max_drop=0.2)']\n";
    let project = project(&format!("scorer: gaia\n{gates}"));
    project.run("run -v eval.yaml").exits(0);
    project.run("accept").exits(0);
    project.spec(
        "echo",
        &format!("scorers: [gaia, {{ type: substring, name: loose }}]\n{gates}"),
    );
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("0 of 5 compared samples became wrong, 0 became correct");
    let dir = project.last_run().display().to_string();
    let rescored = project.command_of(&[
        "rescore", "-v", &dir, "--scorer", "gaia", "--scorer", "exact",
    ]);
    let mut rescored = rescored;
    Ran::of(&rescored.output().unwrap())
        .exits(0)
        .says("0 of 5 compared samples");
    // Another that decides is another matter.
    project.spec("echo", &format!("scorers: [exact, gaia]\n{gates}"));
    project.run("run -v eval.yaml").exits(2);
}
