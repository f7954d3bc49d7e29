//! Uses invented problems.

use serde_json::{Value, json};

use super::*;
use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::data::Target;
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
    let first = (&*samples[0].id, &*samples[0].slices[0].1);
    assert_eq!(first, ("aime_2025_0", "2025"));
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

/// The columns are those of published datasets; the problems are invented.
#[test]
fn reads_sets_as_they_are_published() {
    let check =
        |name: &str, text: &str, ids: [&str; 2], year: Option<&str>, topic: Option<&str>| {
            let (_folder, path) = file(name, text);
            let samples = Aime::open(path).unwrap().samples().unwrap();
            let found: Vec<_> = samples.iter().map(|sample| &*sample.id).collect();
            assert_eq!(found, ids, "{name}");
            let slices = [("year", year), ("topic", topic)];
            let slices = slices
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
            assert_eq!(samples[1].slices, slices.collect::<Vec<_>>(), "{name}");
            let target = samples[1].target.as_ref().and_then(Target::as_text);
            assert_eq!(target, Some("7"), "{name}");
        };
    // math-ai/aime25.
    let lines = |rows: [Value; 2]| format!("{}\n{}\n", rows[0], rows[1]);
    let rows = [
        json!({"problem": "p", "answer": "70", "id": "0"}),
        json!({"problem": "q", "answer": "7", "id": "1"}),
    ];
    check("test.jsonl", &lines(rows.clone()), ["0", "1"], None, None);
    check("aime25.jsonl", &lines(rows), ["0", "1"], Some("2025"), None);
    let rows = [
        json!({"problem": "p", "answer": 70}),
        json!({"problem": "q", "answer": 7, "topic": "Algebra"}),
    ];
    let ids = ["aime_2025_0", "aime_2025_1"];
    check(
        "AIME-2025.jsonl",
        &lines(rows.clone()),
        ids,
        Some("2025"),
        Some("Algebra"),
    );
    for name in [
        "test.jsonl",
        "aime-1983-2025.jsonl",
        "aime_20250101.jsonl",
        "set25.jsonl",
    ] {
        check(
            name,
            &lines(rows.clone()),
            ["0", "1"],
            None,
            Some("Algebra"),
        );
    }
    // A set with the year in a column.
    let table = "ID,Year,Problem Number,Question,Answer,Part\n1983-1,1983,1,p,60,\n2024-II-7,2024,7,q,007,II\n";
    check(
        "AIME_Dataset_1983_2024.csv",
        table,
        ["1983-1", "2024-II-7"],
        Some("2024"),
        None,
    );
    let table = "Year,Question,Answer\n1983,p,60\n2024,q,7\n";
    check(
        "set.csv",
        table,
        ["aime_1983_0", "aime_2024_1"],
        Some("2024"),
        None,
    );
    // Maxwell-Jia/AIME_2024.
    let rows = [
        json!({"ID": "2024-I-1", "Problem": "p", "Solution": "s", "Answer": 70}),
        json!({"ID": "2024-II-4", "Problem": "q", "Solution": "t", "Answer": 7}),
    ];
    check(
        "aime_2024_problems.jsonl",
        &lines(rows),
        ["2024-I-1", "2024-II-4"],
        Some("2024"),
        None,
    );
}

#[test]
fn years_select() {
    let rows = [row("2024-I-1", 1), row("2025-I-1", 2), row("12024x", 3)];
    let (_folder, aime) = open(&rows);
    let selected = |aime: Aime| aime.samples().unwrap().len();
    assert_eq!(selected(aime.clone()), 3);
    assert_eq!(selected(aime.clone().years([2025])), 1);
    assert_eq!(selected(aime.clone().years([2025, 2024])), 2);
    assert_eq!(selected(aime.years([2024]).ids(["2024-I-1"])), 1);
    let expect = "`{path}`: no problem of the year `2020`; found `2024`, `2025`";
    check_error(&rows, |aime| aime.years([2024, 2020]), expect);
    let expect = "`{path}`: no problem of the year `2024`; no row has a year";
    check_error(&[row("a", 1)], |aime| aime.years([2024]), expect);
}

#[test]
fn a_ground_truth_that_is_no_such_integer_is_found_by_line() {
    for (answer, rendered) in [
        (json!(1000), "1000"),
        (json!("12.5"), "12.5"),
        (json!("x"), "x"),
    ] {
        let rows = [row("a", 1), row("b", answer)];
        let expect = format!(
            "{{path}}:2: column `Answer`: `ground_truth` must be an integer from 0 to 999 for scorer `aime`, found `{rendered}`"
        );
        check_error(&rows, |aime| aime, &expect);
    }
    let expect = "{path}:2: the ground truth is missing: `Answer` is null or absent";
    check_error(&[row("a", 1), row("b", Value::Null)], |aime| aime, expect);
    let year = json!({"problem": "p", "answer": 1, "year": "soon"});
    check_error(
        &[year],
        |aime| aime,
        "{path}:1: column `year` has `soon`, which is not a year",
    );
}

#[test]
fn prompt_states_answer_format() {
    let (_folder, aime) = open(&[row("a", 1)]);
    let sample = &aime.samples().unwrap()[0];
    let prompt = Prompt::Default.render(&aime, sample);
    assert!(prompt.ends_with("\\boxed{42}\n\nFind n."), "{prompt}");
    assert!(Prompt::Official.check(&aime).is_err());
}
