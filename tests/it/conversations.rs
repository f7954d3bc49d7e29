//! Conversations from specs: turns, tools, users, and what is left of them on disk.

mod parties;

use serde_json::{Value, json};

use crate::project::{Project, json_lines};

/// Calls the tool `weather` for a question with a `?`, and says what it heard.
const AGENT: &str = r#"#!/bin/sh
read -r task
echo "$task" >>asked.jsonl
last=${task##*'"role":'}
case $last in
'"tool"'*) text=${last##*'"content":"'}; printf '{"answer": "%s", "usage": {"input_tokens": 3, "output_tokens": 1}}\n' "${text%%'"'*}" ;;
*'?"'*) city=${last##* }; printf '{"tool_calls": [{"name": "weather", "arguments": {"city": "%s"}}]}\n' "${city%%'?'*}" ;;
*) echo '{"answer": "Hello"}' ;;
esac
"#;

/// A world in which it rains in Oslo, with a count of calls.
const WORLD: &str = r#"#!/bin/sh
calls=0
while read -r line; do
  id=${line#*'"id":"'}; id=${id%%'"'*}
  case $line in
  *'"op":"open"'*) echo "{\"id\": \"$id\", \"tools\": [{\"name\": \"weather\"}]}" ;;
  *'"city":"Oslo"'*) calls=$((calls + 1)); echo "{\"id\": \"$id\", \"result\": \"rain\"}" ;;
  *'"city":"Death"'*) exit 3 ;;
  *'"city":"Sleep"'*) sleep 60 ;;
  *'"city":"Other"'*) echo '{"id": "other", "result": 1}' ;;
  *'"city":"Noise"'*) echo noise ;;
  *'"op":"call"'*) calls=$((calls + 1)); echo "{\"id\": \"$id\", \"error\": \"unknown\"}" ;;
  *'"op":"state"'*) echo "{\"id\": \"$id\", \"state\": {\"calls\": $calls}}" ;;
  *) echo "{\"id\": \"$id\"}" ;;
  esac
done
"#;

const MOCK: &str =
    "- { name: weather, returns: [{ when: { city: Oslo }, result: rain }, { error: unknown }] }\n";

fn project(conversations: &[Value], tools: &str, more: &str) -> Project {
    let project = Project::new();
    project.script("agent.sh", AGENT);
    project.script("world.sh", WORLD);
    project.write("tools.yaml", MOCK);
    let lines = conversations.iter().map(|line| format!("{line}\n"));
    project.write("c.jsonl", lines.collect::<String>());
    project.write(
        "c.yaml",
        format!(
            "benchmark: {{ type: conversations, path: c.jsonl }}\n\
             agent: {{ type: command, command: [./agent.sh], input: json, output: json }}\n{tools}\n{more}\n"
        ),
    );
    project
}

fn turns(turns: &[(&str, Option<&str>)]) -> Value {
    let turn = |(user, truth): &(&str, Option<&str>)| json!({"user": user, "ground_truth": truth});
    turns.iter().map(turn).collect()
}

#[test]
fn each_turn_is_asked_judged_and_recorded() {
    let right = turns(&[("Hi", None), ("The weather in Oslo?", Some("rain"))]);
    let wrong = turns(&[
        ("The weather in Rome?", Some("sun")),
        ("The weather in Oslo?", Some("rain")),
    ]);
    let lines = [
        json!({"id": "right", "turns": right}),
        json!({"id": "wrong", "turns": wrong}),
    ];
    let gates = "gates: [turns <= 2, tool_calls <= 1.5, failed_calls <= 0.5, repeated_calls <= 0, \
                 'rate(ended=max_steps) <= 0']";
    let project = project(&lines, "tools: { mock: tools.yaml }", gates);
    project
        .run("run -v c.yaml")
        .exits(0)
        .says("1 correct")
        .says("4 turns, first went wrong in turn 1 (1)");
    let records = project.last_lines("samples.jsonl");
    let result = &records[1]["result"];
    assert_eq!(result["ended"], "script");
    assert_eq!(result["score"]["reason"], "turn_1_wrong");
    assert_eq!(result["score"]["value"], 0.5);
    let verdicts: Vec<_> = result["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| &turn["score"]["correct"])
        .collect();
    assert_eq!(verdicts, [false, true]);
    assert_eq!(result["turns"][0]["failed_calls"], 1);
    assert_eq!(
        result["usage"]["input_tokens"],
        Value::Null,
        "a reply told none"
    );
    let messages = records[0]["result"]["output"]["messages"]
        .as_array()
        .unwrap();
    assert_eq!(messages.len(), 6);
    assert_eq!(messages[4]["content"], "rain");
    // The agent sees neither truths nor what comes.
    let asked = project.read("asked.jsonl");
    assert!(
        !asked.contains("ground_truth") && !asked.contains("sun"),
        "{asked}"
    );
    let journal = project.last_lines("events.jsonl");
    let entries = journal
        .iter()
        .filter(|event| event["kind"] == "turn" && event["sample_id"] == "right");
    let entries: Vec<_> = entries
        .map(|event| format!("{} {}", event["turn"], event["by"].as_str().unwrap()))
        .collect();
    assert_eq!(
        entries,
        [
            "1 user", "1 agent", "2 user", "2 agent", "2 tool", "2 agent"
        ]
    );
    project
        .run("show c right")
        .exits(0)
        .says("conversation, ended by script")
        .says("user, turn 2: The weather in Oslo?")
        .says("agent calls weather({\"city\":\"Oslo\"}): rain");
    // The same verdicts without asking.
    let dir = project.last_run();
    project
        .run(&format!("rescore -v {}", dir.display()))
        .exits(0)
        .says("1 correct");
    project.run("accept c").exits(0);
    project.write(
        "c.yaml",
        project
            .read("c.yaml")
            .replace("gates: [", "gates: [no_regression, "),
    );
    project
        .run("run -v c.yaml")
        .exits(3)
        .says("0 of 2 compared samples became wrong, 0 became correct");
    let replay = format!("{{ type: replay, path: {} }}", dir.display());
    project
        .run_of(&["run", "-v", "c.yaml", "--agent", &replay])
        .exits(3)
        .says("1 correct")
        .says("4 turns");
}

#[test]
fn environment_has_a_state_and_its_failures_are_outages() {
    let line = |id: &str, city: &str| json!({"id": id, "turns": turns(&[(&*format!("The weather in {city}?"), None)])});
    let good = json!({
        "id": "good", "turns": turns(&[("The weather in Oslo?", None)]),
        "initial_state": {}, "expected_state": {"calls": 1},
    });
    let world =
        "tools: { environment: { type: worker, command: [./world.sh] }, tool_timeout_s: 1 }";
    let project = project(&[good], world, "scorers: [state]\ngates: [accuracy >= 1]");
    project.run("run c.yaml").exits(0).says("1 correct");
    assert_eq!(
        project.last_lines("samples.jsonl")[0]["result"]["state"],
        json!({"calls": 1})
    );
    for (city, says) in [
        ("Death", "exited with code 3"),
        ("Sleep", "did not answer in 1 s"),
        ("Other", "a reply to `other`, which was not asked"),
        ("Noise", "printed `noise` to stdout"),
    ] {
        project.write("c.jsonl", format!("{}\n", line("bad", city)));
        project
            .run("run c.yaml --set errors=wrong")
            .exits(3)
            .says("the environment, call of `weather`: ")
            .says(says);
        let records = project.last_lines("samples.jsonl");
        assert_eq!(
            records[0]["result"]["status"], "environment_failed",
            "{city}"
        );
    }
}

#[test]
fn run_goes_on_in_the_middle_of_a_conversation() {
    let line =
        json!({"id": "a", "turns": turns(&[("Hi", None), ("The weather in Oslo?", Some("rain"))])});
    let project = project(&[line], "tools: { mock: tools.yaml }", "");
    // It breaks down once, in the second turn, before it answers.
    let broken = AGENT.replacen(
        "last=",
        "case $task in *'\"turn\":2'*) [ -e mended ] || exit 1 ;; esac\nlast=",
        1,
    );
    project.script("agent.sh", &broken);
    project
        .run("run c.yaml")
        .exits(3)
        .says("exited with code 1");
    project
        .run("show c a")
        .exits(0)
        .says("conversation until the failure:")
        .says("agent: Hello")
        .says("user, turn 2: The weather in Oslo?");
    project.write("mended", "");
    let dir = project.last_run();
    project
        .run(&format!("run c.yaml --resume {}", dir.display()))
        .exits(0)
        .says("1 correct");
    let asked = json_lines(&project.file("asked.jsonl"));
    let asked: Vec<_> = asked
        .iter()
        .map(|task| {
            (
                task["turn"].as_u64().unwrap(),
                task["messages"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(asked, [(1, 1), (2, 3), (2, 3), (2, 5)]);
}

#[test]
fn waiting_for_the_tools_of_others_is_no_time_of_the_agent() {
    let slow =
        |id: &str| json!({"id": id, "turns": turns(&[("The weather in Nap?", Some("unknown"))])});
    let world =
        "tools: { environment: { type: worker, command: [./world.sh] }, tool_timeout_s: 9 }";
    let lines = [slow("a"), slow("b"), slow("c")];
    let project = project(&lines, world, "limits: { timeout_s: 0.8 }");
    project.script(
        "world.sh",
        &WORLD.replacen("*'\"city\":\"Sleep\"'*)", "*'\"city\":\"Nap\"'*) sleep 0.5; echo \"{\\\"id\\\": \\\"$id\\\", \\\"error\\\": \\\"unknown\\\"}\" ;;\n  *'\"city\":\"Sleep\"'*)", 1),
    );
    project.run("run c.yaml").exits(0).says("3 correct");
    // The whole has a bound of its own.
    let spec = project
        .read("c.yaml")
        .replace("timeout_s: 0.8", "conversation_timeout_s: 0.9");
    project.write("c.yaml", spec);
    project
        .run("run c.yaml")
        .exits(3)
        .says("the conversation did not end within 900 ms");
    let records = project.last_lines("samples.jsonl");
    let late = records
        .iter()
        .find(|record| record["result"]["status"] == "timed_out")
        .unwrap();
    assert_eq!(
        late["result"]["error"]["ended_by"],
        "limits.conversation_timeout_s"
    );
}

#[test]
fn mistakes_are_named() {
    let check = |line: Value, more: &str, says: &str| {
        project(&[line], "", more)
            .run("run c.yaml")
            .exits(2)
            .says(says)
            .says("hint: ");
    };
    let plain = || json!({"id": "a", "turns": [{"user": "Hi"}]});
    check(
        json!({"id": "a"}),
        "",
        "both `turns` and `scenario` are missing",
    );
    check(json!({"id": "a", "turns": []}), "", "`turns` is empty");
    check(
        json!({"id": "a", "turns": [{"user": " "}]}),
        "",
        "`user` is blank",
    );
    check(
        json!({"id": "a", "turns": [{"usr": "Hi"}]}),
        "",
        "unknown field `usr`",
    );
    check(
        json!({"id": "a", "turns": [{"user": "Hi"}], "scenario": "x"}),
        "",
        "both `turns` and `scenario` are given",
    );
    check(
        json!({"id": "a", "scenario": "x"}),
        "",
        "the sample has a `scenario`, but the eval has no `user`",
    );
    check(
        plain(),
        "user: { agent: echo }",
        "the sample has `turns`, so the eval's `user` is not used",
    );
    check(plain(), "tools: { mock: none.yaml }", "none.yaml");
    check(
        plain(),
        "tools: {}",
        "neither `environment` nor `mock` is given",
    );
    check(
        plain(),
        "tools: { environment: echo }",
        "an environment is a `worker`",
    );
    check(
        plain(),
        "scorers: [{ type: exact, on: first }]",
        "`on` is \"first\", which is not a part of a conversation",
    );
    let other = project(&[], "", "user: { agent: echo }");
    other.write("q.csv", "question,answer\na,b\n");
    let spec = other.read("c.yaml").replace(
        "type: conversations, path: c.jsonl",
        "type: qa, path: q.csv",
    );
    other.write("c.yaml", spec);
    other
        .run("run c.yaml")
        .exits(2)
        .says("`user` has no effect: the samples of `qa` are not conversations");
}

#[test]
fn a_budget_counts_each_request_of_a_conversation() {
    let talk = turns(&[("Hi", None), ("The weather in Oslo?", Some("rain"))]);
    let line = json!({"id": "a", "turns": talk});
    let limits = "limits: { budget: { requests: 2 } }";
    let project = project(&[line], "tools: { mock: tools.yaml }", limits);
    project
        .run("run c.yaml")
        .exits(3)
        .says("the budget is used up: 2 requests");
    let asked = || json_lines(&project.file("asked.jsonl")).len();
    assert_eq!(asked(), 2);
    // What was asked before counts.
    let run = project.last_run().display().to_string();
    project.run_of(&["run", "--resume", &run]).exits(3);
    assert_eq!(asked(), 2);
    // What was answered is not asked again.
    let spec = project.read("c.yaml").replace("requests: 2", "requests: 9");
    project.write("c.yaml", spec);
    project
        .run_of(&["run", "--resume", &run])
        .exits(0)
        .says("1 correct");
    assert_eq!(asked(), 3);
}

#[test]
fn what_a_conversation_cost_counts_though_it_failed() {
    let line = json!({"id": "a", "turns": turns(&[("Hi", None), ("Again", Some("x"))])});
    let project = project(
        &[line],
        "tools: { mock: tools.yaml }",
        "limits: { retries: 0 }",
    );
    let agent = "#!/bin/sh\nread -r task\ncase $task in *Again*) exit 3 ;; esac\n\
                 echo '{\"answer\": \"x\", \"usage\": {\"input_tokens\": 3, \"output_tokens\": 1}}'\n";
    project.script("agent.sh", agent);
    project.run("run c.yaml").exits(3).says("4 tokens");
    let result = &project.last_lines("samples.jsonl")[0]["result"];
    assert_eq!(result["status"], "agent_failed");
    assert_eq!(result["usage"]["input_tokens"], 3);
}

#[test]
fn waiting_for_the_rate_is_no_time_of_the_agent() {
    let talk = turns(&[("Hi", None), ("Hello", None), ("Good day", Some("Hello"))]);
    let line = json!({"id": "a", "turns": talk});
    let limits = "limits: { requests_per_minute: 60, timeout_s: 0.7 }";
    let project = project(&[line], "tools: { mock: tools.yaml }", limits);
    project.run("run c.yaml").exits(0).says("1 correct");
    let latency = &project.last_lines("samples.jsonl")[0]["result"]["latency_s"];
    assert!(latency.as_f64().unwrap() < 0.7, "{latency}");
}

/// Asks the server of the tools for what each line of `asks` says, and answers with the last reply.
const CLIENT: &str = r#"#!/bin/sh
read -r task
config=$(cat "$EVALTEST_MCP")
program=${config#*'"command":"'}; program=${program%%'"'*}
socket=${config##*',"'}; socket=${socket%%'"'*}
while read -r ask; do
  case $task in *'"role":"tool"'*) continue ;; esac
  printf '{"jsonrpc":"2.0","id":1,"method":"tools/%s}\n' "$ask"
done <asks | "$program" __evaltest_bridge "$socket" >replies
last=$(tail -n 1 replies)
text=${last##*'"text":"'}
printf '{"answer": "%s"}\n' "${text%%'"'*}"
"#;

/// A conversation whose agent calls tools by the server.
fn served(asks: &[&str], more: &str) -> Project {
    let lines = [json!({"id": "a", "turns": [{"user": "Rain?", "ground_truth": "rain"}]})];
    let tools = "tools: { environment: { type: worker, command: [./world.sh] }, tool_timeout_s: 5, mcp: true, max_steps: 2 }";
    let project = project(&lines, tools, more);
    project.script("agent.sh", CLIENT);
    let asks = asks.iter().map(|ask| format!("{ask}\n"));
    project.write("asks", asks.collect::<String>());
    project
}

const OSLO: &str = r#"call","params":{"name":"weather","arguments":{"city":"Oslo"}}"#;

#[test]
fn tools_are_offered_by_a_server() {
    let unknown = r#"call","params":{"name":"nothing","arguments":{}}"#;
    let project = served(&["list\"", unknown, OSLO], "scorer: exact");
    project
        .run("run -v c.yaml")
        .exits(0)
        .says("1 sample, 1 correct");
    let replies = project.read("replies");
    assert!(replies.contains(r#""name":"weather""#), "{replies}");
    assert!(replies.contains("there is no tool `nothing`"), "{replies}");
    let record = &project.last_lines("samples.jsonl")[0];
    let messages = record["result"]["output"]["messages"]
        .as_array()
        .unwrap()
        .iter();
    let roles: Vec<_> = messages
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "user",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "assistant"
        ]
    );
    let turn = &record["result"]["turns"][0];
    assert_eq!(
        (&turn["steps"], &turn["tool_calls"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(turn["failed_calls"], 1);
    assert_eq!(record["result"]["state"]["calls"], 1);
    // What the agent called is in the journal, before its answer.
    let events = project.last_lines("events.jsonl");
    let by: Vec<_> = events
        .iter()
        .filter(|event| event["kind"] == "turn")
        .map(|event| event["by"].as_str().unwrap())
        .collect();
    assert_eq!(by, ["user", "agent", "tool", "agent", "tool", "agent"]);
}

#[test]
fn a_worker_finds_the_server_of_each_task() {
    let line = |id: &str| json!({"id": id, "turns": [{"user": "Rain?", "ground_truth": "rain"}]});
    let tools = "tools: { environment: { type: worker, command: [./world.sh] }, mcp: true }";
    let project = project(&[line("a"), line("b")], tools, "scorer: exact");
    project.write("asks", format!("{OSLO}\n"));
    let (_, ask) = CLIENT.split_once("read -r task\n").unwrap();
    let ask = ask.replace(r#"{"answer""#, r#"{"id":"%s","answer""#);
    let ask = ask.replace(r#"\n' "${text"#, r#"\n' "$id" "${text"#);
    let head = r#"#!/bin/sh
while read -r task; do
case $task in *'"type":"end"'*) continue ;; esac
id=${task#*'"id":"'}; id=${id%%'"'*}
"#;
    project.script("worker.sh", &format!("{head}{ask}done\n"));
    let worker = "{ type: worker, command: [./worker.sh] }";
    project
        .run_of(&["run", "-v", "c.yaml", "--agent", worker])
        .exits(0)
        .says("2 samples, 2 correct");
    // Each called the tools of its own conversation.
    for record in project.last_lines("samples.jsonl") {
        assert_eq!(record["result"]["turns"][0]["tool_calls"], 1, "{record}");
    }
}

#[test]
fn a_server_of_tools_has_limits_and_its_environment_may_fail() {
    let project = served(&[OSLO, OSLO, OSLO], "scorer: exact");
    project.run("run c.yaml").exits(0);
    let record = &project.last_lines("samples.jsonl")[0];
    assert_eq!(record["result"]["ended"], "max_steps");
    let death = r#"call","params":{"name":"weather","arguments":{"city":"Death"}}"#;
    let project = served(&[death], "scorer: exact");
    project.run("run c.yaml").exits(3);
    let record = &project.last_lines("samples.jsonl")[0];
    assert_eq!(record["result"]["status"], "environment_failed");
}

#[test]
fn tools_that_no_agent_would_see_are_refused() {
    let project = served(&[], "scorer: exact");
    project
        .run_of(&["run", "c.yaml", "--agent", "echo"])
        .exits(2)
        .says("`mcp: true` is for the agents `acp`, `command` and `worker`");
    project
        .run_of(&[
            "run",
            "c.yaml",
            "--agent",
            "{ type: acp, command: [cat] }",
            "--set",
            "tools.mcp=false",
        ])
        .exits(2)
        .says("add `mcp: true` to `tools`");
}
