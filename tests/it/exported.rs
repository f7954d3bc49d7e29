//! `export`: the leaderboard's file with its guide, and the check of its ids.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::project::{Project, json_lines};
use crate::signals::send;
use crate::wait::until;

/// Four questions on two levels; the agent repeats the question, and fails one.
fn project() -> Project {
    let project = Project::new();
    project.questions(&[
        ("a", 1, "Think. FINAL ANSWER: 1", "1"),
        ("b", 1, "FINAL ANSWER: 2", "2"),
        ("c", 2, "fail", "3"),
        ("d", 2, "FINAL ANSWER: x", "4"),
    ]);
    let agent = "{ type: command, shell: 'p=$(cat); test \"$p\" != fail && echo \"$p\"' }";
    project.spec(agent, "gates: [accuracy >= 0.9]\n");
    project
}

/// The exported files in the project's folder.
fn exported(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.contains("gaia_level") && name.ends_with(".jsonl")
    };
    let mut found: Vec<_> = names.filter(is_ours).collect();
    found.sort();
    found
}

#[test]
fn a_file_and_a_guide_beside_it() {
    let project = project();
    project.run("run eval.yaml").exits(3);
    let dir = project.last_run();
    let dir = dir.strip_prefix(project.path()).unwrap().display();
    let ran = project.run(&format!("export --format gaia {dir}")).exits(0);
    let [file] = &exported(&project)[..] else {
        panic!("one file: {:?}", exported(&project));
    };
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let time = name.strip_prefix("gaia_levelall_result_").unwrap();
    assert!(
        time.len() == 22 && &time[8..9] == "T" && time.ends_with("Z.jsonl"),
        "{name}"
    );
    let ran = ran.says(&name).says("1 sample without an answer");
    let lines = json_lines(file);
    let first =
        json!({"task_id": "a", "model_answer": "1", "reasoning_trace": "Think. FINAL ANSWER: 1"});
    assert_eq!(lines[0], first);
    let ids: Vec<_> = lines.iter().map(|line| line["task_id"].clone()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    let guide = name.replace(".jsonl", ".guide.md");
    ran.says(&guide);
    let guide = project.read(&guide);
    let check = format!("cargo evaltest export --format gaia {dir} --check {name}");
    for text in [
        "gaia-benchmark/leaderboard",
        &check,
        "1 empty answer",
        "4 answers of eval `e`",
    ] {
        assert!(guide.contains(text), "`{text}` is missing in\n{guide}");
    }
    // The command that the guide names works; the empty answer is wrong.
    project
        .run(check.trim_start_matches("cargo evaltest"))
        .exits(1)
        .says("4 lines for 4 samples")
        .says("empty answer (1): c");
    // Another one in the same second is another file.
    project.run(&format!("export --format gaia {dir}")).exits(0);
    assert_eq!(exported(&project).len(), 2);
}

#[test]
fn the_place_and_the_traces_can_be_chosen() {
    let project = project();
    project
        .run("run eval.yaml --set benchmark.levels=[1]")
        .exits(0);
    let dir = project.last_run().display().to_string();
    let export = |more: &str| {
        project
            .run(&format!("export --format gaia {dir} {more}"))
            .exits(0)
    };
    export("--output out/file.jsonl --no-trace");
    let lines = json_lines(&project.file("out/file.jsonl"));
    assert_eq!(
        lines,
        [
            json!({"task_id": "a", "model_answer": "1"}),
            json!({"task_id": "b", "model_answer": "2"})
        ]
    );
    assert!(project.read("out/file.guide.md").contains("of level 1"));
    export("--output folder/");
    let found: Vec<_> = fs::read_dir(project.file("folder")).unwrap().collect();
    assert_eq!(found.len(), 2);
    let name = found.into_iter().map(|entry| entry.unwrap().file_name());
    assert!(
        name.into_iter()
            .all(|name| name.to_string_lossy().starts_with("gaia_level1_result_"))
    );
    let printed = export("--output -").out;
    assert_eq!(printed.lines().count(), 2);
    assert!(exported(&project).is_empty());
}

#[test]
fn a_file_is_checked_against_the_dataset() {
    let project = project();
    project.run("run eval.yaml --limit 2").exits(0);
    let dir = project.last_run().display().to_string();
    project.write(
        "made.jsonl",
        "{\"task_id\":\"a\",\"model_answer\":\"1\"}\n{\"task_id\":\"a\",\"model_answer\":\"1\"}\n\
         {\"task_id\":\"b\",\"model_answer\":\"\"}\n{\"task_id\":\"z\",\"model_answer\":\"1\"}\nno\n",
    );
    let check = |arguments: &str, code: i32| {
        project
            .run(&format!(
                "export --format gaia --check made.jsonl {arguments}"
            ))
            .exits(code)
    };
    // The dataset of the run, of which the run asked only a part.
    for dataset in [
        &*dir,
        "--dataset eval.yaml",
        "--spec data.jsonl",
        "--dataset .",
    ] {
        if dataset == "--dataset ." {
            project.write("metadata.jsonl", project.read("data.jsonl"));
        }
        check(dataset, 1)
            .says("5 lines for 4 samples")
            .says("missing (2): c, d")
            .says("duplicate (1): a")
            .says("unknown (1): z")
            .says("empty answer (1): b")
            .says("line 5: no JSON");
    }
    let json: Value = check(&format!("{dir} --json"), 1).json();
    assert_eq!(
        (&json["missing"], &json["malformed"][0][0]),
        (&json!(["c", "d"]), &json!(5))
    );
    let lines =
        ["a", "b", "c", "d"].map(|id| format!("{{\"task_id\":\"{id}\",\"model_answer\":\"0\"}}\n"));
    project.write("made.jsonl", lines.concat());
    check(&dir, 0).says("every id once");
    // Without its spec only what the run recorded is known.
    fs::remove_file(project.file("eval.yaml")).unwrap();
    check(&dir, 1)
        .says("unknown (2): c, d")
        .says("`--dataset PATH`");
    check("", 2);
    project
        .run(&format!("export --format gaia {dir} --check gone.jsonl"))
        .exits(2)
        .says("gone.jsonl");
}

#[test]
fn run_and_export_in_one_go() {
    let project = project();
    // The gate fails, and what was answered is exported all the same.
    project
        .run("run eval.yaml --set benchmark.ids=[a,b,d] --export gaia")
        .exits(1)
        .says("exported: gaia_levelall_result_");
    assert_eq!(json_lines(&exported(&project)[0]).len(), 3);
    let json = project
        .run("run eval.yaml --set benchmark.ids=[a] --export gaia --json")
        .exits(0)
        .json();
    let file = json["runs"][0]["exported"].as_str().unwrap();
    assert!(file.contains("gaia_level1_result_"), "{file}");
    assert_eq!(exported(&project).len(), 2);
    // Stopped early.
    project
        .run("run eval.yaml --fail-fast --concurrency 1 --export gaia")
        .exits(3)
        .says("run `e` is not exported");
    assert_eq!(exported(&project).len(), 2);
    project
        .run("run eval.yaml --export xml")
        .exits(2)
        .says("gaia");
}

#[test]
fn an_interrupted_run_is_not_exported() {
    let agent = "{ type: command, shell: 'touch started; sleep 600' }";
    let project = Project::with_eval(&[("a", 1, "?", "1")], agent, "");
    let mut command = project.command("run eval.yaml --export gaia");
    let mut child = command.spawn().unwrap();
    until("the agent runs", || project.file("started").exists());
    send("TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(exported(&project).is_empty());
}
