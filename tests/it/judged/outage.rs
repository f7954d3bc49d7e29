//! Endpoints of judges that are not there, or let nobody in.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::court::{Court, judge, judge_at, lenient, points};
use crate::server::{Answer, Server, fine, refusal};

const QUICK: &str = "limits: { concurrency: 4, retries: 1, backoff_s: 0.005 }\n";

#[test]
fn a_judge_that_nobody_can_reach_is_waited_for_and_its_outage_is_not_the_agents() {
    // Nobody listens there.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let scorers = format!("scorers: [{}]\n", judge_at(&url, ""));
    let court = Court::with(6, lenient(), &scorers, QUICK);
    court
        .run("eval.yaml")
        .exits(3)
        .says("judge `judge`")
        .says_nothing_of("agent_failed");
    // What was answered is kept, and the run goes on as soon as the judge is there.
    let answered = court.answered();
    let there = judge(&court.judge, "");
    court.project.write(
        "eval.yaml",
        court
            .project
            .read("eval.yaml")
            .replace(&judge_at(&url, ""), &there),
    );
    court
        .run(&format!("--resume {}", court.dir().display()))
        .exits(0);
    assert_eq!(court.judged(), 6);
    assert_eq!(court.answered(), 6, "{answered}");
    let summary = court.summary();
    assert_eq!(json!([summary["errors"], summary["scored"]]), json!([0, 6]));
}

#[test]
fn one_that_comes_back_costs_no_sample() {
    // After the first reply it is out for four samples at once, and three times more: each has one retry.
    let requested = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requested);
    let limits = QUICK.replace("0.005", "0.05");
    let court = Court::new(6, &limits, move |_, _| match count.fetch_add(1, Relaxed) {
        1..=4 => {
            while count.load(Relaxed) < 5 {
                sleep(Duration::from_millis(1));
            }
            refusal("503 Service Unavailable", "starting")
        }
        5..8 => refusal("503 Service Unavailable", "starting"),
        _ => fine(&points(4)),
    });
    court.run("eval.yaml").exits(0);
    assert_eq!(court.answered(), 6);
    let summary = court.summary();
    assert_eq!(
        json!([summary["errors"], summary["judge"]["unread"]]),
        json!([0, 0])
    );
    assert_eq!(summary["judge"]["requests"], requested.load(Relaxed));
}

#[test]
fn an_error_of_the_endpoint_leaves_answers_without_a_verdict_and_the_first_scorers_outcome() {
    let court = Court::as_second_scorer(4, "limits: { retries: 0 }\n", |_, _| {
        refusal("500 Internal Server Error", "out of memory")
    });
    court.run("eval.yaml");
    for result in court.results() {
        assert_eq!(result["status"], "scored");
        let error = result["scores"]["judge"]["error"].as_str().unwrap();
        assert!(error.contains("out of memory"), "{error}");
        assert_eq!(result["judged"][0]["error"]["http_status"], 500);
    }
    let summary = court.summary();
    assert_eq!(
        json!([
            summary["errors"],
            summary["scored"],
            summary["judge"]["unread"]
        ]),
        json!([0, 4, 4])
    );
    assert_eq!(court.judged(), 4);
}

#[test]
fn a_wrong_key_stops_the_run_at_once_and_names_the_judge() {
    let judge =
        Server::new(|_, _| -> Answer { refusal("401 Unauthorized", "Incorrect API key provided") });
    let court = Court::of(8, judge, "", "");
    court
        .run("eval.yaml")
        .exits(2)
        .says("judge `judge`")
        .says("run --resume")
        .says("Incorrect API key");
    assert_eq!(court.judged(), 1, "nothing of it depends on the sample");
    let results = court.project.last_lines("samples.jsonl");
    assert!(
        results
            .iter()
            .all(|record| record["result"]["status"] != "agent_failed")
    );
}

#[test]
fn a_rate_limit_of_the_judge_is_waited_out_and_costs_no_retry() {
    let court = Court::new(
        2,
        "limits: { concurrency: 1, retries: 0, backoff_s: 0.01 }\n",
        |_, n| match n {
            0 | 1 => Answer::Status(
                "429 Too Many Requests",
                "Retry-After: 0\r\n".to_owned(),
                json!({"error": {"message": "slow down"}}).to_string(),
            ),
            _ => fine(&points(4)),
        },
    );
    court.run("eval.yaml").exits(0);
    assert_eq!((court.judged(), court.answered()), (4, 2));
    let results = court.results();
    assert_eq!(results[0]["judged"][0]["attempts"], 3);
    assert_eq!(results[0]["attempts"], 1);
}

#[test]
fn a_judge_that_only_fails_stops_the_run_which_keeps_its_answers() {
    let judge = "{ type: judge, agent: { type: command, command: [sh, judge.sh] }, rubric: { dimensions: [{ name: merit }] } }";
    let scorers = format!("scorers: [{judge}]\n");
    let limits = "limits: { concurrency: 1, retries: 0 }\n";
    let court = Court::with(20, lenient(), &scorers, limits);
    court
        .project
        .write("judge.sh", "echo no module >&2; exit 1\n");
    let ran = court.run("eval.yaml").exits(3);
    ran.says(
        "its first 10 requests failed in the same way (10 samples not asked); hint: fix it and continue with `--resume`",
    )
    .says("run --resume")
    .says_nothing_of("fix the agent");
    let answered = court.answered();
    assert!(answered < 20, "{answered}");
    // Another script is another judge, who may judge the answers that are there.
    court.project.write("judge.sh", "echo '{\"merit\": 4}'\n");
    let dir = court.dir();
    let dir = dir.display();
    court
        .run(&format!("--resume {dir}"))
        .exits(2)
        .says("the scorer or the extraction has changed since")
        .says("score the existing answers with it: cargo evaltest rescore evaltest-runs/")
        .says(" --spec eval.yaml");
    let rescored = court
        .project
        .run(&format!("rescore {dir} --spec eval.yaml"));
    rescored.exits(0);
    assert_eq!(court.answered(), answered);
    let judged = court.project.last_lines("samples.jsonl");
    let scored = judged
        .iter()
        .filter(|it| it["result"]["score"]["correct"] == true);
    assert_eq!(scored.count(), answered, "{judged:?}");
}
