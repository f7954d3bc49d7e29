use std::fs;

use super::*;
use crate::bfcl::checker::{CheckRequest, ModelAnswer, check};
use crate::tests::{needs, parity};

const FUNCTION: &str = r#""function": [{"name": "add", "parameters": {"type": "dict", "required": ["a"], "properties": {"a": {"type": "integer"}}}}]"#;

/// A folder with files of these names and contents.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn read(files: &[(&str, &str)], category: &str) -> Result<Vec<BfclQuestion>> {
    let folder = folder(files);
    let strip = |error: Error| {
        let path = format!("{}/", folder.path().display());
        Error::usage(error.to_string().replace(&path, ""))
    };
    let data = Data::open(folder.path()).map_err(strip)?;
    data.read(&Category::named(category)).map_err(strip)
}

#[test]
fn questions_meet_their_answers() {
    let entry = format!(
        "{{\"id\": \"a\", \"question\": [[{{\"role\": \"user\", \"content\": \"1?\"}}]], {FUNCTION}}}\n"
    );
    let answer = r#"{"id": "a", "ground_truth": [{"add": {"a": [1]}}]}"#;
    for below in ["", "data/", "bfcl_eval/data/"] {
        let files = [
            (format!("{below}BFCL_v4_simple_python.json"), &*entry),
            (
                format!("{below}possible_answer/BFCL_v4_simple_python.json"),
                answer,
            ),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
        let questions = read(&files, "simple_python").unwrap();
        assert_eq!(questions.len(), 1);
        let question = &questions[0];
        let right = Value::from("[add(a=1)]");
        let request = CheckRequest::new(
            &question.entry,
            &question.category.name,
            ModelAnswer::Prompt(&right),
        );
        assert!(check(&request).valid);
        assert_eq!(question.unsatisfiable, None);
    }
}

#[test]
fn missing_answer_file_error_names_path() {
    let line = format!("{{\"id\": \"a\", \"question\": \"?\", {FUNCTION}}}\n");
    let error = read(&[("BFCL_v4_simple_python.json", &line)], "simple_python").unwrap_err();
    assert_eq!(
        error.message(),
        "BFCL_v4_simple_python.json:1: there are questions without ground truth, and no file \
         `possible_answer/BFCL_v4_simple_python.json` with theirs\n\nhint: put the official `possible_answer` \
         folder next to the questions, or give each line a `ground_truth`"
    );
}

#[test]
fn mistakes_name_file_and_line() {
    fn check(questions: &str, answers: &str, expect: &str) {
        let files = [
            ("BFCL_v4_simple_python.json", questions),
            ("possible_answer/BFCL_v4_simple_python.json", answers),
        ];
        let error = read(&files, "simple_python").expect_err(expect);
        assert_eq!(error.message().lines().next(), Some(expect));
    }
    let line = |id: &str| format!("{{\"id\": \"{id}\", \"question\": \"?\", {FUNCTION}}}\n");
    let answer = r#"{"id": "a", "ground_truth": [{"add": {"a": [1]}}]}"#;
    check(
        &format!("{}\n{{\"id\": \"b\",}}", line("a")),
        answer,
        "BFCL_v4_simple_python.json:3: broken JSON in column 12: trailing comma",
    );
    check(
        &(line("a") + &line("a")),
        answer,
        "BFCL_v4_simple_python.json:2: the id `a` is taken by line 1",
    );
    check(
        "[]",
        answer,
        "BFCL_v4_simple_python.json:1: an entry is an object, one per line",
    );
    check(
        "{}",
        answer,
        "BFCL_v4_simple_python.json:1: `id` is missing or not a text",
    );
    check(
        "\n",
        answer,
        "BFCL_v4_simple_python.json: there is no entry",
    );
    check(
        &line("b"),
        answer,
        "BFCL_v4_simple_python.json:1: `b` has no ground truth, neither here nor in \
         `possible_answer/BFCL_v4_simple_python.json`",
    );
    check(
        &line("a"),
        r#"{"id": "a"}"#,
        "possible_answer/BFCL_v4_simple_python.json:1: `ground_truth` is missing",
    );
    check(
        &line("a"),
        r#"{"id": "a", "ground_truth": [{"add": {"a": 1}}]}"#,
        "possible_answer/BFCL_v4_simple_python.json:1: `ground_truth` has no list of values for `a`",
    );
    check(
        &line("a"),
        "\n{\"id\": \"a\", \"ground_truth\": 5}",
        "possible_answer/BFCL_v4_simple_python.json:2: `ground_truth` is not a list of calls",
    );
    check(
        &line("a").replace("}\n", ", \"ground_truth\": [5]}"),
        answer,
        "BFCL_v4_simple_python.json:1: a call in `ground_truth` is not `{name: {argument: [values]}}`",
    );
    check(
        &line(""),
        answer,
        "BFCL_v4_simple_python.json:1: `id` is missing or not a text",
    );
    check(
        &line("a").replace("\"?\"", "[[7]]"),
        answer,
        "BFCL_v4_simple_python.json:1: `question` must be a text or a list of turns with messages",
    );
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"id\":", "\"a\"", "\"b\"", "\"question\":", "\"function\":", "\"ground_truth\":",
    "\"category\":", "\"role\":", "\"content\":", "\"name\":", "\"arguments\":", "\"parameters\":", "\"properties\":",
    "\"required\":", "\"type\":", "\"items\":", "\"integer\"", "\"parallel\"", "\"\"", "\"[f(a=1)]\"", "1", "-0.5", "1e999",
    "01", "NaN", "null", "true", "\"\\ud800\"", "\\", "\"", "\n", "\r\n", " ", "\0", "é", "😀", "\u{feff}",
    "{\"id\":\"a\",\"question\":\"?\",", "\"ground_truth\":[{\"f\":{\"a\":[1]}}]}",
    "\"ground_truth\":[{\"name\":\"f\",\"arguments\":{\"a\":1}}]}", "\"function\":[{\"name\":\"f\",\"parameters\":{",
];

/// Set `EVALTEST_FUZZ_CASES=1000000` for a million cases.
#[test]
fn a_file_of_anything_is_read_or_its_fault_has_a_place() {
    use std::io::Write as _;

    let path = Path::new("some.json");
    let (mut all, mut right) = (0, 0);
    let parallel = Category::named("parallel");
    crate::tests::fuzz::fuzz(|dice| {
        let mut text = dice.text(PIECES, 12);
        if dice.below(4) == 0 {
            let odd = dice.text(PIECES, 1);
            text = format!(
                "{{\"id\":\"a\",\"question\":\"?\",\"ground_truth\":[{{\"name\":\"f\",\"arguments\":{{{odd}}}}}]}}\n"
            );
        }
        let category = (dice.below(2) > 0).then_some(&parallel);
        let questions = question::lines_of(&text, path).and_then(|lines| {
            let lines = lines.into_iter();
            lines
                .map(|line| line.into_question(category))
                .collect::<Result<Vec<_>>>()
        });
        all += 1;
        match questions {
            Ok(_) => right += 1,
            Err(error) => {
                let message = error.message();
                assert!(message.starts_with("some.json:"), "{text:?} {message}");
            }
        }
    });
    let _ = writeln!(std::io::stderr(), "{all} files, {right} without a fault");
    assert!(right > 0);
}

#[test]
fn a_folder_without_data_says_what_is_looked_for() {
    let error = read(&[("x.json", "{}")], "simple_python").unwrap_err();
    assert!(
        error
            .message()
            .contains("no file `BFCL_v4_<category>.json`")
    );
}

#[test]
fn the_simple_form() {
    let folder = folder(&[(
        "mine.jsonl",
        r#"{"id": "one", "question": "q", "ground_truth": [{"name": "f", "arguments": {"a": 1, "d": {"k": [1]}}}]}
{"id": "two", "question": "q", "ground_truth": [{"name": "f", "arguments": {"a": 1}}, {"name": "f", "arguments": {"a": 2}}]}
{"id": "none", "question": "q", "category": "irrelevance", "function": []}
"#,
    )]);
    let data = Data::open(folder.path().join("mine.jsonl")).unwrap();
    let names: Vec<&str> = data.categories().iter().map(|known| &*known.name).collect();
    assert_eq!(names, ["simple_python", "parallel", "irrelevance"]);
    let index = Index::new(data);
    let check = |category: &str, id: &str, answer: &str, expect: bool| {
        let question = index.get(category, id).unwrap();
        assert_eq!(question.unsatisfiable, None);
        let answer = Value::from(answer);
        let request = CheckRequest::new(&question.entry, category, ModelAnswer::Prompt(&answer));
        assert_eq!(check(&request).valid, expect, "{answer:?}");
    };
    check("simple_python", "one", "f(d={'k': [1]}, a=2-1)", true);
    check("simple_python", "one", "f(a=1)", false);
    check("simple_python", "one", "f(a='1', d={'k': [1]})", false);
    check("parallel", "two", "f(a=2), f(a=1)", true);
    check("parallel", "two", "f(a=2), f(a=2)", false);
    check("irrelevance", "none", "I cannot.", true);
}

/// The official data: its counts, and the entries that the specification lists as unsatisfiable.
#[needs(data = "bfcl/data")]
#[test]
fn the_official_data() {
    let data = Data::open(parity::path("bfcl/data")).unwrap();
    assert_eq!(data.categories().len(), 23);
    let mut unsatisfiable = Vec::new();
    let mut single_turn = 0;
    for category in data.select(&["single_turn".to_owned()]).unwrap() {
        for question in data.read(&category).unwrap() {
            single_turn += 1;
            unsatisfiable.extend(question.unsatisfiable.map(|_| question.id));
        }
    }
    assert_eq!(single_turn, 3641);
    assert_eq!(
        unsatisfiable,
        [
            "live_simple_106-63-0",
            "live_simple_112-68-0",
            "live_multiple_862-181-3",
            "live_multiple_964-207-0"
        ]
    );
    let check = |category: &str, expect: usize| {
        let count = data.count(&Category::named(category)).unwrap();
        assert_eq!(count, expect, "{category}");
    };
    check("simple_java", 100);
    check("multi_turn_base", 200);
    check("memory_kv", 155);
    check("web_search_base", 100);
    check("format_sensitivity", 5200);
}
