//! Uses invented problems, and the published answers if available.

use serde_json::{Value, json};

use super::*;
use crate::agent::replay::Replay;
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::data::dataset::tests::file;
use crate::snapshot::{Acceptance, accept};
use crate::tests::{needs, parity};
use crate::verdict::gate::Gate;
use crate::verdict::result::Verdict;
use crate::{Eval, Run};

fn open(text: &str) -> (tempfile::TempDir, Gsm8k) {
    let (folder, path) = file("rows.jsonl", text);
    (folder, Gsm8k::open(path).unwrap())
}

const ROW: &str = r#"{"question":"Nine eggs at $2?","answer":"9*2=$<<9*2=18>>18\n#### 18"}"#;

#[test]
fn reads_what_openai_and_the_hub_publish() {
    let (_folder, gsm8k) = open(&format!("{ROW}\n{}\n", ROW.replace("#### 18", "A: 1,018")));
    let samples = gsm8k.samples().unwrap();
    assert_eq!(
        (&*samples[0].id, &*samples[0].prompt),
        ("0", "Nine eggs at $2?")
    );
    assert_eq!(samples[0].target, Some("18".into()));
    assert_eq!(samples[1].target, Some("1018".into()));
    assert_eq!(samples[0].metadata["solution"], "9*2=$18\n#### 18");
    assert!(samples[0].visible.is_empty());
    let row = json!({"id": "a", "task": {"q": "?"}, "truth": 18.5, "kind": "x"});
    let (_folder, gsm8k) = open(&row.to_string());
    let columns = Columns::default().prompt("task.q").ground_truth("truth");
    let samples = gsm8k.columns(columns).ids(["a"]).samples().unwrap();
    assert_eq!(samples[0].target, Some("18.5".into()));
    let keys: Vec<_> = samples[0].metadata.keys().collect();
    assert_eq!(keys, ["task", "kind"], "a bare number is no solution");
}

#[test]
fn a_ground_truth_without_a_number_is_found_by_line() {
    let row = json!({"question": "?", "answer": "2 + 2 is 4, I think"});
    let (folder, gsm8k) = open(&format!("{ROW}\n{row}\n"));
    let error = gsm8k.samples().unwrap_err();
    let path = folder.path().join("rows.jsonl").display().to_string();
    let expect = "{path}:2: column `answer`: `ground_truth` must be a number for scorer `gsm8k`, or end in one";
    assert_eq!(error.message().replace(&path, "{path}"), expect);
    let (_folder, gsm8k) = open(r#"{"question":"?"}"#);
    let error = gsm8k.samples().unwrap_err();
    assert!(
        error.message().contains("no column for `ground_truth`"),
        "{error}"
    );
}

#[test]
fn prompt_states_answer_format() {
    let (_folder, gsm8k) = open(ROW);
    let sample = &gsm8k.samples().unwrap()[0];
    let prompt = Prompt::Default.render(&gsm8k, sample);
    assert!(prompt.ends_with("#### 42\n\nNine eggs at $2?"), "{prompt}");
    assert_eq!(Prompt::None.render(&gsm8k, sample), "Nine eggs at $2?");
    let error = Prompt::Official.check(&gsm8k).unwrap_err();
    assert_eq!(error.message(), "benchmark `gsm8k` has no official prompt");
    assert!(error.hint_text().unwrap().starts_with("remove `prompt`"));
    assert!(Prompt::Concise.check(&gsm8k).is_ok());
}

/// Two models, with the number of correct answers their publisher states.
const PUBLISHED: [(&str, usize); 2] = [("6b_finetuning", 286), ("175b_verification", 742)];

fn published() -> Vec<Value> {
    let text = parity::text("realworld/gsm8k/model_solutions.jsonl");
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON lines")
}

/// Runs the whole pipeline on the recorded answers of a model.
fn run(folder: &std::path::Path, rows: &[Value], model: &str) -> Run {
    let data = folder.join("questions.jsonl");
    let answers = folder.join(format!("{model}.jsonl"));
    let lines = |line: &dyn Fn(&Value) -> Value| {
        let lines: Vec<_> = rows.iter().map(|row| line(row).to_string()).collect();
        lines.join("\n")
    };
    let question = |row: &Value| json!({"id": row["id"], "question": row["question"], "answer": row["ground_truth"]});
    let answer = |row: &Value| json!({"id": row["id"], "answer": row[model]["solution"]});
    std::fs::write(&data, lines(&question)).unwrap();
    std::fs::write(&answers, lines(&answer)).unwrap();
    Eval::new(
        Gsm8k::open(data).unwrap(),
        Replay::open(&answers, None, None).unwrap(),
    )
    .gate(Gate::no_regression())
    .snapshots(folder.join("snapshots"))
    .output_root(folder.join("runs"))
    .run()
    .unwrap()
}

fn regression(run: &Run) -> Verdict {
    run.summary.gates[0].verdict
}

#[needs(data = "realworld/gsm8k/model_solutions.jsonl")]
#[test]
fn every_published_verdict_is_reproduced_and_the_smaller_model_is_a_regression() {
    let rows = published();
    let folder = tempfile::tempdir().unwrap();
    let [smaller, larger] = PUBLISHED.map(|(model, correct)| {
        let run = run(folder.path(), &rows, model);
        assert_eq!(
            (run.records.len(), run.summary.correct.try_into()),
            (rows.len(), Ok(correct)),
            "{model}"
        );
        for (record, row) in run.records.iter().zip(&rows) {
            let published = row[model]["is_correct"].as_bool().unwrap();
            let place = (model, &record.sample_id);
            assert_eq!((place, record.result.is_correct()), (place, published));
        }
        (model, run)
    });
    let baseline = crate::store::RunDir::open(&larger.1.dir).unwrap();
    assert_eq!(
        accept(
            &[baseline],
            &folder.path().join("snapshots"),
            &Acceptance::default()
        )
        .unwrap()
        .correct,
        PUBLISHED[1].1
    );

    let worse = run(folder.path(), &rows, smaller.0);
    assert_eq!(regression(&worse), Verdict::Failed);
    let lost = worse.flips.iter().filter(|flip| flip.worse).count();
    assert_eq!(
        lost - (worse.flips.len() - lost),
        PUBLISHED[1].1 - PUBLISHED[0].1
    );
    let same = run(folder.path(), &rows, larger.0);
    assert_eq!(regression(&same), Verdict::Passed);
    assert!(same.flips.is_empty());
}
