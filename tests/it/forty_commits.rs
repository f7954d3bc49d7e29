//! Forty commits of a project whose agent gets worse at the twenty-fifth: history, merge of branches, alarm, trend.

use std::collections::BTreeSet;
use std::process::Command;

use needs::needs;
use serde_json::Value;

use crate::project::{Project, Ran, json_lines, without_surroundings};

/// Flaky on a sixth of the samples, always wrong on a few, and since some commit on more of them.
const AGENT: &str = r#"#!/bin/sh
n=$(sed -n 's/.*number 0*\([0-9]*\).*/\1/p')
read -r commit broken < state.txt
luck=$(( (n * 7919 + commit * 104729 + n * commit * 31) % 1009 % 100 ))
if [ "$n" -le "$broken" ]; then echo "broken"
elif [ $((n % 6)) = 0 ] && [ "$luck" -lt 50 ]; then echo "unlucky"
elif [ $((n % 7)) = 3 ]; then echo "never"
else echo "$n"; fi
"#;

const SAMPLES: u32 = 60;
const WORSE_AT: u32 = 25;
/// The history of the eval.
const HISTORY: &str = "evals/snapshots/e/history.jsonl";

struct Downstream {
    project: Project,
}

impl Downstream {
    fn new() -> Self {
        let project = Project::new();
        let texts: Vec<_> = (1..=SAMPLES)
            .map(|n| {
                (
                    format!("q{n:03}"),
                    format!("What is number {n:03}?"),
                    n.to_string(),
                )
            })
            .collect();
        let questions: Vec<_> = texts
            .iter()
            .map(|(id, question, answer)| (&**id, 1, &**question, &**answer))
            .collect();
        project.questions(&questions);
        project.script("evals/agent.sh", AGENT);
        project.write(
            "evals/e.yaml",
            "name: e\nbenchmark: { type: gaia, path: ../data.jsonl }\nprompt: none\n\
             agent: { type: command, command: [./agent.sh] }\ngates: [accuracy >= 0.3]\nalerts:\n  \
             - drop(accuracy)\n  - drop(accuracy, against=median(5))\n  - trend(accuracy, runs=8)\n  - stale(days=7)\n",
        );
        project.write(".gitignore", "evaltest-runs/\n");
        let downstream = Self { project };
        downstream.git("init -q -b main");
        downstream.git("config user.email tests@example.org");
        downstream.git("config user.name Tests");
        downstream.git("config commit.gpgsign false");
        downstream
    }

    fn git(&self, arguments: &str) {
        let mut command = Command::new("git");
        command
            .args(arguments.split(' '))
            .current_dir(self.project.path());
        without_surroundings(&mut command);
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "git {arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn commit(&self, what: &str) {
        self.git("add -A");
        self.git(&format!("commit -q -m {what}"));
    }

    /// The agent of this commit is committed, run, and what that adds to the history is committed.
    fn push(&self, number: u32) -> Ran {
        let broken = if number < WORSE_AT { 0 } else { 14 };
        self.project
            .write("evals/state.txt", format!("{number} {broken}\n"));
        self.commit(&format!("agent-{number}"));
        let ran = self.project.run("run --history");
        self.commit(&format!("history-{number}"));
        ran
    }

    fn history(&self) -> Vec<Value> {
        json_lines(&self.project.file(HISTORY))
    }
}

#[needs(git)]
#[test]
fn a_project_sees_its_agent_get_worse_and_nothing_before() {
    let downstream = Downstream::new();
    let project = &downstream.project;
    for number in 1..=5 {
        downstream.push(number).exits(0);
    }
    // Three of the runs are the baseline.
    let runs = project.runs();
    let display: Vec<_> = runs
        .iter()
        .rev()
        .take(3)
        .map(|run| project.display(run))
        .collect();
    project
        .run(&format!("accept {}", display.join(" ")))
        .exits(0);
    downstream.commit("baseline");
    for number in 6..=18 {
        downstream.push(number).exits(0);
    }
    // Two branches go on, and each has runs in the history.
    downstream.git("checkout -q -b prompt");
    for number in 19..=20 {
        downstream.push(number).exits(0);
    }
    downstream.git("checkout -q main");
    for number in 21..=22 {
        downstream.push(number).exits(0);
    }
    downstream.git("checkout -q prompt -- evals/state.txt");
    downstream.commit("state");
    // Only the agent is a conflict, never the history.
    downstream.git("merge -q -X ours -m merged prompt");
    let merged = downstream.history();
    let ids: BTreeSet<_> = merged
        .iter()
        .map(|line| line["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        (merged.len(), ids.len()),
        (23, 23),
        "22 runs and one baseline"
    );
    for number in 23..WORSE_AT {
        downstream.push(number).exits(0);
    }
    // It got worse: the alarm comes soon, and stays.
    let codes: Vec<_> = (WORSE_AT..=40)
        .map(|number| downstream.push(number))
        .collect();
    let first = codes.iter().position(|ran| ran.code == Some(1));
    assert!(
        first.is_some_and(|first| first < 5),
        "seen after {first:?} commits"
    );
    assert!(
        codes[first.unwrap()..]
            .iter()
            .all(|ran| ran.code == Some(1))
    );
    assert!(
        codes.last().unwrap().out.contains("drop(accuracy)"),
        "{:?}",
        codes.last()
    );

    let history = downstream.history();
    assert_eq!(
        history.iter().filter(|line| line["kind"] == "run").count(),
        40
    );
    let trend = project.run("trend e --json --last 0");
    assert_eq!(trend.code, Some(1), "{}", trend.err);
    project.run("trend e --html trend.html").exits(1);
    assert!(project.read("trend.html").contains("<svg"));
}
