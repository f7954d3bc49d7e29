//! Flows on existing items: from a file or a spec, or one stage alone by its own command.

use serde_json::json;

use super::{report, state, statuses};
use crate::project::Project;
use crate::puzzles::folder;

/// A judge of items and pairs, which likes the word `seven`, and keeps count.
const LIKES_SEVEN: &str = "#!/bin/sh\n\
    text=$(cat); echo x >> calls.log\n\
    case \"$text\" in *'BEGIN first'*)\n\
    if printf '%s' \"$text\" | sed -n '/^<<<BEGIN first/,/^<<<END first/p' | grep -q seven; then v=first; else v=second; fi\n\
    echo \"{\\\"reason\\\": \\\"so\\\", \\\"verdict\\\": \\\"$v\\\"}\"; exit;;\n\
    *seven*) p=5;; *) p=4;; esac\n\
    echo \"{\\\"reason\\\": \\\"so\\\", \\\"correctness\\\": $p, \\\"clarity\\\": $p, \\\"difficulty_match\\\": 4, \\\"completeness\\\": $p}\"\n";
const JUDGE: &str = "{type: command, command: [sh, ./judge.sh]}";

/// A project with a file of two items, one of which the judge likes, and real ones.
fn project_with_items() -> Project {
    let project = Project::new();
    let item = |id: &str, solution: &str| json!({"id": id, "problem": "6 * 7?", "answer": 42, "solution": solution, "topic": "Sums"});
    let mine = json!([
        item("a", "Six times seven."),
        item("b", "Six by six, and six.")
    ]);
    project.write("mine.json", mine.to_string());
    project.write(
        "real.json",
        json!([item("r", "By heart."), item("s", "By hand.")]).to_string(),
    );
    project.script("judge.sh", LIKES_SEVEN);
    project
}

#[test]
fn a_flow_starts_from_a_file_of_items() {
    let project = project_with_items();
    let flow = [
        "flow",
        "--items",
        "mine.json",
        "--judge",
        JUDGE,
        "--reference",
        "real.json",
    ];
    project
        .run_of(&[&flow[..], &["--dry-run"]].concat())
        .exits(0)
        .says("items: mine.json")
        .says("at most 2 items are judged and 2 pairs compared, each in both orders; no model was called")
        .says_nothing_of("generator");
    project
        .run_of(&flow)
        .exits(0)
        .says("generate: left out: the items come from `mine.json`")
        .says("judge: mean 4.38")
        .says("100.0 % (95 % interval 34.2 % to 100.0 %) pass, 50.0 %")
        .says("against real items: wins 1, ties 0, losses 0, inconsistent 1, unreadable 0")
        .says("cargo evaltest review mine.json")
        .says_nothing_of("stage generate");
    let calls = project.read("calls.log").lines().count();
    assert_eq!(calls, 2 + 4);
    let state_of = state(&project);
    assert_eq!(statuses(&state_of), ["left_out", "done", "done"]);
    assert_eq!(state_of["figures"]["basics"]["items"], "mine.json");
    let names = state_of["files"].as_array().unwrap();
    assert_eq!(names.len(), 4, "{names:?}");
    let text = report(&project);
    for words in [
        "mine: items, judged and compared",
        "| items | mine.json |",
        "| number of items | 2 |",
        "## 4. Items",
        "2 items of `mine.json`.",
        "| excellent | 1 | 50.0 %",
        "| difficulty match | 4.00 |",
        "no difference between the items and real ones can be shown",
        "judge more items before you rely on the mean",
        "cargo evaltest review mine.json",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    assert!(!text.contains("enerat"), "{text}");
    // Reviews are beside the file, and the flow that goes on reads them.
    let review = |id: &str| {
        json!({
            "problem_id": id, "scores": {"clarity": 4}, "total_score": 4.0, "status": "approved", "comments": "",
            "verified_at": "2026-01-02T03:04:05.678Z", "reviewer": "anna", "format_version": 1,
        })
    };
    project.write(
        "mine_verifications.json",
        json!({"a": review("a"), "b": review("b")}).to_string(),
    );
    let dir = folder(&project);
    project
        .run_of(&["flow", "--resume", dir.to_str().unwrap()])
        .says("people: 100.0 %");
    assert_eq!(project.read("calls.log").lines().count(), calls);
}

#[test]
fn a_spec_of_a_flow_names_its_items() {
    let project = project_with_items();
    let spec = format!(
        "items: mine.json\njudge: {{ agent: {JUDGE} }}\nwinrate: {{ reference: real.json, pairs: 1 }}\n\
         gates: [accuracy >= 0.9, mean(pairwise.win) >= 0]\n"
    );
    project.write(
        "evals/flow.yaml",
        spec.replace(": mine", ": ../mine")
            .replace(": real", ": ../real")
            .replace("./judge", "../judge"),
    );
    let ran = project.run("flow evals/flow.yaml").exits(0);
    ran.says("judge: done")
        .says("winrate: done")
        .says("gate passed, judge: accuracy 100.0 % (2 of 2 pass");
    project.write("both.yaml", format!("{spec}generate: {{ ready: aime }}\n"));
    project
        .run("flow both.yaml")
        .exits(2)
        .says("the flow has both `generate` and `items`");
    project
        .run("flow --items mine.json")
        .exits(2)
        .says("no judge for the items");
}

#[test]
fn a_file_of_items_is_judged_or_compared_by_one_command() {
    let project = project_with_items();
    project
        .run_of(&["judge", "mine.json", "--judge", JUDGE])
        .exits(0)
        .says("judge: mean 4.38")
        .says("winrate: left out: only `judge` was requested");
    assert_eq!(project.read("calls.log").lines().count(), 2);
    let text = report(&project);
    assert!(text.starts_with("# mine: items, judged\n"), "{text}");
    let project = project_with_items();
    let judge = format!("{{agent: {JUDGE}, criteria: Which is better?}}");
    let winrate = ["winrate", "mine.json", "--judge", &judge];
    project
        .run_of(&[&winrate[..], &["--reference", "real.json", "--pairs", "1"]].concat())
        .says("judge: left out: only `winrate` was requested")
        .says("winrate: done")
        .says("against real items: wins ");
    assert_eq!(project.read("calls.log").lines().count(), 2);
    let text = report(&project);
    assert!(text.starts_with("# mine: items, compared\n"), "{text}");
    // A judge needs something to compare with.
    project.run_of(&winrate).exits(2).says("--reference");
    project.run("judge mine.json").exits(2).says("--judge");
    project.run("judge").exits(2);
}
