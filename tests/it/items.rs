//! Items of data, and `agent: none`: what is judged is the item, and nobody is asked.

use serde_json::json;

use crate::project::{Project, root};

/// A judge that passes every item with the word `seven` in what it is shown, and keeps that.
const JUDGE: &str = "#!/bin/sh\n\
    text=$(cat); printf '%s\\n' \"$text\" >> all.txt; echo x >> calls.log\n\
    case \"$text\" in *seven*) v=good ;; *) v=bad ;; esac\n\
    echo \"{\\\"verdict\\\": \\\"$v\\\"}\"\n";
const SCORER: &str = "{ type: judge, choices: { good: 1, bad: 0 }, agent: { type: command, command: [sh, ./judge.sh] } }";

fn project(agent: &str, scorer: &str, more: &str) -> Project {
    let project = Project::new();
    let items = json!([
        {"id": "a", "problem": "6 * 7?", "answer": 42, "solution": "Six times seven.", "topic": "Algebra"},
        {"id": "b", "question": "5 + 5?", "problem": "5 + 5?", "answer": "10", "topic": "Sums"},
    ]);
    project.write("items.json", items.to_string());
    project.script("judge.sh", JUDGE);
    let scorer = if scorer.is_empty() {
        String::new()
    } else {
        format!("scorer: {scorer}\n")
    };
    project.write(
        "e.yaml",
        format!("benchmark: {{ type: items, path: items.json }}\nagent: {agent}\n{scorer}limits: {{ concurrency: 1 }}\n{more}"),
    );
    project
}

#[test]
fn the_fixture_is_judged_in_a_fresh_clone() {
    let project = Project::new();
    let spec = root().join("fixtures/items/items.yaml");
    let ran = project
        .run(&format!("run -v {}", spec.display()))
        .exits(0)
        .says("judging 9 items of")
        .says("items: 9 items, 8 pass, pass rate 88.9 % (95 % ")
        .says("Number Theory  2 of 2    100.0 %")
        .says("gate mean(judge.total) >= 4: passed");
    ran.says_nothing_of("sending ");
}

/// Words for answers, of which there are none.
const OF_ANSWERS: [&str; 8] = [
    "became wrong",
    "questions",
    "answers",
    "answered",
    " correct ",
    "correct:",
    "wrong",
    "right answer",
];

/// A page without its scripts and styles.
fn visible(page: &str) -> String {
    let without = |text: &str, kind: &str| -> String {
        let [begin, end] = [format!("<{kind}"), format!("</{kind}>")];
        let parts = text.split(&begin);
        let parts = parts.map(|part| part.split_once(&end).map_or(part, |(_, after)| after));
        parts.collect()
    };
    without(&without(page, "script"), "style")
}

fn check_words(what: &str, text: &str) {
    for word in OF_ANSWERS {
        assert!(!text.contains(word), "{what} says `{word}`:\n{text}");
    }
}

#[test]
fn reports_on_items_have_the_words_of_a_flow() {
    let project = Project::new();
    let spec = root().join("fixtures/items/items.yaml");
    let ran = project
        .run(&format!("run {} --run-id r1", spec.display()))
        .exits(0)
        .says("items: 8 of 9 items pass, 88.9 %, 77.8 % excellent, mean 4.36, the deciding judge")
        .says("points            mean  95 % interval")
        .says("total             4.36")
        .says("9 calls on 9 items");
    check_words("the terminal", &ran.out);
    let report = |more: &[&str]| {
        let ran = project.run_of(&[&["report", "r1"], more].concat()).exits(0);
        check_words(&more.join(" "), &visible(&ran.out));
        ran
    };
    report(&["--audience", "developer"])
        .says("**88.9 %** of the items pass: 8 of 9, 95 % interval 56.5 % to 98.0 %. On average they get **4.36/5.0")
        .says("; 77.8 % are excellent.")
        .says("| pass | 8 | 88.9 %")
        .says("| excellent | 7 | 77.8 %")
        .says("| difficulty match | 3.67 |")
        .says("| pass rate | 88.9 %")
        .says("## Items that do not pass, by reason")
        .says("| sample | item | verdict | why |");
    report(&["--audience", "product"])
        .says("**88.9 %** of the items pass: 8 of 9")
        .says("| points on average | 4.36/5.0")
        .says("| difficulty match, on average | 3.67/5.0")
        .says("Of 100 items like these, 2 to 43 would not pass");
    report(&["--audience", "user"])
        .says("# items: how good are the items?")
        .says("**8 of 9 items pass: 89 of 100.**")
        .says("7 of 9 are excellent.")
        .says("difficulty match: **3.67/5.0");
    report(&["--format", "html"])
        .says("of the items pass")
        .says("\"words\":[\"passes\",\"not passed\"");
    for format in ["github", "pr-comment"] {
        report(&["--format", format])
            .says("88.9 % pass, 77.8 % excellent, mean 4.36/5.0")
            .says("| pass rate |")
            .says("Do not pass");
    }
    let run = project.last_run();
    let summary = std::fs::read_to_string(run.join("summary.md")).unwrap();
    check_words("summary.md", &summary);
    assert!(summary.contains("of the items pass: 8 of 9"), "{summary}");
    // Whoever reads the figures finds the same.
    let summary = std::fs::read_to_string(run.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["judges_items"], true);
    let points = &summary["judge"]["scorers"]["judge"]["points"];
    assert_eq!(points["excellent"]["part"], 7);
    assert_eq!(points["dimensions"].as_array().unwrap().len(), 4);
}

#[test]
fn reports_on_pairs_have_wins_ties_and_losses() {
    let scorer = "{ type: pairwise, criteria: Which is better?, agent: { type: command, command: [sh, ./judge.sh] }, \
        against: { benchmark: { type: aime, path: aime.jsonl }, text: item } }";
    let project = project("none", scorer, "");
    let judge = JUDGE.replace("v=good", "v=first").replace("v=bad", "v=tie");
    project.script("judge.sh", &judge);
    let aime = "{\"id\": \"a\", \"problem\": \"7 * 7?\", \"answer\": 49, \"solution\": \"Square it.\"}\n\
                {\"id\": \"b\", \"problem\": \"8 * 8?\", \"answer\": 64, \"solution\": \"Square it.\"}\n";
    project.write("aime.jsonl", aime);
    let ran = project
        .run("run e.yaml --run-id r1")
        .exits(0)
        .says("0 wins, 1 tie, 0 losses, 1 inconsistent of 2 pairs, win rate 50.0 %");
    check_words("the terminal", &ran.out);
    let report = |more: &[&str]| {
        let ran = project.run_of(&[&["report", "r1"], more].concat()).exits(0);
        check_words(&more.join(" "), &visible(&ran.out));
        ran
    };
    report(&[])
        .says("Win rate **50.0 %, ")
        .says("ties and inconsistent pairs count half: 0 wins, 1 tie, 0 losses, 1 inconsistent of 2 pairs.")
        .says("## Wins, ties and losses")
        .says("| ties | 1 | 50.0 %");
    report(&["--audience", "product"]).says("Win rate **50.0 %, ");
    report(&["--audience", "user"])
        .says("are the items preferred?")
        .says("That is a win rate of 50 of 100");
    report(&["--format", "html"]).says("Wins, ties and losses");
    report(&["--format", "pr-comment"]).says("win rate 50.0 %, ");
}

#[test]
fn comparisons_and_lists_have_the_words_for_items() {
    let project = project("none", SCORER, "");
    for run in ["one", "two"] {
        project
            .run(&format!("run e.yaml --run-id {run}"))
            .exits(0)
            .says("1 of 2 items pass");
    }
    project
        .run("compare one two")
        .exits(0)
        .says("pass: 50.0 % in A, 50.0 % in B; 0 pass no longer, 0 pass now\n")
        .says("pass rate ")
        .says_nothing_of("accuracy");
    project
        .run("show one")
        .exits(0)
        .says("passes ")
        .says("not passed ")
        .says("items that do not pass by reason:")
        .says_nothing_of("wrong");
    project
        .run("show one b")
        .exits(0)
        .says("status: scored, not passed\n");
}

#[test]
fn the_item_is_the_answer_and_costs_nothing() {
    let project = project("none", SCORER, "cache: true\n");
    let ran = project.run("run -v e.yaml --dry-run").exits(0);
    ran.says("2 samples, 0 requests, and those of scorer `judge`");
    let ran = project.run("run -v e.yaml --run-id r1").exits(0);
    ran.says("2 items, 1 pass");
    let records = project.last_lines("samples.jsonl");
    let item = "Problem:\n6 * 7?\n\nAnswer: 42\n\nSolution:\nSix times seven.";
    assert_eq!(records[0]["result"]["output"]["text"], item);
    assert_eq!(records[0]["result"]["prediction"], item);
    let usage = &records[0]["result"]["output"]["usage"];
    assert_eq!(
        *usage,
        json!({"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0})
    );
    let second = "Problem:\n5 + 5?\n\nAnswer: 10";
    assert_eq!(records[1]["result"]["output"]["text"], second);
    // The judge is shown the item, and nothing else of it.
    let display = project.read("all.txt");
    assert_eq!(display.matches("Problem:\n6 * 7?").count(), 1);
    assert!(!display.contains("BEGIN prompt") && !display.contains("BEGIN ground_truth"));
    let calls = || project.read("calls.log").lines().count();
    assert_eq!(calls(), 2);
    // Judged again, its judge is who it was.
    let run = project.display(project.last_run());
    project
        .run(&format!("rescore -v {run}"))
        .exits(0)
        .says("2 stored");
    assert_eq!(calls(), 2);
    // And by another one, who sees as much.
    let all = project.read("all.txt");
    let scorer = SCORER.replace("good: 1", "good: { value: 1, description: fine }");
    project
        .run_of(&["rescore", "-v", &run, "--scorer", &scorer])
        .exits(0);
    let display = project.read("all.txt").replacen(&all, "", 1);
    assert!(display.contains("Problem:\n6 * 7?") && !display.contains("BEGIN prompt"));
    project.write("calls.log", "x\nx\n");
    // What a judge said of a text is kept, the text is not.
    project
        .run("run -v e.yaml")
        .exits(0)
        .says_nothing_of("the cache is off");
    assert_eq!(calls(), 2);
    assert!(!project.last_lines("samples.jsonl")[0]["result"]["cached"].is_string());
    // A solution that was changed is another item.
    let items = project
        .read("items.json")
        .replace("Six times seven.", "Count to seven.");
    project.write("items.json", items);
    let before = project.last_lines("samples.jsonl")[0]["input_hash"].clone();
    project.run("run -v e.yaml").exits(0);
    assert_ne!(project.last_lines("samples.jsonl")[0]["input_hash"], before);
    assert_eq!(calls(), 3);
    let ran = project.run("doctor e.yaml");
    ran.says("no agent: the items themselves are judged");
}

#[test]
fn items_are_no_requests() {
    let project = project("none", SCORER, "");
    let limits =
        "{ concurrency: 1, requests_per_minute: 1, deadline_s: 20, budget: { requests: 3 } }";
    let spec = project.read("e.yaml").replace("{ concurrency: 1 }", limits);
    project.write("e.yaml", spec);
    project
        .run("run -v e.yaml")
        .exits(0)
        .says("2 items, 1 pass")
        .says_nothing_of("attempt");
    let run = project.display(project.last_run());
    project
        .run(&format!("run -v e.yaml --resume {run}"))
        .exits(0);
    assert_eq!(project.read("calls.log").lines().count(), 2);
}

#[test]
fn an_item_can_be_shown_in_part_and_beside_others() {
    let scorer = "{ type: pairwise, criteria: Which is better?, agent: { type: command, command: [sh, ./judge.sh] }, \
        against: { benchmark: { type: aime, path: aime.jsonl }, text: item } }";
    let parts = "{ type: none, shows: [problem, answer] }";
    let project = project(parts, scorer, "");
    let judge = JUDGE.replace("v=good", "v=first").replace("v=bad", "v=tie");
    project.script("judge.sh", &judge);
    let aime = "{\"id\": \"a\", \"problem\": \"7 * 7?\", \"answer\": 49, \"solution\": \"Square it.\"}\n\
                {\"id\": \"b\", \"problem\": \"8 * 8?\", \"answer\": 64, \"solution\": \"Square it.\"}\n";
    project.write("aime.jsonl", aime);
    project
        .run("run e.yaml")
        .says("judging 2 items of")
        .says("2 pairs of 2 items: 0 wins, 2 ties, 0 losses");
    let display = project.read("all.txt");
    for text in [
        "Problem:\n6 * 7?\n\nAnswer: 42",
        "Problem:\n7 * 7?\n\nAnswer: 49",
    ] {
        assert_eq!(display.matches(text).count(), 2, "{display}");
    }
    assert!(!display.contains("Square it.") && !display.contains("Six times"));
    assert!(!display.contains("BEGIN prompt"), "{display}");
    let spec = project
        .read("e.yaml")
        .replace("criteria: Which is better?, ", "");
    project.write("e.yaml", spec);
    let ran = project.run("run e.yaml").exits(2);
    ran.says("the judge needs criteria");
}

#[test]
fn no_other_agent_learns_more_than_the_problem() {
    let agent = "{ type: command, command: [sh, -c, 'cat; echo; env'], input: json }";
    let project = project(agent, "", "");
    project.run("run e.yaml");
    let records = project.last_lines("samples.jsonl");
    let reply = records[0]["result"]["output"]["text"].as_str().unwrap();
    assert!(reply.contains("6 * 7?"), "{reply}");
    assert!(!reply.contains("Six times seven"), "{reply}");
    // Names of folders may have any digits.
    let (task, variables) = reply.split_once('\n').unwrap();
    let mut task: serde_json::Value = serde_json::from_str(task).unwrap();
    task["scratch"].take();
    assert!(!task.to_string().contains("42"), "{task}");
    assert!(
        !variables.lines().any(|line| line.ends_with("=42")),
        "{variables}"
    );
    assert_eq!(records[0]["ground_truth"], "42");
    assert_eq!(records[0]["slices"]["topic"], "Algebra");
}

#[test]
fn what_cannot_be_judged_is_said_before_anything_runs() {
    let check = |agent: &str, scorer: &str, expect: &[&str]| {
        let project = project(agent, scorer, "");
        let ran = project.run("run e.yaml").exits(2);
        expect.iter().fold(ran, |ran, text| ran.says(text));
        assert!(project.runs().is_empty());
    };
    check(
        "none",
        "",
        &[
            "e.yaml:2:8: the agent is `none`, and the scorer of `items` judges answers, which no agent gives",
            "hint: write a scorer that judges items",
        ],
    );
    check(
        "{ type: none, shows: [problem, answr] }",
        "exact",
        &["e.yaml:2:39: ", "answr", "`answer`"],
    );
    check(
        "{ type: none, shows: [] }",
        "exact",
        &["the judge sees no field of the items"],
    );
    check(
        "{ type: none, shows: [answer, answer] }",
        "exact",
        &["`answer` is listed twice"],
    );
    check(
        "none",
        "{ type: judge, rubric: aime, agent: none }",
        &[
            "e.yaml:3:45: scorer `judge`, option `agent`: the agent `none` cannot be called",
            "write the judge's agent",
        ],
    );
    let project = Project::with_eval(&[("q1", 1, "1?", "1")], "none", "scorer: exact\n");
    let ran = project.run("run eval.yaml").exits(2);
    ran.says("agent `none` needs a benchmark with items; `gaia` has none")
        .says("hint: take `benchmark: { type: items");
}
