//! A run of flags alone: where it stands, and what its flags say.

use std::fs;

use serde_json::Value;

use super::{json_of, only, recorded, words};
use crate::project::Project;

/// The spec that the only run in a folder was made by.
fn config(project: &Project, folder: &str) -> Value {
    let run = only(&project.file(folder), "2", "");
    json_of(&run.join("manifest.json"))["config"].take()
}

#[cfg(unix)]
#[test]
fn a_run_without_a_spec_stands_where_it_was_typed_and_goes_on_there() {
    let project = Project::new();
    let item =
        r#"{"problem": "What is 1 + 1?", "answer": 2, "solution": "It is 2.", "topic": "Algebra"}"#;
    let fails = "pwd >> asked\n[ -e works ] || exit 1\n";
    for folder in ["", "below/"] {
        let write = |name: &str, text: &str| project.write(&format!("{folder}{name}"), text);
        write("g.sh", &format!("{fails}cat <<'END'\n{item}\nEND\n"));
        let at = project.file(folder);
        let run = |arguments: &[&str]| {
            let mut command = project.command("generate");
            command.args(arguments).current_dir(&at);
            let made = command.output().unwrap();
            let stderr = String::from_utf8_lossy(&made.stderr).into_owned();
            (made.status.code(), stderr)
        };
        let agent = "{type: command, command: [sh, g.sh]}";
        let (code, stderr) = run(&[
            "aime", "--agent", agent, "--count", "1", "--topics", "Algebra", "--output", "out",
        ]);
        assert_eq!(code, Some(3), "{stderr}");
        write("works", "");
        let dir = only(&at.join("out"), "2", "");
        let dir = dir.to_str().unwrap();
        let (code, stderr) = run(&["aime", "--resume", dir]);
        assert_eq!(code, Some(0), "{stderr}");
        let requested = fs::read_to_string(at.join("asked")).unwrap();
        let home = fs::canonicalize(&at).unwrap();
        let mut places = requested.lines().map(fs::canonicalize);
        assert!(places.all(|place| place.unwrap() == home), "{requested}");
        // There is no file that another run could be scored by.
        let (code, stderr) = run(&["--resume", dir, "--solver", "echo"]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(!stderr.contains("--spec"), "{stderr}");
    }
}

#[test]
fn a_delay_is_one_for_who_solves_the_items_too() {
    let project = recorded();
    let flags = "generate aime --agent echo --count 1 --delay-s 0.5";
    project
        .run(&format!("{flags} --solver echo --output flag"))
        .exits(1);
    let made = config(&project, "flag");
    assert_eq!(made["limits"]["requests_per_minute"], 120.0);
    assert_eq!(made["benchmark"]["solver"]["requests_per_minute"], 120.0);
    project.run(&format!("{flags} --output none")).exits(1);
    assert_eq!(config(&project, "none")["benchmark"]["solver"], Value::Null);
    // In a spec it is there or not.
    let solver = "  solver: { agent: echo, shows: [word], requests_per_minute: 7 }\n";
    let spec = words("echo", "").replace("agent: echo", &format!("{solver}agent: echo"));
    project.write("words.yaml", spec);
    for (delay, rate) in [("0.01", Value::from(6000.0)), ("0", Value::Null)] {
        let folder = format!("spec-{delay}");
        project
            .run(&format!(
                "generate words.yaml --count 1 --delay-s {delay} --output {folder}"
            ))
            .exits(1);
        let made = config(&project, &folder);
        assert_eq!(made["benchmark"]["solver"]["requests_per_minute"], rate);
        assert_eq!(made["limits"]["requests_per_minute"], rate);
    }
}
