//! `cargo evaltest plan`: what sees a drop, from what a run tells.

use std::fmt::Write as _;
use std::path::PathBuf;

use evaltest::engine::stats::AnswerCounts;
use serde_json::{Value, json};

use crate::project::Project;

mod power;

const GATES: &str = "gates: [no_regression(alpha=0.05)]\n";

/// `SplitMix64`.
struct Random(u64);

impl Random {
    /// Uniform from 0 up to 1.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        f64::from(u32::try_from(mixed >> 32).unwrap()) / 2.0_f64.powi(32)
    }

    fn is(&mut self, rate: f64) -> bool {
        self.share() < rate
    }

    fn draw(&mut self, of: u32, rate: f64) -> AnswerCounts {
        let right = (0..of).filter(|_| self.is(rate)).count();
        AnswerCounts::new(u32::try_from(right).unwrap(), of)
    }
}

/// A recording of an agent that is right with these rates, with so many answers to each sample.
fn record(project: &Project, name: &str, rates: &[f64], epochs: u32, random: &mut Random) {
    let mut lines = String::new();
    for epoch in 0..epochs {
        for (sample, rate) in rates.iter().enumerate() {
            let answer = if random.is(*rate) { "1" } else { "0" };
            let line = json!({"id": format!("q{sample}"), "answer": answer, "epoch": epoch});
            writeln!(lines, "{line}").unwrap();
        }
    }
    project.write(name, lines);
}

/// As many questions as there are rates, to all of which 1 is the answer, and a recording with so many answers to each.
fn recorded(rates: &[f64], epochs: u32, random: &mut Random) -> Project {
    let project = Project::new();
    let ids: Vec<_> = (0..rates.len())
        .map(|sample| format!("q{sample}"))
        .collect();
    let questions: Vec<_> = ids.iter().map(|id| (&**id, 1, "?", "1")).collect();
    project.questions(&questions);
    record(&project, "answers.jsonl", rates, epochs, random);
    project.spec(
        "{ type: replay, path: answers.jsonl }",
        &format!("epochs: {epochs}\n{GATES}"),
    );
    project
}

fn plan(project: &Project, more: &str) -> Value {
    project.run(&format!("plan --json {more}")).exits(0).json()
}

fn row(plan: &Value, epochs: u32, baseline_runs: u32) -> &Value {
    let rows = plan["rows"].as_array().unwrap();
    let is_one = |row: &&Value| row["epochs"] == epochs && row["baseline_runs"] == baseline_runs;
    rows.iter().find(is_one).unwrap()
}

fn cheapest(plan: &Value) -> &Value {
    let mut rows = plan["rows"].as_array().unwrap().iter();
    let row = rows.find(|row| row["is_cheapest"] == true);
    row.unwrap_or_else(|| panic!("no row is the cheapest: {plan:#}"))
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

/// Of 165 samples 25 are right half of the time, and 84 always.
fn flaky() -> Vec<f64> {
    (0..165)
        .map(|i| {
            if i < 25 {
                0.5
            } else {
                f64::from(u8::from(i < 109))
            }
        })
        .collect()
}

#[test]
fn how_often_samples_flip_is_taken_from_what_shows_it() {
    let mut random = Random(7);
    let rates = flaky();
    let truth = 2.0 * 25.0 * 0.25 / 165.0;
    let project = recorded(&rates, 1, &mut random);
    project.run("run eval.yaml").exits(0);
    let check = |source: &str, off: f64| {
        let planned = plan(&project, "--detect 10");
        let share = planned["flips"]["share"].as_f64().unwrap();
        assert_eq!(planned["flips"]["source"], source);
        assert!(
            (share - truth).abs() < off,
            "{source}: {share} of {truth} {planned:#}"
        );
        planned
    };
    project
        .run("plan --detect 0.05")
        .exits(2)
        .says("`--detect 0.05` is not a drop in points")
        .says("write points, from 0.1 to 100: `--detect 3`");
    // Nobody knows: the worst is assumed, and how to measure it is told.
    let assumed = check("assumed", 0.45);
    assert!(assumed["flips"]["share"].as_f64().unwrap() > 0.48);
    project
        .run("plan --detect 10")
        .exits(0)
        .says("flip rate: unknown: each sample was answered once and there is no baseline")
        .says("note: assuming the worst that fits the data: the true accuracy is 5")
        .says("measure it with cargo evaltest run eval.yaml --epochs 3");
    // A run beside itself shows no flip.
    project.run("accept").exits(0);
    check("assumed", 0.45);
    project
        .run("plan --detect 10")
        .exits(0)
        .says("answered once, and the baseline has the same answers");
    // Another recording is another run.
    record(&project, "other.jsonl", &rates, 1, &mut random);
    project.spec("{ type: replay, path: other.jsonl }", GATES);
    project.run("run eval.yaml");
    let pairs = check("baseline", 0.04);
    project
        .run("plan --detect 10")
        .exits(0)
        .says("(165 samples, answered once in this run and once in its baseline)")
        .says_nothing_of("assumed");
    assert!(
        row(&pairs, 1, 1)["smallest_drop"].as_f64() < row(&assumed, 1, 1)["smallest_drop"].as_f64()
    );
    // Several answers say it best, whatever the baseline is.
    record(&project, "five.jsonl", &rates, 5, &mut random);
    project.spec(
        "{ type: replay, path: five.jsonl }",
        &format!("epochs: 5\n{GATES}"),
    );
    project.run("run eval.yaml --ignore-baseline").exits(0);
    check("several_answers", 0.02);
    project
        .run("plan --detect 10")
        .exits(0)
        .says("(825 answers to 165 samples)");
    // Once accepted it is the baseline of the single answers that follow.
    project.run("accept").exits(0);
    project.spec("{ type: replay, path: other.jsonl }", GATES);
    project.run("run eval.yaml --ignore-baseline").exits(0);
    check("several_answers", 0.02);
    // Snapshots that were edited are no run's.
    project.run("accept").exits(0);
    let snapshot = crate::project::all_files(&project.file("snapshots/e"));
    let snapshot = snapshot
        .iter()
        .find(|path| path.ends_with("q7.snap"))
        .unwrap();
    std::fs::remove_file(snapshot).unwrap();
    project.spec("{ type: replay, path: answers.jsonl }", GATES);
    project.run("run eval.yaml --ignore-baseline").exits(0);
    check("assumed", 0.45);
}

#[test]
fn that_nothing_flipped_may_be_luck() {
    let rates: Vec<_> = (0..40).map(|i| f64::from(u8::from(i < 30))).collect();
    let project = recorded(&rates, 5, &mut Random(1));
    project.run("run eval.yaml").exits(0);
    let planned = plan(&project, "--detect 10");
    let share = planned["flips"]["share"].as_f64().unwrap();
    assert!((share - 0.5 / 41.0).abs() < 1e-3, "{share}");
    project
        .run("plan --detect 10")
        .exits(0)
        .says("note: no sample flipped, possibly by chance");
    // All right leaves everything to lose.
    let project = recorded(&[1.0; 40], 1, &mut Random(1));
    project.run("run eval.yaml").exits(0);
    let planned = plan(&project, "--detect 10");
    assert_eq!(planned["accuracy"], 1.0);
    assert!(
        planned["flips"]["share"].as_f64().unwrap() > 0.1,
        "{planned:#}"
    );
}

/// Twelve questions; the agent takes 0.2 s and 0.01 dollars for each, and knows all but q1.
fn paid(epochs: u32) -> (Project, PathBuf) {
    let ids: Vec<_> = (0..12).map(|sample| format!("q{sample}")).collect();
    let questions: Vec<_> = ids.iter().map(|id| (&**id, 1, "?", "1")).collect();
    let more = format!("epochs: {epochs}\nlimits: {{ concurrency: 4 }}\n{GATES}");
    let agent = "{ type: command, command: [./agent.sh], output: json }";
    let project = Project::with_eval(&questions, agent, &more);
    project.script(
        "agent.sh",
        "#!/bin/sh\nsleep 0.2\n\
         case $EVALTEST_SAMPLE_ID.$EVALTEST_EPOCH in q1.*|q2.1) answer=0;; *) answer=1;; esac\n\
         echo \"{\\\"answer\\\": \\\"$answer\\\", \\\"cost_usd\\\": 0.01}\"\n",
    );
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    (project, dir)
}

#[test]
fn time_and_cost_are_those_of_the_run() {
    let (project, dir) = paid(2);
    let planned = plan(&project, "--detect 40");
    assert_eq!(planned["answer"]["concurrency"], 4);
    assert_eq!(planned["samples"], 12);
    let taken = project.last_json("manifest.json")["duration_s"]
        .as_f64()
        .unwrap();
    for (epochs, runs) in [(1_u32, 1_u32), (2, 1), (3, 5), (5, 3)] {
        let row = row(&planned, epochs, runs);
        for (part, answers) in [("run", 12 * epochs), ("in_all", 12 * epochs * (1 + runs))] {
            let expense = &row[part];
            let near = |key: &str, expect: f64| {
                let found = expense[key].as_f64().unwrap();
                assert!(
                    (found / expect - 1.0).abs() < 0.01,
                    "{part} {key}: {found} of {expect}"
                );
            };
            assert_eq!(expense["answers"], answers);
            near("cost_usd", 0.01 * f64::from(answers));
            near("time_s", taken / 24.0 * f64::from(answers));
        }
    }
    // The same run gives the same plan, named or not.
    let named = plan(&project, &format!("{} --detect 40", dir.display()));
    assert_eq!(named, planned);
    let text = project.run("plan --detect 40").exits(0);
    let again = project.run("plan --detect 40").exits(0);
    assert_eq!(text.out, again.out);
    text.says("e: 12 samples, accuracy 87.5 % in run evaltest-runs/")
        .says("with 4 in parallel, 0.0100 USD")
        .says("to detect a drop of 40.0 points with 80 % power at alpha 0.05:");
    // Scored again, the answers cost what they cost.
    project
        .run(&format!("rescore {} --scorer exact", dir.display()))
        .exits(0);
    let again = plan(&project, "--detect 40");
    assert_eq!(again["answer"]["cost_usd"], planned["answer"]["cost_usd"]);
    let seconds = again["answer"]["seconds"].as_f64().unwrap();
    assert!(seconds > 0.045, "a fourth of 0.2 s: {seconds}");
}

#[test]
fn what_to_type_leads_to_the_cheapest_row() {
    fn check(of: u32, detects: &[u32]) {
        let (project, dir) = paid(of);
        let folder = std::fs::canonicalize(project.path()).unwrap();
        let dir = dir.strip_prefix(folder).unwrap().display().to_string();
        for detect in detects {
            let planned = plan(&project, &format!("--detect {detect}"));
            let row = cheapest(&planned);
            let (epochs, runs) = (number(&row["epochs"]), number(&row["baseline_runs"]));
            // The run itself is one of them if it asked as often.
            let is_one = epochs == of;
            let mut expect = Vec::new();
            if !is_one {
                expect.push(format!("in eval.yaml: `epochs: {epochs}`"));
            }
            let times = match runs - u32::from(is_one) {
                0 => None,
                1 => Some("once".to_owned()),
                more => Some(format!("{more} times")),
            };
            expect.extend(times.map(|times| format!("run {times}: cargo evaltest run eval.yaml")));
            let mut dirs: Vec<_> = (0..runs).map(|_| "RUN_DIR").collect();
            if is_one {
                dirs[0] = &dir;
            }
            expect.push(format!("cargo evaltest accept {}", dirs.join(" ")));
            assert_eq!(planned["next"], json!(expect), "{detect}: {row:#}");
            let ran = project.run(&format!("plan --detect {detect}")).exits(0);
            let marked = ran
                .out
                .lines()
                .filter(|line| line.ends_with("<- cheapest with these samples"));
            assert_eq!(marked.count(), 1, "{}", ran.out);
            let end = format!("next:\n  {}\n", expect.join("\n  "));
            assert!(ran.out.ends_with(&end), "{}", ran.out);
        }
        let planned = plan(&project, "--detect 80 --alpha 0.04");
        let first = planned["next"][0].as_str().unwrap();
        assert!(
            first.contains("`gates: [no_regression(alpha=0.04)]`"),
            "{first}"
        );
    }
    check(1, &[60, 70, 80]);
    check(2, &[60, 70, 80]);
}

#[test]
fn fewer_samples_are_enough_for_a_large_drop_and_no_row_for_a_small_one() {
    let project = recorded(&flaky(), 3, &mut Random(9));
    project.run("run eval.yaml").exits(0);
    let planned = plan(&project, "--detect 20");
    let row = cheapest(&planned);
    let samples = number(&row["samples"]);
    assert!((30..80).contains(&samples), "{row:#}");
    let expect = format!(
        "in eval.yaml: `epochs: 1`, `limits: {{ limit: {samples} }}`, `shuffle: {{ seed: 1 }}`"
    );
    assert_eq!(planned["next"][0], expect);

    let planned = plan(&project, "--detect 1");
    assert_eq!(planned["next"], json!([]));
    let needed = |place: usize| number(&planned["samples_needed"][place]["samples"]);
    assert!(needed(0) > needed(1) && needed(1) > 165, "{planned:#}");
    project
        .run("plan --detect 1")
        .exits(0)
        .says(&format!(
            "165 samples are too few: you need {} with one epoch and one baseline run",
            needed(0)
        ))
        .says(&format!(
            "or {} with 5 epochs and 5 baseline runs",
            needed(1)
        ))
        .says_nothing_of("cheapest");
}

#[test]
fn level_and_power_are_those_of_the_gate_unless_others_are_named() {
    let project = recorded(&flaky(), 3, &mut Random(9));
    let smallest = |more: &str| {
        let planned = plan(&project, &format!("--detect 10 {more}"));
        let drop = row(&planned, 1, 1)["smallest_drop"].as_f64().unwrap();
        (planned["alpha"].clone(), drop)
    };
    project.run("run eval.yaml").exits(0);
    let usual = smallest("");
    assert_eq!(usual.0, 0.05);
    assert!(smallest("--power 0.95").1 > usual.1);
    assert_eq!(smallest("--alpha 0.01").0, 0.01);
    assert!(smallest("--alpha 0.01").1 > usual.1);
    project.spec(
        "{ type: replay, path: answers.jsonl }",
        "epochs: 3\ngates: ['no_regression(alpha=0.2)[level=1]', no_regression(alpha=0.01)]\n",
    );
    project.run("run eval.yaml").exits(0);
    assert_eq!(smallest(""), smallest("--alpha 0.005"));
    project
        .run("plan --detect 10")
        .exits(0)
        .says("2 gates `no_regression` share their alpha");
    project.run("run eval.yaml --limit 80").exits(0);
    assert_eq!(plan(&project, "--detect 10")["samples"], 80);
    project
        .run("plan --detect 10")
        .exits(0)
        .says("the run covers only a part of its eval; the plan is for 80 samples");
    // Some of the samples were asked; the plan is for all.
    project.run("run eval.yaml --filter q1").exits(0);
    let planned = plan(&project, "--detect 10");
    assert_eq!(
        (&planned["samples"], &row(&planned, 1, 1)["samples"]),
        (&165.into(), &165.into())
    );
    project
        .run("plan --detect 10")
        .exits(0)
        .says("the run covers 76 of 165 samples; the plan is for all");
}

#[test]
fn what_cannot_be_planned_is_said_with_what_to_type() {
    #[track_caller]
    fn check(project: &Project, arguments: &str, error: &str, hint: &str) {
        let ran = project.run(&format!("plan {arguments}")).exits(2);
        assert_eq!(ran.out, "");
        ran.says(error).says("\n\nhint: ").says(hint);
    }
    let project = recorded(&flaky(), 1, &mut Random(9));
    check(
        &project,
        "--detect 3",
        "no run found in `evaltest-runs`",
        "cargo evaltest run",
    );
    check(
        &project,
        "evals --detect 3",
        "there is no run `evals`",
        "cargo evaltest runs",
    );
    project.run("run eval.yaml").exits(0);
    for drop in ["0", "-3", "101", "nan"] {
        let error = format!(
            "`--detect {}` is not a drop in points",
            drop.replace("nan", "NaN")
        );
        check(
            &project,
            &format!("--detect {drop}"),
            &error,
            "`--detect 3`",
        );
    }
    for (name, hint) in [("power", "`--power 0.8`"), ("alpha", "`--alpha 0.05`")] {
        for share in ["0", "1", "80", "-0.5"] {
            let error = format!("`--{name} {share}` is not between 0 and 1");
            check(
                &project,
                &format!("--detect 3 --{name} {share}"),
                &error,
                hint,
            );
        }
    }
    check(
        &project,
        "--detect 90",
        "cannot fall by 90.0 points",
        "ask for less: `--detect 2",
    );
    project
        .run("plan")
        .exits(0)
        .says("to detect a drop of 5.0 points");
    let wrong = recorded(&[0.0; 8], 1, &mut Random(9));
    wrong.run("run eval.yaml").exits(0);
    check(
        &wrong,
        "--detect 3",
        "has no correct answer",
        "cargo evaltest show evaltest-runs/",
    );
    wrong.write(
        "data.jsonl",
        wrong.read("data.jsonl").replace("\"1\"", "\"?\""),
    );
    wrong.run("run eval.yaml");
    check(
        &wrong,
        "--detect 3",
        "has no answer with a verdict",
        "cargo evaltest show evaltest-runs/",
    );
}

#[test]
fn of_several_evals_the_last_is_planned_and_the_others_are_named() {
    let project = recorded(&flaky(), 2, &mut Random(9));
    project.write(
        "other.yaml",
        project.read("eval.yaml").replace("name: e", "name: other"),
    );
    project.run("run eval.yaml other.yaml").exits(0);
    let ran = project.run("plan --detect 10").exits(0);
    let is_planned = |eval: &str| ran.out.contains(&format!("_{eval}-"));
    for (eval, other) in [("e", "other"), ("other", "e")] {
        let note = format!("this is `{eval}`. For `{other}`: ");
        assert_eq!(
            is_planned(eval),
            ran.err.contains(&note),
            "{}{}",
            ran.out,
            ran.err
        );
    }
}
