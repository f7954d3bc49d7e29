//! Uses datasets in temporary folders, with invented questions.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::benchmark::Benchmark;
use crate::data::{FailureKind, Target};

const ROW: &str =
    r#"{"task_id":"a","Question":"1+1?","Level":1,"Final answer":"2","file_name":""}"#;

/// A folder with these files in it.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn open(folder: &TempDir) -> Gaia {
    Gaia::open(folder.path()).unwrap()
}

/// The samples of one `metadata.jsonl`, read as a file of its own.
fn samples_of(rows: &[Value]) -> Result<Vec<Sample>> {
    let (_folder, gaia) = of_rows(rows);
    gaia.samples()
}

fn of_rows(rows: &[Value]) -> (TempDir, Gaia) {
    let text: Vec<String> = rows.iter().map(Value::to_string).collect();
    let folder = folder(&[("rows.jsonl", &text.join("\n"))]);
    let gaia = Gaia::open(folder.path().join("rows.jsonl")).unwrap();
    (folder, gaia)
}

fn ids(samples: &[Sample]) -> Vec<&str> {
    samples.iter().map(|sample| sample.id.as_str()).collect()
}

/// Checks an error message; `{path}` stands for the folder.
#[track_caller]
fn check_error(folder: &TempDir, gaia: &Gaia, expect: &str) {
    let error = gaia.samples().unwrap_err();
    let path = folder.path().display().to_string();
    assert_eq!(error.message().replace(&path, "{path}"), expect);
    assert!(error.hint_text().is_some(), "{error:?}");
    assert_eq!(error.exit(), crate::Exit::Usage);
}

fn level(sample: &Sample) -> Option<&str> {
    sample.slices.first().map(|(_, level)| level.as_str())
}

#[test]
fn reads_the_published_layout() {
    let row = json!({
        "task_id": "a-1", "Question": "How many?", "Level": 2, "Final answer": "17",
        "file_name": "a-1.csv", "file_path": "2023/validation/a-1.csv",
        "Annotator Metadata": {"Steps": "1. count", "Number of steps": "1"},
    });
    let folder = folder(&[
        ("2023/validation/metadata.jsonl", &row.to_string()),
        ("2023/validation/a-1.csv", "x\n1\n"),
    ]);
    let gaia = open(&folder);
    let samples = gaia.samples().unwrap();
    let sample = &samples[0];
    assert_eq!(
        (sample.id.as_str(), sample.prompt.as_str()),
        ("a-1", "How many?")
    );
    assert_eq!(sample.target, Some("17".into()));
    assert_eq!(sample.slices, [("level".to_owned(), "2".to_owned())]);
    let keys: Vec<_> = sample.metadata.keys().collect();
    assert_eq!(
        keys,
        ["Level", "file_name", "file_path", "Annotator Metadata"]
    );
    assert_eq!(
        sample.metadata["Annotator Metadata"],
        row["Annotator Metadata"]
    );
    assert_eq!(sample.visible, ["Level", "file_name"]);
    assert_eq!(sample.files[0].name, "a-1.csv");
    assert_eq!(
        fs::read(sample.files[0].resolve().unwrap()).unwrap(),
        b"x\n1\n"
    );
    assert!(gaia.notices().is_empty());
}

#[test]
fn finds_the_split_in_every_layout() {
    for place in [
        "2023/validation/metadata.jsonl",
        "validation/metadata.jsonl",
        "metadata.jsonl",
        "2023/validation/metadata.csv",
    ] {
        let content = if place.ends_with("csv") {
            "task_id,Question,Final answer\na,1+1?,2\n"
        } else {
            ROW
        };
        let folder = folder(&[(place, content)]);
        assert_eq!(ids(&open(&folder).samples().unwrap()), ["a"], "{place}");
    }
    let folder = folder(&[
        ("2023/validation/metadata.jsonl", ROW),
        ("2023/validation/metadata.parquet", "never read"),
        ("2023/test/metadata.jsonl", &ROW.replace("\"2\"", "\"?\"")),
    ]);
    assert!(open(&folder).samples().unwrap()[0].target.is_some());
    let test = open(&folder).split("test");
    assert_eq!(test.samples().unwrap()[0].target, None);
    assert!(
        test.notices()[0].ends_with(
            "1 of 1 samples have no ground truth: only scorers that need none judge them"
        )
    );
}

#[test]
fn a_missing_split_lists_what_is_there() {
    let splits = folder(&[
        ("2023/validation/metadata.jsonl", ROW),
        ("2023/test/metadata.jsonl", ROW),
        ("2023/images/x.png", ""),
        ("metadata.jsonl", ROW),
    ]);
    check_error(
        &splits,
        &open(&splits).split("dev"),
        "`{path}`: no metadata of split `dev`: looked for `2023/dev/metadata.{jsonl,parquet,csv}`, \
         `dev/metadata.{jsonl,parquet,csv}`; splits found: `test`, `validation`",
    );
    let empty = folder(&[]);
    check_error(
        &empty,
        &open(&empty),
        "`{path}`: no metadata of split `validation`: looked for \
         `2023/validation/metadata.{jsonl,parquet,csv}`, `validation/metadata.{jsonl,parquet,csv}`, \
         `metadata.{jsonl,parquet,csv}`; no split found",
    );
    let error = Gaia::open(empty.path().join("none")).unwrap_err();
    assert!(error.message().starts_with("cannot open `"), "{error:?}");
    assert_eq!(error.exit(), crate::Exit::Usage);
}

#[test]
fn a_split_that_cannot_be_chosen_is_a_notice() {
    let folder = folder(&[("rows.jsonl", ROW), ("test/metadata.jsonl", ROW)]);
    let open = |name: &str| Gaia::open(folder.path().join(name)).unwrap();
    let notices = open("rows.jsonl").split("test").notices();
    assert!(
        notices[0].ends_with("`split: test` is ignored"),
        "{notices:?}"
    );
    assert_eq!(open("test").split("test").notices(), [""; 0]);
    assert_eq!(open("test/metadata.jsonl").split("test").notices(), [""; 0]);
}

#[test]
fn the_first_known_column_wins() {
    let samples = samples_of(&[json!({
        "Question": "no", "question": "yes", "answer": "3", "Final answer": "2", "final_answer": "1",
        "id": "no", "task_id": "yes", "Level": "no", "level": "yes",
    })]);
    let sample = &samples.unwrap()[0];
    assert_eq!((sample.id.as_str(), sample.prompt.as_str()), ("yes", "yes"));
    assert_eq!(sample.target, Some("1".into()));
    assert_eq!(sample.slices[0].1, "yes");
    let keys: Vec<_> = sample.metadata.keys().collect();
    let expect = ["Question", "answer", "Final answer", "id", "Level", "level"];
    assert_eq!(keys, expect);
    assert_eq!(sample.visible, ["level"]);
}

#[test]
fn columns_can_be_named() {
    let row = json!({"q": "?!", "truth": "t", "key": "k", "hard": "very", "file": "f.txt",
        "question": "no"});
    let (folder, gaia) = of_rows(&[row]);
    let columns = Columns::default()
        .prompt("q")
        .ground_truth("truth")
        .id("key")
        .level("hard")
        .file_name("file");
    let samples = gaia.clone().columns(columns.clone()).samples().unwrap();
    assert_eq!(
        (samples[0].id.as_str(), samples[0].prompt.as_str()),
        ("k", "?!")
    );
    assert_eq!(samples[0].target, Some("t".into()));
    assert_eq!(samples[0].slices[0].1, "very");
    assert_eq!(samples[0].files[0].path, Path::new("f.txt"));
    let expect = "`{path}/rows.jsonl`: no column `trut` (named by `columns.ground_truth`); \
        found `q`, `truth`, `key`, `hard`, `file`, `question`";
    check_error(&folder, &gaia.columns(columns.ground_truth("trut")), expect);
}

#[test]
fn one_column_may_be_question_and_id_but_not_the_answer_too() {
    let (_folder, gaia) = of_rows(&[json!({"q": "1+1?", "answer": "2"})]);
    let both = Columns::default().prompt("q").id("q");
    let samples = gaia.clone().columns(both).samples().unwrap();
    assert_eq!((&*samples[0].id, &*samples[0].prompt), ("1+1?", "1+1?"));
    let leak = Columns::default().prompt("q").id("answer");
    let error = gaia.columns(leak).samples().unwrap_err();
    assert!(
        error.message().contains("`answer` is the ground truth"),
        "{error}"
    );
}

#[test]
fn without_a_prompt_column_there_is_nothing_to_ask() {
    let (folder, gaia) = of_rows(&[json!({"Questions": "x", "answer": 1})]);
    let expect = "`{path}/rows.jsonl`: no column for `prompt`: looked for `question`, `Question`; \
        found `Questions`, `answer`";
    check_error(&folder, &gaia, expect);
    let error = gaia.samples().unwrap_err();
    let hint = "name it: `columns: { prompt: Questions }`";
    assert_eq!(error.hint_text(), Some(hint));
}

#[test]
fn without_a_ground_truth_column_nothing_is_scored() {
    let (folder, gaia) = of_rows(&[json!({"question": "x", "reply": "1"})]);
    assert_eq!(gaia.samples().unwrap()[0].target, None);
    let notices = gaia.notices();
    let path = folder.path().join("rows.jsonl");
    let expect = format!(
        "`{}`: there is no column of ground truths, so scorers that need one score no sample: looked for \
         `final_answer`, `Final answer`, `answer`; found `question`, `reply`",
        path.display()
    );
    assert_eq!(notices, [expect]);
}

#[test]
fn hidden_ground_truths_are_no_targets() {
    let rows = [
        json!("?"),
        json!(null),
        json!(" "),
        json!("??"),
        json!("0"),
        json!("None"),
    ];
    let rows = rows.map(|answer| json!({"question": "x", "answer": answer}));
    let samples = samples_of(&rows).unwrap();
    let targets = samples.iter().map(|sample| sample.target.clone());
    let expect = [None, None, None, Some("??"), Some("0"), Some("None")];
    assert!(targets.eq(expect.map(|target| target.map(Target::from))));
    let rows = [
        json!({"question": "x", "answer": "1"}),
        json!({"question": "y"}),
    ];
    assert_eq!(samples_of(&rows).unwrap()[1].target, None);
}

#[test]
fn scalars_become_texts_as_written() {
    let rows = [
        json!({"question": 17, "answer": 17, "id": 17, "level": 1.0}),
        json!({"question": true, "answer": true, "id": "018", "level": " hard "}),
        json!({"question": 1.5, "answer": -0.25, "id": 1.0, "level": null}),
    ];
    let samples = samples_of(&rows).unwrap();
    assert_eq!(ids(&samples), ["17", "018", "1.0"]);
    let prompts: Vec<_> = samples.iter().map(|sample| &sample.prompt).collect();
    assert_eq!(prompts, ["17", "true", "1.5"]);
    let targets = samples
        .iter()
        .filter_map(|sample| sample.target.as_ref()?.as_text());
    assert!(targets.eq(["17", "true", "-0.25"]));
    let levels: Vec<_> = samples.iter().map(level).collect();
    assert_eq!(levels, [Some("1"), Some("hard"), None]);
    assert_eq!(
        samples[0].metadata["level"],
        json!(1.0),
        "metadata is as written"
    );
}

#[test]
fn a_row_without_an_id_column_is_its_index() {
    let rows = [json!({"question": "x"}), json!({"question": "y"})];
    assert_eq!(ids(&samples_of(&rows).unwrap()), ["0", "1"]);
}

#[test]
fn bad_rows_are_found_by_line() {
    let good = json!({"task_id": "a", "question": "x", "answer": "1"});
    let check = |bad: Value, expect: &str| {
        let (folder, gaia) = of_rows(&[good.clone(), bad]);
        check_error(&folder, &gaia, &format!("{{path}}/rows.jsonl:2: {expect}"));
    };
    check(
        json!({"task_id": "b", "question": " \n"}),
        "the prompt in `question` is blank",
    );
    let expect = "the prompt is missing: `question` is null or absent";
    check(json!({"task_id": "b", "question": null}), expect);
    check(json!({"task_id": "b"}), expect);
    let expect = "the id is missing: `task_id` is null or absent";
    check(json!({"question": "y"}), expect);
    let expect = "column `answer` has an array, but a text, a number or a bool is needed";
    check(
        json!({"task_id": "b", "question": "y", "answer": [1]}),
        expect,
    );
    let taken = "the id `a` is taken by the row at {path}/rows.jsonl:1";
    check(json!({"task_id": "a", "question": "y"}), taken);
}

#[test]
fn levels_and_ids_select() {
    let row = |id: &str, level: Value| json!({"id": id, "question": "x", "level": level});
    let rows = [
        row("a", json!(1)),
        row("b", json!("2")),
        row("c", json!(3)),
        row("d", json!(null)),
    ];
    let (folder, gaia) = of_rows(&rows);
    let selected = |gaia: Gaia| ids(&gaia.samples().unwrap()).join(" ");
    assert_eq!(selected(gaia.clone()), "a b c d");
    assert_eq!(selected(gaia.clone().levels([1, 2])), "a b");
    assert_eq!(selected(gaia.clone().levels(["3"])), "c");
    assert_eq!(selected(gaia.clone().levels([0; 0])), "a b c d");
    assert_eq!(selected(gaia.clone().ids(["c", "a"])), "a c");
    assert_eq!(selected(gaia.clone().ids(["c", "a"]).levels([3])), "c");
    let none = "`{path}/rows.jsonl`: no sample of level `4`; found `1`, `2`, `3`";
    check_error(&folder, &gaia.clone().levels([4]), none);
    let notices = gaia.clone().levels([1, 4]).notices();
    assert!(
        notices
            .last()
            .unwrap()
            .ends_with("no sample of level `4`; found `1`, `2`, `3`")
    );
    check_error(&folder, &gaia.ids(["e"]), "no sample `e` among 4");
    let (folder, gaia) = of_rows(&[json!({"question": "x"})]);
    let expect = "`{path}/rows.jsonl`: `levels` is set, but there is no column `level` or `Level`";
    check_error(&folder, &gaia.levels([1]), expect);
}

/// Checks the attachment of a row in `2023/validation`, which contains `a.txt`; `top.txt` is in the dataset's folder
/// and `secret.txt` outside of it.
#[track_caller]
fn check_file(name: Option<&str>, path: Option<&str>, expect: Result<&str, &str>) {
    let row = json!({"question": "x", "file_name": name, "file_path": path});
    let outer = folder(&[
        ("gaia/2023/validation/metadata.jsonl", &row.to_string()),
        ("gaia/2023/validation/a.txt", "a"),
        ("gaia/top.txt", "top"),
        ("secret.txt", "secret"),
    ]);
    let gaia = Gaia::open(outer.path().join("gaia")).unwrap();
    // Loading never fails because of an attachment.
    let samples = gaia.samples().unwrap();
    let file = samples[0].files.first();
    let found = file.map(crate::data::Attachment::resolve);
    match (found, expect) {
        (None, expect) => assert_eq!(expect, Ok("")),
        (Some(Ok(found)), expect) => {
            assert_eq!(Ok(fs::read_to_string(found).unwrap().as_str()), expect);
        }
        (Some(Err(error)), expect) => {
            assert_eq!(error.kind, FailureKind::Attachment);
            let expect = expect.unwrap_err();
            assert!(error.message.contains(expect), "{error:?}");
        }
    }
}

#[test]
fn attachments_are_found_in_the_folder_only() {
    check_file(None, None, Ok(""));
    check_file(Some(""), Some(""), Ok(""));
    check_file(Some("a.txt"), None, Ok("a"));
    check_file(None, Some("2023/validation/a.txt"), Ok("a"));
    check_file(Some("a.txt"), Some("top.txt"), Ok("top"));
    check_file(Some("a.txt"), Some("elsewhere/a.txt"), Ok("a"));
    check_file(
        Some("b.txt"),
        None,
        Err("2023/validation/b.txt`: there is no such file"),
    );
    check_file(
        None,
        Some("b.txt"),
        Err("gaia/b.txt`: there is no such file"),
    );
    let refused = Err("only a relative path without `..` is allowed");
    check_file(Some("../../../secret.txt"), None, refused);
    check_file(Some("/secret.txt"), None, refused);
    check_file(None, Some("../secret.txt"), refused);
    check_file(Some("a.txt"), Some("../secret.txt"), refused);
    check_file(Some("a.txt"), Some("/secret.txt"), refused);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_an_error_of_its_sample() {
    let rows = "{\"question\":\"x\",\"file_name\":\"link.txt\"}\n{\"question\":\"y\"}";
    let outer = folder(&[("cache/rows.jsonl", rows), ("gaia/2023/test/x", "")]);
    let split = outer.path().join("gaia/2023/test");
    let link = |name: &str| {
        std::os::unix::fs::symlink(outer.path().join("cache/rows.jsonl"), split.join(name))
            .unwrap();
    };
    link("link.txt");
    link("metadata.jsonl");
    let gaia = Gaia::open(outer.path().join("gaia")).unwrap().split("test");
    let samples = gaia.samples().unwrap();
    let error = samples[0].files[0].resolve().unwrap_err();
    assert!(
        error.message.contains("a symbolic link that leaves"),
        "{error:?}"
    );
    assert!(gaia.notices()[0].contains("cp -rL"), "{:?}", gaia.notices());
}

#[cfg(feature = "parquet")]
#[test]
fn reads_parquet() {
    let columns: [&[&str]; 4] = [
        &["task_id", "a", "b"],
        &["Question", "x", "y"],
        &["Level", "1", "2"],
        &["answer", "1", "?"],
    ];
    let folder = folder(&[("2023/validation/x", "")]);
    let path = folder.path().join("2023/validation/metadata.parquet");
    fs::write(
        &path,
        crate::data::dataset::parquet::tests::of_texts(&columns),
    )
    .unwrap();
    let samples = open(&folder).samples().unwrap();
    assert_eq!(ids(&samples), ["a", "b"]);
    assert_eq!(samples[0].target, Some("1".into()));
    assert_eq!(samples[1].target, None);
    let mut columns = columns;
    columns[0] = &["task_id", "a", "a"];
    fs::write(
        &path,
        crate::data::dataset::parquet::tests::of_texts(&columns),
    )
    .unwrap();
    let path = "{path}/2023/validation/metadata.parquet";
    let expect = format!("{path}: row 2: the id `a` is taken by the row at {path}: row 1");
    check_error(&folder, &open(&folder), &expect);
}

#[test]
fn has_the_protocol_of_the_benchmark() {
    let folder = folder(&[("metadata.jsonl", ROW)]);
    let gaia = open(&folder);
    let prompt = gaia.official_prompt().unwrap();
    assert!(prompt.starts_with("You are a general AI assistant. I will ask you a question."));
    assert!(prompt.contains("with the following template: FINAL ANSWER: [YOUR FINAL ANSWER]. "));
    assert!(!prompt.contains('\n') && !prompt.contains("  "));
    assert_eq!(gaia.extract().to_string(), "final_answer");
    assert_eq!(gaia.name(), "gaia");
}
