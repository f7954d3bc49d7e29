//! Runs that end as soon as their gates are sure.

use std::collections::HashSet;

use crate::project::Project;
use crate::requested::{self, requested};
use crate::trials;

const GATE: &str = "gates: [no_regression(early_stop=true)]\n";

/// Forty samples, of which the agent knows twenty, with an accepted run.
fn accepted(more: &str) -> Project {
    let project = requested::project(40, "", more);
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    trials::forget(&project);
    project
}

/// From now on the agent is wrong about everything.
fn breaks(project: &Project) {
    requested::agent(project, "echo 99; exit");
}

/// How many samples were asked, each once.
fn count(project: &Project) -> usize {
    let requested = requested(project);
    assert_eq!(
        requested.iter().collect::<HashSet<_>>().len(),
        requested.len()
    );
    requested.len()
}

#[test]
fn a_worse_agent_is_red_before_all_is_asked_and_so_it_stays() {
    let project = accepted(GATE);
    breaks(&project);
    let ran = project
        .run("run -v eval.yaml")
        .exits(1)
        .says("every gate was sure at look ")
        .says("for all looks together")
        .says_nothing_of("--resume");
    let number = count(&project);
    let analysis = match number {
        18 => 1,
        24 => 2,
        _ => panic!("{}", ran.out),
    };
    let summary = project.last_json("summary.json");
    assert_eq!(
        summary["early_stop"],
        serde_json::json!({"look": analysis, "of": 4})
    );
    assert_eq!(summary["skipped"], 40 - number);
    assert_eq!(summary["accuracy_bounds"], serde_json::json!([0.0, 0.0]));
    let records = std::fs::read_to_string(project.last_run().join("samples.jsonl")).unwrap();
    assert_eq!(
        records.matches("\"status\":\"skipped\"").count(),
        40 - number
    );
    let manifest = project.last_json("manifest.json");
    assert_eq!(manifest["early_stop"]["look"], analysis);
    assert_eq!(manifest["status"], "stopped");

    // Read again, scored again and resumed it says the same, and nobody is asked.
    let dir = project.last_run();
    let dir = dir.display();
    let line = ran.out.lines().find(|line| line.contains("FAILED"));
    project
        .run(&format!("gate -v {dir}"))
        .exits(1)
        .says(line.unwrap());
    project
        .run(&format!("rescore -v {dir} --scorer gaia"))
        .exits(0)
        .says(line.unwrap())
        .says_nothing_of("never asked");
    let rescored = format!("gate -v {}", project.last_run().display());
    project.run(&rescored).exits(1).says(line.unwrap());
    project
        .run(&format!("run -v eval.yaml --resume {dir}"))
        .exits(1);
    assert_eq!(count(&project), number);
    let refused = project
        .run(&format!("accept {dir}"))
        .exits(2)
        .says("its gates were decided before all samples were asked");
    // What the hint says leads out.
    let (_, hint) = refused.err.split_once(": cargo evaltest run").unwrap();
    let (next, _) = hint.split_once(", then cargo evaltest accept").unwrap();
    project.run(&format!("run{next}")).exits(0);
    project.run("accept").exits(0).says(" of 40 correct");
}

#[test]
fn an_unchanged_agent_is_green_before_all_is_asked() {
    let project = accepted(GATE);
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("every gate was sure at look 1 of 4: 22 of 40 samples were not asked")
        .says("no_regression(early_stop=true): passed: 0 of 18 compared samples became wrong");
    let first = requested(&project);
    assert_eq!(count(&project), 18);
    assert!(!first.is_sorted(), "in a random order: {first:?}");
    trials::forget(&project);
    project.run("run -v eval.yaml").exits(0);
    let set = |ids: Vec<String>| ids.into_iter().collect::<HashSet<_>>();
    assert_ne!(
        set(first),
        set(requested(&project)),
        "in another one each time"
    );
}

#[test]
fn the_run_goes_on_until_every_gate_is_sure() {
    // Twenty of forty: below the last sample all might still be wrong.
    let gates = "gates: [no_regression(early_stop=true), accuracy >= 0.49]\n";
    let project = accepted(gates);
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("at look 4 of 4")
        .says("it passed an earlier look and stays passed")
        .says_nothing_of("every gate was sure");
    assert_eq!(count(&project), 40);
    assert_eq!(project.last_json("manifest.json")["early_stop"]["look"], 4);
    assert_eq!(project.last_json("manifest.json")["status"], "finished");
    // What was green stays so when the run is read again.
    assert_eq!(
        project.last_json("manifest.json")["early_stop"]["green"],
        serde_json::json!(["no_regression"])
    );
    let gate = format!("gate -v {}", project.last_run().display());
    project
        .run(&gate)
        .exits(0)
        .says("it passed an earlier look");
    project.run("accept").exits(0);
    // What failed and cannot be mended is sure.
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace("accuracy >= 0.49", "accuracy >= 0.9"),
    );
    project
        .run("run -v eval.yaml")
        .exits(1)
        .says("at look 1 of 4");
}

#[test]
fn all_is_asked_in_order_where_gates_do_not_decide() {
    let project = accepted(GATE);
    let ordered = |arguments: &str, number: usize| {
        trials::forget(&project);
        project.run(&format!("{arguments} --set limits.concurrency=1"));
        let ids = requested(&project);
        assert!(
            ids.len() == number && ids.is_sorted(),
            "{arguments}: {ids:?}"
        );
        assert!(project.last_json("manifest.json")["early_stop"].is_null());
    };
    ordered("run eval.yaml --ignore-baseline", 40);
    ordered("run eval.yaml --limit 12", 12);
    ordered("run eval.yaml --set snapshot.assert=exact", 40);
    ordered("run eval.yaml --set gates=[no_regression]", 40);
}

#[test]
fn groups_and_epochs_stay_together() {
    let more = "epochs: 2\nlimits: { concurrency: 1 }\ngates: [no_regression(early_stop=true)]\n";
    let project = requested::project(40, "", more);
    let spec = project.read("eval.yaml");
    let spec = spec.replace("data.jsonl", "data.jsonl, cluster: level");
    project.write("eval.yaml", spec);
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    trials::forget(&project);
    breaks(&project);
    project.run("run eval.yaml");
    let requested = requested(&project);
    assert!(
        requested.chunks(2).all(|pair| pair[0] == pair[1]),
        "{requested:?}"
    );
    let level = |id: &String| id[1..].parse::<u32>().unwrap() % 3;
    let levels: Vec<u32> = requested.iter().map(level).collect();
    let changes = levels.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes <= 2, "{levels:?}");
}

#[test]
fn samples_that_were_not_needed_leave_no_figure_of_epochs_open() {
    let project = accepted(GATE);
    let ran = project
        .run("run -v eval.yaml --epochs 3")
        .exits(0)
        .says("every gate was sure at look ")
        .says_nothing_of("lack a verdict");
    let mut lines = ran.out.lines();
    let line = lines.find(|line| line.contains("majority")).unwrap();
    assert!(!line.contains(" to "), "{line}");
    // Each of them in every epoch.
    let requested = requested(&project).len() / 3;
    let summary = project.last_json("summary.json");
    assert_eq!(summary["skipped"], 3 * (40 - requested));
    let figures = &summary["epochs"];
    assert_eq!(
        (&figures["samples"], &figures["incomplete"]),
        (&requested.into(), &0.into())
    );
    for slice in summary["slices"]["level"].as_object().unwrap().values() {
        let majority = &slice["epochs"]["majority"];
        assert_eq!(majority["low"], majority["high"]);
    }
    ran.says(&format!("e: {requested} samples, 3 epochs each, "));
    let text = std::fs::read_to_string(project.last_run().join("summary.md")).unwrap();
    let line = format!("Each of the {requested} samples was asked 3 times (");
    assert!(text.contains(&line), "{text}");
}

#[test]
fn trials_of_samples_that_were_not_asked_are_ignored_with_the_reason() {
    let project = trials::accepted(40, "[ ! -f ../../wrong ] || { echo 99; exit; }", GATE);
    let ran = trials::run(&project, "").exits(0);
    assert_eq!(count(&project), 18);
    assert_eq!(ran.out.matches("... ignored").count(), 22, "{}", ran.out);
    ran.says("every gate was sure at look 1 of 4, and the rest was not asked");
}
