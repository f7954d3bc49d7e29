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
    // Half of a surrogate pair is no text that Python could hand to its parser.
    check(
        r#""model_result":"[weather.get(city='Rome', unit='\ud800')]""#,
        "ast_decoder:decoder_failed",
        Value::Null,
        json!("the answer has no readable calls"),
    );
    check(
        r#""mode":"fc","model_result":[{"weather.get":"{\"city\": \"Rome\", \"unit\": \"\ud800\"}"}]"#,
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
        json!("the answer has no readable calls"),
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
        "answers.jsonl:1: the line has no `function` and `ground_truth`",
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
        "another `--scorer` cannot be combined with",
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
        "bfcl::simple_python::simple_python_0\nbfcl::irrelevance::irrelevance_0\nbfcl::gate::error_rate\n"
    );
    project
        .run("list bfcl.yaml --categories")
        .exits(0)
        .says("simple_python                1  1 in this eval");
    project.run("run -v bfcl.yaml").exits(0);
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
    project.run(&arguments).exits(0).says("1 of 2 correct");
}

/// Two answers to Python entries, one of them wrong, and two to entries where no call fits; `irrelevance_1` has none.
fn answered() -> Project {
    let project = project();
    let entries = [0, 1].map(|id| ENTRY.replace("simple_python_0", &format!("simple_python_{id}")));
    let truths = [0, 1].map(|id| ANSWER.replace("simple_python_0", &format!("simple_python_{id}")));
    project.write("data/BFCL_v4_simple_python.json", entries.join("\n"));
    project.write(
        "data/possible_answer/BFCL_v4_simple_python.json",
        truths.join("\n"),
    );
    let entries = [0, 1].map(|id| ENTRY.replace("simple_python_0", &format!("irrelevance_{id}")));
    project.write("data/BFCL_v4_irrelevance.json", entries.join("\n"));
    project.write(
        "answers.jsonl",
        concat!(
            "{\"id\":\"simple_python_0\",\"answer\":\"weather.get(city='Rome')\"}\n",
            "{\"id\":\"simple_python_1\",\"answer\":\"weather.get(city='Rome', unit='kelvin')\"}\n",
            "{\"id\":\"irrelevance_0\",\"answer\":\"None fits.\"}\n",
        ),
    );
    project
}

fn spec(project: &Project, benchmark: &str, gates: &str) {
    project.write(
        "bfcl.yaml",
        format!(
            "benchmark: {{ type: bfcl, path: data, {benchmark} }}\n\
             agent: {{ type: replay, path: answers.jsonl, fields: {{ id: id, answer: answer }} }}\n\
             limits: {{ retries: 0 }}\n{gates}"
        ),
    );
}

/// The same figures after the run, after `summarize` and after `rescore`; an outage is no wrong answer.
#[test]
fn the_benchmarks_metrics_are_worked_out_and_gated() {
    let project = answered();
    spec(
        &project,
        "weights: { simple_python: 3, irrelevance: 1 }",
        "gates: [metric(weighted) >= 0.6, metric(weighted) < 50%, metric(non_live) >= 0.01]\n",
    );
    project
        .run("run -v bfcl.yaml")
        .exits(2)
        .says("two gates are called `metric(weighted)`");
    spec(
        &project,
        "weights: { simple_python: 3, irrelevance: 1 }",
        "gates: [metric(weighted) >= 0.6, metric(non_live) >= 0.01, metric(call_f1) >= 0.1]\n",
    );
    project
        .run("run -v bfcl.yaml")
        .exits(3)
        .says("metric(non_live) >= 0.01: passed: metric(non_live) 0.0417")
        .says("metric(weighted) >= 0.6: INCONCLUSIVE")
        .says("metric(call_f1) >= 0.1: passed")
        .says("weighted             0.6250  0.5000 to 0.6250")
        .says("counted as zero: simple_java, ");
    let metrics = project.last_json("summary.json")["metrics"].clone();
    assert_eq!(metrics["weighted"], 0.625);
    assert_eq!(metrics["bounds"]["weighted"], json!([0.5, 0.625]));
    assert_eq!(metrics["parameter_accuracy"], json!(2.0 / 3.0));
    assert_eq!(
        metrics["wrong_parameters"],
        json!([{"function": "weather.get", "parameter": "unit", "problem": "value", "samples": 1}])
    );
    let run = project.last_run();
    let summarized = project
        .run(&format!("summarize {} --json", run.display()))
        .exits(0);
    assert_eq!(summarized.json()["metrics"], metrics);
    let markdown = project
        .run(&format!("summarize {} --markdown", run.display()))
        .exits(0);
    markdown.says("| weather.get | unit | value | 1 |");
    project
        .run(&format!("report {} --format html", run.display()))
        .exits(0)
        .says("<h3>Wrong parameters</h3>")
        .says("weather.get: unit")
        .says("own metrics</h3>")
        .says(">parameter_accuracy</th>");
    project
        .run(&format!("rescore -v {}", run.display()))
        .exits(0);
    assert_ne!(project.last_run(), run);
    assert_eq!(project.last_json("summary.json")["metrics"], metrics);
    let gate = |gate: &str| {
        project
            .command_of(&["gate", "-v", &run.display().to_string(), "--gate", gate])
            .output()
            .unwrap()
    };
    assert_eq!(gate("metric(unweighted) >= 0.5").status.code(), Some(0));
    assert_eq!(gate("metric(irrelevance) >= 0.5").status.code(), Some(3));
    let unknown = gate("metric(overal) >= 0.5");
    assert_eq!(unknown.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(stderr.contains("did you mean `overall`?"), "{stderr}");
}

#[test]
fn weights_and_metrics_that_cannot_be_are_refused_before_an_agent_is_asked() {
    let project = answered();
    let check = |benchmark: &str, gates: &str, expect: &str| {
        spec(&project, benchmark, gates);
        project.run("run bfcl.yaml").exits(2).says(expect);
        assert!(project.runs().is_empty());
    };
    check(
        "weights: { simple_pyton: 1 }",
        "",
        "did you mean `simple_python`?",
    );
    check(
        "categories: [simple_python], weights: { irrelevance: 1 }",
        "",
        "bfcl.yaml:1",
    );
    check(
        "weights: { irrelevance: -1 }",
        "",
        "the weight of `irrelevance` is -1",
    );
    check(
        "weights: { irrelevance: .nan }",
        "",
        "the weight of `irrelevance` is NaN",
    );
    check(
        "weights: { irrelevance: 0 }",
        "",
        "the sum of `weights` is 0",
    );
    check("limit: 1", "", "unknown");
    check(
        "ids: [irrelevance_0]",
        "gates: [metric(live) >= 0.5]\n",
        "the benchmark has no metric `live` here",
    );
    check(
        "ids: [irrelevance_0]",
        "gates: [metric(weighted) >= 0.5]\n",
        "bfcl.yaml:4",
    );
}

/// An entry that no answer can satisfy says so with each wrong answer.
#[test]
fn what_cannot_be_satisfied_is_flagged() {
    let line = r#"{"category":"simple_python","model_result":"f(a=1)","function":[{"name":"f","parameters":{"properties":{"a":{"type":"integer"}},"required":["a"]}}],"ground_truth":[{"f":{"a":[]}}]}"#;
    let details = &judged(line)["score"]["details"];
    assert_eq!(
        details["unsatisfiable"],
        "`ground_truth` has no value for `a`"
    );
    assert_eq!(
        details["calls"],
        json!({"right": 0, "expected": 1, "given": 1})
    );
    assert_eq!(details["wrong_parameters"][0]["parameter"], "a");
}

#[test]
fn an_answer_is_explained() {
    let project = project();
    project.write(
        "answers.jsonl",
        "\n{\"id\":\"simple_python_0\",\"category\":\"simple_python\",\"model_result\":\"weather.get(city='Oslo')\"}\n",
    );
    let explain = |arguments: &[&str]| {
        let arguments = [&["--scorer", "bfcl", "--explain"], arguments].concat();
        score(&project, &arguments)
    };
    let ran = explain(&["--data", "data", "answers.jsonl", "--line", "2"]).exits(0);
    for part in [
        "scorer: bfcl, tool calls",
        "entry: simple_python_0, category simple_python, mode prompt",
        "  weather.get(city='Oslo')\n",
        "  [{\"weather.get\":{\"city\":[\"Rome\"],\"unit\":[\"celsius\",\"\"]}}]\n",
        "difference: `city`: got `Oslo`, accepted `Rome`\n",
        "verdict: wrong, value 0.0, reason value_error:string\n",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    let truth = r#"[{"math.add": {"a": [4]}}]"#;
    let typed = ["--prediction", "math.add(a=2*2)", "--ground-truth", truth];
    let ran = explain(&typed).exits(0);
    assert!(ran.out.contains("verdict: correct"), "{}", ran.out);
    let ran = explain(&["--data", "data", "answers.jsonl"]).exits(2);
    assert!(
        ran.err.contains("`--explain` needs an answer"),
        "{}",
        ran.err
    );
    let ran = explain(&["--data", "data", "answers.jsonl", "--line", "1"]).exits(2);
    assert!(ran.err.contains("this line has no answer"), "{}", ran.err);
}
