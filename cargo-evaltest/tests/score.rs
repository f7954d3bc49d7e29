//! `cargo evaltest score`, driven as a user does.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

use needs::needs;
use serde_json::{Value, json};

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command.args(["evaltest", "score"]).args(args);
    command
}

/// Scores what is given on standard input.
fn score(args: &[&str], input: &[u8]) -> Output {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // It may end before it has read everything.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the input is written");
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// Scores with `gaia` and expects these bytes on standard output, `@` being a score of 1.0.
#[track_caller]
fn check(args: &[&str], input: &[u8], expect: &str) {
    let output = score(&[&["--scorer", "gaia"], args].concat(), input);
    let expect = expect.replace('@', RIGHT);
    assert_eq!(text(&output.stdout), expect, "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}

/// The score of `a` for `A`.
const RIGHT: &str = r#"{"value":1.0,"correct":true,"reason":"exact_match","normalized_prediction":"a","normalized_ground_truth":"a","details":{"kind":"string"}}"#;

/// Scores with `gaia` a good line and then this one; expects the good one's result, the message and exit
/// code 2, and with `--keep-going` all results and exit code 3.
#[track_caller]
fn check_malformed(line: &[u8], message: &str, hint: &str) {
    let good = r#"{"prediction":"a","ground_truth":"A"}"#;
    let scored = format!("{},\"score\":{RIGHT}}}", &good[..good.len() - 1]);
    let input = [good.as_bytes(), b"\n\n", line, b"\r\n", good.as_bytes()].concat();

    let output = score(&["--scorer", "gaia"], &input);
    assert_eq!(
        text(&output.stderr),
        format!("error: <stdin>:3: {message}\n\nhint: {hint}\n")
    );
    assert_eq!(text(&output.stdout), format!("{scored}\n"));
    assert_eq!(output.status.code(), Some(2));

    let output = score(&["--scorer", "gaia", "--keep-going"], &input);
    let fault = json!({"line": 3, "error": message});
    assert_eq!(
        text(&output.stdout),
        format!("{scored}\n{fault}\r\n{scored}")
    );
    assert!(text(&output.stderr).starts_with("error: <stdin>:3: 1 line could not be scored"));
    assert_eq!(output.status.code(), Some(3));
}

const GO_ON: &str = "add `--keep-going` to score the other lines";

#[test]
fn the_score_is_spliced_in_before_the_closing_brace() {
    check(
        &[],
        b"{\"prediction\":\"a\",\"ground_truth\":\"A\"}\n",
        "{\"prediction\":\"a\",\"ground_truth\":\"A\",\"score\":@}\n",
    );
    check(
        &[],
        "  { \"x\":1.50, \"ground_truth\" : \"\\u0041\",\"y\":{\"score\":1},\"prediction\":\"a\" }  \t\r\n".as_bytes(),
        "  { \"x\":1.50, \"ground_truth\" : \"\\u0041\",\"y\":{\"score\":1},\"prediction\":\"a\" ,\"score\":@}  \t\r\n",
    );
    check(
        &[],
        "{\"é\":\"\\ud83d\",\"prediction\":\"a\",\"ground_truth\":\"A\"}".as_bytes(),
        "{\"é\":\"\\ud83d\",\"prediction\":\"a\",\"ground_truth\":\"A\",\"score\":@}",
    );
}

#[test]
fn blank_lines_the_mark_and_python_words_are_no_fault() {
    check(&[], b"", "");
    check(&[], b"\xef\xbb\xbf", "");
    check(&[], b"\n \t\r\n\n", "");
    check(
        &[],
        b"\xef\xbb\xbf\n{\"x\":[NaN,{\"y\":-Infinity}],\"z\":Infinity,\"prediction\":\"a\",\"ground_truth\":\"A\"}\n \n",
        "{\"x\":[NaN,{\"y\":-Infinity}],\"z\":Infinity,\"prediction\":\"a\",\"ground_truth\":\"A\",\"score\":@}\n",
    );
}

#[test]
fn the_last_of_equal_keys_counts() {
    check(
        &[],
        br#"{"prediction":7,"prediction":"a","ground_truth":null,"gr\u006fund_truth":"A"}"#,
        r#"{"prediction":7,"prediction":"a","ground_truth":null,"gr\u006fund_truth":"A","score":@}"#,
    );
}

#[test]
fn a_missing_prediction_is_null() {
    for line in [
        r#"{"ground_truth":"None"}"#,
        r#"{"ground_truth":"None","prediction":null}"#,
    ] {
        let output = score(&["--scorer", "gaia"], line.as_bytes());
        let row: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(row["score"]["correct"], true);
        assert_eq!(row["score"]["normalized_prediction"], "none");
        assert!(row["score"]["details"]["warning"].is_string());
    }
}

/// What stands for half of a surrogate pair is no character of the ground truth.
#[test]
fn half_of_a_pair_equals_no_text() {
    for (prediction, target, expect) in [
        (r"\ud800", r"\ufffd", false),
        (r"\ufffd", r"\ufffd", true),
        (r"\ud800", "\u{f0000}\u{fffd}", false),
        (r"\ud83d\ude00", "😀", true),
    ] {
        let line = format!(r#"{{"prediction":"{prediction}","ground_truth":"{target}"}}"#);
        let output = score(&["--scorer", "gaia"], line.as_bytes());
        // What reads it here knows no lone surrogates.
        let row = String::from_utf8(output.stdout)
            .unwrap()
            .replace(r"\ud800", "?");
        let row: Value = serde_json::from_str(&row).expect("JSON");
        assert_eq!(row["score"]["correct"], expect, "{line}");
    }
}

#[test]
fn malformed_lines() {
    let check = |line: &str, message: &str| check_malformed(line.as_bytes(), message, GO_ON);
    check_malformed(
        br#"{"prediction":"a"}"#,
        "`ground_truth` is missing",
        "name its field: `--map ground_truth=FIELD`; or add `--keep-going` to score the other lines",
    );
    check(
        r#"{"prediction":"a","ground_truth":17}"#,
        "`ground_truth` must be a string for scorer `gaia`",
    );
    check(
        r#"{"prediction":"a","ground_truth":NaN}"#,
        "`ground_truth` is not standard JSON",
    );
    check(
        r#"{"prediction":"a","ground_truth":"\ud83d"}"#,
        "`ground_truth` has half of a surrogate pair",
    );
    for (value, kind) in [
        ("1", "a number"),
        ("NaN", "a number"),
        ("true", "a boolean"),
        ("[\"a\"]", "an array"),
        ("{}", "an object"),
    ] {
        check(
            &format!(r#"{{"prediction":{value},"ground_truth":"a"}}"#),
            &format!("`prediction` must be a string or null, not {kind}"),
        );
    }
    check(
        r#"{"prediction":"a","ground_truth":"a""#,
        "broken JSON in column 37: expected `,` or `}`",
    );
    check(
        "[1]",
        "broken JSON in column 1: expected an object, as `{\"prediction\":…}`",
    );
    check_malformed(
        b"{\"prediction\":\"\xff\",\"ground_truth\":\"a\"}",
        "invalid UTF-8 at byte 16 of the line",
        GO_ON,
    );
}

#[test]
fn an_old_score_is_an_error_unless_replaced() {
    let line = r#"{"prediction":"a","ground_truth":"A","score":null}"#;
    check_malformed(
        line.as_bytes(),
        "the line already has a `score`",
        "add `--replace` to write a new `score`",
    );
    let expect = r#"{"prediction":"a","ground_truth":"A","score":@}"#;
    check(&["--replace"], line.as_bytes(), expect);
    check(
        &["--replace"],
        expect.replace('@', RIGHT).as_bytes(),
        expect,
    );
    check(
        &["--replace"],
        br#"{ "\u0073core" : {"score":[1]} , "prediction":"a","score":2, "ground_truth":"A"}"#,
        r#"{ "prediction":"a", "ground_truth":"A","score":@}"#,
    );
}

#[test]
fn the_final_answer_can_be_extracted() {
    let line = br#"{"prediction":"So.\nFINAL ANSWER: [a]","ground_truth":"A"}"#;
    let expect = r#"{"prediction":"So.\nFINAL ANSWER: [a]","ground_truth":"A","score":@}"#;
    check(&["--extract", "final_answer"], line, expect);
    let output = score(&["--scorer", "gaia", "--extract", "none"], line);
    assert!(text(&output.stdout).contains(r#""correct":false"#));
    let output = score(&["--scorer", "gaia", "--extract", "last"], line);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn scorers_are_named_when_unknown_or_twice() {
    let check = |args: &[&str], message: &str| {
        let output = score(args, b"");
        assert_eq!(text(&output.stderr), message);
        assert_eq!(output.status.code(), Some(2));
    };
    let output = score(&["--scorer", "gaai"], b"");
    assert_eq!(
        text(&output.stderr),
        "error: unknown scorer `gaai`\n\nhint: did you mean `gaia`? all: cargo evaltest scorers --list\n"
    );
    assert_eq!(output.status.code(), Some(2));
    check(
        &["--scorer", "gaia", "--scorer", "gaia"],
        "error: scorer `gaia` is given twice\n\nhint: give one of them another name: `--scorer '{ type: gaia, name: other }'`\n",
    );
    assert_eq!(score(&[], b"").status.code(), Some(2));
}

#[test]
fn files_are_read_and_named_in_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("answers.jsonl");
    fs::write(&path, "{\"prediction\":\"a\",\"ground_truth\":\"A\"}\nx\n").expect("written");
    let path = path.to_str().expect("UTF-8");
    let output = command(&["--scorer", "gaia", path]).output().expect("runs");
    assert_eq!(
        text(&output.stderr),
        format!(
            "error: {path}:2: broken JSON in column 1: expected an object, as `{{\"prediction\":…}}`\n\nhint: {GO_ON}\n"
        )
    );
    assert_eq!(text(&output.stdout).lines().count(), 1);

    let missing = folder.path().join("missing.jsonl");
    let check = |path: &std::path::Path, message: &str| {
        let path = path.to_str().expect("UTF-8");
        let output = command(&["--scorer", "gaia", path]).output().expect("runs");
        assert_eq!(output.status.code(), Some(2));
        let message = message.replace('@', path);
        assert!(text(&output.stderr).starts_with(&message));
    };
    check(&missing, "error: cannot read `@`: ");
    check(
        folder.path(),
        "error: `@` is not a run directory: it has no `manifest.json`",
    );
}

#[test]
fn many_lines_keep_their_order_on_any_number_of_threads() {
    let mut lines: Vec<String> = (0..50_000)
        .map(|n| {
            let truth = n + n % 3;
            format!("{{\"prediction\":\"{n}\",\"ground_truth\":\"{truth}\"}}")
        })
        .collect();
    // One line that is longer than several reads.
    let long = " ".repeat(1_000_000);
    lines[20_000] = format!("{{\"prediction\":\"{long}7\",\"ground_truth\":\"7\"}}");
    let input = lines.join("\n");
    for threads in ["1", "2", "7"] {
        let args = ["--scorer", "gaia", "--threads", threads, "-"];
        let output = score(&args, input.as_bytes());
        let mut count = 0;
        for (line, scored) in lines.iter().zip(text(&output.stdout).lines()) {
            assert!(scored.starts_with(&line[..line.len() - 1]));
            count += 1;
        }
        assert_eq!(count, lines.len());
        assert_eq!(output.status.code(), Some(0));
    }
    let args = ["--scorer", "gaia", "--threads", "0"];
    assert_eq!(score(&args, b"").status.code(), Some(2));
}

#[test]
fn line_numbers_count_across_reads() {
    let mut input = "{\"prediction\":\"a\",\"ground_truth\":\"A\"}\n\n".repeat(20_000);
    input += "x\n";
    let output = score(&["--scorer", "gaia"], input.as_bytes());
    assert!(text(&output.stderr).starts_with("error: <stdin>:40001: "));
    assert_eq!(text(&output.stdout).lines().count(), 20_000);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["--scorer", "gaia"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // Standard input stays open until the command has ended.
    let writer = thread::spawn(move || {
        let line = b"{\"prediction\":\"a\",\"ground_truth\":\"A\"}\n";
        while stdin.write_all(line).is_ok() {}
    });
    let mut first = [0; 1];
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut first).expect("a score");
    drop(stdout);
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the writer ends");
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_slow_pipe_is_scored_line_by_line() {
    let mut child = command(&["--scorer", "gaia"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    for _ in 0..3 {
        stdin
            .write_all(b"{\"prediction\":\"a\",\"ground_truth\":\"A\"}\n")
            .expect("written");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a score");
        assert!(line.contains(RIGHT));
    }
    drop(stdin);
    assert!(child.wait().expect("the command ends").success());
}

/// A line of a vector file, and the score that it got.
type Compare = fn(row: &Value, score: &Value) -> bool;

/// Scores those lines of a file of vectors that have a member, and holds each against its score.
fn check_vectors(file: &str, member: &str, args: &[&str], same: Compare) {
    let folder = std::env::var_os("EVALTEST_PARITY_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let path = folder.join("vectors").join(file);
    let input = fs::read_to_string(&path);
    let input = input.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let member = format!("\"{member}\":");
    let lines = input.lines().filter(|line| line.contains(&member));
    let input: String = lines.flat_map(|line| [line, "\n"]).collect();
    assert!(!input.is_empty());
    // Where the original ends with an error, so does the line.
    let flags = ["--replace", "--keep-going"];
    let output = score(&[&flags, args].concat(), input.as_bytes());
    let scored = text(&output.stdout);
    assert_eq!(scored.lines().count(), input.lines().count());
    for (line, scored) in input.lines().zip(scored.lines()) {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let scored: Value = serde_json::from_str(scored).expect("JSON");
        assert!(same(&row, &scored["score"]), "{line}\n{scored}");
    }
}

#[needs(data = "vectors/gaia.jsonl")]
#[test]
fn every_verdict_of_the_official_program_is_reproduced() {
    check_vectors("gaia.jsonl", "kind", &["--scorer", "gaia"], |row, score| {
        score["correct"] == row["correct"]
            && score["normalized_prediction"] == row["norm_prediction"]
            && score["normalized_ground_truth"] == row["norm_ground_truth"]
            && score["details"]["kind"] == row["kind"]
    });
}

#[needs(
    data = "vectors/substring.jsonl",
    data = "vectors/quasi.jsonl",
    data = "vectors/qa.jsonl"
)]
#[test]
fn every_verdict_of_other_programs_is_reproduced() {
    let compat = ["--scorer", "substring", "--scorer-option", "compat=true"];
    check_vectors("substring.jsonl", "correct", &compat, |row, score| {
        score["correct"] == row["correct"]
            && score["normalized_prediction"] == row["norm_prediction"]
            && score["normalized_ground_truth"] == row["norm_ground_truth"]
    });
    // Some were written down as the program extracted them.
    for (member, extract) in [("response", &[][..]), ("predicted", &["--extract", "none"])] {
        let map = format!("prediction={member},ground_truth=expected");
        let arguments = [&["--scorer", "quasi_exact", "--map", &map], extract].concat();
        check_vectors("quasi.jsonl", member, &arguments, |row, score| {
            let details = &score["details"];
            score["value"] == row["score"]
                && details["exact_match"] == row["exact_match"]
                && details["partial_match"] == row["partial_match"]
                && details["extracted"] == row["predicted"]
                && score["normalized_prediction"] == row["norm_predicted"]
                && score["normalized_ground_truth"] == row["norm_expected"]
        });
    }
    let map = ["--map", "ground_truth=golden_answer"];
    for (scorer, same) in [
        (
            "qa_f1",
            (|row, score| same_figures(&row["qa_f1_reward"], score)) as Compare,
        ),
        ("qa_f1_format", |row, score| {
            same_figures(&row["qa_f1_reward_format"], score)
        }),
    ] {
        let arguments = [&["--scorer", scorer][..], &map].concat();
        check_vectors("qa.jsonl", "trajectory", &arguments, same);
    }
}

/// Equal to the last bit: numbers are printed with all digits that tell them apart.
fn same_figures(expect: &Value, score: &Value) -> bool {
    if expect == "EXC:KeyError" {
        return score.is_null();
    }
    let names = ["reward", "f1", "em", "precision", "recall"];
    names
        .iter()
        .all(|name| score["details"][name] == expect[name])
}
