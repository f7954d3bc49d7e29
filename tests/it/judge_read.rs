//! `judge read`: replies of judges, and what they say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use needs::needs;
use serde_json::{Value, json};

use crate::project::{Project, Ran, root};

const LINE: &str = "{\"id\": 7, \"reply\" : \"GRADE: C\", \"x\":1e0 }\n";

fn read(project: &Project, arguments: &[&str]) -> Ran {
    let arguments = [&["judge", "read"][..], arguments].concat();
    Ran::of(&project.command_of(&arguments).output().unwrap())
}

fn with(content: impl AsRef<[u8]>) -> Project {
    let project = Project::new();
    project.write("r.jsonl", content);
    project
}

/// The readings of replies.
#[track_caller]
fn readings(replies: &[&str], options: &[&str]) -> Vec<Value> {
    let lines = replies
        .iter()
        .map(|reply| json!({"reply": reply}).to_string() + "\n");
    let project = with(lines.collect::<String>());
    let ran = read(&project, &[options, &["r.jsonl"]].concat()).exits(0);
    let lines = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| line["reading"].clone()).collect()
}

#[track_caller]
fn check(reply: &str, options: &[&str], expect: &Value) {
    assert_eq!(readings(&[reply], options)[0], *expect, "{reply}");
}

fn verdict_json(verdict: &Value, values: &Value, repaired: u32) -> Value {
    json!({"status": "read", "reason": null, "verdict": verdict, "values": values, "repaired": repaired})
}

fn unread(reason: &str) -> Value {
    json!({"status": "unreadable", "reason": reason, "verdict": null, "values": null, "repaired": 0})
}

#[test]
fn each_form_has_its_reading() {
    let choices = ["--choice", "C", "--choice", "I"];
    check(
        "GRADE: C",
        &choices,
        &verdict_json(&json!("C"), &json!(null), 0),
    );
    check("GRADE: C or I", &choices, &unread("conflicting"));
    check("It is fine", &choices, &unread("invalid_response_format"));
    check(" ", &choices, &unread("no_response"));
    let rubric = ["--reply", "rubric", "--dimension", "a", "--dimension", "b"];
    let reply = r#"{"b": 5, "a": 1.0, "comments": "$\frac12 \neq 1$"}"#;
    check(
        reply,
        &rubric,
        &verdict_json(&json!(null), &json!({"a": 1, "b": 5}), 2),
    );
    check(
        r#"{"a": 1, "b": 6}"#,
        &rubric,
        &unread("invalid_response_format"),
    );
    let wider = [&rubric[..], &["--scale", "-1,6"]].concat();
    check(
        r#"{"a": -1, "b": 6}"#,
        &wider,
        &verdict_json(&json!(null), &json!({"a": -1, "b": 6}), 0),
    );
    let patterns = ["--pattern", "a=is (a|A)", "--pattern", "b=is b="];
    check(
        "it is A",
        &patterns,
        &verdict_json(&json!("a"), &json!(null), 0),
    );
    check("it is b= and is a", &patterns, &unread("conflicting"));
    let first = [&patterns[..], &["--first-match"]].concat();
    check(
        "it is b= and is a",
        &first,
        &verdict_json(&json!("a"), &json!(null), 0),
    );
    check(
        "[1] [[8.5]]",
        &["--rating"],
        &verdict_json(&json!(8.5), &json!(null), 0),
    );
}

#[test]
fn lines_keep_their_bytes() {
    let reading =
        r#""reading":{"status":"read","reason":null,"verdict":"C","values":null,"repaired":0}"#;
    let project = with(format!(
        "\u{feff}{LINE}\n  \r\n{}",
        LINE.replace('\n', "\r\n")
    ));
    let choice = ["--choice", "C", "r.jsonl"];
    let ran = read(&project, &choice).exits(0);
    let line = LINE.replace(" }\n", &format!(" ,{reading}}}\n"));
    assert_eq!(ran.out, format!("{line}{}", line.replace('\n', "\r\n")));
    assert_eq!(ran.err, "");
    // A reading that is there already.
    project.write("r.jsonl", &ran.out);
    read(&project, &choice)
        .exits(2)
        .says("r.jsonl:1: the line already has a `reading`\n\nhint: add `--replace` to write a new `reading`");
    let again = read(&project, &["--replace", "--choice", "C", "r.jsonl"]).exits(0);
    assert_eq!(again.out, ran.out);
}

#[test]
fn null_is_no_response_and_malformed_lines_are_named() {
    let project = with("{\"reply\": null}\n");
    let ran = read(&project, &["--rating", "r.jsonl"]).exits(0);
    assert!(
        ran.out.contains("\"reason\":\"no_response\""),
        "{}",
        ran.out
    );
    for (line, message) in [
        ("{}", "`reply` is missing"),
        (
            "{\"reply\": 7}",
            "`reply` must be a string or null, not a number",
        ),
        (
            "[]",
            "broken JSON in column 1: expected an object, as `{\"reply\":…}`",
        ),
        (
            "{\"reply\": \"a\"",
            "broken JSON in column 14: expected `,` or `}`",
        ),
    ] {
        let project = with(format!("{LINE}\n{line}\n{LINE}"));
        let ran = read(&project, &["--choice", "C", "r.jsonl"]).exits(2);
        assert!(
            ran.err.contains(&format!(
                "r.jsonl:3: {message}\n\nhint: add `--keep-going` to read the other lines"
            )),
            "{}",
            ran.err
        );
        assert_eq!(ran.out.lines().count(), 1);
        let ran = read(&project, &["--choice", "C", "--keep-going", "r.jsonl"]).exits(3);
        assert_eq!(ran.out.lines().count(), 3);
        let error = json!({"line": 3, "error": message}).to_string();
        assert_eq!(ran.out.lines().nth(1), Some(&*error));
        assert!(ran.err.contains("1 line could not be read"), "{}", ran.err);
    }
}

#[test]
fn options_that_contradict_one_another_are_mistakes() {
    let project = with(LINE);
    let check = |options: &[&str], expect: &str| {
        let ran = read(&project, &[options, &["r.jsonl"]].concat()).exits(2);
        assert_eq!(ran.out, "");
        assert!(
            ran.err.starts_with(&format!("error: {expect}")),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("hint: "), "{}", ran.err);
    };
    check(&[], "the form of the replies is missing\n");
    check(
        &["--reply", "rubric"],
        "`--reply rubric` needs `--dimension`\n",
    );
    check(
        &["--reply", "choices"],
        "`--reply choices` needs `--choice`\n",
    );
    check(
        &["--reply", "patterns"],
        "`--reply patterns` needs `--pattern`\n",
    );
    check(&["--scale", "1,5"], "`--scale` needs `--dimension`\n");
    check(&["--first-match"], "`--first-match` needs `--pattern`\n");
    check(
        &["--first-match", "--choice", "a"],
        "`--first-match` cannot be combined with `--choice`\n",
    );
    check(
        &["--reply", "rubric", "--choice", "a"],
        "`--choice` cannot be combined with `--reply rubric`\n",
    );
    check(
        &["--rating", "--choice", "a"],
        "`--rating` cannot be combined with `--choice`\n",
    );
    check(
        &["--rating", "--compat", "helloagents-judge"],
        "`--compat` cannot be combined with `--rating`\n",
    );
    check(
        &["--choice", "a", "--choice", "a"],
        "`--choice a` is given twice\n",
    );
    check(&["--dimension", " "], "`--dimension` is empty\n");
    check(
        &["--dimension", "a", "--scale", "5,1"],
        "`--scale 5,1`: 5 is not below 1\n",
    );
    check(
        &["--dimension", "a", "--scale", "1-5"],
        "`--scale 1-5` is not two whole numbers\n",
    );
    check(
        &["--pattern", "a"],
        "`--pattern a` is not of the form `NAME=REGEX`\n",
    );
    let ran = read(&project, &["--pattern", "a=(", "r.jsonl"]).exits(2);
    assert!(
        ran.err
            .contains("`--pattern a=…`: `(` is not a regular expression"),
        "{}",
        ran.err
    );
}

#[test]
fn another_program_is_followed_with_a_warning() {
    let judge = ["--compat", "helloagents-judge"];
    let values = |points: f64, total: f64| json!({"correctness": points, "clarity": 3.0, "difficulty_match": 3.0, "completeness": 3.0, "total": total});
    check(
        "no idea",
        &judge,
        &verdict_json(&json!(null), &values(3.0, 3.0), 0),
    );
    check(
        r#"{"correctness": 1000}"#,
        &judge,
        &verdict_json(&json!(null), &values(1000.0, 252.25), 0),
    );
    let winner = ["--compat", "helloagents-winner"];
    check(
        "no idea",
        &winner,
        &verdict_json(&json!("Tie"), &json!(null), 0),
    );
    check(
        r#"{"winner": "Problem B"}"#,
        &winner,
        &verdict_json(&json!("Problem B"), &json!(null), 0),
    );
    let project = with("{\"reply\":null}\n{\"reply\":\"\"}\n");
    let ran = read(&project, &["--compat", "helloagents-winner", "r.jsonl"]).exits(0);
    assert_eq!(ran.out.matches("\"verdict\":\"Tie\"").count(), 2);
    assert_eq!(
        ran.err
            .matches("note: `--compat helloagents-winner`")
            .count(),
        1
    );
}

#[test]
fn standard_input_is_read_and_order_is_kept() {
    let lines = (0..20_000).map(|number| format!("{{\"reply\":\"[[{number}]]\"}}\n"));
    let project = with(lines.collect::<String>());
    let mut command = project.command_of(&["judge", "read", "--rating", "--threads", "3"]);
    command.stdin(std::fs::File::open(project.file("r.jsonl")).unwrap());
    let ran = Ran::of(&command.output().unwrap()).exits(0);
    for (number, line) in ran.out.lines().enumerate() {
        assert!(line.contains(&format!("\"verdict\":{number},")), "{line}");
    }
    assert_eq!(ran.out.lines().count(), 20_000);
}

/// Recorded replies.
fn judging(name: &str) -> Vec<Value> {
    let data = std::env::var_os("EVALTEST_PARITY_DATA");
    let data = data.map_or_else(|| root().join("../shared"), PathBuf::from);
    lines_of(&data.join("judging").join(name))
}

fn lines_of(path: &Path) -> Vec<Value> {
    let text = Command::new("gzip").arg("-dc").arg(path).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    let lines: Vec<_> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!lines.is_empty(), "{}", path.display());
    lines
}

#[needs(data = "judging/mtbench_single_grades.jsonl.gz")]
#[test]
fn grades_of_mt_bench() {
    let rows = judging("mtbench_single_grades.jsonl.gz");
    let replies: Vec<_> = rows
        .iter()
        .map(|row| row["reply"].as_str().unwrap())
        .collect();
    for (row, reading) in rows.iter().zip(readings(&replies, &["--rating"])) {
        let score = match reading["status"].as_str() {
            Some("read") => reading["verdict"].as_f64(),
            _ => Some(-1.0),
        };
        assert_eq!(score, row["score"].as_f64(), "{row}");
    }
}

/// The options for a map of patterns as the authors have it.
fn options(patterns: &Value, more: &[&str]) -> Vec<String> {
    let patterns = patterns.as_object().unwrap().iter();
    let patterns = patterns.flat_map(|(name, pattern)| {
        [
            "--pattern".to_owned(),
            format!("{name}={}", pattern.as_str().unwrap()),
        ]
    });
    patterns
        .chain(more.iter().map(|&more| more.to_owned()))
        .collect()
}

/// The verdicts of replies, each by the patterns beside it.
fn verdicts(requested: &[(&Value, &str)], more: &[&str]) -> Vec<Value> {
    let mut groups = BTreeMap::<String, (&Value, Vec<usize>)>::new();
    for (place, (patterns, _)) in requested.iter().enumerate() {
        let group = groups
            .entry(patterns.to_string())
            .or_insert((patterns, Vec::new()));
        group.1.push(place);
    }
    let mut found = vec![json!(null); requested.len()];
    for (patterns, places) in groups.into_values() {
        let replies: Vec<_> = places.iter().map(|&place| requested[place].1).collect();
        let options = options(patterns, more);
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        for (place, reading) in places.iter().zip(readings(&replies, &options)) {
            found[*place] = reading;
        }
    }
    found
}

/// By set, judge and strategy: the authors' statistics and patterns.
fn expected() -> BTreeMap<[String; 3], Value> {
    let data = std::env::var_os("EVALTEST_PARITY_DATA");
    let data = data.map_or_else(|| root().join("../shared"), PathBuf::from);
    let text = std::fs::read_to_string(data.join("judging/llmbar_expected.json")).unwrap();
    let cells: Vec<Value> = serde_json::from_str(&text).unwrap();
    cells.into_iter().map(|cell| (key(&cell), cell)).collect()
}

fn key(row: &Value) -> [String; 3] {
    ["set", "judge", "strategy"].map(|name| row[name].as_str().unwrap().to_owned())
}

/// The authors' patterns for a stage.
fn patterns_of(cell: &Value, stage: usize) -> &Value {
    let patterns = cell["patterns"].as_array().unwrap();
    if cell["strategy"].as_str().unwrap().starts_with("Swap") {
        &patterns[stage]
    } else {
        patterns.last().unwrap()
    }
}

#[needs(data = "judging/llmbar_replies.jsonl.gz")]
#[test]
fn verdicts_of_llmbar_and_its_published_figures() {
    let (expected, rows) = (expected(), judging("llmbar_replies.jsonl.gz"));
    let mut requested = Vec::new();
    for row in &rows {
        let cell = &expected[&key(row)];
        for (stage, given) in row["stages"].as_array().unwrap().iter().enumerate() {
            for reply in given["replies"].as_array().into_iter().flatten() {
                requested.push((patterns_of(cell, stage), reply.as_str().unwrap()));
            }
        }
    }
    assert_eq!(requested.len(), 17_710);
    let found = verdicts(&requested, &["--first-match"]);
    let mut found = found.iter().map(|reading| reading["verdict"].clone());
    let mut counts = BTreeMap::<_, [u64; 5]>::new();
    for row in &rows {
        let mut last = json!(null);
        for stage in row["stages"].as_array().unwrap() {
            last = stage["winner"].clone();
            if stage.get("replies").is_some() {
                let swapped = |verdict: Value| match verdict.as_str() {
                    Some("1") => json!("2"),
                    Some("2") => json!("1"),
                    _ => verdict,
                };
                let read = json!([found.next().unwrap(), swapped(found.next().unwrap())]);
                assert_eq!(read, last, "{row}");
            }
        }
        let right = [0, 1].map(|order| last[order] == row["label"]);
        let counts = counts.entry(key(row)).or_default();
        let more = [
            true,
            right[0],
            right[1],
            right[0] && right[1],
            last[0] == last[1],
        ];
        for (count, more) in counts.iter_mut().zip(more) {
            *count += u64::from(more);
        }
    }
    let names = [
        "n",
        "correct_order1",
        "correct_order2",
        "correct_both",
        "orders_agree",
    ];
    assert_eq!(counts.len(), 92);
    for (key, counts) in counts {
        let cell = &expected[&key];
        assert_eq!(
            json!(counts),
            json!(names.map(|name| cell[name].clone())),
            "{key:?}"
        );
        // As published: "28 / 54 = 51.85…%".
        for (name, count) in [
            ("correct_False", counts[1]),
            ("correct_True", counts[2]),
            ("equal", counts[4]),
        ] {
            let published = cell["published"][name].as_str().unwrap();
            assert!(
                published.starts_with(&format!("{count} / {} = ", counts[0])),
                "{published}"
            );
        }
    }
}

#[needs(data = "judging/llmbar_hard_replies.jsonl.gz")]
#[test]
fn no_verdict_of_a_hard_reply_is_guessed() {
    let (expected, rows) = (expected(), judging("llmbar_hard_replies.jsonl.gz"));
    let stage = |row: &Value| usize::try_from(row["stage"].as_u64().unwrap()).unwrap();
    let known = rows.iter().filter(|row| expected.contains_key(&key(row)));
    let known: Vec<_> = known.collect();
    assert_eq!(known.len(), rows.len());
    let requested = known.iter().map(|row| {
        let patterns = patterns_of(&expected[&key(row)], stage(row));
        (patterns, row["reply"].as_str().unwrap())
    });
    let requested: Vec<_> = requested.collect();
    for (row, reading) in known.iter().zip(verdicts(&requested, &[])) {
        let reason = match row["patterns_that_match"].as_array().unwrap().len() {
            0 if row["reply"].as_str().unwrap().trim().is_empty() => "no_response",
            0 => "invalid_response_format",
            _ => "conflicting",
        };
        assert_eq!(reading, unread(reason), "{row}");
    }
}
