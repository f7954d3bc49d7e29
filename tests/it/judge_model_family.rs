//! Who the judge of a run is, beside its agent, and where its rubric comes from when the run is scored again.

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Answer, Request, Server, chat, fine};

const QUESTIONS: [(&str, u32, &str, &str); 2] = [("a", 1, "2+2?", "4"), ("b", 1, "3+3?", "6")];

/// Answers and judges: whoever is told a form is a judge.
fn server() -> Server {
    let act = |requested: &Request, _: usize| -> Answer {
        if is_judge(requested) {
            return fine(&chat(r#"{"reason": "r", "clarity": 4, "comments": ""}"#));
        }
        fine(&chat("4"))
    };
    Server::new(act)
}

fn is_judge(requested: &Request) -> bool {
    requested.body.get("response_format").is_some()
}

fn judged(server: &Server) -> usize {
    server
        .requested()
        .iter()
        .filter(|requested| is_judge(requested))
        .count()
}

fn agent(server: &Server, model: &str, more: &str) -> String {
    server
        .openai(more)
        .replace("model: local", &format!("model: {model}"))
}

fn scorers(agent: &str, rubric: &str) -> String {
    format!("scorers: [gaia, {{ type: judge, agent: {agent}, rubric: {rubric} }}]\ngates: []\n")
}

const CLARITY: &str = "{ dimensions: [{ name: clarity }] }";

#[test]
fn a_judge_of_the_agents_own_kind_is_told() {
    for (agent_model, judge_model, more, says) in [
        (
            "local",
            "local",
            "",
            "judge `judge` has the agent's own configuration",
        ),
        (
            "qwen2.5-7b",
            "Qwen/Qwen3-32B",
            "",
            "judge `judge` asks `Qwen/Qwen3-32B`, of the family of the agent's `qwen2.5-7b` (`qwen`)",
        ),
        // Another configuration of a model of which nobody knows the family.
        (
            "local",
            "local",
            ", temperature: 0",
            "judge `judge` asks `local`, the agent's own model: ",
        ),
        (
            "gpt-5",
            "gpt-5",
            ", temperature: 0",
            "judge `judge` asks `gpt-5`, the agent's own model: ",
        ),
        ("local", "other", "", ""),
        ("gpt-5", "claude-x", "", ""),
    ] {
        let server = server();
        let judge = agent(&server, judge_model, more);
        let answers = agent(&server, agent_model, "");
        let project = Project::with_eval(&QUESTIONS, &answers, &scorers(&judge, CLARITY));
        let warning = "models favour answers like their own";
        let foreseen = project.run("run eval.yaml --dry-run").exits(0);
        foreseen
            .says("e: 2 samples, 2 to 10 requests, and those of scorer `judge`; no agent or model was called");
        assert_eq!(server.requested().len(), 0);
        for arguments in ["run eval.yaml --dry-run", "run eval.yaml"] {
            let ran = project.run(arguments).exits(0);
            match says {
                "" => ran.says_nothing_of(warning),
                says => ran.says(says).says(warning),
            };
        }
        let rescored = format!("rescore {} --scorer gaia", project.last_run().display());
        project.run(&rescored).exits(0).says_nothing_of(warning);
    }
}

#[test]
fn a_run_scored_again_tells_it_of_its_models() {
    let server = server();
    let answers = agent(&server, "gemma-3", "");
    let judge = agent(&server, "gpt-5", "");
    let project = Project::with_eval(&QUESTIONS, &answers, &scorers(&judge, CLARITY));
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    project.spec(&answers, &scorers(&agent(&server, "gemma-2", ""), CLARITY));
    let again = format!("rescore {} --spec eval.yaml", dir.display());
    project
        .run(&again)
        .exits(0)
        .says("asks `gemma-2`, of the family of the agent's `gemma-3`");
}

#[test]
fn a_spec_says_who_scores_again() {
    let server = server();
    let answers = agent(&server, "local", "");
    let judge = agent(&server, "gpt-5", "");
    let project = Project::with_eval(&QUESTIONS, &answers, &scorers(&judge, "rubric.yaml"));
    let rubric = |what: &str| format!("dimensions: [{{ name: clarity, description: {what} }}]\n");
    project.write("rubric.yaml", rubric("plain"));
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    let dir = dir.display();
    assert_eq!(judged(&server), 2);

    // The same: what is stored is taken.
    let same = format!("rescore {dir} --spec eval.yaml");
    project.run(&same).exits(0).says("no model is called");
    assert_eq!(judged(&server), 2);

    project.write("rubric.yaml", rubric("short"));
    project
        .run(&format!("rescore {dir}"))
        .exits(2)
        .says("use the scorers of a spec: `--spec SPEC`");
    let foreseen = project.run(&format!("{same} --dry-run")).exits(0);
    foreseen.says("`judge` is asked 2 times, at most 4 times if replies cannot be read");
    let report = project.run(&format!("{same} --dry-run --json")).json();
    assert_eq!(
        report,
        json!({"judges": ["judge"], "calls": 2, "stored": 0, "most_calls": 4, "most_usd": null})
    );
    assert_eq!(judged(&server), 2);
    project.run(&same).exits(0);
    assert_eq!(judged(&server), 4);
    let last = server.requested();
    assert!(last[last.len() - 1].prompt().contains("short"));

    let both = format!("{same} --scorer gaia");
    project.run(&both).exits(2).says("--scorer");
    project.write(
        "empty.yaml",
        "name: e\nbenchmark: { type: gaia, path: data.jsonl }\nscorers: []\n",
    );
    project
        .run(&format!("rescore {dir} --spec empty.yaml"))
        .exits(2)
        .says("empty.yaml");
    project
        .run(&format!("rescore {dir} --spec nowhere.yaml"))
        .exits(2)
        .says("nowhere.yaml");
}

#[test]
fn a_judge_with_a_key_scores_again() {
    let server = server();
    let answers = agent(&server, "local", "");
    let judge = agent(&server, "gpt-5", ", api_key_env: JUDGE_KEY");
    let project = Project::with_eval(&QUESTIONS, &answers, &scorers(&judge, CLARITY));
    project.write(".env", "JUDGE_KEY=hunter2hunter2\n");
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(dir.join("manifest.json")).unwrap()).unwrap();
    let key = "/config/scorers/1/agent/api_key_env";
    assert_eq!(manifest.pointer(key), Some(&Value::from("JUDGE_KEY")));
    project
        .run(&format!("rescore {}", dir.display()))
        .exits(0)
        .says("no model is called");
    assert_eq!(judged(&server), 2);
    for file in crate::project::all_files(&project.file("evaltest-runs")) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains("hunter2"), "{}", file.display());
    }
}
