//! Mistakes in `record`, where recordings lie, and what a sandbox lets through.

use needs::needs;

use super::{WORK, agent, answers, model, project, run, upstream};
use crate::project::{Project, Ran, all_files};

#[test]
fn mistakes_are_found_before_anything_is_asked() {
    let check = |agent: &str, record: &str, more: &str, arguments: &str, expect: &[&str]| {
        let project = Project::new();
        project.questions(&[("a", 1, "ask one", "x")]);
        project.spec(agent, &format!("{record}{more}"));
        let ran = project.run(arguments).exits(2);
        expect.iter().fold(ran, |ran, text| ran.says(text));
    };
    let command = "{ type: command, command: [cat] }";
    let url = "upstream: { openai: \"http://127.0.0.1:9/v1\" }";
    let record = format!("record: {{ {url} }}\n");
    check(
        "echo",
        &record,
        "",
        "run eval.yaml",
        &["eval.yaml:6:1: `record` needs an agent that is a program"],
    );
    check(
        command,
        "record: { upstream: { openal: \"http://h/v1\" } }\n",
        "",
        "run eval.yaml",
        &["unknown key", "`openai`", "`anthropic`", "`google`"],
    );
    check(
        command,
        "record: { upstream: { openai: h } }\n",
        "",
        "run eval.yaml",
        &["`h` is not the URL"],
    );
    check(
        command,
        "record: { mode: missing }\n",
        "",
        "run eval.yaml",
        &["`record.upstream` is missing"],
    );
    check(
        command,
        &format!("record: {{ {url}, ignore: [user] }}\n"),
        "",
        "run eval.yaml",
        &["not a JSON pointer"],
    );
    check(
        command,
        "",
        "",
        "run eval.yaml --record",
        &["`--record`", "`record`"],
    );
    check(
        command,
        "",
        "",
        "run eval.yaml --replay",
        &["`--replay`", "`record`"],
    );
    check(
        command,
        &record,
        "",
        "run eval.yaml --record --replay",
        &["--replay"],
    );
    let rewrite = format!("record: {{ {url}, rewrite: [{{ pattern: '(', with: x }}] }}\n");
    check(
        command,
        &rewrite,
        "",
        "run eval.yaml",
        &["is not a regular expression"],
    );
}

#[test]
fn a_broken_recording_is_named_with_its_line() {
    let server = model();
    let project = project(&["ask one"], "", &upstream(&server), "gates: []\n");
    run(&project, "run eval.yaml --record").exits(0);
    let file = all_files(&project.file("cassettes")).pop().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}<<<<<<< ours\n")).unwrap();
    run(&project, "run eval.yaml --replay")
        .exits(3)
        .says("q0.jsonl:4: not a recorded call");
    std::fs::write(
        &file,
        text.replace("\"format_version\":1", "\"format_version\":7"),
    )
    .unwrap();
    run(&project, "run eval.yaml --replay")
        .exits(3)
        .says("`format_version` is 7");
    run(&project, "run eval.yaml --record").exits(0);
    run(&project, "run eval.yaml --replay").exits(0);
}

#[test]
fn recordings_of_masked_answers_stay_out_of_the_repository() {
    let server = model();
    let project = project(&["ask one"], "", &upstream(&server), "gates: []\n");
    let spec = project
        .read("eval.yaml")
        .replace("answers: plain", "answers: masked");
    project.write("eval.yaml", &spec);
    run(&project, "run eval.yaml --record").exits(0);
    assert!(!project.file("cassettes").exists());
    let files = all_files(&project.file("evaltest-runs/cassettes/e"));
    assert_eq!(files.len(), 1);
    run(&project, "run eval.yaml --replay").exits(0);
    project.write(
        "eval.yaml",
        spec.replace("record: { ", "record: { path: tapes, "),
    );
    let ran = run(&project, "run eval.yaml").exits(2);
    ran.says("eval.yaml:6:17: `record.path`: answers are masked")
        .says("plain: true");
    project.write(
        "eval.yaml",
        spec.replace("record: { ", "record: { path: tapes, plain: true, "),
    );
    run(&project, "run eval.yaml").exits(0);
    assert!(project.file("tapes/e").is_dir());
}

#[test]
fn doctor_and_dry_runs_say_where_recordings_are() {
    let server = model();
    let project = project(
        &["ask one", "ask two"],
        "",
        &upstream(&server),
        "gates: []\n",
    );
    run(&project, "run eval.yaml --record --filter q1").exits(0);
    let asked = server.requested().len();
    let dry = run(&project, "run eval.yaml --replay --dry-run").exits(0);
    dry.says("model calls are replayed from `cassettes/e`, which has 1 of 2 samples");
    let mut doctor = project.command("doctor eval.yaml");
    let doctor = doctor.env("CI", "1").env("DAY", "today").output();
    Ran::of(&doctor.unwrap())
        .exits(0)
        .says("1 of 2 samples: it was not asked");
    assert_eq!(server.requested().len(), asked);
    // Otherwise its calls go to the provider, and are not kept.
    run(&project, "doctor eval.yaml")
        .exits(0)
        .says("are replayed from, and missing ones recorded in");
    assert!(server.requested().len() > asked);
    assert_eq!(all_files(&project.file("cassettes")).len(), 1);
}

#[needs(bwrap)]
#[test]
fn a_sandbox_lets_nothing_through_but_the_listener() {
    let server = model();
    let address = server.url("").replace("http://", "");
    let work = format!("{WORK}; connect {address}");
    for (network, more) in [
        ("off", "ConnectionRefused"),
        ("{ loopback: [45671] }", "ConnectionRefused"),
    ] {
        let keys = format!(", sandbox: {{ type: bwrap, network: {network} }}");
        let project = project(&[&*work; 4], &keys, &upstream(&server), "gates: []\n");
        std::fs::copy(agent(), project.file("agent")).unwrap();
        let spec = project.read("eval.yaml");
        let path = agent().display().to_string();
        project.write("eval.yaml", spec.replace(&path, "./agent"));
        run(&project, "run eval.yaml --record").exits(0);
        let recorded = answers(&project);
        assert!(recorded[0].as_str().unwrap().contains(more), "{recorded:?}");
        run(&project, "run eval.yaml --replay").exits(0);
        assert_eq!(answers(&project), recorded);
    }
}
