//! Two runs that were compared before, what of the file counts, and whose budget holds.

use serde_json::json;

use super::{Duel, eval, prefers};
use crate::server::{Server, chat, fine};

fn duel() -> Duel {
    Duel::new(6, "echo this is good", "echo bad", &prefers("good"))
}

#[test]
fn what_the_judge_said_before_is_not_asked_again() {
    let duel = duel();
    let few = duel.pairs("--pairs 2 --seed 7");
    assert_eq!((&few["wins"], duel.requested()), (&json!(2), 4));
    let ran = duel.winrate("").exits(0);
    ran.says("the judge is asked 8 times, two for each pair, at most 16 times if replies cannot be read; 4 replies \
              are already stored")
        .says("6 pairs of 6 items: 6 wins");
    assert_eq!(duel.requested(), 12);
    // Also where the run that asked first is gone: what it was told stands in the next one.
    for run in duel.project.runs() {
        let summary = std::fs::read_to_string(run.join("summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        if summary["judge"]["scorers"]["pairwise"]["pairs"]["n"] == 2 {
            std::fs::remove_dir_all(&run).unwrap();
        }
    }
    let ran = duel.winrate("").exits(0);
    ran.says("all replies of the judge are stored: no model is called")
        .says("6 pairs of 6 items: 6 wins");
    assert_eq!(duel.requested(), 12);
    // Other criteria are another judge.
    duel.project.write(
        "better.yaml",
        "agent: { type: command, command: [sh, ./judge.sh] }\ncriteria: Which is clearer?\n",
    );
    duel.winrate("").exits(0).says("is asked 12 times");
    assert_eq!(duel.requested(), 24);
}

#[test]
fn a_file_that_names_somebody_else_to_compare_with_is_told() {
    let duel = duel();
    let options = "agent: { type: command, command: [sh, ./judge.sh] }";
    duel.project.write(
        "better.yaml",
        format!("{options}\nagainst: {{ path: nowhere.jsonl }}\n"),
    );
    duel.winrate("--dry-run").exits(0).says(
        "`against` in `better.yaml` is ignored here: the two runs are compared with each other",
    );
    duel.project.write("better.yaml", format!("{options}\n"));
    let ran = duel.winrate("--dry-run").exits(0);
    assert!(!ran.err.contains("is ignored here"), "{}", ran.err);
}

#[test]
fn the_budget_of_a_spec_holds_and_else_that_of_the_run() {
    let duel = duel();
    let scorer = "{ type: pairwise, agent: { type: command, command: [sh, ./judge.sh] } }";
    let spec = |limits: &str| {
        let more = format!("scorers: [{scorer}]\nlimits: {limits}\n");
        duel.project
            .write("better.yaml", eval("c", 6, "echo c", &more));
    };
    spec("{ budget: { requests: 0 } }");
    duel.winrate("")
        .exits(2)
        .says("better.yaml:")
        .says("limits.budget.requests must be above 0");
    assert_eq!(duel.requested(), 0);
    spec("{ concurrency: 1, budget: { requests: 4 } }");
    duel.winrate("")
        .exits(3)
        .says("the budget is used up")
        .says("limits.budget.requests");
    let requested = duel.requested();
    assert!((4..12).contains(&requested), "{requested}");
    // A file without one leaves it to the run, which has none.
    duel.project.write(
        "better.yaml",
        "agent: { type: command, command: [sh, ./judge.sh] }\n",
    );
    duel.winrate("").exits(0).says("6 wins");
    assert_eq!(duel.requested(), 12);
}

#[test]
fn a_model_that_changes_midway_is_told() {
    let duel = duel();
    let text = json!({ "reason": "so", "verdict": "tie" }).to_string();
    let judge = Server::new(move |_, number| {
        let mut reply = chat(&text);
        reply["model"] = json!(if number < 5 { "tiny-2026" } else { "tiny-2027" });
        reply["system_fingerprint"] = json!(format!("fp_{}", number % 2));
        fine(&reply)
    });
    let file = format!(
        "agent: {{ type: openai, base_url: \"{}\", model: judge-1 }}\n",
        judge.url("/v1")
    );
    duel.project.write("better.yaml", &file);
    let message = "judge `pairwise` was served by 2 models (`tiny-2026` 5, `tiny-2027` 7 calls): its verdicts are not those of one \
                judge";
    duel.winrate("").exits(0).says(message).says("6 ties");
    // Machines of one model are one.
    let steady = Server::new(|_, number| {
        let mut reply = chat("VERDICT: tie");
        reply["system_fingerprint"] = json!(format!("fp_{number}"));
        fine(&reply)
    });
    let file = file.replace(&judge.url("/v1"), &steady.url("/v1"));
    duel.project
        .write("better.yaml", file.replace("judge-1", "judge-2"));
    let ran = duel.winrate("").exits(0);
    assert!(!ran.err.contains("was served by"), "{}", ran.err);
}
