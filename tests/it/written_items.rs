//! Items that agents write: asked for, checked, asked for again, solved anew.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::project::Project;

/// Writes what stands in `replies`, by how often it was refused before; a folder for each item may have others.
const WRITER: &str = r#"#!/bin/sh
prompt=$(cat)
printf '%s\n' "$prompt" > last.txt
number=$(sed -n 's/^Item \([0-9]*\) of.*/\1/p' last.txt)
try=$(sed -n 's/.*This is try \([0-9]*\) of.*/\1/p' last.txt)
echo "$number ${try:-1}" >> asked.txt
cat "replies/$number.${try:-1}" 2> /dev/null || cat "replies/$number.1"
"#;

const TEMPLATE: &str = r#"
  template: |
    Item {{number}} of {{count}}, about {{topic}}.
    {{#reference}}
    Not this one: {{reference}}
    {{/reference}}
    As {"problem": "…"}:
    {{fields}}
"#;

const REFERENCES: &str = r#"[
  {"id": "mill", "question": "A mill has 12 wheels, each of which turns 30 times while the miller counts his 500 sacks of grain twice over.", "answer": "012"},
  {"id": "shelf", "question": "In how many ways can nine different books stand on three shelves of unequal length if none of them may be empty?", "answer": 7}
]"#;

fn item(problem: &str, answer: &Value, topic: &str) -> String {
    let solution = format!("It comes to {}.", answer.to_string().trim_matches('"'));
    json!({"problem": problem, "answer": answer, "solution": solution, "topic": topic}).to_string()
}

fn project(replies: &[(&str, String)], count: usize, more: &str) -> Project {
    let project = Project::new();
    project.script("writer.sh", WRITER);
    project.write("references.json", REFERENCES);
    for (name, reply) in replies {
        project.write(&format!("replies/{name}"), reply);
    }
    project.write(
        "eval.yaml",
        format!(
            "name: made\nbenchmark:\n  type: generate\n  ready: aime\n  count: {count}\n  seed: 7\n  \
             reference: references.json\n{more}{TEMPLATE}\
             agent: {{ type: command, command: [./writer.sh] }}\nlimits: {{ concurrency: 1 }}\n"
        ),
    );
    project
}

const RIVER: &str = "A ferry crosses a river of width 840 metres while the stream carries it 35 metres each minute to the east of its goal.";
const TOWER: &str = "From the top of a tower a guard sees two gates under angles whose tangents are as 3 to 5 and counts the steps between.";
const CARDS: &str = "Two players draw cards from a deck of 20 in turn until one of them holds three whose numbers add up to a square.";

/// By id: the score, and why replies before it were refused.
fn verdicts(project: &Project) -> BTreeMap<String, (Value, Vec<String>)> {
    let records = project.last_lines("samples.jsonl");
    let of = |record: Value| {
        let refused = record["result"]["refused"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let reasons = refused
            .iter()
            .map(|one| one["reason"].as_str().unwrap().to_owned());
        let id = record["sample_id"].as_str().unwrap().to_owned();
        (id, (record["result"]["score"].clone(), reasons.collect()))
    };
    records.into_iter().map(of).collect()
}

#[test]
fn what_is_refused_is_asked_for_again_with_what_was_wrong() {
    let copy = "A mill has 17 wheels, each of which turns 45 times while the miller counts his 900 sacks of grain twice over.";
    let river_again = RIVER.replace("840", "910");
    let replies = [
        // Words around it, a number in quotes, a topic in small letters.
        (
            "1.1",
            format!(
                "Here you are:\n```json\n{}\n```",
                item(RIVER, &json!("042"), " number  THEORY")
            ),
        ),
        ("2.1", "I would rather not.".to_owned()),
        ("2.2", item(copy, &json!(5), "Algebra")),
        ("2.3", item(&river_again, &json!(5), "Algebra")),
        ("2.4", item(TOWER, &json!(42.0), "Algebra")),
        ("3.1", item(CARDS, &json!(true), "Algebra")),
        ("3.2", item(CARDS, &json!(1000), "Algebra")),
        ("3.3", item(" \u{200b}", &json!(10), "Algebra")),
        ("3.4", item(CARDS, &json!(10), "Cooking")),
    ];
    let project = project(&replies, 3, "");
    project.run("run eval.yaml").exits(0).says("refused");
    let verdicts = verdicts(&project);
    let (first, refused) = &verdicts["gen_aime_1"];
    assert!(refused.is_empty());
    assert_eq!(first["reason"], "accepted");
    let made: Value =
        serde_json::from_str(first["normalized_prediction"].as_str().unwrap()).unwrap();
    assert_eq!(made["answer"], 42);
    assert_eq!(made["topic"], "Number Theory");
    assert_eq!(first["details"]["solution_ends_in_answer"], 1);
    let (second, refused) = &verdicts["gen_aime_2"];
    assert_eq!(
        *refused,
        ["readable", "no_copy_of_reference", "no_copy_of_item"]
    );
    assert_eq!(second["correct"], true);
    assert_eq!(second["details"]["no_copy_of_item"], 1);
    let (third, refused) = &verdicts["gen_aime_3"];
    assert_eq!(*refused, ["answer_in_range", "answer_in_range", "complete"]);
    assert_eq!(
        (&third["correct"], &third["reason"]),
        (&json!(false), &json!("topic_in_list"))
    );
    // The last prompt says what was wrong before, once.
    let last = project.read("last.txt");
    assert!(last.contains("it had nothing in `problem`"), "{last}");
    assert_eq!(last.matches("was refused").count(), 1);
    assert!(last.contains("This is try 4 of 4."), "{last}");
    assert!(last.contains(r#"As {"problem": "…"}"#), "{last}");
    let metrics = &project.last_json("summary.json")["metrics"];
    assert_eq!(
        (&metrics["accepted"], &metrics["refused"]),
        (&json!(2), &json!(7))
    );
    assert_eq!(metrics["refused_answer_in_range"], 2);
    assert_eq!(metrics["refused_topic_in_list"], 1);
    // Scored again from what is on disk, the verdicts of the checks are the same.
    let dir = project.last_run();
    project
        .run(&format!("rescore {} --spec eval.yaml", dir.display()))
        .exits(0);
}

#[test]
fn a_solver_is_asked_only_about_what_passes_and_most_votes_decide() {
    let solver = r#"#!/bin/sh
prompt=$(cat)
echo "$prompt" >> solver.txt
echo ===== >> solver.txt
case $prompt in
    *ferry*) echo "ANSWER: 42";;
    *) vote=$(cat votes 2> /dev/null || echo 0); echo $((vote + 1)) > votes; echo "ANSWER: $((vote % 2 ? 7 : 8))";;
esac
"#;
    let replies = [
        ("1.1", item(RIVER, &json!(42), "Algebra")),
        ("2.1", item(TOWER, &json!(1000), "Algebra")),
        ("2.2", item(TOWER, &json!(9), "Algebra")),
    ];
    let project = project(
        &replies,
        2,
        "  checks: { again: 1 }\n  solver: { agent: { type: command, command: [./solver.sh] }, votes: 3 }\n",
    );
    project.script("solver.sh", solver);
    project.run("run eval.yaml").exits(0);
    let verdicts = verdicts(&project);
    let (first, _) = &verdicts["gen_aime_1"];
    assert_eq!(
        (&first["correct"], &first["details"]["solver_agrees"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(first["details"]["solver_agreeing"], 3);
    let (second, refused) = &verdicts["gen_aime_2"];
    assert_eq!(*refused, ["answer_in_range"]);
    assert_eq!(
        (&second["correct"], &second["reason"]),
        (&json!(false), &json!("solver_agrees"))
    );
    let requested = project.read("solver.txt");
    assert_eq!(requested.matches("=====").count(), 6, "{requested}");
    // Neither the solution nor the answer.
    assert!(
        !requested.contains("It comes to") && requested.contains("ferry"),
        "{requested}"
    );
    let calls = project.last_lines("samples.jsonl");
    let calls = calls
        .iter()
        .map(|record| record["result"]["judged"].as_array().map_or(0, Vec::len));
    assert_eq!(calls.collect::<Vec<_>>(), [3, 3]);
    // It says what is true, and needs no human labels.
    let page = project.last_run().join("summary.md");
    assert!(
        !std::fs::read_to_string(page)
            .unwrap()
            .contains("uncalibrated")
    );
    // What was said is not asked for again.
    let dir = project.last_run();
    project
        .run(&format!("rescore {} --spec eval.yaml", dir.display()))
        .exits(0);
    assert_eq!(project.read("solver.txt").matches("=====").count(), 6);
}

#[test]
fn samples_are_the_same_for_a_seed_and_more_begin_like_fewer() {
    let listed = |count: usize, seed: u64| {
        let project = project(&[("1.1", "{}".to_owned())], count, "");
        let set = format!("benchmark.seed={seed}");
        project.run_of(&[
            "run",
            "eval.yaml",
            "--set",
            &set,
            "--set",
            "benchmark.checks.again=0",
        ]);
        let records = project.last_lines("samples.jsonl");
        let outcome = |record: &Value| {
            (
                record["slices"]["topic"].clone(),
                record["metadata"]["reference_id"].clone(),
            )
        };
        records.iter().map(outcome).collect::<Vec<_>>()
    };
    let ten = listed(10, 1);
    assert_eq!(ten[..5], listed(5, 1));
    assert_ne!(ten, listed(10, 2));
    // Five topics, each twice; two references in turns.
    let mut topics = BTreeMap::new();
    let mut references = BTreeMap::new();
    for (topic, reference) in &ten {
        *topics.entry(topic.to_string()).or_insert(0) += 1;
        *references.entry(reference.to_string()).or_insert(0) += 1;
    }
    assert!(
        topics.len() == 5 && topics.values().all(|requested| *requested == 2),
        "{topics:?}"
    );
    assert_eq!(references.into_values().collect::<Vec<_>>(), [5, 5]);
}

#[test]
fn references_are_files_whose_columns_have_usual_names() {
    let project = project(&[("1.1", "{}".to_owned())], 4, "  checks: { again: 0 }\n");
    project.write(
        "aime_2031.csv",
        "Problem,Answer\nHow many?,012\nHow much?,7\n",
    );
    let both = "benchmark.reference=[references.json, aime_2031.csv]";
    project.run_of(&["run", "eval.yaml", "--set", both]);
    let records = project.last_lines("samples.jsonl");
    let ids = records
        .iter()
        .map(|record| record["metadata"]["reference_id"].as_str().unwrap());
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    // Sets of contests have the ids that they have as questions.
    assert_eq!(ids.len(), 4);
    assert_eq!(ids[2..], ["mill", "shelf"], "{ids:?}");
    let says = |record: &Value| {
        record["prompt"]
            .as_str()
            .unwrap()
            .contains(r#""answer": 12"#)
    };
    assert!(records.iter().any(says));
    let twice = "benchmark.reference=[references.json, references.json]";
    project
        .run_of(&["run", "eval.yaml", "--set", twice])
        .exits(2)
        .says("another file also has the id `mill`");
}

#[test]
fn mistakes_in_a_spec_are_named_with_place_and_remedy() {
    let fields = "fields: [{ name: q, type: text }, { name: n, type: integer, range: [0, 9] }]";
    let own = format!("type: generate, template: 'Q {{{{fields}}}}', {fields}");
    for (keys, says, hint) in [
        (
            "type: generate, ready: aime, count: 0",
            "`0` items cannot be requested",
            "count: 30",
        ),
        (
            "type: generate, ready: aime, count: 100001",
            "`100001` items cannot be requested",
            "100000",
        ),
        (
            "type: generate, ready: aim",
            "nothing that is ready is called `aim`",
            "`aime`",
        ),
        ("type: generate", "has no fields of an item", "ready: aime"),
        (
            &format!("type: generate, {fields}"),
            "has no template to request items",
            "template:",
        ),
        (
            "type: generate, ready: aime, template: '{{topc}}'",
            "line 1, column 1 of the template: unknown placeholder `{{topc}}`",
            "`{{topic}}`",
        ),
        (
            "type: generate, ready: aime, checks: { copy_of: problm }",
            "unknown field `problm`",
            "`problem`",
        ),
        (
            "type: generate, ready: aime, checks: { complet: note }",
            "unknown check `complet`",
            "`complete`",
        ),
        (
            "type: generate, ready: aime, reference: none.json",
            "none.json`",
            "",
        ),
        (
            "type: generate, ready: aime, reference: other.json",
            "has no column `problem`",
            "`text`",
        ),
        (
            "type: generate, ready: aime, solver: { agent: echo, on_disagreement: maybe }",
            "is not `refuse` or `note`",
            "on_disagreement: note",
        ),
        (
            &format!("{own}, solver: {{ agent: echo }}"),
            "unknown field `problem`",
            "shows: [question]",
        ),
        (
            &format!("{own}, solver: {{ agent: echo, shows: [q], answer: m }}"),
            "unknown field `m`",
            "did you mean",
        ),
        (
            &format!("{own}, topics: []"),
            "the number of topics must be from 1 to 1000, not 0",
            "topics:",
        ),
    ] {
        let project = Project::new();
        project.write("other.json", r#"[{"text": "a"}]"#);
        project.write(
            "eval.yaml",
            format!("benchmark: {{ {keys} }}\nagent: echo\n"),
        );
        let ran = project.run("run eval.yaml").exits(2).says(says).says(hint);
        assert!(ran.err.contains("eval.yaml:1:"), "{keys}: {}", ran.err);
    }
}
