//! Judges' replies of a finished run, without a scorer to ask.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::benchmark::qa::Qa;
use crate::data::Score;
use crate::error::Result;
use crate::scorer::{Answer, Exact, Scorer};
use crate::snapshot::{Acceptance, accept};
use crate::verdict::result::Verdict::{self, Failed, Inconclusive, Passed};
use crate::{Agent, AgentError, Eval, Output, Task};

/// Gives the points in the answer, from 1 to 5, and cannot judge anything else.
struct Points;

impl Scorer for Points {
    fn name(&self) -> &'static str {
        "judge"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let given = answer.prediction.and_then(|text| text.parse::<f64>().ok());
        let points = given.ok_or_else(|| Error::usage("no verdict").because("conflicting"))?;
        Ok(Score::new((points - 1.0) / 4.0, points >= 3.5, "judged").detail("total", points))
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        vec![("total".into(), [1.0, 5.0])]
    }
}

/// Replies with the last line of the question.
struct Parrot;

impl Agent for Parrot {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        Ok(Output::text(
            task.prompt().lines().last().unwrap_or_default(),
        ))
    }

    fn fingerprint(&self) -> Option<String> {
        Some("parrot".to_owned())
    }
}

/// A run with these answers; the judge is the first scorer, or second after `exact`.
fn run(folder: &Path, answers: &[&str], is_first: bool) -> RunDir {
    let data = folder.join("rows.jsonl");
    let row = |(place, answer): (usize, &&str)| {
        let question = json!(answer).to_string();
        format!("{{\"id\":\"s{place}\",\"question\":{question},\"answer\":\"4\"}}\n")
    };
    let rows: String = answers.iter().enumerate().map(row).collect();
    std::fs::write(&data, rows).unwrap();
    let eval = Eval::new(Qa::open(&data).unwrap(), Parrot);
    let eval = if is_first {
        eval.scorer(Points)
    } else {
        eval.scorer(Exact::default()).scorer(Points)
    };
    let eval = eval
        .snapshots(folder.join("snapshots"))
        .output_root(folder.join("runs"));
    RunDir::open(&eval.run().unwrap().dir).unwrap()
}

fn gate(dir: &RunDir, gate: &str) -> (Verdict, String) {
    let run = reload(dir, Some(vec![gate.parse().unwrap()]), CiPolicy::default()).unwrap();
    let result = &run.summary.gates[0];
    (result.verdict, result.message.clone())
}

/// The ends of scales in a run's manifest.
fn bounds(dir: &RunDir) -> Value {
    json!(dir.manifest().unwrap().detail_bounds)
}

#[test]
fn the_ends_of_a_scale_are_known_without_the_scorer() {
    for is_first in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let dir = run(folder.path(), &["5", "5", "4", "4", "?"], is_first);
        assert_eq!(bounds(&dir), json!({"judge": {"total": [1.0, 5.0]}}));
        let check = |text: &str, verdict: Verdict, says: &str| {
            let (found, message) = gate(&dir, text);
            assert_eq!(found, verdict, "{is_first}: {message}");
            assert!(message.contains(says), "{message}");
        };
        check("mean(judge.total) >= 3.8", Passed, "");
        check(
            "mean(judge.total) >= 4",
            Inconclusive,
            "between 3.8 and 4.6",
        );
        check(
            "mean(judge.total) >= 4",
            Inconclusive,
            "`judge` could not judge",
        );
        check("mean(judge.total) >= 4.7", Failed, "");
        check(
            "accuracy(judge) >= 0.9",
            Inconclusive,
            "between 80.0 % and 100.0 %",
        );
        // Rescoring with the same judge changes nothing.
        let again = crate::run::rescore::Rescore {
            scorers: vec![std::sync::Arc::new(Points)],
            specs: Vec::new(),
            extract: None,
            budget: crate::eval::Budget::default(),
            output_root: None,
        };
        let again = crate::run::rescore::rescore(&dir, again).unwrap();
        let again = RunDir::open(&again.dir).unwrap();
        assert_eq!(bounds(&again), bounds(&dir));
        let (verdict, message) = gate(&again, "mean(total) >= 4");
        assert!(message.contains("between 3.8 and 4.6"), "{message}");
        assert_eq!(verdict, Inconclusive);
    }
}

/// Sets the model that served the judge in a run's records and manifest.
fn served_by(dir: &RunDir, model: &str) {
    let path = dir.file("samples.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let call = json!({
        "scorer": "judge", "key": "k", "attempts": 1, "latency_s": 0.5,
        "output": {"text": "{}", "metadata": {"model": model}},
    });
    let line = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["result"]["judged"] = json!([call]);
        record.to_string() + "\n"
    };
    std::fs::write(&path, text.lines().map(line).collect::<String>()).unwrap();
    let summary = reload(dir, None, CiPolicy::default()).unwrap().summary;
    let manifest = dir.manifest().unwrap();
    let mut artifacts = manifest.artifacts.clone();
    let hash = crate::system::file::hash(&path).unwrap();
    artifacts.insert("samples.jsonl".to_owned(), hash);
    let manifest = Manifest {
        judge_models: summary.judge_models(),
        artifacts,
        ..manifest
    };
    manifest.write(dir).unwrap();
}

#[test]
fn a_judge_that_another_model_serves_leaves_the_comparison_open() {
    let answers = ["4"; 6];
    let folder = tempfile::tempdir().unwrap();
    let [one, other, same] = ["m-1", "m-2", "m-1 (fp_2)"].map(|model| {
        let dir = run(folder.path(), &answers, true);
        served_by(&dir, model);
        dir
    });
    assert_eq!(one.manifest().unwrap().judge_models["judge"]["m-1"], 6);
    accept(
        &[one],
        &folder.path().join("snapshots"),
        &Acceptance::default(),
    )
    .unwrap();
    let file = folder.path().join("snapshots/_baseline.json");
    let judges = || -> Value {
        let text = std::fs::read_to_string(&file).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["judges"].take()
    };
    assert_eq!(judges(), json!({"judge": ["m-1"]}));
    let (verdict, message) = gate(&other, "no_regression(alpha=0.05)");
    assert_eq!(verdict, Inconclusive, "{message}");
    let says = "judge `judge` is served by `m-2` now and by `m-1` in the baseline: the change may come from the judge; \
                accept a run with this judge: `cargo evaltest accept`";
    assert!(message.starts_with(says), "{message}");
    assert_eq!(gate(&same, "no_regression(alpha=0.05)").0, Passed);
    // Once both runs are accepted, the baseline has both models.
    let add = Acceptance {
        add: true,
        ..Acceptance::default()
    };
    accept(&[other], &folder.path().join("snapshots"), &add).unwrap();
    assert_eq!(judges(), json!({"judge": ["m-1", "m-2"]}));
    let dir = run(folder.path(), &answers, true);
    served_by(&dir, "m-2");
    assert_eq!(gate(&dir, "no_regression(alpha=0.05)").0, Passed);
    // A file that was edited is no baseline; one of a version without a checksum is not what was accepted.
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replace("m-2", "m-3");
    std::fs::write(&file, &edited).unwrap();
    let refused = reload(&same, None, CiPolicy::default()).unwrap_err();
    let what = "not a baseline: it was changed after it was written";
    assert!(refused.message().contains(what), "{refused}");
    let mut old: Value = serde_json::from_str(&edited).unwrap();
    old["format_version"] = 2.into();
    old.as_object_mut().unwrap().shift_remove("checksum");
    std::fs::write(&file, old.to_string()).unwrap();
    let (_, message) = gate(&same, "no_regression(alpha=0.05)");
    assert!(
        message.contains("warning: the snapshots changed since run"),
        "{message}"
    );
}

#[test]
fn a_secondary_judge_leaves_nothing_open() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["m-1", "m-2"].map(|model| {
        let dir = run(folder.path(), &["4"; 6], false);
        served_by(&dir, model);
        dir
    });
    accept(
        &[one],
        &folder.path().join("snapshots"),
        &Acceptance::default(),
    )
    .unwrap();
    assert_eq!(gate(&other, "no_regression(alpha=0.05)").0, Passed);
}
