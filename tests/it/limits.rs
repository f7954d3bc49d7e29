//! Runs that end early because of what they may take, and go on later.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::project::Project;
use crate::requested::{self, requested};
use crate::server::{Answer, Server, chat, fine, refusal};
use crate::trials;
use crate::wait::{LONG, given_time, late};

const JSON: &str = "{ type: command, command: [./agent.sh], output: json }";

/// Six questions, one at a time, answered by a program that tells that each cost half a dollar and 100 tokens.
fn paid(more: &str) -> Project {
    let project = requested::project(6, ":", "");
    project.spec(JSON, more);
    requested::agent(
        &project,
        "echo \"{\\\"answer\\\":\\\"${EVALTEST_SAMPLE_ID#q}\\\",\\\"cost_usd\\\":0.5,\\\"usage\\\":\
         {\\\"input_tokens\\\":90,\\\"output_tokens\\\":10}}\"; exit",
    );
    project
}

fn http(server: &Server) -> String {
    let url = server.url("/answer");
    format!("{{ type: http, url: \"{url}\", body: {{ id: \"{{id}}\" }}, answer: /answer }}")
}

fn statuses(project: &Project) -> Vec<String> {
    let records = project.last_lines("samples.jsonl");
    let status = |record: &Value| record["result"]["status"].as_str().unwrap().to_owned();
    records.iter().map(status).collect()
}

#[test]
fn a_budget_stops_the_run_and_a_larger_one_lets_it_go_on() {
    let budgets = [
        (
            "requests",
            "2",
            "20",
            "2 requests (`limits.budget.requests`)",
        ),
        (
            "cost_usd",
            "1.0",
            "9",
            "1.0000 USD of 1 (`limits.budget.cost_usd`)",
        ),
        (
            "tokens",
            "200",
            "9000",
            "200 tokens of 200 (`limits.budget.tokens`)",
        ),
    ];
    for (key, little, much, says) in budgets {
        // The second place opens after minutes: nothing is asked before what it will cost is known.
        let project = paid(&format!(
            "limits: {{ concurrency: 4, ramp_up_s: 1000, budget: {{ {key}: {little} }} }}\n"
        ));
        project
            .run("run -v eval.yaml")
            .exits(3)
            .says(&format!(
                "stopped early: the budget is used up: {says} (4 samples not asked)"
            ))
            .says("next: cargo evaltest run --resume");
        assert_eq!(requested(&project).len(), 2, "{key}");
        assert_eq!(
            statuses(&project)
                .iter()
                .filter(|status| *status == "scored")
                .count(),
            2
        );
        let manifest = project.last_json("manifest.json");
        assert_eq!(manifest["status"], "stopped");
        let resume = format!("run --resume {}", project.last_run().display());
        // What was spent before counts.
        project.run(&resume).exits(3).says("the budget is used up");
        assert_eq!(requested(&project).len(), 2, "{key}");
        assert_eq!(
            statuses(&project)
                .iter()
                .filter(|status| *status == "scored")
                .count(),
            2
        );
        project
            .run(&format!("{resume} --set limits.budget.{key}={much}"))
            .exits(0)
            .says("3 of 6 correct");
        assert_eq!(requested(&project).len(), 6, "{key}");
    }
}

#[test]
fn a_budget_that_cannot_be_kept_is_no_budget() {
    let project = requested::project(
        14,
        ":",
        "limits: { concurrency: 1, budget: { cost_usd: 5 } }\n",
    );
    project
        .run("run eval.yaml")
        .exits(3)
        .says("`limits.budget.cost_usd` cannot be enforced: none of 10 answers reports its usage")
        .says("give agent `openai` a `price`");
    assert_eq!(requested(&project).len(), 10);
}

#[test]
fn a_limit_that_held_nothing_says_so() {
    let limits = "limits: { budget: { tokens: 5 }, tokens_per_minute: 9 }\n";
    let project = requested::project(4, ":", limits);
    let says = "was not enforced: no answer reports its usage";
    project
        .run("run eval.yaml")
        .exits(0)
        .says(&format!("`limits.budget.tokens` {says}"))
        .says(&format!("`limits.tokens_per_minute` {says}"));
    let project = paid(
        limits
            .replace("5 }", "999999 }")
            .replace("9 }", "999999 }")
            .as_str(),
    );
    project.run("run eval.yaml").exits(0).says_nothing_of(says);
}

#[test]
fn a_budget_is_not_overspent_by_all_that_is_in_flight_before_the_first_answer() {
    let server = Server::new(|_, _| {
        std::thread::sleep(Duration::from_millis(200));
        fine(&json!({"answer": "1", "usage": {"cost_usd": 0.1}}))
    });
    let project = Project::new();
    requested::write_questions(&project, 60);
    project.spec(
        &http(&server),
        "limits: { concurrency: 50, ramp_up_s: 0, budget: { cost_usd: 1.5 } }\n",
    );
    project
        .run("run eval.yaml")
        .exits(3)
        .says("the budget is used up: 1.5000 USD of 1.5");
    assert_eq!(server.requested().len(), 15);
}

#[test]
fn an_endpoint_that_wants_to_be_left_alone_for_hours_is_not_asked_for_all_the_rest() {
    let server = Server::new(|_, number| match number {
        0..4 => fine(&json!({"answer": "1"})),
        _ => Answer::Status(
            "429 Too Many Requests",
            "Retry-After: 3600\r\n".to_owned(),
            String::new(),
        ),
    });
    let project = Project::new();
    requested::write_questions(&project, 40);
    project.spec(&http(&server), "limits: { concurrency: 2 }\n");
    project
        .run("run eval.yaml")
        .exits(3)
        .says("stopped early: the agent asks for a pause of 3600 s (")
        .says("next: cargo evaltest run --resume");
    let requested = server.requested().len();
    assert!((5..8).contains(&requested), "{requested}");
    let refused = statuses(&project)
        .iter()
        .filter(|status| *status == "agent_failed")
        .count();
    assert_eq!(refused, requested - 4, "the others were not asked");
}

#[test]
fn without_retries_nothing_is_asked_twice_not_even_after_a_429() {
    let server = Server::new(|_, number| match number {
        // Nor are the others held back.
        0 => Answer::Status(
            "429 Too Many Requests",
            "Retry-After: 100\r\n".to_owned(),
            String::new(),
        ),
        _ => fine(&chat("1")),
    });
    let project = Project::new();
    requested::write_questions(&project, 3);
    project.spec(
        &server.openai(""),
        "errors: wrong\nlimits: { concurrency: 1, retries: 0, backoff_s: 0 }\n",
    );
    let started = Instant::now();
    project.run("run eval.yaml");
    assert!(started.elapsed() < Duration::from_secs(50));
    assert_eq!(server.requested().len(), 3);
    let failed = statuses(&project);
    let failed = failed.iter().filter(|status| *status == "agent_failed");
    assert_eq!(failed.count(), 1);
}

/// Also where others are waited for meanwhile.
#[test]
fn no_sample_waits_for_rate_limits_longer_than_it_may() {
    let server = Server::new(|_, _| refusal("429 Too Many Requests", "slower"));
    let project = Project::new();
    requested::write_questions(&project, 8);
    let limits = "limits: { concurrency: 4, rate_limit_wait_s: 1, backoff_s: 0.3 }\n";
    project.spec(&server.openai(""), limits);
    project
        .run("run eval.yaml")
        .exits(3)
        .says("and `limits.rate_limit_wait_s` is 1");
    for record in project.last_lines("samples.jsonl") {
        let error = &record["result"]["error"];
        assert_eq!(error["ended_by"], "limits.rate_limit_wait_s", "{record}");
        let message = error["message"].as_str().unwrap();
        let waited = message
            .split_once(" s were waited")
            .map(|(before, _)| before);
        let waited = waited.and_then(|before| before.rsplit(' ').next()?.parse::<f64>().ok());
        assert!(waited.unwrap_or_default() < 2.0, "{message}");
    }
}

#[test]
fn a_body_without_end_is_cut_off() {
    let server = Server::new(|_, _| Answer::Flood(1 << 40));
    let project = Project::new();
    requested::write_questions(&project, 2);
    project.spec(
        &http(&server),
        "limits: { concurrency: 1, timeout_s: 600 }\n",
    );
    project
        .run("run eval.yaml")
        .exits(3)
        .says("answered with more than 1048576 bytes; hint: raise `limits.max_output_bytes`");
    let record = &project.last_lines("samples.jsonl")[0]["result"];
    assert_eq!(record["error"]["ended_by"], "limits.max_output_bytes");
    // Which limit it was is shown, too.
    let show = format!("show {} q000", project.last_run().display());
    project
        .run(&show)
        .exits(0)
        .says("ended by: `limits.max_output_bytes`");
}

#[test]
fn a_deadline_cuts_the_run_off_and_nothing_answered_is_lost() {
    let then = "case $EVALTEST_SAMPLE_ID in q000|q001) ;; *) test -f fast || sleep 600;; esac";
    let started = Instant::now();
    let project = given_time(1.5, |deadline| {
        let limits = format!("limits: {{ concurrency: 2, deadline_s: {deadline} }}\n");
        let project = requested::project(6, then, &limits);
        let ran = project.run("run eval.yaml").exits(3);
        // The two that hang are asked when the others are answered.
        (requested(&project).len() == 4).then(|| {
            ran.says(&format!(
                "stopped early: {deadline} s are over (`limits.deadline_s`) (4 samples not asked)"
            ));
            project
        })
    });
    assert!(started.elapsed() < LONG);
    let skipped = statuses(&project)
        .iter()
        .filter(|status| *status == "skipped")
        .count();
    assert_eq!(skipped, 4, "what was cut off is no timeout of the agent");
    project.write("fast", "");
    let resume = format!("run --resume {}", project.last_run().display());
    project
        .run(&format!("{resume} --set limits.deadline_s=600"))
        .exits(0);
    assert_eq!(requested(&project).len(), 8, "two were in flight");
}

#[test]
fn a_sample_has_its_own_time_for_all_its_attempts() {
    let then = "case $EVALTEST_SAMPLE_ID in q000) sleep 600;; q001) exit 1;; q002) exit 1;; esac";
    let started = Instant::now();
    let (records, doubled) = given_time(1.0, |seconds| {
        let limits = format!(
            "limits: {{ concurrency: 4, timeout_s: 600, sample_timeout_s: {seconds}, retries: 50, backoff_s: 0.1 }}\n"
        );
        let project = requested::project(4, then, &limits);
        project.run("run eval.yaml").exits(3);
        let records = project.last_lines("samples.jsonl");
        (records[1]["result"]["attempts"].as_u64() >= Some(3)).then_some((records, seconds.log2()))
    });
    assert!(started.elapsed() < LONG);
    for record in &records[..3] {
        let error = &record["result"]["error"];
        assert_eq!(error["ended_by"], "limits.sample_timeout_s", "{record}");
        assert_eq!(record["result"]["status"], "timed_out");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains("`limits.sample_timeout_s`"),
            "{error}"
        );
    }
    assert_eq!(records[0]["result"]["attempts"], 1);
    // The pauses double as well.
    let attempts = records[1]["result"]["attempts"].as_f64().unwrap();
    assert!(attempts < 6.0 + doubled, "{attempts}");
    // Which limit ended a sample is in its record whatever it was.
    let then = "case $EVALTEST_SAMPLE_ID in q000) sleep 600;; q001) exit 1;; q002) head -c 9999 /dev/zero; exit;; esac";
    let project = given_time(0.5, |timeout| {
        let limits = format!(
            "limits: {{ timeout_s: {timeout}, retries: 1, backoff_s: 0.01, max_output_bytes: 1000 }}\n"
        );
        let project = requested::project(3, then, &limits);
        project.run("run eval.yaml").exits(3);
        (late(&project) == ["q000"]).then_some(project)
    });
    let ended: Vec<_> = project
        .last_lines("samples.jsonl")
        .iter()
        .map(|record| {
            record["result"]["error"]["ended_by"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let expect = [
        "limits.timeout_s",
        "limits.retries",
        "limits.max_output_bytes",
    ];
    assert_eq!(ended, expect);
}

#[test]
fn requests_are_spread_over_the_minute_and_waiting_is_no_latency() {
    let project = requested::project(
        6,
        ":",
        "limits: { concurrency: 6, requests_per_minute: 300 }\n",
    );
    let started = Instant::now();
    project.run("run eval.yaml").exits(0);
    // One after the other, although six may be in flight.
    assert!(started.elapsed() >= Duration::from_secs(1));
    // The last one waits six times as long as an answer may take.
    given_time(0.4, |timeout| {
        let rate = 48.0 / timeout;
        let limits = format!(
            "limits: {{ concurrency: 6, timeout_s: {timeout}, requests_per_minute: {rate} }}\n"
        );
        let project = requested::project(6, ":", &limits);
        let started = Instant::now();
        let ran = project.run("run eval.yaml");
        late(&project).is_empty().then(|| {
            ran.exits(0);
            assert!(started.elapsed() >= Duration::from_secs(2));
            let latency = project.last_json("summary.json")["latency_s"]["max"].as_f64();
            assert!(latency.unwrap() < timeout, "{latency:?}");
        })
    });
}

#[test]
fn tests_keep_the_limits_too() {
    let more = "limits: { concurrency: 3, requests_per_minute: 120, budget: { requests: 5 } }\n";
    let project = trials::project(8, ":", more);
    let started = Instant::now();
    let ran = trials::run(&project, "");
    assert!(
        started.elapsed() >= Duration::from_millis(1500),
        "{}",
        ran.out
    );
    let says = "infrastructure: not asked: the budget is used up: 5 requests";
    let released = ran.out.matches(says).count();
    assert_eq!((released, requested(&project).len()), (3, 5), "{}", ran.out);
    assert_eq!(ran.code, Some(101));
    let manifest: Value = serde_json::from_slice(
        &fs::read(project.runs().pop().unwrap().join("manifest.json")).unwrap(),
    )
    .unwrap();
    assert!(
        manifest["stop_reason"]
            .as_str()
            .unwrap()
            .contains("5 requests")
    );
}

#[test]
fn tests_keep_the_deadline_too() {
    let then = "case $EVALTEST_SAMPLE_ID in q000|q001) ;; *) sleep 600;; esac";
    let started = Instant::now();
    let (project, ran, deadline) = given_time(2.0, |deadline| {
        let more = format!("limits: {{ concurrency: 2, deadline_s: {deadline} }}\n");
        let project = trials::project(6, then, &more);
        let ran = trials::run(&project, "");
        (requested(&project).len() == 4).then_some((project, ran, deadline))
    });
    assert!(started.elapsed() < LONG, "{}", ran.out);
    let reason = format!("{deadline} s are over");
    let says = format!("infrastructure: not asked: {reason}");
    assert_eq!(ran.out.matches(&says).count(), 4, "{}", ran.out);
    let manifest = fs::read(project.runs().pop().unwrap().join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(
        manifest["stop_reason"],
        format!("{reason} (`limits.deadline_s`)")
    );
}

#[test]
fn what_is_in_flight_shrinks_to_what_an_endpoint_takes() {
    let (now, refused) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let of_server = Arc::clone(&refused);
    let server = Server::new(move |_, _| {
        let is_too_much = now.fetch_add(1, Relaxed) >= 4;
        std::thread::sleep(Duration::from_millis(20));
        now.fetch_sub(1, Relaxed);
        if is_too_much {
            of_server.fetch_add(1, Relaxed);
            return refusal("429 Too Many Requests", "slower");
        }
        fine(&json!({"answer": "1"}))
    });
    let project = Project::new();
    requested::write_questions(&project, 200);
    let limits = "limits: { concurrency: 64, ramp_up_s: 0, backoff_s: 0.05, retries: 1 }\n";
    project.spec(&http(&server), limits);
    project.run("run eval.yaml").exits(0);
    let scored = statuses(&project)
        .iter()
        .filter(|status| *status == "scored")
        .count();
    assert_eq!(scored, 200);
    let refused = refused.load(Relaxed);
    assert!((1..200).contains(&refused), "{refused}");
}

#[test]
fn limits_that_make_no_sense_are_refused_with_their_key() {
    let project = requested::project(2, ":", "");
    let check = |key: &str, says: &str| {
        let ran = project.run_of(&["run", "eval.yaml", "--set", key]);
        ran.exits(2).says(says);
    };
    check("limits.sample_timeout_s=0", "limits.sample_timeout_s is 0");
    check("limits.deadline_s=-1", "limits.deadline_s is -1");
    check(
        "limits.timeout_s=0.0001",
        "limits.timeout_s is 0.0001, which is not a number of seconds from 0.001 to 1000000000",
    );
    check(
        "limits.max_output_bytes=0",
        "limits.max_output_bytes is 0, so no answer is possible",
    );
    check(
        "limits.requests_per_minute=0",
        "limits.requests_per_minute is 0; it must be above 0",
    );
    check("limits.tokens_per_minute=.nan", "not finite");
    check(
        "limits.budget.cost_usd=0",
        "limits.budget.cost_usd must be above 0",
    );
    check(
        "limits.budget.requests=0",
        "limits.budget.requests must be above 0",
    );
    check(
        "limits.budget.tokens=0",
        "limits.budget.tokens must be above 0",
    );
    check("limits.budget.cost=1", "unknown key `cost`");
    check("limits.ramp_up_s=x", "ramp_up_s");
    assert_eq!(requested(&project), [""; 0]);
}
