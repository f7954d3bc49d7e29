//! Items made up here.

use serde_json::{Value, json};

use super::*;
use crate::benchmark::Benchmark;
use crate::data::ItemPart;
use crate::data::Target;
use crate::data::dataset::tests::file;

#[track_caller]
fn check_error(name: &str, text: &str, expect: &str) {
    let (folder, path) = file(name, text);
    let error = Items::open(path).unwrap().samples().unwrap_err();
    let path = folder.path().join(name).display().to_string();
    assert_eq!(error.message().replace(&path, "{path}"), expect);
    assert!(error.hint_text().is_some(), "{error:?}");
    assert_eq!(error.exit(), crate::Exit::Usage);
}

fn items(rows: &[Value]) -> Vec<Sample> {
    let (_folder, path) = file("items.json", json!(rows).to_string());
    Items::open(path).unwrap().samples().unwrap()
}

#[test]
fn items_are_read_whatever_their_columns_are_called() {
    let made = json!({"id": "gen_aime_1", "problem": "6 * 7?", "answer": 42, "solution": "Six sevens.",
        "topic": "Algebra", "reference_id": "2024-I-3", "model": "m", "generated_at": "2025-01-01T00:00:00Z"});
    let recorded = json!({"problem_id": 7, "question": "Who?", "ground_truth": "me", "reasoning": "I know.", "category": 2.0});
    let items = [items(&[made]), items(&[recorded])].concat();
    let [first, second] = items.as_slice() else {
        panic!("{items:?}")
    };
    assert_eq!((&*first.id, &*first.prompt), ("gen_aime_1", "6 * 7?"));
    assert_eq!(first.target, Some(Target("42".into())));
    assert_eq!(first.slices, [("topic".to_owned(), "Algebra".to_owned())]);
    let keys: Vec<_> = first.metadata.keys().collect();
    let expect = ["solution", "topic", "reference_id", "model", "generated_at"];
    assert_eq!(keys, expect);
    assert!(first.visible.is_empty());
    assert_eq!((&*second.id, &*second.prompt), ("7", "Who?"));
    assert_eq!(second.slices, [("topic".to_owned(), "2".to_owned())]);
    let rendered = items
        .iter()
        .map(|item| ItemPart::rendered(&ItemPart::ALL, item));
    assert_eq!(
        rendered.flatten().collect::<Vec<_>>(),
        [
            "Problem:\n6 * 7?\n\nAnswer: 42\n\nSolution:\nSix sevens.",
            "Problem:\nWho?\n\nAnswer: me\n\nSolution:\nI know."
        ]
    );
}

#[test]
fn columns_can_be_named_and_answers_may_be_missing_altogether() {
    let text = "key,ask,how\na,Why?,So.\nb,What?,\n";
    let (_folder, path) = file("items.csv", text);
    let columns = ItemColumns {
        problem: Some("ask".to_owned()),
        solution: Some("how".to_owned()),
        id: Some("key".to_owned()),
        ..ItemColumns::default()
    };
    let items = Items::open(path).unwrap().columns(columns);
    let samples = items.samples().unwrap();
    assert_eq!((&*samples[0].id, &samples[0].target), ("a", &None));
    assert_eq!(
        ItemPart::rendered(&ItemPart::ALL, &samples[0]).unwrap(),
        "Problem:\nWhy?\n\nSolution:\nSo."
    );
    assert_eq!(
        ItemPart::rendered(&ItemPart::ALL, &samples[1]).unwrap(),
        "Problem:\nWhat?"
    );
    assert!(items.notices()[0].ends_with(NO_TRUTH));
    assert_eq!(items.ids(["b"]).samples().unwrap().len(), 1);
}

#[test]
fn what_is_no_item_is_found_by_line() {
    let good = r#"{"id": "a", "problem": "6 * 7?", "answer": 42}"#;
    let check = |line: &str, expect: &str| {
        let lines = format!("{good}\n{line}\n");
        check_error("items.jsonl", &lines, &format!("{{path}}:2: {expect}"));
        let array = format!("[{good},\n{line}]");
        let expect = expect.replace("{path}:1", "{path}:1: element 1");
        let expect = format!("{{path}}:2: element 2: {expect}");
        check_error("items.json", &array, &expect);
    };
    check(
        r#"{"id": "b", "answer": 1}"#,
        "the problem is missing: `problem` is null or absent",
    );
    check(
        r#"{"id": "b", "problem": " ", "answer": 1}"#,
        "the problem in `problem` is blank",
    );
    check(
        r#"{"id": "b", "problem": "x"}"#,
        "the answer is missing: `answer` is null or absent",
    );
    check(
        r#"{"id": "b", "problem": "x", "answer": [1]}"#,
        "column `answer` has an array, but a text, a number or a bool is needed",
    );
    check(
        r#"{"problem": "x", "answer": 1}"#,
        "the id is missing: `id` is null or absent",
    );
    check(
        r#"{"id": "a", "problem": "x", "answer": 1}"#,
        "the id `a` is taken by the row at {path}:1",
    );
    check_error(
        "items.jsonl",
        r#"{"id": "a", "text": "x"}"#,
        "`{path}`: no column for `problem`: looked for `problem`, `question`, `prompt`, `Problem`, `Question`, `Prompt`; \
         found `id`, `text`",
    );
}
