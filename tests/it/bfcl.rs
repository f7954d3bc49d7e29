//! The function-calling leaderboard: its scorer on lines with fields of their own.

use serde_json::{Value, json};

use crate::project::Project;
use crate::scored::score;

const ENTRY: &str = r#"{"id": "simple_python_0", "question": [[{"role": "user", "content": "How warm is Rome?"}]], "function": [{"name": "weather.get", "description": "Tells it.", "parameters": {"type": "dict", "required": ["city"], "properties": {"city": {"type": "string", "description": "Where."}, "unit": {"type": "string", "description": "Of what."}}}}]}"#;
const ANSWER: &str = r#"{"id": "simple_python_0", "ground_truth": [{"weather.get": {"city": ["Rome"], "unit": ["celsius", ""]}}]}"#;

fn project() -> Project {
    let project = Project::new();
    project.write("data/BFCL_v4_simple_python.json", ENTRY);
    project.write("data/possible_answer/BFCL_v4_simple_python.json", ANSWER);
    project
}

fn judged(line: &str) -> Value {
    let project = project();
    project.write("answers.jsonl", line);
    let arguments = ["--scorer", "bfcl", "--data", ".", "answers.jsonl"];
    let ran = score(&project, &arguments).exits(0);
    let start = line.trim_end_matches('}');
    assert!(ran.out.starts_with(start), "the line stays as it is");
    // What reads it here knows no lone surrogates; messages have Python's form of them.
    let out = ran.out.replace(r"\\ud800", "?").replace(r"\ud800", "?");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn lines_are_checked_against_the_data() {
    let check = |rest: &str, reason: &str, decoded: Value, difference: Value| {
        let line =
            format!("{{\"id\":\"simple_python_0\", \"category\" : \"simple_python\",{rest}}}");
        let score = &judged(&line)["score"];
        let is_right = reason == "exact_match";
        assert_eq!(score["reason"], reason, "{score}");
        assert_eq!(score["correct"], is_right);
        assert_eq!(score["value"], if is_right { 1.0 } else { 0.0 });
        assert_eq!(score["details"]["decoded"], decoded);
        assert_eq!(score["details"]["difference"], difference);
        let errors = score["details"]["error"].as_array().unwrap();
        assert_eq!(errors.is_empty(), is_right);
    };
    check(
        r#""mode":"prompt","model_result":"[weather.get(city='rome')]""#,
        "exact_match",
        json!([{"weather.get": {"city": "rome"}}]),
        Value::Null,
    );
    check(
        r#""model_result":"[weather.get(city='Rome', unit='\ud800')]""#,
        "value_error:string",
        json!([{"weather.get": {"city": "Rome", "unit": "?"}}]),
        json!("`unit`: got `?`, accepted `celsius` or nothing"),
    );
    check(
        r#""mode":"fc","underscore_to_dot":true,"model_result":[{"weather_get":"{\"city\": \"Rome\"}"}]"#,
        "exact_match",
        json!([{"weather_get": {"city": "Rome"}}]),
        Value::Null,
    );
    check(
        r#""model_result":"Sunny, I think.""#,
        "ast_decoder:decoder_failed",
        Value::Null,
        json!("the answer holds no calls that can be read"),
    );
    check(
        r#""return_format":"json","model_result":"[{\"function\": \"f\", \"parameters\": {}}]","function":[{"name":"f","parameters":{"properties":{},"required":[]}}],"ground_truth":[{"f":{}}]"#,
        "exact_match",
        json!([{"f": {}}]),
        Value::Null,
    );
}

#[test]
fn mistakes_are_named() {
    let project = project();
    let check = |arguments: &[&str], line: &str, expect: &str| {
        project.write("answers.jsonl", line);
        let arguments = [&["--scorer", "bfcl", "answers.jsonl"], arguments].concat();
        let ran = score(&project, &arguments).exits(2);
        assert_eq!(ran.out, "");
        assert!(
            ran.err.starts_with(&format!("error: {expect}")),
            "{}",
            ran.err
        );
    };
    let line = |category: &str, id: &str, result: &str| {
        format!("{{\"id\":\"{id}\",\"category\":\"{category}\",\"model_result\":{result}}}")
    };
    let data = ["--data", "data"];
    let right = line("simple_python", "simple_python_0", "\"\"");
    check(
        &[],
        &right,
        "answers.jsonl:1: there is no `function` and `ground_truth` on the line",
    );
    check(
        &data,
        &line("simple_python", "x", "\"\""),
        "answers.jsonl:1: `data`: no entry `x` in category `simple_python`",
    );
    check(
        &data,
        &line("simple_pyton", "x", "\"\""),
        "answers.jsonl:1: unknown category `simple_pyton`",
    );
    check(
        &data,
        "{\"category\":\"a\"}",
        "answers.jsonl:1: `model_result` is missing",
    );
    check(
        &data,
        &right.replace('}', ",\"mode\":\"chat\"}"),
        "answers.jsonl:1: `mode` is `chat`, expected `prompt` or `fc`",
    );
    check(&["--data", "nowhere"], &right, "cannot open `nowhere`");
    check(
        &["--scorer", "gaia"],
        &right,
        "another `--scorer` does not go with",
    );
    project.write("data/BFCL_v4_simple_python.json", format!("{ENTRY}\n{{\n"));
    check(
        &data,
        &right,
        "answers.jsonl:1: data/BFCL_v4_simple_python.json:2: broken JSON in column",
    );
}

/// Trials are named by category, an agent's native calls and its text are judged, and `rescore` finds what it needs.
#[test]
fn a_run_can_be_scored_again() {
    let project = project();
    project.write(
        "data/BFCL_v4_irrelevance.json",
        ENTRY.replace("simple_python_0", "irrelevance_0"),
    );
    project.write(
        "answers.jsonl",
        concat!(
            "{\"id\":\"simple_python_0\",\"answer\":\"[weather.get(city='Rome')]\"}\n",
            "{\"id\":\"irrelevance_0\",\"answer\":\"[weather.get(city='Rome')]\"}\n",
        ),
    );
    project.write(
        "bfcl.yaml",
        "benchmark: { type: bfcl, path: data, categories: [non_live] }\n\
         agent: { type: replay, path: answers.jsonl, fields: { id: id, answer: answer } }\n",
    );
    let listed = project.run("list bfcl.yaml").exits(0);
    assert_eq!(
        listed.out,
        "bfcl::simple_python::simple_python_0\nbfcl::irrelevance::irrelevance_0\n"
    );
    project
        .run("list bfcl.yaml --categories")
        .exits(0)
        .says("simple_python                1  1 in this eval");
    project.run("run bfcl.yaml").exits(0);
    let run = project.last_run();
    let lines = project.last_lines("samples.jsonl");
    let reasons: Vec<&Value> = lines
        .iter()
        .map(|line| &line["result"]["score"]["reason"])
        .collect();
    assert_eq!(
        reasons,
        ["exact_match", "irrelevance_error:decoder_success"]
    );
    let arguments = format!("rescore {}", run.display());
    project
        .run(&arguments)
        .exits(0)
        .says("2 samples, 1 correct");
}
