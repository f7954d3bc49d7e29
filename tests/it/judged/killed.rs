//! Runs that end while answers are judged, and go on.

use std::fs;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::court::{Court, is_again, judge, number, points};
use crate::project::json_lines;
use crate::requested;
use crate::server::{Server, chat, fine, refusal};
use crate::signals::send;
use crate::wait::until;

/// The numbers of questions of which a whole line of the journal has a reply.
fn replied(events: &str) -> Vec<u32> {
    let whole = events.rfind('\n').map_or("", |end| &events[..end]);
    let events = whole
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let judged = events.filter(|event| event["kind"] == "judged");
    judged
        .map(|event| event["sample_id"].as_str().unwrap()[1..].parse().unwrap())
        .collect()
}

#[test]
fn killed_at_any_moment_no_reply_is_lost_or_asked_for_again() {
    const SAMPLES: u32 = 24;
    let court = Court::new(SAMPLES, "limits: { concurrency: 4 }\n", |requested, _| {
        sleep(Duration::from_millis(15));
        fine(&points(1 + number(requested) % 5))
    });
    let mut in_flight = 0;
    let mut arguments = "run eval.yaml --run-id r".to_owned();
    for so_many in [4, 10, 16] {
        let before = court.judged();
        let mut command = court.project.command(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().unwrap();
        until("some were judged", || {
            court.judged() >= so_many.max(before + 1)
        });
        send("KILL", &run);
        run.wait().unwrap();
        // What the killed process had asked and not written down.
        sleep(Duration::from_millis(40));
        let events = fs::read_to_string(court.dir().join("events.jsonl")).unwrap();
        in_flight = court.judged() - replied(&events).len();
        assert!(in_flight <= 4 * 3, "{in_flight}");
        arguments = format!("run --resume {}", court.dir().display());
    }
    let events = fs::read_to_string(court.dir().join("events.jsonl")).unwrap();
    let on_disk = replied(&events);
    let before = court.judged();
    court.project.run(&arguments).exits(0);
    let requested = court.judge.requested();
    for again in &requested[before..] {
        assert!(
            !on_disk.contains(&number(again)),
            "{} was asked again",
            number(again)
        );
    }
    assert_eq!(requested.len(), SAMPLES as usize + in_flight);
    let results = court.results();
    for (number, result) in (0..).zip(&results) {
        assert_eq!(result["score"]["details"]["merit"], 1 + number % 5);
        assert_eq!(result["judged"].as_array().unwrap().len(), 1);
    }
    // No answer is asked for twice once it stands in the journal.
    let mut done = Vec::new();
    for event in json_lines(&court.dir().join("events.jsonl")) {
        match event["kind"].as_str() {
            Some("answered") => done.push(event["sample_id"].clone()),
            Some("started") => assert!(!done.contains(&event["sample_id"]), "{event}"),
            _ => {}
        }
    }
    // The whole run tells of every reply as if nothing had happened.
    assert_eq!(court.summary()["judge"]["calls"], SAMPLES);
}

#[test]
fn what_was_answered_and_never_judged_is_judged_when_the_run_goes_on() {
    let is_out = Arc::new(AtomicBool::new(true));
    let out = Arc::clone(&is_out);
    let court = Court::new(
        5,
        "limits: { retries: 0 }\n",
        move |requested, _| match number(requested) {
            // What it said stays: unreadable is a reply.
            0 => fine(&chat("Hm.")),
            1 | 2 if out.load(Relaxed) => refusal("500 Internal Server Error", "no"),
            _ => fine(&points(4)),
        },
    );
    court.run("eval.yaml").exits(3);
    assert_eq!((court.judged(), court.answered()), (6, 5));
    is_out.store(false, Relaxed);
    let resume = format!("--resume {}", court.dir().display());
    court.run(&resume).exits(3);
    assert_eq!((court.judged(), court.answered()), (8, 5));
    let results = court.results();
    let correct: Vec<_> = results
        .iter()
        .map(|result| result["score"]["correct"].clone())
        .collect();
    assert_eq!(
        correct,
        [
            Value::Null,
            true.into(),
            true.into(),
            true.into(),
            true.into()
        ]
    );
    court.run(&resume).exits(3);
    assert_eq!((court.judged(), court.answered()), (8, 5));
}

#[test]
fn a_torn_reply_is_asked_for_again_alone_and_a_damaged_line_is_told() {
    let court = Court::new(4, "", |_, _| fine(&points(4)));
    court.run("eval.yaml").exits(0);
    let journal = court.dir().join("events.jsonl");
    let events = fs::read_to_string(&journal).unwrap();
    let last = events.rfind("\"kind\":\"judged\"").unwrap();
    fs::write(&journal, &events[..last + 40]).unwrap();
    let resume = format!("--resume {}", court.dir().display());
    court.run(&resume).exits(0);
    assert_eq!((court.judged(), court.answered()), (5, 4));
    assert_eq!(number(&court.judge.requested()[4]), 3);
    // In the middle, too; but the verdict behind it is there, and nobody is asked.
    let broken = events.replacen("\"kind\":\"judged\"", "\"kind\":\"jud", 1);
    fs::write(&journal, broken).unwrap();
    let message = "damaged lines are skipped: 3;";
    court.run(&resume).exits(0).says(message);
    assert_eq!((court.judged(), court.answered()), (5, 4));
}

#[test]
fn of_two_asks_the_one_that_is_missing_is_asked_for() {
    let judge = Server::new(|requested, _| {
        if is_again(requested) {
            fine(&points(4))
        } else {
            fine(&chat("Hm."))
        }
    });
    let court = Court::of(1, judge, ", repeats: 2", "");
    court.run("eval.yaml").exits(0);
    assert_eq!(court.judged(), 4);
    let journal = court.dir().join("events.jsonl");
    let events = fs::read_to_string(&journal).unwrap();
    // Each of the four replies may be the last on disk.
    let ends: Vec<usize> = events
        .match_indices("\"kind\":\"judged\"")
        .map(|(at, _)| at)
        .collect();
    for (stored, end) in ends.into_iter().enumerate() {
        fs::write(&journal, &events[..=events[..end].rfind('\n').unwrap()]).unwrap();
        let before = court.judged();
        court
            .run(&format!("--resume {}", court.dir().display()))
            .exits(0);
        assert_eq!((court.judged() - before, court.answered()), (4 - stored, 1));
        assert_eq!(court.results()[0]["judged"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn a_rescore_that_is_killed_loses_no_reply() {
    const SAMPLES: usize = 12;
    let court = Court::new(12, "limits: { concurrency: 2 }\n", |requested, _| {
        if requested.prompt().contains("Strictly.") {
            sleep(Duration::from_millis(25));
        }
        fine(&points(4))
    });
    court.run("eval.yaml").exits(0);
    let dir = court.dir().display().to_string();
    let strict =
        judge(&court.judge, "").replace("name: merit", "name: merit, description: Strictly.");
    let arguments = ["rescore", &dir, "--scorer", &strict];
    let mut command = court.project.command_of(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = command.spawn().unwrap();
    until("some were judged", || court.judged() >= SAMPLES + 4);
    send("KILL", &run);
    run.wait().unwrap();
    sleep(Duration::from_millis(60));
    let events = fs::read_to_string(court.dir().join("events.jsonl")).unwrap();
    let on_disk = replied(&events);
    assert!(!on_disk.is_empty());
    let before = court.judged();
    let remaining = SAMPLES - on_disk.len();
    court
        .project
        .run_of(&arguments)
        .exits(0)
        .says(&format!("is asked {remaining} times"));
    let requested = court.judge.requested();
    assert_eq!(requested.len() - before, remaining);
    assert!(
        requested[before..]
            .iter()
            .all(|again| !on_disk.contains(&number(again)))
    );
    assert_eq!(court.answered(), SAMPLES);
}

#[test]
fn nobody_judges_what_nobody_answered() {
    let court = Court::new(3, "limits: { retries: 0 }\n", |_, _| fine(&points(4)));
    requested::agent(&court.project, "test $EVALTEST_SAMPLE_ID != q001 || exit 3");
    court.run("eval.yaml").exits(3);
    assert_eq!(court.judged(), 2);
    let results = court.results();
    assert_eq!(results[1]["status"], "agent_failed");
    let summary = court.summary();
    assert_eq!(
        (&summary["judge"]["samples"], &summary["judge"]["unread"]),
        (&2.into(), &0.into())
    );
}
