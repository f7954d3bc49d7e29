//! `fixtures/parity/`: what the official programs said of inputs of our own making, line by line.

use evaltest::engine::judge::{
    GradedItem, InputLine, JudgeAgreement, JudgeCorrection, parse_input_line,
};
use serde_json::Value;

use crate::project::{Project, json_lines, root};
use crate::scored::score;

/// Scores a file with scorers as `--scorer` has them, and holds each line's `official` against its score, or scores.
#[track_caller]
fn check(file: &str, scorers: &[&str], is_same: fn(official: &Value, scored: &Value) -> bool) {
    let path = root().join("fixtures/parity").join(file);
    let path = path.to_str().unwrap();
    let options = scorers.iter().flat_map(|scorer| ["--scorer", scorer]);
    let arguments: Vec<_> = options.chain([path]).collect();
    let ran = score(&Project::new(), &arguments).exits(0);
    let rows = json_lines(path.as_ref());
    assert!(rows.len() >= 250, "{file} has {} lines", rows.len());
    assert_eq!(ran.out.lines().count(), rows.len());
    let member = if scorers.len() > 1 { "scores" } else { "score" };
    let mut differ = Vec::new();
    for (row, line) in rows.iter().zip(ran.out.lines()) {
        let scored: Value = serde_json::from_str(line).unwrap();
        if !is_same(&row["official"], &scored[member]) {
            differ.push(line);
        }
    }
    assert!(differ.is_empty(), "{file}: {}", differ.join("\n"));
    // Not all alike.
    let mut verdicts: Vec<_> = rows.iter().map(|row| row["official"].to_string()).collect();
    verdicts.sort_unstable();
    for verdicts in verdicts.chunk_by(|one, other| one == other) {
        assert!(verdicts.len() * 10 < rows.len() * 9, "{}", verdicts[0]);
    }
}

#[test]
fn gaia() {
    check("gaia.jsonl", &["gaia"], |official, score| {
        official["correct"].is_boolean() && official["correct"] == score["correct"]
    });
}

#[test]
fn substring() {
    let scorer = "{ type: substring, compat: true }";
    check("substring.jsonl", &[scorer], |official, score| {
        official["correct"].is_boolean() && official["correct"] == score["correct"]
    });
}

#[test]
fn quasi_exact() {
    check("quasi_exact.jsonl", &["quasi_exact"], |official, score| {
        let names = ["extracted", "exact_match", "partial_match"];
        official["score"].is_number()
            && official["score"] == score["value"]
            && names
                .iter()
                .all(|name| official[name] == score["details"][name])
    });
}

/// Equal to the last bit: numbers are printed with all digits that tell them apart.
#[test]
fn qa_f1() {
    let scorers = ["qa_f1", "qa_f1_format"];
    check("qa_f1.jsonl", &scorers, |official, scores| {
        ["qa_f1", "qa_f1_format"].iter().all(|scorer| {
            let names = ["reward", "f1", "em", "precision", "recall"];
            names.iter().all(|name| {
                let figure = &official[scorer][name];
                figure.is_number() && *figure == scores[scorer]["details"][name]
            })
        })
    });
}

#[test]
fn bfcl() {
    check("bfcl.jsonl", &["bfcl"], |official, score| {
        let reason = match (&official["error_type"], &official["exception"]) {
            (Value::String(kind), _) => Some(kind.as_str()),
            (_, Value::String(_)) => Some("checker_crash_in_official"),
            // Right, or of a call that is there or not.
            _ => None,
        };
        official["valid"].is_boolean()
            && official["valid"] == score["correct"]
            && reason.is_none_or(|reason| score["reason"] == reason)
    });
}

/// Holds the figures of each file of judged lines against those of the programs, which are null where there are none.
#[track_caller]
fn check_figures<T: InputLine>(
    name: &str,
    figures: fn(&[T]) -> Value,
    pointers: &[(&str, f64)],
    is_known: fn(&Value) -> bool,
) {
    let path = root().join("fixtures/parity").join(name);
    let rows = json_lines(&path);
    assert!(rows.len() >= 250, "{name} has {} lines", rows.len());
    for (number, row) in (1_u64..).zip(&rows) {
        let lines = row["lines"].as_array().unwrap().iter();
        let lines = lines.map(|line| parse_input_line(&path, number, &line.to_string()).unwrap());
        let found = figures(&lines.collect::<Vec<_>>());
        let official = &row["official"];
        if !is_known(official) {
            continue;
        }
        for (pointer, most) in pointers {
            let figures = [official, &found].map(|figures| figures.pointer(pointer));
            let [Some(expect), Some(figure)] = figures else {
                panic!("{name}:{number}: no `{pointer}`");
            };
            let is_near = match (expect.as_f64(), figure.as_f64()) {
                (Some(expect), Some(figure)) => (expect - figure).abs() <= *most,
                _ => expect == figure,
            };
            assert!(
                is_near,
                "{name}:{number}: {pointer} is {figure}, not {expect}"
            );
        }
    }
    // Neither without figures nor all alike.
    for (pointer, _) in pointers {
        let all = rows.iter().map(|row| row["official"].pointer(pointer));
        let mut all: Vec<_> = all.map(|figure| format!("{figure:?}")).collect();
        all.sort_unstable();
        all.dedup();
        assert!(all.len() > 5, "{name}: {pointer}");
    }
}

#[test]
fn judge_agreement() {
    let figures = |items: &[_]| serde_json::to_value(JudgeAgreement::of(items).unwrap()).unwrap();
    let exact = 1e-9;
    let pointers = [
        ("/n", 0.0),
        ("/kappa", exact),
        ("/kappa_linear", exact),
        ("/kappa_quadratic", exact),
        ("/ac1", exact),
        ("/alpha_nominal", exact),
        ("/alpha_interval", exact),
    ];
    check_figures("judge_agreement.jsonl", figures, &pointers, |_| true);
}

#[test]
fn judge_correct() {
    let figures =
        |items: &[GradedItem]| serde_json::to_value(JudgeCorrection::of(items).unwrap()).unwrap();
    let exact = 1e-9;
    let plain = [
        ("/labels/n", 0.0),
        ("/labels/mean", exact),
        ("/judge/n", 0.0),
        ("/judge/mean", exact),
    ];
    // The program's intervals ignore the scale: a unit test of `powered_mean` compares them.
    let corrected = [("/corrected/mean", exact), ("/corrected/lambda", exact)];
    check_figures("judge_correct.jsonl", figures, &plain, |_| true);
    // Where the judge always says the same, the program has NaN and evaltest the labels.
    check_figures("judge_correct.jsonl", figures, &corrected, |official| {
        !official["corrected"].is_null()
    });
}
