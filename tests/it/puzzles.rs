//! A flow that makes puzzles, and an endpoint that generates, judges and compares them: always the same of the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::project::Project;
use crate::server::{Answer, Request, Server, chat, fine};

/// So many items the flow asks for.
pub(crate) const ITEMS: usize = 6;

/// Gates that such items pass.
pub(crate) const EASY: &str = "gates: [mean(judge.total) >= 3, mean(pairwise.tie) >= 0.5]";

/// The only flow of a project.
pub(crate) fn folder(project: &Project) -> PathBuf {
    let flows = std::fs::read_dir(project.file("evaltest-runs")).unwrap();
    let flows = flows.flatten().map(|entry| entry.path());
    let mut flows: Vec<_> = flows
        .filter(|path| path.join("flow.json").is_file())
        .collect();
    assert_eq!(flows.len(), 1);
    flows.remove(0)
}

/// The files of a flow that it wrote for people, with what differs from one flow to the next left out.
pub(crate) fn contents(folder: &Path) -> BTreeMap<String, String> {
    let time =
        regex::Regex::new(r"20\d{6}[T_]\d{6}Z?|20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?")
            .unwrap();
    let id = regex::Regex::new(r"flow-[a-z]+-[0-9a-f]{6}").unwrap();
    let seconds = regex::Regex::new(r"(?m)\d+(\.\d+)? (ms|s)\b").unwrap();
    let clean = |text: &str| {
        let text = text.replace(&folder.display().to_string(), "FOLDER");
        let text = time.replace_all(&text, "TIME");
        let text = seconds.replace_all(&text, "SECONDS");
        id.replace_all(&text, "ID").into_owned()
    };
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let files = files.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        path.is_file() && (name.contains("_report") || name.contains("_generated_"))
    });
    files
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            (clean(&name), clean(&text))
        })
        .collect()
}

/// Words that differ from those of any other number.
fn words(number: u64) -> String {
    let word = |place: u64| {
        let mut state = number * 7919 + place * 104_729 + 17;
        let mut word = String::new();
        for _ in 0..6 {
            word.push(char::from(b'a' + u8::try_from(state % 26).unwrap()));
            state = state / 26 + state * 31 % 1009;
        }
        word
    };
    (0..14).map(word).collect::<Vec<_>>().join(" ")
}

/// The number behind the last place where this stands.
fn number_behind(text: &str, mark: &str) -> u64 {
    let rest = &text[text.rfind(mark).unwrap_or_else(|| panic!("{text}")) + mark.len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// What an endpoint says that generates, judges and compares: always the same of the same item.
fn reply(requested: &Request) -> String {
    let prompt = requested.prompt();
    match requested.body["model"].as_str().unwrap() {
        "writer" => {
            let number = number_behind(prompt, "item number ");
            json!({
                "problem": format!("Puzzle {number}: {}?", words(number)),
                "answer": number,
                "solution": format!("It is \\boxed{{{number}}}."),
                "topic": if number % 2 == 1 { "odd" } else { "even" },
            })
            .to_string()
        }
        "judge" => {
            let number = number_behind(prompt, "Puzzle ");
            let points = 3 + number % 3;
            json!({
                "reason": "looked at", "correctness": points, "clarity": 4, "difficulty_match": 4, "completeness": 5,
                "comments": "",
            })
            .to_string()
        }
        other => {
            assert_eq!(other, "pairs");
            json!({ "reason": "looked at", "verdict": "tie" }).to_string()
        }
    }
}

pub(crate) fn answer(requested: &Request) -> Answer {
    fine(&chat(&reply(requested)))
}

/// A project with a flow that asks this server for everything.
pub(crate) fn project_of(server: &Server, more: &str) -> Project {
    let project = Project::new();
    let url = server.url("/v1");
    let agent = |model: &str| {
        format!("{{ type: openai, base_url: \"{url}\", model: {model}, temperature: 0, seed: 1 }}")
    };
    let real: Vec<_> = (100..110)
        .map(|number| {
            json!({
                "id": format!("real_{number}"), "problem": format!("Real: {}?", words(number)), "answer": number,
                "solution": format!("It is \\boxed{{{number}}}."), "topic": "odd",
            })
        })
        .collect();
    project.write("real.json", json!(real).to_string());
    project.write(
        "flow.yaml",
        format!(
            "name: puzzles\n\
             generate:\n\
             \x20 count: {ITEMS}\n\
             \x20 reference: real.json\n\
             \x20 topics: [odd, even]\n\
             \x20 fields:\n\
             \x20   - {{ name: problem, type: text }}\n\
             \x20   - {{ name: answer, type: integer, range: [0, 999] }}\n\
             \x20   - {{ name: solution, type: text }}\n\
             \x20   - {{ name: topic, type: choice, choices: topics }}\n\
             \x20 template: \"Write item number {{{{number}}}} about {{{{topic}}}}.\\n{{{{fields}}}}\"\n\
             \x20 agent: {}\n\
             judge: {{ rubric: aime, retries: 0, agent: {} }}\n\
             winrate: {{ retries: 0, criteria: which is better, agent: {} }}\n\
             limits: {{ concurrency: 1, retries: 0 }}\n\
             {more}\n",
            agent("writer"),
            agent("judge"),
            agent("pairs"),
        ),
    );
    project
}

/// How many requests were made once more.
pub(crate) fn twice(server: &Server) -> usize {
    let mut times = BTreeMap::<_, usize>::new();
    for requested in server.requested() {
        let model = requested.body["model"].to_string();
        *times
            .entry((model, requested.prompt().to_owned()))
            .or_default() += 1;
    }
    times.values().map(|times| times - 1).sum()
}
