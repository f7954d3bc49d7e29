//! The workflow that `init --ci --shards` writes: each job in a checkout of its own, and one that merges what they kept.

use std::fs;

use serde_yaml::Value;

use super::workflow::runner;
use crate::project::{Project, all_files};

/// The example, whose baseline is committed, with the workflow of this service.
fn project(service: &str) -> Project {
    let project = Project::new();
    let arguments = format!("init --ci {service} --shards 3 --from path");
    project.run(&arguments).exits(0);
    project
}

/// A checkout of it, as another machine has it.
fn checkout(project: &Project) -> Project {
    let other = Project::new();
    for file in all_files(project.path()) {
        let name = file.strip_prefix(project.path()).unwrap().to_str().unwrap();
        if !name.starts_with("bin/") && !name.starts_with("evaltest-runs/") {
            other.write(name, fs::read(&file).unwrap());
        }
    }
    other
}

/// What a service keeps of a job and unpacks before another: the files below the folder of runs.
fn keep(job: &Project, merging: &Project) {
    for file in all_files(&job.file("evaltest-runs")) {
        let name = file.strip_prefix(job.path()).unwrap().to_str().unwrap();
        merging.write(name, fs::read(&file).unwrap());
    }
}

#[test]
fn the_matrix_of_github_is_merged() {
    let project = project("github");
    let text = project.read(".github/workflows/evaltest.yml");
    let workflow: Value = serde_yaml::from_str(&text).unwrap();
    let step = |job: &str, name: &str| {
        let steps = workflow["jobs"][job]["steps"].as_sequence().unwrap();
        let step = steps.iter().find(|step| step["name"] == name).unwrap();
        step.clone()
    };
    let shard = step("shard", "Shard");
    let merge = step("evaltest", "Evaluate");
    let merge = merge["run"].as_str().unwrap();
    let merging = checkout(&project);
    let matrix = &workflow["jobs"]["shard"]["strategy"]["matrix"]["shard"];
    for number in matrix.as_sequence().unwrap() {
        let number = number.as_u64().unwrap().to_string();
        if number == "2" {
            continue;
        }
        ask(&project, &shard, &number, &merging);
    }
    // A job that did not come to its end is named, and nothing is judged.
    runner(&merging, merge).exits(2).says("2/3");
    ask(&project, &shard, "2", &merging);
    runner(&merging, merge)
        .exits(0)
        .says("example: 5 of 6 correct");
    let summary = merging.read("step-summary.md");
    assert!(summary.contains("example"), "{summary}");
    assert!(merging.file("evaltest-runs/junit.xml").is_file());
    // The baseline is made of the merged run.
    let mut runs = merging.runs().into_iter();
    let merged = runs.find(|run| !run.display().to_string().ends_with("of3"));
    merging
        .run(&format!("accept {}", merged.unwrap().display()))
        .exits(0)
        .says("5 of 6 correct");
}

/// Runs the job of a shard, and keeps what it wrote.
fn ask(project: &Project, step: &Value, number: &str, merging: &Project) {
    let job = checkout(project);
    let variables = step["env"].as_mapping().unwrap().iter();
    let variables: Vec<_> = variables
        .map(|(name, value)| {
            let value = value.as_str().unwrap();
            let value = value.replace("${{ matrix.shard }}", number);
            format!("export {}='{value}'\n", name.as_str().unwrap())
        })
        .collect();
    let script = step["run"].as_str().unwrap();
    runner(&job, &(variables.concat() + script))
        .exits(0)
        .says(&format!("shard {number}/3"));
    keep(&job, merging);
}

#[test]
fn the_parallel_jobs_of_gitlab_are_merged() {
    let project = project("gitlab");
    let text = project.read(".gitlab-ci.yml");
    let whole: Value = serde_yaml::from_str(&text).unwrap();
    let script = |job: &str| {
        let lines = whole[job]["script"].as_sequence().unwrap();
        lines.last().unwrap().as_str().unwrap().to_owned()
    };
    let merging = checkout(&project);
    let count = whole["evaltest-shard"]["parallel"].as_u64().unwrap();
    for index in 1..=count {
        let job = checkout(&project);
        let variables = format!("export CI_NODE_INDEX={index} CI_NODE_TOTAL={count}\n");
        runner(&job, &(variables + &script("evaltest-shard"))).exits(0);
        keep(&job, &merging);
    }
    runner(&merging, &script("evaltest"))
        .exits(0)
        .says("example: 5 of 6 correct");
    assert!(merging.file("evaltest-runs/quality.json").is_file());
}
