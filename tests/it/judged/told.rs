//! What a run with a judge says at its end, and what it says to type next.

use super::court::{Court, number, points};
use crate::project::Ran;
use crate::server::{chat, fine};

/// Its `next:` line.
fn next(ran: &Ran) -> String {
    let all = ran.out.clone() + &ran.err;
    let mut lines = all.lines();
    let line = lines.find_map(|line| line.trim_start().strip_prefix("next: "));
    line.unwrap_or("nothing").to_owned()
}

fn dir(court: &Court) -> String {
    let dir = court.dir();
    let dir = dir.strip_prefix(court.project.path()).unwrap_or(&dir);
    dir.display().to_string()
}

/// Cannot be read, but for the questions up to this one.
fn court_of(readable: u32, more: &str) -> Court {
    Court::beside(4, more, move |asked, _| {
        if number(asked) < readable {
            fine(&points(4))
        } else {
            fine(&chat("Rather good."))
        }
    })
}

const WITHOUT: &str = "gates: ['accuracy >= 0.5']\n";

#[test]
fn answers_that_a_judge_beside_the_first_did_not_judge_are_listed_with_the_reason() {
    let court = court_of(2, WITHOUT);
    let ran = court.run("eval.yaml").exits(0);
    let dir = dir(&court);
    assert_eq!(next(&ran), format!("cargo evaltest show {dir} q002"));
    ran.says("  without a verdict of `judge` (2):\n    q002 and 1 more: invalid_response_format: ")
        .says_nothing_of("gave no verdict on any");
    // Without the answers in memory, too.
    let again = court.project.run(&format!("gate {dir}")).exits(0);
    again.says("  without a verdict of `judge` (2):\n    q002 and 1 more: ");
    let shown = court.project.run(&format!("show {dir}")).exits(0);
    let unread: Vec<_> = shown
        .out
        .lines()
        .filter(|line| line.starts_with("unread"))
        .collect();
    assert_eq!(unread.len(), 2, "{}", shown.out);
    assert!(
        unread[1].starts_with("unread by `judge` q003  invalid_response_format: "),
        "{}",
        unread[1]
    );
}

#[test]
fn a_judge_that_judged_nothing_is_told_of_though_no_gate_asks() {
    let court = court_of(0, WITHOUT);
    court
        .run("eval.yaml")
        .exits(0)
        .says("note: judge `judge` gave no verdict on any of 4 answers");
}
