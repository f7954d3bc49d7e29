//! The specs that `scorers --explain judge` shows: each loads, and each judges, as it stands there.

use serde_json::{Map, Value, json};

use crate::project::Project;
use crate::server::{Answer, Request, Server, chat, fine};

/// The address that the specs name.
const ADDRESS: &str = "127.0.0.1:8102";

/// The agent, and a judge that finds everything as good as it can be.
fn reply(request: &Request) -> Answer {
    if request.body["model"] != "judge" {
        return fine(&chat("Bees hum in the rain."));
    }
    let schema = &request.body["response_format"]["json_schema"]["schema"]["properties"];
    let members = schema.as_object().expect("a judge is given a schema");
    let best = members.iter().map(|(name, member)| {
        let good = |choice: &&Value| **choice == "correct" || **choice == "solved";
        let value = match (&member["type"], member["enum"].as_array()) {
            (Value::String(kind), _) if kind == "integer" => json!(5),
            (_, Some(choices)) => choices.iter().find(good).cloned().unwrap_or_default(),
            _ => json!("because"),
        };
        (name.clone(), value)
    });
    fine(&chat(&Value::from(best.collect::<Map<_, _>>()).to_string()))
}

#[test]
fn each_loads_and_judges() {
    let explained = Project::new();
    let explain = explained.run("scorers --explain judge --json").exits(0);
    let specs = explain.json()["specs"].as_array().unwrap().clone();
    let mut text = explained.run("scorers --explain judge").exits(0);
    let names: Vec<_> = specs.iter().map(|spec| &spec["name"]).collect();
    let expect = [
        "aime",
        "qa",
        "code",
        "creative_writing",
        "technical_docs",
        "a rubric of your own",
        "a rubric in a file",
        "choices",
    ];
    assert_eq!(names, expect);
    let server = Server::new(|request, _| reply(request));
    let here = server.url("");
    let here = here.trim_start_matches("http://").trim_end_matches('/');
    for spec in &specs {
        let [name, summary, yaml] =
            ["name", "summary", "spec"].map(|key| spec[key].as_str().unwrap());
        text = text.says(&format!("# {name}: {summary}\n")).says(yaml);
        let project = Project::new();
        project.write("evals/judged.yaml", yaml.replace(ADDRESS, here));
        if let Some(file) = spec["file"].as_object() {
            let [name, content] = ["name", "text"].map(|key| file[key].as_str().unwrap());
            project.write(&format!("evals/{name}"), content);
            text = text.says(&format!("# with `{name}`: {content}"));
        }
        let before = server.requested().len();
        let dry = project.run("run -v --dry-run").exits(0);
        // Nothing is told of scorers that nobody named.
        dry.says_nothing_of("are ignored");
        assert_eq!(server.requested().len(), before, "{name}");
        project
            .run("run -v")
            .exits(0)
            .says("judged: 1 sample, 1 correct")
            .says("judge `judge`: 1 call on 1 answer");
        let record = project.last_lines("samples.jsonl").remove(0);
        assert_eq!(record["result"]["status"], "scored", "{name}");
        assert_eq!(record["result"]["judged"][0]["form"], "schema", "{name}");
    }
    explained
        .run("scorers --list")
        .exits(0)
        .says("`--explain judge` has the smallest spec of each");
}
