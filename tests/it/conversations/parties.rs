//! Agents of each kind, users, tools and judges in conversations.

use serde_json::json;

use super::{project, turns};
use crate::server::{Server, chat, fine};

#[test]
fn program_without_json_gets_the_whole_conversation() {
    let line = json!({"id": "a", "turns": turns(&[("Hi", None), ("Hi again", Some("2"))])});
    let project = project(&[line], "", "");
    let spec = project.read("c.yaml");
    let agents = [
        "[sh, -c, 'printf %s \"$1\" | grep -c Hi', sh, '{prompt}']",
        "[grep, -c, Hi]",
    ];
    for agent in agents {
        let spec = spec.replace("[./agent.sh], input: json, output: json", agent);
        project.write("c.yaml", spec);
        project.run("run c.yaml").exits(0).says("1 correct");
    }
}

#[test]
fn endpoint_that_gets_the_last_message_alone_is_noted() {
    let line = json!({"id": "a", "turns": turns(&[("Hi", None), ("Again", Some("Again"))])});
    let server = Server::new(|_, _| fine(&json!({"answer": "Again"})));
    let project = project(&[line], "", "");
    for (name, is_noted) in [("prompt", true), ("messages", false)] {
        let agent = format!(
            "agent: {{ type: http, url: '{}', body: {{ asked: '{{{name}}}' }} }}",
            server.url("/")
        );
        let spec = "benchmark: { type: conversations, path: c.jsonl }\n";
        project.write("c.yaml", format!("{spec}{agent}\n"));
        let ran = project.run("run c.yaml").exits(0);
        let note = "an agent gets only the last message of a conversation: write \"{messages}\"";
        assert_eq!(ran.err.contains(note), is_noted, "{}", ran.err);
        // No sample names a scorer.
        project
            .run("run c.yaml --scorer exact")
            .says_nothing_of("the scorers of single samples are ignored");
    }
}

#[test]
fn reply_that_was_cut_off_counts_in_whichever_turn_it_is() {
    let line = json!({"id": "a", "turns": turns(&[("Hi", None), ("Again", Some("Again"))])});
    let server = Server::new(|requested, number| {
        let mut reply = chat(requested.prompt());
        if number == 0 {
            reply["choices"][0]["finish_reason"] = "length".into();
        }
        fine(&reply)
    });
    let project = project(&[line], "", "");
    let spec = "benchmark: { type: conversations, path: c.jsonl }\n";
    project.write("c.yaml", format!("{spec}agent: {}\n", server.openai("")));
    project
        .run("run c.yaml")
        .exits(0)
        .says("1 correct")
        .says("1 answer was cut off at the token limit");
}

#[test]
fn judge_is_asked_once_for_each_turn() {
    let talk = turns(&[("Hi", Some("Hi")), ("Again", Some("Never"))]);
    let project = project(&[json!({"id": "a", "turns": talk})], "", "");
    project.script(
        "judge.sh",
        "#!/bin/sh\nasked=$(cat)\necho asked >>judged\n\
         case $asked in *Never*) echo 'Verdict: wrong' ;; *) echo 'Verdict: correct' ;; esac\n",
    );
    let judge = "{ type: judge, rubric: qa, on: each_turn, agent: { type: command, command: [./judge.sh] } }";
    project.write(
        "c.yaml",
        format!(
            "benchmark: {{ type: conversations, path: c.jsonl }}\nagent: echo\nscorers: [{judge}]\n"
        ),
    );
    project
        .run("run -v c.yaml")
        .exits(0)
        .says("0 correct")
        .says("first went wrong in turn 2 (1)")
        .says("2 calls on 1 answer,");
    // What it gave before is taken.
    let dir = project.last_run();
    project
        .run(&format!("rescore -v {}", dir.display()))
        .exits(0)
        .says("(2 stored)");
    assert_eq!(project.read("judged").lines().count(), 2);
}

#[test]
fn doctor_asks_the_user_and_opens_the_environment() {
    let line = json!({"id": "a", "scenario": "Ask for Oslo.", "ground_truth": "rain"});
    let parties = "tools: { environment: { type: worker, command: [./world.sh] } }\n\
                   user: { agent: { type: command, command: [./user.sh] } }";
    let project = project(&[line], parties, "");
    project.script("user.sh", "#!/bin/sh\nread -r all\necho OK\n");
    project
        .run("doctor c.yaml")
        .exits(0)
        .says("user")
        .says("opened a session, 1 tools");
    project.script("user.sh", "#!/bin/sh\nexit 4\n");
    project.script("world.sh", "#!/bin/sh\nexit 5\n");
    project
        .run("doctor c.yaml")
        .exits(3)
        .says("exited with code 4")
        .says("exited with code 5");
}

#[test]
fn simulated_user_is_a_party_of_its_own() {
    let line = json!({"id": "a", "scenario": "Ask for Oslo.", "ground_truth": "rain"});
    let user =
        "tools: { mock: tools.yaml }\nuser: { agent: { type: command, command: [./user.sh] } }";
    let project = project(&[line], user, "");
    project.script(
        "user.sh",
        "#!/bin/sh\nread -r all\necho 'The weather in Oslo? ###STOP###'\n",
    );
    project.run("run c.yaml").exits(0).says("1 correct");
    let record = &project.last_lines("samples.jsonl")[0];
    assert_eq!(record["result"]["ended"], "user_stop");
    let asked = project.read("asked.jsonl");
    assert!(
        !asked.contains("STOP") && !asked.contains("Ask for"),
        "{asked}"
    );
    project.run("accept c").exits(0);
    project.run("run c.yaml").exits(0).says("no_regression");
    // Another user makes other conversations.
    project.write(
        "c.yaml",
        project
            .read("c.yaml")
            .replace("user: {", "user: { max_turns: 3,"),
    );
    project
        .run("run c.yaml")
        .exits(2)
        .says("or with another `errors` or `user`");
    project.script("user.sh", "#!/bin/sh\nexit 4\n");
    project
        .run("run c.yaml --ignore-baseline")
        .exits(3)
        .says("the simulated user: exited with code 4");
    assert_eq!(
        project.last_lines("samples.jsonl")[0]["result"]["status"],
        "user_failed"
    );
}
