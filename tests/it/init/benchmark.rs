//! `init --benchmark KIND` writes the spec of the real set, or one that runs at once.

use crate::project::Project;

#[test]
fn own_questions_run_at_once() {
    for (kind, expect) in [
        ("qa", "qa: 5 of 5 correct"),
        ("custom", "custom: 3 of 3 correct"),
    ] {
        let project = Project::new();
        project
            .run(&format!("init --benchmark {kind}"))
            .exits(0)
            .says(&format!("created  evals/{kind}.yaml"));
        project.run("").exits(0).says(expect);
        project.run("accept").exits(0);
    }
}

#[test]
fn published_sets_are_asked_of_the_place_that_has_them() {
    let check = |kind: &str, expect: &[&str]| {
        let project = Project::new();
        project
            .run(&format!("init --benchmark {kind}"))
            .exits(0)
            .says("write your agent into the spec")
            .says(
                "  cargo evaltest run --limit 5   # tries it on a few questions\n  cargo evaltest              # asks \
                 all of them\n  cargo evaltest accept ",
            );
        // The spec is one: what is missing is the data.
        let mut command = project.command(&format!("list evals/{kind}.yaml"));
        command
            .env("HF_HUB_OFFLINE", "1")
            .env("HF_HOME", project.file("hf"));
        let ran = crate::project::Ran::of(&command.output().unwrap());
        expect.iter().fold(ran.exits(2), |ran, text| ran.says(text));
        // Also with a program of one's own, in the line of the agent and nowhere else.
        let project = Project::new();
        project
            .run(&format!("init --name mine --benchmark {kind} -- ./a.sh"))
            .exits(0)
            .says_nothing_of("write your agent");
        let spec = project.read("evals/mine.yaml");
        let agents = spec.lines().filter(|line| line.starts_with("agent:"));
        let agents: Vec<_> = agents.collect();
        assert_eq!(
            agents,
            ["agent: { type: command, command: [\"../a.sh\"] }"],
            "{spec}"
        );
        assert!(spec.contains("name: mine\n") && !spec.contains("NAME\n"));
    };
    check("gaia", &["gaia-benchmark/GAIA", "HF_HUB_OFFLINE"]);
    check("gsm8k", &["openai/gsm8k", "HF_HUB_OFFLINE"]);
    check("aime", &["HuggingFaceH4/aime_2024", "HF_HUB_OFFLINE"]);
    // To be typed where `init` was, and read by the spec from where it lies.
    check("bfcl", &["-d bfcl`"]);
}

#[test]
fn the_spec_of_gaia_tells_of_terms_token_and_gates() {
    let project = Project::new();
    project
        .run("init --benchmark gaia")
        .exits(0)
        .says("accept the terms of GAIA");
    let spec = project.read("evals/gaia.yaml");
    for text in [
        "benchmark: { type: gaia }",
        "terms",
        "HF_TOKEN",
        "extract: final_answer",
        "  - accuracy >= ",
    ] {
        assert!(spec.contains(text), "{text} is missing in {spec}");
    }
    // Correct answers must not be published.
    assert!(!spec.contains("answers: plain"), "{spec}");
}

#[test]
fn a_cargo_project_asks_for_the_features_that_the_data_need() {
    let check = |kind: &str, features: &str, is_requested: bool| {
        let project = Project::new();
        project.write(
            "Cargo.toml",
            "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        );
        project.write("src/lib.rs", "");
        project.run(&format!("init --benchmark {kind}")).exits(0);
        let manifest = project.read("Cargo.toml");
        assert!(
            manifest.contains(&format!("features = [{features}]")),
            "{manifest}"
        );
        assert_eq!(
            !manifest.contains("test = false"),
            is_requested,
            "{manifest}"
        );
    };
    check("gaia", "\"http\", \"parquet\"", false);
    check("bfcl", "\"bfcl\", \"http\"", false);
    check("qa", "\"demo\"", true);
}

#[test]
fn own_data_and_a_program_become_an_eval_that_was_tried() {
    let project = Project::new();
    let script = "#!/bin/sh\nread -r question\necho \"${question##* }\"\n";
    project.script("agent.sh", script);
    project.write(
        "my set.csv",
        "Problem,Expected Output,topic\nSay A,A,x\nSay B,C,y\n",
    );
    project
        .run_of(&["init", "--data", "my set.csv", "--", "./agent.sh"])
        .exits(0)
        .says("read     my set.csv: 2 questions, in the column `Problem`, answers in `Expected Output`, no ids: rows are numbered")
        .says("created  evals/my-set.yaml")
        .says("tried one question:\n  0  Say A  expected A  got A  (correct)");
    assert!(project.runs().is_empty(), "trying leaves no run");
    project.run("").exits(0).says("my-set: 1 of 2 correct");
    project.run("accept").exits(0);
    project.script("agent.sh", "#!/bin/sh\necho no\n");
    project.run("run -v").says("gate no_regression(alpha=0.05)");
    // A file with a usual name is found; what is wrong with the program is shown at once.
    let project = Project::new();
    project.write(
        "questions.jsonl",
        "{\"id\": \"a\", \"question\": \"?\", \"answer\": 1}\n",
    );
    project
        .run("init -- ./agent.sh")
        .exits(0)
        .says("created  evals/questions.yaml")
        .says("note     agent.sh does not exist yet")
        .says("no answer: ")
        .says("next:\n  correct `agent.command`, which runs in `evals/`, in evals/questions.yaml, then cargo evaltest doctor\n")
        .says_nothing_of("cargo evaltest accept");
    let spec = project.read("evals/questions.yaml");
    assert!(
        spec.contains("path: \"../questions.jsonl\", columns: { prompt: \"question\""),
        "{spec}"
    );
    // What is wrong with the data is no fault of the program.
    let project = Project::new();
    project.write("twice.csv", "id,question,answer\nx,?,1\nx,?,2\n");
    project
        .run("init --data twice.csv -- cat")
        .exits(0)
        .says("twice.csv:3: the id `x` is taken by the row at")
        .says("next:\n  correct the data, or `benchmark.columns` in evals/twice.yaml, then cargo evaltest doctor\n");
    // What it cannot know, it says, and at once.
    let project = Project::new();
    let check = |head: &str, what: &str, rename: &str| {
        project.write("data.csv", format!("{head}\nx,y\n"));
        project
            .run("init --data data.csv -- ./agent.sh")
            .exits(2)
            .says(&format!(
                "`data.csv`: no column is recognised as the {what}; found `a1`, `"
            ))
            .says(&format!("rename the column with the {rename}"));
    };
    check("a1,answer", "question", "question to `question`\n");
    check(
        "a1,a2",
        "question or the answer",
        "question to `question`, and the column with the answer to `answer`\n",
    );
    assert!(!project.file("evals").exists());
}
