//! `score`: options of scorers, where things stand, inputs of every format.
//!
//! The contract for lines is tested beside the command, in `cargo-evaltest/tests/score.rs`.

use serde_json::{Value, json};

use crate::project::{Project, Ran, root, sign};

pub(crate) const PAIRS: &str = concat!(
    "{\"id\":\"a\",\"prediction\":\"...\",\"ground_truth\":\"Paris\"}\n",
    "{\"id\":\"b\",\"prediction\":\"The Paris.\",\"ground_truth\":\"Paris\"}\n",
);

pub(crate) fn score(project: &Project, arguments: &[&str]) -> Ran {
    let arguments = [&["score"][..], arguments].concat();
    Ran::of(&project.command_of(&arguments).output().unwrap())
}

/// A project with one file.
fn with(name: &str, content: impl AsRef<[u8]>) -> Project {
    let project = Project::new();
    project.write(name, content);
    project
}

/// What is at a JSON pointer of every line of the results.
#[track_caller]
fn check(project: &Project, arguments: &[&str], pointer: &str, expect: &Value) {
    let ran = score(project, arguments).exits(0);
    let lines = ran.out.lines();
    let found = lines.map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line.pointer(pointer).cloned().unwrap_or_default()
    });
    assert_eq!(found.collect::<Value>(), *expect, "{}", ran.out);
}

/// A mistake is found before anything is scored.
#[track_caller]
fn check_error(project: &Project, arguments: &[&str], expect: &str) {
    let ran = score(project, arguments).exits(2);
    assert_eq!(ran.out, "");
    assert!(
        ran.err.starts_with(&format!("error: {expect}")),
        "{}",
        ran.err
    );
}

#[test]
fn options_reach_the_scorers_that_have_them() {
    let project = with("p.jsonl", PAIRS);
    let correct = |arguments: &[&str], pointer: &str, expect: Value| {
        check(
            &project,
            &[arguments, &["p.jsonl"]].concat(),
            pointer,
            &expect,
        );
    };
    let option = "--scorer-option";
    correct(
        &["--scorer", "substring"],
        "/score/correct",
        json!([false, true]),
    );
    correct(
        &["--scorer", "substring", option, "compat=true"],
        "/score/correct",
        json!([true, true]),
    );
    correct(
        &["--scorer", "{ type: substring, compat: true }"],
        "/score/correct",
        json!([true, true]),
    );
    // The option of the command line is the later word.
    correct(
        &[
            "--scorer",
            "{ type: substring, compat: true }",
            option,
            "compat=false",
        ],
        "/score/correct",
        json!([false, true]),
    );
    let three = [
        "--scorer",
        "gaia",
        "--scorer",
        "substring",
        "--scorer",
        "{ type: substring, name: loose }",
    ];
    for (given, strict, loose) in [
        ("compat=true", true, true),
        ("loose.compat=true", false, true),
    ] {
        let arguments = [&three[..], &[option, given]].concat();
        correct(
            &arguments,
            "/scores/substring/correct",
            json!([strict, true]),
        );
        correct(&arguments, "/scores/loose/correct", json!([loose, true]));
        correct(&arguments, "/scores/gaia/correct", json!([false, false]));
    }
}

#[test]
fn options_that_nobody_has_are_answered_with_those_that_are_legal() {
    let project = with("p.jsonl", PAIRS);
    let check = |arguments: &[&str], expect: &str| {
        check_error(&project, &[arguments, &["p.jsonl"]].concat(), expect);
    };
    let option = "--scorer-option";
    check(
        &[
            "--scorer",
            "substring",
            "--scorer",
            "gaia",
            option,
            "compatible=true",
        ],
        "unknown scorer option `compatible`: `substring` has `compat`, `gaia` has no options\n",
    );
    check(
        &["--scorer", "substring", option, "substring.compact=true"],
        "scorer `substring`: unknown option `compact`, expected one of `compat`\n\nhint: did you mean `compat`?\n",
    );
    check(
        &[
            "--scorer",
            "substring",
            option,
            "quasi_exact.documented=true",
        ],
        "`--scorer-option quasi_exact.documented=true`: no scorer `quasi_exact` is given, only `substring`\n",
    );
    check(
        &["--scorer", "substring", option, "compat=17"],
        "scorer `substring`, option `compat`: `17` is not true or false\n",
    );
    check(
        &["--scorer", "substring", option, "compat"],
        "`compat` is not of the form `key=value`",
    );
    check(
        &["--scorer", "substring", option, "compat=[1"],
        "`[1` is not YAML: ",
    );
    check(
        &["--scorer", "[substring]"],
        "`--scorer [substring]` names no scorer\n\nhint: ",
    );
    check(
        &["--scorer", "{ compat: true }"],
        "`--scorer { compat: true }` names no scorer: missing key `type`\n\nhint: add one",
    );
    check(
        &[
            "--scorer",
            "gaia",
            "--scorer",
            "{ type: substring, name: gaia }",
        ],
        "scorer `gaia` is given twice\n\nhint: give one of them another name: ",
    );
}

const NESTED: &str = concat!(
    "{\"ground_truth\":\"x\",\"task\":{\"truth\":[\"NYC\",\"New York\"]},\"a.b\":1,",
    "\"choices\":[{\"text\":\"new york\"}],\"traj\":[{\"role\":\"tool\"},{\"role\":\"tool\",\"n\":NaN}]}",
);

#[test]
fn fields_are_where_the_map_says() {
    let project = with("n.jsonl", NESTED);
    let map = "prediction=/choices/0/text,ground_truth=task.truth";
    let ran = score(&project, &["--scorer", "qa_f1", "--map", map, "n.jsonl"]).exits(0);
    let before = &NESTED[..NESTED.len() - 1];
    assert!(
        ran.out
            .starts_with(&format!("{before},\"score\":{{\"value\":1.0,")),
        "{}",
        ran.out
    );
    let trajectory = ["--map", "trajectory=traj", "n.jsonl"];
    let format = [&["--scorer", "qa_f1_format", "--map", map][..], &trajectory].concat();
    let ran = score(&project, &format).exits(0);
    // Python's `NaN` in it makes it no JSON to this test.
    assert!(ran.out.ends_with("\"tool_calls\":2}}}"), "{}", ran.out);
}

#[test]
fn maps_that_lead_nowhere_are_mistakes() {
    let project = with("n.jsonl", NESTED);
    project.write("c.csv", "answer,ground_truth\na,A\n");
    let check = |map: &str, expect: &str| {
        check_error(
            &project,
            &["--scorer", "gaia", "--map", map, "n.jsonl"],
            expect,
        );
    };
    check(
        "truth=a",
        "`--map truth=a`: unknown role `truth`, expected one of `prediction`, ",
    );
    check(
        "prediction",
        "`--map prediction` names no field\n\nhint: write `--map prediction=FIELD`",
    );
    check(
        "prediction=a,prediction=b",
        "`--map` names `prediction` twice\n",
    );
    // Its place is known, the other's is not.
    check(
        "ground_truth=task.answer",
        "n.jsonl:1: `task.answer` is missing\n",
    );
    check_error(
        &project,
        &["--scorer", "gaia", "--map", "prediction=anser", "c.csv"],
        "`c.csv`: `--map` names the column `anser`, which does not exist; found `answer`, `ground_truth`\n",
    );

    // That no line has a field is known only in the end.
    let ran = score(
        &project,
        &["--scorer", "gaia", "--map", "prediction=answer", "n.jsonl"],
    );
    ran.exits(2)
        .says("`--map` names `answer` for `prediction`, but no line has it");
    let ran = score(&project, &["--scorer", "gaia", "n.jsonl"]).exits(0);
    assert_eq!(
        ran.err,
        "note: no line has a `prediction`: every answer was judged as null\n"
    );
    let ran = score(&project, &["--scorer", "qa_f1_format", "n.jsonl"]).exits(0);
    ran.says("no line has a `trajectory`: every answer was judged without messages");
    // It is enough that some line has it.
    project.write(
        "s.jsonl",
        "{\"ground_truth\":\"a\"}\n{\"answer\":\"a\",\"ground_truth\":\"a\"}\n",
    );
    let arguments = ["--scorer", "gaia", "--map", "prediction=answer", "s.jsonl"];
    let ran = score(&project, &arguments).exits(0);
    assert_eq!(ran.err, "");
}

#[test]
fn what_a_scorer_does_not_look_at_may_be_anything() {
    let line = "{\"prediction\":\"a\",\"ground_truth\":\"a\",\"trajectory\":7,\"metadata\":8,\"tool_calls\":9}";
    let project = with("t.jsonl", line);
    for scorer in ["gaia", "substring", "qa_f1", "quasi_exact"] {
        check(
            &project,
            &["--scorer", scorer, "t.jsonl"],
            "/score/correct",
            &json!([true]),
        );
    }
    let wrong = "t.jsonl:1: `trajectory` must be an array of messages\n";
    check_error(&project, &["--scorer", "qa_f1_format", "t.jsonl"], wrong);
    let line = "{\"prediction\":\"a\",\"ground_truth\":\"a\",\"trajectory\":[{\"role\":\"tool\"},{\"content\":\"\"}]}";
    project.write("t.jsonl", line);
    let wrong = "t.jsonl:1: message 2 of the conversation has no `role`\n";
    check_error(&project, &["--scorer", "qa_f1_format", "t.jsonl"], wrong);
}

#[test]
fn rows_come_out_as_lines() {
    let project = with(
        "c.csv",
        "id,prediction,ground_truth,trajectory\n1,\"a, b\",a,\n2,,x,\n\n3,\"a\nb\",ab,\"[{\"\"role\"\":\"\"tool\"\"},{\"\"role\"\":\"\"tool\"\"}]\"\n",
    );
    let ran = score(&project, &["--scorer", "substring", "c.csv"]).exits(0);
    let first = r#"{"id":"1","prediction":"a, b","ground_truth":"a","trajectory":null,"score":{"value":1.0,"#;
    assert!(ran.out.starts_with(first), "{}", ran.out);
    check(
        &project,
        &["--scorer", "gaia", "c.csv"],
        "/score/normalized_prediction",
        &json!(["ab", "none", "ab"]),
    );
    check(
        &project,
        &["--scorer", "qa_f1_format", "c.csv"],
        "/score/details/tool_calls",
        &json!([0, 0, 2]),
    );
    // The format may be named.
    project.write("c.txt", "prediction,ground_truth\na,A\n");
    let named = ["--scorer", "gaia", "--format", "csv", "c.txt"];
    check(&project, &named, "/score/correct", &json!([true]));

    let parquet = root().join("fixtures/gaia/2023/validation/metadata.parquet");
    let parquet = parquet.display().to_string();
    let map = "prediction=Final answer,ground_truth=Final answer";
    let arguments = ["--scorer", "gaia", "--map", map, &parquet];
    let ran = score(&project, &arguments).exits(0);
    assert!(ran.out.lines().count() > 3);
    for line in ran.out.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["score"]["correct"], true);
        assert!(line["task_id"].is_string());
    }
}

#[test]
fn a_broken_row_is_found() {
    let project = with("c.csv", "prediction,ground_truth\na,A\n\n\"x\ny\",\nb,B\n");
    let ran = score(&project, &["--scorer", "gaia", "c.csv"]).exits(2);
    ran.says("c.csv:4: `ground_truth` must be a string for scorer `gaia`");
    let ran = score(&project, &["--scorer", "gaia", "--keep-going", "c.csv"]).exits(3);
    assert!(
        ran.out
            .contains("\n{\"line\":4,\"error\":\"`ground_truth` must be"),
        "{}",
        ran.out
    );
    assert_eq!(ran.out.lines().count(), 3);

    let check = |name: &str, content: &[u8], expect: &str| {
        project.write(name, content);
        check_error(&project, &["--scorer", "gaia", name], expect);
    };
    check(
        "c.csv",
        b"prediction,ground_truth\na\n",
        "c.csv:2: the row has 1 cells, the header has 2\n",
    );
    check(
        "c.csv",
        b"prediction,ground_truth\na,\"b\nc\n",
        "c.csv:2: a quote in this row is never closed\n",
    );
    check("c.csv", b"", "`c.csv`: the header is missing\n");
    check("c.csv", b"prediction\n\xff\n", "c.csv:2:1: invalid UTF-8\n");
    check(
        "p.parquet",
        b"PAR1 and nothing else",
        "`p.parquet`: damaged or unreadable parquet: ",
    );
    check_error(
        &project,
        &["--scorer", "gaia", "q.parquet"],
        "cannot read `q.parquet`: ",
    );
    check_error(
        &project,
        &["--scorer", "gaia", "--format", "parquet", "-"],
        "parquet cannot be read from standard input\n\nhint: name the file\n",
    );
    let parquet = root().join("fixtures/gaia/2023/validation/metadata.parquet");
    let parquet = parquet.display().to_string();
    let arguments = [
        "--scorer",
        "qa_f1",
        "--map",
        "ground_truth=file_name,prediction=Annotator Metadata",
        &parquet,
    ];
    let row =
        format!("{parquet}: row 1: `Annotator Metadata` must be a string or null, not an object");
    check_error(&project, &arguments, &row);
}

/// The agent fails at one question, tells a secret at another, and answers the others with their text.
pub(crate) fn with_run() -> (Project, String) {
    let questions = [
        ("right", 1, "FINAL ANSWER: 17", "17"),
        ("wordy", 1, "I say FINAL ANSWER: 17 apples", "17"),
        ("fails", 2, "!", "17"),
        (
            "secret",
            2,
            "FINAL ANSWER: sk-abcdefghijklmnopqrstuvwx1234",
            "17",
        ),
    ];
    let project = Project::with_eval(&questions, "{ type: command, command: [./agent.sh] }", "");
    project.script(
        "agent.sh",
        "#!/bin/sh\nread -r question\ncase \"$question\" in '!'*) exit 4;; esac\necho \"$question\"\n",
    );
    project.run("run eval.yaml");
    let dir = project.last_run().display().to_string();
    (project, dir)
}

#[test]
fn the_answers_of_a_run_are_scored_again() {
    let (project, dir) = with_run();
    let ran = score(&project, &["--scorer", "substring", &dir]).exits(0);
    let first =
        r#"{"sample_id":"right","prediction":"17","ground_truth":"17","score":{"value":1.0,"#;
    assert!(ran.out.starts_with(first), "{}", ran.out);
    assert_eq!(
        ran.err,
        "note: 1 sample has no answer and is skipped\n\
         note: 1 answer lost a secret to redaction and is skipped: `rescore` keeps its verdict\n"
    );
    let predictions = |arguments: &[&str], expect: Value| {
        check(
            &project,
            &[arguments, &[&dir]].concat(),
            "/prediction",
            &expect,
        );
    };
    predictions(&["--scorer", "gaia"], json!(["17", "17 apples"]));
    predictions(
        &["--scorer", "gaia", "--extract", "none"],
        json!(["FINAL ANSWER: 17", "I say FINAL ANSWER: 17 apples"]),
    );
    predictions(
        &["--scorer", "gaia", "--extract", "number"],
        json!(["17", "17"]),
    );
    // Several scorers, one with an extraction of its own; the first one's prediction is told.
    let two = ["--scorer", "substring", "--scorer", "quasi_exact"];
    predictions(&two, json!(["17", "17 apples"]));
    check(
        &project,
        &[&two[..], &[&dir]].concat(),
        "/scores/quasi_exact/details/extracted",
        &json!(["17", "17 apples"]),
    );
}

#[test]
fn a_folder_that_is_no_run_is_refused() {
    let (project, dir) = with_run();
    let no_run = "is not a run directory: it has no `manifest.json`\n";
    check_error(
        &project,
        &["--scorer", "gaia", "."],
        &format!("`.` {no_run}"),
    );
    let forced = ["--scorer", "gaia", "--format", "run", "eval.yaml"];
    check_error(&project, &forced, &format!("`eval.yaml` {no_run}"));
    let mapped = ["--scorer", "gaia", "--map", "prediction=x", &dir];
    check_error(&project, &mapped, "`--map` applies only to files: ");
    let records = format!("{dir}/samples.jsonl");
    let text = std::fs::read_to_string(&records).unwrap();
    std::fs::write(&records, format!("{text}{{\"x\":1}}\n")).unwrap();
    let ran = score(&project, &["--scorer", "gaia", &dir]).exits(2);
    ran.says("samples.jsonl changed after the run");
    sign(&project.last_run());
    let ran = score(&project, &["--scorer", "gaia", &dir]).exits(2);
    ran.says(&format!("{}:5: not a record: ", project.display(&records)));
    std::fs::remove_file(&records).unwrap();
    let folder = project.display(&dir);
    let missing = format!("{folder}: samples.jsonl changed after the run: it is missing");
    check_error(&project, &["--scorer", "gaia", &dir], &missing);
}
