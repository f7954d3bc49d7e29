//! `agents:` and `prompts:` of a spec: each pair is an eval of its own, they share a budget, and a table ranks them.

mod bad;
mod budget;
mod ranked;

use std::fs;

use serde_json::{Value, json};

use crate::project::Project;
use crate::requested::{self, requested};
use crate::trials::{self, tests};

/// Six questions, of which `large` knows the three even ones and `small` none.
fn project(more: &str) -> Project {
    let project = Project::new();
    requested::write_questions(&project, 6);
    requested::agent(&project, ":");
    spec(&project, more);
    project
}

const AGENTS: &str = "agents:\n  small: { type: echo, text: no }\n  large: { type: command, command: [./agent.sh] }\n";

fn spec(project: &Project, more: &str) {
    let agents = if more.contains("agents:") { "" } else { AGENTS };
    let prompt = if more.contains("prompts:") {
        ""
    } else {
        "prompt: none\n"
    };
    project.write(
        "evals/e.yaml",
        format!(
            "name: e\nbenchmark: {{ type: gaia, path: ../data.jsonl }}\nsnapshot: {{ answers: plain }}\n{prompt}{}{more}",
            agents.replace("./agent.sh", "../agent.sh")
        ),
    );
}

/// The manifests of all runs, in the order in which they began.
fn manifests(project: &Project) -> Vec<Value> {
    let manifest = |path: std::path::PathBuf| {
        serde_json::from_slice(&fs::read(path.join("manifest.json")).unwrap()).unwrap()
    };
    project.runs().into_iter().map(manifest).collect()
}

fn evals(project: &Project) -> Vec<String> {
    let manifests = manifests(project).into_iter();
    manifests
        .map(|it| it["eval"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn each_agent_with_each_prompt_is_an_eval_of_its_own() {
    let project = project("prompts: { plain: none, own: { template: 'Say: {prompt}' } }\n");
    project
        .run("run")
        .exits(0)
        .says("4 agents and prompts, ranked by accuracy");
    let all = [
        "e@small+plain",
        "e@small+own",
        "e@large+plain",
        "e@large+own",
    ];
    assert_eq!(evals(&project), all);
    assert_eq!(requested(&project).len(), 12);
    for (manifest, dir) in manifests(&project).iter().zip(project.runs()) {
        let eval = manifest["eval"].as_str().unwrap();
        let names = eval.strip_prefix("e@").unwrap().split_once('+').unwrap();
        assert_eq!(
            manifest["variant"],
            json!({ "agent": names.0, "prompt": names.1 })
        );
        // The spec as it is of this one: what reads runs needs to know of no other.
        let config = &manifest["config"];
        assert!(config["agents"].is_null() && config["prompts"].is_null());
        let kind = if names.0 == "small" {
            "echo"
        } else {
            "command"
        };
        assert_eq!(config["agent"]["type"], kind);
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.contains(&format!("_{eval}-")), "{name}");
        let records = crate::project::json_lines(&dir.join("samples.jsonl"));
        let prompt = records[0]["prompt"].as_str().unwrap();
        assert_eq!(prompt.starts_with("Say: "), names.1 == "own", "{prompt}");
    }
    let invocations: Vec<_> = manifests(&project)
        .iter()
        .map(|it| it["invocation"].clone())
        .collect();
    assert!(invocations.iter().all(|it| *it == invocations[0]));
}

#[test]
fn a_prompt_alone_may_be_several() {
    let project = project("agents: { one: echo }\nprompts: { plain: none, short: concise }\n");
    project
        .run("run e@one+short")
        .exits(0)
        .says_nothing_of("ranked");
    assert_eq!(evals(&project), ["e@one+short"]);
    spec(&project, "prompts: { plain: none, short: concise }\n");
    let text = project.read("evals/e.yaml").replace(
        &AGENTS.replace("./agent.sh", "../agent.sh"),
        "agent: echo\n",
    );
    project.write("evals/e.yaml", text);
    project
        .run("run")
        .exits(0)
        .says("e: 2 prompts, ranked by accuracy");
    assert_eq!(evals(&project)[1..], ["e+plain", "e+short"]);
}

#[test]
fn each_is_called_by_its_name_and_all_by_that_of_the_spec() {
    let project = project("");
    let ran = |arguments: &str, expect: &[&str]| {
        let before = evals(&project).len();
        project.run(arguments).exits(0);
        assert_eq!(evals(&project)[before..], *expect, "{arguments}");
    };
    ran("run e@large", &["e@large"]);
    ran("run e", &["e@small", "e@large"]);
    ran("run evals/e.yaml", &["e@small", "e@large"]);
    ran("run e@large evals/e.yaml", &["e@small", "e@large"]);
    ran("run e@large e@small", &["e@small", "e@large"]);
    ran("run --benchmark e", &["e@small", "e@large"]);
    ran("run --benchmark e@small", &["e@small"]);
    ran(
        "run --benchmark gaia --filter e@small::level1::q000",
        &["e@small"],
    );
    project
        .run("run e@lage")
        .exits(2)
        .says("did you mean `e@large`?");
    project
        .run("run --dry-run --json")
        .exits(0)
        .says("\"e@small\"");
    project
        .run("list e@small")
        .exits(0)
        .says("e@small::level1::q000")
        .says_nothing_of("e@large");
    project
        .run("doctor e@small")
        .exits(0)
        .says("e.yaml, e@small")
        .says_nothing_of("e@large");
    project.run("show e@large q000").exits(0).says("q000");
    project.run("gate e@small").exits(0).says("e@small");
    project
        .run("show e")
        .exits(2)
        .says("`e` has several agents or prompts")
        .says("name one: `e@large`, `e@small`");
    let listed = project.run("runs e -n 0").exits(0);
    assert_eq!(listed.out.matches("e@large-").count(), 6, "{}", listed.out);
    project
        .run("runs e@small")
        .exits(0)
        .says_nothing_of("e@large");
    project
        .run("compare e@small e@large")
        .exits(0)
        .says("no significant difference between A and B");
    project.run("cache stats").exits(0);
    project
        .run("run e --run-id x")
        .exits(2)
        .says("need exactly one eval");
}

#[test]
fn each_has_a_baseline_of_its_own() {
    let project = project("gates: [no_regression]\n");
    requested::write_questions(&project, 12);
    let text = project.read("evals/e.yaml");
    project.write(
        "evals/e.yaml",
        text.replace("text: no", "text: something else"),
    );
    project.run("run").exits(0);
    project.run("accept").exits(0);
    for eval in ["e@small", "e@large"] {
        assert!(
            project
                .file(&format!("evals/snapshots/{eval}/_baseline.json"))
                .is_file(),
            "{eval}"
        );
    }
    assert!(!project.file("evals/snapshots/e").exists());
    // Only one of them is another agent now.
    requested::agent(&project, "echo no; exit");
    project.run("run").exits(1);
    let verdicts = project.runs().into_iter().skip(2).map(|dir| {
        let text = fs::read(dir.join("summary.json")).unwrap();
        let summary: Value = serde_json::from_slice(&text).unwrap();
        let gate = &summary["gates"][0];
        (gate["verdict"].clone(), gate["regression"]["worse"].clone())
    });
    let verdicts: Vec<_> = verdicts.collect();
    assert_eq!(
        verdicts,
        [(json!("passed"), json!(0)), (json!("failed"), json!(6))]
    );
    project.run("rescore e@large --scorer gaia").exits(0);
    assert_eq!(
        manifests(&project).last().unwrap()["variant"],
        json!({ "agent": "large" })
    );
    spec(&project, "snapshot: { answers: plain, path: base }\n");
    let text = project
        .read("evals/e.yaml")
        .replacen("snapshot: { answers: plain }\n", "", 1);
    project.write("evals/e.yaml", text);
    project.run("run e@large").exits(0);
    project.run("accept").exits(0);
    assert!(project.file("evals/base@large/_baseline.json").is_file());
}

#[test]
fn a_gate_that_names_one_is_that_one_s() {
    let project = project(
        "gates:\n  - accuracy[agent=large] >= 0.5\n  - accuracy[level=1][agent=large] >= 0.5\n  \
         - accuracy[agent=small] <= 0.1\n  - min_samples >= 6\n",
    );
    project.run("run -v").exits(0);
    let gates = |number: usize| -> Vec<String> {
        let dir = &project.runs()[number];
        let summary: Value =
            serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
        let gates = summary["gates"].as_array().unwrap().clone();
        gates
            .iter()
            .map(|gate| gate["gate"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        gates(0),
        ["accuracy <= 0.1", "min_samples >= 6", "error_rate <= 0.05"]
    );
    assert_eq!(
        gates(1),
        [
            "accuracy >= 0.5",
            "accuracy[level=1] >= 0.5",
            "min_samples >= 6",
            "error_rate <= 0.05"
        ]
    );
    // Checked again they are the same.
    project
        .run("gate -v e@large")
        .exits(0)
        .says("gate accuracy >= 0.5: passed");
    project
        .run("list e@small")
        .exits(0)
        .says("e@small::gate::accuracy\n");
    // One that fails is told at its line.
    spec(
        &project,
        "gates:\n  - min_samples >= 6\n  - accuracy[agent=large][level=9] >= 0.5\n",
    );
    project
        .run("run -v")
        .exits(2)
        .says("e.yaml:10:5: ")
        .says("level=9");
}

#[test]
fn in_a_spec_of_one_agent_a_gate_may_have_a_slice_of_this_name() {
    let project = Project::new();
    let samples = "[{ id: a, prompt: x, ground_truth: x, slices: { agent: east } }, { id: b, prompt: y, ground_truth: z }]";
    let spec = |agents: &str, gate: &str| {
        project.write(
            "e.yaml",
            format!(
                "benchmark: {{ type: custom, samples: {samples} }}\nscorer: exact\n{agents}\ngates: ['{gate}']\n"
            ),
        );
    };
    spec("agent: echo", "accuracy[agent=east] >= 1");
    project
        .run("run -v e.yaml")
        .exits(0)
        .says("accuracy[agent=east] >= 1: passed");
    // Where the spec has `agents`, it is one of those.
    spec("agents: { west: echo }", "accuracy[agent=east] >= 1");
    project
        .run("run -v e.yaml")
        .exits(2)
        .says("the spec has no agent `east`");
    spec("agents: { east: echo }", "accuracy[agent=east] >= 0.5");
    project
        .run("run -v e.yaml")
        .exits(0)
        .says("gate accuracy >= 0.5: passed");
}

#[test]
fn the_command_line_changes_one_of_them_or_all() {
    let project = project(
        "gates: ['accuracy[agent=large] >= 0.5']\nagents:\n  gpt-4.1: { type: command, command: [../agent.sh], input: json, options: { k: 1 } }\n  \
         large: { type: command, command: [../agent.sh], input: json }\n",
    );
    let options = |number: usize| manifests(&project)[number]["config"]["agent"]["options"].clone();
    project.run("run --agent-option k=2").exits(0);
    assert_eq!(
        [options(0), options(1)],
        [json!({ "k": 2 }), json!({ "k": 2 })]
    );
    project.run("run --set agents.gpt-4.1.options.k=3").exits(0);
    assert_eq!([options(2), options(3)], [json!({ "k": 3 }), Value::Null]);
    // The agent that is typed replaces all of them.
    project
        .run("run --agent echo")
        .exits(0)
        .says("gate `accuracy[agent=large] >= 0.5` is not evaluated")
        .says_nothing_of("ranked");
    let last = manifests(&project).pop().unwrap();
    assert_eq!(
        (&last["eval"], &last["variant"]),
        (&json!("e"), &Value::Null)
    );
    project
        .run("run --set agents.large.comand=x")
        .exits(2)
        .says("agents.large.comand");
    project
        .run("run --set prompts.a=none --set prompt=none")
        .exits(0);
    spec(&project, "prompts: { a: none }\n");
    project
        .run("run --set prompt.template={prompt}")
        .exits(2)
        .says("`prompt.template` cannot be set: the spec has `prompts`")
        .says("prompts.a.template=");
}

#[test]
fn one_that_was_killed_goes_on_as_itself() {
    let project = project("limits: { budget: { requests: 2 } }\n");
    project.run("run e@large").exits(3);
    let dir = project.last_run();
    let dir = dir.file_name().unwrap().to_str().unwrap();
    for more in ["", "e@large ", "evals/e.yaml ", "e "] {
        project.run(&format!("run {more}--resume {dir}")).exits(3);
        assert_eq!(evals(&project), ["e@large"], "{more}");
    }
    project
        .run(&format!(
            "run --resume {dir} --set limits.budget.requests=99"
        ))
        .exits(0);
    assert_eq!(requested(&project).len(), 6);
    let manifest = project.last_json("manifest.json");
    assert_eq!(
        (&manifest["eval"], &manifest["whole"]),
        (&json!("e@large"), &json!(true))
    );
    // Made again from its journal, its spec or its manifest alone.
    fs::remove_file(project.last_run().join("samples.jsonl")).unwrap();
    project
        .run(&format!("repair {dir}"))
        .exits(0)
        .says("6 of 6 questions");
    fs::remove_file(project.file("evals/e.yaml")).unwrap();
    project
        .run(&format!(
            "run --resume {dir} --set limits.budget.requests=99"
        ))
        .exits(0);
    assert_eq!(evals(&project), ["e@large"]);
}

#[test]
fn as_tests_they_are_told_apart_by_their_names() {
    let project = trials::project(4, ":", "");
    trials::edit(
        &project,
        "agent: { type: command, command: [../../agent.sh] }",
        "agents: { small: { type: echo, text: no }, large: { type: command, command: [../../agent.sh] } }\n\
         gates: ['accuracy[agent=large] >= 0.5', 'accuracy[agent=small] <= 0']",
    );
    let ran = trials::run(&project, "").exits(0);
    let names: Vec<_> = tests(&ran).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 2 * (4 + 2), "{names:?}");
    assert!(
        names.contains(&"e@small::level1::q000".to_owned()),
        "{names:?}"
    );
    assert!(
        names.contains(&"e@large::gate::accuracy".to_owned()),
        "{names:?}"
    );
    let mut found = evals(&project);
    found.sort();
    assert_eq!(found, ["e@large", "e@small"]);
    trials::run(&project, "e@small::").exits(0).says("6 passed");
    // A program that reads one eval is told how to read several.
    let error = evaltest::Eval::from_yaml(project.file(trials::SPEC)).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("its evals are `e@small`, `e@large`"),
        "{message}"
    );
    assert!(message.contains("`Eval::all_from_yaml`"), "{message}");
}
