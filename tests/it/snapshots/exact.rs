//! `exact` under `cargo evaltest`: insta's own assertion, as under `cargo test`.

use super::{answers, edit, of, project};
use crate::project::{Project, Ran, all_files};

/// Under `exact`.
fn exact(answers: &str) -> Project {
    let project = project(1, "");
    edit(
        &project,
        "e.yaml",
        "answers: plain",
        &format!("answers: {answers}, assert: exact"),
    );
    project
}

/// What waits for review.
fn pending(project: &Project) -> Vec<String> {
    let files = all_files(&project.file("snapshots/old"));
    let names = files.iter().map(|file| file.to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".snap.new")).collect();
    names.sort();
    names
}

#[test]
fn exact_shows_the_difference_and_leaves_it_for_review() {
    let project = exact("plain");
    project.run("run e.yaml").exits(1);
    project.run("accept").exits(0);
    assert!(pending(&project).is_empty());
    answers(&project, ["2", "8", "4"]);
    let ran = project
        .run("run e.yaml")
        .exits(1)
        .says("  failed assertion (1):\n    b: differs from its snapshot\n")
        .says("-prediction: \"9\"")
        .says("+prediction: \"8\"")
        .says("accept them: cargo insta review, or a whole run: cargo evaltest accept");
    assert!(!ran.out.contains("-prediction: \"2\""), "{}", ran.out);
    let new = of(&project, "1a/b.snap.new");
    assert!(
        new.starts_with("---\nsource: evaltest\n") && new.contains("\"8\""),
        "{new}"
    );
    assert!(of(&project, "1a/b.snap").contains("\"9\""));
    let text = std::fs::read_to_string(project.last_run().join("summary.md")).unwrap();
    assert!(
        text.contains(
            "## Failed assertions\n\n1 of 3 samples.\n\nb: differs from its snapshot\n\n"
        ) && text.contains("+prediction: \"8\"\n"),
        "{text}"
    );
    let dir = project.last_run();
    let again = project.run(&format!("summarize {} --markdown", dir.display()));
    again.exits(0).says("## Failed assertions").says("\nb\n");

    // JSON stays JSON.
    let json = project.run("run e.yaml --json").exits(1).json();
    assert_eq!(
        json["runs"][0]["failed_assertions"],
        serde_json::json!(["b"])
    );

    // What is mended waits no longer.
    answers(&project, ["2", "9", "4"]);
    project
        .run("run e.yaml")
        .exits(0)
        .says_nothing_of("assertion");
    assert!(pending(&project).is_empty());
}

#[test]
fn exact_does_what_the_variables_of_insta_say() {
    let project = exact("plain");
    project.run("run e.yaml");
    project.run("accept").exits(0);
    answers(&project, ["2", "8", "4"]);
    let run = |variable: (&str, &str)| {
        let mut command = project.command("run e.yaml");
        Ran::of(&command.env(variable.0, variable.1).output().unwrap())
    };
    for variable in [("CI", "1"), ("INSTA_UPDATE", "no")] {
        run(variable).exits(1).says("+prediction: \"8\"");
        assert!(pending(&project).is_empty(), "{variable:?}");
    }
    run(("INSTA_UPDATE", "always"))
        .exits(0)
        .says_nothing_of("failed assertion");
    assert!(pending(&project).is_empty());
    let snapshot = of(&project, "1a/b.snap");
    assert!(snapshot.starts_with("---\nsource: evaltest\n") && snapshot.contains("\"8\""));
}

#[test]
fn exact_without_snapshots_says_how_to_accept() {
    for kind in ["plain", "masked"] {
        let project = exact(kind);
        project
            .run("run e.yaml --set gates=[]")
            .exits(1)
            .says("failed assertion (3):\n    a: has no snapshot\n    b: has no snapshot\n")
            .says("or a whole run: cargo evaltest accept");
        assert_eq!(pending(&project).len(), 3);
        for file in pending(&project) {
            let text = std::fs::read_to_string(file).unwrap();
            assert_eq!(text.contains("What is"), kind == "plain", "{text}");
            assert_eq!(text.contains("(masked)"), kind == "masked", "{text}");
        }
        project.run("accept").exits(0);
        assert!(pending(&project).is_empty());
        // An outage fails no assertion, and what was said before waits for nobody.
        let line = project.read("r.jsonl").lines().next().unwrap().to_owned();
        project.write("r.jsonl", line);
        project
            .run("run e.yaml --set gates=[]")
            .exits(3)
            .says_nothing_of("failed assertion");
        assert!(pending(&project).is_empty());
    }
}
