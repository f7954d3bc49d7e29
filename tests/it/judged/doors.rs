//! A judge behind the other doors of an eval: `cargo test`, parts of a run, what failed before, flips.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::court::{Court, judge, lenient, number, points};
use crate::requested::{requested, times};
use crate::server::{Server, chat, fine};
use crate::trials;

#[test]
fn cargo_test_judges_as_the_command_does() {
    let server = Server::new(|requested, _| match number(requested) {
        1 => fine(&points(2)),
        2 => fine(&chat("Hm.")),
        _ => fine(&points(4)),
    });
    let scorers = format!("scorers: [{}]\n", judge(&server, ""));
    let more = format!("{scorers}gates: [accuracy(judge) >= 0.5, mean(judge.total) >= 4.9]\n");
    let project = trials::project(4, ":", &more);
    trials::edit(
        &project,
        "snapshot: { answers: plain }",
        "snapshot: { assert: correct }",
    );
    // Listing asks nobody.
    trials::run(&project, "--list")
        .exits(0)
        .says("e::gate::mean(judge.total)");
    assert_eq!(server.requested().len(), 0);
    let ran = trials::run(&project, "").exits(101);
    ran.says("test e::level1::q000")
        .says("invalid_response_format")
        .says("mean(judge.total) 3.3333 (over 3 samples of `judge`), limit 4.9");
    assert_eq!(server.requested().len(), 5, "4 answers, one of them twice");
    assert_eq!(requested(&project).len(), 4);
}

#[test]
fn a_part_of_a_run_judges_its_part_and_what_failed_is_asked_and_judged_again() {
    let court = Court::new(6, "", |requested, n| match number(requested) {
        1 => fine(&points(2)),
        2 if n < 8 => fine(&chat("Hm.")),
        _ => fine(&points(4)),
    });
    court.run("eval.yaml --limit 2").exits(0);
    assert_eq!((court.judged(), court.answered()), (2, 2));
    court.run("eval.yaml").exits(3);
    assert_eq!((court.judged(), court.answered()), (9, 8));
    let failed = format!("eval.yaml --failed {}", court.dir().display());
    court.run(&failed);
    let again = &requested(&court.project)[8..];
    assert_eq!(times(again, "q001"), 1);
    assert_eq!(times(again, "q002"), 1);
    assert_eq!((again.len(), court.judged()), (2, 11));
}

#[test]
fn a_dry_run_asks_no_judge() {
    let court = Court::of(3, lenient(), "", "");
    court.run("eval.yaml --dry-run").exits(0);
    assert_eq!((court.judged(), court.answered()), (0, 0));
}

#[test]
fn a_flip_is_confirmed_by_answers_that_are_judged_for_themselves() {
    // At first everything is right; then the judge finds question 1 wrong, and the last time it does not.
    let later = Arc::new(AtomicUsize::new(0));
    let later_rounds = Arc::clone(&later);
    let server = Server::new(move |requested, _| {
        let is_later = number(requested) == 1 && later_rounds.load(Relaxed) > 0;
        let round = if is_later {
            later_rounds.fetch_add(1, Relaxed)
        } else {
            0
        };
        fine(&points(if (1..3).contains(&round) { 2 } else { 4 }))
    });
    let more = format!("scorers: [{}]\n", judge(&server, ""));
    let project = trials::accepted(
        4,
        ":",
        &format!("{more}gates: [no_regression(max_drop=0.9)]\n"),
    );
    trials::edit(
        &project,
        "answers: plain",
        "answers: plain, flips: confirm, confirm: 3",
    );
    let before = server.requested().len();
    assert_eq!(before, 4);
    later.store(1, Relaxed);
    trials::run(&project, "")
        .exits(0)
        .says_nothing_of("asked 4 times");
    assert_eq!(times(&requested(&project), "q001"), 3);
    assert_eq!(
        server.requested().len() - before,
        6,
        "4 answers and 2 looks at a flip"
    );
    // The looks count in no figure.
    let first = |cached: u32| {
        let results = project.last_lines("samples.jsonl");
        assert_eq!(results[1]["result"]["score"]["details"]["merit"], 2);
        let summary = project.last_json("summary.json");
        assert_eq!(summary["judge"]["calls"], 4);
        assert_eq!(summary["judge"]["cached"], cached);
    };
    first(0);
    // A cache gives the first verdict, and no look.
    trials::edit(&project, "prompt: none", "prompt: none\ncache: true");
    for cached in [0, 4] {
        later.store(1 + usize::from(cached > 0), Relaxed);
        let before = server.requested().len();
        trials::run(&project, "").exits(0);
        assert_eq!(server.requested().len() - before, 6 - cached as usize);
        first(cached);
    }
}
