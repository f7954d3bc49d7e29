//! The history of an eval: a line for each run that is to have one, and for each acceptance.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use needs::needs;
use serde_json::{Value, json};

use crate::project::{Project, Ran, json_lines};
use crate::requested;

const FILE: &str = "snapshots/e/history.jsonl";
const COMMAND: &str = "{ type: command, command: [./agent.sh], input: json }";

/// Six questions, of which the agent knows three, and one less while `wrong` exists; it fails at q004 while `broken` does.
fn project(more: &str) -> Project {
    let then = "case $EVALTEST_SAMPLE_ID in q002) test ! -f wrong || { echo 99; exit; };; \
                q004) test ! -f broken || exit 3;; esac";
    let project = requested::project(6, then, "");
    project.spec(COMMAND, more);
    project
}

fn lines(project: &Project) -> Vec<Value> {
    json_lines(&project.file(FILE))
}

/// Runs the eval as a point of its history, and gives the line.
fn point(project: &Project, more: &str) -> Value {
    let ran = project.run(&format!("run eval.yaml --history {more}"));
    assert!(ran.code == Some(0) || ran.code == Some(1), "{ran:?}");
    lines(project).pop().unwrap()
}

/// The bits of base64, as any program reads it.
fn bits(text: &Value) -> String {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.as_str().unwrap().trim_end_matches('=').chars();
    let places = digits.map(|digit| DIGITS.find(digit).unwrap());
    places
        .flat_map(|place| (0..6).map(move |bit| place >> (5 - bit) & 1 == 1))
        .map(|bit| if bit { '1' } else { '0' })
        .collect()
}

#[test]
fn a_run_that_is_to_has_a_line_and_an_acceptance_always() {
    let project = project("gates: [accuracy >= 0.4]\n");
    project.run("run eval.yaml").exits(0);
    // A run that is not asked to changes nothing that is committed.
    assert!(!project.file("snapshots").exists());
    project
        .run("run eval.yaml --history")
        .exits(0)
        .says("this run is added to the history: commit snapshots/e/history.jsonl");
    let first = lines(&project).remove(0);
    let manifest = project.last_json("manifest.json");
    for (name, of) in [
        ("id", "run_id"),
        ("eval", "eval"),
        ("dataset_hash", "dataset_hash"),
        ("scorer_hash", "scorer_hash"),
        ("agent_hash", "agent_hash"),
        ("prompt", "prompt"),
        ("duration_s", "duration_s"),
    ] {
        if name == "duration_s" {
            assert!(first[name].is_number(), "{first}");
        } else {
            assert_eq!(first[name], manifest[of], "{name}");
        }
    }
    let expect = json!({"format_version": 2, "kind": "run", "samples": 6, "scored": 6, "correct": 3, "errors": 0,
        "epochs": 1, "accuracy": 0.5, "error_rate": 0.0, "exit_code": 0});
    for (name, expect) in expect.as_object().unwrap() {
        assert_eq!(first[name], *expect, "{name}");
    }
    assert_eq!(first["gates"][0]["gate"], "accuracy >= 0.4");
    assert_eq!(first["gates"][0]["verdict"], "passed");
    assert_eq!(first["gates"][0]["value"], 0.5);
    assert_eq!(first["slices"]["level"]["1"]["scored"], 2);
    assert!(first["time"].as_str() > manifest["started_at"].as_str());
    assert!(first["latency_s"]["p95"].is_number());
    let answers = &first["answers"];
    assert_eq!(answers["count"], 6);
    assert_eq!(bits(&answers["runs"][0]["right"]), "101010000000");
    assert!(answers["runs"][0].get("known").is_none());
    assert!(first.get("runs").is_none() && first.get("cached").is_none());

    // Worse, by two answers each; without a verdict nothing is known.
    project.write("wrong", "");
    let worse = point(&project, "--epochs 2");
    assert_eq!(
        (&worse["samples"], &worse["correct"]),
        (&json!(12), &json!(4))
    );
    assert_eq!(worse["answers"]["samples"], answers["samples"]);
    let rows = worse["answers"]["runs"].as_array().unwrap();
    let rows: Vec<_> = rows.iter().map(|row| bits(&row["right"])).collect();
    assert_eq!(rows, ["100010000000"; 2]);
    fs::remove_file(project.file("wrong")).unwrap();
    project.write("broken", "");
    project
        .run("run eval.yaml --history --set limits.retries=0")
        .exits(3);
    let broken = lines(&project).pop().unwrap();
    let row = &broken["answers"]["runs"][0];
    assert_eq!(broken["errors"], 1);
    assert_eq!(bits(&row["right"]), "101000000000");
    assert_eq!(bits(&row["known"]), "111101000000");
    fs::remove_file(project.file("broken")).unwrap();

    // An answer that was given before is no new evidence.
    let requested = point(&project, "--cache");
    assert!(requested["answers"]["runs"][0].get("known").is_none());
    let cached = point(&project, "--cache");
    assert_eq!(cached["cached"], 6);
    assert_eq!(bits(&cached["answers"]["runs"][0]["known"]), "000000000000");

    // The baseline of one run, and of two.
    let before = lines(&project).len();
    let first = project.runs()[0].display().to_string();
    let second = project.runs()[2].display().to_string();
    project
        .run(&format!("accept --failed-gates {first}"))
        .exits(0);
    project
        .run(&format!("accept --failed-gates --add {second} --partial"))
        .exits(0);
    let [alone, both] = &lines(&project)[before..] else {
        panic!("{:?}", lines(&project));
    };
    assert_eq!(
        (&alone["kind"], &alone["correct"]),
        (&json!("accept"), &json!(3))
    );
    assert_eq!(alone["runs"].as_array().unwrap().len(), 1);
    assert_eq!(alone["answers"], lines(&project)[0]["answers"]);
    assert_eq!(alone["dataset_hash"], both["dataset_hash"]);
    assert_ne!(alone["id"], both["id"]);
    assert_eq!(both["runs"].as_array().unwrap().len(), 2);
    assert_eq!((&both["scored"], &both["correct"]), (&json!(18), &json!(7)));
    let rows = both["answers"]["runs"].as_array().unwrap();
    let rows: Vec<_> = rows.iter().map(|row| bits(&row["right"])).collect();
    assert_eq!(rows, ["101010000000", "100010000000", "100010000000"]);
    let attributes = project.read("snapshots/e/.gitattributes");
    assert_eq!(attributes.matches("merge=union").count(), 1);
}

#[test]
fn a_part_is_no_point_and_what_is_no_file_is_no_history() {
    let project = project("");
    project.run("run eval.yaml --limit 2").exits(0);
    let part = project.last_run();
    let _ = fs::remove_file(project.file("asked.log"));
    let refuses = |arguments: &str, why: &str| {
        project
            .run(&format!("run eval.yaml --history {arguments}"))
            .exits(2)
            .says(why);
        assert_eq!(requested::requested(&project), Vec::<String>::new());
    };
    refuses("--limit 2", "`--limit` runs only a part");
    refuses("--filter q001", "`--filter` runs only a part");
    refuses(
        &format!("--failed {}", part.display()),
        "`--failed` runs only a part",
    );
    refuses("--dry-run", "`--dry-run` calls no agent");
    refuses("--set limits.limit=2", "is for whole runs");
    refuses(
        &format!("--resume {} --set limits.limit=2", part.display()),
        "is for whole runs",
    );
    refuses("--watch", "--watch");
    assert!(!project.file("snapshots").exists());
    // What stands in the way is told before anybody is paid.
    project.write("elsewhere", "mine\n");
    fs::create_dir_all(project.file("snapshots/e")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", project.file(FILE)).unwrap();
    refuses(
        "",
        "`snapshots/e/history.jsonl` is a link: the history needs a regular file",
    );
    assert_eq!(project.read("elsewhere"), "mine\n");
    fs::remove_file(project.file(FILE)).unwrap();
    let made = Command::new("mkfifo").arg(project.file(FILE)).status();
    assert!(made.unwrap().success());
    refuses("", "is not a file: the history needs a regular file");
    // A baseline stands whatever becomes of its line.
    project.run("run eval.yaml").exits(0);
    project
        .run("accept")
        .exits(0)
        .says("is now the baseline")
        .says("but not added to the history: `snapshots/e/history.jsonl` is not a file: the history needs a regular file\n");
    fs::remove_dir_all(project.file("snapshots")).unwrap();
    project.write("snapshots", "");
    let _ = fs::remove_file(project.file("asked.log"));
    refuses("--ignore-baseline", "`snapshots` is not a folder");
}

#[test]
fn a_run_that_stopped_is_added_when_it_went_on_and_once() {
    let project = project("limits: { retries: 0, fail_fast: true, concurrency: 1 }\n");
    project.write("broken", "");
    let stopped = project.run("run eval.yaml --history").exits(3);
    let stopped = stopped.says("this run is not added to the history: it stopped early");
    assert!(!project.file(FILE).exists());
    fs::remove_file(project.file("broken")).unwrap();
    let (_, hint) = stopped
        .err
        .split_once("cargo evaltest run --resume")
        .unwrap();
    let hint = hint.lines().next().unwrap().trim_end_matches('.');
    let again = format!("run eval.yaml --resume{hint}");
    assert!(again.ends_with(" --history"), "{again}");
    project
        .run(&again)
        .exits(0)
        .says("this run is added to the history");
    let once = project.read(FILE);
    assert_eq!(lines(&project).len(), 1);
    assert_eq!(lines(&project)[0]["scored"], 6);
    // There is nothing new to say.
    project.run(&again).exits(0);
    assert_eq!(project.read(FILE), once);
}

#[test]
fn a_tier_and_a_run_that_was_sure_are_points() {
    let project = project("tiers: { quick: { limit: 2 }, full: {} }\n");
    let quick = point(&project, "--tier quick");
    assert_eq!(
        (&quick["tier"], &quick["samples"]),
        (&json!("quick"), &json!(2))
    );
    assert!(quick.get("early").is_none());
    let full = point(&project, "--tier full");
    assert_eq!(
        (&full["tier"], &full["answers"]["count"]),
        (&json!("full"), &json!(6))
    );
    assert_ne!(full["answers"]["samples"], quick["answers"]["samples"]);

    let project = requested::project(40, "", "gates: [no_regression(early_stop=true)]\n");
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    requested::agent(&project, "echo 99; exit");
    project.run("run eval.yaml --history").exits(1);
    let line = lines(&project).pop().unwrap();
    let scored = usize::try_from(line["scored"].as_u64().unwrap()).unwrap();
    assert!(scored < 40 && line["early"] == true, "{line}");
    let row = &line["answers"]["runs"][0];
    assert_eq!(bits(&row["known"]).matches('1').count(), scored);
    assert_eq!(bits(&row["right"]).matches('1').count(), 0);
}

/// A line as a version wrote it that knew no checksum.
fn without_sum(mut line: Value) -> Value {
    line["format_version"] = 1.into();
    line.as_object_mut().unwrap().remove("sum").unwrap();
    line
}

#[test]
fn what_is_no_line_is_named_and_nobody_writes_over_it() {
    let project = project("");
    let good = without_sum(point(&project, "")).to_string();
    let foreign = good.replace("\"eval\":\"e\"", "\"eval\":\"other\"");
    let newer = good.replace("\"format_version\":1", "\"format_version\":99");
    let half = &good[..good.len() / 2];
    let text = format!(
        "{good}\n<<<<<<< HEAD\n{foreign}\n=======\nnonsense\n>>>>>>> other\n{newer}\n\u{7}\n{half}"
    );
    project.write(FILE, &text);
    let ran = project.run("run eval.yaml --history").exits(0);
    let ran = [
        "history.jsonl:2: left out of the history: it is a conflict marker",
        "history.jsonl:3: left out of the history: it belongs to eval `other`; move it to",
        "history.jsonl:5: left out of the history: it is not a line of a history",
        "3 further lines are left out",
    ]
    .into_iter()
    .fold(ran, Ran::says);
    ran.says("history.jsonl:6: ");
    let now = project.read(FILE);
    let (before, added) = now.split_at(text.len());
    assert_eq!(before, text);
    let added = added.strip_prefix('\n').unwrap();
    assert_eq!(added.matches('\n').count(), 1);
    assert!(added.ends_with('\n') && added.starts_with("{\"format_version\":2,"));
    // A clock that ran ahead.
    let mut ahead = without_sum(serde_json::from_str(added).unwrap());
    ahead["time"] = "2199-01-01T00:00:00Z".into();
    ahead["id"] = "later".into();
    project.write(FILE, format!("{ahead}\n"));
    project
        .run("run eval.yaml --history")
        .exits(0)
        .says("its newest line, `later`")
        .says("2199-")
        .says("a clock is or was wrong");
    project
        .run("accept")
        .exits(0)
        .says("a clock is or was wrong");
    // Somebody's own attributes stay.
    project.write("snapshots/e/.gitattributes", "*.txt text");
    point(&project, "");
    assert_eq!(
        project.read("snapshots/e/.gitattributes"),
        "*.txt text\n_index.jsonl text eol=lf -diff\nhistory.jsonl text eol=lf merge=union\n"
    );
}

#[test]
fn runs_at_one_time_lose_no_line() {
    let project = project("");
    let run = |number: usize| {
        let arguments = format!("run eval.yaml --history --run-id r{number}");
        let mut command = project.command(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut running: Vec<_> = (0..6).map(run).collect();
    for run in &mut running {
        assert!(run.wait().unwrap().success());
    }
    let mut ids: Vec<_> = lines(&project)
        .iter()
        .map(|line| line["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    assert_eq!(ids, ["r0", "r1", "r2", "r3", "r4", "r5"]);
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"];
    let output = Command::new("git")
        .args(identity)
        .args(["-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[needs(git)]
#[test]
fn git_merges_what_two_branches_added() {
    let project = project("");
    let git = |arguments: &[&str]| git(project.path(), arguments);
    let commit = || {
        git(&["add", "."]);
        git(&["commit", "-qm", "more"]);
    };
    project.write(".gitignore", "asked.log\n");
    git(&["init", "-q", "-b", "main"]);
    commit();
    let first = point(&project, "--run-id first");
    assert_eq!(first["commit"], git(&["rev-parse", "HEAD"]));
    assert_eq!(first["dirty"], false);
    commit();
    git(&["checkout", "-qb", "other"]);
    point(&project, "--run-id theirs");
    // The history that is not committed yet is no change of what is run.
    assert_eq!(point(&project, "--run-id theirs-2")["dirty"], false);
    commit();
    git(&["checkout", "-q", "main"]);
    point(&project, "--run-id ours");
    commit();
    git(&["merge", "-q", "other"]);
    let ids: Vec<_> = lines(&project)
        .iter()
        .map(|line| line["id"].clone())
        .collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    let ran = project
        .run("run eval.yaml --history --run-id last")
        .exits(0);
    ran.says_nothing_of("left out");
    assert_eq!(lines(&project).len(), 5);
}
