//! Items that agents write: `generate`, its files, and what becomes of a run that is killed.

mod flagged;
mod refused;
mod resumed;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::project::{Project, all_files, root};
use crate::server::{Server, chat, fine};

/// The recorded replies of the repository, in a project of their own.
fn recorded() -> Project {
    let project = Project::new();
    for file in all_files(&root().join("fixtures/generate")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        project.write(&name, fs::read(&file).unwrap());
    }
    project
}

/// The files of a folder whose names begin and end so.
fn files(folder: &Path, begin: &str, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with(begin) && name.ends_with(end)
        })
        .collect();
    found.sort();
    found
}

/// The only such file.
#[track_caller]
fn only(folder: &Path, begin: &str, end: &str) -> PathBuf {
    let mut found = files(folder, begin, end);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn json_of(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A spec of items with a word and a number, whose template names the item and nothing else.
fn words(agent: &str, more: &str) -> String {
    format!(
        "name: words\nbenchmark:\n  type: generate\n  name: word\n  count: 12\n  topics: [north, south]\n  \
         fields:\n    - {{ name: word, type: text }}\n    - {{ name: answer, type: integer, range: [0, 99] }}\n  \
         checks: {{ copy_of: word }}\n  template: \"Item {{{{number}}}}.\"\nagent: {agent}\n{more}"
    )
}

/// The number in a prompt of [`words`].
fn number(prompt: &str) -> u64 {
    let digits = prompt.trim_start_matches("Item ");
    let end = digits.find('.').unwrap();
    digits[..end].parse().unwrap()
}

/// Words of which those of another number have none.
fn text(number: u64) -> String {
    let letter = char::from(b'a' + u8::try_from(number).unwrap());
    let words = ('a'..='l').map(|other| format!("{letter}{other}"));
    words.collect::<Vec<_>>().join(" ")
}

/// An endpoint that writes words; every third item is refused at first, the seventh always, and the eighth is at first a copy
/// of the fourth.
fn writer() -> Server {
    Server::new(|requested, _| {
        let prompt = requested.prompt().to_owned();
        let number = number(&prompt);
        let is_first = prompt == format!("Item {number}.");
        let answer = match number {
            7 => 100,
            n if n % 3 == 0 && is_first => 1000,
            n => n,
        };
        let word = text(if number == 8 && is_first { 4 } else { number });
        fine(&chat(
            &json!({ "word": word, "answer": answer }).to_string(),
        ))
    })
}

#[test]
fn what_passed_is_a_file_and_the_report_has_every_part() {
    let project = recorded();
    project
        .run("generate aime.yaml --output out")
        .exits(0)
        .says("generate-aime: 5 of 6 items accepted, 83.3 %")
        .says("1 never passed")
        .says("refused: 6 of 11 replies (4 answer_in_range, 1 no_copy_of_reference, 1 readable)")
        .says("items: out/aime_generated_");
    let out = project.file("out");
    let items = json_of(&only(&out, "aime_generated_", ".json"));
    let items = items.as_array().unwrap();
    let ids: Vec<_> = items
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "gen_aime_1",
            "gen_aime_2",
            "gen_aime_3",
            "gen_aime_4",
            "gen_aime_6"
        ]
    );
    for item in items {
        let names: Vec<_> = item.as_object().unwrap().keys().collect();
        let expect = [
            "id",
            "problem",
            "answer",
            "solution",
            "topic",
            "reference_id",
            "model",
            "generated_at",
        ];
        assert_eq!(names, expect);
        assert_eq!(item["model"], "recorded");
        assert!(item["reference_id"].as_str().unwrap().starts_with("mock-"));
        assert!(item["generated_at"].as_str().unwrap().ends_with('Z'));
    }
    assert!(
        items[0]["solution"]
            .as_str()
            .unwrap()
            .contains(r"\lfloor \frac{500}{45}")
    );
    assert_eq!(
        (&items[1]["answer"], &items[1]["topic"]),
        (&json!(461), &json!("Geometry"))
    );
    let report = fs::read_to_string(only(&out, "generation_report_", ".md")).unwrap();
    for part in [
        "**5 of 6 items (83.3 %, 95 % interval 43.6 % to 97.0 %) were accepted.**",
        "## 1 Basic information",
        "| references | aime-reference.jsonl (6 references shown) |",
        "## 2 Statistics",
        "| repaired (unescaped LaTeX) | 1 |",
        "| Probability | 1 | 16.7 % | 0 |",
        "(exact multinomial test, p = ",
        "## 3 Checks",
        "| solution\\_ends\\_in\\_answer | solution ends in answer |",
        "## 4 Refused replies",
        "- failed `answer_in_range`: 4 replies; such as `gen_aime_5`",
        "## 5 Items that never passed",
        "| gen\\_aime\\_5 | Probability | 4 | answer\\_in\\_range |",
        "## 6 Files and next steps",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    // It is a run like any other.
    let run = only(&out, "2", "");
    let run = run.to_str().unwrap();
    project.run_of(&["show", run, "gen_aime_3"]).exits(0);
    project.run_of(&["report", run]).exits(0);
    project
        .run_of(&["runs", "--output-root", "out"])
        .exits(0)
        .says("generate-aime");
    let statistics = json_of(&Path::new(run).join("generation.json"));
    assert_eq!(statistics["statistics"]["replies"]["refused"], 6);
    // What is scored anew is the same again.
    project
        .run("generate aime.yaml --output out --json")
        .exits(0);
    assert_eq!(files(&out, "aime_generated_", ".json").len(), 2);
}

#[test]
fn other_kinds_of_items_are_specs() {
    let project = recorded();
    for (spec, of) in [
        ("code", "solution"),
        ("dialogue", "turns"),
        ("documents", "summary"),
    ] {
        project
            .run(&format!("generate {spec}.yaml --output out"))
            .exits(0)
            .says("3 of 3 items accepted");
        let items = json_of(&only(
            &project.file("out"),
            &format!("{spec}_generated_"),
            ".json",
        ));
        for item in items.as_array().unwrap() {
            assert!(item.get(of).is_some(), "{spec}: {item}");
        }
    }
    // Nothing of a secret stands anywhere.
    for file in all_files(&project.file("out")) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert!(!text.contains("PIN-204816"), "{}", file.display());
    }
    let items = only(&project.file("out"), "documents_generated_", ".json");
    assert!(
        fs::read_to_string(items)
            .unwrap()
            .contains("the number [REDACTED]")
    );
}

#[test]
fn the_flags_are_what_the_spec_says() {
    let server = writer();
    let project = Project::new();
    project.write("words.yaml", words("echo", ""));
    let agent = server.openai("");
    let arguments = [
        "generate",
        "words.yaml",
        "--agent",
        &agent,
        "--count",
        "2",
        "--topics",
        "east",
        "--seed",
        "4",
        "--delay-s",
        "1",
        "--output",
        "out",
        "--run-id",
        "mine",
        "--json",
    ];
    let output = project.run_of(&arguments).exits(0).json();
    let statistics = &output["runs"][0]["statistics"];
    assert_eq!(statistics["items"]["accepted"], 2);
    assert_eq!(statistics["seed"], 4);
    assert_eq!(statistics["topics"]["topics"][0]["topic"], "east");
    assert_eq!(statistics["models"]["tiny-2026 (fp_1)"], 2);
    assert_eq!(server.requested().len(), 2);
    // A delay is a rate, and the same run has one file.
    let items = json_of(&only(&project.file("out"), "words_generated_", ".json"));
    let time = |place: usize| {
        let time = items[place]["generated_at"].as_str().unwrap();
        let seconds = time.rsplit(':').next().unwrap().trim_end_matches('Z');
        seconds.parse::<f64>().unwrap()
    };
    assert!((time(1) - time(0)).rem_euclid(60.0) >= 0.9, "{items}");
    // Of several agents each has its own.
    let agents = format!("agents: {{ one: {agent}, two: {agent} }}");
    let spec = words("echo", "").replace("agent: echo", &agents);
    project.write("words.yaml", spec);
    project
        .run("generate words.yaml --count 1 --output both")
        .exits(0);
    let both = project.file("both");
    only(&both, "words_one_generated_", ".json");
    only(&both, "words_two_generated_", ".json");
    only(&both, "generation_report_one_", ".md");
}

#[test]
fn who_solves_it_anew_is_heard_and_texts_of_agents_stay_texts() {
    let server = Server::new(|requested, _| {
        let prompt = requested.prompt().to_owned();
        if prompt.starts_with("Solve") {
            let answer = if prompt.contains("word-2") { 99 } else { 1 };
            return fine(&chat(&format!("ANSWER: {answer}")));
        }
        let number = number(&prompt);
        let answer = match number {
            3 => json!("::error::<b>x|y</b> @team"),
            n => json!(n),
        };
        let word = format!("word-{number}\u{2028}");
        fine(&chat(
            &json!({ "word": word, "answer": answer }).to_string(),
        ))
    });
    let project = Project::new();
    project.write("words.yaml", words(&server.openai(""), ""));
    let solver = server.openai("");
    let arguments = [
        "generate",
        "words.yaml",
        "--count",
        "3",
        "--solver",
        &solver,
        "--votes",
        "1",
        "--on-disagreement",
        "note",
        "--set",
        "benchmark.solver.shows=[word]",
        // But for their numbers they are one text.
        "--set",
        "benchmark.checks.no_copy_of_item=off",
        "--output",
        "out",
    ];
    project
        .run_of(&arguments)
        .exits(0)
        .says("2 of 3 items accepted")
        .says("solved again: 1 of 2 with the same answer");
    let out = project.file("out");
    let report = fs::read_to_string(only(&out, "generation_report_", ".md")).unwrap();
    assert!(
        report.contains("finds the same answer in 1 of 2 accepted items (50.0 %"),
        "{report}"
    );
    for harmful in ["<b>", "x|y", "@team", "\n::"] {
        assert!(!report.contains(harmful), "{harmful}\n{report}");
    }
    let items = only(&out, "words_generated_", ".json");
    let text = fs::read_to_string(&items).unwrap();
    assert!(
        text.contains("word-1\\u2028") && !text.contains('\u{2028}'),
        "{text}"
    );
    let schema = project.run("schema --items").exits(0).json();
    assert!(jsonschema::is_valid(&schema, &json_of(&items)));
    assert!(!jsonschema::is_valid(&schema, &json!([{ "problem": "?" }])));
    let run = only(&out, "2", "");
    project
        .run_of(&["show", run.to_str().unwrap(), "gen_word_3"])
        .exits(0)
        .says("refused: attempt 1, answer_in_range: had a mistake");
}
