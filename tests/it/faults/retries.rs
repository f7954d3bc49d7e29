//! What is asked again, what is not, and when the run gives up.

use serde_json::{Value, json};

use super::{AGENT, failed, outcome, project, request_count};
use crate::project::Project;

#[test]
fn failures_are_repeated_and_wrong_answers_are_not() {
    let flaky =
        "test $EVALTEST_ATTEMPT = 3 || { echo \"attempt $EVALTEST_ATTEMPT\" >&2; exit 1; }; echo 1";
    let project = project(
        &[("flaky", flaky), ("broken", "exit 1"), ("wrong", "echo 2")],
        "limits: { retries: 2, backoff_s: 0.01 }\n",
    );
    project.run("run eval.yaml").exits(3).says("asking again");
    assert_eq!(outcome(&project, "flaky")["attempts"], 3);
    assert_eq!(outcome(&project, "flaky")["score"]["correct"], true);
    assert_eq!(
        failed(&project, "broken", "agent_failed", "exited", "code 1")["exit_code"],
        1
    );
    assert_eq!(outcome(&project, "wrong")["attempts"], 1);
    for (id, times) in [("first", 1), ("flaky", 3), ("broken", 3), ("wrong", 1)] {
        assert_eq!(request_count(&project, id), times, "{id}");
    }
    let events = project.last_lines("events.jsonl");
    let kinds = |id: &str| -> Vec<(u64, String)> {
        let of_sample = events.iter().filter(|event| event["sample_id"] == id);
        let pair = |event: &Value| {
            (
                event["attempt"].as_u64().unwrap(),
                event["kind"].as_str().unwrap().to_owned(),
            )
        };
        of_sample.map(pair).collect()
    };
    let expected = [
        (1, "started"),
        (1, "failed"),
        (2, "started"),
        (2, "failed"),
        (3, "started"),
        (3, "answered"),
        (3, "scored"),
    ];
    assert_eq!(
        kinds("flaky"),
        expected.map(|(attempt, kind)| (attempt, kind.to_owned()))
    );
    let failures: Vec<_> = events
        .iter()
        .filter(|event| event["sample_id"] == "flaky" && event["kind"] == "failed")
        .map(|event| event["error"]["stderr_tail"].clone())
        .collect();
    assert_eq!(failures, ["attempt 1\n", "attempt 2\n"]);
    let summary = project.last_json("summary.json");
    assert_eq!(
        summary["recovered_by_retry"],
        json!({ "retried": 2, "recovered": 1, "share": 0.5, "rate": 0.2 })
    );
}

#[test]
fn fail_fast_stops_at_the_first_failure() {
    let project = Project::new();
    let ids: Vec<String> = (0..30).map(|n| format!("q{n:02}")).collect();
    let questions: Vec<_> = ids
        .iter()
        .map(|id| (id.as_str(), 1, "What?", "1"))
        .collect();
    project.questions(&questions);
    project.spec(AGENT, "");
    project.script(
        "agent.sh",
        "#!/bin/sh\ntest $EVALTEST_SAMPLE_ID != q03 || exit 1\necho 1\n",
    );
    project
        .run("run -v eval.yaml --fail-fast --concurrency 1")
        .exits(3)
        .says("stopped early: sample `q03` failed and `fail_fast` is set (26 samples not asked)")
        .says("run --resume");
    let records = project.last_lines("samples.jsonl");
    let with = |status: &str| {
        records
            .iter()
            .filter(|record| record["result"]["status"] == status)
            .count()
    };
    assert_eq!(
        (with("scored"), with("agent_failed"), with("skipped")),
        (3, 1, 26)
    );
    assert_eq!(project.last_json("manifest.json")["status"], "stopped");
    // Without it the run goes on.
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("30 samples, 29 correct")
        .says(", 1 error,");
}
