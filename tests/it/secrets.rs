//! Values of variables that a spec names: whatever they are called and however they are written, none is in a file or
//! in a stream afterwards, wherever it came from.

mod forms;
mod keys;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::project::{Project, Ran, all_files};
use crate::server::{Answer, Server, chat, fine, refusal};
use crate::trials;
use forms::{Pieces, SECRET, forms};

/// A name that says nothing.
const NAME: &str = "HARMLESS";

#[track_caller]
fn check(pieces: &Pieces, what: &str, content: &[u8]) {
    let content = content.to_ascii_lowercase();
    let Some(place) = pieces.find(&content) else {
        return;
    };
    let piece = String::from_utf8_lossy(&content[place.clone()]);
    let start = place.start.saturating_sub(200);
    let end = (place.end + 100).min(content.len());
    let around = String::from_utf8_lossy(&content[start..end]);
    panic!("{what} holds `{piece}`: …{around}…");
}

#[track_caller]
fn check_files(pieces: &Pieces, folder: &Path) {
    let files = all_files(folder);
    assert!(!files.is_empty());
    for path in files {
        let name = path.display().to_string();
        let data = fs::metadata(&path).unwrap();
        if !pieces.is_new(&path, (data.len(), data.modified().unwrap())) {
            continue;
        }
        check(pieces, &name, &fs::read(&path).unwrap());
        check(pieces, "a file's name", name.as_bytes());
    }
}

#[track_caller]
fn ran(pieces: &Pieces, what: &str, mut command: Command) -> Ran {
    let output = command.env(NAME, SECRET).output().unwrap();
    check(pieces, &format!("stdout of {what}"), &output.stdout);
    check(pieces, &format!("stderr of {what}"), &output.stderr);
    Ran::of(&output)
}

/// Where an agent may say something.
const PLACES: [&str; 11] = [
    "answer", "message", "key", "call", "error", "stderr", "garbage", "prompt", "truth",
    "metadata", "live",
];

/// A project without a secret in it, and a folder with its dataset, its agent and what that says.
fn projects() -> (Project, Project) {
    let (project, elsewhere) = (Project::new(), Project::new());
    elsewhere.script(
        "agent.sh",
        "#!/bin/sh\ncd \"${0%/*}\"\ntest ! -e \"$EVALTEST_SAMPLE_ID.err\" || cat \"$EVALTEST_SAMPLE_ID.err\" >&2\n\
         test ! -e \"$EVALTEST_SAMPLE_ID.exit\" || exit 1\nexec cat \"$EVALTEST_SAMPLE_ID.out\"\n",
    );
    elsewhere.script(
        "scorer.sh",
        "#!/bin/sh\nwhile read -r line; do printf '{\"correct\": true, \"details\": {\"saw\": %s}}\\n' \"$line\"; done\n",
    );
    let mut rows = Vec::new();
    for (number, (_, text)) in forms().into_iter().enumerate() {
        for place in PLACES {
            let id = format!("{place}-{number}");
            let mut row = json!({
                "task_id": id, "Question": "What?", "Level": 1, "Final answer": "17", "Annotator Metadata": {},
            });
            let leaky = format!("it is {text} there");
            let (mut out, mut err) = (json!({ "answer": "17" }).to_string(), String::new());
            match place {
                "answer" => {
                    out = json!({ "answer": format!("{leaky}\nFINAL ANSWER: 17") }).to_string();
                }
                "message" => {
                    out = json!({ "answer": "17", "messages": [{ "content": leaky }] }).to_string();
                }
                "key" => out = json!({ "answer": "17", "messages": [{ (leaky): 1 }] }).to_string(),
                "call" => {
                    let arguments = json!({ "x": leaky }).to_string();
                    let call = json!({ "name": "f", "arguments": arguments });
                    out = json!({ "answer": "17", "tool_calls": [call] }).to_string();
                }
                "error" => out = json!({ "error": leaky }).to_string(),
                "stderr" => {
                    err = leaky;
                    elsewhere.write(&format!("{id}.exit"), "");
                }
                "garbage" => out = leaky,
                "prompt" => row["Question"] = leaky.into(),
                "truth" => {
                    row["Final answer"] = text.clone().into();
                    out = json!({ "answer": format!("FINAL ANSWER: {text}") }).to_string();
                }
                "metadata" => row["Annotator Metadata"] = json!({ "Steps": leaky }),
                _ => err = leaky + "\n",
            }
            elsewhere.write(&format!("{id}.out"), out);
            if !err.is_empty() {
                elsewhere.write(&format!("{id}.err"), err);
            }
            rows.push(row.to_string());
        }
    }
    elsewhere.write("data.jsonl", rows.join("\n"));
    (project, elsewhere)
}

fn spec(project: &Project, name: &str, elsewhere: &Project, more: &str) {
    let folder = elsewhere.path().display();
    project.write(
        name,
        format!(
            "name: e\nbenchmark: {{ type: gaia, path: {folder}/data.jsonl }}\nprompt: none\n\
             agent: {{ type: command, command: [{folder}/agent.sh], input: json, output: json, env: [{NAME}] }}\n\
             scorers: [gaia, {{ type: command, command: [{folder}/scorer.sh], needs_target: false }}]\n\
             snapshot: {{ answers: plain{more} }}\nlimits: {{ concurrency: 4, keep_going: true }}\n"
        ),
    );
}

#[test]
fn no_form_of_a_value_is_written_or_shown_from_any_place() {
    let pieces = Pieces::new();
    let (project, elsewhere) = projects();
    assert!(forms().len() * PLACES.len() >= 200);
    spec(&project, "eval.yaml", &elsewhere, "");
    let run = |arguments: &str| {
        let ran = ran(&pieces, arguments, project.command(arguments));
        check_files(&pieces, project.path());
        ran
    };
    run("run --stream eval.yaml")
        .exits(3)
        .says("`HARMLESS` was redacted in more than one sample");
    let records = project.last_lines("samples.jsonl");
    // Extraction takes one line of several.
    let has_lines = |number: usize| forms()[number].1.contains(['\n', '\r']);
    for record in &records {
        let (id, result) = (record["sample_id"].as_str().unwrap(), &record["result"]);
        let is_requested = ["answer", "truth", "message"]
            .iter()
            .any(|place| id.starts_with(place));
        let number = id.rsplit('-').next().unwrap().parse().unwrap();
        if is_requested && !(id.starts_with("truth") && has_lines(number)) {
            assert_eq!(result["score"]["correct"], true, "{id}: {result}");
        }
        if !id.starts_with("live") {
            assert!(record.to_string().contains("[REDACTED]"), "{id}: {record}");
        }
    }
    let dir = project.display(project.last_run());
    for place in PLACES {
        run(&format!("show {dir} {place}-0"));
        run(&format!("show {dir} {place}-5 --json"));
    }
    for arguments in [
        "show",
        "summarize",
        "summarize --json",
        "rescore",
        "accept --partial",
    ] {
        run(&format!("{arguments} {dir}"));
    }
    run("run eval.yaml --json").exits(3);
    run("doctor eval.yaml").says("`HARMLESS` was redacted in more than one sample");

    // What `cargo test` says of them.
    let project = Project::new();
    spec(&project, trials::SPEC, &elsewhere, ", assert: correct");
    let ran = ran(&pieces, "the tests", trials::command(&project, ""));
    assert_eq!(ran.code, Some(101), "{}", ran.err);
    ran.says("[REDACTED]");
    check_files(&pieces, project.path());
}

#[test]
fn what_a_server_says_is_blanked_before_anybody_is_told() {
    let pieces = Pieces::new();
    for (number, (name, text)) in forms().into_iter().enumerate() {
        for place in ["401", "302", "400"] {
            if place == "302" && !text.bytes().all(|byte| byte.is_ascii_graphic()) {
                continue;
            }
            let leaky = format!("no {text} here");
            let server = Server::new(move |_, _| match place {
                "401" => refusal("401 Unauthorized", &leaky),
                "400" => Answer::Status("400 Bad Request", String::new(), leaky.clone()),
                _ => {
                    let location = leaky.replace("no ", "/x/").replace(" here", "");
                    let headers = format!("Location: {location}\r\n");
                    Answer::Status("302 Found", headers, String::new())
                }
            });
            let project = Project::new();
            project.questions(&[("q1", 1, "What?", "17"), ("q2", 1, "What?", "17")]);
            project.spec(
                &server.openai(&format!(", headers: {{ X-Trace: \"${{{NAME}}}\" }}")),
                "limits: { concurrency: 1, retries: 3 }\n",
            );
            let arguments = ["run eval.yaml", "run eval.yaml --json"][number % 2];
            let what = format!("{arguments} of {place} with {name}");
            let ran = ran(&pieces, &what, project.command(arguments));
            assert!(matches!(ran.code, Some(2 | 3)), "{what}: {ran:?}");
            if place != "400" {
                ran.says("[REDACTED]")
                    .says(["stopped early:", "stop_reason"][number % 2]);
            }
            check_files(&pieces, project.path());
        }
    }
}

#[test]
fn an_address_with_a_new_key_that_a_server_points_to_is_blanked() {
    let server = Server::new(|_, _| {
        let headers = "Location: https://login.example/in?code=abc123xyz&lang=de\r\n";
        Answer::Status("302 Found", headers.to_owned(), String::new())
    });
    let project = Project::with_eval(&[("q1", 1, "What?", "17")], &server.openai(""), "");
    let ran = project.run("run eval.yaml").exits(2);
    ran.says("?code=[REDACTED]&lang=de")
        .says_nothing_of("abc123xyz");
    for path in all_files(project.path()) {
        let text = fs::read(&path).unwrap();
        assert!(
            !String::from_utf8_lossy(&text).contains("abc123xyz"),
            "{path:?}"
        );
    }
}

#[test]
fn a_name_of_a_model_is_kept_where_the_spec_calls_it_plain() {
    let questions = [
        ("q1", 1, "Say it", "tiny-model-7"),
        ("q2", 1, "Say it", "tiny-model-7"),
    ];
    let agent =
        |keys: &str| format!("{{ type: command, command: [sh, -c, 'echo \"$MODEL\"']{keys} }}");
    let project = Project::with_eval(&questions, &agent(", env: [MODEL]"), "");
    let run = |arguments: &str, model: &str| {
        let mut command = project.command(arguments);
        Ran::of(&command.env("MODEL", model).output().unwrap())
    };
    let notice = "the value of `MODEL` was redacted in more than one sample";
    let blanked = run("run eval.yaml", "tiny-model-7").exits(0);
    blanked.says(notice).says("2 correct");
    let records = project.last_lines("samples.jsonl");
    assert_eq!(records[0]["result"]["prediction"], "[REDACTED]");
    run("doctor eval.yaml", "tiny-model-7").says(notice);
    // A path, and what is short, is none.
    for model in ["/usr/bin/env", "7 bytes"] {
        run("run eval.yaml", model).says_nothing_of(notice);
        let records = project.last_lines("samples.jsonl");
        assert_eq!(records[0]["result"]["prediction"], model);
    }
    for keys in [", env: [MODEL], plain_env: [MODEL]", ", plain_env: [MODEL]"] {
        project.spec(&agent(keys), "");
        run("run eval.yaml", "tiny-model-7")
            .exits(0)
            .says_nothing_of(notice);
        let records = project.last_lines("samples.jsonl");
        assert_eq!(records[0]["result"]["prediction"], "tiny-model-7");
        run("doctor eval.yaml", "tiny-model-7").says_nothing_of(notice);
    }
    let server = Server::new(|_, _| fine(&chat("tiny-model-7")));
    for (keys, expect) in [("", "[REDACTED]"), (", plain_env: [MODEL]", "tiny-model-7")] {
        project.spec(
            &server.openai(&format!(", headers: {{ X-For: \"${{MODEL}}\" }}{keys}")),
            "",
        );
        run("run eval.yaml", "tiny-model-7").exits(0);
        let records = project.last_lines("samples.jsonl");
        assert_eq!(records[0]["result"]["prediction"], expect);
    }
}

#[test]
fn a_sample_whose_name_holds_a_secret_is_refused_before_anything_is_asked() {
    let requested = "{ type: command, command: [sh, -c, 'touch asked; echo 17'], env: [HARMLESS] }";
    for (id, level) in [(format!("q-{SECRET}"), 1), ("q2".to_owned(), 2)] {
        let project = Project::with_eval(
            &[("q1", 1, "What?", "17"), (&id, level, "What?", "17")],
            requested,
            "",
        );
        if level == 2 {
            let rows = project
                .read("data.jsonl")
                .replace("\"Level\":2", &format!("\"Level\":{}", json!(SECRET)));
            project.write("data.jsonl", rows);
        }
        for arguments in ["run eval.yaml", "run eval.yaml --dry-run"] {
            let ran = ran(&Pieces::new(), arguments, project.command(arguments)).exits(2);
            if level == 1 {
                ran.says("the id of sample 2 holds a secret: `q-[REDACTED]`")
                    .says("hint: ");
            }
        }
        assert!(!project.file("asked").exists() && project.runs().is_empty());
    }
}

#[test]
fn keys_that_stand_in_the_spec_are_blanked_in_the_manifest() {
    let key = "k3yk3yk3yk3y";
    let clean = |agent: &str, more: &str| -> Value {
        let project = Project::with_eval(
            &[("q1", 1, "What?", "17")],
            agent,
            "limits: { retries: 0 }\n",
        );
        let ran = project.run(&format!("run eval.yaml {more}"));
        ran.says_nothing_of(key);
        for path in all_files(&project.file("evaltest-runs")) {
            let text = fs::read(&path).unwrap();
            assert!(
                !String::from_utf8_lossy(&text).contains(key),
                "{path:?} of {agent}"
            );
        }
        project.last_json("manifest.json")["config"]["agent"].take()
    };
    let server = Server::new(move |_, _| fine(&json!({ "answer": "17 k3yk3yk3yk3y" })));
    for parameter in ["sig", "code", "token", "api_key"] {
        let url = server.url(&format!("/answer?{parameter}={key}&v=1"));
        let agent = clean(&format!("{{ type: http, url: \"{url}\" }}"), "");
        let expect = server.url(&format!("/answer?{parameter}=[REDACTED]&v=1"));
        assert_eq!(agent["url"], expect);
    }
    let silent = Server::new(|_, _| fine(&json!({ "answer": "17" })));
    let url = silent.url("/answer");
    let headers = format!(
        "X-Custom: {key}, X-Team: evals, Cookie: \"a={key}; b\", X-Var: \"${{PATH_OF_KEY}}\""
    );
    let agent = format!(
        "{{ type: http, url: \"{url}\", headers: {{ {headers} }}, plain_env: [PATH_OF_KEY] }}"
    );
    let project = Project::new();
    project.write(".env", "PATH_OF_KEY=somewhere\n");
    project.questions(&[("q1", 1, "What?", "17")]);
    project.spec(&agent, "");
    project.run("run eval.yaml").exits(0);
    let manifest = project.last_json("manifest.json");
    let expect = json!({
        "X-Custom": "[REDACTED]", "X-Team": "evals", "Cookie": "[REDACTED]", "X-Var": "${PATH_OF_KEY}",
    });
    assert_eq!(manifest["config"]["agent"]["headers"], expect);
    for command in [
        format!("[sh, -c, 'echo 17 $2', sh, --api-key, {key}]"),
        format!("[sh, -c, 'echo 17 $1', sh, --api-key={key}]"),
        format!("[sh, -c, 'API_KEY={key} sh -c \"echo 17 \\$API_KEY\"']"),
    ] {
        let agent = clean(&format!("{{ type: command, command: {command} }}"), "");
        assert!(agent.to_string().contains("[REDACTED]"), "{agent}");
    }
    let agent = clean(
        &format!("{{ type: command, shell: 'echo 17 --token {key}' }}"),
        "",
    );
    assert_eq!(agent["shell"], "echo 17 --token [REDACTED]");
}
