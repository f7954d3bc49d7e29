//! What somebody meets who uses the program for the first time: mistakes, and what is said of them.

use crate::project::Project;

fn project(agent: &str, more: &str) -> Project {
    Project::with_eval(&[("a", 1, "One?", "1"), ("b", 2, "Two?", "2")], agent, more)
}

#[test]
fn a_variable_that_nobody_set_is_told_before_the_run() {
    let agent = "{ type: command, shell: 'touch started; echo 1', env: [UNSET_OF_TEST, PATH] }";
    let project = project(agent, "");
    let message = "`env:` names `UNSET_OF_TEST`, set neither in the environment nor in `.env`";
    project
        .run("doctor eval.yaml")
        .exits(2)
        .says(message)
        .says("hint: write `UNSET_OF_TEST=…` into `.env`");
    let ran = project.run("run eval.yaml").exits(0).says(message);
    assert_eq!(ran.err.matches(message).count(), 1, "once: {}", ran.err);
    project
        .run("run eval.yaml --dry-run")
        .exits(0)
        .says(message);
    // What the hint says helps.
    project.write(".env", "UNSET_OF_TEST=\n");
    project
        .run("doctor eval.yaml")
        .exits(0)
        .says_nothing_of("UNSET_OF_TEST");
    project
        .run("run eval.yaml")
        .exits(0)
        .says_nothing_of("UNSET_OF_TEST");
    std::fs::remove_file(project.file(".env")).unwrap();
    let agent = "{ type: echo, text: '1' }";
    let scorer = "scorer: { type: command, command: [./judge], env: [UNSET_OF_TEST] }\n";
    project.script(
        "judge",
        "#!/bin/sh\nwhile read -r line; do echo '{\"correct\": true}'; done\n",
    );
    project.spec(agent, scorer);
    project.run("doctor eval.yaml").exits(2).says(message);
}

#[test]
fn what_is_no_number_is_called_so() {
    let project = project(
        "{ type: echo, text: about two }",
        "gates: ['accuracy >= 0']\n",
    );
    project.run("run eval.yaml").exits(0);
    let records = project.last_lines("samples.jsonl");
    assert_eq!(
        records[0]["result"]["score"]["normalized_prediction"],
        "inf"
    );
    let run = project.last_run();
    let show = ["show", run.to_str().unwrap(), "a"];
    project
        .run_of(&show)
        .exits(0)
        .says("compared: \"no number\" with \"1.0\"")
        .says_nothing_of("inf");
    project.write(
        "answers.jsonl",
        "{\"prediction\": \"x\", \"ground_truth\": \"3\"}\n",
    );
    project
        .run("score answers.jsonl --scorer gaia --explain --line 1")
        .says("prediction: \"no number\"");
}

#[test]
fn keys_that_are_flags_name_the_flag() {
    let project = project("echo", "");
    let help = project.run("run --help").exits(0).out;
    let spec = project.read("eval.yaml");
    for (key, flag) in [
        ("run_id", "--run-id ID"),
        ("resume", "--resume RUN_DIR"),
        ("filter", "--filter TEXT"),
        ("failed", "--failed RUN_DIR"),
        ("dry_run", "--dry-run"),
        ("ignore_baseline", "--ignore-baseline"),
        ("export", "--export FORMAT"),
    ] {
        project.write("eval.yaml", format!("{spec}{key}: x\n"));
        project
            .run("run eval.yaml")
            .exits(2)
            .says(&format!("unknown key `{key}`"))
            .says(&format!("type `cargo evaltest run SPEC {flag}`"));
        let name = flag.split(' ').next().unwrap();
        assert!(help.contains(name), "{name} is a flag");
    }
}

#[test]
fn what_the_hint_on_brackets_says_is_read() {
    let project = project(
        "{ type: echo, text: '1' }",
        "gates: [accuracy[level=1] >= 0.7]\n",
    );
    let gate = "gates: ['accuracy[level=1] >= 0.7']";
    project
        .run("run -v eval.yaml")
        .exits(2)
        .says("eval.yaml:6:")
        .says(&format!("hint: quote it: `{gate}`"));
    project.spec("{ type: echo, text: '1' }", gate);
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("gate accuracy[level=1] >= 0.7: passed");
    project.spec("echo", "gates: ['no_regression(alpha=2)']\n");
    project
        .run("run -v eval.yaml")
        .exits(2)
        .says("`alpha` must be between 0 and 1");
}

#[test]
fn a_type_stands_anywhere_in_its_map() {
    let project = Project::new();
    project.write("q.csv", "question,answer\nOne?,1\n");
    project.write(
        "eval.yaml",
        "benchmark: { path: q.csv, type: qa }\n\
         agent: { text: 'FINAL ANSWER: 1', type: echo }\n\
         scorers:\n  - { value: '1', type: substring, name: sub }\n  - { of: [{ case: true, type: exact }, qa], type: any }\n",
    );
    let refused = project.run("list eval.yaml");
    // Whatever keys a scorer has, its `type` was found.
    refused.says_nothing_of("missing key `type`");
    project.write(
        "eval.yaml",
        "benchmark: { path: q.csv, type: qa }\n\
         agent:\n  shell: echo '{\"x\": \"1\"}'\n  type: command\n\
         extract: { pointer: /x, type: json }\n\
         scorer:\n  scorers: [{ name: inner, type: exact }]\n  type: any\n",
    );
    project
        .run("list eval.yaml")
        .says_nothing_of("missing key `type`");
}

#[test]
fn paths_are_tidied() {
    let project = Project::new();
    project.write("data/x.csv", "question,answer\nOne?,\n");
    project.write(
        "evals/e.yaml",
        "benchmark: { type: qa, path: ../data/x.csv }\nagent: echo\n",
    );
    let ran = project.run("run e --dry-run").exits(0);
    ran.says("note: e: `data/x.csv`: 1 of 1 samples have no ground truth")
        .says_nothing_of("evals/..");
    let ran = project.run("run e").says("e: note: `data/x.csv`: ");
    ran.says_nothing_of("evals/..");
    project.write("data/x.csv", "question,answer\nOne?\n");
    project
        .run("run e")
        .exits(2)
        .says("data/x.csv:2: the row has 1 cells")
        .says_nothing_of("../");
    project.write(
        "evals/e.yaml",
        "benchmark: { type: qa, path: ../data/none.csv }\nagent: echo\n",
    );
    project
        .run("run e")
        .exits(2)
        .says("evals/e.yaml:1:")
        .says("`data/none.csv`");
}

#[test]
fn spreadsheets_and_arrays_are_datasets() {
    let project = Project::new();
    let agent = "agent: { type: echo, text: 'FINAL ANSWER: 1,5' }\n";
    project.write("data.csv", "question;answer\nHow much?;1,5\n");
    project.write("tab.tsv", "question\tanswer\nHow much?\t1,5\n");
    project.write(
        "data.json",
        "[\n  {\"question\": \"How much?\", \"answer\": \"1,5\"}\n]\n",
    );
    project.write(
        "gsm.json",
        "[{\"question\": \"How much?\", \"answer\": \"#### 15\"}]",
    );
    project.write(
        "aime.json",
        "[{\"Question\": \"How much?\", \"Answer\": 15, \"ID\": \"2030-I-1\"}]",
    );
    for (kind, file) in [
        ("qa", "data.csv"),
        ("qa", "tab.tsv"),
        ("qa", "data.json"),
        ("gaia", "data.csv"),
        ("gaia", "data.json"),
        ("gsm8k", "gsm.json"),
        ("aime", "aime.json"),
    ] {
        let spec = format!("benchmark: {{ type: {kind}, path: {file} }}\n{agent}");
        project.write("e.yaml", spec);
        project
            .run("list e.yaml --stats")
            .exits(0)
            .says("samples: 1, with ground truth: 1");
    }
    project.write(
        "e.yaml",
        format!("benchmark: {{ type: qa, path: data.json }}\n{agent}"),
    );
    project
        .run("run -v e.yaml")
        .exits(0)
        .says("1 sample, 1 correct");
    project.write(
        "data.json",
        "[{\"question\": \"a\"},\n {\"question\": \"\"}]",
    );
    project
        .run("run -v e.yaml")
        .exits(2)
        .says("data.json:2: element 2: ");
}

#[test]
fn a_drawn_seed_is_printed_and_repeats_the_order() {
    let questions: Vec<_> = (0..9).map(|n| (format!("q{n}"), "1")).collect();
    let questions: Vec<_> = questions
        .iter()
        .map(|(id, one)| (&**id, 1, "?", *one))
        .collect();
    let project = Project::with_eval(
        &questions,
        "{ type: echo, text: '1' }",
        "limits: { concurrency: 1 }\n",
    );
    let order = |options: &str| {
        let ran = project.run(&format!("run eval.yaml {options}")).exits(0);
        let mut events = project.last_lines("events.jsonl");
        events.retain(|event| event["kind"] == "started");
        let ids: Vec<_> = events
            .iter()
            .map(|event| event["sample_id"].to_string())
            .collect();
        (ids, ran.err)
    };
    let (shuffled, stderr) = order("--shuffle");
    let (_, seed) = stderr.split_once("`--seed ").expect(&stderr);
    let seed = seed.split('`').next().unwrap();
    let recorded = project.last_json("manifest.json")["config"]["shuffle"]["seed"].to_string();
    assert_eq!(recorded, seed);
    let (again, stderr) = order(&format!("--seed {seed}"));
    assert_eq!(again, shuffled);
    assert!(!stderr.contains("drawn"), "{stderr}");
    let (_, stderr) = order("--shuffle");
    assert!(
        !stderr.contains(&format!("`--seed {seed}`")),
        "another is drawn: {stderr}"
    );
    project
        .run("accept")
        .exits(0)
        .says("command-line options changed the spec for this run: shuffle.seed\n");
    // The spec's own seed stays.
    project.spec(
        "{ type: echo, text: '1' }",
        "shuffle: { seed: 7 }\nlimits: { concurrency: 1 }\n",
    );
    let (own, stderr) = order("--shuffle");
    assert!(!stderr.contains("drawn"), "{stderr}");
    assert_eq!(own, order("").0);
}

#[test]
fn rows_are_shown_as_they_were_read() {
    let project = Project::new();
    let long = "x".repeat(200);
    let rows = format!("question,answer,topic\nOne?,1,{long}\nTwo?,2,b\nThree?,3,c\n");
    project.write("q.csv", rows);
    project.write(
        "e.yaml",
        "benchmark: { type: qa, path: q.csv }\nagent: echo\n",
    );
    project
        .run("list e.yaml --stats --rows 2")
        .exits(0)
        .says("  row 1\n    id: 0\n    prompt: One?\n    ground truth: 1\n    topic: xxx")
        .says(&format!("{}…\n", "x".repeat(80)))
        .says("  row 2\n")
        .says_nothing_of("row 3");
    project
        .run("list e.yaml --stats")
        .exits(0)
        .says_nothing_of("row 1");
    project.run("list e.yaml --rows 2").exits(2).says("--stats");
    let json = project
        .run("list e.yaml --stats --rows 1 --json")
        .exits(0)
        .json();
    assert_eq!(json[0]["rows"].as_array().unwrap().len(), 1);
    // What must not be published is not shown.
    project.write(
        "e.yaml",
        "benchmark: { type: gaia, path: q.csv }\nagent: echo\n",
    );
    project
        .run("list e.yaml --stats --rows 1")
        .exits(0)
        .says("prompt: One?")
        .says("(ground truth and metadata not shown: ")
        .says_nothing_of("ground truth: 1\n");
}
