//! The examples on the pages of the built-in agents and benchmarks are valid specs.

use std::fs;
use std::path::Path;

use super::parse;
use crate::eval::registry::{BuiltIn, Registry, agents, benchmarks};

/// The files that the examples name.
const FILES: [(&str, &str); 11] = [
    ("answers.jsonl", r#"{"id": "q1", "answer": "42"}"#),
    ("recorded.jsonl", r#"{"key": "q1", "said": "42"}"#),
    ("questions.csv", "question,answer\n6 * 7?,42\n"),
    (
        "questions.jsonl",
        r#"{"question": "How many?", "passage": "Two.", "topic": "a", "answers": {"text": ["2"]}}"#,
    ),
    (
        "riddles.jsonl",
        "{\"Query\": \"6 * 7?\", \"answer\": \"42\", \"level\": 1}\n{\"Query\": \"6 * 8?\", \"answer\": \"48\", \"level\": 2}\n",
    ),
    ("test.jsonl", r#"{"question": "6 * 7?", "answer": "42"}"#),
    (
        "aime.jsonl",
        "{\"id\": \"2024-I-1\", \"problem\": \"6 * 7?\", \"answer\": 42}\n{\"id\": \"2025-I-1\", \"problem\": \"6 * 8?\", \"answer\": 48}\n",
    ),
    (
        "items.json",
        r#"[{"id": "a", "problem": "6 * 7?", "answer": 42, "solution": "Multiply.", "topic": "Algebra"}]"#,
    ),
    ("orders.csv", "order\n1\n"),
    ("agent.py", ""),
    (
        "conversations.jsonl",
        "{\"id\": \"a\", \"turns\": [{\"user\": \"Hi\"}]}\n",
    ),
];

/// Loads every block of YAML of a page, together with `rest`.
fn check(entry: &BuiltIn, rest: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut blocks = entry.page.split("```yaml\n").skip(1).peekable();
    assert!(blocks.peek().is_some(), "{}", entry.name);
    for block in blocks {
        let block = block.split("```").next().unwrap_or_default();
        let data = ["gaia", "bfcl"];
        let block = data.iter().fold(block.to_owned(), |block, name| {
            let there = fixtures.join(name).display().to_string();
            let block = block.replace(&format!("../data/{name}"), &there);
            block.replace(&format!("../{name}"), &there)
        });
        // Some are whole specs.
        let rest = if block.starts_with("benchmark:") && rest.starts_with("benchmark:") {
            ""
        } else {
            rest
        };
        let text = format!("{block}{rest}");
        let path = folder.path().join("eval.yaml");
        let eval = parse(&text, &path, &Registry::new(), &[]);
        let eval = eval.unwrap_or_else(|error| panic!("{text}{error}"));
        if rest.starts_with("agent:") {
            assert_eq!(eval.benchmark.name(), entry.name);
            let samples = eval.benchmark.samples();
            samples.unwrap_or_else(|error| panic!("{text}{error}"));
        }
    }
}

#[test]
fn every_example_of_an_agent_is_one() {
    for entry in agents::BUILT_IN {
        check(entry, "benchmark: { type: qa, path: questions.csv }\n");
    }
}

#[test]
fn every_example_of_a_benchmark_is_one() {
    for entry in benchmarks::BUILT_IN {
        check(entry, "agent: { type: echo }\n");
    }
}
