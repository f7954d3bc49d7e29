//! `report`: what runs say, in files for people.

use std::fs;

use crate::project::Project;
use crate::requested;

fn project(more: &str) -> Project {
    let project = requested::project(4, "", "");
    project.spec("{ type: command, command: [./agent.sh] }", more);
    project.run("run eval.yaml --run-id one");
    project
}

#[test]
fn a_report_goes_to_standard_output_or_into_files() {
    let project = project("");
    let out = project.run("report").exits(0).out;
    assert!(out.starts_with("# "), "{out}");
    project.run("report one -o a/b.md").exits(0).says("a/b.md");
    assert_eq!(project.read("a/b.md"), out);
    let output = project.run("report one --format md -o dir/").exits(0).out;
    let file = output.trim();
    assert!(file.starts_with("dir/"), "{output}");
    assert_eq!(project.read(file), out);
    let remaining: Vec<_> = fs::read_dir(project.file("dir")).unwrap().collect();
    assert_eq!(remaining.len(), 1, "{remaining:?}");
    // However many are written in one second, each is kept.
    for _ in 0..4 {
        project.run("report one --format md -o dir/").exits(0);
    }
    let remaining: Vec<_> = fs::read_dir(project.file("dir")).unwrap().collect();
    assert_eq!(remaining.len(), 5, "{remaining:?}");
    for file in remaining {
        assert_eq!(fs::read_to_string(file.unwrap().path()).unwrap(), out);
    }
}

#[test]
fn a_run_that_was_fetched_from_elsewhere_says_the_same() {
    let project = project("gates: [no_regression]\n");
    project.run("accept one").exits(0);
    project.run("run eval.yaml --run-id two");
    let here = project.run("report two").exits(0).out;
    assert!(here.contains("`no_regression`"), "{here}");
    let moved = project.file("elsewhere");
    fs::rename(project.last_run(), &moved).unwrap();
    fs::remove_dir_all(project.file("snapshots")).unwrap();
    let there = project.run("report ./elsewhere").exits(0).out;
    assert_eq!(there, here);
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is() {
    let project = project("");
    project
        .run("report one --format mdd")
        .exits(2)
        .says("'mdd'");
    project
        .run("report one -o report.docx")
        .exits(2)
        .says("no format has the file extension of `report.docx`");
    project
        .run("report one --format md --format md -o a.md")
        .exits(2)
        .says("format `md` has no output file");
    assert!(!project.file("a.md").exists());
    let run = project.last_run();
    let records = fs::read_to_string(run.join("samples.jsonl")).unwrap();
    fs::write(
        run.join("samples.jsonl"),
        records.replacen("true", "false", 1),
    )
    .unwrap();
    project.run("report one").exits(2).says("repair");
}
