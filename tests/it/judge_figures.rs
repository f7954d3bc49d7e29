//! `judge agreement`, `judge correct`, `judge winrate`: figures of a judge from stored lines.
//!
//! The figures themselves are tested beside the rules, in `src/verdict/judged/`, and against other programs in
//! [`crate::parity`].

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::project::{Project, Ran};

fn judge(project: &Project, arguments: &[&str]) -> Ran {
    let arguments = [&["judge"][..], arguments].concat();
    Ran::of(&project.command_of(&arguments).output().unwrap())
}

/// A project with `x.jsonl`.
fn with(content: impl AsRef<[u8]>) -> Project {
    let project = Project::new();
    project.write("x.jsonl", content);
    project
}

/// What `--json` says of a file.
#[track_caller]
fn figures(arguments: &[&str], content: impl AsRef<[u8]>) -> Value {
    let arguments = [arguments, &["x.jsonl", "--json"]].concat();
    let ran = judge(&with(content), &arguments).exits(0);
    assert_eq!(ran.err, "");
    ran.json()
}

/// How a file is refused.
#[track_caller]
fn check_error(arguments: &[&str], content: impl AsRef<[u8]>, expect: &str) {
    let arguments = [arguments, &["x.jsonl"]].concat();
    let ran = judge(&with(content), &arguments).exits(2);
    assert_eq!((ran.out.as_str(), ran.err.trim_end()), ("", expect));
}

const LABELLED: &str = "{\"labels\": [1, 1, 2], \"judge\": 1}\n{\"labels\": [2, 2], \"judge\": 1}\n\
                        {\"labels\": [2], \"judge\": 2}\n{\"labels\": [1, 2], \"judge\": null}\n";

#[test]
fn agreement_as_json() {
    let found = figures(&["agreement"], LABELLED);
    assert_eq!(found["n"], 3);
    assert_eq!(
        found["classes"]["2"],
        json!({ "precision": 1.0, "recall": 0.5, "n": 2 })
    );
    assert_eq!(
        found["confusion"],
        json!({ "1": { "1": 1, "2": 0 }, "2": { "1": 1, "2": 1 } })
    );
    assert!((found["kappa"].as_f64().unwrap() - 0.4).abs() < 1e-9);
    assert_eq!(found["ci95"]["agreement"].as_array().unwrap().len(), 2);
    let members = found.as_object().unwrap().keys().map(String::as_str);
    let expect = [
        "n",
        "agreement",
        "constant_agreement",
        "kappa",
        "kappa_linear",
        "kappa_quadratic",
        "ac1",
        "alpha_nominal",
        "alpha_interval",
        "classes",
        "confusion",
        "ci95",
    ];
    assert_eq!(members.collect::<Vec<_>>(), expect);
}

#[test]
fn agreement_for_people() {
    let ran = judge(&with(LABELLED), &["agreement", "x.jsonl"]).exits(0);
    let ran = ran
        .says("3 of 4 items have a label and a verdict\n1 item has no majority label\n")
        .says("not calibrated: 3 labels;")
        .says("always saying `2`");
    let row = |ran: &Ran, name: &str| {
        let row = ran.out.lines().find(|line| line.starts_with(name));
        let cells = row.unwrap().split_whitespace();
        cells.collect::<Vec<_>>().join(" ")
    };
    assert!(row(&ran, "kappa ").starts_with("kappa 0.400 "));
    let lines: Vec<_> = ran.out.lines().collect();
    let begin = lines
        .iter()
        .position(|line| line.starts_with("class  "))
        .unwrap();
    let table = [
        "class  labels  precision  recall  judged 1  judged 2",
        "1           1      0.500   1.000         1         0",
        "2           2      1.000   0.500         1         1",
    ];
    assert_eq!(lines[begin..], table);
    let many = "{\"labels\": [\"a\"], \"judge\": \"b\"}\n".repeat(60);
    let ran = judge(&with(&many), &["agreement", "x.jsonl"]).exits(0);
    let ran = ran.says("few labels: 60 labels,");
    assert!(row(&ran, "kappa ").starts_with("kappa 0.000 "));
    assert!(row(&ran, "kappa, linear").starts_with("kappa, linear - - "));
    let enough = many.repeat(2);
    let ran = judge(&with(enough), &["agreement", "x.jsonl"]).exits(0);
    ran.says_nothing_of("calibrated")
        .says_nothing_of("few labels");
}

/// Names of classes are texts from outside.
#[test]
fn nothing_of_a_class_acts_on_a_terminal() {
    let line =
        "{\"labels\": [\"\\u001b[2J a very long name of a class\"], \"judge\": \"\\u202e\"}\n";
    let ran = judge(&with(line), &["agreement", "x.jsonl"]).exits(0);
    let ran = ran
        .says_nothing_of("\u{1b}")
        .says_nothing_of("\u{202e}")
        .says("\\u{1b}[2J");
    drop(ran);
    assert_eq!(figures(&["agreement"], line)["n"], 1);
}

const GRADED: &str = "{\"judge\": 0, \"label\": 0}\n{\"judge\": 1, \"label\": 1}\n{\"judge\": 0, \"label\": null}\n\
                      {\"judge\": 1}\n";

#[test]
fn a_mean_is_corrected() {
    let found = figures(&["correct"], GRADED);
    assert_eq!(found["corrected"]["lambda"], 0.375);
    assert_eq!(
        (&found["labels"]["n"], &found["judge"]["n"]),
        (&json!(2), &json!(4))
    );
    let ran = judge(&with(GRADED), &["correct", "x.jsonl"]).exits(0);
    let ran = ran.says("not calibrated: 2 labels;");
    let ran = ran.says("judge          4  0.500  0.010 to 0.990  ignores the judge's errors\n");
    ran.says("corrected         0.500  0.000 to 1.000  weight of the verdicts 0.375\n");
    let unlabelled = judge(&with("{\"judge\": 1}"), &["correct", "x.jsonl"]).exits(0);
    unlabelled
        .says("no line has a `label`, so the judge is not corrected\n")
        .says("corrected             -  -\n");
}

const PAIRS: &str = "{\"first\": \"A\", \"second\": \"A\"}\n{\"first\": \"A\", \"second\": \"B\"}\n\
                     {\"first\": \"tie\", \"second\": \"B\"}\n{\"first\": null, \"second\": \"B\"}\n";

#[test]
fn answers_win() {
    let found = figures(&["winrate"], PAIRS);
    let expect = json!({
        "n": 4, "wins": 1, "losses": 0, "ties": 0, "inconsistent": 2, "unreadable": 1, "win_rate": 2.0 / 3.0,
        "ci95": found["ci95"], "position_bias": 0.5, "first_shown_wins": 1,
    });
    assert_eq!(found, expect);
    let ran = judge(&with(PAIRS), &["winrate", "x.jsonl"]).exits(0);
    let ran = ran.says("win rate 0.667, 95 % interval 0.208 to 0.939, of 3 pairs\n");
    let ran = ran.says("1 win, 0 losses, 0 ties, 2 inconsistent");
    ran.says("won both times in 1 of 2 inconsistent pairs (50.0 %)\n")
        .says("1 of 4 pairs was unreadable and is skipped");
}

#[test]
fn preferences_and_log_probabilities() {
    let preferences =
        "{\"preference\": 0}\n{\"preference\": 1}\n{\"preference\": null}\n{\"preference\": NaN}\n";
    let found = figures(&["winrate"], preferences);
    let expect = json!({ "n": 2, "win_rate": 0.5, "standard_error": 0.5, "ci95": found["ci95"] });
    assert_eq!(found, expect);
    let ran = judge(&with(preferences), &["winrate", "x.jsonl"]).exits(0);
    ran.says("of 2 preferences\n")
        .says("2 lines without a preference are skipped");
    let tokens = "{\"logprobs\": {\"m\": -1000, \"M\": -1000}, \"swapped\": false}\n\
                  {\"logprobs\": {\"m\": -1, \"M\": -Infinity}, \"swapped\": true}\n\
                  {\"logprobs\": {}, \"swapped\": true}\n";
    let found = figures(&["winrate", "--logprobs"], tokens);
    assert_eq!(
        (&found["n"], &found["win_rate"], &found["standard_error"]),
        (&json!(2), &json!(0.75), &json!(0.25))
    );
    let hint = "error: x.jsonl:1: the line has `logprobs`\n\nhint: add `--logprobs`";
    check_error(&["winrate"], tokens, hint);
}

#[test]
fn lines_may_end_in_any_way_and_come_from_standard_input() {
    let expect = figures(&["correct"], GRADED);
    let other = format!(
        "\u{feff}{}  \r\n\t\n",
        GRADED.trim_end().replace('\n', "\r\n\r\n")
    );
    assert_eq!(figures(&["correct"], &other), expect);
    for arguments in [
        &["judge", "correct", "--json"][..],
        &["judge", "correct", "--json", "-"],
    ] {
        let project = Project::new();
        let mut command = project.command_of(arguments);
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(other.as_bytes())
            .unwrap();
        let ran = Ran::of(&child.wait_with_output().unwrap()).exits(0);
        assert_eq!(ran.json(), expect);
    }
}

#[test]
fn errors_report_their_place() {
    let hint = "\n\nhint: write lines as `{\"judge\": 0.8, \"label\": 1}`";
    let bad = GRADED.to_owned() + "\n{\"judge\": 1.2}\n";
    let message = format!(
        "error: x.jsonl:6: `judge` must be a number from 0 to 1, found a number: `1.2`{hint}"
    );
    check_error(&["correct"], bad, &message);
    check_error(
        &["correct"],
        "",
        &format!("error: `x.jsonl` is empty{hint}"),
    );
    check_error(
        &["correct"],
        "\n \r\n",
        &format!("error: `x.jsonl` is empty{hint}"),
    );
    let broken = "error: x.jsonl:1:10: broken JSON: EOF while parsing a value\n\n\
                  hint: write one JSON object per line, each line complete";
    check_error(&["agreement"], "{\"labels\":\n[]}", broken);
    let none = "error: x.jsonl:1: the line has no `labels`\n\n\
                hint: write lines as `{\"labels\": [1, 2, null], \"judge\": 1}`";
    check_error(&["agreement"], "{\"label\": 1}", none);
    let utf8 = judge(
        &with(b"{\"judge\": 1}\n{\"judge\": \"\xff\"}"),
        &["correct", "x.jsonl"],
    )
    .exits(2);
    assert!(
        utf8.err.starts_with("error: x.jsonl:2: invalid UTF-8"),
        "{}",
        utf8.err
    );
    let verdict = "error: x.jsonl:2: `second` must be \"A\", \"B\", \"tie\" or null, found a text: `\"C\"`\n\n\
                   hint: write lines as `{\"first\": \"A\", \"second\": \"tie\"}` or `{\"preference\": 0.7}`";
    check_error(
        &["winrate"],
        "{\"first\":null,\"second\":\"B\"}\n{\"first\":\"A\",\"second\":\"C\"}\n",
        verdict,
    );
    let mixed = "error: x.jsonl:2: the line has `preference`, unlike those before it\n\n\
                 hint: put verdicts in both orders and preferences in files of their own";
    check_error(
        &["winrate"],
        "{\"first\":null,\"second\":\"B\"}\n{\"preference\":1}\n",
        mixed,
    );
    let missing = judge(&Project::new(), &["winrate", "x.jsonl"]).exits(2);
    assert!(
        missing.err.starts_with("error: cannot read `x.jsonl`: "),
        "{}",
        missing.err
    );
}
