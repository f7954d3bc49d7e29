//! The scorer `pairwise`, and `cargo evaltest winrate`: two runs whose answers a program compares.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::project::{Project, Ran};

mod again;
mod against;
mod bad;
mod killed;
mod material;

/// A judge that always says this.
pub(crate) fn always(verdict: &str) -> String {
    format!(
        "echo x >> judged.log; while read -r _; do :; done; echo '{{\"reason\": \"so\", \"verdict\": \"{verdict}\"}}'"
    )
}

/// A judge that prefers the text with this word, wherever it is shown.
pub(crate) fn prefers(word: &str) -> String {
    format!(
        "echo x >> judged.log; if sed -n '/^<<<BEGIN first/,/^<<<END first/p' | grep -q {word}; then v=first; else v=second; \
         fi; echo \"{{\\\"reason\\\": \\\"so\\\", \\\"verdict\\\": \\\"$v\\\"}}\""
    )
}

/// A project with two runs over the same questions, `a` and `b`, and a judge.
pub(crate) struct Duel {
    pub(crate) project: Project,
}

impl Duel {
    /// So many questions; the agents print what these lines of shell do.
    pub(crate) fn new(questions: u32, a: &str, b: &str, judge: &str) -> Self {
        let project = Project::new();
        for (name, says) in [("a", a), ("b", b)] {
            project.write(&format!("{name}.yaml"), eval(name, questions, says, ""));
            project
                .run(&format!("run {name}.yaml --run-id {name}"))
                .exits(0);
        }
        project.script("judge.sh", &format!("#!/bin/sh\n{judge}\n"));
        project.write(
            "better.yaml",
            "agent: { type: command, command: [sh, ./judge.sh] }\ncriteria: Which is better?\n",
        );
        Self { project }
    }

    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        let end = format!("_{name}");
        let mut runs = self.project.runs().into_iter();
        runs.find(|run| run.to_string_lossy().ends_with(&end))
            .unwrap()
    }

    pub(crate) fn winrate(&self, arguments: &str) -> Ran {
        let [a, b] = ["a", "b"].map(|name| self.dir(name));
        let (a, b) = (a.display(), b.display());
        self.project
            .run(&format!("winrate {a} {b} --judge better.yaml {arguments}"))
    }

    /// The figures that it prints.
    pub(crate) fn pairs(&self, arguments: &str) -> Value {
        let ran = self.winrate(&format!("--json {arguments}")).exits(0);
        ran.json()["pairs"].clone()
    }

    /// How often the judge was asked.
    pub(crate) fn requested(&self) -> usize {
        let log = fs::read_to_string(self.project.file("judged.log"));
        log.unwrap_or_default().lines().count()
    }
}

/// A spec with so many questions, whose agent prints what a line of shell does.
pub(crate) fn eval(name: &str, questions: u32, says: &str, more: &str) -> String {
    let questions = (0..questions)
        .map(|number| format!("{{ id: secret-id-{number:03}, prompt: \"What is {number}?\" }}"));
    let questions: Vec<_> = questions.collect();
    let says = json!(["sh", "-c", format!("while read -r _; do :; done; {says}")]);
    format!(
        "name: {name}\nbenchmark: {{ type: custom, samples: [{}] }}\n\
         agent: {{ type: command, command: {says} }}\nextract: none\n{}",
        questions.join(", "),
        match more {
            "" =>
                "scorers: [{ type: command, command: [sh, -c, 'while read -r line; do echo \"{\\\"correct\\\": true}\"; done'] }]\n",
            more => more,
        }
    )
}

#[test]
fn a_judge_that_always_says_first_tells_nothing() {
    let duel = Duel::new(20, "echo good", "echo bad", &always("first"));
    let found = duel.pairs("");
    assert_eq!(
        (
            &found["n"],
            &found["inconsistent"],
            &found["wins"],
            &found["losses"],
            &found["ties"]
        ),
        (&json!(20), &json!(20), &json!(0), &json!(0), &json!(0))
    );
    assert_eq!(found["win_rate"], 0.5);
    assert_eq!(found["position_bias"], 1.0);
    assert_eq!(found["standing"], "not_told_apart");
    assert_eq!(duel.requested(), 40);
}

#[test]
fn what_is_better_in_both_orders_wins() {
    let duel = Duel::new(20, "echo this is good", "echo bad", &prefers("good"));
    let ran = duel.winrate("--dry-run").exits(0);
    ran.says("the judge is asked 40 times, two for each pair, at most 80 times if replies cannot be read");
    assert_eq!(duel.requested(), 0);
    let ran = duel.winrate("").exits(0);
    ran.says("the judge is asked 40 times")
        .says("20 pairs of 20 items: 20 wins, 0 ties, 0 losses, 0 inconsistent (the verdict changes with the order); ties and inconsistent pairs count half")
        .says("win rate 100.0 %, 95 % interval 82.0 % to 100.0 %: above one half")
        .says("the judge is uncalibrated (no human labels)");
    // The other way round, and of a few of them.
    let [a, b] = ["a", "b"].map(|name| duel.dir(name));
    let ran = duel.project.run(&format!(
        "winrate {} {} --judge better.yaml --pairs 3 --seed 7",
        b.display(),
        a.display()
    ));
    ran.exits(0)
        .says("3 pairs of 3 items: 0 wins, 0 ties, 3 losses, 0 inconsistent")
        .says("not significantly different from one half");
}

#[test]
fn the_run_that_is_written_has_it_all() {
    let duel = Duel::new(6, "echo this is good", "echo bad", &prefers("good"));
    duel.winrate("--pairs 4 --seed 7").exits(0);
    let dir = duel.project.runs().into_iter().find(|run| {
        run.join("manifest.json").exists() && *run != duel.dir("a") && *run != duel.dir("b")
    });
    let dir = dir.unwrap();
    let read = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(dir.join(name)).unwrap()).unwrap()
    };
    let summary = read("summary.json");
    assert_eq!(
        (&summary["scored"], &summary["unscored"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(summary["means"]["win"], 1.0);
    assert_eq!(summary["means"]["inconsistent"], 0.0);
    assert_eq!(summary["judge"]["scorers"]["pairwise"]["pairs"]["wins"], 4);
    let page = fs::read_to_string(dir.join("summary.md")).unwrap();
    assert!(
        page.contains("4 wins, 0 ties, 0 losses of 4 pairs"),
        "{page}"
    );
    let records = crate::project::json_lines(&dir.join("samples.jsonl"));
    let scored: Vec<_> = records
        .iter()
        .filter(|record| record["result"]["status"] == "scored")
        .collect();
    let details = &scored[0]["result"]["score"]["details"];
    assert_eq!(details["first"], "A");
    assert_eq!(details["second"], "A");
    assert_eq!(
        (&details["length"], &details["length_against"]),
        (&json!(12), &json!(3))
    );
    // A gate on the rate, of the run that is there.
    let dir = dir.display();
    duel.project
        .run_of(&[
            "gate",
            "-v",
            &dir.to_string(),
            "--gate",
            "mean(pairwise.win) >= 0.9",
        ])
        .says("passed: mean(pairwise.win) ");
    // It is scored again without asking anybody.
    duel.project
        .run(&format!("rescore -v {dir}"))
        .exits(0)
        .says("no model is called");
}

#[test]
fn ties_are_half_a_win() {
    let duel = Duel::new(4, "echo good", "echo bad", &always("tie"));
    let found = duel.pairs("");
    assert_eq!(
        (&found["ties"], &found["win_rate"]),
        (&json!(4), &json!(0.5))
    );
    assert_eq!(found["position_bias"], Value::Null);
}

#[test]
fn an_order_that_cannot_be_read_leaves_no_verdict() {
    // It can be read only where the better one is the first.
    let judge = "echo x >> judged.log; if sed -n '/^<<<BEGIN first/,/^<<<END first/p' | grep -q good; then echo 'VERDICT: \
                 first'; else echo 'the first or the second'; fi";
    let a = "test \"$EVALTEST_SAMPLE_ID\" = secret-id-000 && echo good || echo bad";
    let duel = Duel::new(3, a, "echo bad", judge);
    let ran = duel.winrate("").exits(3);
    ran.says("no pair has a verdict: 3 could not be read");
    let ran = duel.winrate("--json").exits(3);
    assert_eq!(ran.json()["pairs"], Value::Null);
    // Both orders are asked whatever came of the first, and once more where that could not be read.
    assert_eq!(duel.requested(), 3 * 4 - 1);
}
