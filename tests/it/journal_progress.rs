//! What agents say while they work stands in the journal, with the answer that it is about.

use serde_json::{Value, json};

use crate::project::{Project, json_lines};
use crate::requested;

const SECRET: &str = "sk-Zq7Xw9Vb3Kf5Lm2Nr";

/// The events of an answer, as their kinds and attempts; of progress what was said.
fn story(events: &[Value], id: &str, epoch: u32) -> Vec<(u64, String)> {
    let own = events
        .iter()
        .filter(|event| event["sample_id"] == id && event["epoch"] == epoch);
    own.map(|event| {
        let entry = match (&event["progress"], &event["left_out"]) {
            (Value::String(text), Value::Null) => format!("\"{text}\""),
            (Value::Null, Value::Number(more)) => format!("and {more} more"),
            _ => event["kind"].as_str().unwrap().to_owned(),
        };
        (event["attempt"].as_u64().unwrap(), entry)
    })
    .collect()
}

#[track_caller]
fn check(events: &[Value], id: &str, epoch: u32, expect: &[(u64, &str)]) {
    let story = story(events, id, epoch);
    let story: Vec<_> = story.iter().map(|(at, entry)| (*at, &**entry)).collect();
    assert_eq!(story, expect, "{id}, epoch {epoch}");
}

/// The events of the last run, whose numbers have no gap.
#[track_caller]
fn events(project: &Project) -> Vec<Value> {
    let events = json_lines(&project.last_run().join("events.jsonl"));
    for (place, event) in events.iter().enumerate() {
        assert_eq!(event["event_index"], place, "the journal has no gap");
    }
    events
}

#[test]
fn what_a_worker_says_stands_in_the_journal_and_a_flood_is_bounded() {
    let project = Project::new();
    requested::write_questions(&project, 3);
    let flood = r#"n=0; while [ $n -lt 150 ]; do n=$((n + 1)); printf '{"id":"%s","progress":%s}\n' "$id" $n; done"#;
    // A secret that the length of a line would cut in two.
    let long = format!(r#"printf '{{"id":"%s","progress":"%0980d {SECRET}"}}\n' "$id" 0"#);
    let script = format!(
        r#"#!/bin/sh
while read -r line; do
    id=${{line#*'"id":"'}}; id=${{id%%'"'*}}
    printf '{{"type":"progress","id":"%s","message":"with {SECRET} for %s"}}\n' "$id" "$id"
    case $id in
        q000) printf '{{"id":"%s","progress":{{"done":1}}}}\n' "$id";;
        q001) {flood};;
        q002) {long};;
    esac
    printf '{{"id":"%s","answer":"%s"}}\n' "$id" "${{id#q}}"
done
"#
    );
    project.script("worker.sh", &script);
    project.spec(
        "{ type: worker, command: [./worker.sh], processes: 2 }",
        "epochs: 2\n",
    );
    project
        .run("run eval.yaml")
        .exits(0)
        .says_nothing_of(SECRET)
        .says_nothing_of("for q000");
    let events = events(&project);
    for epoch in [0, 1] {
        check(
            &events,
            "q000",
            epoch,
            &[
                (1, "started"),
                (1, "\"with [REDACTED] for q000\""),
                (1, "\"{\"done\":1}\""),
                (1, "answered"),
                (1, "scored"),
            ],
        );
        let flood = story(&events, "q001", epoch);
        assert_eq!(flood.len(), 1 + 100 + 1 + 2);
        assert_eq!(flood[100], (1, "\"99\"".to_owned()));
        assert_eq!(flood[101], (1, "and 51 more".to_owned()));
        assert_eq!(flood[102], (1, "answered".to_owned()));
        let long = &story(&events, "q002", epoch)[2].1;
        assert!(long.len() < 1010 && long.contains("00 "), "{long}");
    }
    let all = project.last_run().join("events.jsonl");
    let all = std::fs::read_to_string(all).unwrap();
    assert!(!all.contains("Zq7X"), "{all}");
    let redacted = events.iter().filter(|event| event["redacted"] == 1);
    assert_eq!(redacted.count(), 2 * 4);
    let output = project.run("show e q001").exits(0);
    output
        .says("progress:\n  with [REDACTED] for q001\n  1\n")
        .says("  99\n  … and 51 more\n");
    let output = project.run("show e q000 --json").exits(0).json();
    assert_eq!(output["events"][2]["progress"], json!("{\"done\":1}"));
    // Who only looks at what was asked and answered sees what was there before.
    project.run("repair e").exits(0);
}

#[test]
fn a_program_says_it_on_stderr_in_each_attempt_and_in_a_run_that_goes_on() {
    let then = r#"
printf '{"progress":"reads %s"}\n' "$EVALTEST_SAMPLE_ID" >&2
echo 'no progress: a log' >&2
echo '{"progress":"of stdout"}' > /dev/null
if [ "$EVALTEST_SAMPLE_ID" = q001 ] && ! [ -e "${0%/*}/mended" ]; then exit 7; fi
printf '{"type":"progress","message":"a last line without an end"}' >&2"#;
    let more = "limits: { concurrency: 2, retries: 1, backoff_s: 0 }\ngates: [error_rate <= 0.9]\n";
    let project = requested::project(3, then, more);
    project.run("run eval.yaml").exits(0);
    let whole: &[_] = &[
        (1, "started"),
        (1, "\"reads q000\""),
        (1, "\"a last line without an end\""),
        (1, "answered"),
        (1, "scored"),
    ];
    let failed = [
        (1, "started"),
        (1, "\"reads q001\""),
        (1, "failed"),
        (2, "started"),
        (2, "\"reads q001\""),
        (2, "failed"),
        (2, "ended"),
    ];
    let before = events(&project);
    check(&before, "q000", 0, whole);
    check(&before, "q001", 0, &failed);
    let output = project.run("show e q001").exits(0);
    output.says("progress:\n  attempt 1: reads q001\n  attempt 2: reads q001\n");
    project.write("mended", "");
    let dir = project.last_run();
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0);
    let after = events(&project);
    assert_eq!(after[..before.len()], before);
    check(&after, "q000", 0, whole);
    let goes_on = story(&after, "q001", 0).split_off(failed.len());
    let attempt = goes_on[0].0;
    let expect = [
        "started",
        "\"reads q001\"",
        "\"a last line without an end\"",
        "answered",
        "scored",
    ];
    assert_eq!(goes_on, expect.map(|entry| (attempt, entry.to_owned())));
    project
        .run("run eval.yaml --stream")
        .exits(0)
        .says("q000| {\"progress\":\"reads q000\"}");
}
