//! Flows that go on: people have looked at the items meanwhile, or another judge is named.

use std::path::Path;

use serde_json::{Value, json};

use super::{of_model, report, state};
use crate::puzzles::{EASY, answer, folder, project_of};
use crate::server::{Server, chat, fine};

/// Writes down that somebody approves of the first items.
fn approve(folder: &Path, items: &str) {
    let entries = (1..=6).map(|number| {
        let id = format!("gen_item_{number}");
        let entry = json!({
            "problem_id": id, "scores": {"clarity": 4}, "total_score": 4.0, "status": "approved", "comments": "",
            "verified_at": "2026-01-02T03:04:05.678Z", "reviewer": "anna", "format_version": 1,
        });
        (id, entry)
    });
    let entries: serde_json::Map<String, Value> = entries.collect();
    let file = items.replace(".json", "_verifications.json");
    std::fs::write(folder.join(file), Value::from(entries).to_string()).unwrap();
}

#[test]
fn a_flow_with_gates_of_its_own_asks_people_too_and_never_how_often_they_fail() {
    let server = Server::new(|requested, _| answer(requested));
    let gates = "gates: [mean(judge.total) >= 3, error_rate <= 0.1]";
    let project = project_of(&server, gates);
    project.run("flow flow.yaml").exits(0);
    let folder = folder(&project);
    approve(&folder, state(&project)["files"][0].as_str().unwrap());
    let resume = ["flow", "--resume", folder.to_str().unwrap()];
    project
        .run_of(&resume)
        .exits(0)
        .says("gate passed, review: reviewed.approved 100.0 %")
        .says_nothing_of("inconclusive");
}

#[test]
fn a_judge_that_cannot_be_read_gives_way_to_another() {
    let server = Server::new(|requested, _| match requested.body["model"].as_str() {
        Some("judge") => fine(&chat("They are all fine.")),
        Some("other") => {
            let mut requested = requested.clone();
            requested.body["model"] = json!("judge");
            answer(&requested)
        }
        _ => answer(requested),
    });
    let project = project_of(&server, EASY);
    project
        .run("flow flow.yaml")
        .exits(3)
        .says("judge: failed: no reply of the judge could be read");
    assert!(report(&project).contains("--judge JUDGE"));
    let folder = folder(&project);
    let resume = ["flow", "--resume", folder.to_str().unwrap()];
    // What was said is not asked for again, and says no more than before.
    let requested = server.requested().len();
    project.run_of(&resume).exits(3);
    assert_eq!(server.requested().len(), requested);
    let other = format!(
        "{{type: openai, base_url: '{}', model: other}}",
        server.url("/v1")
    );
    let resume = [&resume[..], &["--judge", &other]].concat();
    project.run_of(&resume).exits(0).says("judge: done");
    assert_eq!(of_model(&server, "other"), 6);
    assert_eq!(server.requested().len(), requested + 6);
    // A judge whose replies were read stays.
    project
        .run_of(
            &[
                &resume[..4],
                &["{type: openai, base_url: 'http://127.0.0.1:1/v1', model: third}"],
            ]
            .concat(),
        )
        .exits(2)
        .says("the spec changed since the flow in");
}
