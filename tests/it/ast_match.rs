//! `ast_match` and `trajectory`: in specs, on the command line and in gates.

use serde_json::{Value, json};

use crate::project::Project;
use crate::scored::score;

/// Answers of an agent: native calls, calls in a conversation, and a text.
const RECORDED: &str = concat!(
    r#"{"id":"rome","answer":"","tool_calls":[{"function":{"name":"weather","arguments":"{\"days\":2,\"city\":\"Rome\"}"}}]}"#,
    "\n",
    r#"{"id":"book","answer":"","messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"search","arguments":"{}"}}]},{"role":"tool","content":"2"},{"role":"assistant","tool_calls":[{"id":"2","function":{"name":"book","arguments":"{\"id\":2}"}}]}]}"#,
    "\n",
    r#"{"id":"both","answer":"I do both: pay(sum=3) and then book(id=3)"}"#,
    "\n",
);

const SPEC: &str = r#"
name: tools
benchmark:
  type: custom
  scorer: ast_match
  samples:
    - { id: rome, prompt: "How is the weather?", ground_truth: [{ name: weather, arguments: { city: Rome, days: 2 } }] }
    - { id: book, prompt: "Book.", ground_truth: "[search(), book(id=1+1)]", metadata: { trajectory: { minimal_calls: 1 } } }
    - { id: both, prompt: "Both.", ground_truth: "[book(id=3), pay(sum=4)]" }
agent: { type: replay, path: answers.jsonl, fields: { id: id, answer: answer } }
scorers:
  - ast_match
  - { type: trajectory, after: { book: search }, forbidden: [pay] }
gates:
  - accuracy >= 0.66
  - mean(f1) >= 0.83
  - mean(ast_match.parameter_accuracy) >= 0.8
  - mean(ast_match_rate) >= 0.6
  - mean(trajectory.order_rate) >= 0.6
  - mean(trajectory.forbidden_calls) <= 0.4
  - mean(efficiency) >= 0.5
"#;

#[test]
fn calls_are_judged_gated_and_scored_again() {
    let project = Project::new();
    project.write("answers.jsonl", RECORDED);
    project.write("tools.yaml", SPEC);
    project
        .run("run -v tools.yaml")
        .exits(0)
        .says("3 samples, 2 correct");
    let lines = project.last_lines("samples.jsonl");
    let reasons = |scorer: &str| -> Vec<Value> {
        let pointer = format!("/result/scores/{scorer}/reason");
        lines
            .iter()
            .map(|line| line.pointer(&pointer).cloned().unwrap_or_default())
            .collect()
    };
    assert_eq!(
        reasons("ast_match"),
        ["exact_match", "exact_match", "wrong_arguments"]
    );
    assert_eq!(
        reasons("trajectory"),
        ["as_expected", "as_expected", "forbidden_call"]
    );
    let summary = project.last_json("summary.json");
    assert_eq!(summary["means"]["f1"], json!(2.5 / 3.0));
    assert_eq!(summary["means"]["parameter_accuracy"], json!(2.5 / 3.0));
    let run = project.last_run();
    let show = |id: &str| {
        project
            .run(&format!("show {} {id}", run.display()))
            .exits(0)
    };
    show("rome")
        .says("tool calls:\n  {\"function\":{\"name\":\"weather\"")
        .says("score: 1 (exact_match)\ndetails: ");
    show("both")
        .says("score: 0 (wrong_arguments)\ndifference: `pay`: `sum`: got `3`, expected `4`\n");
    project
        .run(&format!("rescore -v {}", run.display()))
        .exits(0)
        .says("3 samples, 2 correct");
    let run = run.display().to_string();
    let ran = score(
        &project,
        &[
            "--scorer",
            "{ type: ast_match, partial_credit: true }",
            &run,
        ],
    )
    .exits(0);
    let last: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!(last["score"]["value"], 0.75, "{last}");
    assert_eq!(
        last["score"]["details"]["difference"],
        "`pay`: `sum`: got `3`, expected `4`"
    );
}

/// Lines of other programs: a list of calls as the prediction, results of the leaderboard, whole conversations.
#[test]
fn answers_have_many_shapes() {
    let project = Project::new();
    let check = |scorer: &str, line: Value, expect: &str| {
        project.write("answers.jsonl", line.to_string());
        let ran = score(&project, &["--scorer", scorer, "answers.jsonl"]).exits(0);
        let scored: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(scored["score"]["reason"], expect, "{scored}");
        assert_eq!(ran.err, "", "{line}");
    };
    let truth = json!([{"name": "f", "arguments": {"a": 5}}]);
    let call = json!({"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"a\": 5}"}}]});
    for line in [
        json!({"prediction": "f(a=2+3)", "ground_truth": truth}),
        json!({"prediction": [{"name": "f", "arguments": {"a": 5}}], "ground_truth": truth}),
        json!({"prediction": null, "tool_calls": [{"f": {"a": 5}, "name": "f", "arguments": {"a": 5}}], "ground_truth": truth}),
        json!({"model_result": "[f(a=5)]", "ground_truth": truth}),
        json!({"model_result": [{"f": "{\"a\": 5}"}], "ground_truth": "f(a=5)"}),
        json!({"messages": [call], "ground_truth": truth}),
        json!({"trajectory": [call], "ground_truth": truth}),
    ] {
        check("ast_match", line, "exact_match");
    }
    check(
        "trajectory",
        json!({"messages": [call], "ground_truth": {"forbidden": ["f"]}}),
        "forbidden_call",
    );
    // For other scorers all is as it was.
    project.write(
        "answers.jsonl",
        json!({"prediction": ["x"], "ground_truth": "x"}).to_string(),
    );
    score(&project, &["--scorer", "exact", "answers.jsonl"])
        .exits(2)
        .says("must be a string or null, not an array");
}

#[test]
fn mistakes_are_found_before_an_agent_starts() {
    let project = Project::new();
    project.write("answers.jsonl", RECORDED);
    let check = |from: &str, to: &str, expect: &str| {
        project.write("tools.yaml", SPEC.replace(from, to));
        let ran = project.run("run tools.yaml").exits(2);
        assert!(ran.err.contains(expect), "{}", ran.err);
        assert!(project.runs().is_empty());
    };
    check(
        "search(), book(id=1+1)",
        "search(), book(id=",
        "`ground_truth` is not a text of calls: invalid syntax",
    );
    check(
        "forbidden: [pay]",
        "forbidden: [pay], order: [pay]",
        "`pay` is both required and forbidden",
    );
    check("minimal_calls: 1", "minimal_cals: 1", "no call");
    check(
        "book: search }",
        "book: search, search: book }",
        "the order is circular",
    );
}
