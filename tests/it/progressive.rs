//! `run --progressive`: one run that goes on tier by tier, and ends where it cannot become green any more.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::project::{Project, Ran};
use crate::requested::{self, requested};
use crate::trials;
use crate::wait::until;

const TIERS: &str = "tiers: { quick: { limit: 5 }, standard: { limit: 20 }, full: {} }\n";

/// Forty samples, of which the agent knows every second.
fn project(more: &str) -> Project {
    requested::project(40, "", &format!("{TIERS}{more}"))
}

/// The ids that were asked, each once, and how many.
fn count(project: &Project) -> usize {
    let requested = requested(project);
    assert_eq!(
        requested.iter().collect::<HashSet<_>>().len(),
        requested.len()
    );
    requested.len()
}

fn quick(project: &Project) -> HashSet<String> {
    let listed = project.run("list eval.yaml --json --tier quick").exits(0);
    let samples = listed.json()[0]["samples"].as_array().unwrap().clone();
    let ids = samples.iter().map(|sample| sample["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

/// The lines that tell of tiers.
fn messages(ran: &Ran) -> Vec<String> {
    let lines = ran.err.lines().filter(|line| line.contains("tier `"));
    let lines = lines.filter(|line| line.contains("accuracy"));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_run_that_goes_through_all_tiers_is_a_run_of_the_largest() {
    let project = project("gates: [accuracy >= 0.3, 'accuracy[tier=quick] >= 0']\n");
    let ran = project
        .run("run -v eval.yaml --progressive --promote accuracy")
        .exits(2)
        .says("no operator and threshold");
    assert!(ran.out.is_empty());
    let ran = project
        .run_of(&[
            "run",
            "-v",
            "eval.yaml",
            "--progressive",
            "--promote",
            "accuracy > 0.1",
        ])
        .exits(0)
        .says("40 samples of `data.jsonl`, tier by tier up to `full`")
        .says("tier `quick`: 5 samples; their cost and duration are not known yet")
        .says("continues with `standard`")
        .says("tier `standard`: 15 more samples; expected: less than a second, by tier `quick`")
        .says("continues with `full`")
        .says("tier `full`: 20 more samples")
        .says("e: tier `full`, 40 samples")
        .says("gate accuracy >= 0.3: passed")
        .says("gate accuracy[tier=quick] >= 0: ignored");
    assert_eq!(messages(&ran).len(), 2, "{}", ran.err);
    let first: HashSet<String> = requested(&project).into_iter().take(5).collect();
    assert_eq!(first, quick(&project));
    let manifest = project.last_json("manifest.json");
    assert_eq!(
        [&manifest["tier"], &manifest["status"]],
        ["full", "finished"]
    );
    assert_eq!(
        manifest["progressive"],
        json!({ "promote": "accuracy > 0.1" })
    );
    let summary = project.last_json("summary.json");
    assert_eq!(summary["progressive"]["at"], 2);
    assert_eq!(summary["progressive"]["ended_by"], Value::Null);
    project.run("accept").exits(0).says(" of 40 correct");
    project
        .run(&format!("gate -v {}", project.last_run().display()))
        .exits(0);
}

#[test]
fn a_promotion_that_fails_ends_the_run_and_so_it_stays() {
    let project = project("gates: [accuracy >= 0.3]\n");
    let ran = project
        .run_of(&["run", "-v", "eval.yaml", "--progressive", "--promote", "accuracy > 0.8"])
        .exits(1)
        .says("the run ends here, 35 samples are not asked")
        .says("e: tier `quick`, 5 samples")
        .says("gate accuracy >= 0.3: ignored: tier `quick` is smaller than `full`")
        .says("gate accuracy[tier=quick] > 0.8: FAILED: not promoted beyond tier `quick`: accuracy[tier=quick] ")
        .says("35 samples were not asked");
    assert_eq!(count(&project), 5);
    let dir = project.last_run();
    let dir_name = dir.display().to_string();
    let line = ran
        .out
        .lines()
        .find(|line| line.contains("FAILED"))
        .unwrap();
    let manifest = project.last_json("manifest.json");
    assert_eq!(
        [&manifest["tier"], &manifest["below_tier"]],
        ["quick", "full"]
    );
    assert_eq!(manifest["progressive"]["ended"], true);
    assert_eq!(project.last_lines("samples.jsonl").len(), 5);

    // Read again, made again and gone on with it says the same, and nobody is asked.
    project
        .run(&format!("gate -v {dir_name}"))
        .exits(1)
        .says(line);
    project
        .run(&format!("repair {dir_name}"))
        .exits(0)
        .says("5 of 5 questions");
    project
        .run(&format!("gate -v {dir_name}"))
        .exits(1)
        .says(line);
    project
        .run(&format!("run -v --resume {dir_name}"))
        .exits(1)
        .says(line);
    assert_eq!(count(&project), 5);
    for partial in ["", "--partial "] {
        project
            .run(&format!("accept {partial}{dir_name}"))
            .exits(2)
            .says("it ended at tier `quick`, before all samples were asked");
    }
    project
        .run(&format!("run -v --resume {dir_name} --tier full"))
        .exits(2)
        .says("is progressive and keeps its tiers");
    project.run("runs").says("5 (quick)");
}

#[test]
fn a_gate_that_cannot_hold_any_more_ends_the_run() {
    let project = project("gates: [accuracy >= 0.9]\n");
    requested::agent(&project, "echo 99; exit");
    project
        .run("run -v eval.yaml --progressive")
        .exits(1)
        .says("gate accuracy >= 0.9: FAILED: after tier `quick`, accuracy can no longer meet the limit 90 %: 0 of 5 correct, so at most")
        .says("of all 40 (");
    assert_eq!(count(&project), 5);
    // An outage condemns nobody: all of them may have been right. It ends the run all the same, as it would any.
    trials::forget(&project);
    requested::agent(&project, "exit 1");
    project
        .run("run -v eval.yaml --progressive --keep-going")
        .exits(3)
        .says_nothing_of("can no longer meet")
        .says("gate error_rate <= 0.05: FAILED");
    assert_eq!(count(&project), 5);
}

#[test]
fn an_outage_promotes_nobody_and_the_run_goes_on_when_it_is_over() {
    let project = project("gates: [error_rate <= 1]\n");
    requested::agent(&project, "[ -f \"${0%/*}/down\" ] && exit 1");
    project.write("down", "");
    let promote = [
        "run",
        "eval.yaml",
        "--progressive",
        "--promote",
        "accuracy > 0.1",
        "--keep-going",
    ];
    project
        .run_of(&promote)
        .exits(3)
        .says("not promoted yet beyond tier `quick`")
        .says("35 samples were not asked");
    std::fs::remove_file(project.file("down")).unwrap();
    let resume = format!("run --resume {}", project.last_run().display());
    project
        .run(&resume)
        .exits(0)
        .says("e: tier `full`, 20 of 40 correct");
}

#[test]
fn comparisons_share_their_alpha_over_the_tiers() {
    let project = project("gates: [no_regression]\n");
    project.run("run -v eval.yaml --ignore-baseline").exits(0);
    project.run("accept").exits(0);
    project
        .run("run -v eval.yaml --progressive")
        .exits(0)
        .says("gate no_regression: passed: 0 of 40 compared samples became wrong")
        .says("alpha 0.05 is split over 3 analyses, 0.0444 for this one");
    trials::forget(&project);
    requested::agent(&project, "echo 99; exit");
    project
        .run("run -v eval.yaml --progressive")
        .exits(1)
        .says("tier `quick` of 5 samples: accuracy 0.0 %")
        .says("continues with `standard`")
        .says("gate no_regression: FAILED")
        .says("20 samples were not asked");
    assert_eq!(count(&project), 20);
}

#[test]
fn a_killed_run_goes_on_at_its_tier_and_decides_as_before() {
    let slow = "sleep 0.05";
    let project = requested::project(40, slow, &format!("{TIERS}gates: [accuracy >= 0.3]\n"));
    let command = [
        "run",
        "eval.yaml",
        "--progressive",
        "--promote",
        "accuracy > 0.1",
        "--concurrency",
        "2",
    ];
    let whole = project.run_of(&command).exits(0);
    trials::forget(&project);
    let mut child = project.command_of(&command).spawn().unwrap();
    until("the second tier is asked", || {
        requested(&project).len() >= 9
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let before = requested(&project);
    assert!(before.len() < 20, "{before:?}");
    let first: HashSet<String> = before.iter().take(5).cloned().collect();
    assert_eq!(first, quick(&project));
    let dir = project.last_run();
    let went_on = project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0)
        .says(" answered before");
    assert_eq!(messages(&went_on), messages(&whole));
    // What was in flight is asked again, and nothing else.
    let requested = requested(&project);
    assert!(requested.len() <= 42, "{}", requested.len());
    assert_eq!(requested.iter().collect::<HashSet<_>>().len(), 40);
    assert_eq!(project.last_json("summary.json")["progressive"]["at"], 2);
}

#[test]
fn what_a_tier_takes_is_known_from_the_history() {
    let project = project("");
    project.run("run eval.yaml --tier full --history").exits(0);
    let id = project.last_json("manifest.json")["run_id"].clone();
    let id = id.as_str().unwrap();
    project
        .run("run eval.yaml --progressive")
        .exits(0)
        .says(&format!(
            "tier `quick`: 5 samples; expected: less than a second, by run `{id}` of tier `full`"
        ));
}

#[test]
fn a_test_binary_goes_tier_by_tier_too() {
    let project = trials::project(40, "", &format!("{TIERS}gates: [accuracy >= 0.9]\n"));
    requested::agent(&project, "echo 99; exit");
    let drive = |samples: Value| json!({ "samples": samples }).to_string();
    let progressive = drive(json!({ "progressive": true }));
    trials::run_with(&project, "", &[("EVALTEST_DRIVE", &*progressive)])
        .exits(71)
        .says("after tier `quick`, accuracy can no longer meet the limit");
    assert_eq!(count(&project), 5);
    trials::forget(&project);
    let tier = drive(json!({ "tier": "quick" }));
    trials::run_with(&project, "", &[("EVALTEST_DRIVE", &*tier)])
        .exits(0)
        .says("e: tier `quick`, 0 of 5 correct");
    let unknown = drive(json!({ "tier": "quik" }));
    trials::run_with(&project, "", &[("EVALTEST_DRIVE", &*unknown)])
        .exits(2)
        .says("did you mean `--tier quick`?");
}

#[test]
fn what_makes_no_sense_is_told_before_anybody_is_asked() {
    let project = project("");
    let messages = |arguments: &[&str], text: &str| {
        let arguments = [&["run", "eval.yaml"], arguments].concat();
        project.run_of(&arguments).exits(2).says(text);
    };
    messages(&["--promote", "accuracy > 0.8"], "--progressive");
    messages(&["--progressive", "--limit", "3"], "cannot be used with");
    messages(
        &["--progressive", "--promote", "no_regression"],
        "invalid `--promote",
    );
    messages(
        &["--progressive", "--promote", "accuracy > 80"],
        "must be between 0 and 1",
    );
    messages(
        &["--progressive", "--promote", "accuracy[levle=1] > 0.8"],
        "did you mean `level`?",
    );
    messages(&["--progressive", "--promote", "mean(f2) > 0.8"], "f2");
    let spec = project.read("eval.yaml");
    project.write("eval.yaml", spec.replace(TIERS, ""));
    messages(
        &["--progressive"],
        "eval `e` has no tiers, so there is no next tier",
    );
    project.write("eval.yaml", spec.replace(TIERS, "tiers: { full: {} }\n"));
    messages(&["--progressive"], "has one tier");
    assert_eq!(requested(&project), Vec::<String>::new());
}
