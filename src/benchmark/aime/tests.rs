//! Problems made up here.

use serde_json::{Value, json};

use super::*;
use crate::benchmark::prompt::Prompt;
use crate::data::dataset::tests::file;

fn open(rows: &[Value]) -> (tempfile::TempDir, Aime) {
    let text: Vec<String> = rows.iter().map(Value::to_string).collect();
    let (folder, path) = file("rows.jsonl", text.join("\n"));
    (folder, Aime::open(path).unwrap())
}

#[track_caller]
fn check_error(rows: &[Value], change: impl Fn(Aime) -> Aime, expect: &str) {
    let (folder, aime) = open(rows);
    let error = change(aime).samples().unwrap_err();
    let path = folder.path().join("rows.jsonl").display().to_string();
    assert_eq!(error.message().replace(&path, "{path}"), expect);
    assert!(error.hint_text().is_some(), "{error:?}");
}

fn row(id: &str, answer: impl Into<Value>) -> Value {
    json!({"ID": id, "ProblemRow": "Find n.", "Answer": answer.into(), "Solution": "n = …"})
}

#[test]
fn reads_the_layouts_of_the_hub() {
    let (_folder, aime) = open(&[row("2024-I-3", 25), row("2023-II-4", "025")]);
    let samples = aime.samples().unwrap();
    assert_eq!(
        (&*samples[0].id, &*samples[0].prompt),
        ("2024-I-3", "Find n.")
    );
    assert_eq!(
        samples[0].target, samples[1].target,
        "leading zeros do not count"
    );
    assert_eq!(samples[1].slices, [("year".to_owned(), "2023".to_owned())]);
    assert_eq!(samples[0].metadata.keys().collect::<Vec<_>>(), ["Solution"]);
    assert!(samples[0].visible.is_empty());
    let (_folder, aime) =
        open(&[json!({"problem": "p", "answer": "7", "year": 2025.0, "url": "u"})]);
    let samples = aime.samples().unwrap();
    assert_eq!((&*samples[0].id, &*samples[0].slices[0].1), ("0", "2025"));
    let given = json!({"q": "p", "a": 7, "k": "x-1999-1", "when": "2001"});
    let (_folder, aime) = open(&[given]);
    let columns = Columns::default().prompt("q").ground_truth("a").id("k");
    let aime = aime.columns(columns);
    assert_eq!(aime.clone().samples().unwrap()[0].slices[0].1, "1999");
    assert_eq!(
        aime.year_column("when").samples().unwrap()[0].slices[0].1,
        "2001"
    );
}

#[test]
fn years_select() {
    let rows = [row("2024-I-1", 1), row("2025-I-1", 2), row("12024x", 3)];
    let (_folder, aime) = open(&rows);
    let left = |aime: Aime| aime.samples().unwrap().len();
    assert_eq!(left(aime.clone()), 3);
    assert_eq!(left(aime.clone().years([2025])), 1);
    assert_eq!(left(aime.clone().years([2025, 2024])), 2);
    assert_eq!(left(aime.years([2024]).ids(["2024-I-1"])), 1);
    let expect = "`{path}`: no problem of the year `2020`; found `2024`, `2025`";
    check_error(&rows, |aime| aime.years([2024, 2020]), expect);
    let expect = "`{path}`: no problem of the year `2024`; no row has a year";
    check_error(&[row("a", 1)], |aime| aime.years([2024]), expect);
}

#[test]
fn a_ground_truth_that_is_no_such_integer_is_found_by_line() {
    for (answer, shown) in [
        (json!(1000), "1000"),
        (json!("12.5"), "12.5"),
        (json!("x"), "x"),
    ] {
        let rows = [row("a", 1), row("b", answer)];
        let expect = format!(
            "{{path}}:2: column `Answer`: `ground_truth` must be an integer from 0 to 999 for scorer `aime`, found `{shown}`"
        );
        check_error(&rows, |aime| aime, &expect);
    }
    let expect = "{path}:2: the ground truth is missing: `Answer` is null or not there";
    check_error(&[row("a", 1), row("b", Value::Null)], |aime| aime, expect);
    let year = json!({"problem": "p", "answer": 1, "year": "soon"});
    check_error(
        &[year],
        |aime| aime,
        "{path}:1: column `year` has `soon`, which is no year",
    );
}

#[test]
fn agents_are_told_the_form_of_the_answer() {
    let (_folder, aime) = open(&[row("a", 1)]);
    let sample = &aime.samples().unwrap()[0];
    let prompt = Prompt::Default.render(&aime, sample);
    assert!(prompt.ends_with("\\boxed{42}\n\nFind n."), "{prompt}");
    assert!(Prompt::Official.check(&aime).is_err());
}
