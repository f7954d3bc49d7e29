//! What requests of judges take: figures of their own, out of one budget.

use serde_json::{Value, json};

use super::court::{Court, is_again, number, points};
use crate::server::{Server, chat, fine, refusal};

const PRICE: &str = ", price: { input: 1000, output: 10000 }";

fn priced(judge: &Server, more: &str) -> String {
    super::court::judge(judge, more).replace("temperature: 0", &format!("temperature: 0{PRICE}"))
}

#[test]
fn attempts_tokens_and_cost_stand_apart_from_the_agents() {
    // 10 and 2 tokens each: 0.03 dollars.
    let judge = Server::new(|requested, n| match (number(requested), n) {
        (0, 0) => refusal("500 Internal Server Error", "no"),
        (1, _) if !is_again(requested) => fine(&chat("Hm.")),
        _ => fine(&points(4)),
    });
    let scorers = format!("scorers: [{}]\n", priced(&judge, ""));
    let court = Court::with(
        3,
        judge,
        &scorers,
        "limits: { concurrency: 1, retries: 1, backoff_s: 0.001 }\n",
    );
    court.run("eval.yaml").exits(0);
    let results = court.results();
    let attempts = |result: &Value| -> Vec<Value> {
        let calls = result["judged"].as_array().unwrap();
        calls.iter().map(|call| call["attempts"].clone()).collect()
    };
    assert_eq!(
        json!([attempts(&results[0]), attempts(&results[1])]),
        json!([[2], [1, 1]])
    );
    assert!(
        results.iter().all(|result| result["attempts"] == 1),
        "those of the agent"
    );
    let summary = court.summary();
    let judge = &summary["judge"];
    assert_eq!(
        json!([
            judge["requests"],
            judge["calls"],
            judge["usage"]["input_tokens"],
            judge["usage"]["output_tokens"]
        ]),
        json!([5, 4, 40, 8])
    );
    assert_eq!(judge["usage"]["cost_usd"], 0.12);
    assert_eq!(
        json!([
            summary["usage"]["cost_usd"],
            summary["usage"]["input_tokens"]
        ]),
        json!([null, null])
    );
    // The journal has lines of their own.
    let events = court.project.last_lines("events.jsonl");
    let count = |kind: &str| events.iter().filter(|event| event["kind"] == kind).count();
    assert_eq!(
        [
            count("judged"),
            count("judge_failed"),
            count("answered"),
            count("failed")
        ],
        [4, 1, 3, 0]
    );
}

#[test]
fn they_count_in_the_budget_of_the_run_and_a_run_that_goes_on_knows_what_they_took() {
    for (budget, larger, says) in [
        ("requests: 6", "requests: 60", "limits.budget.requests"),
        ("cost_usd: 0.08", "cost_usd: 8", "limits.budget.cost_usd"),
        ("tokens: 30", "tokens: 3000", "limits.budget.tokens"),
    ] {
        let judge = Server::new(|_, _| fine(&points(4)));
        let scorers = format!("scorers: [{}]\n", priced(&judge, ""));
        let limits = format!("limits: {{ concurrency: 1, budget: {{ {budget} }} }}\n");
        let court = Court::with(6, judge, &scorers, &limits);
        court.run("eval.yaml").exits(3).says(says);
        assert_eq!(court.judged(), 3, "{budget}");
        // Nothing is left, whoever asks.
        let resume = format!("--resume {}", court.dir().display());
        let answered = court.answered();
        court.run(&resume).exits(3).says(says);
        assert_eq!(
            (court.judged(), court.answered()),
            (3, answered),
            "{budget}"
        );
        court.edit(budget, larger);
        court.run(&resume).exits(0);
        assert_eq!((court.judged(), court.answered()), (6, 6), "{budget}");
    }
}

#[test]
fn a_judge_has_a_rate_of_its_own() {
    let court = Court::of(
        6,
        Server::new(|_, _| fine(&points(4))),
        ", requests_per_minute: 240",
        "",
    );
    // Four a second, one after the other.
    let start = std::time::Instant::now();
    court.run("eval.yaml").exits(0);
    assert!(start.elapsed().as_millis() >= 1250, "{:?}", start.elapsed());
}

#[test]
fn a_shard_asks_a_judge_at_its_share_of_the_rate() {
    let court = Court::of(
        24,
        Server::new(|_, _| fine(&points(4))),
        ", requests_per_minute: 960",
        "",
    );
    // Sixteen a second, four of them for each of four shards.
    let start = std::time::Instant::now();
    court.run("eval.yaml --shard 1/4").exits(0);
    let judged = court.judged();
    let least = judged.saturating_sub(1) as u128 * 240;
    assert!(
        judged > 2 && start.elapsed().as_millis() >= least,
        "{judged}: {:?}",
        start.elapsed()
    );
}
