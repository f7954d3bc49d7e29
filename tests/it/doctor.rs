//! `cargo evaltest doctor`: what is wrong with an agent, in a line and a hint.

use serde_json::json;

use crate::project::{Project, Ran};
use crate::server::{Answer, Server, chat, fine, refusal};
use crate::wait::LONG;

fn doctor(agent: &str) -> Ran {
    doctor_in(agent, LONG.as_secs())
}

fn doctor_in(agent: &str, seconds: u64) -> Ran {
    let project = Project::with_eval(&[("a", 1, "one", "ONE")], agent, "");
    project.run(&format!("doctor eval.yaml --timeout-s {seconds}"))
}

#[test]
fn an_agent_that_answers_is_well() {
    let server = Server::new(|requested, _| fine(&chat(&format!("OK to {}", requested.prompt()))));
    let ran = doctor(&server.openai("")).exits(0);
    ran.says("ok    dataset  1 sample of benchmark gaia")
        .says("ok    agent    answered in ")
        .says(" (tiny-2026 (fp_1), 10 + 2 tokens): OK to Reply with the word OK.");
    assert_eq!(server.requested().len(), 1);
    doctor("echo").exits(0).says("Reply with the word OK.");
    doctor("{ type: command, command: [cat] }")
        .exits(0)
        .says("Reply with the word OK.");
    doctor("{ type: command, shell: \"grep -v OK || exit 3\" }")
        .exits(0)
        .says("ok    agent    answered the first sample in ")
        .says("(the test prompt `Reply with the word OK.` failed, which may be fine)");
    doctor("{ type: command, command: [pwd], cwd: scratch }")
        .exits(0)
        .says("evaltest-");
}

#[test]
fn an_answer_of_several_lines_stands_on_one_and_is_whole_in_json() {
    let agent = "{ type: command, command: [printf, 'a\\nb \\033[1m\\n\\nc'] }";
    doctor(agent)
        .exits(0)
        .says(": a b \\u{1b}[1m c\n")
        .says_nothing_of("\\n");
    let project = Project::with_eval(&[("a", 1, "one", "ONE")], agent, "");
    let found = project.run("doctor eval.yaml --json").exits(0).json();
    let text = found.to_string();
    assert!(text.contains(r#": a\nb \u001b[1m\n\nc""#), "{text}");
}

#[test]
fn what_is_wrong_is_named() {
    let check = |agent: &str, code: i32, expect: &[&str]| {
        let mut ran = doctor(agent).exits(code);
        for text in expect {
            ran = ran.says(text);
        }
    };
    let server = Server::new(|requested, _| match requested.line.as_str() {
        "GET /v1/models" => fine(&json!({"data": [{"id": "big"}, {"id": "small"}]})),
        _ => refusal("404 Not Found", "The model `local` does not exist"),
    });
    let models = [
        "WRONG agent",
        "404 Not Found: The model `local` does not exist",
        "hint: the endpoint has the models `big`, `small`",
    ];
    check(&server.openai(""), 2, &models);
    let server = Server::new(|_, _| refusal("401 Unauthorized", "who are you?"));
    check(
        &server.openai(""),
        2,
        &[
            "401 Unauthorized: who are you?",
            "hint: name the variable that holds the key",
        ],
    );
    check(
        &server.openai(", api_key_env: NO_KEY_OF_TEST"),
        2,
        &["WRONG spec", "NO_KEY_OF_TEST"],
    );
    let server = Server::new(|_, _| Answer::Status("200 OK", String::new(), "<html>".to_owned()));
    check(
        &server.openai(""),
        3,
        &["DOWN  agent", "a valid chat completion"],
    );
    let server = Server::new(|_, _| refusal("503 Service Unavailable", "later"));
    check(
        &server.openai(""),
        3,
        &["DOWN  agent", "503", "hint: try again in a while"],
    );
    let gone = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let agent = format!("{{ type: http, url: \"http://{gone}/\" }}");
    check(
        &agent,
        3,
        &[
            "cannot be reached",
            "hint: is the server running, and the address right?",
        ],
    );
    check(
        "{ type: command, command: [no-such-program-of-test] }",
        2,
        &["WRONG agent", "no-such-program-of-test"],
    );
    check(
        "{ type: command, shell: \"echo oh >&2; exit 3\" }",
        3,
        &[
            "DOWN  agent",
            "stderr: oh",
            "hint: cargo evaltest run e --limit 1",
        ],
    );
    doctor_in("{ type: command, command: [sleep, '600'] }", 1)
        .exits(3)
        .says("did not answer in ")
        .says("--timeout-s 300");
    check(
        "{ type: openai, base_url: h, model: m }",
        2,
        &["WRONG spec", "eval.yaml:4"],
    );
}

#[test]
fn options_that_reach_nobody_are_a_mistake() {
    let check = |agent: &str, who: &str, hint: &str| {
        let line = format!(
            "eval.yaml:4:{}: {who} receives no options, so `effort` would have no effect",
            agent.find("options").unwrap() + 8
        );
        let project = Project::with_eval(&[("a", 1, "one", "ONE")], agent, "");
        for arguments in ["run eval.yaml", "doctor eval.yaml"] {
            project.run(arguments).exits(2).says(&line).says(hint);
        }
        // What the command line gives stands at no place of the file.
        let without = agent.replace(", options: { effort: high }", "");
        let project = Project::with_eval(&[("a", 1, "one", "ONE")], &without, "");
        project
            .run("run eval.yaml --agent-option effort=high")
            .exits(2)
            .says(&format!(
                "eval.yaml: {who} receives no options, so `effort` would"
            ))
            .says(hint);
        project.run("doctor eval.yaml").exits(0);
    };
    let others = "`command` with `input: json`, `worker`, `openai`, `http`, or one of your own";
    for agent in ["echo", "demo"] {
        let spec = format!("{{ type: {agent}, options: {{ effort: high }} }}");
        check(&spec, &format!("agent `{agent}`"), others);
    }
    let cat = "{ type: command, command: [cat], options: { effort: high } }";
    check(
        cat,
        "agent `command` with text input",
        "hint: add `input: json`",
    );
    // A recording that is there.
    let replay = "{ type: replay, path: data.jsonl, fields: { answer: Question }, options: { effort: high } }";
    check(replay, "agent `replay`", others);
}

#[test]
fn all_specs_are_checked_and_told_in_json() {
    let project = Project::with_eval(&[("a", 1, "one", "ONE")], "echo", "");
    project.write(
        "other.yaml",
        "name: o\nbenchmark: { type: gaia, path: gone.jsonl }\nagent: { type: echo }\n",
    );
    let ran = project.run("doctor eval.yaml other.yaml --json").exits(2);
    let report = ran.json();
    assert_eq!(report["exit_code"], 2);
    assert_eq!(report["specs"][0]["findings"][1]["verdict"], "ok");
    assert_eq!(report["specs"][1]["spec"], "other.yaml");
    assert_eq!(report["specs"][1]["findings"][0]["verdict"], "wrong");
}

#[test]
fn a_system_that_cannot_make_sandboxes_is_named_and_what_to_install() {
    for agent in [
        "{ type: command, command: [/bin/cat], sandbox: bwrap }",
        "{ type: worker, command: [/bin/cat], sandbox: bwrap }",
    ] {
        let project = Project::with_eval(&[("a", 1, "?", "1")], agent, "");
        let mut command = project.command("doctor eval.yaml");
        let output = command.env("PATH", project.path()).output().unwrap();
        Ran::of(&output)
            .exits(2)
            .says("WRONG agent    `sandbox: bwrap` needs bubblewrap")
            .says("hint: Debian, Ubuntu: `apt install bubblewrap`");
    }
}

#[test]
fn a_judge_is_asked_for_a_verdict() {
    let with = |judge: &str| {
        let scorer = format!("{{ type: judge, name: strict, rubric: aime, agent: {judge} }}");
        let more =
            format!("scorers: [gaia, {scorer}, {{ type: judge, rubric: qa, agent: echo }}]\n");
        Project::with_eval(&[("a", 1, "one", "ONE")], "echo", &more).run("doctor eval.yaml")
    };
    // It answers, and cannot judge.
    let server = Server::new(|_, _| fine(&chat("OK")));
    with(&server.openai(""))
        .exits(0)
        .says("ok    agent    answered in ")
        .says("note  judge    `strict`: answered in ")
        .says(
            " (tiny-2026 (fp_1), 10 + 2 tokens) by schema without a readable verdict \
        (`invalid_response_format`): OK",
        )
        .says("hint: use a model that returns valid JSON")
        .says("note  judge    `judge`: answered in ")
        .says(" by text without a readable verdict");
    // And once more, as in a run.
    assert_eq!(server.requested().len(), 2);
    let verdict = r#"{"reason": "r", "correctness": 5, "clarity": 4, "difficulty_match": 3, "completeness": 5, "comments": "c"}"#;
    let server = Server::new(
        move |requested, _| match requested.body.get("response_format") {
            Some(_) => refusal("400 Bad Request", "unknown field `response_format`"),
            None if requested.body.get("tools").is_some() => {
                refusal("422 Unprocessable Entity", "unknown field `tools`")
            }
            None => fine(&chat(verdict)),
        },
    );
    with(&server.openai(""))
        .exits(0)
        .says("ok    judge    `strict`: answered in ")
        .says(" by text with a readable verdict");
    let requested = server.requested();
    let prompt = requested.last().unwrap().prompt();
    assert!(
        prompt.contains("What is 2+2?") && prompt.contains("difficulty_match"),
        "{prompt}"
    );
    // One verdict, whatever `repeats` says, and none of the pieces of a composition is forgotten.
    let server = Server::new(move |_, _| fine(&chat(verdict)));
    let judge = format!(
        "{{ type: judge, rubric: aime, repeats: 3, agent: {} }}",
        server.openai("")
    );
    let more = format!("scorers: [{{ type: all, scorers: [gaia, {judge}] }}]\n");
    Project::with_eval(&[("a", 1, "one", "ONE")], "echo", &more)
        .run("doctor eval.yaml")
        .exits(0)
        .says("ok    judge    `all`: answered in ")
        .says(" by schema with a readable verdict");
    assert_eq!(server.requested().len(), 1);
    with("{ type: openai, base_url: \"http://127.0.0.1:9/v1\", model: m }")
        .exits(3)
        .says("DOWN  judge    `strict`: ")
        .says("hint: is the server running, and the address right?");
    let server = Server::new(|_, _| refusal("401 Unauthorized", "who are you?"));
    with(&server.openai(""))
        .exits(2)
        .says("WRONG judge    `strict`: ")
        .says("hint: name the variable that holds the key");
    with("{ type: command, command: [no-such-judge] }")
        .exits(2)
        .says("WRONG judge    `strict`: ")
        .says("check the spelling and that it is installed");
}
