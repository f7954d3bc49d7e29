//! How a judge is made to reply with what can be read.

use serde_json::{Value, json};

use super::court::{Court, judge, number, points};
use crate::server::{Request, Server, chat, fine, refusal};

/// A call of the tool with so many points.
fn called(points: u32) -> Value {
    let arguments = json!({ "reason": "r", "merit": points, "comments": "c" }).to_string();
    let mut reply = chat("");
    reply["choices"][0]["message"] = json!({
        "role": "assistant", "content": null,
        "tool_calls": [{"id": "t", "type": "function", "function": {"name": "record_grade", "arguments": arguments}}],
    });
    reply
}

/// An endpoint that knows no schemas.
fn without_schemas() -> Server {
    Server::new(|requested, _| match requested.body.get("response_format") {
        Some(_) => refusal("400 Bad Request", "unknown field `response_format`"),
        None => fine(&called(4)),
    })
}

/// An endpoint that knows neither schemas nor tools.
fn plain() -> Server {
    Server::new(|requested, _| {
        if requested.body.get("response_format").is_some() || requested.body.get("tools").is_some()
        {
            return refusal("422 Unprocessable Entity", "extra fields are not permitted");
        }
        fine(&chat(
            "Well.\n```json\n{\"reason\": \"r\", \"merit\": 5, \"comments\": \"c\"}\n```",
        ))
    })
}

fn forms(court: &Court) -> Vec<Value> {
    let results = court.results();
    results
        .iter()
        .map(|result| result["judged"][0]["form"].clone())
        .collect()
}

#[test]
fn a_schema_has_a_whole_number_for_each_dimension_beside_texts_and_the_reason_first() {
    let server = Server::new(|_, _| {
        fine(&chat(
            r#"{"reason": "r", "correctness": 5, "clarity": 4, "difficulty_match": 3, "completeness": 5, "comments": "good"}"#,
        ))
    });
    let url = server.url("/v1");
    let scorer = format!(
        "scorers: [{{ type: judge, agent: {{ type: openai, base_url: \"{url}\", model: m }}, rubric: aime }}]\n"
    );
    let gates = "gates: [mean(judge.total) >= 4.0, mean(judge.excellent) >= 0.4, accuracy(judge) >= 0.8, \
                 'mean(judge.total)[level=1] >= 4.2', 'mean(judge.clarity) <= 4']\n";
    let court = Court::with(3, server, &scorer, gates);
    // No ground truth anywhere: the judge sees none.
    let data = court.project.read("data.jsonl");
    let bare: Vec<String> = data
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("Final answer");
            line.to_string()
        })
        .collect();
    court.project.write("data.jsonl", bare.join("\n") + "\n");
    // `excellent` takes 4.5 on.
    let ran = court.run("eval.yaml").exits(1);
    ran.says("✗ mean(judge.excellent) >= 0.4");
    let body = &court.judge.requested()[0].body;
    let format = &body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["strict"], true);
    let schema = &format["json_schema"]["schema"];
    let text = schema["properties"].to_string();
    let names = [
        "reason",
        "correctness",
        "clarity",
        "difficulty_match",
        "completeness",
        "comments",
    ];
    let places: Vec<_> = names
        .iter()
        .map(|name| text.find(&format!("\"{name}\":{{")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
    assert_eq!(schema["properties"].as_object().unwrap().len(), names.len());
    for name in &names[1..5] {
        assert_eq!(schema["properties"][name]["type"], "integer");
    }
    for name in [names[0], names[5]] {
        assert_eq!(schema["properties"][name]["type"], "string");
    }
    let result = &court.results()[0];
    let score = &result["score"];
    let details = &score["details"];
    assert_eq!(
        json!([
            details["correctness"],
            details["clarity"],
            details["difficulty_match"],
            details["completeness"]
        ]),
        json!([5, 4, 3, 5])
    );
    assert_eq!(
        json!([
            details["total"],
            details["excellent"],
            details["comments"],
            score["value"],
            score["correct"]
        ]),
        json!([4.25, false, "good", 0.8125, true])
    );
    let summary = court.summary();
    assert_eq!(summary["judge"]["forms"], json!({"schema": 3}));
    let verdicts: Vec<_> = summary["gates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gate| gate["verdict"].clone())
        .collect();
    assert_eq!(
        verdicts[..5],
        ["passed", "failed", "passed", "passed", "passed"]
    );
}

#[test]
fn what_an_endpoint_does_not_know_is_asked_for_otherwise_by_each_for_itself() {
    let (tools, plain) = (without_schemas(), plain());
    let modern = Server::new(|_, _| fine(&points(3)));
    let scorers = format!(
        "scorers: [{}, {}, {}]\n",
        judge(&tools, ", name: tools"),
        judge(&plain, ", name: plain"),
        judge(&modern, ", name: modern")
    );
    let court = Court::with(3, modern, &scorers, "");
    court.run("eval.yaml").exits(0);
    // The first question finds out.
    let count = |server: &Server| server.requested().len();
    assert_eq!((count(&tools), count(&plain), court.judged()), (4, 5, 3));
    let choice = |requested: &Request| requested.body["tool_choice"]["function"]["name"].clone();
    assert_eq!(choice(&tools.requested()[1]), "record_grade");
    for result in court.results() {
        let forms: Vec<_> = result["judged"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| call["form"].clone())
            .collect();
        assert_eq!(forms, ["tool", "text", "schema"]);
        let points = |name: &str| result["scores"][name]["details"]["merit"].clone();
        assert_eq!(
            [points("tools"), points("plain"), points("modern")],
            [4, 5, 3]
        );
    }
    let judge = &court.summary()["judge"];
    assert_eq!(judge["forms"], json!({"schema": 3, "tool": 3, "text": 3}));
    assert_eq!(judge["scorers"]["plain"]["forms"], json!({"text": 3}));
    // A run that goes on takes what was said in whatever form.
    court
        .run(&format!("--resume {}", court.dir().display()))
        .exits(0);
    assert_eq!((count(&tools), count(&plain), court.judged()), (4, 5, 3));
}

#[test]
fn what_one_question_is_refused_for_says_nothing_of_forms() {
    // A filter, and a prompt that is too long: whatever the form, and before anything else was asked.
    let court = Court::new(4, "", |requested, _| match number(requested) {
        0 => refusal("400 Bad Request", "flagged by the content_filter"),
        1 => refusal("400 Bad Request", "the prompt is too long"),
        _ => fine(&points(4)),
    });
    court.run("eval.yaml").exits(3);
    assert_eq!(forms(&court)[2..], ["schema", "schema"]);
    let results = court.results();
    assert_eq!(results[0]["judged"][1]["unread"], "refusal");
    // The filter's is asked once more; the other is tried in three forms.
    let of = |n: u32| {
        court
            .judge
            .requested()
            .iter()
            .filter(|requested| number(requested) == n)
            .count()
    };
    assert_eq!([of(0), of(1), of(2), of(3)], [2, 3, 1, 1]);
}

#[test]
fn a_choice_has_a_value_and_passes_from_the_pass_on() {
    let server = Server::new(|requested, _| {
        let verdict = ["correct", "partial", "wrong"][number(requested) as usize];
        fine(&chat(
            &json!({ "reason": "r", "verdict": verdict, "comments": "c" }).to_string(),
        ))
    });
    let url = server.url("/v1");
    let judge = |more: &str| {
        let agent = format!("{{ type: openai, base_url: \"{url}\", model: m }}");
        format!("{{ type: judge, agent: {agent}{more} }}")
    };
    let scorers = format!(
        "scorers: [{}, {}]\n",
        judge(", rubric: qa"),
        judge(", name: own, choices: { correct: 1, partial: 0.5, wrong: 0 }, pass: 0.5")
    );
    let court = Court::with(3, server, &scorers, "gates: [mean(judge.value) >= 0.5]\n");
    court.run("eval.yaml").exits(0);
    let of = |name: &str| -> Vec<Value> {
        let score = |result: &Value| {
            let score = &result["scores"][name];
            json!([
                score["value"],
                score["correct"],
                score["details"]["verdict"]
            ])
        };
        court.results().iter().map(score).collect()
    };
    let (right, half, wrong) = ("correct", "partial", "wrong");
    assert_eq!(
        json!(of("judge")),
        json!([[1.0, true, right], [0.5, false, half], [0.0, false, wrong]])
    );
    assert_eq!(
        json!(of("own")),
        json!([[1.0, true, right], [0.5, true, half], [0.0, false, wrong]])
    );
    // `qa` sees the reference answer where there is one; other choices do not unless told to.
    let requested = court.judge.requested();
    let sees = |requested: &Request| requested.prompt().contains("The reference answer");
    assert_eq!(
        requested.iter().filter(|requested| sees(requested)).count(),
        3
    );
}

#[test]
fn a_refused_form_is_told_once_and_is_no_failure() {
    for (server, notice) in [
        (
            without_schemas(),
            "judge `judge`: the endpoint accepts no schema: asked with a tool",
        ),
        (
            plain(),
            "judge `judge`: the endpoint accepts neither schema nor tool: asked in plain text",
        ),
    ] {
        let court = Court::of(4, server, "", "limits: { concurrency: 4 }\n");
        let ran = court.run("eval.yaml").exits(0);
        let notices = ran.err.lines().filter(|line| line.contains(notice));
        assert_eq!(notices.count(), 1, "{}", ran.err);
        ran.says_nothing_of("asking again");
        // But the journal has it.
        let journal = court.project.last_lines("events.jsonl");
        assert!(journal.iter().any(|event| event["kind"] == "judge_failed"));
    }
    // What is refused in every form is a failure, and says nothing of forms.
    let server = Server::new(|_, _| refusal("400 Bad Request", "no such sample"));
    let court = Court::of(1, server, "", "");
    court
        .run("eval.yaml")
        .says_nothing_of("the endpoint accepts");
}

#[test]
fn a_recording_says_in_which_form_a_judge_replied() {
    let scorer = "scorers: [{ type: judge, rubric: { dimensions: [{ name: merit }] }, agent: { type: replay, path: said.jsonl } }]\n";
    let court = Court::with(3, plain(), scorer, "");
    let replies: Vec<String> = court
        .project
        .read("data.jsonl")
        .lines()
        .zip([json!("schema"), json!("tool"), json!("telepathy")])
        .map(|(line, form)| {
            let line: Value = serde_json::from_str(line).unwrap();
            let reply = r#"{"reason": "r", "merit": 4, "comments": "c"}"#;
            json!({ "id": line["task_id"], "answer": reply, "form": form }).to_string()
        })
        .collect();
    court.project.write("said.jsonl", replies.join("\n"));
    court.run("eval.yaml").exits(0);
    assert_eq!(forms(&court), ["schema", "tool", "text"]);
}
