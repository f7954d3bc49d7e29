//! A dataset that changes while a run goes on.

use std::fmt::Write;
use std::fs;

use crate::project::Project;
use crate::requested;

/// Enough questions, of this length, that they are not held in memory.
const NUMBER: u32 = 70;
const LONG: usize = 1 << 18;

/// A project with a large dataset, whose agent changes a letter of the question of q050 when it is asked q003.
fn project() -> Project {
    let change = "[ \"$EVALTEST_SAMPLE_ID\" != q003 ] || ./change.sh";
    let project = requested::project(1, change, "limits: { concurrency: 1 }\n");
    let long = "why ".repeat(LONG / 4);
    let (mut text, mut place) = (String::new(), 0);
    for number in 0..NUMBER {
        let _ = writeln!(
            text,
            r#"{{"task_id": "q{number:03}", "Question": "{long}?", "Level": 1, "Final answer": "{number:03}"}}"#
        );
        if number == 50 {
            place = text.len() - 100;
        }
    }
    project.write("data.jsonl", &text);
    let change = format!("printf X | dd of=data.jsonl bs=1 seek={place} conv=notrunc 2> /dev/null");
    project.script("change.sh", &format!("#!/bin/sh\n{change}\n"));
    project
}

#[test]
fn a_row_that_changes_during_a_run_is_not_asked() {
    let project = project();
    let before = fs::read(project.file("data.jsonl")).unwrap();
    let row = "data.jsonl:51: the row changed after the dataset was read";
    project.run("run eval.yaml").exits(3).says(row);
    let requested = requested::requested(&project);
    assert_eq!(requested.len(), 50, "{requested:?}");
    let dir = project.last_run();
    // With the dataset as it was, nothing that was asked is asked again.
    fs::write(project.file("data.jsonl"), before).unwrap();
    let resume = format!("run eval.yaml --resume {}", dir.display());
    project.run(&resume).exits(0);
    let requested = requested::requested(&project);
    assert_eq!(requested.len(), NUMBER as usize, "{requested:?}");
    assert_eq!(project.last_json("summary.json")["correct"], NUMBER);
}
