//! Where `init --ci` writes, and what it leaves alone.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_yaml::Value;

use crate::project::{Project, Ran, without_surroundings};
const WORKFLOW: &str = ".github/workflows/evaltest.yml";
const SPEC: &str = "name: mine\nbenchmark: { type: qa, path: q.csv }\nagent: { type: echo }\n";
const MANIFEST: &str = "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// Runs the program in a folder of a project.
fn typed_in(project: &Project, folder: &str, line: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command
        .args(line.split_whitespace())
        .current_dir(project.file(folder));
    without_surroundings(&mut command);
    Ran::of(&command.output().unwrap())
}

/// The folders in which the steps of a workflow run, by the steps' names.
fn folder_of(text: &str, name: &str) -> Option<String> {
    let workflow: Value = serde_yaml::from_str(text).unwrap();
    let steps = workflow["jobs"]["evaltest"]["steps"].as_sequence().unwrap();
    let step = steps
        .iter()
        .find(|step| step["name"].as_str() == Some(name));
    step.unwrap()["working-directory"]
        .as_str()
        .map(str::to_owned)
}

#[test]
fn a_folder_of_a_repository_has_its_workflow_at_the_top() {
    let project = Project::new();
    for folder in [".git", "a b", "other"] {
        fs::create_dir_all(project.file(folder)).unwrap();
    }
    typed_in(&project, "a b", "init --ci github --from path")
        .exits(0)
        .says("created  ../.github/workflows/evaltest.yml\n")
        .says("created  evals/example.yaml");
    assert!(!project.file("a b/.github").exists());
    let text = project.read(".github/workflows/evaltest.yml");
    for step in ["Evaluate", "Baseline"] {
        assert_eq!(folder_of(&text, step).as_deref(), Some("a b"), "{text}");
    }
    assert!(text.contains("\n            a b/evaltest-runs/*/summary.json\n"));
    // Runs are kept where the workflow looks.
    typed_in(&project, "a b", "run").exits(0);
    assert!(project.file("a b/evaltest-runs").is_dir());
    // Another project of the same repository.
    typed_in(&project, "other", "init --ci github --from path")
        .exits(0)
        .says("kept     ../.github/workflows/evaltest.yml")
        .says("../.github/workflows/evaltest.yml exists already: let it run in `other`, too");

    typed_in(&project, "a b", "init --ci gitlab --from path")
        .exits(0)
        .says("created  ../.gitlab-ci.yml");
    let text = project.read(".gitlab-ci.yml");
    assert!(text.contains("      cd 'a b'\n"), "{text}");
    assert!(
        text.contains("      cat 'a b'/evaltest-runs/*/summary.md || true\n"),
        "{text}"
    );
}

#[test]
fn a_member_of_a_workspace_is_run_with_the_workspace() {
    let project = Project::new();
    fs::create_dir_all(project.file(".git")).unwrap();
    project.write("Cargo.toml", "[workspace]\nmembers = [\"m\"]\n");
    project.write("m/Cargo.toml", MANIFEST);
    project.write("m/src/lib.rs", "");
    typed_in(&project, "m", "init --ci github --from path")
        .exits(0)
        .says("created  ../.github/workflows/evaltest.yml");
    let text = project.read(".github/workflows/evaltest.yml");
    assert_eq!(folder_of(&text, "Evaluate"), None, "{text}");
    typed_in(&project, "m", "run").exits(0);
    assert!(project.file("evaltest-runs").is_dir());
}

#[test]
fn without_a_repository_the_folder_is_the_top() {
    let project = Project::new();
    project.write("Cargo.toml", "[workspace]\nmembers = []\n");
    project.write("m/a.txt", "");
    typed_in(&project, "m", "init --ci github --from path")
        .exits(0)
        .says("created  .github/workflows/evaltest.yml")
        .says_nothing_of("../")
        .says_nothing_of("move .github");
    let project = Project::new();
    project.write("Cargo.toml", "[workspace]\nmembers = []\n");
    project.write("m/Cargo.toml", "[package]\nname = \"m\"\n");
    typed_in(&project, "m", "init --ci gitlab --from path")
        .exits(0)
        .says("created  .gitlab-ci.yml")
        .says("move .gitlab-ci.yml to the repository's root");
}

#[test]
fn a_project_with_evals_is_given_the_workflow_alone() {
    let check = |project: &Project, folder: &str, workflow: &str| {
        let ran = typed_in(project, folder, "init --ci github --from path").exits(0);
        let created = ran.out.lines().filter(|line| {
            ["  created  ", "  changed  ", "  kept     "]
                .iter()
                .any(|start| line.starts_with(start))
        });
        let created: Vec<_> = created.collect();
        assert_eq!(created, [format!("  created  {workflow}")], "{}", ran.out);
        assert!(!project.file("evals/example.yaml").exists());
        assert!(!project.file("tests").exists());
    };
    let project = Project::new();
    project.write("evals/mine.yaml", SPEC);
    check(&project, "", WORKFLOW);
    // From below, and with a spec that is no good yet.
    let project = Project::new();
    fs::create_dir_all(project.file(".git")).unwrap();
    fs::create_dir_all(project.file("src")).unwrap();
    project.write("evals/deep/mine.yaml", "name: mine\nbenchmark: {\n");
    check(&project, "src", "../.github/workflows/evaltest.yml");
    // Evals that are written in Rust.
    let project = Project::new();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[package.metadata.evaltest]\ntests =          [\"mine\"]\n",
    );
    check(&project, "", WORKFLOW);
    // Who asks for an eval has one.
    for requested in [
        "--name other",
        "--benchmark qa --name other",
        "--name other -- cat",
    ] {
        let project = Project::new();
        project.write("evals/mine.yaml", SPEC);
        let line = format!("init --ci github --from path {requested}");
        typed_in(&project, "", &line)
            .exits(0)
            .says("created  evals/other.yaml");
    }
    let project = Project::new();
    project.write("evals/mine.yaml", SPEC);
    typed_in(&project, "", "init")
        .exits(0)
        .says("created  evals/example.yaml");
}

#[test]
fn a_place_of_this_machine_is_told_at_the_end() {
    let project = Project::new();
    let here = crate::project::root().display().to_string();
    let line =
        format!("  edit the install line in .gitlab-ci.yml: other machines do not have {here}\n");
    for _ in 0..2 {
        project
            .run("init --ci gitlab --from path")
            .exits(0)
            .says(&line);
    }
    let fixed = project.read(".gitlab-ci.yml");
    let fixed = fixed.replace(&format!("--path {here}/cargo-evaltest"), "--git ADDRESS");
    project.write(".gitlab-ci.yml", fixed);
    project
        .run("init --ci gitlab --from path")
        .exits(0)
        .says("kept     .gitlab-ci.yml")
        .says_nothing_of("that installs");
}

/// The program as a wheel brings it: in an environment of Python, installed from this address if from a known one.
fn wheel(project: &Project, url: Option<&str>) -> PathBuf {
    let version = env!("CARGO_PKG_VERSION");
    let info = format!("venv/lib/python3.12/site-packages/evaltest-{version}.dist-info");
    project.write(&format!("{info}/INSTALLER"), "pip");
    if let Some(url) = url {
        let direct = format!("{{\"url\": \"{url}\"}}");
        project.write(&format!("{info}/direct_url.json"), direct);
    }
    project.script("venv/bin/evaltest", "#!python3\n\"cargo-evaltest\"\n");
    let program = project.file("venv/bin/cargo-evaltest");
    let built = env!("CARGO_BIN_EXE_cargo-evaltest");
    // A link that is no name of the other file; elsewhere than on this disk a copy.
    if fs::hard_link(built, &program).is_err() {
        fs::copy(built, &program).unwrap();
    }
    program
}

#[test]
fn a_wheel_asks_cargo_for_no_library_that_nobody_published() {
    if !env!("CARGO_PKG_REPOSITORY").is_empty() {
        return;
    }
    let tools = Project::new();
    let program = wheel(&tools, Some("file:///tmp/my%20wheels/a.whl"));
    let project = Project::new();
    project.write("Cargo.toml", MANIFEST);
    project.write("src/lib.rs", "");
    let run = |line: &str| {
        let mut command = Command::new(&program);
        command
            .args(line.split_whitespace())
            .current_dir(project.path());
        without_surroundings(&mut command);
        Ran::of(&command.output().unwrap())
    };
    run("init --ci github")
        .exits(0)
        .says("created  evals/example.yaml")
        .says(
            "note     Cargo.toml is unchanged: it is unknown from where cargo can install the library",
        )
        .says("for `cargo test`: cargo add --dev evaltest")
        .says("other machines do not have /tmp/my wheels/a.whl");
    assert_eq!(project.read("Cargo.toml"), MANIFEST);
    assert!(!project.file("tests").exists());
    let text = project.read(".github/workflows/evaltest.yml");
    assert!(
        text.contains("pip install '/tmp/my wheels/a.whl'\n"),
        "{text}"
    );
    // A library that is there gets its test.
    let known = format!("{MANIFEST}\n[dev-dependencies]\nevaltest.path = \"../e\"\n");
    project.write("Cargo.toml", known);
    run("init --name example")
        .exits(0)
        .says("created  tests/example.rs");
    assert!(project.read("Cargo.toml").contains("[[test]]"));
}

#[test]
fn a_schema_of_another_version_is_written_anew() {
    const SCHEMA: &str = "evals/evaltest.schema.json";
    let project = Project::new();
    project
        .run("init")
        .exits(0)
        .says("created  evals/evaltest.schema.json");
    let ours = project.read(SCHEMA);
    project
        .run("init")
        .exits(0)
        .says("kept     evals/evaltest.schema.json");
    project.write(SCHEMA, ours.replace("timeout_s", "deadline_s"));
    project
        .run("init")
        .exits(0)
        .says("changed  evals/evaltest.schema.json (was from another version)");
    assert_eq!(project.read(SCHEMA), ours);
    // One with kinds of one's own is not.
    let own = project.run("schema --own-agent mine").exits(0).out;
    project.write(SCHEMA, &own);
    project
        .run("init")
        .exits(0)
        .says("kept     evals/evaltest.schema.json");
    assert_eq!(project.read(SCHEMA), own);
}
