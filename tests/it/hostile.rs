//! Texts of datasets, agents and command lines that are made to be taken for something else: commands of CI, other
//! texts, ends of lines.

use std::ffi::OsStr;
use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::project::{Project, Ran, all_files};
use crate::trials;

/// What begins a command of GitHub, Azure or `TeamCity`, and what is not seen or ends a line elsewhere.
const TEXTS: &[&str] = &[
    "::error::x",
    " ::add-mask::x",
    "##[error]x",
    "a ##vso[task.setvariable variable=x]y",
    "##teamcity[x]",
    "a\n::error::x",
    "bidi\u{202e}x\u{2066}y\u{200f}z\u{61c}",
    "zero\u{200b}w\u{200c}i\u{200d}d\u{2060}t\u{feff}h\u{ad}s\u{e0041}",
    "ends\u{85}of\u{2028}lines\u{2029}x",
];

/// A file with a row for each text, which is its id, its question and its answer.
fn rows() -> String {
    let row = |(place, text): (usize, &&str)| {
        serde_json::json!({
            "task_id": text, "Question": text, "Level": place % 3 + 1, "Final answer": "1", "file_name": "",
        })
        .to_string()
            + "\n"
    };
    TEXTS.iter().enumerate().map(row).collect()
}

/// Asserts that a text says what it seems to say, whoever reads it.
#[track_caller]
fn check(what: &str, text: &str) {
    for line in text.lines() {
        assert!(
            !line.trim_start().starts_with("::"),
            "{what}: a command: {line}"
        );
        for mark in ["##[", "##vso[", "##teamcity["] {
            assert!(!line.contains(mark), "{what}: a command: {line}");
        }
    }
    let unseen = "\u{202e}\u{2066}\u{200f}\u{61c}\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{ad}\u{e0041}\u{85}\u{2028}\u{2029}\u{1b}";
    let found = text.chars().find(|c| unseen.contains(*c));
    assert_eq!(found, None, "{what}: {text:?}");
}

#[track_caller]
fn check_ran(what: &str, ran: &Ran) {
    check(&format!("{what}, standard output"), &ran.out);
    check(&format!("{what}, standard error"), &ran.err);
}

/// An agent that says its question, writes it to stderr, and fails at some.
const AGENT: &str = "#!/bin/sh\nread -r q\necho \"$q\" >&2\ncase $q in *wid*|*vso*) exit 3;; esac\ncat <<END\n$q\n$q\nEND\n";

#[test]
fn nothing_that_is_printed_is_taken_for_something_else() {
    let project = Project::new();
    project.write("data.jsonl", rows());
    project.script("agent.sh", AGENT);
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "scorers: [exact, numeric]\ngates: [accuracy >= 0.5]\nlimits: { retries: 1, backoff_s: 0.01 }\n",
    );
    let spec = project.read("eval.yaml");
    let spec = spec.replace("{ answers: plain }", "{ answers: plain, assert: exact }");
    project.write("eval.yaml", spec);
    for arguments in [
        "run eval.yaml",
        "run eval.yaml --json",
        "run eval.yaml --stream",
        "list eval.yaml",
        "list eval.yaml --stats",
        "list eval.yaml --stats --rows 20",
        "list eval.yaml --json",
        "show",
        "show --json",
        "summarize",
        "gate",
        "rescore",
        "accept",
        "plan",
        "doctor eval.yaml",
        "export --format gaia",
        "run eval.yaml --agent echo",
        "compare",
        "compare --json",
    ] {
        let ran = project.run(arguments).says_nothing_of("panicked");
        assert!(ran.out.len() + ran.err.len() > 0, "{arguments}");
        assert!(
            !ran.err.contains("unexpected argument"),
            "{arguments}: {}",
            ran.err
        );
        check_ran(arguments, &ran);
    }
    let dir = project.runs().pop().unwrap();
    for text in TEXTS {
        for more in [&[][..], &["--json"]] {
            let arguments = [&["show", dir.to_str().unwrap(), text][..], more].concat();
            check_ran(
                &format!("show {text:?}"),
                &project.run_of(&arguments).exits(0),
            );
        }
    }
    // What is shown of an id can be typed.
    for display in [
        "\\u{3a}:error::x",
        "bidi\\u{202e}x\\u{2066}y\\u{200f}z\\u{61c}",
    ] {
        let ran = project.run_of(&["show", dir.to_str().unwrap(), display]);
        ran.exits(0).says(&format!("sample: {display} of eval e"));
    }
    let mut files = 0;
    for path in all_files(&project.file("evaltest-runs")) {
        let kind = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        files += 1;
        if ["md", "xml"].contains(&kind) {
            check(&path.display().to_string(), &text);
        }
        if ["jsonl", "json"].contains(&kind) {
            let ends = text.chars().find(|c| "\u{85}\u{2028}\u{2029}".contains(*c));
            assert_eq!(ends, None, "{}: {text:?}", path.display());
        }
    }
    assert!(files > 5, "{files} files");
}

#[test]
fn a_test_has_a_name_that_is_seen_and_commands_nothing() {
    let project = trials::project(1, ":", "");
    project.write("data.jsonl", rows());
    let listed = trials::run(&project, "--list").exits(0);
    check_ran("--list", &listed);
    assert!(
        listed.out.contains("e::level1::bidi\\u{202e}x"),
        "{}",
        listed.out
    );
    assert!(
        listed.out.contains("zero\\u{200b}w\\u{200c}i\\u{200d}d"),
        "{}",
        listed.out
    );
    for arguments in ["", "--format terse", "--format json -Z unstable-options"] {
        let ran = trials::run(&project, arguments);
        assert!(ran.out.len() > 100, "{arguments}: {}{}", ran.out, ran.err);
        check_ran(arguments, &ran);
    }
}

#[test]
fn arguments_that_are_shown_again_say_what_they_are() {
    let project = Project::with_eval(&[("a", 1, "One?", "1")], "{ type: echo, text: '1' }", "");
    project.run("run eval.yaml").exits(0);
    for text in TEXTS {
        let flag = format!("--{text}");
        for arguments in [
            vec![*text],
            vec!["run", *text],
            vec!["run", &*flag],
            vec!["run", "eval.yaml", "--samples", *text],
            vec!["run", "eval.yaml", "--concurrency", *text],
            vec!["run", "eval.yaml", "--set", *text],
            vec!["show", "e", *text],
            vec!["show", *text],
            vec!["gate", *text],
            vec!["summarize", *text],
            vec!["list", *text],
            vec!["doctor", *text],
            vec!["plan", *text],
            vec!["score", *text, "--scorer", *text],
            vec!["judge", "read", *text],
            vec!["export", "--format", *text],
            vec!["import", *text],
        ] {
            let ran = project.run_of(&arguments).says_nothing_of("panicked");
            assert_ne!(ran.code, Some(0), "{arguments:?}");
            check_ran(&format!("{arguments:?}"), &ran);
        }
    }
    let ran = project.run_of(&["run", "--\u{202e}x"]).exits(2);
    assert!(ran.err.contains("--\\u{202e}x"), "{}", ran.err);
}

#[test]
fn every_line_of_json_is_one_line_to_its_reader() {
    let project = Project::new();
    project.write("data.jsonl", rows());
    // A worker and a scorer in Python's manner: they read lines as `splitlines` cuts them.
    project.script(
        "agent.sh",
        "#!/bin/sh\ncat | tee -a asked.txt >/dev/null\nprintf '{\"text\":\"1\\342\\200\\250\"}'\n",
    );
    project.spec(
        "{ type: command, command: [./agent.sh], input: json, output: json }",
        "",
    );
    project.run("run eval.yaml").says_nothing_of("panicked");
    let requested = project.read("asked.txt");
    assert_eq!(requested.lines().count(), TEXTS.len(), "{requested}");
    let ends = |text: &str| text.chars().find(|c| "\u{85}\u{2028}\u{2029}".contains(*c));
    assert_eq!(ends(&requested), None, "{requested}");
    let one: Value = serde_json::from_str(requested.lines().last().unwrap()).unwrap();
    assert!(one.is_object());
    project.write(
        "lines.jsonl",
        "{\"prediction\":\"a\u{2028}b\",\"ground_truth\":\"\u{85}\u{2029}\"}\n",
    );
    let ran = project.run("score lines.jsonl --scorer exact").exits(0);
    assert_eq!(ends(&ran.out), None, "{}", ran.out);
    project.write("replies.jsonl", "{\"reply\":\"a\u{2028}b\"}\n");
    let ran = project.run("judge read replies.jsonl --reply choices --choice a --choice b");
    assert_eq!(ends(&ran.out), None, "{}", ran.out);
}

#[test]
fn no_attachment_is_where_the_answers_stand() {
    let project = Project::new();
    project.script("agent.sh", "#!/bin/sh\nwhile read -r _; do :; done; cat seen.* *.txt 2>/dev/null; ls >> ../../../../listed.txt; echo 1\n");
    let row = |id: &str, file: &str| {
        serde_json::json!({
            "task_id": id, "Question": "One?", "Level": 1, "Final answer": "1", "file_name": file,
        })
        .to_string()
            + "\n"
    };
    let write = |files: &[&str]| {
        let rows: String = files.iter().map(|file| row(file, file)).collect();
        project.write("data.jsonl", row("good", "good.txt") + &rows);
    };
    project.write("good.txt", "fine");
    project.spec("{ type: command, command: [./agent.sh], cwd: scratch }", "");
    write(&[]);
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    let runs = project.display(project.runs().pop().unwrap());
    let snapshot = all_files(&project.file("snapshots"));
    let snapshot = snapshot
        .iter()
        .find(|path| path.extension().is_some_and(|end| end == "snap"));
    let snapshot = project.display(snapshot.unwrap());
    // Of another project's run and snapshots, and by another name.
    project.write("old/run/manifest.json", "{}");
    project.write("old/run/samples.jsonl", "{}");
    project.write("old/snapshots/_baseline.json", "{}");
    project.write("old/snapshots/ab/x.snap", "1");
    std::os::unix::fs::symlink("data.jsonl", project.file("link.txt")).unwrap();
    let samples = format!("{runs}/samples.jsonl");
    std::fs::hard_link(project.file("eval.yaml"), project.file("hard.txt")).unwrap();
    let refused = [
        ("data.jsonl", "the dataset"),
        ("link.txt", "the dataset"),
        ("eval.yaml", "the spec"),
        ("hard.txt", "the spec"),
        ("hard-data.txt", "the dataset"),
        ("copied-data.txt", "the dataset"),
        ("copied.txt", "the spec"),
        (&*samples, "of a run directory"),
        (&*snapshot, "of the snapshots"),
        ("old/run/samples.jsonl", "of a run directory"),
        ("old/snapshots/ab/x.snap", "of a snapshot folder"),
    ];
    write(&refused.map(|(file, _)| file));
    std::fs::hard_link(project.file("data.jsonl"), project.file("hard-data.txt")).unwrap();
    project.write("copied-data.txt", project.read("data.jsonl"));
    project.write("copied.txt", project.read("eval.yaml"));
    project
        .run("list eval.yaml --stats")
        .exits(0)
        .says("would show the agent the answers");
    let ran = project.run("run eval.yaml --ignore-baseline --json");
    let summary = &ran.json()[0];
    assert_eq!(
        summary["errors"]["agent_failed"].as_u64().unwrap_or(7),
        7,
        "{summary}"
    );
    let dir = project.runs().pop().unwrap();
    let records = crate::project::json_lines(&dir.join("samples.jsonl"));
    for (file, what) in refused {
        let record = records
            .iter()
            .find(|record| record["sample_id"] == file)
            .unwrap();
        let message = record["result"]["error"]["message"]
            .as_str()
            .unwrap_or_default();
        assert!(
            message.contains(&format!("it is {what}, and")),
            "{file}: {record}"
        );
    }
    assert_eq!(records[0]["result"]["status"], "scored", "{}", records[0]);
}

/// Of a dataset that is a folder, in which attachments lie beside the answers.
#[test]
fn no_attachment_is_the_metadata_by_another_name() {
    let project = Project::new();
    let files = [
        "good.txt",
        "metadata.jsonl",
        "link.txt",
        "hard.txt",
        "copied.txt",
    ];
    let rows = files.map(|file| {
        serde_json::json!({
            "task_id": file, "Question": "One?", "Level": 1, "Final answer": "1", "file_name": file,
        })
        .to_string()
    });
    let metadata = project.file("data/metadata.jsonl");
    project.write("data/metadata.jsonl", rows.join("\n"));
    project.write("data/good.txt", "fine");
    std::os::unix::fs::symlink("metadata.jsonl", project.file("data/link.txt")).unwrap();
    std::fs::hard_link(&metadata, project.file("data/hard.txt")).unwrap();
    project.write("data/copied.txt", rows.join("\n"));
    project.write(
        "eval.yaml",
        "name: e\nbenchmark: { type: gaia, path: data }\nprompt: none\nagent: { type: command, command: [echo, '1'] }\n",
    );
    project.run("run eval.yaml").exits(3);
    let dir = project.runs().pop().unwrap();
    let records = crate::project::json_lines(&dir.join("samples.jsonl"));
    for (file, record) in files.iter().zip(&records) {
        let error = &record["result"]["error"]["message"];
        let is_reported = error
            .as_str()
            .is_some_and(|error| error.contains("it is the dataset, and"));
        assert_eq!(is_reported, *file != "good.txt", "{file}: {record}");
    }
}

#[test]
fn what_a_sandbox_lets_an_agent_read_of_the_answers_is_told() {
    let project = Project::new();
    project.questions(&[("a", 1, "?", "1")]);
    project.write("sub/tool.txt", "fine");
    project.write("evaltest-runs/old/samples.jsonl", "{}");
    std::fs::hard_link(project.file("data.jsonl"), project.file("sub/hard.jsonl")).unwrap();
    let check = |read: &str, expect: Option<&str>| {
        project.spec(
            &format!(
                "{{ type: command, command: [cat], sandbox: {{ type: bwrap, read: [{read}] }} }}"
            ),
            "",
        );
        let ran = project.run("list eval.yaml --stats").exits(0);
        let output = format!("{}{}", ran.out, ran.err);
        match expect {
            Some(expect) => assert!(output.contains(expect), "{read}: {output}"),
            None => assert!(!output.contains("sandbox.read"), "{read}: {output}"),
        }
    };
    check("sub", None);
    check("sub/tool.txt", None);
    let hands = "`sandbox.read` hands the agent";
    check("evaltest-runs/old", Some(hands));
    check("sub/hard.jsonl", Some(hands));
    project.write("sub/copied.jsonl", project.read("data.jsonl"));
    check("sub/copied.jsonl", Some(hands));
    check("data.jsonl", Some("files in it stay hidden (the dataset)"));
    check(
        ".",
        Some("files in it stay hidden (of a run directory, the dataset, the spec)"),
    );
    check(
        "evaltest-runs",
        Some("files in it stay hidden (of a run directory)"),
    );
}

#[test]
fn yaml_that_nests_too_deeply_or_has_marks_amid_it_is_refused_at_once() {
    let project = Project::with_eval(&[("a", 1, "One?", "1")], "{ type: echo, text: '1' }", "");
    let good = project.read("eval.yaml");
    let deep = [
        "[".repeat(200_000),
        format!("{good}gates: {}", "[".repeat(200_000)),
        format!("{good}gates: {}", "{a: ".repeat(50_000)),
    ];
    for text in deep {
        project.write("deep.yaml", text);
        let start = std::time::Instant::now();
        let ran = project.run("run deep.yaml").exits(2);
        ran.says("nest too deeply")
            .says("deep.yaml:")
            .says("hint: ");
        assert!(start.elapsed().as_secs() < 3, "{:?}", start.elapsed());
    }
    for (text, place) in [
        (format!("# one\n\u{feff}{good}"), "2:1"),
        (good.replace("agent:", "\u{feff}agent:"), "4:1"),
        (format!("\u{feff}\u{feff}{good}"), "1:1"),
    ] {
        project.write("mark.yaml", text);
        let ran = project.run("run mark.yaml").exits(2);
        ran.says(&format!(
            "mark.yaml:{place}: a byte order mark (U+FEFF) inside the text"
        ));
    }
    let wide: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    project.write("mark.yaml", [&[0xff, 0xfe][..], &wide].concat());
    let ran = project.run("run mark.yaml").exits(2);
    ran.says("the spec is UTF-16 (by its byte order mark)")
        .says("iconv -f UTF-16");
    // At the beginning of a file it is part of no key.
    project.write("mark.yaml", format!("\u{feff}{good}"));
    project.run("run mark.yaml").exits(0);
}

#[test]
fn a_key_that_stands_twice_in_a_row_is_an_error() {
    let project = Project::with_eval(&[("a", 1, "One?", "1")], "{ type: echo, text: '1' }", "");
    let row = project
        .read("data.jsonl")
        .replace('}', ",\"Final answer\":\"2\"}");
    project.write("data.jsonl", row);
    let ran = project.run("run eval.yaml").exits(2);
    ran.says("data.jsonl:1:")
        .says("the key `Final answer` occurs twice");
}

#[test]
fn a_run_directory_that_vanishes_is_the_surroundings_fault() {
    for gone in [
        "rm -rf evaltest-runs",
        "rm -rf evaltest-runs/*",
        "mv evaltest-runs elsewhere",
    ] {
        let agent = format!("#!/bin/sh\nwhile read -r _; do :; done\n{gone}\necho 1\n");
        let project = Project::with_eval(
            &[("a", 1, "One?", "1"), ("b", 1, "Two?", "1")],
            "{ type: command, command: [./agent.sh] }",
            "limits: { concurrency: 1 }\n",
        );
        project.script("agent.sh", &agent);
        let ran = project
            .run("run eval.yaml")
            .exits(3)
            .says_nothing_of("panicked");
        ran.says("was removed or moved during the run");
    }
}

#[test]
fn folders_that_killed_runs_left_are_tidied_and_told() {
    let project = Project::with_eval(&[("a", 1, "One?", "1")], "{ type: echo, text: '1' }", "");
    let empty = "evaltest-runs/20260101T000000Z_e-000001/events.jsonl";
    project.write(empty, "");
    // One that is as new as that may be of a run that just begins.
    let empty = fs::File::options()
        .append(true)
        .open(project.file(empty))
        .unwrap();
    empty
        .set_modified(SystemTime::now() - Duration::from_mins(2))
        .unwrap();
    let paid = "evaltest-runs/20260101T000000Z_e-000002/events.jsonl";
    project.write(paid, "{\"sample_id\":\"a\",\"kind\":\"answered\"}\n");
    let ran = project.run("run eval.yaml").exits(0);
    ran.says("`evaltest-runs/20260101T000000Z_e-000001` was left by a killed run without answers");
    assert!(
        !project
            .file("evaltest-runs/20260101T000000Z_e-000001")
            .exists()
    );
    assert!(project.file(paid).exists());
    project
        .run("run eval.yaml")
        .exits(0)
        .says_nothing_of("killed run");
}
