//! The whole agent on small `/bin/sh` scripts, among them one for each kind of agent that plays what the real one sends.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use super::*;
use crate::data::Sample;
use crate::data::conversation::{ToolServerAddress, TurnTask};
use crate::data::task::Visible;
use crate::tests::wait::LONG;

/// A temporary folder, in which the programs of a test run.
struct Project {
    folder: tempfile::TempDir,
}

/// Functions of all scripts: `take` reads a message, `reply` answers it, `update` sends one of the session, `ask` sends
/// a request and reads its reply.
const FUNCTIONS: &str = r#"
    take() {
        read -r line || exit 0
        id=${line#*'"id":'}; id=${id%%,*}
        method=${line#*'"method":"'}; method=${method%%'"'*}
        printf '%s\n' "$line" >> asked
    }
    reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
    fail() { printf '{"jsonrpc":"2.0","id":%s,"error":%s}\n' "$id" "$1"; }
    update() {
        printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":%s}}\n' "$session" "$1"
    }
    says() { update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"; }
    ask() {
        printf '{"jsonrpc":"2.0","id":"%s","method":"%s","params":%s}\n' "q$1" "$1" "$2"
        read -r answer; printf '%s\n' "$answer" >> answers
    }
    greeting='{"protocolVersion":1,"agentCapabilities":{}}'
    modes='{}'
    count=0
    serve() {
        while take; do
            case $method in
                initialize) reply "$greeting" ;;
                authenticate) reply '{}' ;;
                session/new)
                    count=$((count + 1))
                    reply "{\"sessionId\":\"s$count\",\"modes\":$modes}" ;;
                session/prompt)
                    session=${line#*'"sessionId":"'}; session=${session%%'"'*}
                    turn ;;
                session/cancel) ;;
                *) reply '{}' ;;
            esac
        done
    }
"#;

impl Project {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A program that runs `turn` for every prompt, after what `before` sets.
    fn agent(&self, before: &str, turn: &str) -> Acp {
        let script = format!("{FUNCTIONS}\n{before}\nturn() {{ {turn}\n}}\necho >> started\nserve");
        self.program(&script)
    }

    fn program(&self, script: &str) -> Acp {
        let mut acp = Acp::new(["sh", "-c", script], self.folder.path())
            .cwd(Cwd::Folder(self.folder.path().to_owned()));
        // The tester's own keys would appear in the messages.
        acp.program.environment.ambient =
            BTreeMap::from([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]);
        acp
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// The messages that the program got, by their method.
    fn asked(&self, method: &str) -> Vec<Value> {
        let asked = self.read("asked");
        let asked = asked
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        asked
            .filter(|message: &Value| message["method"] == method)
            .collect()
    }
}

fn task(id: &str) -> Task {
    Task {
        visible: Arc::new(Visible::of(&Sample::new(id, "2+2?"))),
        deadline: Some(Instant::now() + LONG),
        ..Task::for_test("2+2?")
    }
}

/// A turn of a conversation.
fn turn_of(session: &str, turn: u32) -> Task {
    let user = |text: &str| json!({"role": "user", "content": text});
    let mut messages = vec![
        json!({"role": "system", "content": "Be brief."}),
        user("first"),
    ];
    if turn > 1 {
        messages.extend([json!({"role": "assistant", "content": "yes"}), user("next")]);
    }
    Task {
        turn: Some(TurnTask {
            session: session.into(),
            turn,
            messages: messages.into(),
            failed: [].as_slice().into(),
            server: None,
        }),
        ..task("talk")
    }
}

/// The names and arguments of the calls in an answer.
fn calls(output: &Output) -> Vec<(String, Value)> {
    let calls = output.messages.iter();
    let calls = calls.filter_map(|message| message["tool_calls"].as_array());
    let calls = calls.flatten().map(|call| {
        let call = &call["function"];
        let arguments = call["arguments"].as_str().unwrap();
        let name = call["name"].as_str().unwrap().to_owned();
        (name, serde_json::from_str(arguments).unwrap())
    });
    calls.collect()
}

/// What an agent that plays one of the real ones answers.
#[track_caller]
fn check_kind(turn: &str, call: Option<(&str, Value)>, usage: &Value, model: Option<&str>) {
    let project = Project::new();
    let output = project.agent("", turn).answer(&task("a")).unwrap();
    assert_eq!(output.text.as_deref(), Some("The answer is 4."));
    let expected: Vec<_> = call
        .into_iter()
        .map(|(name, arguments)| (name.to_owned(), arguments))
        .collect();
    assert_eq!(calls(&output), expected);
    assert_eq!(&json!(output.usage), usage);
    assert_eq!(output.metadata.get("model").and_then(Value::as_str), model);
    let last = json!({"role": "assistant", "content": "The answer is 4."});
    assert_eq!(output.messages.last(), Some(&last));
    let steps = output
        .messages
        .iter()
        .filter(|it| !it["tool_calls"].is_null());
    assert_eq!(output.steps, Some(steps.count() as u64 + 1));
}

#[test]
fn gemini() {
    // The call is known from the question whether it may be made; its input never comes.
    let turn = r#"
        call='"toolCallId":"run_shell__run_shell_17_0","title":"date","kind":"execute"'
        ask session/request_permission "{\"sessionId\":\"$session\",\"options\":[{\"optionId\":\"always\",\"kind\":\"allow_always\"},{\"optionId\":\"once\",\"kind\":\"allow_once\"},{\"optionId\":\"no\",\"kind\":\"reject_once\"}],\"toolCall\":{$call,\"status\":\"pending\",\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"shows the date\"}}]}}"
        update "{\"sessionUpdate\":\"tool_call_update\",$call,\"status\":\"completed\",\"content\":[]}"
        says 'The answer '; says 'is 4.'
        reply '{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":240,"output_tokens":18},"model_usage":[{"model":"flash"},{"model":"auto"}]}}}'"#;
    let usage = json!({"input_tokens": 240, "output_tokens": 18, "cost_usd": null});
    let call = ("run_shell", json!({"title": "date"}));
    check_kind(turn, Some(call), &usage, None);
}

#[test]
fn qwen() {
    // Usage comes with empty chunks, and an update without its call.
    let turn = r#"
        used='{"inputTokens":120,"outputTokens":9,"totalTokens":129,"thoughtTokens":0,"cachedReadTokens":20}'
        counts="{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"\"},\"_meta\":{\"usage\":$used,\"durationMs\":45}}"
        says 'First the date. '
        update "$counts"
        update '{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"Output: Monday"}}],"_meta":{"toolName":"run_shell"},"rawInput":{"command":"date"},"rawOutput":""}'
        says 'The answer is 4.'
        update "$counts"
        reply '{"stopReason":"end_turn"}'"#;
    let usage =
        json!({"input_tokens": 240, "output_tokens": 18, "cost_usd": null, "cached_tokens": 40});
    let call = ("run_shell", json!({"command": "date"}));
    check_kind(turn, Some(call), &usage, None);
}

#[test]
fn codex() {
    // A warning comes before the message, without its id; notifications of its own come in between.
    let turn = r#"
        says 'Warning: unknown model. '
        printf '{"jsonrpc":"2.0","method":"_auth/status_update","params":{"kind":"gateway"}}\n'
        update '{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"active"}}}}'
        update '{"sessionUpdate":"usage_update","used":129,"size":258400}'
        update '{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"The answer is 4."}}'
        update '{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"idle"}}}}'
        reply '{"stopReason":"end_turn","usage":{"totalTokens":258,"inputTokens":200,"cachedReadTokens":40,"cachedWriteTokens":0,"outputTokens":18},"_meta":{"quota":{"token_count":{"inputTokens":200},"model_usage":[{"model":"small"}]}}}'"#;
    let usage =
        json!({"input_tokens": 240, "output_tokens": 18, "cost_usd": null, "cached_tokens": 40});
    check_kind(turn, None, &usage, Some("small"));
}

#[test]
fn claude() {
    // The input of a call comes after it.
    let turn = r#"
        call='"toolCallId":"t1","_meta":{"claudeCode":{"toolName":"Bash"}}'
        update "{$call,\"sessionUpdate\":\"tool_call\",\"rawInput\":{},\"status\":\"pending\",\"title\":\"Terminal\",\"kind\":\"execute\",\"content\":[]}"
        update "{$call,\"sessionUpdate\":\"tool_call_update\",\"rawInput\":{\"command\":\"date\"},\"title\":\"date\"}"
        update "{$call,\"sessionUpdate\":\"tool_call_update\",\"status\":\"completed\",\"rawOutput\":\"Monday\"}"
        update '{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":""}}'
        update '{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"The answer is 4."}}'
        update '{"sessionUpdate":"usage_update","used":129,"size":1000000,"cost":{"amount":0.25,"currency":"USD"}}'
        reply '{"stopReason":"end_turn","usage":{"inputTokens":200,"outputTokens":18,"cachedReadTokens":40,"cachedWriteTokens":2,"totalTokens":260}}'"#;
    let usage =
        json!({"input_tokens": 242, "output_tokens": 18, "cost_usd": 0.25, "cached_tokens": 40});
    let call = ("Bash", json!({"command": "date"}));
    check_kind(turn, Some(call), &usage, None);
}

#[test]
fn a_process_has_a_session_for_each_task() {
    let project = Project::new();
    let agent = project.agent(
        "",
        r#"says "of $session"; reply '{"stopReason":"end_turn"}'"#,
    );
    for (id, text) in [("a", "of s1"), ("b", "of s2")] {
        let output = agent.answer(&task(id)).unwrap();
        assert_eq!(output.text.as_deref(), Some(text));
    }
    assert_eq!(project.read("started").lines().count(), 1);
    let folder = project.folder.path();
    let new = json!({"cwd": folder, "mcpServers": []});
    assert_eq!(project.asked("session/new")[0]["params"], new);
    let prompt = json!([{"type": "text", "text": "2+2?"}]);
    assert_eq!(
        project.asked("session/prompt")[0]["params"]["prompt"],
        prompt
    );
    let client = &project.asked("initialize")[0]["params"];
    assert_eq!(client["protocolVersion"], 1);
    assert_eq!(client["clientCapabilities"]["fs"]["writeTextFile"], false);
    // It does not close sessions, so it is not asked to.
    assert_eq!(project.asked("session/close").len(), 0);
    assert_eq!(project.asked("authenticate").len(), 0);
}

#[test]
fn a_conversation_is_one_session_and_costs_what_each_turn_adds() {
    let project = Project::new();
    let before = r#"greeting='{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":{}}}}'
        cost=0"#;
    let turn = r#"cost=$((cost + 1)); says "$session, $cost"
        update "{\"sessionUpdate\":\"usage_update\",\"cost\":{\"amount\":$cost,\"currency\":\"USD\"}}"
        reply '{"stopReason":"end_turn"}'"#;
    let agent = project.agent(before, turn);
    for (number, text) in [(1, "s1, 1"), (2, "s1, 2")] {
        let output = agent.answer(&turn_of("talk", number)).unwrap();
        assert_eq!(output.text.as_deref(), Some(text));
        assert_eq!(output.usage.unwrap().cost_usd, Some(1.0));
    }
    agent.end_session("talk");
    agent.close();
    let prompts = project.asked("session/prompt");
    // The instructions stand before the first message.
    assert_eq!(
        prompts[0]["params"]["prompt"][0]["text"],
        "Be brief.\n\n2+2?"
    );
    assert_eq!(prompts[1]["params"]["prompt"][0]["text"], "2+2?");
    assert_eq!(
        project.asked("session/close")[0]["params"]["sessionId"],
        "s1"
    );
}

#[test]
fn the_tools_of_a_conversation_are_a_server() {
    let project = Project::new();
    let agent = project.agent("", r#"says 4; reply '{"stopReason":"end_turn"}'"#);
    let mut task = turn_of("talk", 1);
    task.turn.as_mut().unwrap().server = Some(Arc::new(ToolServerAddress {
        command: vec!["evaltest".into(), "serve".into(), "socket".into()],
        config: "mcp.json".into(),
    }));
    agent.answer(&task).unwrap();
    let server =
        json!({"name": "evaltest", "command": "evaltest", "args": ["serve", "socket"], "env": []});
    let servers = &project.asked("session/new")[0]["params"]["mcpServers"];
    assert_eq!(servers, &json!([server]));
}

#[test]
fn attachments_are_linked() {
    let mut task = task("a");
    task.files.push(crate::TaskFile {
        name: "a b.csv".into(),
        path: "/scratch/a b.csv".into(),
    });
    let link =
        json!({"type": "resource_link", "uri": "file:///scratch/a%20b.csv", "name": "a b.csv"});
    assert_eq!(prompt(&task, true)[1], link);
    assert_eq!(prompt(&task, false).len(), 1);
}

#[test]
fn permissions_are_chosen_by_kind() {
    let options = |kinds: &[&str]| {
        let options = kinds
            .iter()
            .map(|kind| json!({"optionId": format!("is_{kind}"), "kind": kind}));
        json!({"options": options.collect::<Vec<_>>()}).to_string()
    };
    let all = options(&["allow_always", "allow_once", "reject_always", "reject_once"]);
    let selected = |id: &str| json!({"outcome": "selected", "optionId": id});
    let check = |permissions, options: &str, expect: Value| {
        let project = Project::new();
        let turn = format!(
            "ask session/request_permission '{options}'; says done; reply '{{\"stopReason\":\"end_turn\"}}'"
        );
        let agent = project.agent("", &turn).permissions(permissions);
        agent.answer(&task("a")).unwrap();
        let answer: Value = serde_json::from_str(&project.read("answers")).unwrap();
        assert_eq!(answer["id"], "qsession/request_permission");
        assert_eq!(answer["result"]["outcome"], expect);
    };
    check(Permissions::Allow, &all, selected("is_allow_once"));
    check(Permissions::Reject, &all, selected("is_reject_once"));
    let cancelled = json!({"outcome": "cancelled"});
    check(
        Permissions::Allow,
        &options(&["allow_always"]),
        cancelled.clone(),
    );
    check(Permissions::Reject, "{}", cancelled);
}

#[test]
fn other_requests_are_refused_and_noise_is_passed_over() {
    let project = Project::new();
    let turn = r#"
        for method in fs/read_text_file fs/write_text_file terminal/create elicitation/create new/thing; do
            ask $method '{"sessionId":"s1"}'
        done
        echo 'Update available!'; read -r answer; printf '%s\n' "$answer" >> answers
        echo
        printf '{"jsonrpc":"2.0","method":"$/progress","params":{}}\n'
        printf '{"jsonrpc":"2.0","id":99,"result":{}}\n'
        update '{"sessionUpdate":"plan","entries":[]}'; update '{"sessionUpdate":"of tomorrow"}'; update '[]'
        own=$session; session=other; says 'of another session'; session=$own
        update '{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}'
        says 4
        reply '{"stopReason":"end_turn"}'"#;
    let output = project.agent("", turn).answer(&task("a")).unwrap();
    assert_eq!(output.text.as_deref(), Some("4"));
    let answers = project.read("answers");
    let codes = answers.lines().map(|line| {
        let answer: Value = serde_json::from_str(line).unwrap();
        answer["error"]["code"].as_i64().unwrap()
    });
    let expect = [-32601, -32601, -32601, -32601, -32601, -32700];
    assert_eq!(codes.collect::<Vec<_>>(), expect);
}

#[test]
fn how_a_turn_ends() {
    let check = |result: &str, expect: Result<Value, &str>| {
        let project = Project::new();
        let turn = format!("says half; {result}");
        let answer = project.agent("", &turn).answer(&task("a"));
        let answer = answer.map(|output| Value::Object(output.metadata));
        let answer = answer.map_err(|failure| failure.message);
        assert_eq!(answer, expect.map_err(str::to_owned), "{result}");
    };
    let stop = |reason: &str| format!("reply '{{\"stopReason\":\"{reason}\"}}'");
    check(&stop("end_turn"), Ok(json!({})));
    let truncated = json!({"stop_reason": "max_tokens", "finish_reason": "max_tokens"});
    check(&stop("max_tokens"), Ok(truncated));
    check(
        &stop("max_turn_requests"),
        Ok(json!({"stop_reason": "max_turn_requests"})),
    );
    let refused = json!({"stop_reason": "refusal", "finish_reason": "refusal"});
    check(&stop("refusal"), Ok(refused));
    check(
        &stop("cancelled"),
        Err("the agent cancelled the turn by itself"),
    );
    check(
        "reply '{}'",
        Err("the reply to `session/prompt` has no `stopReason`"),
    );
    check(
        r#"fail '{"code":-32603,"message":"Internal error","data":{"details":"no model"}}'"#,
        Err("replied with error -32603: Internal error: no model"),
    );
    // Codex ends well when its endpoint does not.
    let outage = r#"
        update '{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"Reconnecting","additionalDetails":"connection lost"}}}}'
        update '{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}'
        reply '{"stopReason":"end_turn"}'"#;
    check(outage, Err("the agent reports connection lost"));
}

#[test]
fn a_late_turn_is_cancelled_and_the_process_stays_if_it_obeys() {
    let late = |agent: &Acp| {
        let task = Task {
            deadline: Some(Instant::now() + Duration::from_millis(300)),
            ..task("late")
        };
        agent.answer(&task).unwrap_err()
    };
    let project = Project::new();
    // It answers the first prompt when it is cancelled.
    let turn = r#"case $count in 1) own=$id; take; id=$own ;; esac
        says 4; reply '{"stopReason":"end_turn"}'"#;
    let agent = project.agent("", turn);
    agent.check().unwrap();
    let failure = late(&agent);
    assert_eq!(failure.kind, FailureKind::TimedOut);
    assert!(
        failure.message.starts_with("did not answer in "),
        "{failure:?}"
    );
    assert_eq!(
        project.asked("session/cancel")[0]["params"]["sessionId"],
        "s1"
    );
    let output = agent.answer(&task("next")).unwrap();
    assert_eq!(output.text.as_deref(), Some("4"));
    assert_eq!(project.read("started").lines().count(), 1);
    // One that does not obey is ended.
    let project = Project::new();
    let turn = r#"case $(grep -c '' started) in 1) sleep 600 ;; esac; says 4; reply '{"stopReason":"end_turn"}'"#;
    let agent = project.agent("", turn);
    agent.check().unwrap();
    let failure = late(&agent);
    assert_eq!(failure.kind, FailureKind::TimedOut);
    agent.answer(&task("next")).unwrap();
    assert_eq!(project.read("started").lines().count(), 2);
}

#[test]
fn a_process_that_ends_fails_its_own_task_and_loses_its_conversations() {
    let project = Project::new();
    let turn = r#"case $line in *fatal*) echo oops >&2; exit 3 ;; esac
        says 4; reply '{"stopReason":"end_turn"}'"#;
    let agent = project.agent("", turn);
    agent.answer(&turn_of("talk", 1)).unwrap();
    let fatal = Task {
        prompt: "fatal".into(),
        ..task("bad")
    };
    let failure = agent.answer(&fatal).unwrap_err();
    assert_eq!(
        (failure.kind, failure.exit_code),
        (FailureKind::Exited, Some(3))
    );
    assert_eq!(failure.stderr_tail.as_deref(), Some("oops\n"));
    agent.answer(&task("next")).unwrap();
    let failure = agent.answer(&turn_of("talk", 2)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Lost);
    agent.answer(&turn_of("talk", 1)).unwrap();
}

#[test]
fn what_cannot_be_used_is_an_error_before_anything_is_asked() {
    let ends = r#"says 4; reply '{"stopReason":"end_turn"}'"#;
    let check = |agent: Acp, expect: &str| {
        let error = agent.check().unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    let project = Project::new();
    let greeting = |greeting: &str| format!("greeting='{greeting}'");
    let second = greeting(r#"{"protocolVersion":2}"#);
    check(
        project.agent(&second, ends),
        "speaks version 2 of the Agent Client Protocol",
    );
    let methods = greeting(r#"{"protocolVersion":1,"authMethods":[{"id":"key"},{"id":"login"}]}"#);
    let agent = || project.agent(&methods, ends);
    check(agent().auth("kye"), "does not offer `auth: kye`");
    check(agent().auth("kye"), "it offers `key`, `login`");
    agent().auth("key").check().unwrap();
    assert_eq!(
        project.asked("authenticate")[0]["params"],
        json!({"methodId": "key"})
    );
    check(project.program("echo no key >&2; exit 1"), "no key");
    let silent = project
        .program("sleep 600")
        .start_timeout(Duration::from_millis(50));
    check(silent, "did not reply to `initialize` in 50 ms");
    check(
        Acp::new(["no-such-agent"], project.folder.path()),
        "no-such-agent",
    );
}

#[test]
fn the_mode_of_a_session_is_one_that_is_offered() {
    let project = Project::new();
    let modes = r#"modes='{"availableModes":[{"id":"default"},{"id":"plan"}]}'"#;
    let agent = || project.agent(modes, r#"says 4; reply '{"stopReason":"end_turn"}'"#);
    agent().mode("plan").answer(&task("a")).unwrap();
    let mode = json!({"sessionId": "s1", "modeId": "plan"});
    assert_eq!(project.asked("session/set_mode")[0]["params"], mode);
    let failure = agent().mode("yolo").answer(&task("a")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Misconfigured);
    assert!(
        failure.message.contains("it offers `default`, `plan`"),
        "{failure:?}"
    );
}

#[test]
fn a_turn_stores_no_more_than_allowed() {
    let project = Project::new();
    let turn = "while :; do says 'on and on and on and on'; done";
    let agent = project.agent("", turn).max_output_bytes(2000);
    let failure = agent.answer(&task("a")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::OutputTooLarge);
}
