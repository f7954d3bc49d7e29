//! Conversations that were held elsewhere, and the turn in which two differ.

use serde_json::json;

use crate::project::Project;

#[test]
fn compare_shows_the_first_turn_that_differs() {
    let project = Project::new();
    let chat = |temper: &str, answer: &str| {
        json!({"id": "oslo", "ground_truth": "rain", "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hello"},
            {"role": "user", "content": "The weather?"},
            {"role": "assistant", "content": temper},
            {"role": "user", "content": "Please."},
            {"role": "assistant", "content": answer},
        ]})
    };
    for (run, temper, answer) in [
        ("a", "A moment.", "rain"),
        ("b", "Ask somebody else.", "snow"),
    ] {
        project.write("chats.jsonl", chat(temper, answer).to_string());
        let import = format!("import --format transcripts chats.jsonl --run-id {run}");
        project.run(&import).exits(0);
    }
    let runs = project.runs();
    let compare = format!("compare {} {}", runs[0].display(), runs[1].display());
    project
        .run(&compare)
        .exits(0)
        .says("turn 2, A  assistant: A moment.")
        .says("turn 2, B  assistant: Ask somebody else.");
    let turn = &project.run(&(compare + " --json")).exits(0).json()["texts"][0]["turn"];
    assert_eq!(turn["turn"], 2);
}

#[test]
fn conversations_that_were_held_elsewhere_are_judged() {
    let project = Project::new();
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}});
    let chats = [
        json!({"id": "oslo", "ground_truth": "rain", "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hello"},
            {"role": "user", "content": [{"type": "text", "text": "The weather?"}]},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
            {"role": "assistant", "content": "FINAL ANSWER: rain"},
        ]}),
        json!({"id": "rome", "ground_truth": "sun", "messages": [
            {"role": "user", "content": "And in Rome?"},
            {"role": "assistant", "content": [{"type": "text", "text": "snow"}]},
        ], "text": "sun"}),
    ];
    let lines = chats.iter().map(|chat| format!("{chat}\n"));
    project.write("chats.jsonl", lines.collect::<String>());
    project
        .run("import -v --format transcripts chats.jsonl")
        .exits(0)
        .says("chats: 2 samples, 1 correct")
        .says("3 turns");
    let result = &project.last_lines("samples.jsonl")[0]["result"];
    assert_eq!(result["turns"][1]["tool_calls"], 1);
    project
        .run("show chats oslo")
        .exits(0)
        .says("user, turn 2: The weather?")
        .says("agent calls weather({}): rain");
    let scorer = "{ type: includes, on: transcript }";
    let import = [
        "import",
        "--format",
        "transcripts",
        "chats.jsonl",
        "--scorer",
        scorer,
    ];
    project.run_of(&import).exits(0).says("1 of 2 correct");
    // The benchmark and the gates of a spec.
    project.write(
        "gated.yaml",
        "\
benchmark: { type: conversations, path: chats.jsonl }
agent: echo
gates: [accuracy >= 0.9]
",
    );
    project
        .run("import -v --format transcripts chats.jsonl --spec gated.yaml")
        .exits(1)
        .says("gated: 2 samples, 1 correct");
    let refused = [
        (
            r#"{"id": "a", "messages": [{"role": "assistant", "content": "Hi"}]}"#,
            "chats.jsonl:1: `messages` has no message of a user",
        ),
        (
            r#"{"id": "a", "messages": [{"role": "user", "content": "Hi"}, {"role": "robot"}]}"#,
            "chats.jsonl:1: message 2 of `messages` has no `role`",
        ),
        (
            r#"{"id": "a", "messages": "[{"}"#,
            "chats.jsonl:1: `messages` is broken JSON",
        ),
        (
            r#"{"sample_id": "a", "messages": [{"role": "user", "content": "Hi"}]}"#,
            "chats.jsonl:1: no field `id`",
        ),
    ];
    for (line, says) in refused {
        project.write("chats.jsonl", line);
        project
            .run("import -v --format transcripts chats.jsonl")
            .exits(2)
            .says(says);
    }
    // A question that nobody answered has no answer, whatever was said before.
    let open = json!({"id": "a", "ground_truth": "Hello", "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "And now?"},
    ]});
    project.write("chats.jsonl", open.to_string());
    project
        .run("import -v --format transcripts chats.jsonl")
        .exits(0)
        .says("0 correct");
}
