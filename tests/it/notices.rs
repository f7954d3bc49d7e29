//! A run says when it could not read its answers, and what to write.

use std::path::Path;

use serde_json::{Value, json};

use crate::project::{Project, Ran};

const ANSWERS: usize = 20;

/// Twenty questions whose answers are their numbers, and a recording of these answers.
fn project(more: &str, answer: impl Fn(usize) -> String) -> Project {
    let project = Project::new();
    let rows = (0..ANSWERS).map(|number| format!("q{number},?,{number}\n"));
    project.write(
        "q.csv",
        format!("id,question,answer\n{}", rows.collect::<String>()),
    );
    let lines = (0..ANSWERS).map(|number| {
        let line = json!({"id": format!("q{number}"), "answer": answer(number)});
        format!("{line}\n")
    });
    project.write("a.jsonl", lines.collect::<String>());
    project.write(
        "eval.yaml",
        format!(
            "benchmark: {{ type: qa, path: q.csv }}\nagent: {{ type: replay, path: a.jsonl }}\n{more}"
        ),
    );
    project
}

/// The first has a box, the others a sentence.
fn boxed(number: usize) -> String {
    match number {
        0 => r"\boxed{0}".to_owned(),
        number => format!("The answer is {number}."),
    }
}

const BOXED: &str = "extract: boxed\nscorer: numeric\n";
const NOTHING: &str = "nothing was extracted from 19 of 20 answers: `extract: boxed` finds no box in them; see one: `cargo evaltest show ";
const TRUTH: &str = "19 wrong answers contain the ground truth as a whole word or number";

/// The notices of a command about the reading of answers, without the names of eval and run.
fn notices(ran: &Ran) -> Vec<String> {
    let lines = ran.err.lines().chain(ran.out.lines());
    let notices = lines.map(|line| line.trim_start_matches("eval: "));
    let notices = notices.map(|line| line.trim_start_matches("note: "));
    let notices = notices.map(|line| line.trim_start_matches("eval: "));
    let notices = notices.filter(|notice| notice.contains("cargo evaltest show"));
    let without_run = notices.map(|notice| {
        let words = notice.split(' ');
        let words = words.filter(|word| !word.contains("evaltest-runs") && !word.contains("parts"));
        words.collect::<Vec<_>>().join(" ")
    });
    without_run.collect()
}

fn name(dir: &Path) -> String {
    dir.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn answers_without_anything_to_take_are_reported_everywhere() {
    let project = project(BOXED, boxed);
    let whole = project.run("run -v eval.yaml");
    whole
        .says(NOTHING)
        .says(TRUTH)
        .says("or write `extract: final_answer`");
    let whole = notices(&project.run("run -v eval.yaml"));
    assert_eq!(whole.len(), 2, "{whole:?}");
    let run = project.last_run();
    let summary = project.last_json("summary.json");
    assert_eq!(summary["found_by"], json!({"box": 1, "nothing": 19}));
    let missed = &summary["reading"]["missed"];
    assert_eq!(
        missed["ground_truth"],
        json!({"answers": 19, "first": "q1"})
    );
    let record = &project.last_lines("samples.jsonl")[1]["result"];
    assert_eq!(
        record["missed"],
        json!(["ground_truth", "final_answer", "number"])
    );
    assert_eq!(record["score"]["reason"], "no_prediction");
    for file in ["report.md", "report.html"] {
        project
            .run(&format!("report {} -o {file}", name(&run)))
            .exits(0);
        let report = project.read(file);
        for text in ["19 of 20 answers", "perhaps the extraction misses it"] {
            assert!(report.contains(text), "{report}");
        }
    }
    let show = |id: &str| project.run(&format!("show {} {id}", name(&run))).exits(0);
    show("q1").says("extracted by: nothing");
    show("q0").says("extracted by: box");
    // The same answers by the same rule, and the run in parts.
    let again = project.run(&format!("rescore -v {} --scorer numeric", name(&run)));
    assert_eq!(notices(&again), whole);
    for part in 1..=2 {
        project.run(&format!(
            "run -v eval.yaml --shard {part}/2 --output-root parts"
        ));
    }
    assert_eq!(notices(&project.run("merge -v parts")), whole);
    // What the notice proposes is right.
    let text = project.read("eval.yaml");
    project.write("eval.yaml", text.replace("boxed", "final_answer"));
    let right = project
        .run("run -v eval.yaml")
        .exits(0)
        .says("20 samples, 20 correct");
    let right = right.says("extraction: label 19, box 1");
    assert_eq!(notices(&right), [""; 0]);
    let both = project.run(&format!(
        "compare {} {}",
        name(&run),
        name(&project.last_run())
    ));
    assert!(
        both.out.is_empty() || both.out.contains("extracted by: label"),
        "{}",
        both.out
    );
}

#[test]
fn thoughts_and_whole_answers_are_reported() {
    let project = project("extract: final_answer\n", |number| match number {
        0..4 => format!("it is {number}, I think"),
        number => format!("FINAL ANSWER: {number}"),
    });
    let ran = project.run("run eval.yaml");
    ran.says("4 of 20 answers were used as a whole, although 16 have a label, box or tag: see one: `cargo evaltest show ");
    let project = self::project("extract: none\n", |number| {
        format!("<think>?</think>{number}")
    });
    let ran = project.run("run eval.yaml");
    ran.says("20 answers begin with thoughts (such as `<think>`)")
        .says("write `extract: { type: none, strip_think: true }`");
}

#[test]
fn notices_of_a_masked_eval_have_no_text() {
    let more = "extract: none\nsnapshot: { answers: masked }\n";
    let project = project(more, |number| format!("wombat, so it is {number}."));
    let ran = project.run("run eval.yaml --run-id one");
    let ran = ran.says("wrong answers contain the ground truth");
    for notice in notices(&ran) {
        assert!(!notice.contains("wombat"), "{notice}");
    }
    let report = project.run("report one").exits(0);
    assert!(
        report.out.contains("20 wrong answers contain"),
        "{}",
        report.out
    );
    assert!(!report.out.contains("wombat"), "{}", report.out);
}

#[test]
fn a_refusal_and_a_blank_answer_are_groups_of_their_own() {
    let project = project("scorer: exact\nextract: none\n", |number| match number {
        0 => "0".to_owned(),
        1 => " \u{200b}".to_owned(),
        2 => "I’m sorry, but I can’t help with that.".to_owned(),
        _ => "wombat".to_owned(),
    });
    project.run("run eval.yaml");
    let groups = project.run("show --failures --json").exits(0).json();
    let reasons = groups["wrong"].as_array().unwrap().iter();
    let reasons: Vec<&Value> = reasons.map(|group| &group["reason"]).collect();
    assert_eq!(reasons, ["mismatch", "no_prediction", "refused"]);
}
