//! A project whose eval runs as tests, without building a crate for it: the `gaia` test binary of this
//! repository reads its spec from the package it is told to belong to.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::project::{Project, Ran, cargo, root, without_surroundings};
use crate::requested;

/// Where the binary looks for the spec.
pub(crate) const SPEC: &str = "fixtures/gaia/gaia.yaml";
/// Where the snapshots are.
pub(crate) const SNAPSHOTS: &str = "fixtures/gaia/snapshots/e";

fn binary() -> &'static str {
    static BINARY: OnceLock<String> = OnceLock::new();
    BINARY.get_or_init(|| {
        // Built already, with the settings of this build.
        let mut cargo = Command::new(cargo());
        without_surroundings(&mut cargo);
        let built = cargo
            .args(["test", "--no-run", "--offline", "--test", "gaia"])
            .args(["--message-format", "json-render-diagnostics"])
            .current_dir(root())
            .output()
            .unwrap();
        let ran = Ran::of(&built).exits(0);
        let lines = ran.out.lines();
        let artifacts = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let is_it = |artifact: &serde_json::Value| {
            artifact["target"]["name"] == "gaia" && artifact["executable"].is_string()
        };
        let found = artifacts
            .into_iter()
            .find(is_it)
            .expect("the test target `gaia` is built");
        found["executable"].as_str().unwrap().to_owned()
    })
}

/// As [`requested::project`], with the spec where the binary looks for it.
pub(crate) fn project(number: u32, then: &str, more: &str) -> Project {
    let project = requested::project(number, then, more);
    let spec = project
        .read("eval.yaml")
        .replace("data.jsonl", "../../data.jsonl");
    project.write(SPEC, spec.replace("./agent.sh", "../../agent.sh"));
    std::fs::remove_file(project.file("eval.yaml")).unwrap();
    project
}

/// A project with an accepted run.
pub(crate) fn accepted(number: u32, then: &str, more: &str) -> Project {
    let project = project(number, then, more);
    project.run(&format!("run {SPEC} --ignore-baseline"));
    project.run("accept").exits(0);
    forget(&project);
    project
}

/// Empties the log of what was asked.
pub(crate) fn forget(project: &Project) {
    let _ = std::fs::remove_file(project.file("asked.log"));
}

/// Changes the spec.
pub(crate) fn edit(project: &Project, from: &str, to: &str) {
    let spec = project.read(SPEC);
    assert!(spec.contains(from), "{from} is missing in\n{spec}");
    project.write(SPEC, spec.replace(from, to));
}

/// The test binary with these arguments, not started yet.
pub(crate) fn command(project: &Project, arguments: &str) -> Command {
    let mut command = Command::new(binary());
    without_surroundings(&mut command);
    command
        .args(arguments.split_whitespace())
        .current_dir(project.path())
        .env("CARGO_MANIFEST_DIR", project.path())
        .stdin(Stdio::null());
    command
}

/// Runs the tests.
pub(crate) fn run(project: &Project, arguments: &str) -> Ran {
    run_with(project, arguments, &[])
}

/// Runs the tests with these variables.
pub(crate) fn run_with(project: &Project, arguments: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = command(project, arguments);
    Ran::of(&command.envs(variables.iter().copied()).output().unwrap())
}

/// The lines `test NAME ... HOW` as (name, how), in order.
pub(crate) fn tests(ran: &Ran) -> Vec<(String, String)> {
    let line = |line: &str| {
        let (name, how) = line.strip_prefix("test ")?.split_once(" ... ")?;
        Some((name.trim().to_owned(), how.trim().to_owned()))
    };
    ran.out.lines().filter_map(line).collect()
}

/// How one test ended.
#[track_caller]
pub(crate) fn verdict(ran: &Ran, end_of_name: &str) -> String {
    let found = tests(ran)
        .into_iter()
        .find(|(name, _)| name.ends_with(end_of_name));
    found
        .unwrap_or_else(|| panic!("no test `{end_of_name}` in\n{}\n{}", ran.out, ran.err))
        .1
}
