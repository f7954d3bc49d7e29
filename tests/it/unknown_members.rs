//! Members that this version does not know, at every level of a run's files: they stay, byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::project::{Project, Ran, json_lines, sign, unsealed};

/// An agent that tells all that agents can tell; of one sample it knows nothing.
const AGENT: &str = r#"#!/bin/sh
while read -r _; do :; done
case $EVALTEST_SAMPLE_ID in fails) echo 'out of "order"' >&2; exit 4;; esac
printf '{"answer":"So: FINAL ANSWER: 17","messages":[{"role":"assistant","content":"{"}],'
printf '"tool_calls":[{"name":"f","arguments":{}}],"usage":{"input_tokens":10},"cost_usd":0.50}'
"#;

/// Random numbers: Xorshift.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }

    /// A member that nobody knows, in a form in which this program would not write it.
    fn member(&mut self, number: usize) -> String {
        let name = ["later", "l\\u0061ter", "scor", "\\\"", "é"][self.below(5)];
        let values = [
            "1.50",
            "-0.0 ",
            "123456789012345678901234",
            "\"\\u00e9\\/ }{,\"",
            "{ \"x\" :[ ], \"x\":null}",
        ];
        format!("\"{name} {number}\" : {}", values[self.below(values.len())])
    }
}

/// Adds unknown members to objects of a line, but for those below a member named in `skipped`. Gives what was added.
fn strew(line: &str, skipped: &[&str], dice: &mut Dice, added: &mut Vec<String>) -> String {
    let mut out = String::new();
    // The names on the way to this place, and whether it is an object that stands there.
    let mut path: Vec<(&str, bool)> = Vec::new();
    let mut name = "";
    let mut rest = line;
    while let Some(byte) = rest.bytes().next() {
        let token = if byte == b'"' {
            let mut escaped = false;
            let end = rest[1..].bytes().position(|byte| {
                let ends = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                ends
            });
            &rest[..end.unwrap() + 2]
        } else {
            &rest[..rest.chars().next().unwrap().len_utf8()]
        };
        rest = &rest[token.len()..];
        let is_inside = |path: &[(&str, bool)]| {
            path.last().is_some_and(|(_, is_object)| *is_object)
                && !path.iter().any(|(name, _)| skipped.contains(name))
        };
        if byte == b'}' && is_inside(&path) && !out.ends_with('{') && dice.below(3) == 0 {
            added.push(format!(",{}", dice.member(added.len())));
            out += added.last().unwrap();
        }
        out += token;
        match byte {
            b'"' => name = token.trim_matches('"'),
            b'{' | b'[' => path.push((name, byte == b'{')),
            b'}' | b']' => drop(path.pop()),
            _ => {}
        }
        if matches!(byte, b'{' | b',') && is_inside(&path) && dice.below(3) == 0 {
            let is_empty = rest.starts_with('}');
            let comma = if is_empty { "" } else { "," };
            added.push(format!("{}{comma}", dice.member(added.len())));
            out += added.last().unwrap();
        }
    }
    out
}

/// The text without what was added, each of which stands there once.
#[track_caller]
fn without(text: &str, added: &[String]) -> String {
    added.iter().fold(text.to_owned(), |text, member| {
        assert_eq!(text.matches(member).count(), 1, "{member}");
        text.replacen(member, "", 1)
    })
}

fn command(project: &Project, first: &str, dir: &Path, more: &[&str]) -> Ran {
    let dir = dir.display().to_string();
    let words = first.split_whitespace().chain([&*dir]);
    let words: Vec<_> = words.chain(more.iter().copied()).collect();
    Ran::of(&project.command_of(&words).output().unwrap())
}

/// The run whose answers are scored anew; its directory is the only one in its folder.
fn rescored(project: &Project, dir: &Path, scorers: &[&str]) -> PathBuf {
    let root = project.file("again");
    let _ = fs::remove_dir_all(&root);
    let named = scorers.iter().flat_map(|scorer| ["--scorer", scorer]);
    let more: Vec<_> = ["--output-root", "again"]
        .into_iter()
        .chain(named)
        .collect();
    command(project, "rescore", dir, &more).exits(0);
    let mut runs = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    runs.find(|path| path.join("samples.jsonl").is_file())
        .unwrap()
}

/// A finished run of three answers, and of one that is none.
fn ran() -> (Project, PathBuf) {
    let questions = [("a", "17"), ("b\"\\", "18"), ("c", "17"), ("fails", "17")];
    let questions = questions.map(|(id, answer)| (id, 1, "How many?", answer));
    let project = Project::with_eval(
        &questions,
        "{ type: command, command: [./agent.sh], output: json }",
        "scorers: [gaia, substring]\nlimits: { retries: 0 }\n",
    );
    project.script("agent.sh", AGENT);
    project.run("run eval.yaml");
    let dir = project.last_run();
    (project, dir)
}

#[test]
fn scoring_anew_keeps_unknown_members_and_their_bytes() {
    let (project, dir) = ran();
    let samples = dir.join("samples.jsonl");
    let known = fs::read_to_string(&samples).unwrap();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut kept_as_error = 0;
    for scorers in [&["gaia", "quasi_exact"][..], &["substring"]] {
        fs::write(&samples, &known).unwrap();
        sign(&dir);
        let read = |dir: &Path, name| fs::read_to_string(dir.join(name)).unwrap();
        let new = rescored(&project, &dir, scorers);
        let expect = ["samples.jsonl", "errors.jsonl"].map(|name| read(&new, name));
        for _ in 0..12 {
            let mut added = Vec::new();
            // A verdict is made anew.
            let text = strew(&known, &["score", "scores"], &mut dice, &mut added);
            assert!(added.len() > 20);
            assert_eq!(without(&text, &added), known);
            fs::write(&samples, &text).unwrap();
            sign(&dir);
            let new = rescored(&project, &dir, scorers);
            assert_eq!(without(&read(&new, "samples.jsonl"), &added), expect[0]);
            let errors = read(&new, "errors.jsonl");
            added.retain(|member| errors.contains(member));
            kept_as_error += added.len();
            assert_eq!(without(&errors, &added), expect[1]);
        }
        // Both can be made the baseline.
        let new = rescored(&project, &dir, scorers);
        for dir in [&new, &dir] {
            command(&project, "accept --partial", dir, &[])
                .exits(0)
                .says(" of 3 correct")
                .says("fails ended in an error");
        }
    }
    assert!(kept_as_error > 50);
}

/// Whether all members of objects in `part` are in `whole`, but for those named.
fn is_in(part: &Value, whole: &Value, but: &[&str]) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().all(|(name, value)| {
            but.contains(&name.as_str())
                || whole
                    .get(name)
                    .is_some_and(|whole| is_in(value, whole, &[]))
        }),
        (Value::Array(part), Value::Array(whole)) => {
            let mut pairs = part.iter().zip(whole);
            part.len() == whole.len() && pairs.all(|(part, whole)| is_in(part, whole, &[]))
        }
        (part, whole) => part == whole,
    }
}

/// The records that were made of a journal have what it has of answers and outcomes: where it is no data of agents and
/// scorers, byte for byte.
fn remade(dir: &Path, added: &[String]) {
    let records = json_lines(&dir.join("samples.jsonl"));
    let of = |event: &Value| {
        let id = &event["sample_id"];
        let mut records = records.iter();
        records.find(|record| record["sample_id"] == *id).unwrap()
    };
    let mut known = Vec::new();
    for event in json_lines(&dir.join("events.jsonl")) {
        let result = &of(&event)["result"];
        match event["kind"].as_str().unwrap() {
            "answered" => {
                assert!(is_in(&event["output"], &result["output"], &[]), "{event}");
                known.push(event["output"].clone());
            }
            "scored" => {
                assert!(is_in(&event["result"], result, &["output"]), "{event}");
                known.push(event["result"].clone());
            }
            _ => {}
        }
    }
    let text = fs::read_to_string(dir.join("samples.jsonl")).unwrap();
    let is_data =
        |name: &str| ["messages", "tool_calls", "metadata", "details", "scores"].contains(&name);
    let mut found = 0;
    for member in added {
        let member = member.trim_matches([',', ' ']);
        let (name, _) = member.split_once(" : ").unwrap();
        let name: String = serde_json::from_str(name).unwrap();
        if known.iter().any(|value| has(value, &name, &is_data)) {
            assert_eq!(text.matches(member).count(), 1, "{member}");
            found += 1;
        }
    }
    assert!(found > 8, "{found}");
}

/// Whether an object has a member of this name, or one inside does; not below a member that `spares`.
fn has(value: &Value, name: &str, spares: &dyn Fn(&str) -> bool) -> bool {
    value.as_object().is_some_and(|members| {
        members.contains_key(name)
            || members
                .iter()
                .any(|(known, value)| !spares(known) && has(value, name, spares))
    })
}

#[test]
fn what_is_shown_as_json_has_unknown_members() {
    let (project, dir) = ran();
    for name in ["samples.jsonl", "events.jsonl"] {
        let known = unsealed(&fs::read_to_string(dir.join(name)).unwrap());
        let mut dice = Dice(0x6a09_e667_f3bc_c908);
        let text = strew(&known, &[], &mut dice, &mut Vec::new());
        fs::write(dir.join(name), text).unwrap();
    }
    sign(&dir);
    let records = json_lines(&dir.join("samples.jsonl"));
    let output = command(&project, "show --json", &dir, &[]).exits(0).json();
    assert_eq!(output.as_array().map(Vec::len), Some(records.len()));
    let events = json_lines(&dir.join("events.jsonl"));
    for (number, record) in records.iter().enumerate() {
        assert!(is_in(record, &output[number], &[]), "{record}");
        let id = record["sample_id"].as_str().unwrap();
        let one = command(&project, "show --json", &dir, &[id]).exits(0);
        let one = one.json();
        assert!(is_in(record, &one, &[]), "{record}");
        let mut requested: Vec<_> = events.iter().collect();
        requested.retain(|event| event["sample_id"] == *id);
        assert_eq!(
            one["events"].as_array().map(Vec::len),
            Some(requested.len())
        );
        for (number, event) in requested.into_iter().enumerate() {
            assert!(is_in(event, &one["events"][number], &[]), "{event}");
        }
    }
}

#[test]
fn a_journal_that_is_continued_keeps_unknown_members_and_their_bytes() {
    let (project, dir) = ran();
    let journal = dir.join("events.jsonl");
    let known = unsealed(&fs::read_to_string(&journal).unwrap());
    let mut text = String::new();
    for seed in 1..=3 {
        let mut added = Vec::new();
        text = strew(
            &known,
            &[],
            &mut Dice(seed * 0x2545_f491_4f6c_dd1d),
            &mut added,
        );
        assert!(added.len() > 50);
        assert_eq!(without(&text, &added), known);
        fs::write(&journal, &text).unwrap();
        // What failed is asked again, and told behind all that stood there.
        command(&project, "run eval.yaml --resume", &dir, &[]);
        let after = fs::read_to_string(&journal).unwrap();
        assert!(after.starts_with(&text) && after.len() > text.len());
        remade(&dir, &added);
    }
    let before = fs::read_to_string(&journal).unwrap();
    let new = rescored(&project, &dir, &["gaia"]);
    command(&project, "show", &new, &["a"]).exits(0).says("17");
    for dir in [&dir, &new] {
        command(&project, "accept --partial", dir, &[])
            .exits(0)
            .says(" of 3 correct");
    }
    assert!(before.starts_with(&text));
    assert_eq!(fs::read_to_string(&journal).unwrap(), before);
}
