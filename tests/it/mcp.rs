//! `cargo evaltest mcp`: what coding agents can ask for, and what they never get.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::project::Project;
use crate::wait::until;

/// A server, and the pipes to it.
struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    count: u64,
}

impl Server {
    fn start(project: &Project, arguments: &str) -> Self {
        let mut command = project.command(&format!("mcp {arguments}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            count: 0,
        }
    }

    /// Sends a request; returns its id.
    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.count += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params});
        writeln!(self.stdin.as_mut().unwrap(), "{request}").unwrap();
        self.count
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(line.len() <= 24 * 1024, "{} bytes", line.len());
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let reply = self.receive();
        assert_eq!(reply["id"], id);
        reply
    }

    /// Calls a tool; returns its result, which text and JSON say alike.
    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        let reply = self.ask("tools/call", &json!({"name": name, "arguments": arguments}));
        let result = &reply["result"];
        assert_eq!(result["isError"], false, "{reply}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let read: Value = serde_json::from_str(text).unwrap();
        assert_eq!(read, result["structuredContent"]);
        read
    }

    /// Calls a tool that refuses.
    #[track_caller]
    fn refuses(&mut self, name: &str, arguments: &Value, expect: &str) {
        let reply = self.ask("tools/call", &json!({"name": name, "arguments": arguments}));
        let result = &reply["result"];
        assert_eq!(result["isError"], true, "{reply}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(expect), "{text}");
    }

    /// Closes stdin; the server ends.
    fn end(mut self) {
        drop(self.stdin.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// Two questions, of which `right` is answered as it should.
fn project(agent: &str, more: &str) -> Project {
    let project = Project::new();
    let line = |id: &str, truth: &str| json!({"id": id, "question": "ONE", "answer": truth});
    project.write(
        "evals/data.jsonl",
        format!(
            "{}\n{}\n",
            line("right", "ONE"),
            line("wrong", "SECRET-TRUTH")
        ),
    );
    let spec = format!(
        "name: e\nbenchmark: {{ type: qa, path: data.jsonl }}\nprompt: none\nagent: {agent}\nscorer: exact\n{more}\n"
    );
    project.write("evals/e.yaml", spec);
    project
}

#[test]
fn a_coding_agent_runs_an_eval_and_sees_what_went_wrong() {
    let project = project("echo", "gates: [accuracy >= 0.9]");
    let mut server = Server::start(&project, "");
    let began = server.ask(
        "initialize",
        &json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
    );
    assert_eq!(began["result"]["serverInfo"]["name"], "evaltest");
    let listed = server.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let expect = [
        "list_evals",
        "run_eval",
        "summary",
        "show",
        "score",
        "compare",
    ];
    assert_eq!(names, expect);
    for tool in tools {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    }
    let evals = server.call("list_evals", &json!({}));
    assert_eq!(evals["evals"][0]["samples"], 2);
    let ran = server.call("run_eval", &json!({"eval": "e", "limit": 2}));
    assert_eq!(ran["summary"]["correct"], 1);
    let run = ran["run"].clone();
    let again = server.call(
        "run_eval",
        &json!({"eval": "evals/e.yaml", "limit": 2, "epochs": 2}),
    );
    let summary = server.call("summary", &json!({"run": run}));
    assert_eq!(summary["accuracy"], 0.5);
    let failures = server.call("show", &json!({"run": run}));
    assert_eq!(failures["wrong"][0]["ids"], json!(["wrong"]));
    let shown = server.call("show", &json!({"run": run, "id": "wrong"}));
    assert_eq!(shown["result"]["score"]["correct"], false);
    assert_eq!(shown["result"]["output"]["text"], "ONE");
    let compared = server.call("compare", &json!({"a": run, "b": again["run"]}));
    for result in [ran, summary, failures, shown, compared] {
        assert!(!result.to_string().contains("SECRET-TRUTH"), "{result}");
    }
    let lines =
        json!([{"prediction": "4", "ground_truth": "4"}, {"prediction": "4", "ground_truth": "5"}]);
    let scored = server.call("score", &json!({"scorer": "exact", "lines": lines}));
    assert_eq!(scored["scores"][0]["correct"], true);
    assert_eq!(scored["scores"][1]["correct"], false);
    server.end();
    let mut open = Server::start(&project, "--show-truth");
    let shown = open.call("show", &json!({"run": run, "id": "wrong"}));
    assert_eq!(shown["ground_truth"], "SECRET-TRUTH");
    open.end();
}

#[test]
fn mistakes_are_results_with_a_hint() {
    let project = project("echo", "gates: []");
    let mut server = Server::start(&project, "--max-samples 3");
    let three = "lower `limit`, or start the server with `--max-samples 4`";
    server.refuses(
        "run_eval",
        &json!({"eval": "e", "limit": 2, "epochs": 2}),
        three,
    );
    server.refuses("run_eval", &json!({"eval": "e"}), "`limit` is missing");
    server.refuses(
        "run_eval",
        &json!({"eval": "e", "limit": 0}),
        "`limit` must be of type integer: `0`",
    );
    server.refuses(
        "run_eval",
        &json!({"eval": "e", "limit": 1, "epoch": 1}),
        "did you mean `epochs`?",
    );
    server.refuses(
        "run_eval",
        &json!({"eval": "--resume", "limit": 1}),
        "`eval` is not a name",
    );
    server.refuses(
        "run_eval",
        &json!({"eval": "f", "limit": 1}),
        "the evals of this project: `e`",
    );
    let option = json!({"eval": "e", "limit": 1, "agent_option": {"a": 1}});
    server.refuses("run_eval", &option, "receives no options");
    server.refuses(
        "show",
        &json!({"run": "nothing", "id": "a"}),
        "is not a run directory",
    );
    server.refuses(
        "score",
        &json!({"scorer": "exakt", "lines": [{}]}),
        "did you mean `exact`?",
    );
    let program = json!({"scorer": "{type: command, command: [touch, made]}", "lines": [{}]});
    server.refuses("score", &program, "is not a scorer's name");
    server.refuses(
        "score",
        &json!({"scorer": "exact", "lines": ["4"]}),
        "`lines[0]` must be an object",
    );
    server.refuses("list_evals", &json!({"all": true}), "it takes none");
    let unknown = server.ask("tools/call", &json!({"name": "accept", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(!project.file("made").exists());
    server.end();
    project
        .run("mcp --max-cost-usd 0")
        .exits(2)
        .says("--max-cost-usd 0.50");
}

#[test]
fn the_end_of_stdin_ends_a_run_under_way() {
    let project = project(
        "{ type: command, shell: 'echo >> asked; sleep 600' }",
        "gates: []",
    );
    let mut server = Server::start(&project, "");
    let call = |arguments: &Value| json!({"name": "run_eval", "arguments": arguments});
    let first = server.send("tools/call", &call(&json!({"eval": "e", "limit": 2})));
    until("the agent is asked", || {
        project.file("evals/asked").exists()
    });
    // One at a time.
    let arguments = json!({"eval": "e", "limit": 1});
    server.refuses("run_eval", &arguments, "a run is in progress");
    // A cancelled one makes room, and is not answered.
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": first}});
    writeln!(server.stdin.as_mut().unwrap(), "{cancel}").unwrap();
    std::fs::remove_file(project.file("evals/asked")).unwrap();
    server.send("tools/call", &call(&json!({"eval": "e", "limit": 1.0})));
    until("the agent is asked", || {
        project.file("evals/asked").exists()
    });
    server.ask("ping", &json!({}));
    server.end();
}

#[test]
fn a_run_costs_no_more_than_allowed() {
    let agent = r#"{ type: command, output: json, shell: "echo '{\"answer\": \"ONE\", \"cost_usd\": 1}'" }"#;
    let project = project(
        agent,
        "gates: []\nlimits: { concurrency: 1, budget: { cost_usd: 100 } }",
    );
    let mut server = Server::start(&project, "--max-cost-usd 1");
    let ran = server.call("run_eval", &json!({"eval": "e", "limit": 2}));
    assert_eq!(ran["summary"]["usage"]["cost_usd"], 1.0, "{ran}");
    server.end();
}

#[test]
fn what_a_scorer_complains_of_stays_here_and_perturbed_questions_count() {
    let perturb = "perturb: { seed: 1, kinds: [irrelevant_context] }";
    let project = project("echo", perturb);
    let spec = project.read("evals/e.yaml");
    project.write(
        "evals/e.yaml",
        spec.replace("scorer: exact", "scorer: choice"),
    );
    let mut server = Server::start(&project, "--max-samples 4");
    let ran = server.call("run_eval", &json!({"eval": "e", "limit": 2}));
    let run = ran["run"].clone();
    let failures = server.call("show", &json!({"run": run}));
    assert_eq!(failures["errors"][0]["kind"], "scorer_failed", "{failures}");
    let shown = server.call("show", &json!({"run": run, "id": "wrong"}));
    for result in [ran, failures, shown] {
        assert!(!result.to_string().contains("SECRET-TRUTH"), "{result}");
    }
    server.refuses(
        "run_eval",
        &json!({"eval": "e", "limit": 3}),
        "the eval runs each sample 2 times, 6 in total, but the maximum is 4",
    );
    server.end();
}
