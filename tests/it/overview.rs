//! The table at the end of a command that ran several evals.

use needs::needs;

use crate::project::{Project, Ran};
use crate::terminal::on_terminal;

/// Ten evals: `worse` flipped, `none` cannot start, `fails` has no answer, the others pass.
fn project() -> Project {
    let project = Project::with_eval(
        &[
            ("q1", 1, "One?", "1"),
            ("q2", 1, "Two?", "1"),
            ("q3", 2, "Three?", "1"),
        ],
        "{ type: echo, text: '1' }",
        "gates: ['accuracy >= 0.5']\n",
    );
    let spec = project.read("eval.yaml");
    for name in ["a", "b", "worse"] {
        let spec = spec.replace("name: e", &format!("name: {name}"));
        project.write(
            &format!("evals/{name}.yaml"),
            spec.replace("data.jsonl", "../data.jsonl"),
        );
    }
    project
}

fn last_line(ran: &Ran) -> &str {
    ran.out.lines().last().unwrap_or_default()
}

#[test]
fn several_evals_are_a_table_and_what_failed_is_told_in_full() {
    let project = project();
    let ran = project.run("run evals").exits(0);
    let lines: Vec<_> = ran.out.lines().collect();
    // Nothing but the table: a blank line, the heads, a row each, all of them, the end.
    assert_eq!(lines.len(), 7, "{}", ran.out);
    assert!(lines[1].starts_with("eval   samples"), "{}", ran.out);
    assert!(lines[2].starts_with("a            3  "), "{}", ran.out);
    assert!(lines[2].contains("100.0 %"), "{}", ran.out);
    assert!(lines[2].ends_with("2 ✓"), "{}", ran.out);
    assert_eq!(last_line(&ran), "3 evals, exit code 0");
    // With all there is to say.
    project
        .run("run evals --verbose")
        .exits(0)
        .says("gate accuracy >= 0.5: passed")
        .says("a: 3 samples, 3 correct")
        .says("3 evals, exit code 0");
}

#[test]
fn the_last_line_says_which_failed_and_what_to_type() {
    let project = project();
    project.run("run evals").exits(0);
    project.run("accept").exits(0);
    let spec = project
        .read("evals/worse.yaml")
        .replace("text: '1'", "text: '2'");
    project.write("evals/worse.yaml", spec);
    let ran = project.run("run evals").exits(1);
    let ran = ran
        .says("✗ accuracy >= 0.5")
        .says("became wrong (3):")
        .says_nothing_of("✓ a")
        .says_nothing_of("✓ error_rate");
    let mut lines = ran.out.lines();
    let row = lines.rfind(|line| line.starts_with("worse ")).unwrap();
    assert!(row.contains("−100.0"), "{row}");
    assert!(row.ends_with("✗"), "{row}");
    let last = last_line(&ran);
    assert!(
        last.starts_with("3 evals, exit code 1; failed: `worse`; next: cargo evaltest show "),
        "{last}"
    );
    assert!(last.ends_with(" q1"), "{last}");
}

#[test]
fn an_eval_that_cannot_start_is_a_row() {
    let project = project();
    // Its folder of runs is a file.
    project.write("file", "");
    let spec = project.read("evals/b.yaml") + "output_root: ../file\n";
    project.write("evals/b.yaml", spec);
    let ran = project.run("run evals");
    assert_ne!(ran.code, Some(0));
    let row = ran
        .out
        .lines()
        .find(|line| line.starts_with("b  "))
        .expect("a row");
    assert!(row.contains("not run"), "{row}");
    assert!(last_line(&ran).contains("`b`"), "{}", ran.out);
    let rows = ran
        .out
        .lines()
        .filter(|line| line.contains("100.0 %"))
        .count();
    assert_eq!(rows, 2, "the others ran: {}", ran.out);
}

#[test]
fn colours_are_for_who_sees_them() {
    let project = project();
    let red_or_green = |ran: Ran| ran.out.contains("\x1b[3");
    assert!(!red_or_green(project.run("run evals")));
    assert!(red_or_green(project.run("run evals --color always")));
    assert!(red_or_green(project.run("run eval.yaml --color always")));
    let with = |variables: &[(&str, &str)], arguments: &str| {
        let mut command = project.command(arguments);
        command.envs(variables.iter().copied());
        red_or_green(Ran::of(&command.output().unwrap()))
    };
    assert!(with(&[("CLICOLOR_FORCE", "1")], "run evals"));
    assert!(!with(
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
        "run evals"
    ));
    assert!(!with(&[("CLICOLOR_FORCE", "1")], "run evals --color never"));
}

#[needs(python3)]
#[test]
fn a_terminal_has_colours_and_no_line_is_wider_than_it() {
    let project = project();
    let spec = project.read("evals/a.yaml");
    let name = "a-name-that-is-longer-than-any-that-one-would-want-to-read";
    project.write(
        "evals/a.yaml",
        spec.replace("name: a", &format!("name: {name}")),
    );
    let seen = on_terminal(&project.command("run evals"), 60);
    let table = seen
        .split("\r\n")
        .skip_while(|line| !line.contains("gates"))
        .take(5);
    for line in table {
        let plain = without_colours(line);
        assert!(plain.chars().count() <= 60, "{plain}");
    }
    assert!(seen.contains("\x1b[32m2 ✓"), "{seen}");
    assert!(seen.contains("a-name-tha…"), "{seen}");
}

/// A text as it is read.
fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split("\x1b[");
    plain += parts.next().unwrap_or_default();
    for part in parts {
        plain += part.split_once('m').map_or(part, |(_, rest)| rest);
    }
    plain
}
