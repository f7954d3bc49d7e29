//! `tiers:` of a spec: runs of a part that are whole runs, each part within the larger, with gates of their own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::project::Project;
use crate::requested::{self, requested};
use crate::trials;

/// Forty samples in three levels, of which the agent knows every second.
fn project(more: &str) -> Project {
    requested::project(40, "", &format!("{TIERS}{more}"))
}

const TIERS: &str = "tiers: { full: {}, quick: { limit: 5 }, standard: { limit: 20 } }\n";

/// The ids that a tier has.
fn listed(project: &Project, tier: &str) -> BTreeSet<String> {
    let listed = project
        .run(&format!("list eval.yaml --json {tier}"))
        .exits(0);
    let samples = listed.json()[0]["samples"].as_array().unwrap().clone();
    let ids = samples.iter().map(|sample| sample["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

fn verdicts(project: &Project) -> BTreeMap<String, String> {
    let summary = project.last_json("summary.json");
    let gates = summary["gates"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    gates
        .map(|gate| (text(&gate["gate"]), text(&gate["verdict"])))
        .collect()
}

#[test]
fn a_tier_is_a_whole_run_of_its_samples_and_lies_within_the_larger() {
    let project = project("shuffle: { seed: 3 }\n");
    project
        .run("run -v eval.yaml --tier quick")
        .exits(0)
        .says("e: tier `quick`, 5 samples")
        .says_nothing_of("partial");
    let quick: BTreeSet<String> = requested(&project).into_iter().collect();
    assert_eq!(quick.len(), 5);
    assert_eq!(quick, listed(&project, "--tier quick"));
    let manifest = project.last_json("manifest.json");
    assert_eq!(manifest["tier"], "quick");
    assert_eq!(manifest["below_tier"], "full");
    assert_eq!(
        [&manifest["samples"], &manifest["whole"]],
        [&json!(5), &json!(true)]
    );
    assert_eq!(project.last_json("summary.json")["tier"], "quick");
    // Recorded in the order of the dataset, whatever the shuffle is.
    let ids = project.last_lines("samples.jsonl");
    let ids: Vec<_> = ids.iter().map(|it| it["sample_id"].to_string()).collect();
    assert!(ids.is_sorted() && ids.len() == 5, "{ids:?}");

    let standard = listed(&project, "--tier standard");
    assert!(standard.len() == 20 && quick.is_subset(&standard));
    assert_eq!(listed(&project, "--tier full"), listed(&project, ""));
    project
        .run("list eval.yaml --stats")
        .exits(0)
        .says("tiers: quick: 5, standard: 20, full: 40");
    // Fourteen, thirteen and thirteen of forty.
    project.run("run -v eval.yaml --tier standard").exits(0);
    let levels = project.last_json("summary.json")["slices"]["level"].clone();
    for level in levels.as_object().unwrap().values() {
        let samples = level["samples"].as_u64().unwrap();
        assert!((6..=7).contains(&samples), "{levels}");
    }
    // Another sample moves at most one.
    let data = project.read("data.jsonl");
    let first = data.lines().next().unwrap();
    project.write(
        "data.jsonl",
        format!("{}\n{data}", first.replace("q000", "new")),
    );
    let moved = listed(&project, "--tier standard");
    assert!(
        standard.difference(&moved).count() <= 1,
        "{standard:?} {moved:?}"
    );
}

#[test]
fn gates_are_those_of_the_tier_and_a_gate_without_is_left_to_the_largest() {
    let project = project(
        "gates:\n- accuracy >= 0.99\n- accuracy[tier=quick] >= 0\n- accuracy[level=1, tier=standard] >= 0\n",
    );
    let ci = |arguments: &str, code: i32| {
        let mut command = project.command(&format!("run -v eval.yaml {arguments}"));
        let output = command.env("CI", "1").output().unwrap();
        crate::project::Ran::of(&output).exits(code)
    };
    // What another tier asks leaves nothing open.
    ci("--tier quick", 0)
        .says("gate accuracy >= 0.99: ignored: tier `quick` is smaller than `full`")
        .says("gate accuracy[level=1, tier=standard] >= 0: ignored: it is for tier `standard`")
        .says_nothing_of("`CI` is set");
    let of = |expect: [&str; 4]| {
        let verdicts = verdicts(&project);
        let gates = [
            "accuracy >= 0.99",
            "accuracy[tier=quick] >= 0",
            "accuracy[level=1, tier=standard] >= 0",
            "error_rate <= 0.05",
        ];
        assert_eq!(gates.map(|gate| &*verdicts[gate]), expect);
    };
    of(["ignored", "passed", "ignored", "passed"]);
    let dir = project.last_run();
    let dir_name = dir.display();
    project.run(&format!("gate -v {dir_name}")).exits(0);
    // Who asks for a gate now means this run.
    project
        .run_of(&[
            "gate",
            "-v",
            &dir_name.to_string(),
            "--gate",
            "accuracy >= 0.99",
        ])
        .exits(1);
    project
        .run_of(&[
            "gate",
            "-v",
            &dir_name.to_string(),
            "--gate",
            "accuracy[tier=quik] >= 0",
        ])
        .exits(2)
        .says("did you mean `[tier=quick]`?");
    project
        .run(&format!("rescore -v {dir_name} --scorer exact"))
        .exits(0);
    assert_eq!(project.last_json("manifest.json")["tier"], "quick");
    project
        .run(&format!("repair {dir_name}"))
        .exits(0)
        .says("5 of 5");
    ci("--tier standard", 0);
    of(["ignored", "ignored", "passed", "passed"]);
    ci("--tier full", 1);
    of(["failed", "ignored", "ignored", "passed"]);
    ci("", 1).says_nothing_of("tier `full`,");
    of(["failed", "ignored", "ignored", "passed"]);
    // With a limit of the command line it is a part of the tier.
    ci("--tier standard --limit 3", 3).says("partial run, 3 samples");
    of(["ignored", "ignored", "ignored", "passed"]);
    assert_eq!(
        listed(&project, "--tier standard")
            .into_iter()
            .filter(|id| project.read("asked.log").contains(id.as_str()))
            .count(),
        20
    );
    project
        .run("runs")
        .says("5 (quick)")
        .says("20 (standard)")
        .says("3 (standard) (partial)");
    // Errors are asked about in each tier.
    requested::agent(&project, "exit 1");
    project
        .run("run -v eval.yaml --tier quick --keep-going")
        .exits(3);
}

#[test]
fn a_tier_is_compared_over_its_samples_and_is_no_baseline() {
    let project = project("gates: ['no_regression[tier=standard]', no_regression]\n");
    project.run("run -v eval.yaml --ignore-baseline --tier standard");
    project
        .run("accept")
        .exits(2)
        .says("is of tier `standard`, and a baseline needs the largest tier, `full`")
        .says("--tier full, then cargo evaltest accept; or accept the tier with `--partial`");
    project
        .run("accept --partial")
        .exits(0)
        .says(" of 20 correct");
    project.run("run -v eval.yaml --ignore-baseline --tier full");
    project.run("accept").exits(0).says(" of 40 correct");
    project
        .run("run -v eval.yaml --tier standard")
        .exits(0)
        .says("gate no_regression: ignored: tier `standard` is smaller")
        .says("0 of 20 compared samples became wrong");
    requested::agent(&project, "echo 99; exit");
    project.run("run -v eval.yaml --tier standard").exits(1);
    // Five samples cannot tell: that is no verdict of this tier, for nobody asks it.
    project
        .run("run -v eval.yaml --tier quick")
        .exits(0)
        .says("no_regression[tier=standard]: ignored");
    // A run goes on as it began.
    trials::forget(&project);
    let dir = project.last_run();
    let dir = dir.display();
    let resume = format!("run --resume {dir}");
    project
        .run(&resume)
        .exits(0)
        .says("tier `quick`, 0 of 5 correct");
    assert_eq!(requested(&project), Vec::<String>::new());
    project
        .run(&format!("{resume} --tier full"))
        .exits(2)
        .says("is of tier `quick` and cannot change when it is resumed");
}

#[test]
fn what_makes_no_sense_is_told_before_anybody_is_asked() {
    let project = project("");
    let refused = |text: &str| {
        project
            .run("run eval.yaml --tier quick")
            .exits(2)
            .says(text);
    };
    let spec = project.read("eval.yaml");
    let with = |tiers: &str| project.write("eval.yaml", spec.replace(TIERS, tiers));
    project
        .run("run eval.yaml --tier quik")
        .exits(2)
        .says("eval `e` has no tier `quik`")
        .says("did you mean `--tier quick`? its tiers: `quick`, `standard`, `full`");
    with("");
    refused("eval `e` has no tiers, so no tier `quick`");
    with("tiers: { quick: { limit: 0 } }\n");
    refused("eval.yaml:6:10: tier `quick` has no sample: its `limit` is 0");
    with("tiers: { a: { limit: 5 }, b: { limit: 5 } }\n");
    refused("the tiers `a` and `b` have 5 samples each");
    with("tiers: {}\n");
    refused("`tiers` has no tier");
    with("tiers: { quick: { limits: 5 } }\n");
    refused("unknown key `tiers.quick.limits`");
    with("tiers: { quick: 5 }\n");
    refused("tiers.quick");
    with("tiers: { quick: { limit: 5 } }\ngates: ['accuracy[tier=quik] > 0']\n");
    refused("gate `accuracy[tier=quik] > 0`: the eval has no tier `quik`");
    with("tiers: { quick: { limit: 5 } }\ngates: ['min_samples[tier=quick] >= 6']\n");
    refused("can never pass: the eval has 5 samples");
    with("gates: ['accuracy[tier=gold] > 0']\n");
    project
        .run("run eval.yaml")
        .exits(2)
        .says("no sample has a `tier`")
        .says("tiers: { gold: { limit: 5 }");
    assert_eq!(requested(&project), Vec::<String>::new());
    with("tiers: { quick: { limit: 50 } }\n");
    project
        .run("run eval.yaml --tier quick")
        .exits(0)
        .says("tier `quick` needs 50 samples, the eval has 40: all is asked");
    project.run("accept").exits(0);
}
