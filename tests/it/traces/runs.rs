//! Traces as a run; and questions whose answers a person filled in.

use serde_json::{Value, json};

use super::{AGENT, questions, with};
use crate::project::{Project, json_lines};
use crate::reviewing::ReviewWindow;

#[test]
fn a_run_has_texts_messages_calls_usage_and_the_recorded_verdicts() {
    for (format, file, cost) in [
        ("otel", "otel.jsonl", Value::Null),
        ("openinference", "openinference.jsonl", Value::Null),
        ("langfuse", "langfuse.json", json!(0.003)),
        ("atif", "atif.json", json!(0.003)),
    ] {
        let project = with(file);
        project
            .run(&format!("import --format {format} {file} --name theirs"))
            .exits(0)
            .says("theirs: ");
        let records = project.last_lines("samples.jsonl");
        let record = records
            .iter()
            .find(|record| record["prompt"] == "Where is my order 17?")
            .unwrap();
        let (result, output) = (&record["result"], &record["result"]["output"]);
        assert_eq!(output["text"], "Order 17 was shipped on Monday.", "{file}");
        assert_eq!(
            output["tool_calls"][0]["function"]["name"], "find_order",
            "{file}"
        );
        let roles = output["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["role"].as_str().unwrap());
        let roles: Vec<&str> = roles.filter(|role| *role != "system").collect();
        let copied = if file == "atif.json" {
            vec!["user", "assistant"]
        } else {
            vec!["user"]
        };
        assert_eq!(
            roles,
            [copied, vec!["assistant", "tool", "assistant"]].concat(),
            "{file}"
        );
        let usage = &result["usage"];
        assert_eq!(
            (&usage["input_tokens"], &usage["output_tokens"]),
            (&json!(140), &json!(16)),
            "{file}: {usage}"
        );
        // The instrumentation of this version does not record what was cached.
        let cached = if format == "otel" {
            Value::Null
        } else {
            json!(32)
        };
        assert_eq!(
            (&usage["cached_tokens"], &usage["cost_usd"]),
            (&cached, &cost),
            "{file}"
        );
        assert_eq!(result["steps"], 1, "{file}");
        if file == "atif.json" {
            assert_eq!(result["status"], "unscored");
            assert_eq!(
                output["metadata"]["subagent_trajectories"][0]["trajectory_id"],
                "search-1"
            );
            continue;
        }
        assert_eq!(
            (&result["status"], &result["score"]["value"]),
            (&json!("scored"), &json!(0.2)),
            "{file}"
        );
        project.run("show theirs --failures").exits(0);
    }
}

#[test]
fn a_run_of_traces_is_judged_rescored_compared_and_gated() {
    let project = with("otel.jsonl");
    let import = [
        "import",
        "--format",
        "otel",
        "otel.jsonl",
        "--name",
        "theirs",
        "--scorer",
        "{ type: regex, pattern: Monday }",
    ];
    project
        .run_of(&import)
        .exits(0)
        .says("theirs: 1 of 4 correct");
    project
        .run_of(&[
            "gate",
            "theirs",
            "--gate",
            "tokens <= 1000",
            "--gate",
            "steps <= 2",
        ])
        .exits(0);
    project
        .run_of(&[
            "rescore",
            "theirs",
            "--scorer",
            "{ type: regex, pattern: Yes }",
        ])
        .exits(0)
        .says("1 of 4 correct");
    project.run("export theirs --format csv").exits(0);
    project.run_of(&import).exits(0);
    let runs = project.runs();
    project
        .run(&format!(
            "compare {} {}",
            runs[0].display(),
            runs[2].display()
        ))
        .exits(0);
}

#[test]
fn what_was_exported_is_read_back_whole() {
    let project = Project::new();
    project.questions(&[
        ("a", 1, "FINAL ANSWER: 1", "1"),
        ("b", 1, "FINAL ANSWER: 2", "3"),
        ("c", 2, "fail", "3"),
    ]);
    let agent = "{ type: command, shell: 'p=$(cat); test \"$p\" != fail && echo \"$p\"' }";
    project.spec(agent, "gates: []\nepochs: 2\nlimits: { retries: 0 }\n");
    project.run("run eval.yaml");
    let figures = |project: &Project| {
        let summary = project.last_json("summary.json");
        [
            "samples",
            "scored",
            "correct",
            "errors",
            "accuracy",
            "error_rate",
        ]
        .map(|key| summary[key].clone())
    };
    let verdicts = |project: &Project| -> Vec<Value> {
        let mut found: Vec<Value> = project
            .last_lines("samples.jsonl")
            .iter()
            .map(|record| {
                let result = &record["result"];
                json!([
                    record["sample_id"],
                    record["epoch"],
                    result["status"],
                    result["score"]["value"],
                    result["score"]["correct"],
                    result["score"]["reason"],
                    result["error"]["kind"]
                ])
            })
            .collect();
        found.sort_by_key(Value::to_string);
        found
    };
    let (before, before_verdicts) = (figures(&project), verdicts(&project));
    let dir = project.last_run();
    let export = format!("export {} --format otel --output back.jsonl", dir.display());
    project.run(&export).exits(0);
    project
        .run("import --format otel back.jsonl --name back")
        .exits(3)
        .says("ended without a verdict (2):\n    c (2 answers): exited with code 1");
    assert_eq!(figures(&project), before);
    assert_eq!(verdicts(&project), before_verdicts);
    // It holds no texts: nothing of it is a question.
    project
        .run("import --as questions --format otel back.jsonl --output q.jsonl")
        .exits(0)
        .says("0 written")
        .says("without content");
}

#[test]
fn a_person_fills_in_the_answer_and_then_it_is_scored() {
    let project = with("otel.jsonl");
    questions(&project, "otel", "otel.jsonl");
    let spec = |benchmark: &str| {
        format!(
            "name: shop\nbenchmark: {{ type: {benchmark}, path: q.jsonl, ids: [{AGENT}, 9531985d5d9dc9f81818e811892f902b] }}\nagent: {{ type: echo, text: 'FINAL ANSWER: Order 17 was shipped on Monday.' }}\ngates: []\n"
        )
    };
    // The conversation is no question for `qa`.
    project.write("shop.yaml", spec("qa"));
    project
        .run("run shop.yaml")
        .exits(2)
        .says("a row with `messages` is a conversation");
    let lines = project.read("q.jsonl");
    let plain: Vec<&str> = lines
        .lines()
        .filter(|line| line.contains("\"question\""))
        .collect();
    project.write("q.jsonl", plain.join("\n") + "\n");
    // Not even where production is right, or somebody puts its answer in without a review.
    let ran = project.run("run shop.yaml").exits(0);
    ran.says("3 lines of 3 await review (`review: needed`)")
        .says("cargo evaltest review");
    assert_eq!(project.last_json("summary.json")["unscored"], 2);

    person_answers(&project);

    for benchmark in ["qa", "conversations"] {
        project.write("shop.yaml", spec(benchmark));
        let ran = project.run("run shop.yaml").exits(0);
        ran.says("1 line of 3 awaits review")
            .says("1 of 3 samples were rejected in review");
        let summary = project.last_json("summary.json");
        assert_eq!(
            (
                &summary["correct"],
                &summary["scored"],
                &summary["unscored"]
            ),
            (&json!(1), &json!(1), &json!(1)),
            "{benchmark}"
        );
    }
    // What is imported anew leaves the answer alone.
    project
        .run("import --as questions --format otel otel.jsonl --output q.jsonl")
        .exits(0)
        .says("1 written, 3 already there");
    let lines = json_lines(&project.file("q.jsonl"));
    let line = lines.iter().find(|line| line["id"] == AGENT).unwrap();
    assert_eq!(line["answer"], "Order 17 was shipped on Monday.");
}

/// Two questions are reviewed on the page: one gets its answer, which is taken back and given again, one is rejected.
fn person_answers(project: &Project) {
    let window = ReviewWindow::open(project, "q.jsonl --reviewer anna");
    let state = window.get("/state");
    assert_eq!(
        (&state["asks_answers"], &state["rubric"]["dimensions"]),
        (&json!(true), &json!([]))
    );
    let index = state["items"]
        .as_array()
        .unwrap()
        .iter()
        .position(|item| item["id"] == AGENT)
        .unwrap();
    let item = window.get(&format!("/item?index={index}"));
    let shown = item["fields"].to_string();
    assert!(
        shown.contains("answer in production (a reference, not the ground truth)"),
        "{shown}"
    );
    assert!(
        shown.contains("Where is my order 17?")
            && shown.contains("Order 17 was shipped on Monday."),
        "{shown}"
    );
    let word = |status: &str, answer: &str, version: u64| json!({ "id": AGENT, "version": version, "status": status, "answer": answer });
    let (code, body) = window.post("/submit", &word("approved", " ", 0));
    assert_eq!(
        (code, body.contains("the expected answer")),
        (400, true),
        "{body}"
    );
    let answer = "Order 17 was shipped on Monday.";
    assert_eq!(window.post("/submit", &word("approved", answer, 0)).0, 200);
    let line = |id: &str| {
        let mut lines = json_lines(&project.file("q.jsonl")).into_iter();
        lines.find(|line| line["id"] == id).unwrap()
    };
    assert_eq!(
        (&line(AGENT)["answer"], line(AGENT).get("review")),
        (&json!(answer), None)
    );
    assert_eq!(line(AGENT)["reference"]["output"], answer);
    // It is not changed by its own review; taken back, it waits again.
    let item = window.get(&format!("/item?index={index}"));
    assert_eq!(
        (&item["changed"], &item["mine"]["answer"]),
        (&json!(false), &json!(answer))
    );
    let version = item["version"].as_u64().unwrap();
    assert_eq!(
        window
            .post("/undo", &json!({ "id": AGENT, "version": version }))
            .0,
        200
    );
    assert_eq!(
        (&line(AGENT)["answer"], &line(AGENT)["review"]),
        (&Value::Null, &json!("needed"))
    );
    let version = window.get(&format!("/item?index={index}"))["version"]
        .as_u64()
        .unwrap();
    assert_eq!(
        window.post("/submit", &word("approved", answer, version)).0,
        200
    );
    let other =
        json!({ "id": "9531985d5d9dc9f81818e811892f902b", "version": 0, "status": "rejected" });
    assert_eq!(window.post("/submit", &other).0, 200);
    window.ends().exits(0);
    assert_eq!(
        line("9531985d5d9dc9f81818e811892f902b")["review"],
        "rejected"
    );
}
