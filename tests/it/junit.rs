//! `run --junit` and `report --format junit`: the file, its verdicts, and what hostile texts do to it.

mod xml;

use std::fs;

use needs::needs;
use serde_json::json;
use xml::{Element, junit};

use crate::project::Project;
use crate::requested;
use crate::signals::send;
use crate::wait::until;

fn written(project: &Project) -> Element {
    junit(&project.read("out/junit.xml"))
}

/// The case of this name.
fn case<'a>(top: &'a Element, group: &str, name: &str) -> &'a Element {
    let suites = top.all("testsuite");
    let mut cases = suites.iter().flat_map(|suite| suite.all("testcase"));
    let found = cases.find(|it| it.get("classname") == group && it.get("name") == name);
    found.unwrap_or_else(|| panic!("no case {group} {name}"))
}

/// What it complains of: the element, its type and its message.
fn complaint(case: &Element) -> (&str, &str, &str) {
    match &case.children[..] {
        [one] => (&one.name, one.get("type"), one.get("message")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn samples_and_gates_are_cases_with_the_names_of_their_tests() {
    // Even ones are right; q001 is wrong, q003 fails.
    let project = requested::project(5, "[ \"$EVALTEST_SAMPLE_ID\" = q003 ] && exit 9", "");
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "limits: { retries: 0 }\ngates: [accuracy >= 0.9, 'accuracy[level=7] >= 0.1']\n",
    );
    project
        .run("run eval.yaml --junit out/junit.xml --junit-strict")
        .exits(2);
    // It could not start: there is no such level.
    let top = written(&project);
    assert_eq!(top.number("errors"), 1);
    assert_eq!(complaint(case(&top, "e", "run")).1, "not_run");
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "limits: { retries: 0 }\ngates: [accuracy >= 0.9, error_rate <= 0.5]\n",
    );
    project
        .run("run eval.yaml --junit out/junit.xml --junit-strict")
        .exits(1);
    let top = written(&project);
    let suites = top.all("testsuite");
    assert_eq!(suites[0].get("name"), "e");
    assert!(suites[0].get("timestamp").starts_with("20"));
    assert!(case(&top, "e::level1", "q000").children.is_empty());
    let (element, kind, message) = complaint(case(&top, "e::level2", "q001"));
    assert_eq!((element, kind), ("failure", "mismatch"));
    assert_eq!(message, "mismatch: got `001`, expected `something else`");
    let text = &case(&top, "e::level2", "q001").children[0].text;
    assert_eq!(
        text,
        "question: What is 1?\nexpected: something else\ngot: 001"
    );
    let (element, kind, message) = complaint(case(&top, "e::level1", "q003"));
    assert_eq!((element, kind), ("error", "agent_failed"));
    assert!(message.contains('9'), "{message}");
    let (element, kind, message) = complaint(case(&top, "e::gate", "accuracy"));
    assert_eq!((element, kind), ("failure", "failed"));
    assert!(message.starts_with("accuracy >= 0.9: "), "{message}");
    assert_eq!(
        case(&top, "e::gate", "error_rate").children[0].name,
        "system-out"
    );
    // The names are those that `--filter` takes.
    project
        .run("run eval.yaml --filter e::level2::q001 --junit out/junit.xml")
        .exits(0);
    let top = written(&project);
    let gate = complaint(case(&top, "e::gate", "accuracy"));
    assert_eq!((gate.0, gate.1), ("skipped", "ignored"));
    // The report of a run is the same file.
    project.run("report -o other/a.xml").exits(0);
    assert_eq!(project.read("other/a.xml"), project.read("out/junit.xml"));
}

#[test]
fn epochs_are_in_one_case_and_what_flickers_is_flaky() {
    let project = requested::project(
        4,
        "n=$(grep -c \"^$EVALTEST_SAMPLE_ID\\$\" \"${0%/*}/asked.log\")\n\
         [ $EVALTEST_SAMPLE_ID = q000 ] && [ $n = 2 ] && { echo no; exit; }\n\
         [ $EVALTEST_SAMPLE_ID = q002 ] && [ $n != 2 ] && exit 3",
        "",
    );
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "epochs: 3\nlimits: { retries: 0, concurrency: 1 }\ngates: [error_rate <= 1]\n",
    );
    project
        .run("run eval.yaml --junit out/junit.xml --junit-strict")
        .exits(0);
    let top = written(&project);
    assert_eq!(top.all("testsuite")[0].number("tests"), 4);
    let (element, kind, message) = complaint(case(&top, "e::level1", "q000"));
    assert_eq!((element, kind), ("flakyFailure", "mismatch"));
    assert!(message.starts_with("epoch "), "{message}");
    let (element, _, message) = complaint(case(&top, "e::level2", "q001"));
    assert_eq!(element, "failure");
    assert!(message.starts_with("wrong in 3 of 3 epochs: "), "{message}");
    let (element, _, message) = complaint(case(&top, "e::level3", "q002"));
    assert_eq!(element, "error");
    assert!(
        message.starts_with("no verdict in 2 of 3 epochs: "),
        "{message}"
    );
}

/// What the epochs of a masked eval said is not told, and their majority is that of what they said.
#[test]
fn the_verdict_of_masked_epochs_is_that_of_their_answers() {
    let project = requested::project(
        2,
        "n=$(grep -c \"^$EVALTEST_SAMPLE_ID\\$\" \"${0%/*}/asked.log\")\n\
         [ $n != 1 ] && { echo 7716305$n; exit; }",
        "",
    );
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "epochs: 3\nlimits: { concurrency: 1 }\ngates: [accuracy >= 0]\n",
    );
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace("answers: plain", "answers: masked"),
    );
    project.run("run eval.yaml --junit out/junit.xml").exits(0);
    let top = written(&project);
    // Three answers have a vote each, and the first counts.
    let flaky = case(&top, "e::level1", "q000").all("flakyFailure").len();
    assert_eq!(flaky, 2);
    assert!(!project.read("out/junit.xml").contains("7716305"));
}

#[test]
fn a_run_without_samples_is_a_suite_without_cases() {
    let project = requested::project(2, "", "");
    project.write("data.jsonl", "");
    let ran = project.run("run eval.yaml --junit out/junit.xml");
    let top = written(&project);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(top.number("errors"), 1);
}

#[test]
fn an_outage_and_a_killed_run_are_errors() {
    let project = requested::project(12, "echo down >&2; exit 7", "");
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "limits: { retries: 0, concurrency: 1 }\n",
    );
    project.run("run eval.yaml --junit out/junit.xml").exits(3);
    let top = written(&project);
    let (element, kind, message) = complaint(case(&top, "e::gate", "every sample is asked"));
    assert_eq!((element, kind), ("error", "stopped"));
    assert!(message.contains("down"), "{message}");
    assert_eq!(top.all("testsuite")[0].number("errors"), 10);
    assert_eq!(top.all("testsuite")[0].number("skipped"), 2);

    fs::remove_file(project.file("asked.log")).unwrap();
    requested::agent(&project, "[ \"$EVALTEST_SAMPLE_ID\" = q004 ] && sleep 60");
    let mut child = project
        .command("run eval.yaml")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("the fifth is asked", || {
        requested::requested(&project).len() == 5
    });
    child.kill().unwrap();
    child.wait().unwrap();
    project.run("report -o out/junit.xml").exits(0);
    let top = written(&project);
    let (element, kind, _) = complaint(case(&top, "e::gate", "every sample is asked"));
    assert_eq!((element, kind), ("error", "stopped"));
    assert!(case(&top, "e::level1", "q000").children.is_empty());
    assert_eq!(complaint(case(&top, "e::level3", "q005")).0, "skipped");
}

#[test]
fn hostile_texts_are_texts() {
    let project = Project::new();
    let long = "x]]><b>&".repeat(1 << 14);
    let ids = [
        "]]><testcase name=\"x\"/>",
        "::error::y",
        "a b",
        "a\nb",
        "\u{1b}[31m\u{0}\u{fffe}\u{ffff}",
        "|<img src=x onerror=alert(1)>",
        "\u{1f600}",
    ];
    let row = |id: &&str| json!({"id": id, "question": id, "answer": "]]>"}).to_string();
    let mut rows: Vec<_> = ids.iter().map(row).collect();
    rows.push(json!({"id": "long".repeat(1000), "question": long, "answer": long}).to_string());
    project.write("data.jsonl", rows.join("\n"));
    project.write(
        "eval.yaml",
        "name: e\nbenchmark: { type: qa, path: data.jsonl }\nprompt: none\nagent: echo\nscorer: exact\n",
    );
    project.run("run eval.yaml --junit out/junit.xml").exits(0);
    let text = project.read("out/junit.xml");
    assert!(text.len() < 100_000, "{} bytes", text.len());
    let top = junit(&text);
    assert_eq!(top.all("testsuite")[0].number("tests"), ids.len() + 1);
    assert!(text.contains("\\u{1b}[31m\\u{0}"), "{text}");
    assert!(text.contains("\\u{fffe}\\u{ffff}"), "{text}");
}

/// Another reader takes it, and finds the same.
#[needs(python3)]
#[test]
fn others_read_it() {
    let project = requested::project(4, "", "gates: [accuracy >= 0.9]\n");
    project.run("run eval.yaml --junit out/junit.xml").exits(1);
    let script = "import sys, xml.etree.ElementTree as t\n\
                  top = t.parse(sys.argv[1]).getroot()\n\
                  print(top.tag, len(top), len(top.findall('.//testcase')), len(top.findall('.//failure')))";
    let mut python = std::process::Command::new("python3");
    python
        .args(["-c", script])
        .arg(project.file("out/junit.xml"));
    let out = python.output().unwrap();
    let stdout = String::from_utf8_lossy(&out.stdout);
    assert_eq!(stdout.trim(), "testsuites 2 6 1", "{out:?}");
}

#[test]
fn several_evals_are_one_file_also_where_one_left_no_run() {
    let project = requested::project(2, "", "");
    project.write(
        "evals/a.yaml",
        "name: a\nbenchmark: { type: qa, path: ../a.jsonl }\nagent: echo\n",
    );
    project.write(
        "evals/b.yaml",
        "name: b\nbenchmark: { type: qa, path: ../b.jsonl }\nagent: echo\n",
    );
    project.write(
        "a.jsonl",
        "{\"id\": 1, \"question\": \"x\", \"answer\": \"x\"}\n",
    );
    project
        .run("run --junit out/junit.xml")
        .exits(2)
        .says("b.jsonl");
    let top = written(&project);
    let names = |top: &Element| -> Vec<String> {
        let suites = top.all("testsuite");
        suites
            .iter()
            .map(|suite| suite.get("name").to_owned())
            .collect()
    };
    // A spec that cannot be read is no eval yet.
    assert_eq!(names(&top), ["evaltest"]);
    let (element, _, message) = complaint(case(&top, "evaltest", "run"));
    assert_eq!(element, "error");
    assert!(
        message.starts_with("evals/b.yaml:2:30: cannot open `b.jsonl`"),
        "{message}"
    );
    project.write(
        "b.jsonl",
        "{\"id\": 1, \"question\": \"x\", \"answer\": \"y\"}\n",
    );
    project.run("run --junit out/junit.xml").exits(0);
    assert_eq!(names(&written(&project)), ["a", "a::gate", "b", "b::gate"]);
    // A mistake on the command line is no eval's own.
    project.run("run nowhere --junit out/junit.xml").exits(2);
    assert_eq!(names(&written(&project)), ["evaltest"]);
    project.run("run --junit out/").exits(2).says("is a folder");
    project.run("run --dry-run --junit dry.xml").exits(0);
    assert!(!project.file("dry.xml").exists());
}

#[test]
fn a_run_that_was_interrupted_is_an_error() {
    let project = requested::project(9, "[ \"$EVALTEST_SAMPLE_ID\" = q001 ] && sleep 60", "");
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "limits: { concurrency: 1 }\n",
    );
    let mut child = project
        .command("run eval.yaml --junit out/junit.xml")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("the second is asked", || {
        requested::requested(&project).len() == 2
    });
    send("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let top = written(&project);
    let (element, kind, _) = complaint(case(&top, "e::gate", "every sample is asked"));
    assert_eq!((element, kind), ("error", "stopped"));
    let never = complaint(case(&top, "e::level3", "q008"));
    assert_eq!(never, ("skipped", "skipped", "never asked"));
}

/// GAIA's and the leaderboard's have names that others look for.
#[test]
fn a_report_of_each_run_is_named_by_its_benchmark() {
    let project = requested::project(1, "", "");
    let spec = project.read("eval.yaml");
    project.write(
        "evals/own.yaml",
        spec.replace("type: gaia, path: ", "type: qa, path: ../")
            .replace("name: e", "name: own")
            .replace("[./agent.sh]", "[../agent.sh]"),
    );
    project
        .run("run eval.yaml evals/own.yaml --report")
        .exits(0)
        .says("report: evaluation_reports/gaia_report_");
    let folder = fs::read_dir(project.file("evaluation_reports")).unwrap();
    let mut names: Vec<_> = folder
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names[0].starts_with("gaia_report_2"), "{names:?}");
    assert!(
        names[1].starts_with("own_report_2") && names.len() == 2,
        "{names:?}"
    );
    let ran = project.run("run eval.yaml --report --json").exits(0).json();
    let file = ran["runs"][0]["report"].as_str().unwrap();
    assert!(project.read(file).starts_with("# "), "{file}");
}

#[test]
fn a_masked_eval_tells_no_texts() {
    let project = requested::project(4, "", "");
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "gates: [accuracy >= 0.9]\n",
    );
    let spec = project
        .read("eval.yaml")
        .replace("answers: plain", "answers: masked");
    project.write("eval.yaml", spec);
    project
        .run("run eval.yaml --junit out/junit.xml --junit-strict --report")
        .exits(1);
    let text = project.read("out/junit.xml");
    assert!(
        !text.contains("something else") && !text.contains("What is"),
        "{text}"
    );
    let top = written(&project);
    assert_eq!(complaint(case(&top, "e::level2", "q001")).2, "mismatch");
    let output = project
        .run("report --format junit --show-texts")
        .exits(0)
        .out;
    assert!(output.contains("something else"), "{output}");
}

#[test]
fn it_is_red_where_the_tests_are() {
    // Even ones are right. Known wrong answers fail no test.
    let project = requested::project(16, ":", "");
    let spec = |gates: &str| {
        let agent = "{ type: command, command: [./agent.sh] }";
        project.spec(agent, &format!("gates: [{gates}]\n"));
    };
    let failures = |arguments: &str, code: i32| {
        let arguments = format!("run eval.yaml --junit out/junit.xml {arguments}");
        project.run(&arguments).exits(code);
        written(&project).number("failures")
    };
    spec("accuracy >= 0.4");
    assert_eq!(failures("", 0), 0);
    let top = written(&project);
    let wrong = case(&top, "e::level2", "q001");
    let text = &wrong.all("system-out")[0].text;
    assert!(
        text.starts_with("wrong; no gate fails because of this sample: "),
        "{text}"
    );
    assert_eq!(failures("--junit-strict", 0), 8);
    // Nothing but the verdicts decides.
    spec("");
    assert_eq!(failures("", 0), 8);
    // Those that became wrong fail with their gate, and the others do not.
    spec("no_regression");
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    requested::agent(&project, "echo no; exit");
    assert_eq!(failures("", 1), 8 + 1);
    assert_eq!(
        complaint(case(&written(&project), "e::level1", "q000")).0,
        "failure"
    );
}
