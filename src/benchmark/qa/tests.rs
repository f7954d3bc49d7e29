//! Uses datasets in temporary folders, with invented questions.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::data::Sample;
use crate::data::Target;
use crate::data::dataset::tests::file;

fn of_rows(rows: &[Value]) -> (TempDir, Qa) {
    let text: Vec<String> = rows.iter().map(Value::to_string).collect();
    let (folder, path) = file("rows.jsonl", text.join("\n"));
    (folder, Qa::open(path).unwrap())
}

fn samples_of(rows: &[Value], change: impl Fn(Qa) -> Qa) -> Result<Vec<Sample>> {
    let (_folder, qa) = of_rows(rows);
    change(qa).samples()
}

/// Checks an error message; `{path}` stands for the file.
#[track_caller]
fn check_error(rows: &[Value], change: impl Fn(Qa) -> Qa, expect: &str) {
    let (folder, qa) = of_rows(rows);
    let error = change(qa).samples().unwrap_err();
    let path = folder.path().join("rows.jsonl").display().to_string();
    assert_eq!(error.message().replace(&path, "{path}"), expect);
    assert!(error.hint_text().is_some(), "{error:?}");
    assert_eq!(error.exit(), crate::Exit::Usage);
}

/// The ground truth of a row with this answer.
#[track_caller]
fn check_target(answer: &Value, change: impl Fn(Qa) -> Qa, expect: Option<Value>) {
    let rows = [json!({"question": "x", "answer": answer})];
    let samples = samples_of(&rows, change).unwrap();
    assert_eq!(samples[0].target, expect.map(Target), "{answer}");
}

#[test]
fn usual_names_are_found() {
    let row = json!({"question": "Why?", "answer": "so", "topic": "x", "level": 2.0, "file_name": "a/b.txt"});
    let samples = samples_of(&[row], |qa| qa).unwrap();
    let sample = &samples[0];
    assert_eq!((&*sample.id, &*sample.prompt), ("0", "Why?"));
    assert_eq!(sample.target, Some("so".into()));
    assert_eq!(sample.slices, [("level".to_owned(), "2".to_owned())]);
    assert_eq!(sample.files[0].name, "b.txt");
    let keys: Vec<_> = sample.metadata.keys().collect();
    assert_eq!(keys, ["topic", "level", "file_name"]);
    assert!(sample.visible.is_empty());
    let row = json!({"answers": ["a"], "Input": 5, "prompt": "p", "_id": 7});
    let samples = samples_of(&[row], |qa| qa).unwrap();
    assert_eq!((&*samples[0].id, &*samples[0].prompt), ("7", "p"));
    assert_eq!(samples[0].target, Some("a".into()));
}

#[test]
fn columns_can_be_named_and_nested() {
    let row = json!({"key": "k", "in": {"q": "?!"}, "answers": {"text": ["a", "b", "a"], "start": [0, 1]},
        "meta": {"topic": "z"}, "pics": ["x.png", null, "y.png"], "rest": 1});
    let named = |qa: Qa| {
        qa.prompt_column("in.q")
            .ground_truth_column("answers.text")
            .id_column("key")
            .file_columns(["pics"])
            .slices(["meta.topic", "rest"])
            .visible(["meta", "in"])
    };
    let samples = samples_of(std::slice::from_ref(&row), named).unwrap();
    let sample = &samples[0];
    assert_eq!((&*sample.id, &*sample.prompt), ("k", "?!"));
    assert_eq!(sample.target, Some(json!(["a", "b"]).into()));
    let slice = |dimension: &str, value: &str| (dimension.to_owned(), value.to_owned());
    assert_eq!(
        sample.slices,
        [slice("meta.topic", "z"), slice("rest", "1")]
    );
    assert_eq!(sample.files.len(), 2);
    let keys: Vec<_> = sample.metadata.keys().collect();
    assert_eq!(
        keys,
        ["in", "meta", "pics", "rest"],
        "all of `answers` is hidden"
    );
    let only = samples_of(&[row], |qa| named(qa).metadata_columns(["meta", "in"])).unwrap();
    let keys: Vec<_> = only[0].metadata.keys().collect();
    assert_eq!(keys, ["in", "meta"]);
}

#[test]
fn several_right_answers_are_an_array() {
    check_target(&json!("a"), |qa| qa, Some(json!("a")));
    check_target(&json!(17), |qa| qa, Some(json!("17")));
    check_target(&json!(["a"]), |qa| qa, Some(json!("a")));
    check_target(
        &json!(["a", 2, "a", " ", null]),
        |qa| qa,
        Some(json!(["a", "2"])),
    );
    check_target(&json!("a | b|"), |qa| qa, Some(json!("a | b|")));
    check_target(
        &json!("a | b|"),
        |qa| qa.separator("|"),
        Some(json!(["a", "b"])),
    );
    check_target(&json!("a"), |qa| qa.separator("|"), Some(json!("a")));
    for hidden in [json!(null), json!(" "), json!([]), json!([null, ""])] {
        check_target(&hidden, |qa| qa, None);
    }
    let squad = json!([{"text": "a", "start": 1}, {"text": "b", "start": 2}]);
    let nested = |qa: Qa| qa.ground_truth_column("answer.text");
    check_target(&squad, nested, Some(json!(["a", "b"])));
    let second = |qa: Qa| qa.ground_truth_column("/answer/1/text");
    check_target(&squad, second, Some(json!("b")));
}

#[test]
#[cfg(feature = "bfcl")]
fn calls_of_tools_are_a_ground_truth() {
    let calls = json!([{"name": "f", "arguments": {"a": 1}}, {"g": {}}]);
    check_target(&calls, |qa| qa, Some(calls.clone()));
    check_target(&calls[0], |qa| qa, Some(calls[0].clone()));
    check_target(&json!("[f(a=1)]"), |qa| qa, Some(json!("[f(a=1)]")));
    let rows = [json!({"question": "x", "answer": [{"name": "f", "arguments": {}}, "g"]})];
    check_error(
        &rows,
        |qa| qa,
        "{path}:1: column `answer` has an object in its array, but texts are needed",
    );
}

#[test]
fn a_template_makes_the_prompt() {
    let row =
        json!({"passage": "P", "question": "Q?", "choices": ["x", "y"], "answer": "x", "n": 1});
    let template = "Passage: {passage}\n{n}. {question} (A) {choices.0} (B) {/choices/1} {{}}";
    let rows = [row];
    let samples = samples_of(&rows, |qa| qa.template(template).unwrap()).unwrap();
    assert_eq!(samples[0].prompt, "Passage: P\n1. Q? (A) x (B) y {}");
    assert!(
        samples[0].metadata.contains_key("question"),
        "columns of a template are metadata"
    );
    let with = |template: &'static str| move |qa: Qa| qa.template(template).unwrap();
    check_error(
        &rows,
        with("{pasage}"),
        "`{path}`: no column `pasage` (named by `template`); found `passage`, `question`, `choices`, `answer`, `n`",
    );
    check_error(
        &rows,
        with("{question} {answer}"),
        "`{path}`: column `answer` is the ground truth, but is also shown to the agent",
    );
    let choices =
        "{path}:1: column `choices` has an array, but a text, a number or a bool is needed";
    check_error(&rows, with("{choices}"), choices);
    let two = [json!({"a": "x", "b": "y"}), json!({"a": "x", "b": null})];
    let expect = "{path}:2: the part of the template is missing: `b` is null or absent";
    check_error(&two, with("{a}{b}"), expect);
    check_error(
        &rows,
        |qa| qa.template("{question}").unwrap().prompt_column("question"),
        "both `template` and `columns.prompt` are given, but only one can make the prompt",
    );
}

#[test]
fn bad_rows_are_found_by_line() {
    let good = json!({"id": "a", "question": "x", "answer": "1"});
    let check = |bad: Value, expect: &str| {
        check_error(
            &[good.clone(), bad],
            |qa| qa,
            &format!("{{path}}:2: {expect}"),
        );
    };
    check(
        json!({"id": "b", "question": " "}),
        "the prompt in `question` is blank",
    );
    check(
        json!({"id": "b"}),
        "the prompt is missing: `question` is null or absent",
    );
    check(
        json!({"question": "y"}),
        "the id is missing: `id` is null or absent",
    );
    check(
        json!({"id": "a", "question": "y"}),
        "the id `a` is taken by the row at {path}:1",
    );
    let object = json!({"id": "b", "question": "y", "answer": {"text": "z"}});
    check(
        object,
        "column `answer` has an object, but a text or an array of texts is needed",
    );
    let nested = json!({"id": "b", "question": "y", "answer": [["z"]]});
    check(
        nested,
        "column `answer` has an array in its array, but texts are needed",
    );
    let error = samples_of(&[json!({"question": "y", "answer": {"text": "z"}})], |qa| {
        qa
    })
    .unwrap_err();
    assert_eq!(
        error.hint_text(),
        Some("name a member of it: `answer.text`")
    );
}

#[test]
fn columns_that_are_not_there_are_errors() {
    let rows = [json!({"question": "x", "answer": "1", "topic": "t"})];
    let check = |change: fn(Qa) -> Qa, expect: &str| check_error(&rows, change, expect);
    let found = "found `question`, `answer`, `topic`";
    let missing = |key: &str| format!("`{{path}}`: no column `x` (named by `{key}`); {found}");
    check(|qa| qa.prompt_column("x"), &missing("columns.prompt"));
    check(
        |qa| qa.ground_truth_column("x"),
        &missing("columns.ground_truth"),
    );
    check(|qa| qa.id_column("x"), &missing("columns.id"));
    check(|qa| qa.file_columns(["x"]), &missing("columns.files"));
    check(|qa| qa.slices(["x"]), &missing("slices"));
    let no_metadata = |key: &str, name: &str| {
        format!("`{{path}}`: `{key}` names `{name}`, which is not metadata; found `topic`")
    };
    check(
        |qa| qa.visible(["topics"]),
        &no_metadata("visible", "topics"),
    );
    check(
        |qa| qa.visible(["answer"]),
        &no_metadata("visible", "answer"),
    );
    check(
        |qa| qa.metadata_columns(["x"]),
        &no_metadata("columns.metadata", "x"),
    );
    check(
        |qa| qa.metadata_columns([""; 0]).visible(["topic"]),
        &no_metadata("visible", "topic"),
    );
    let leak = "`{path}`: column `answer` is the ground truth, but is also shown to the agent";
    check(|qa| qa.prompt_column("answer"), leak);
    check(|qa| qa.id_column("answer"), leak);
    check(|qa| qa.file_columns(["answer"]), leak);
    let none = "`{path}`: no column for `prompt`: looked for `prompt`, `question`, `input`, `Prompt`, `Question`, \
        `Input`; found `questions`";
    check_error(&[json!({"questions": "x"})], |qa| qa, none);
}

#[test]
fn missing_ground_truths_are_reported() {
    let (_folder, qa) = of_rows(&[json!({"question": "x"})]);
    assert_eq!(qa.samples().unwrap()[0].target, None);
    let notices = qa.notices();
    assert!(
        notices[0].contains("there is no column of ground truths"),
        "{notices:?}"
    );
    let rows = [
        json!({"id": "a", "question": "x", "answer": null}),
        json!({"id": "b", "question": "y", "answer": "1"}),
    ];
    let (_folder, qa) = of_rows(&rows);
    assert!(
        qa.notices()[0].ends_with(
            "1 of 2 samples have no ground truth: only scorers that need none judge them"
        )
    );
}

#[test]
fn row_number_ids_are_reported() {
    let notices = |row: Value| of_rows(&[row]).1.notices();
    let found = notices(json!({"question": "x", "answer": "1"}));
    assert!(found[0].contains("there is no column `id`"), "{found:?}");
    let none = notices(json!({"id": "a", "question": "x", "answer": "1"}));
    assert_eq!(none, [""; 0]);
}

#[test]
fn reads_csv_and_selects_by_id() {
    let text = "id,question,answers,kind\n007,\"One, two?\",uno; dos,easy\n8,Three?,,\n";
    let (_folder, path) = file("rows.csv", text);
    let qa = Qa::open(path).unwrap().separator(";").slices(["kind"]);
    let samples = qa.samples().unwrap();
    assert_eq!(samples[0].id, "007");
    assert_eq!(samples[0].target, Some(json!(["uno", "dos"]).into()));
    assert_eq!(
        (samples[1].target.clone(), samples[1].slices.len()),
        (None, 0)
    );
    let one = qa.ids(["8"]).samples().unwrap();
    assert_eq!((one.len(), &*one[0].id), (1, "8"));
}

#[cfg(feature = "parquet")]
#[test]
fn reads_parquet() {
    let columns: [&[&str]; 3] = [&["id", "a"], &["question", "x?"], &["answer", "y"]];
    let (_folder, path) = file(
        "rows.parquet",
        crate::data::dataset::parquet::tests::of_texts(&columns),
    );
    let samples = Qa::open(path).unwrap().samples().unwrap();
    assert_eq!(
        (&*samples[0].id, &samples[0].target),
        ("a", &Some("y".into()))
    );
}

#[test]
fn a_folder_is_answered_with_a_file_in_it() {
    let (folder, path) = file("rows.csv", "question\nx\n");
    let error = Qa::open(folder.path()).unwrap_err();
    let hint = format!("name the file: `path: {}`", path.display());
    assert_eq!(error.hint_text(), Some(hint.as_str()));
    assert!(Qa::open(folder.path().join("none.csv")).is_err());
}

#[test]
fn has_a_scorer_and_no_instructions() {
    let (_folder, qa) = of_rows(&[json!({"question": "x", "answer": "1"})]);
    assert_eq!(qa.scorer().unwrap().name(), "qa");
    assert_eq!(qa.extract().to_string(), "final_answer");
    let sample = &qa.samples().unwrap()[0];
    assert_eq!(Prompt::Default.render(&qa, sample), "x");
}
