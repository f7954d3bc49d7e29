//! `score --explain`.

use crate::project::Project;
use crate::scored::{PAIRS, score, with_run};

#[test]
fn each_step_is_explained() {
    let project = Project::new();
    let pair = [
        "--explain",
        "--prediction",
        "So\nFINAL ANSWER: [A\x1b[2J;b",
        "--ground-truth",
    ];
    let two = [
        &["--scorer", "gaia", "--scorer", "quasi_exact"][..],
        &pair,
        &["a;b"],
    ]
    .concat();
    let ran = score(&project, &two).exits(0);
    for text in [
        "scorer: gaia, the GAIA leaderboard's own rule",
        "raw answer:\n  So\n  FINAL ANSWER: [A\\u{1b}[2J;b\nextraction: none\n",
        "ground truth:\n  a;b\ncompared:\n  prediction: [\"sofinalanswer:[a\\u{1b}[2j\", \"b\"]\n  ground truth: [\"a\", \"b\"]\n",
        "details:\n  kind: list\nverdict: wrong, value 0.0, reason mismatch\n\nscorer: quasi_exact",
        "extraction: {\"type\":\"final_answer\",\"first\":true}, which is part of the rule\n",
        "prediction:\n  A\\u{1b}[2J;b\n",
    ] {
        assert!(ran.out.contains(text), "{text}\n\n{}", ran.out);
    }
    let golds = [
        "--scorer",
        "qa_f1",
        "--explain",
        "--ground-truth",
        "[\"x\",\"y\"]",
    ];
    let ran = score(&project, &golds).exits(0);
    ran.says("raw answer: null\n")
        .says("ground truth:\n  [\"x\",\"y\"]\n");
}

#[test]
fn a_line_of_any_input_is_explained() {
    let (project, dir) = with_run();
    project.write("p.jsonl", format!("\n{PAIRS}x\n"));
    project.write("c.csv", "answer,ground_truth\na,b\nc,c\n");
    let explain = |arguments: &[&str]| {
        let explain = ["--scorer", "substring", "--explain"];
        score(&project, &[&explain[..], arguments].concat())
    };
    explain(&["p.jsonl", "--line", "3"])
        .exits(0)
        .says("raw answer:\n  The Paris.\n")
        .says("  direction: prediction_contains_ground_truth\n");
    explain(&["c.csv", "--map", "prediction=answer", "--line", "3"])
        .exits(0)
        .says("verdict: correct");
    explain(&[&dir, "--line", "2"])
        .exits(0)
        .says("extraction: final_answer\nprediction:\n  17 apples\n");
    explain(&[&dir, "--line", "3"])
        .exits(2)
        .says("sample `fails` has no answer: agent_failed");
    explain(&["p.jsonl", "--line", "4"])
        .exits(2)
        .says("p.jsonl:4: broken JSON in column 1");
    for line in ["0", "1", "9"] {
        explain(&["p.jsonl", "--line", line])
            .exits(2)
            .says(&format!("p.jsonl:{line}: this line has no answer"));
    }
    explain(&[])
        .exits(2)
        .says("hint: name one: `--prediction TEXT --ground-truth TEXT`, or `FILE --line N`");
    explain(&["--prediction", "x"]).exits(2);
    explain(&["--ground-truth", "x", "--line", "1"]).exits(2);
    score(&project, &["--scorer", "gaia", "--line", "1", "p.jsonl"]).exits(2);
}
