//! Secrets: whatever an agent does with them, none is on disk or on the screen afterwards, and no verdict
//! changes.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::project::{Project, Ran, all_files};

/// Secrets of every default shape: what stands before the secret part, and that part.
const SHAPES: &[(&str, &str)] = &[
    ("sk-", "Zq7Xw9Vb3Kf5Lm2Nr"),
    ("sk-proj-", "GhTyUjMnBvFrEdSwQaZxKiLo"),
    ("hf_", "Qw8Er6Ty4Ui2Op0AsDf"),
    ("jina_", "5f8c1e7a9b3d2f6045ae"),
    ("pplx-", "9d7b5a3c1e8f6042bd7a"),
    ("AIza", "SyB4cD8eF2gH6iJ0kL5mN9oP3qR7sT1uV"),
    ("Bearer ", "eyJhbGciOi1.NiJ9wKx7.Tz3mPv5"),
    ("ghp_", "L8kJ6hG4fD2sA0qW9eR7tY5uI3oP1zXcV2bN"),
    ("github_pat_", "11ABCDEFG0hIjKlMnOpQ_rStUvWx"),
    ("AKIA", "Z5Y4X3W2V6U7T8S9"),
    (
        "aws_secret_access_key = ",
        "wJ4lrX8UtnF3EMIK7MDENGbPxRfi2CYzz9yy8xx7",
    ),
    // Custom: of the spec, and of the command line.
    ("corp-", "48151623421087"),
    ("emp#", "vbnmrtzuiopas"),
];

/// The value of a passed variable; JSON and words break it up.
const PASSWORD: &str = "pa\"Ws9\\Kd5 Gh2Jk7&Lp4";
/// One of several lines.
const PEM: &str =
    "-----BEGIN RSA-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END RSA-----";

/// So many characters of a secret are a piece of it, and so many where they are digits, of hex too.
const SHORT: usize = 6;
const LONG: usize = 12;

/// Everything that must not be found: the secret parts, cut into pieces.
fn pieces() -> Vec<String> {
    let parts = SHAPES.iter().map(|(_, part)| *part);
    let lines = PEM.lines().filter(|line| !line.starts_with("---"));
    let escaped = ["Gh2Jk7&Lp4", "\\\\Kd5 Gh2Jk", "Ws9\\Kd5 G"];
    let pieces_of = |text: &str| {
        let letters: Vec<char> = text.to_lowercase().chars().collect();
        let piece = |at: usize, length: usize| {
            let piece = letters.get(at..at + length)?;
            let is_hex = piece.iter().all(char::is_ascii_hexdigit);
            Some((String::from_iter(piece), is_hex))
        };
        // Six digits in a row stand by chance in a latency of nine, and six of hex in one of the hundreds of hashes that
        // a run writes.
        let pieces = (0..letters.len()).filter_map(|at| match piece(at, SHORT)? {
            (short, false) => Some(short),
            (_, true) => piece(at, LONG).map(|(long, _)| long),
        });
        pieces.collect::<Vec<_>>()
    };
    parts
        .chain(lines)
        .chain(escaped)
        .flat_map(pieces_of)
        .collect()
}

#[track_caller]
fn check_clean(what: &str, content: &[u8]) {
    let text = String::from_utf8_lossy(content).to_lowercase();
    // What follows is thorough and slow, and most content is clean: a quick look first.
    let pieces: HashSet<String> = pieces().into_iter().collect();
    let known: HashSet<&[u8]> = pieces.iter().map(String::as_bytes).collect();
    let holds = |size: usize| {
        text.as_bytes()
            .windows(size)
            .any(|part| known.contains(part))
    };
    if !holds(SHORT) && !holds(LONG) {
        return;
    }
    if let Some(piece) = pieces.iter().find(|piece| text.contains(piece.as_str())) {
        let place = text.find(piece).unwrap();
        let start = text.floor_char_boundary(place.saturating_sub(60));
        let end = text.ceil_char_boundary((place + 60).min(text.len()));
        panic!("{what} holds `{piece}`: …{}…", &text[start..end]);
    }
}

#[track_caller]
fn check_ran(what: &str, ran: &Ran) {
    check_clean(&format!("stdout of {what}"), ran.out.as_bytes());
    check_clean(&format!("stderr of {what}"), ran.err.as_bytes());
}

#[track_caller]
fn check_files(folder: &Path) {
    let files = all_files(folder);
    assert!(!files.is_empty());
    for path in files {
        check_clean(&path.display().to_string(), &fs::read(&path).unwrap());
        check_clean("a file's name", path.display().to_string().as_bytes());
    }
}

/// All secrets in one text, each in several guises.
fn all() -> String {
    let mut lines = vec![format!("password {PASSWORD}"), PEM.to_owned()];
    for (start, part) in SHAPES {
        let secret = format!("{start}{part}");
        lines.push(format!("is {secret} or \"{secret}\", key={secret}"));
        lines.push(format!("\x1b[31m{secret}\x1b[0m"));
        lines.push(json!({ "k": format!("\n{secret}\t{PASSWORD}") }).to_string());
    }
    lines.join("\n") + "\n"
}

/// A project without a secret in it, and a folder elsewhere with the dataset and an agent that says what
/// `<id>.out` and `<id>.err` hold.
struct Secrets {
    project: Project,
    elsewhere: Project,
    rows: Vec<Value>,
}

impl Secrets {
    fn new() -> Self {
        let elsewhere = Project::new();
        elsewhere.script(
            "agent.sh",
            "#!/bin/sh\ncd \"${0%/*}\"\ncat \"$EVALTEST_SAMPLE_ID.err\" >&2\ncat \"$EVALTEST_SAMPLE_ID.out\"\n\
             test ! -e \"$EVALTEST_SAMPLE_ID.exit\"\n",
        );
        Self {
            project: Project::new(),
            elsewhere,
            rows: Vec::new(),
        }
    }

    fn sample(&mut self, id: &str, truth: &str, out: impl AsRef<[u8]>, err: impl AsRef<[u8]>) {
        self.elsewhere.write(&format!("{id}.out"), out);
        self.elsewhere.write(&format!("{id}.err"), err);
        self.rows.push(json!({
            "task_id": id, "Question": format!("What of {id}?"), "Level": 1, "Final answer": truth,
        }));
    }

    /// As [`Secrets::sample`], exiting with code 1.
    fn failing(&mut self, id: &str, out: impl AsRef<[u8]>, err: impl AsRef<[u8]>) {
        self.sample(id, "1", out, err);
        self.elsewhere.write(&format!("{id}.exit"), "");
    }

    fn write(&self) {
        let lines: Vec<_> = self.rows.iter().map(Value::to_string).collect();
        self.elsewhere.write("data.jsonl", lines.join("\n"));
        let elsewhere = self.elsewhere.path().display();
        self.project.write(
            "eval.yaml",
            format!(
                "name: e\nbenchmark: {{ type: gaia, path: {elsewhere}/data.jsonl }}\nprompt: none\n\
                 agent: {{ type: command, command: [{elsewhere}/agent.sh], input: json, output: json, \
                 env: [MY_PASSWORD, MY_SIGNING_KEY], options: {{ api_key: hunter2hunter3, max_tokens: 64 }} }}\n\
                 snapshot: {{ answers: plain }}\nredact: ['corp-[0-9]+']\n"
            ),
        );
    }

    fn run(&self, arguments: &str) -> Ran {
        let mut command = self.project.command(arguments);
        command
            .env("MY_PASSWORD", PASSWORD)
            .env("MY_SIGNING_KEY", PEM);
        let ran = Ran::of(&command.output().unwrap());
        check_ran(arguments, &ran);
        check_files(self.project.path());
        ran
    }
}

fn record<'a>(records: &'a [Value], id: &str) -> &'a Value {
    let found = records.iter().find(|record| record["sample_id"] == id);
    &found.unwrap()["result"]
}

#[test]
fn no_secret_is_written_or_shown_and_no_verdict_changes() {
    let mut given = Secrets::new();
    let usage = json!({ "input_tokens": 1234, "output_tokens": 56 });
    // Everything everywhere.
    let answer = json!({
        "answer": format!("{}FINAL ANSWER: 17", all()),
        "messages": [{ "role": "assistant", "content": all(), "max_tokens": 4096, (all()): 1 }],
        "tool_calls": [{ "name": "f", "arguments": json!({ "x": all(), "max_tokens": 99 }).to_string() }],
        "usage": usage, "cost_usd": 0.25,
    });
    given.sample("everything", "17", answer.to_string(), all());
    // The answer is the secret, of every kind; normalising it must not bring it back.
    for (number, (start, part)) in SHAPES.iter().enumerate() {
        let secret = format!("{start}{part}");
        let answer = json!({ "answer": format!("FINAL ANSWER: {secret}") });
        given.sample(&format!("truth-{number}"), &secret, answer.to_string(), "");
        let list = format!("{secret}, 12");
        let answer = json!({ "answer": format!("FINAL ANSWER: {list}") });
        given.sample(&format!("list-{number}"), &list, answer.to_string(), "");
        given.sample(&format!("wrong-{number}"), "other", answer.to_string(), "");
    }
    given.sample(
        "password",
        PASSWORD,
        json!({ "answer": PASSWORD }).to_string(),
        "",
    );
    // Failures of every kind.
    given.failing("fails", "", all());
    given.failing("fails-long", "", all().repeat(20));
    given.sample("says-error", "1", json!({ "error": all() }).to_string(), "");
    given.sample("no-json", "1", all(), all());
    given.sample(
        "wrong-answer",
        "1",
        json!({ "answer": [all()] }).to_string(),
        "",
    );
    given.rows[0]["Question"] = all().into();
    given.rows[0]["Annotator Metadata"] = json!({ "Steps": all(), "tokens": 7 });
    given.write();

    let ran = given.run("run --stream --redact-pattern emp#[a-z]+ eval.yaml");
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    ran.says("everything| is [REDACTED] or");
    let records = given.project.last_lines("samples.jsonl");
    let everything = record(&records, "everything");
    assert_eq!(everything["score"]["correct"], true);
    assert_eq!(everything["usage"]["input_tokens"], 1234);
    assert_eq!(everything["usage"]["cost_usd"], 0.25);
    assert_eq!(everything["output"]["messages"][0]["max_tokens"], 4096);
    let call = everything["output"]["tool_calls"][0]["arguments"]
        .as_str()
        .unwrap();
    assert!(call.contains("\"max_tokens\":99"), "{call}");
    assert!(
        everything["redacted"].as_u64().unwrap() > 50,
        "{everything}"
    );
    let manifest = given.project.last_json("manifest.json");
    assert_eq!(
        manifest["config"]["agent"]["options"]["api_key"],
        "[REDACTED]"
    );
    assert_eq!(manifest["config"]["agent"]["options"]["max_tokens"], 64);
    for (number, _) in SHAPES.iter().enumerate() {
        for (kind, correct) in [("truth", true), ("list", true), ("wrong", false)] {
            let result = record(&records, &format!("{kind}-{number}"));
            assert_eq!(
                result["score"]["correct"], correct,
                "{kind}-{number}: {result}"
            );
            assert!(result["redacted"].as_u64() >= Some(1), "{result}");
        }
    }
    assert_eq!(record(&records, "password")["score"]["correct"], true);
    let tail = record(&records, "fails-long")["error"]["stderr_tail"]
        .as_str()
        .unwrap();
    assert!(tail.len() <= 4096 && tail.contains("[REDACTED]"), "{tail}");

    nothing_brings_one_back(&given);
}

fn nothing_brings_one_back(given: &Secrets) {
    let dir = given.project.last_run();
    let dir = dir
        .strip_prefix(given.project.path())
        .unwrap()
        .display()
        .to_string();
    given.run(&format!("show {dir}")).exits(0);
    for id in ["everything", "truth-0", "fails", "says-error", "no-json"] {
        given
            .run(&format!("show {dir} {id}"))
            .exits(0)
            .says("[REDACTED]");
        given.run(&format!("show {dir} {id} --json")).exits(0);
    }
    given.run(&format!("summarize {dir}")).exits(0);
    given.run(&format!("accept --partial {dir}")).exits(0);
    let ran = given
        .run("run eval.yaml --json --redact-pattern emp#[a-z]+")
        .exits(3);
    assert_eq!(ran.json()["exit_code"], 3);

    // A second look at answers that lost something keeps their verdicts.
    let verdicts = |records: &[Value]| -> Vec<Value> {
        records
            .iter()
            .map(|record| record["result"]["score"]["correct"].clone())
            .collect()
    };
    let before = verdicts(&given.project.last_lines("samples.jsonl"));
    given
        .run(&format!("rescore {dir}"))
        .exits(0)
        .says("verdicts are kept for");
    assert_eq!(verdicts(&given.project.last_lines("samples.jsonl")), before);
    assert_eq!(given.project.runs().len(), 3);
}

#[test]
fn a_secret_cut_in_two_is_not_written_by_halves() {
    let mut given = Secrets::new();
    let secret = format!("{}{}", SHAPES[0].0, SHAPES[0].1);
    let lines = format!("{PASSWORD} {secret}\nBearer {}\n", SHAPES[6].1);
    // The end of stderr that is kept begins at every place of the three; and redaction shortens what is
    // kept, so that its beginning is not cut away again.
    for offset in (0..lines.len()).step_by(2) {
        let err = format!(
            "{}{}",
            lines.repeat(8192 / lines.len() + 2),
            "x".repeat(offset)
        );
        given.failing(&format!("tail-{offset}"), "", err);
    }
    let words = lines.replace('\n', " ");
    for offset in (0..words.len()).step_by(3) {
        // Without the password: of a single line of 8 KiB two words go, and it has more.
        let one = words.replace(PASSWORD, "");
        let err = format!("{}{}", one.repeat(8192 / one.len() + 2), "x".repeat(offset));
        given.failing(&format!("word-{offset}"), "", err);
    }
    // What is shown of a reply that is no JSON, or of an error, ends at every place of them.
    for offset in 0..lines.len() + 4 {
        let pad = "z".repeat(200 - offset);
        given.sample(
            &format!("reply-{offset}"),
            "1",
            format!("{pad}{lines} more"),
            "",
        );
        let pad = "z".repeat(1000 - offset);
        let error = json!({ "error": format!("{pad}{lines} more and more") });
        given.sample(&format!("error-{offset}"), "1", error.to_string(), "");
    }
    // Live output: a line that is too long is shown up to somewhere.
    for offset in 0..lines.len() {
        let err = format!("{} {lines}", "z".repeat(8191 - offset));
        given.sample(
            &format!("live-{offset}"),
            "1",
            json!({ "answer": "1" }).to_string(),
            err,
        );
    }
    given.write();
    let ran = given.run("run eval.yaml --stream --concurrency 4");
    assert!(ran.code.is_some());
    let records = given.project.last_lines("errors.jsonl");
    for id in ["tail-0", "word-3", "reply-20", "error-20"] {
        assert_eq!(record(&records, id)["status"], "agent_failed");
    }
}

#[test]
fn a_verdict_that_was_lost_with_its_secret_is_no_wrong_answer() {
    let mut given = Secrets::new();
    let secret = format!("{}{}", SHAPES[0].0, SHAPES[0].1);
    let answer = |text: String| json!({ "answer": text }).to_string();
    given.sample(
        "secret",
        &secret,
        answer(format!("FINAL ANSWER: {secret}")),
        "",
    );
    given.sample(
        "beside",
        "17",
        answer(format!("With {secret}.\nFINAL ANSWER: 17")),
        "",
    );
    given.sample("none", "17", answer("FINAL ANSWER: 17".to_owned()), "");
    given.write();
    given.run("run -v eval.yaml").exits(0).says("3 correct");
    // Killed when the answers were on disk and the verdicts were not.
    let dir = given.project.last_run();
    let events = given.project.last_lines("events.jsonl");
    let remaining = events.iter().filter(|event| event["kind"] != "scored");
    let remaining: Vec<_> = remaining.map(Value::to_string).collect();
    fs::write(dir.join("events.jsonl"), remaining.join("\n") + "\n").unwrap();
    given
        .run(&format!("run -v eval.yaml --resume {}", dir.display()))
        .exits(3)
        .says("3 samples, 2 correct")
        .says(", 1 error,")
        .says("--failed RUN_DIR");
    let records = given.project.last_lines("samples.jsonl");
    assert_eq!(record(&records, "secret")["status"], "scorer_failed");
    for id in ["beside", "none"] {
        assert_eq!(record(&records, id)["score"]["correct"], true, "{id}");
    }
}
