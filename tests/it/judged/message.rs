//! What a run with a judge says at its end, and what it says to type next.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::court::{Court, number, points};
use crate::project::Ran;
use crate::server::{Answer, Request, chat, fine, refusal};

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
    Court::as_second_scorer(4, more, move |request, _| {
        if number(request) < readable {
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
    assert_eq!(next(&ran), "cargo evaltest show e q002");
    ran.says("  without a verdict of `judge` (2):\n    q002 and 1 more: invalid_response_format: ")
        .says_nothing_of("gave no verdict on any");
    // Without the answers in memory, too.
    let again = court.project.run(&format!("gate -v {dir}")).exits(0);
    again.says("  without a verdict of `judge` (2):\n    q002 and 1 more: ");
    let output = court.project.run(&format!("show {dir}")).exits(0);
    let unread: Vec<_> = output
        .out
        .lines()
        .filter(|line| line.starts_with("unread"))
        .collect();
    assert_eq!(unread.len(), 2, "{}", output.out);
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

#[test]
fn what_to_type_where_the_judge_never_replied_has_it_asked_again() {
    for is_first in [true, false] {
        let broken = |request: &Request, _: usize| match number(request) {
            0 => fine(&points(4)),
            _ => refusal("500 Internal Server Error", "out of memory"),
        };
        let limits = "limits: { retries: 0 }\ngates: ['accuracy(judge) >= 0.9']\n";
        let court = if is_first {
            Court::new(4, limits, broken)
        } else {
            Court::as_second_scorer(4, limits, broken)
        };
        let ran = court.run("eval.yaml").exits(3);
        let dir = dir(&court);
        assert_eq!(next(&ran), format!("cargo evaltest run --resume {dir}"));
        ran.says(&format!("`cargo evaltest run --resume {dir}`"))
            .says_nothing_of("RUN_DIR");
        // The answers scored again are no run that could go on.
        let rescored = court.project.run(&format!("rescore {dir}"));
        assert!(!next(&rescored).contains("--resume"), "{}", rescored.out);
    }
}

#[test]
fn what_to_do_where_it_replied_with_no_verdict_is_no_resume() {
    let cures = [
        (
            "length",
            "Merit:",
            "for `truncated` give the judge's agent a larger `max_tokens`",
        ),
        (
            "stop",
            "Rather good.",
            "for `invalid_response_format` use another model",
        ),
    ];
    for (finish, text, cure) in cures {
        for is_first in [true, false] {
            let act = move |request: &Request, _: usize| {
                let mut reply = chat(text);
                reply["choices"][0]["finish_reason"] = finish.into();
                fine(&if number(request) > 1 {
                    reply
                } else {
                    points(4)
                })
            };
            let gate = "gates: ['accuracy(judge) >= 0.9', 'error_rate <= 1']\n";
            let court = if is_first {
                Court::new(4, gate, act)
            } else {
                Court::as_second_scorer(4, gate, act)
            };
            let ran = court.run("eval.yaml").exits(3);
            let dir = dir(&court);
            assert_eq!(next(&ran), "cargo evaltest show e q002");
            let rescore = format!("`cargo evaltest rescore {dir} --spec SPEC`");
            ran.says(cure)
                .says(&rescore)
                .says_nothing_of("--resume")
                // That is for `--verbose`.
                .says_nothing_of("an agent with a true accuracy");
        }
    }
}

#[test]
fn an_answer_that_waits_for_a_judge_is_neither_unanswered_nor_not_asked() {
    let court = Court::new(6, "", |request, _| match number(request) {
        0 | 1 => fine(&points(4)),
        _ => refusal("401 Unauthorized", "Incorrect API key provided"),
    });
    let ran = court.run("eval.yaml").exits(3);
    let dir = dir(&court);
    assert_eq!(next(&ran), format!("cargo evaltest run --resume {dir}"));
    let ran = ran
        .says("e: 2 of 3 correct, ")
        .says("(1 answered and not judged, 3 samples not asked)");
    assert!(ran.out.contains("not asked or not judged"), "{}", ran.out);
    assert_eq!(court.summary()["not_judged"], 1);
    court
        .project
        .run(&format!("gate -v {dir}"))
        .exits(3)
        .says("(1 answered and not judged, 3 samples not asked)");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_whose_answers_nobody_judged_goes_on() {
    let limits = "limits: { concurrency: 4 }\n";
    let court = Court::new(4, limits, |_, _| Answer::Never(Duration::from_secs(20)));
    let mut command = court.project.command("run eval.yaml");
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while court.judged() < 4 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let ran = Ran::of(&child.wait_with_output().unwrap()).exits(130);
    let resume = format!("cargo evaltest run --resume {}", dir(&court));
    assert_eq!(next(&ran), resume);
    ran.says("(4 answered and not judged)");
}

#[test]
fn another_model_behind_the_judges_name_is_pinned_or_accepted() {
    let gates = "gates: [no_regression(max_drop=0.5)]\n";
    let court = Court::new(6, gates, |_, n| {
        let mut reply = points(4);
        if n > 5 {
            reply["model"] = "tiny-2027".into();
        }
        fine(&reply)
    });
    court.run("eval.yaml").exits(0);
    court
        .project
        .run(&format!("accept {}", dir(&court)))
        .exits(0);
    let ran = court.run("eval.yaml").exits(3);
    let expect = format!(
        "pin the version of the judge's model in the spec, or accept this run: cargo evaltest accept {}",
        dir(&court)
    );
    assert_eq!(next(&ran), expect);
}

#[test]
fn accepting_verdicts_of_another_judge_asks_for_no_gate_that_the_spec_has() {
    let court = Court::new(6, "gates: [no_regression(max_drop=0.5)]\n", |_, _| {
        fine(&points(4))
    });
    court
        .run("eval.yaml")
        .exits(0)
        .says("\n  - no_regression(max_drop=0.5)  not checked: no baseline yet\n");
    let accept = || {
        court
            .project
            .run(&format!("accept {}", dir(&court)))
            .exits(0)
    };
    accept().says_nothing_of("no gate compares");
    court.edit("temperature: 0", "temperature: 1");
    court
        .project
        .run(&format!("rescore -v {} --spec eval.yaml", dir(&court)))
        .exits(0);
    accept().says_nothing_of("no gate compares");
    court
        .run("eval.yaml")
        .exits(0)
        .says("✓ no_regression(max_drop=0.5)");
}

#[test]
fn another_judge_than_the_baselines_is_told_with_what_differs_and_how_to_go_on() {
    let court = Court::new(6, "gates: [no_regression(max_drop=0.5)]\n", |_, _| {
        fine(&points(4))
    });
    court.run("eval.yaml --run-id first").exits(0);
    let (project, first) = (&court.project, dir(&court));
    project.run("accept first").exits(0);
    court.edit("model: judge-1", "model: judge-2");
    let rescore = format!("cargo evaltest rescore {first} --spec eval.yaml; check");
    for command in ["run eval.yaml", "run eval.yaml --dry-run"] {
        project
            .run(command)
            .exits(2)
            .says("; scorer `judge`: agent.model `judge-1` → `judge-2`")
            .says(&rescore)
            .says_nothing_of("--ignore-baseline");
    }
    let mut ci = project.command("run eval.yaml --ignore-baseline");
    Ran::of(&ci.env("CI", "1").output().unwrap())
        .exits(1)
        .says("✗ no_regression(max_drop=0.5)  the baseline was ignored (`--ignore-baseline`), and `CI` is set");
    project
        .run("run eval.yaml --ignore-baseline")
        .exits(0)
        .says("- no_regression(max_drop=0.5)  not checked: the baseline was ignored");
    project.run("runs").exits(0);
    // The spec has no scorer that was given by `--set`.
    project
        .run("run eval.yaml --set scorers=[exact]")
        .exits(2)
        .says("; scorer `exact`: `judge` → `exact`")
        .says(&format!("(cargo evaltest rescore {first} --scorer NAME)"))
        .says_nothing_of("--spec");
    // Where the run is gone, its id must do.
    let (there, away) = (project.file(&first), project.file("away"));
    std::fs::rename(&there, &away).unwrap();
    project
        .run("run eval.yaml")
        .exits(2)
        .says("where that run is: cargo evaltest rescore first --spec eval.yaml");
    std::fs::rename(&away, &there).unwrap();
    project.run("rescore first --spec eval.yaml").exits(0);
}

#[test]
fn a_run_is_found_by_its_id_and_by_the_name_of_its_folder() {
    let court = Court::new(3, "", |_, _| fine(&points(4)));
    court.run("eval.yaml --run-id first").exits(0);
    let dir = court.dir();
    let folder = dir.file_name().unwrap().to_string_lossy().into_owned();
    for name in ["first", &folder] {
        court.project.run(&format!("show {name} q000")).exits(0);
        court.run(&format!("--resume {name}")).exits(0);
    }
    assert_eq!((court.judged(), court.answered()), (3, 3));
}
