//! `init` leaves something that runs at the next command.

mod benchmark;
mod place;
mod shards;
mod workflow;

use crate::project::Project;

#[test]
fn in_a_folder_that_is_no_cargo_project() {
    let project = Project::new();
    project
        .run("run -v")
        .exits(2)
        .says("no evals found")
        .says("cargo evaltest init");
    project
        .run("init")
        .exits(0)
        .says("created  evals/example.yaml")
        .says("created  .gitignore")
        .says_nothing_of("Cargo.toml");
    // So that its snapshots have the same line ends everywhere.
    let attributes = project.read("evals/snapshots/example/.gitattributes");
    assert!(attributes.contains("*.snap text eol=lf\n"), "{attributes}");
    project.run("").exits(0).says("example: 5 of 6 correct");
    project.run("accept").exits(0);
    project.run("").exits(0);
    // A worse agent: the samples that flipped are named, the wrong one from before is not.
    project
        .run("run -v --agent echo")
        .exits(1)
        .says("wrong now (5):")
        .says("    percent\n");
    assert!(project.read(".gitignore").contains("/evaltest-runs/"));
    assert_eq!(project.read("evaltest-runs/.gitignore"), "*\n");
}

#[test]
fn lines_are_added_to_what_can_be_read_alone() {
    let project = Project::new();
    project.write(".gitignore", b"caf\xe9\n".as_slice());
    project
        .run("init")
        .exits(2)
        .says("cannot read `.gitignore`");
    let stored = std::fs::read(project.file(".gitignore")).unwrap();
    assert_eq!(stored, b"caf\xe9\n");
    project.write(".gitignore", "target\n");
    project.run("init").exits(0).says("changed  .gitignore");
    assert!(
        project
            .read(".gitignore")
            .starts_with("target\n/evaltest-runs/")
    );
}

#[test]
fn in_a_cargo_project_it_keeps_what_is_there() {
    let project = Project::new();
    let manifest = "# mine\n[package]\nname = \"a\"   # odd   spacing\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    project.write("Cargo.toml", manifest);
    project.write("src/lib.rs", "");
    project
        .run("init --ci github")
        .exits(0)
        .says("created  .github/workflows/evaltest.yml");
    let changed = project.read("Cargo.toml");
    assert!(changed.starts_with(manifest), "{changed}");
    for text in [
        "[[test]]",
        "harness = false",
        "[dev-dependencies]",
        "[package.metadata.evaltest]",
    ] {
        assert!(changed.contains(text), "{text} is missing in {changed}");
    }
    assert!(
        !changed.contains("test = false"),
        "the demo agent costs nothing: {changed}"
    );
    assert!(
        project
            .read(".config/nextest.toml")
            .contains("fail-fast = false")
    );
    assert!(
        project
            .read(".github/workflows/evaltest.yml")
            .contains("cargo evaltest")
    );
    // Once more changes nothing.
    project.write(
        "evals/example.yaml",
        "# edited\n".to_owned() + &project.read("evals/example.yaml"),
    );
    project
        .run("init")
        .exits(0)
        .says("kept     evals/example.yaml");
    project
        .run("init --ci github")
        .exits(0)
        .says("kept     .github/workflows/evaltest.yml");
    assert_eq!(project.read("Cargo.toml"), changed);
    assert!(project.read("evals/example.yaml").starts_with("# edited"));
    project.run("").exits(0).says("example: 5 of 6 correct");
}

#[test]
fn an_agent_that_may_cost_money_is_not_asked_by_plain_cargo_test() {
    let project = Project::new();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    project.write("src/lib.rs", "");
    project
        .run("init --name paid -- ./agent.sh --fast")
        .exits(0);
    let manifest = project.read("Cargo.toml");
    assert!(manifest.contains("test = false"));
    assert!(!manifest.contains("features"), "{manifest}");
    assert!(
        project
            .read("evals/paid.yaml")
            .contains("command: [\"../agent.sh\",\"--fast\"]")
    );
    project
        .run("init --name paid -- ./agent.sh --fast")
        .exits(0)
        .says_nothing_of("keeps its `agent`");
    project
        .run("init --name paid -- ./other.sh")
        .exits(0)
        .says("note     evals/paid.yaml keeps its `agent`: write the new program there, or remove the file");
}

#[test]
fn a_dot_env_file_serves_the_variables_that_a_spec_names() {
    let agent = "{ type: command, command: [sh, -c, 'echo \"$MY_NAME $OTHER\"'], env: [MY_NAME] }";
    let project = Project::with_eval(&[("a", 1, "Who?", "ada")], agent, "");
    project.write(".env", "MY_NAME=ada\nOTHER=x\n");
    project.run("run -v eval.yaml").exits(0).says("1 correct");
    // The environment wins.
    let mut command = project.command("run -v eval.yaml");
    let ran = command.env("MY_NAME", "bob").output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stdout).contains("0 correct"));
}

#[test]
fn an_agent_of_ones_own_is_found_from_the_specs_folder() {
    let project = Project::new();
    project.script(
        "agent.sh",
        "#!/bin/sh\nwhile read -r _; do :; done\necho FINAL ANSWER: 50\n",
    );
    project
        .run("init -- sh agent.sh")
        .exits(0)
        .says_nothing_of("not there");
    project
        .run("run -v --ignore-baseline")
        .exits(1)
        .says("example: 6 samples, 1 correct")
        .says("0 errors");
}

#[test]
fn an_agent_that_is_written_later_is_found_from_the_specs_folder() {
    let project = Project::new();
    project
        .run("init -- sh agent.sh")
        .exits(0)
        .says("note     agent.sh does not exist yet");
    let spec = project.read("evals/example.yaml");
    assert!(spec.contains("command: [\"sh\",\"../agent.sh\"]"), "{spec}");
    project.script(
        "agent.sh",
        "#!/bin/sh\nwhile read -r _; do :; done\necho FINAL ANSWER: 50\n",
    );
    project.run("run -v --ignore-baseline").says("0 errors");
}

#[test]
fn rescoring_keeps_the_scorers_of_the_run_and_accept_names_what_is_missing() {
    let project = Project::new();
    project.run("init").exits(0);
    project.run("run -v").exits(0);
    let dir = project.last_run();
    let ran = project
        .run(&format!("rescore -v {}", dir.display()))
        .exits(0);
    ran.says("example: 6 samples, 5 correct");
    // A scorer of a user's own is not known here, and is not replaced by another.
    let manifest = std::fs::read_to_string(dir.join("manifest.json")).unwrap();
    let hash = manifest.find("\"scorer_hash\": \"").unwrap() + 16;
    let manifest = manifest.replace(&manifest[hash..hash + 16], "0123456789abcdef");
    let manifest = manifest.replace("\"gaia\"\n", "\"mine\"\n");
    crate::project::change_manifest(&dir, |there| {
        *there = serde_json::from_str(&manifest).unwrap();
    });
    let ran = project
        .run(&format!("rescore -v {}", dir.display()))
        .exits(2);
    ran.says("scorer `mine` is not built in")
        .says("--scorer gaia");
    project.run("run -v --retries 2").exits(0);
    let ran = project.run("accept").exits(0);
    project.run("run -v --output-root elsewhere").exits(0);
    project
        .run("accept --output-root elsewhere")
        .exits(0)
        .says("elsewhere/");
    ran.says("no gate compares with the baseline yet")
        .says("changed the spec for this run: limits.retries");
}
