//! Answers that several judges grade together.

use serde_json::Value;

use crate::project::{Project, Ran};
use crate::requested;

mod bad;
mod figures;
mod llmbar;
mod out;
mod panel;
mod stored;

/// One dimension; 3.5 of 5 points pass.
const MERIT: &str = "rubric: { dimensions: [{ name: merit }] }";
/// Two choices, of which the first passes.
const YES_NO: &str = "choices: { yes: 1, no: 0 }";

/// A project with a jury of programs.
struct Court {
    project: Project,
}

/// Lines of labels: those of a question by its number.
fn labels(numbers: std::ops::Range<u32>, label: impl Fn(u32) -> Value) -> String {
    let line = |number: u32| {
        let mut line = label(number);
        line["id"] = format!("q{number:03}").into();
        line.to_string() + "\n"
    };
    numbers.map(line).collect()
}

/// A reply with so many points, as a line of shell.
fn points(points: &str) -> String {
    format!("echo '{{\"merit\": {points}}}'")
}

/// A reply with a choice.
fn choice(name: &str) -> String {
    format!("echo 'VERDICT: {name}'")
}

/// What stands in the list of judges.
fn juror(name: &str, grading: &str) -> String {
    format!(
        "{{ type: judge, name: {name}, sees: [prediction], {grading}, agent: {{ type: command, command: [./{name}.sh] }} }}"
    )
}

impl Court {
    /// So many questions, and judges by name with what they do, a line of shell that knows `$EVALTEST_SAMPLE_ID`.
    fn new(questions: u32, grading: &str, judges: &[(&str, &str)], options: &str) -> Self {
        Self::as_second_scorer(questions, grading, judges, options, "")
    }

    /// With scorers before the jury.
    fn as_second_scorer(
        questions: u32,
        grading: &str,
        judges: &[(&str, &str)],
        options: &str,
        first: &str,
    ) -> Self {
        let list: Vec<String> = judges
            .iter()
            .map(|(name, _)| juror(name, grading))
            .collect();
        let more = format!(
            "scorers: [{first}{{ type: jury, judges: [{}]{options} }}]\nlimits: {{ retries: 0 }}\n",
            list.join(", ")
        );
        let project = requested::project(questions, "", &more);
        let court = Self { project };
        for (name, does) in judges {
            court.judge(name, does);
        }
        court
    }

    /// Writes a judge, which logs that it was asked.
    fn judge(&self, name: &str, does: &str) {
        let script = format!(
            "#!/bin/sh\nwhile read -r _; do :; done\necho {name} >> \"${{0%/*}}/judged.log\"\n{does}\n"
        );
        self.project.script(&format!("{name}.sh"), &script);
    }

    fn run(&self, arguments: &str) -> Ran {
        self.project.run(&format!("run {arguments}"))
    }

    /// How often judges were asked.
    fn judged(&self) -> usize {
        let log = std::fs::read_to_string(self.project.file("judged.log"));
        log.unwrap_or_default().lines().count()
    }

    fn results(&self) -> Vec<Value> {
        let records = self.project.last_lines("samples.jsonl");
        let results = records.into_iter();
        results.map(|mut record| record["result"].take()).collect()
    }

    /// What the summary has of the jury.
    fn jury(&self) -> Value {
        self.project.last_json("summary.json")["judge"]["juries"]["jury"].clone()
    }

    /// Rewrites the spec.
    fn edit(&self, from: &str, to: &str) {
        let spec = self.project.read("eval.yaml");
        assert!(spec.contains(from), "`{from}` is missing in {spec}");
        self.project.write("eval.yaml", spec.replace(from, to));
    }

    fn dir(&self) -> String {
        self.project.last_run().display().to_string()
    }
}
