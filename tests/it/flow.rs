//! `flow`: items are generated, judged, compared with real ones and reported, in one folder and in one go.

mod given;
mod goes_on;
mod killed;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::project::{Project, root};
use crate::puzzles::{EASY, answer, contents, folder, project_of};
use crate::server::{Server, chat, fine, refusal};

fn state(project: &Project) -> Value {
    let text = std::fs::read_to_string(folder(project).join("flow.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn report(project: &Project) -> String {
    std::fs::read_to_string(folder(project).join("comprehensive_report.md")).unwrap()
}

fn statuses(state: &Value) -> Vec<&str> {
    let stages = state["stages"].as_array().unwrap();
    let stages = stages.iter().map(|stage| stage["status"].as_str().unwrap());
    stages.collect()
}

#[test]
fn the_recorded_flow_tells_the_whole_story() {
    let project = Project::new();
    let spec = root().join("fixtures/flow/aime.yaml");
    let output = project.file("evaltest-runs");
    let ran = project
        .run_of(&[
            "flow",
            spec.to_str().unwrap(),
            "--output-root",
            output.to_str().unwrap(),
            "--run-id",
            "recorded",
        ])
        .exits(0)
        .says("generate: done")
        .says("11 of 12 items accepted, 7 replies refused")
        .says("wins 5, ties 1, losses 3, inconsistent 2, unreadable 0; 45.5 %")
        .says("comprehensive_report.html")
        .says("cargo evaltest review ");
    assert!(!ran.out.contains("failed"), "{}", ran.out);
    let state = state(&project);
    assert_eq!(state["exit_code"], 0);
    assert_eq!(statuses(&state), ["done", "done", "done"]);
    let figures = &state["figures"];
    let generation = &figures["generation"]["found"];
    assert_eq!(generation["accepted"], 11);
    assert_eq!(generation["refused"], 7);
    let judge = &figures["judge"]["found"];
    assert_eq!((&judge["items"], &judge["unread"]), (&json!(11), &json!(1)));
    assert_eq!(judge["total"]["mean"], 4.325);
    assert_eq!(judge["pass"]["part"], 9);
    let pairs = &figures["winrate"]["found"]["pairs"];
    let counts = ["wins", "ties", "losses", "inconsistent", "unreadable"];
    assert_eq!(
        counts.map(|name| pairs[name].as_u64().unwrap()),
        [5, 1, 3, 2, 0]
    );

    let folder = folder(&project);
    let markdown = report(&project);
    for section in [
        "## 1. Conclusion\n",
        " pass the judge: 90.0 % (59.6 % to 98.2 %), 9 of 10\n",
        "## 2. Next steps\n\n- ",
        "## 3. Suggestions",
        "## 4. Generation",
        "## 5. Judge",
        "## 6. Win rate against real items",
        "## 7. Setup and cost",
        "| Geometry | 2 | 2 |",
        "Mean of 10 items: **4.33/5.0 (95 % interval ",
        "| difficulty match | ",
        "could not be judged",
        "uncalibrated",
        "With 11 pairs no difference between the generated items and real ones can be shown: 5 wins, 1 tie, 3 losses, 2 \
         inconsistent of 11 pairs (wins 45.5 %, 95 % interval 21.3 % to 72.0 %",
        "- **passed**, judge: accuracy(judge) 90.0 % (9 of 10 pass",
    ] {
        assert!(
            markdown.contains(section),
            "`{section}` is not in:\n{markdown}"
        );
    }
    // Both say the same: every line of words of one is in the other.
    let page = std::fs::read_to_string(folder.join("comprehensive_report.html")).unwrap();
    let page = ["<code>", "</code>", "<strong>", "</strong>"]
        .iter()
        .fold(page, |page, tag| page.replace(tag, ""));
    for line in markdown.lines().filter(|line| line.starts_with("- ")) {
        let line = line.trim_start_matches("- ").replace(['`', '\\', '*'], "");
        let line = line.replace('\'', "&#39;");
        assert!(
            page.contains(&line) || page.contains(&line.replace("&#39;", "'")),
            "`{line}` is not in the page"
        );
    }
    let names: Vec<_> = state["files"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 6, "{names:?}");
    for name in names {
        assert!(folder.join(name.as_str().unwrap()).is_file(), "{name}");
    }
    // A stage is a run like any other.
    let runs = std::fs::read_dir(&folder).unwrap().flatten();
    let runs = runs.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let judge = runs
        .into_iter()
        .find(|name| name.ends_with("_judge"))
        .unwrap();
    project
        .run_of(&["show", folder.join(judge).to_str().unwrap()])
        .exits(0);
    // What is over is not asked again, and the files stay what they are.
    let before = contents(&folder);
    project
        .run_of(&["flow", "--resume", folder.to_str().unwrap()])
        .exits(0)
        .says("wins 5");
    assert_eq!(contents(&folder), before);
}

fn of_model(server: &Server, model: &str) -> usize {
    let requested = server.requested();
    let of_model = requested.iter().filter(|it| it.body["model"] == model);
    of_model.count()
}

#[test]
fn a_judge_that_is_down_leaves_the_win_rate_and_is_asked_when_the_flow_goes_on() {
    let is_up = Arc::new(AtomicBool::new(false));
    let up = Arc::clone(&is_up);
    let server = Server::new(move |requested, _| {
        if requested.body["model"] == "judge" && !up.load(Ordering::SeqCst) {
            return refusal("500 Internal Server Error", "it is down");
        }
        answer(requested)
    });
    let project = project_of(&server, EASY);
    let ran = project.run("flow flow.yaml").exits(3);
    let ran = ran
        .says("judge: failed: no reply of the judge could be read")
        .says("winrate: done");
    ran.says("wins 0, ties 6")
        .says("cargo evaltest flow --resume ");
    let state_of = state(&project);
    assert_eq!(statuses(&state_of), ["done", "failed", "done"]);
    assert_eq!(state_of["exit_code"], 3);
    let text = report(&project);
    for words in [
        "**This stage failed, so there are no figures:** ",
        "Stage judge failed",
        "flow --resume ",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    // No default figure stands for the missing ones.
    assert!(
        !text.contains("Average") && !text.contains("3.0/5.0"),
        "{text}"
    );
    let folder = folder(&project);
    assert!(!folder.read_dir().unwrap().flatten().any(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with("llm_judge_report")
    }));

    is_up.store(true, Ordering::SeqCst);
    let before = ["writer", "pairs"].map(|model| of_model(&server, model));
    let resume = ["flow", "--resume", folder.to_str().unwrap()];
    project.run_of(&resume).exits(0).says("judge: done");
    assert_eq!(
        ["writer", "pairs"].map(|model| of_model(&server, model)),
        before
    );
    assert!(report(&project).contains(" items: **4."));
    assert_eq!(state(&project)["exit_code"], 0);
}

#[test]
fn a_comparison_that_is_down_leaves_the_judge_and_without_items_nothing_is_judged() {
    let server = Server::new(|requested, _| match requested.body["model"].as_str() {
        Some("pairs") => refusal("401 Unauthorized", "no such key"),
        _ => answer(requested),
    });
    let project = project_of(&server, EASY);
    let ran = project.run("flow flow.yaml").exits(3);
    ran.says("judge: done")
        .says("winrate: failed: ")
        .says("judge: mean 4.25");
    let text = report(&project);
    assert!(
        text.contains(" items: **4.25") && text.contains("Stage winrate failed"),
        "{text}"
    );
    assert!(!text.contains("Win rate **"), "{text}");

    // Not one reply is an item: that is the generator's own, and the report says why.
    let server = Server::new(|requested, _| match requested.body["model"].as_str() {
        Some("writer") => fine(&chat("I would rather not.")),
        _ => answer(requested),
    });
    let project = project_of(&server, EASY);
    let ran = project.run("flow flow.yaml").exits(3);
    ran.says("generate: failed: no item was accepted: each reply was refused")
        .says("judge: left out: no item was accepted");
    assert_eq!(of_model(&server, "judge") + of_model(&server, "pairs"), 0);
    let text = report(&project);
    for words in [
        "Accepted: 0 of 6 requested items",
        "| readable | 24 |",
        "Not run: no item was accepted",
        "Many items never passed",
        "Stage generate failed",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    // One that cannot be reached at all is an outage, and is asked when the flow goes on.
    let is_up = Arc::new(AtomicBool::new(false));
    let up = Arc::clone(&is_up);
    let server = Server::new(move |requested, _| {
        if up.load(Ordering::SeqCst) {
            answer(requested)
        } else {
            refusal("500 Internal Server Error", "it is down")
        }
    });
    let project = project_of(&server, EASY);
    project
        .run("flow flow.yaml")
        .exits(3)
        .says("generate: failed: no item was accepted; 6 of 6 without a reply (6 ")
        .says("cargo evaltest flow --resume ");
    assert!(!report(&project).contains("never passed"));
    is_up.store(true, Ordering::SeqCst);
    let folder = folder(&project);
    project
        .run_of(&["flow", "--resume", folder.to_str().unwrap()])
        .exits(0)
        .says("6 of 6 items accepted");
}

#[test]
fn a_gate_that_fails_is_exit_1_and_without_a_judge_the_generator_judges() {
    let server = Server::new(|requested, _| answer(requested));
    let project = project_of(&server, "gates: [mean(judge.total) >= 4.9]");
    project
        .run("flow flow.yaml")
        .exits(1)
        .says("gate failed, judge: mean(judge.total) ");
    let text = report(&project);
    assert!(
        text.contains("the whole interval is below 4.9") || text.contains("misses"),
        "{text}"
    );

    // A judge that is the generator, and nothing to compare with: both are said.
    let server = Server::new(|requested, _| {
        let mut requested = requested.clone();
        let judges = requested.prompt().contains("Puzzle ");
        requested.body["model"] = json!(if judges { "judge" } else { "writer" });
        answer(&requested)
    });
    let project = project_of(&server, EASY);
    let spec = project.read("flow.yaml");
    let lines = spec.lines().filter(|line| {
        !line.starts_with("winrate") && !line.contains("reference") && !line.starts_with("judge")
    });
    let spec: Vec<_> = lines.collect();
    project.write("flow.yaml", spec.join("\n"));
    let ran = project.run("flow flow.yaml").exits(0);
    ran.says("the generator judges its own items")
        .says("no `--reference`")
        .says("winrate: left out");
    let text = report(&project);
    for words in [
        "The judge is the generator itself",
        "Not run: no real items given",
        "name a judge of another family",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
}

#[test]
fn bad_input_is_one_line_and_asks_nobody() {
    let server = Server::new(|requested, _| answer(requested));
    let project = project_of(&server, EASY);
    let check = |arguments: &str, says: &str| {
        let ran = project.run(arguments).exits(2).says(says);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    };
    check("flow flow.yaml --count 0", "count");
    check("flow nothing.yaml", "flow `nothing.yaml` does not exist");
    check(
        "flow aimee --agent echo",
        "did you mean `cargo evaltest flow aime`?",
    );
    check("flow", "no agent to generate items");
    check("flow flow.yaml --delay-s=-1", "delay");
    check("flow flow.yaml --reference missing.json", "missing.json");
    project.write("other.json", "{\"rows\": 3}");
    check("flow flow.yaml --reference other.json", "other.json");
    project.write("a-file", "");
    check("flow flow.yaml --output-root a-file", "a-file");
    check("flow flow.yaml --run-id a/b", "is not a file name");
    check(
        "flow --resume evals-of-nobody",
        "is not the folder of a flow",
    );
    let spec = project.read("flow.yaml");
    for (from, to, says) in [
        ("rubric: aime", "rubrik: aime", "rubrik"),
        ("judge:", "jugde:", "jugde"),
        ("generate:", "benchmark: gaia\ngenerate:", "not of a flow"),
        (
            "mean(judge.total) >= 3",
            "mean(judge.total)",
            "mean(judge.total)",
        ),
    ] {
        project.write("broken.yaml", spec.replacen(from, to, 1));
        check("flow broken.yaml", says);
    }
    assert_eq!(server.requested().len(), 0);

    project
        .run("flow flow.yaml --dry-run")
        .exits(0)
        .says("at most 6 items");
    assert_eq!(server.requested().len(), 0);
    project.run("flow flow.yaml").exits(0);
    let folder = folder(&project);
    let resume = format!("flow --resume {}", folder.display());
    // The spec is another one by now.
    project.write(
        "flow.yaml",
        spec.replacen("criteria: which", "criteria: what", 1),
    );
    check(&resume, "the spec changed since");
    project.write("flow.yaml", &spec);
    let file = folder.join("flow.json");
    let whole = std::fs::read_to_string(&file).unwrap();
    std::fs::write(
        &file,
        whole.replacen("\"format_version\": 1", "\"format_version\": 9", 1),
    )
    .unwrap();
    check(&resume, "has format 9");
    std::fs::write(&file, &whole[..40]).unwrap();
    check(&resume, "is damaged");
}

#[test]
fn what_people_say_is_in_the_report_and_has_a_gate() {
    let server = Server::new(|requested, _| answer(requested));
    let project = project_of(&server, "");
    // The items of this flow lose no pair and win none.
    project
        .run("flow flow.yaml")
        .exits(1)
        .says_nothing_of("reviewed");
    let folder = folder(&project);
    let state_of = state(&project);
    let items = state_of["files"][0].as_str().unwrap().to_owned();
    let reviewed = |status: &str| {
        let entries = (1..=4).map(|number| {
            let id = format!("gen_item_{number}");
            let entry = json!({
                "problem_id": id, "scores": {"clarity": 4, "correctness": 5}, "total_score": 4.5, "status": status,
                "comments": "", "verified_at": "2026-01-02T03:04:05.678Z", "reviewer": "anna", "format_version": 1,
            });
            (id, entry)
        });
        let entries: serde_json::Map<String, Value> = entries.collect();
        let file = items.replace(".json", "_verifications.json");
        std::fs::write(folder.join(file), Value::from(entries).to_string()).unwrap();
    };
    let requested = server.requested().len();
    let resume = ["flow", "--resume", folder.to_str().unwrap()];
    reviewed("approved");
    project
        .run_of(&resume)
        .exits(1)
        .says("gate passed, review: reviewed.approved 100.0 %");
    let text = report(&project);
    for words in [
        "### Human review",
        "Reviewed: 4 of 6 items",
        "| approved | 4 | 100.0 % (51.0 % to 100.0 %) |",
        "People approve 4 of 4 reviewed items",
        "enough for the limit of 90.0 %, but the interval extends below it",
        "| correctness | 5.00 |",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    reviewed("rejected");
    project
        .run_of(&resume)
        .exits(1)
        .says("gate failed, review: reviewed.approved 0.0 %");
    assert!(report(&project).contains("People do not approve enough items"));
    reviewed("no such status");
    project
        .run_of(&resume)
        .exits(2)
        .says("is not a verification");
    // What the journals have not, or have otherwise, nobody said.
    reviewed("approved");
    let review_file = |end: &str| folder.join(items.replace(".json", end));
    let file = review_file("_verifications.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("gen_item_", "other_")).unwrap();
    project
        .run_of(&resume)
        .exits(2)
        .says("item `other_1` is not in the file");
    let all: Value = serde_json::from_str(&text).unwrap();
    let lines = all.as_object().unwrap().values().map(|entry| {
        let line = json!({
            "event": "submitted", "id": entry["problem_id"], "reviewer": "anna", "at": entry["verified_at"], "item": "",
            "chosen": "all", "version": 0, "verification": entry, "format_version": 1,
        });
        format!("{line}\n")
    });
    let journal = review_file("_reviews").join("anna.jsonl");
    std::fs::create_dir(review_file("_reviews")).unwrap();
    std::fs::write(journal, lines.collect::<String>()).unwrap();
    std::fs::write(&file, &text).unwrap();
    project
        .run_of(&resume)
        .exits(1)
        .says("gate passed, review: reviewed.approved 100.0 %");
    for (edited, says) in [
        (
            text.replacen("approved", "rejected", 1),
            "_verifications.json:1: `gen_item_1` differs from the latest review",
        ),
        (
            "{}".to_owned(),
            "_verifications.json:1: it lacks `gen_item_1`",
        ),
        (
            text.replace("gen_item_", "other_"),
            "_verifications.json:1: `other_1` differs from the latest review",
        ),
    ] {
        std::fs::write(&file, &edited).unwrap();
        project.run_of(&resume).exits(2).says(says);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), edited);
    }
    assert_eq!(server.requested().len(), requested);
}

#[test]
fn flows_are_no_specs_and_have_a_schema() {
    let project = Project::new();
    let schema = project.run("schema --flow").exits(0).json();
    let keys: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert!(keys.iter().any(|key| *key == "winrate"), "{keys:?}");
    let text = std::fs::read_to_string(root().join("fixtures/flow/aime.yaml")).unwrap();
    for line in text
        .lines()
        .filter(|line| !line.starts_with([' ', '#', '-']))
    {
        let key = line.split(':').next().unwrap().to_owned();
        assert!(keys.contains(&&key), "{key}");
    }
    // Those who run all specs of a folder do not stumble over it.
    project.write("evals/flow.yaml", &text);
    project.write(
        "evals/a.yaml",
        "name: a\nbenchmark: { type: custom, samples: [{ id: a, prompt: A, ground_truth: A }] }\nagent: echo\n",
    );
    project.run("list evals").exits(0).says("a::a");
}
