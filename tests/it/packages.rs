//! What is published: the names of archives, the workflows, the wheel's shim.

use std::fs;
use std::path::Path;
use std::process::Command;

use needs::needs;
use serde_yaml::Value;

use crate::project::{all_files, root};

/// What a part of `.ci/release` prints.
fn release(arguments: &[&str]) -> String {
    let output = Command::new(root().join(".ci/release"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The value of a `key = "…"`.
fn value<'a>(manifest: &'a str, key: &str) -> &'a str {
    let start = format!("{key} = \"");
    let line = manifest.lines().find_map(|line| line.strip_prefix(&start));
    let line = line.unwrap_or_else(|| panic!("no `{key}`"));
    &line[..line.find('"').unwrap()]
}

fn workflow(name: &str) -> Value {
    serde_yaml::from_str(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The targets that the release workflow builds.
fn targets() -> Vec<String> {
    let workflow = workflow(".github/workflows/release.yml");
    let matrix = &workflow["jobs"]["build"]["strategy"]["matrix"]["include"];
    let matrix = matrix.as_sequence().unwrap();
    let target = |entry: &Value| entry["target"].as_str().unwrap().to_owned();
    matrix.iter().map(target).collect()
}

#[needs(bash)]
#[test]
fn binstall_asks_for_the_archives_that_a_release_has() {
    let manifest = read("cargo-evaltest/Cargo.toml");
    let targets = targets();
    for system in ["linux-gnu", "linux-musl", "apple-darwin"] {
        assert!(
            targets.iter().any(|target| target.ends_with(system)),
            "{targets:?}"
        );
    }
    for target in &targets {
        let filled = |key: &str| {
            value(&manifest, key)
                .replace("{ name }", "cargo-evaltest")
                .replace("{ version }", env!("CARGO_PKG_VERSION"))
                .replace("{ target }", target)
                .replace("{ bin }", "cargo-evaltest")
                .replace("{ binary-ext }", "")
        };
        let name = release(&["name", target]);
        assert_eq!(
            filled("pkg-url"),
            format!(
                "{{ repo }}/releases/download/v{}/{name}.tar.gz",
                env!("CARGO_PKG_VERSION")
            )
        );
        assert_eq!(filled("bin-dir"), format!("{name}/cargo-evaltest"));
    }
}

#[test]
fn the_repository_stands_in_one_place() {
    for manifest in [
        "Cargo.toml",
        "cargo-evaltest/Cargo.toml",
        "cargo-evaltest/javascript-grammar/Cargo.toml",
        "cargo-evaltest/python-constants/Cargo.toml",
        "cargo-evaltest/xml-names/Cargo.toml",
    ] {
        let manifest = read(manifest);
        assert!(manifest.contains("\nrepository.workspace = true\n"));
        for key in ["homepage", "repository"] {
            let lines = manifest
                .lines()
                .filter(|line| line.starts_with(&format!("{key} =")));
            let most = usize::from(key == "repository" && manifest.contains("[workspace.package]"));
            assert!(lines.count() <= most, "{key}");
        }
    }
}

/// Every `run:` of a workflow, with the workflow's name.
fn scripts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Mapping(map) => {
            for (key, value) in map {
                match value.as_str() {
                    Some(script) if key.as_str() == Some("run") => found.push(script.to_owned()),
                    _ => scripts(value, found),
                }
            }
        }
        Value::Sequence(values) => values.iter().for_each(|value| scripts(value, found)),
        _ => {}
    }
}

#[test]
fn workflows_call_scripts_that_are_there_and_pin_what_they_use() {
    use std::os::unix::fs::PermissionsExt;
    let mut called = 0;
    let written = "cargo-evaltest/src/command/init/ci/";
    for path in [".github", written]
        .iter()
        .flat_map(|folder| all_files(&root().join(folder)))
    {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let mut found = Vec::new();
        if !name.starts_with(written) {
            scripts(&workflow(&name), &mut found);
        }
        let words = found
            .iter()
            .flat_map(|script| script.split(|c: char| c.is_whitespace() || "()\"$;".contains(c)));
        for script in words.filter(|word| word.starts_with(".ci/")) {
            let file = root().join(script);
            let mode = fs::metadata(&file)
                .unwrap_or_else(|error| panic!("{name}: {script}: {error}"))
                .permissions()
                .mode();
            assert!(mode & 0o111 != 0, "{script} cannot be executed");
            called += 1;
        }
        for line in text.lines().filter_map(|line| line.split_once("uses: ")) {
            let (_, action) = line;
            let hash = action.split(['@', ' ']).nth(1).unwrap_or_default();
            assert!(
                action.starts_with("./") || (hash.len() == 40 && action.contains(" # v")),
                "{name}: {action}"
            );
        }
    }
    assert!(called >= 8, "{called}");
}

#[test]
fn parts_of_a_release_that_the_workflow_asks_for_are_parts_of_the_script() {
    let script = read(".ci/release");
    let mut found = Vec::new();
    scripts(&workflow(".github/workflows/release.yml"), &mut found);
    for requested in found
        .iter()
        .flat_map(|text| text.split(".ci/release ").skip(1))
    {
        let part = requested.split_whitespace().next().unwrap();
        assert!(script.contains(&format!("\n{part}() {{\n")), "{part}");
    }
}

/// What may publish runs no code that nobody looked at, and only for a tag that was pushed.
#[test]
fn a_release_publishes_pushed_tags_and_builds_nothing_beside_its_secrets() {
    let workflow = workflow(".github/workflows/release.yml");
    let job = |name: &str| &workflow["jobs"][name];
    let condition = job("publish")["if"].as_str().unwrap();
    for part in ["github.event_name == 'push'", "github.ref_type == 'tag'"] {
        assert!(condition.contains(part), "{condition}");
    }
    for name in ["crates", "wheels"] {
        assert_eq!(job(name)["needs"].as_str(), Some("publish"));
    }
    let steps = job("crates")["steps"].as_sequence().unwrap();
    let has_token = |step: &Value| step["env"].get("CARGO_REGISTRY_TOKEN").is_some();
    assert!(job("crates")["env"].is_null());
    let place = steps.iter().position(has_token).unwrap();
    let script = |place: usize| steps[place]["run"].as_str().unwrap();
    assert!(script(place).contains("--no-verify"), "{}", script(place));
    assert!(!has_token(&steps[place - 1]));
    assert!(script(place - 1).contains("--workspace --locked --dry-run"));

    let mut found = Vec::new();
    scripts(job("wheels"), &mut found);
    let installs: Vec<_> = found
        .iter()
        .flat_map(|script| script.lines())
        .filter(|line| line.contains("/pip\" install"))
        .collect();
    assert_eq!(installs.len(), 1, "{found:?}");
    assert!(installs[0].contains("--require-hashes"), "{installs:?}");
}

/// The script `evaltest` of the wheel hands on arguments, exit code and name.
#[needs(python3)]
#[test]
fn the_shim_of_the_wheel_starts_the_program_under_its_short_name() {
    // By which `init` knows a wheel.
    let text = read("cargo-evaltest/wheel/scripts/evaltest");
    assert!(text.starts_with("#!") && text.contains("\"cargo-evaltest\""));
    let folder = tempfile::tempdir().unwrap();
    let shim = folder.path().join("evaltest");
    fs::copy(root().join("cargo-evaltest/wheel/scripts/evaltest"), &shim).unwrap();
    std::os::unix::fs::symlink(
        env!("CARGO_BIN_EXE_cargo-evaltest"),
        folder.path().join("cargo-evaltest"),
    )
    .unwrap();
    // As `pipx` does, from another folder.
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("evaltest");
    std::os::unix::fs::symlink(&shim, &link).unwrap();
    let run = |path: &Path, argument: &str| {
        let output = Command::new("python3")
            .args([path.as_os_str(), argument.as_ref()])
            .current_dir(elsewhere.path())
            .output();
        crate::project::Ran::of(&output.unwrap())
    };
    run(&shim, "--version").exits(0).says("evaltest 0");
    run(&link, "list")
        .exits(2)
        .says("hint: evaltest init")
        .says_nothing_of("cargo evaltest");
}
