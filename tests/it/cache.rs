//! Answers that were given before are not asked for again.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::project::{Project, Ran};

const QUESTIONS: [(&str, u32, &str, &str); 3] = [
    ("q1", 1, "a?", "1"),
    ("q2", 1, "b?", "2"),
    ("q3", 2, "c?", "3"),
];

/// An agent that notes each question in `asked.log`, and is right but for `q3`.
const AGENT: &str = "#!/bin/sh\nwhile read -r _; do :; done\necho \"$EVALTEST_SAMPLE_ID.$EVALTEST_EPOCH\" >> asked.log\n\
    case $EVALTEST_SAMPLE_ID in q3) test -f broken && exit 3;; esac\n\
    case $EVALTEST_SAMPLE_ID in q3) answer=9;; *) answer=${EVALTEST_SAMPLE_ID#q};; esac\n\
    echo \"{\\\"answer\\\": \\\"$answer\\\", \\\"usage\\\": {\\\"input_tokens\\\": 10, \\\"cost_usd\\\": 0.5}}\"\n";

fn project(agent: &str, more: &str) -> Project {
    let agent =
        format!("{{ type: command, command: [./agent.sh], input: json, output: json{agent} }}");
    let project = Project::with_eval(&QUESTIONS, &agent, more);
    project.script("agent.sh", AGENT);
    project
}

/// What was asked since this was asked last.
fn requested(project: &Project) -> Vec<String> {
    let path = project.file("asked.log");
    let log = fs::read_to_string(&path).unwrap_or_default();
    let _ = fs::remove_file(path);
    let mut requested: Vec<_> = log.lines().map(str::to_owned).collect();
    requested.sort();
    requested
}

fn all() -> Vec<String> {
    ["q1.0", "q2.0", "q3.0"].map(str::to_owned).to_vec()
}

fn files(project: &Project) -> Vec<PathBuf> {
    let buckets = fs::read_dir(project.file("evaltest-runs/.cache"));
    let buckets = buckets.into_iter().flatten().flatten();
    let files = buckets.filter_map(|bucket| fs::read_dir(bucket.path()).ok());
    files.flatten().flatten().map(|file| file.path()).collect()
}

#[test]
fn what_was_answered_before_is_not_asked_again_and_is_marked() {
    let project = project(
        "",
        "cache: true\ngates: [accuracy >= 0.6, cost_usd <= 2, tokens <= 100]\n",
    );
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says_nothing_of("from the cache");
    assert_eq!(requested(&project), all());
    let first = project.last_json("summary.json");
    assert!(first.get("cached").is_none());
    assert_eq!(
        (&first["usage"]["cost_usd"], &first["attempts"]),
        (&1.5.into(), &3.into())
    );
    let before = project.last_lines("samples.jsonl");
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("3 samples, 2 correct")
        .says("3 of 3 answers from the cache")
        // Nothing was spent.
        .says("gate cost_usd <= 2: passed: cost 0.0000 USD");
    assert!(requested(&project).is_empty());
    let summary = project.last_json("summary.json");
    assert_eq!(summary["cached"], 3);
    assert_eq!(summary["slices"]["level"]["1"]["cached"], 2);
    assert_eq!(summary["attempts"], 0);
    assert_eq!(summary["latency_s"], Value::Null);
    assert_eq!(summary["usage"]["input_tokens"], 0);
    let after = project.last_lines("samples.jsonl");
    for (before, after) in before.iter().zip(&after) {
        let (before, after) = (&before["result"], &after["result"]);
        assert_eq!(after["cached"], true);
        assert!(before.get("cached").is_none());
        for same in ["output", "prediction", "score", "usage", "latency_s"] {
            assert_eq!(before[same], after[same], "{same}");
        }
    }
    let events = project.last_lines("events.jsonl");
    let answered = events.iter().filter(|event| event["kind"] == "answered");
    assert!(answered.clone().count() == 3 && answered.clone().all(|event| event["cached"] == true));
    assert!(events.iter().all(|event| event["kind"] != "started"));
    let dir = project.last_run();
    project
        .run(&format!("show {} q1", dir.display()))
        .exits(0)
        .says("from the cache; the original answer took");
    // Scored again they stay what they are.
    let dir = project.last_run().display().to_string();
    project
        .run(&format!("rescore -v {dir}"))
        .exits(0)
        .says("3 of 3 answers from the cache");
}

#[test]
fn it_is_off_unless_asked_for_and_flags_decide() {
    let project = project("", "");
    for _ in 0..2 {
        project.run("run eval.yaml").exits(0);
        assert_eq!(requested(&project), all());
    }
    assert!(!project.file("evaltest-runs/.cache").exists());
    project.run("run eval.yaml --cache").exits(0);
    assert_eq!(requested(&project), all());
    project.run("run eval.yaml --cache").exits(0);
    assert!(requested(&project).is_empty());
    project.run("run eval.yaml --cache --no-cache").exits(2);
    project.run("run eval.yaml --set cache=true").exits(0);
    assert!(requested(&project).is_empty());
    project
        .run("run eval.yaml --set cache=true --no-cache")
        .exits(0);
    assert_eq!(requested(&project), all());
    // A refresh replaces what was there.
    let times = || {
        files(&project)
            .iter()
            .map(|file| fs::metadata(file).unwrap().modified().unwrap())
            .min()
    };
    let before = times();
    project.run("run eval.yaml --refresh").exits(0);
    assert_eq!(requested(&project), all());
    assert!(
        times() > before && files(&project).len() == 3,
        "{:?}",
        files(&project)
    );
    project
        .run_of(&["run", "eval.yaml", "--set", "cache={path: answers}"])
        .exits(0);
    assert_eq!(requested(&project), all());
    assert!(project.file("answers/.gitignore").exists());
    project
        .run_of(&["run", "eval.yaml", "--set", "cache=perhaps"])
        .exits(2)
        .says("`cache: { path: DIR }`");
}

#[test]
fn whatever_changes_the_agent_or_the_question_is_asked_anew() {
    let project = project(", env: [MODEL]", "cache: true\n");
    let spec = project.read("eval.yaml");
    let run = |arguments: &[&str], model: &str, expect: &[&str], why: &str| {
        let mut command = project.command("run eval.yaml");
        let ran = command
            .args(arguments)
            .env("MODEL", model)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{why}: {ran:?}");
        assert_eq!(requested(&project), expect, "{why}");
    };
    let every = ["q1.0", "q2.0", "q3.0"];
    run(&[], "m1", &every, "first");
    run(&[], "m1", &[], "the same");
    run(
        &["--concurrency", "1", "--timeout-s", "7"],
        "m1",
        &[],
        "limits answer nothing",
    );
    run(&[], "m2", &every, "a variable that the spec names");
    run(&["--agent-option", "depth=2"], "m1", &every, "options");
    run(
        &["--set", "prompt={template: 'Well: {prompt}'}"],
        "m1",
        &every,
        "prompt",
    );
    run(
        &["--epochs", "2"],
        "m1",
        &["q1.1", "q2.1", "q3.1"],
        "only the epoch that is new",
    );
    project.script("agent.sh", &format!("{AGENT}# changed\n"));
    run(&[], "m1", &every, "the program itself");
    project.script("agent.sh", AGENT);
    run(&[], "m1", &[], "as it was");
    let questions = QUESTIONS.map(|(id, level, text, answer)| {
        let text = if id == "q2" { "other?" } else { text };
        (id, level, text, answer)
    });
    project.questions(&questions);
    run(&[], "m1", &["q2.0"], "one question");
    // Neither the ground truth nor a scorer is the agent's business.
    project.questions(&questions.map(|(id, level, text, _)| (id, level, text, "7")));
    run(&[], "m1", &[], "another truth");
    project.write("helper.py", "1");
    project.write(
        "eval.yaml",
        spec.replace("[./agent.sh]", "[./agent.sh, --with=helper.py]"),
    );
    run(&[], "m1", &every, "another argument");
    run(&[], "m1", &[], "the same argument");
    project.write("helper.py", "2");
    run(&[], "m1", &every, "a file that an argument names");
    for (file, why) in [("lib/module.sh", "a module"), ("prompt.txt", "a prompt")] {
        project.write(file, "1");
        run(&[], "m1", &every, why);
        run(&[], "m1", &[], "the same files beside it");
    }
    project.write("evals/data.csv", "1");
    run(&[], "m1", &[], "a file that is neither");
    let confined = [
        ("agent.ulimits={ cpu_s: 50 }", true),
        ("agent.input=text", true),
        ("snapshot.assert=off", false),
        ("extract=last_line", false),
        ("scorers=[exact]", false),
        ("gates=[accuracy >= 0]", false),
        ("name=other", false),
    ];
    for (setting, counts) in confined {
        let expect: &[&str] = if counts { &every } else { &[] };
        run(&["--set", setting], "m1", expect, setting);
    }
    for file in files(&project) {
        let text = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
        assert!(!text.contains("m1") && !text.contains("depth"), "{text}");
    }
}

#[test]
fn in_ci_a_baseline_is_compared_with_cached_answers_where_that_is_allowed() {
    let gates = "cache: true\ngates: [accuracy >= 0.5, 'no_regression(alpha=0.3)']\n";
    let project = project("", gates);
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    let run = |command: &str| {
        let mut command = project.command(command);
        Ran::of(&command.env("CI", "1").output().unwrap())
    };
    run("run eval.yaml")
        .exits(3)
        .says("every answer came from the cache");
    run("run eval.yaml --allow-cached").exits(0);
    run("gate").exits(3);
    run("gate --allow-cached").exits(0);
    // A rescored run judges anew.
    run(&format!("rescore {}", project.last_run().display())).exits(0);
    run("gate").exits(0);
    run("run eval.yaml --refresh").exits(0);
}

#[test]
fn failures_and_answers_with_secrets_are_not_kept() {
    let project = project("", "cache: true\nredact: ['corp-[0-9]+']\n");
    project.write("broken", "");
    project
        .run("run eval.yaml")
        .exits(3)
        .says("q3: exited with code 3");
    assert_eq!(requested(&project), all());
    fs::remove_file(project.file("broken")).unwrap();
    project
        .run("run eval.yaml")
        .exits(0)
        .says("2 of 3 answers from the cache");
    assert_eq!(requested(&project), ["q3.0"]);
    project.script("agent.sh", &AGENT.replace("answer=9", "answer=corp-123"));
    for _ in 0..2 {
        project.run("run eval.yaml").exits(0);
        assert!(requested(&project).contains(&"q3.0".to_owned()));
    }
    for file in files(&project) {
        assert!(!String::from_utf8_lossy(&fs::read(file).unwrap()).contains("corp-123"));
    }
}

#[test]
fn what_is_wrong_with_the_folder_is_told_once_and_costs_nothing() {
    let project = project("", "cache: true\n");
    project.run("run -v eval.yaml").exits(0);
    requested(&project);
    let answers: Vec<_> = files(&project)
        .into_iter()
        .filter(|file| file.extension().is_some_and(|end| end == "answer"))
        .collect();
    let mut damaged = fs::read(&answers[0]).unwrap();
    let end = damaged.len() - 5;
    damaged[end] ^= 1;
    fs::write(&answers[0], damaged).unwrap();
    fs::write(&answers[1], "mine").unwrap();
    let ran = project
        .run("run -v eval.yaml")
        .exits(0)
        .says("in the cache cannot be used: it ");
    assert_eq!(
        ran.err.matches("cannot be used").count() + ran.out.matches("cannot be used").count(),
        1,
        "{ran:?}"
    );
    assert_eq!(requested(&project).len(), 2);
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("3 of 3 answers from the cache")
        .says_nothing_of("cannot be used");
    fs::remove_dir_all(project.file("evaltest-runs/.cache")).unwrap();
    project.write("evaltest-runs/.cache", "a file");
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("the cache cannot store answers: ")
        .says("3 samples, 2 correct");
    assert_eq!(requested(&project), all());
}

#[test]
fn a_resumed_run_and_one_of_what_failed_know_what_came_from_it() {
    let project = project(
        "",
        "cache: true\nsnapshot: { assert: correct }\n"
            .replace("snapshot", "# snapshot")
            .as_str(),
    );
    project.run("run eval.yaml").exits(0);
    requested(&project);
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    // The end of the run is lost, and so is the cache.
    let journal = fs::read_to_string(dir.join("events.jsonl")).unwrap();
    let lines: Vec<_> = journal
        .lines()
        .filter(|line| line.contains("\"answered\""))
        .collect();
    fs::write(dir.join("events.jsonl"), lines.join("\n") + "\n").unwrap();
    project
        .run("cache clear")
        .exits(0)
        .says("3 answers removed");
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0)
        .says("3 of 3 answers from the cache");
    assert!(requested(&project).is_empty());
    project.run("run eval.yaml").exits(0);
    requested(&project);
    // Who asks again what was wrong wants another answer.
    project
        .run(&format!(
            "run eval.yaml --failed {}",
            project.last_run().display()
        ))
        .exits(0);
    assert_eq!(requested(&project), ["q3.0"]);
}

#[test]
fn hits_take_nothing_of_a_budget() {
    let project = project(
        "",
        "cache: true\nlimits: { concurrency: 1, budget: { requests: 2 } }\n",
    );
    project
        .run("run eval.yaml")
        .exits(3)
        .says("the budget is used up: 2 requests");
    assert_eq!(requested(&project).len(), 2);
    project
        .run("run eval.yaml")
        .exits(0)
        .says("2 of 3 answers from the cache");
    assert_eq!(requested(&project).len(), 1);
    project
        .run("run eval.yaml --set limits.budget.requests=1 --set gates=[latency_p95<=60]")
        .exits(3)
        .says("no answer was timed");
}

#[test]
fn runs_at_once_share_it() {
    let project = project("", "cache: true\n");
    std::thread::scope(|scope| {
        for number in 0..4 {
            let project = &project;
            let arguments = format!("run eval.yaml --run-id r{number}");
            scope.spawn(move || project.run(&arguments).exits(0).says_nothing_of("note:"));
        }
    });
    requested(&project);
    let remaining = files(&project);
    assert_eq!(remaining.len(), 3, "{remaining:?}");
    project
        .run("run eval.yaml")
        .exits(0)
        .says("3 of 3 answers from the cache");
    assert!(requested(&project).is_empty());
}

#[test]
fn it_can_be_looked_at_and_cleared() {
    let project = project("", "cache: true\n");
    project
        .run("cache stats")
        .exits(0)
        .says("0 answers, 0 bytes");
    project.run("run eval.yaml").exits(0);
    project
        .run("cache stats")
        .exits(0)
        .says(".cache: 3 answers, ")
        .says("stored 0 to 0 days ago");
    let stats = project.run("cache stats eval.yaml --json").exits(0).json();
    assert_eq!(stats["caches"][0]["answers"], 3);
    project
        .run("cache clear --older-than 1")
        .exits(0)
        .says("0 answers removed");
    project.run("cache clear --older-than -1").exits(2);
    project.write("evaltest-runs/.cache/mine.txt", "stays");
    project
        .run("cache clear eval.yaml")
        .exits(0)
        .says("3 answers removed");
    assert_eq!(project.read("evaltest-runs/.cache/mine.txt"), "stays");
    project
        .run("cache stats --path evaltest-runs/.cache")
        .exits(0)
        .says("0 answers");
    requested(&project);
    project.run("run eval.yaml").exits(0);
    assert_eq!(requested(&project), all());
}

#[test]
fn under_cargo_test_hits_are_taken_and_confirmations_are_not() {
    use crate::trials;
    // What is wrong now the key cannot know.
    let then = "wrong=$(cat \"${0%/*}/wrong\" 2> /dev/null || echo none)\n\
                case $EVALTEST_SAMPLE_ID in $wrong) echo 99; exit;; esac";
    let project = trials::accepted(3, then, "cache: true\ngates: [accuracy >= 0]\n");
    let run = |wrong: &str| {
        project.write("wrong", wrong);
        trials::forget(&project);
        let ran = trials::run(&project, "");
        (ran, crate::requested::requested(&project).len())
    };
    let (ran, requested) = run("none");
    assert_eq!((ran.code, requested), (Some(0), 0), "{}", ran.out);
    assert_eq!(project.last_json("summary.json")["cached"], 3);
    project
        .run(&format!("cache clear {}", trials::SPEC))
        .exits(0);
    let (ran, requested) = run("q000");
    assert_eq!(trials::verdict(&ran, "q000"), "FAILED");
    assert_eq!(requested, 3 + 2);
    for (asks, expect) in [
        ("refresh", 3 + 2),
        ("off", 3 + 2),
        ("on", 2),
        ("perhaps", 0),
    ] {
        trials::forget(&project);
        let mut command = trials::command(&project, "");
        let ran = command.env("EVALTEST_CACHE", asks).output().unwrap();
        let requested = crate::requested::requested(&project).len();
        assert_eq!(requested, expect, "{asks}: {ran:?}");
    }
    // The wrong answer was kept; those that confirm it are asked for.
    let (ran, requested) = run("none");
    assert_eq!(
        (trials::verdict(&ran, "q000").as_str(), requested),
        ("ok", 1),
        "{}",
        ran.out
    );
    let (ran, requested) = run("q000");
    assert_eq!(
        (trials::verdict(&ran, "q000").as_str(), requested),
        ("FAILED", 2),
        "{}",
        ran.out
    );
}
