//! Journals with lines that are not as they were written: what they told is asked again, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::project::{Project, Ran, json_lines, unsealed};
use crate::requested::{self, requested};

const QUESTIONS: u32 = 6;

/// A run, with its journal as lines, and the line (from 0) with the answer to a sample.
fn run() -> (Project, PathBuf, Vec<String>, usize) {
    let project = requested::project(QUESTIONS, "", "");
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    let text = fs::read_to_string(dir.join("events.jsonl")).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
    let is_answer = |line: &String| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["kind"] == "answered" && event["sample_id"] == "q002"
    };
    let answer = lines.iter().position(is_answer).unwrap();
    (project, dir, lines, answer)
}

/// As `kill -9` leaves a run: there is nothing but the journal, and a manifest that says that it goes on.
fn kill(dir: &Path, journal: &str) {
    for name in [
        "samples.jsonl",
        "errors.jsonl",
        "summary.json",
        "summary.md",
    ] {
        let _ = fs::remove_file(dir.join(name));
    }
    crate::project::change_manifest(dir, |manifest| {
        manifest["status"] = json!("running");
        manifest["artifacts"] = json!({});
    });
    fs::write(dir.join("events.jsonl"), journal).unwrap();
}

fn answers(dir: &Path) -> Vec<Value> {
    let records = json_lines(&dir.join("samples.jsonl")).into_iter();
    records
        .map(|mut record| record["result"]["output"]["text"].take())
        .collect()
}

#[test]
fn a_damaged_answer_is_named_and_only_its_sample_is_asked_again() {
    let (project, dir, lines, answer) = run();
    let expect = answers(&dir);
    let sealed = &lines[answer];
    let damaged = [
        // Edited under the score that it has.
        sealed.replace("\"text\":\"002", "\"text\":\"003"),
        sealed.replace("\"text\":\"", "\"text\":\"\u{fffd}"),
        sealed.replace(":\"q002\"", ":\"q003\""),
        sealed.replace('{', ""),
        format!("{}\n", "\0".repeat(sealed.len() - 1)),
        "something else\n".to_owned(),
    ];
    for line in damaged {
        assert_ne!(line, *sealed);
        let mut lines = lines.clone();
        lines[answer] = line;
        kill(&dir, &lines.concat());
        let before = requested(&project);
        let ran = project.run_of(&["run", "--resume", &dir.display().to_string()]);
        let number = answer + 1;
        ran.exits(0).says(&format!(
            "events.jsonl: damaged lines are skipped: {number}; answers found only there are asked again"
        ));
        assert_eq!(requested(&project)[before.len()..], ["q002"]);
        assert_eq!(answers(&dir), expect);
        let manifest = project.last_json("manifest.json");
        assert_eq!(manifest["journal_lines_skipped"], json!([number]));
        assert_eq!(manifest["status"], "finished");
    }
}

#[test]
fn foreign_lines_and_those_that_are_there_twice_cost_nothing() {
    let (project, dir, lines, answer) = run();
    let expect = answers(&dir);
    let (_kept, other, ..) = run();
    let foreign = fs::read_to_string(other.join("events.jsonl")).unwrap();
    let first = foreign.split_inclusive('\n').next().unwrap();
    for line in [
        &lines[answer],
        first,
        "{\"sample_id\":\"nobody\"}\n",
        "[]\n",
    ] {
        let mut lines = lines.clone();
        lines.insert(answer + 1, line.to_owned());
        kill(&dir, &lines.concat());
        let before = requested(&project).len();
        let ran = project.run_of(&["run", "--resume", &dir.display().to_string()]);
        ran.exits(0).says(&format!("are skipped: {}; ", answer + 2));
        assert_eq!(requested(&project).len(), before, "{line}");
        assert_eq!(answers(&dir), expect);
    }
}

/// Resumes the run by this journal, which costs nothing, and gives what was said.
#[track_caller]
fn check_resumed(project: &Project, dir: &Path, journal: &str, requested_again: &[&str]) -> Ran {
    kill(dir, journal);
    let before = requested(project).len();
    let ran = project.run_of(&["run", "--resume", &dir.display().to_string()]);
    assert_eq!(
        requested(project)[before..],
        *requested_again,
        "{}",
        ran.err
    );
    ran.exits(0)
}

#[test]
fn nothing_of_another_run_of_the_same_eval_is_believed() {
    let (project, dir, lines, _) = run();
    let expect = answers(&dir);
    // Another agent, which is always wrong.
    requested::agent(&project, "echo wrong; exit 0");
    project.run("run eval.yaml");
    requested::agent(&project, "");
    let other = project.runs().into_iter().find(|run| *run != dir);
    let other = other.unwrap();
    let foreign = fs::read_to_string(other.join("events.jsonl")).unwrap();
    let foreign: Vec<_> = foreign.split_inclusive('\n').collect();
    let half = lines.len() / 2;
    // Behind half of its own, and a single line with a higher number among its own.
    let behind = lines[..half].concat() + &foreign.concat();
    let own = lines[..half].concat();
    let missing: Vec<_> = (0..QUESTIONS)
        .map(|number| format!("q{number:03}"))
        .filter(|id| {
            let is_answer =
                |line: &&str| line.contains("answered") && line.contains(&format!("\"{id}\""));
            !own.lines().any(|line| is_answer(&line))
        })
        .collect();
    kill(&dir, &behind);
    let before = requested(&project).len();
    let ran = project.run_of(&["run", "--resume", &dir.display().to_string()]);
    ran.exits(0).says("are skipped: ");
    let mut again = requested(&project)[before..].to_vec();
    again.sort();
    assert_eq!(again, missing);
    assert_eq!(answers(&dir), expect);

    let among = [
        &lines[..2].concat(),
        foreign[foreign.len() - 1],
        &lines[2..].concat(),
    ]
    .concat();
    check_resumed(&project, &dir, &among, &[]).says("are skipped: 3;");
    assert_eq!(answers(&dir), expect);
}

#[test]
fn lines_in_another_order_are_all_believed() {
    let (project, dir, mut lines, _) = run();
    let expect = answers(&dir);
    lines.reverse();
    check_resumed(&project, &dir, &lines.concat(), &[]).says_nothing_of("are skipped");
    lines.sort();
    check_resumed(&project, &dir, &lines.concat(), &[]).says_nothing_of("are skipped");
    assert_eq!(answers(&dir), expect);
}

#[test]
fn an_answer_that_was_edited_and_has_lost_its_checksum_is_no_old_one() {
    let (project, dir, lines, answer) = run();
    let expect = answers(&dir);
    let edited = lines[answer].replace("\"text\":\"002", "\"text\":\"003");
    let mut journal = lines.clone();
    journal[answer] = unsealed(&edited);
    check_resumed(&project, &dir, &journal.concat(), &["q002"])
        .says(&format!("are skipped: {};", answer + 1));
    assert_eq!(answers(&dir), expect);
}

#[test]
fn journals_of_older_versions_have_no_checksums_and_are_read() {
    let (project, dir, lines, _) = run();
    let expect = answers(&dir);
    let old = unsealed(&lines.concat());
    assert!(!old.contains("\"sum\""));
    kill(&dir, &old);
    let before = requested(&project).len();
    let ran = project.run_of(&["run", "--resume", &dir.display().to_string()]);
    ran.exits(0).says_nothing_of("are skipped");
    assert_eq!(requested(&project).len(), before);
    assert_eq!(answers(&dir), expect);
}
