//! The leaderboard's multi-turn categories, with simulators of our own in place of the official package.

use needs::needs;
use serde_json::{Value, json};

use crate::project::{Project, json_lines};

/// In place of the package: a class of ours with the name of one of its own.
const TICKETS: &str = r#"
class TicketAPI:
    def __init__(self):
        self.tickets = []
        self._seen = 0

    def _load_scenario(self, scenario, long_context=False):
        self.tickets = list(scenario.get("tickets", []))

    def create_ticket(self, title, tags=[]):
        tags.append(title)
        self.tickets.append(title)
        print("this is no reply")
        return {"id": len(self.tickets), "tags": tags}

    def close_ticket(self, ticket_id):
        return {"closed": self.tickets.pop(ticket_id - 1)}

    def count(self):
        return len(self.tickets)

    def huge(self):
        return 10 ** 5000
"#;

/// Answers step by step what `steps.json` has, and writes down what it was asked.
const AGENT: &str = r#"
import collections, json, sys
STEPS = json.load(open("steps.json"))
taken = collections.Counter()
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("type") == "end":
        continue
    with open("asked.jsonl", "a") as file:
        file.write(line)
    place = (asked["session"], asked["turn"])
    steps = STEPS[asked["turn"] - 1]
    step = steps[taken[place]] if taken[place] < len(steps) else "I am done."
    taken[place] += 1
    reply = {"id": asked["id"]}
    if isinstance(step, str):
        reply["answer"] = step
    else:
        reply["tool_calls"] = [
            {"id": f"c{place}", "function": {"name": name, "arguments": arguments}}
            for place, call in enumerate(step) for name, arguments in call.items()
        ]
    print(json.dumps(reply), flush=True)
"#;

fn document(name: &str) -> Value {
    json!({"name": name, "description": "Does it.", "parameters": {"type": "dict", "properties": {"title": {"type": "string", "description": "What."}}, "required": []}})
}

/// A project with the package, one entry in a category and an agent that takes these steps.
fn project(category: &str, truth: &Value, steps: &Value) -> Project {
    let project = Project::new();
    let module = "site/bfcl_eval/eval_checker/multi_turn_eval/func_source_code";
    for folder in [
        "bfcl_eval",
        "bfcl_eval/eval_checker",
        "bfcl_eval/eval_checker/multi_turn_eval",
        "mpmath",
    ] {
        project.write(&format!("site/{folder}/__init__.py"), "");
    }
    project.write(&format!("{module}/__init__.py"), "");
    project.write(&format!("{module}/ticket_api.py"), TICKETS);
    for (package, version) in [("bfcl_eval", "2026.3.23"), ("mpmath", "1.3.0")] {
        let metadata = format!("Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n");
        project.write(
            &format!("site/{package}-{version}.dist-info/METADATA"),
            metadata,
        );
    }
    let python = format!(
        "#!/bin/sh\nexec env PYTHONPATH='{}' python3 \"$@\"\n",
        project.file("site").display()
    );
    project.script("python", &python);
    let data = "site/bfcl_eval/data";
    let documents = ["create_ticket", "close_ticket", "count"].map(document);
    let documents = documents.iter().map(|document| format!("{document}\n"));
    project.write(
        &format!("{data}/multi_turn_func_doc/ticket_api.json"),
        documents.collect::<String>(),
    );
    let id = format!("{category}_0");
    let turns = truth.as_array().unwrap().len();
    let says = |text: &str| json!([{"role": "user", "content": text}]);
    let mut question: Vec<Value> = (1..=turns)
        .map(|turn| says(&format!("Turn {turn}.")))
        .collect();
    let mut entry = json!({"id": id, "involved_classes": ["TicketAPI"], "initial_config": {"TicketAPI": {"tickets": ["old"]}}});
    if category.ends_with("miss_func") {
        question[1] = json!([]);
        entry["missed_function"] = json!({"1": ["close_ticket"]});
    }
    entry["question"] = question.into();
    project.write(
        &format!("{data}/BFCL_v4_{category}.json"),
        entry.to_string(),
    );
    let answer = json!({"id": id, "ground_truth": truth});
    project.write(
        &format!("{data}/possible_answer/BFCL_v4_{category}.json"),
        answer.to_string(),
    );
    project.write("agent.py", AGENT);
    project.write("steps.json", steps.to_string());
    project.write(
        "e.yaml",
        "\
name: e
benchmark: { type: bfcl, categories: [multi_turn], environment: { python: ./python } }
agent: { type: worker, command: [python3, agent.py] }
gates: []
",
    );
    project
}

/// The result of the only sample of the only run.
fn result(project: &Project) -> Value {
    project.last_lines("samples.jsonl")[0]["result"].clone()
}

/// What the tools answered.
fn answers(result: &Value) -> Vec<String> {
    let messages = result["output"]["messages"].as_array().unwrap().iter();
    let tools = messages.filter(|message| message["role"] == "tool");
    tools
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

#[needs(python3)]
#[test]
fn an_agent_that_writes_calls_is_asked_as_officially() {
    let truth = json!([["create_ticket(title='a')"], ["close_ticket(ticket_id=1)"]]);
    let steps = json!([
        ["[create_ticket(title='a'), count()]"],
        ["close_ticket(ticket_id=1)"]
    ]);
    let project = project("multi_turn_miss_func", &truth, &steps);
    project.run("run e.yaml").exits(0).says("1 correct");
    let result = result(&project);
    assert_eq!(result["score"]["reason"], "valid");
    assert_eq!(result["ended"], "script");
    assert_eq!(result["state"], json!({"TicketAPI": {"tickets": ["a"]}}));
    assert_eq!(
        result["tools"],
        json!(["create_ticket", "count", "close_ticket"])
    );
    assert_eq!(
        answers(&result),
        [r#"{"id": 2, "tags": ["a"]}"#, "2", r#"{"closed": "old"}"#]
    );
    let shown = project.run("show e multi_turn_miss_func_0").exits(0);
    let shown = shown.says("agent calls count({}): 2\n");
    shown.says(r#"agent calls close_ticket({"ticket_id":1}): {"closed": "old"}"#);
    let asked = json_lines(&project.file("asked.jsonl"));
    assert_eq!(asked.len(), 4);
    let messages = asked[3]["messages"].as_array().unwrap();
    let text = |place: usize| messages[place]["content"].as_str().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant",
            "user"
        ]
    );
    assert!(text(0).contains("create_ticket") && !text(0).contains("close_ticket"));
    assert_eq!(
        text(3),
        "[{'role': 'tool', 'name': \"create_ticket(title='a')\", 'content': '{\"id\": 2, \"tags\": [\"a\"]}'}, \
         {'role': 'tool', 'name': 'count()', 'content': '2'}]"
    );
    assert!(
        text(5).starts_with("[{'name': 'close_ticket', 'description': 'Does it.', "),
        "{}",
        text(5)
    );
    assert!(
        text(5).ends_with(
            "}]\nI have updated some more functions you can choose from. What about now?"
        )
    );
    assert!(
        messages
            .iter()
            .all(|message| message.get("tool_calls").is_none())
    );
    assert!(asked.iter().all(|asked| asked["tools"] == json!([])));
}

#[needs(python3)]
#[test]
fn an_agent_with_native_calls_gets_tools() {
    let truth = json!([["create_ticket(title='a')"], ["close_ticket(ticket_id=1)"]]);
    let steps = json!([
        // Functions that are withheld are there all the same; a step that cannot be decoded ends the turn.
        [[{"create_ticket": "{\"title\": \"a\"}"}, {"count": "{}"}], [{"count": "[]"}]],
        [[{"close_ticket": "{\"ticket_id\": 1}"}]],
    ]);
    let project = project("multi_turn_miss_func", &truth, &steps);
    project.write("e.yaml", project.read("e.yaml") + "prompt: none\n");
    project.run("run e.yaml").exits(0).says("1 correct");
    let result = result(&project);
    assert_eq!(result["output"]["metadata"]["mode"], "fc");
    assert_eq!(
        answers(&result),
        [r#"{"id": 2, "tags": ["a"]}"#, "2", r#"{"closed": "old"}"#]
    );
    let asked = json_lines(&project.file("asked.jsonl"));
    let names = |asked: &Value| {
        let tools = asked["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&asked[0]), ["create_ticket", "count"]);
    assert_eq!(names(&asked[2]), ["create_ticket", "count", "close_ticket"]);
    assert_eq!(asked[0]["messages"][0]["role"], "user");
    let description = &asked[2]["tools"][2]["function"]["description"];
    assert_eq!(
        description, "Does it.",
        "the official program adds no hint to it"
    );
}

#[needs(python3)]
#[test]
fn nothing_that_an_agent_writes_is_evaluated() {
    let object = "model_multi_turn_base_0_TicketAPI_instance";
    let hostile = [
        (
            "inspect.os.system",
            json!({"command": "touch harm"}),
            "inspect",
        ),
        ("open", json!({"file": "harm", "mode": "w"}), "open"),
        ("print", json!({"x": "noise"}), "print"),
        ("input", json!({"prompt": "?"}), "input"),
        ("__import__", json!({"name": "os"}), "__import__"),
        (
            "create_ticket.__globals__.get",
            json!({"key": "os"}),
            "create_ticket",
        ),
        ("count.__self__._load_scenario", json!({}), "count"),
        ("_load_scenario", json!({"scenario": {}}), "_load_scenario"),
        (
            &format!("{object}._load_scenario"),
            json!({"scenario": {}}),
            "_load_scenario",
        ),
        (&format!("{object}.tickets.clear"), json!({}), "clear"),
        (
            "__import__('os').system('touch harm') or count",
            json!({}),
            &format!("__import__('os').system('touch harm') or {object}.count()"),
        ),
        (
            "[open('harm', 'w') for x in 'x'][0] or count",
            json!({}),
            &format!("[open('harm', 'w') for x in 'x'][0] or {object}.count()"),
        ),
        (
            "(lambda: open('harm', 'w'))",
            json!({}),
            "lambda: open('harm', 'w')",
        ),
    ];
    let mut step: Vec<Value> = hostile
        .iter()
        .map(|(name, arguments, _)| json!({*name: arguments.to_string()}))
        .collect();
    step.extend([
        json!({"count": "{}"}),
        json!({"kill": "{\"x\": 1}"}),
        json!({"count": "{\"x\": 1}"}),
        json!({"count(": "{}"}),
        json!({"huge": "{}"}),
        json!({"create_ticket(title=0x" : "{}"}),
    ]);
    let truth = json!([["count()"], []]);
    let steps = json!([[step, [{"count": "{}"}]], []]);
    let project = project("multi_turn_base", &truth, &steps);
    project.write("e.yaml", project.read("e.yaml") + "prompt: none\n");
    project.run("run e.yaml").exits(0).says("1 correct");
    let result = result(&project);
    let heard = answers(&result);
    for ((call, _, name), heard) in hostile.iter().zip(&heard) {
        assert_eq!(
            *heard,
            format!("Error during execution: name '{name}' is not defined"),
            "{call}"
        );
    }
    let rest: Vec<&str> = heard[hostile.len()..].iter().map(String::as_str).collect();
    assert_eq!(
        rest[..2],
        [
            "1",
            "Error during execution: Function call kill is not allowed."
        ]
    );
    assert!(
        rest[2].contains("unexpected keyword argument 'x'"),
        "{rest:?}"
    );
    assert!(rest[3].starts_with("Error during execution: "), "{rest:?}");
    assert!(rest[4].contains("4300 digits"), "{rest:?}");
    assert_eq!(rest.last(), Some(&"1"), "{rest:?}");
    assert!(!project.file("harm").exists());
    assert_eq!(result["state"], json!({"TicketAPI": {"tickets": ["old"]}}));
}

#[needs(python3)]
#[test]
fn the_21st_step_ends_a_conversation() {
    let ends = |turns: usize, steps: usize| {
        let truth = Value::Array(vec![json!(["count()"]); turns]);
        let steps = Value::Array(vec![json!(vec!["count()"; steps]); turns]);
        let project = project("multi_turn_base", &truth, &steps);
        project.run("run e.yaml").exits(0);
        let result = result(&project);
        let calls = answers(&result).len();
        (
            result["ended"].clone(),
            result["score"]["reason"].clone(),
            calls,
        )
    };
    assert_eq!(ends(2, 20), (json!("script"), json!("valid"), 40));
    assert_eq!(
        ends(2, 21),
        (json!("max_steps"), json!("force_terminated"), 21)
    );
    // In the last turn it is judged as any other.
    assert_eq!(ends(1, 21), (json!("max_steps"), json!("valid"), 21));
}

#[needs(python3)]
#[test]
fn stored_answers_get_official_verdicts() {
    let truth = json!([["create_ticket(title='a')"], []]);
    let project = project("multi_turn_base", &truth, &json!([]));
    let check = |mode: &str, prediction: Value, reason: &str, turn: Option<u64>| {
        let line = json!({"id": "multi_turn_base_0", "mode": mode, "prediction": prediction});
        project.write("answers.jsonl", line.to_string());
        let scorer = "score --scorer bfcl_multi_turn --scorer-option python=./python answers.jsonl";
        let score = project.run(scorer).exits(0).json()["score"].clone();
        assert_eq!(score["reason"], reason, "{score}");
        assert_eq!(score["correct"], reason == "valid");
        assert_eq!(score["details"]["first_wrong_turn"], json!(turn));
    };
    let right = "[create_ticket(title='a')]";
    check(
        "prompt",
        json!([[right, "done"], ["count()"]]),
        "valid",
        None,
    );
    check(
        "fc",
        json!([[[{"create_ticket": "{\"title\": \"a\"}"}], "done"], []]),
        "valid",
        None,
    );
    // A text is no native call, and native calls are no text.
    check(
        "fc",
        json!([[right], []]),
        "empty_turn_model_response",
        Some(1),
    );
    check(
        "prompt",
        json!([["done"], []]),
        "empty_turn_model_response",
        Some(1),
    );
    check("prompt", json!([[right]]), "force_terminated", None);
    check(
        "prompt",
        json!([["create_ticket(title='b')"], []]),
        "instance_state_mismatch",
        Some(1),
    );
    check(
        "prompt",
        json!([
            ["create_ticket(title='x'), close_ticket(ticket_id=2), create_ticket(title='a')"],
            []
        ]),
        "execution_response_mismatch",
        Some(1),
    );
    check(
        "prompt",
        json!("Error during inference"),
        "inference_error",
        None,
    );
    project.write("answers.jsonl", r#"{"id": "nobody", "prediction": []}"#);
    project
        .run("score --scorer bfcl_multi_turn --scorer-option python=./python answers.jsonl")
        .exits(2)
        .says("the package has no multi-turn entry `nobody`");
    project.write("answers.jsonl", r#"{"id": 7, "prediction": []}"#);
    project
        .run("score --scorer bfcl_multi_turn --scorer-option python=./python answers.jsonl")
        .exits(2)
        .says("`id` is missing or not a text");
}

/// A native name may hold a whole expression, whose rest is a comment.
#[needs(python3)]
#[test]
fn a_state_that_cannot_be_written_is_a_wrong_answer() {
    let digits = "f".repeat(6000);
    let truth = json!([["count()"]]);
    let project = project("multi_turn_base", &truth, &json!([]));
    let name = format!("create_ticket(title=0x{digits})#");
    let line = json!({"id": "multi_turn_base_0", "mode": "fc", "prediction": [[[{name: "{}"}]]]});
    project.write("answers.jsonl", line.to_string());
    let score = project
        .run("score --scorer bfcl_multi_turn --scorer-option python=./python answers.jsonl")
        .exits(0)
        .json();
    assert_eq!(score["score"]["reason"], "instance_state_mismatch");
}

#[needs(python3)]
#[test]
fn what_is_missing_is_named() {
    let truth = json!([["count()"]]);
    let project = project("multi_turn_base", &truth, &json!([["count()"]]));
    project.script("bare", "#!/bin/sh\nexec python3 -S \"$@\"\n");
    let spec = project.read("e.yaml");
    let check = |spec: String, says: &[&str]| {
        project.write("e.yaml", spec);
        let ran = project.run("run e.yaml").exits(2);
        says.iter().fold(ran, |ran, text| ran.says(text));
    };
    check(
        spec.clone() + "tools: { mock: tools.yaml }\n",
        &["`tools` has no effect: `bfcl` has its own"],
    );
    check(
        spec.replace("./python", "./nothing"),
        &["e.yaml:2", "`./nothing` cannot be run"],
    );
    check(
        spec.replace("./python", "./bare"),
        &[
            "lacks the package `bfcl-eval`",
            "-m pip install --no-deps bfcl-eval==2026.3.23 mpmath==1.3.0",
        ],
    );
    check(
        spec.replace(", environment: { python: ./python }", ""),
        &["neither `path` nor `environment` is given"],
    );
    check(
        spec.replace("environment: { python: ./python }", "path: site"),
        &[
            "not judged here and skipped",
            "environment: { python: ../.venv/bin/python }",
        ],
    );
    let answers = "site/bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json";
    let text = project.read(answers);
    project.write(
        answers,
        text.replace("[[\"count()\"]]", "[[\"count()\"], 5]"),
    );
    check(
        spec.clone(),
        &["`ground_truth` is not a list of turns with calls"],
    );
    project.write(answers, text);
    let entry = "site/bfcl_eval/data/BFCL_v4_multi_turn_base.json";
    let text = project.read(entry);
    project.write(entry, text.replace("TicketAPI\"]", "ShopAPI\"]"));
    check(
        spec.clone(),
        &[
            "BFCL_v4_multi_turn_base.json:1",
            "no class simulates `ShopAPI`",
        ],
    );
    project.write(entry, text.replace("TicketAPI\"]", "MathAPI\"]"));
    check(spec, &["the functions of `MathAPI` have no description"]);
}
