//! `run --shard`: parts of an eval that are asked apart, each a run directory that a merge takes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::project::{Project, Ran, json_lines, sha256};
use crate::requested::{self, requested, times};

/// The variables that `auto` reads, none of which a test has from its surroundings.
const VARIABLES: [&str; 13] = [
    "EVALTEST_SHARD",
    "TEST_SHARD_INDEX",
    "TEST_TOTAL_SHARDS",
    "TEST_SHARD_STATUS_FILE",
    "JOB_COMPLETION_INDEX",
    "JOB_COMPLETIONS",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_MAX",
    "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_STEP",
    "CI_NODE_INDEX",
    "CI_NODE_TOTAL",
];

/// Runs the command with these variables set.
fn run_in(project: &Project, arguments: &str, environment: &[(&str, &str)]) -> Ran {
    let mut command = project.command(arguments);
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    Ran::of(&command.output().unwrap())
}

fn read(dir: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(dir.join(name)).unwrap()).unwrap()
}

/// The ids that stand in the records of a run.
fn recorded(dir: &Path) -> Vec<String> {
    let records = json_lines(&dir.join("samples.jsonl"));
    let ids = records
        .iter()
        .map(|record| record["sample_id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

/// The run that is a shard, by the end of its name.
fn dir_of(project: &Project, shard: &str) -> PathBuf {
    let end = format!("-{}", shard.replace('/', "of"));
    let mut runs = project.runs().into_iter();
    runs.find(|dir| dir.to_str().unwrap().ends_with(&end))
        .unwrap()
}

#[test]
fn shards_are_disjoint_and_together_the_eval_and_gates_are_left_to_the_merge() {
    let project = requested::project(40, "", "epochs: 2\ngates:\n- accuracy >= 0.99\n");
    let mut all = BTreeSet::new();
    let mut sizes = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        // Gates that nobody judges here are nothing that CI waits for.
        let output = run_in(
            &project,
            &format!("run -v eval.yaml --shard {shard}"),
            &[("CI", "1")],
        );
        let output = output
            .exits(0)
            .says(&format!("shard {shard}"))
            .says(" of 40 samples")
            .says(&format!(
                "gate accuracy >= 0.99: ignored: shard {shard}: judged by `cargo evaltest merge`"
            ))
            .says(&format!("gate error_rate <= 0.05: ignored: shard {shard}"))
            .says_nothing_of("partial")
            .says_nothing_of("`CI` is set");
        output.says("next: cargo evaltest merge evaltest-runs");
        let dir = dir_of(&project, shard);
        let ids: BTreeSet<String> = recorded(&dir).into_iter().collect();
        assert_eq!(recorded(&dir).len(), 2 * ids.len(), "both epochs of each");
        assert!(recorded(&dir).is_sorted(), "in dataset order");
        let manifest = read(&dir, "manifest.json");
        assert_eq!(manifest["part"]["shard"], shard);
        assert_eq!(manifest["part"]["whole"], true);
        assert_eq!(manifest["samples"], 40);
        assert_eq!(manifest["selected"], ids.len());
        assert_eq!(manifest["whole"], false);
        assert_eq!(manifest.get("only"), None);
        assert_eq!(
            manifest["artifacts"]["places.json"],
            sha256(&dir.join("places.json"))
        );
        let places = read(&dir, "places.json");
        assert_eq!(
            [&places["samples"], &places["format_version"]],
            [&json!(40), &json!(1)]
        );
        let of_places = places["places"].as_array().unwrap().iter();
        let of_places = of_places.map(|place| format!("q{:03}", place.as_u64().unwrap()));
        assert!(of_places.eq(ids.iter().cloned()));
        assert_eq!(read(&dir, "summary.json")["part"]["shard"], *shard);
        sizes.push(ids.len());
        for id in ids {
            assert!(all.insert(id.clone()), "{id} is in two shards");
        }
    }
    assert_eq!(all.len(), 40);
    assert!(sizes.iter().all(|size| *size > 0), "{sizes:?}");
    // What the shard is is decided by ids: one more sample moves none.
    let data = project.read("data.jsonl");
    let first = data.lines().next().unwrap();
    project.write(
        "data.jsonl",
        format!("{}\n{data}", first.replace("q000", "new")),
    );
    run_in(&project, "run eval.yaml --shard 2/3 --run-id again", &[]).exits(0);
    let again = project.runs().pop().unwrap();
    let named = again.to_str().unwrap();
    assert!(named.ends_with("again-2of3"), "{named}");
    let before: BTreeSet<String> = recorded(&dir_of(&project, "2/3")).into_iter().collect();
    let after: BTreeSet<String> = recorded(&again)
        .into_iter()
        .filter(|id| id != "new")
        .collect();
    assert_eq!(before, after);
    // Others see what it is.
    project.run("runs").exits(0).says("(shard 2/3)");
    let runs = project.run("runs --json").exits(0).json();
    let shards: BTreeMap<_, _> = runs["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["run_id"].to_string(), run["part"]["shard"].clone()))
        .collect();
    assert_eq!(shards["\"again-2of3\""], "2/3");
    let output = ["show", "export --format csv --output -"];
    for command in output {
        let ran = project.run(&format!("{command} {named}"));
        ran.exits(0).says("shard 2/3: ").says(" samples");
    }
    // Nothing has passed where no gate was judged.
    let report = project.run(&format!("report {named}"));
    let report = report.exits(0).says("This is **shard 2/3** of the eval");
    report.says_nothing_of("Passed");
    let first = dir_of(&project, "2/3");
    project
        .run(&format!("compare {named} {}", first.display()))
        .exits(0)
        .says("note: A is shard 2/3: ")
        .says("note: B is shard 2/3: ");
}

#[test]
fn a_killed_shard_goes_on_as_the_part_that_it_is() {
    // The agent of its fourth question kills the run.
    let kill = "[ -e done ] || [ \"$(wc -l < asked.log)\" -lt 4 ] || { touch done; kill -9 $PPID; sleep 5; }";
    let project = requested::project(30, kill, "limits: { concurrency: 1 }\n");
    project.write("asked.log", "");
    run_in(&project, "run eval.yaml --shard 2/2", &[]);
    let dir = project.last_run();
    let manifest = read(&dir, "manifest.json");
    assert_eq!(manifest["status"], "running");
    // The manifest says from the start what the part has.
    assert_eq!(
        manifest["artifacts"]["places.json"],
        sha256(&dir.join("places.json"))
    );
    let display = project.display(&dir);
    run_in(
        &project,
        &format!("run --resume {display} --shard 1/2"),
        &[],
    )
    .exits(2)
    .says("is shard 2/2, not 1/2")
    .says("hint: remove `--shard`");
    project
        .run(&format!("run --resume {display} --dry-run"))
        .exits(0)
        .says("shard 2/2");
    run_in(&project, &format!("run --resume {display}"), &[])
        .exits(0)
        .says("shard 2/2")
        .says("next: cargo evaltest merge");
    let ids = recorded(&dir);
    let places = read(&dir, "places.json");
    assert_eq!(ids.len(), places["places"].as_array().unwrap().len());
    let log = requested(&project);
    assert!(ids.iter().all(|id| times(&log, id) <= 2), "{log:?}");
    assert_eq!(
        log.len(),
        ids.len() + 1,
        "what was answered is not asked again"
    );
    // With its own shard typed it is the same; all is there.
    run_in(
        &project,
        &format!("run --resume {display} --shard auto"),
        &[("EVALTEST_SHARD", "2/2")],
    )
    .exits(0);
    assert_eq!(requested(&project).len(), log.len());
    // Its files can be made again, also when it is not known any more which samples it has: their ids say so.
    for (file, text) in [("samples.jsonl", None), ("places.json", Some("[]"))] {
        match text {
            None => std::fs::remove_file(dir.join(file)).unwrap(),
            Some(text) => std::fs::write(dir.join(file), text).unwrap(),
        }
        project.run(&format!("repair {display}")).exits(0);
        assert_eq!(recorded(&dir), ids);
        assert_eq!(read(&dir, "places.json"), places);
        assert_eq!(
            read(&dir, "manifest.json")["artifacts"]["places.json"],
            sha256(&dir.join("places.json"))
        );
    }
    // A run that is no shard does not become one.
    run_in(&project, "run eval.yaml --run-id all", &[]).exits(0);
    let all = project.display(
        project
            .runs()
            .iter()
            .find(|dir| dir.ends_with("all"))
            .unwrap_or(&project.last_run()),
    );
    run_in(&project, &format!("run --resume {all} --shard 1/2"), &[])
        .exits(2)
        .says("is no shard, not 1/2");
}

#[test]
fn a_shard_without_samples_is_a_run_and_an_outage_is_told_at_once() {
    let project = requested::project(2, "", "");
    for index in 1..=5 {
        run_in(&project, &format!("run eval.yaml --shard {index}/5"), &[]).exits(0);
    }
    assert_eq!(requested(&project).len(), 2);
    let empty = project
        .runs()
        .into_iter()
        .find(|dir| recorded(dir).is_empty())
        .unwrap();
    assert_eq!(read(&empty, "places.json")["places"], json!([]));
    assert_eq!(read(&empty, "manifest.json")["status"], "finished");
    let display = project.display(&empty);
    project
        .run(&format!("run --resume {display}"))
        .exits(0)
        .says("0 of 2 samples");
    project.run(&format!("show {display}")).exits(0);
    // Wrong answers and failed assertions are judged after the merge, a dead agent is an outage.
    let project = requested::project(8, "", "gates: [accuracy >= 1.0]\n");
    run_in(&project, "run eval.yaml", &[]).exits(1);
    project.run("accept --failed-gates").exits(0);
    requested::agent(&project, "echo another; exit 0");
    let exact = "run eval.yaml --set snapshot.assert=exact --shard 1/2";
    run_in(&project, exact, &[("CI", "1")]).exits(0);
    let manifest = read(&dir_of(&project, "1/2"), "manifest.json");
    assert_eq!(
        manifest["failed_assertions"].as_array().unwrap().len(),
        manifest["selected"]
    );
    requested::agent(&project, "exit 1");
    let ran = run_in(&project, "run eval.yaml --shard 2/2", &[]).exits(3);
    // What there is to see comes before what there is to merge.
    ran.says("next: cargo evaltest show ");
    // Nothing was answered: the first error says why.
    let project = requested::project(40, "", "");
    requested::agent(&project, "exit 1");
    let ran = run_in(&project, "run eval.yaml --shard 2/2", &[]).exits(3);
    ran.says("stopped early")
        .says("next: cargo evaltest show e q000");
}

#[test]
fn auto_takes_the_shard_of_the_environment_and_nothing_else_does() {
    let project = requested::project(6, "", "");
    let auto = |environment: &[(&str, &str)]| {
        run_in(
            &project,
            "run eval.yaml --shard auto --dry-run",
            environment,
        )
    };
    auto(&[("EVALTEST_SHARD", "2/3")])
        .exits(0)
        .says("e: shard 2/3, ");
    auto(&[("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "3")])
        .exits(0)
        .says("shard 1/3");
    auto(&[("CI_NODE_INDEX", "3"), ("CI_NODE_TOTAL", "3")])
        .exits(0)
        .says("shard 3/3");
    let slurm = [
        ("SLURM_ARRAY_TASK_ID", "7"),
        ("SLURM_ARRAY_TASK_MIN", "6"),
        ("SLURM_ARRAY_TASK_MAX", "8"),
        ("SLURM_ARRAY_TASK_COUNT", "3"),
    ];
    auto(&slurm).exits(0).says("shard 2/3");
    let status = project.file("status");
    let bazel = [
        ("TEST_SHARD_INDEX", "1"),
        ("TEST_TOTAL_SHARDS", "3"),
        ("TEST_SHARD_STATUS_FILE", status.to_str().unwrap()),
    ];
    auto(&bazel).exits(0).says("shard 2/3");
    assert!(status.is_file(), "Bazel is told that shards are known");
    auto(&[
        bazel[0],
        bazel[1],
        ("TEST_SHARD_STATUS_FILE", "/nowhere/status"),
    ])
    .exits(2)
    .says("/nowhere/status");
    auto(&[])
        .exits(2)
        .says("no variable says which shard this is")
        .says("hint: set `EVALTEST_SHARD=2/8`");
    auto(&[("JOB_COMPLETION_INDEX", "0")])
        .exits(2)
        .says("`JOB_COMPLETIONS`")
        .says("hint: ");
    auto(&[slurm[0], slurm[1], ("SLURM_ARRAY_TASK_MAX", "9"), slurm[3]])
        .exits(2)
        .says("sbatch --array=1-8");
    auto(&[
        bazel[0],
        bazel[1],
        ("CI_NODE_INDEX", "1"),
        ("CI_NODE_TOTAL", "3"),
    ])
    .exits(2)
    .says("Bazel says that this is shard 2/3 (`TEST_SHARD_INDEX`), and GitLab that it is 1/3")
    .says("hint: ");
    // A plain job of a matrix asks everything.
    run_in(
        &project,
        "run eval.yaml --dry-run",
        &[
            ("CI_NODE_INDEX", "3"),
            ("CI_NODE_TOTAL", "3"),
            ("EVALTEST_SHARD", "1/3"),
        ],
    )
    .exits(0)
    .says("e: 6 samples");
}

#[test]
fn what_looks_at_all_samples_is_refused_of_a_shard() {
    let project = requested::project(4, "", "tiers: { all: {}, two: { limit: 2 } }\n");
    let refused = |flags: &str, says: &str| {
        let output = run_in(&project, &format!("run eval.yaml --shard {flags}"), &[]);
        output.exits(2).says(says).says("hint: ");
    };
    refused("0/4", "there is no shard 0 of 4");
    refused("5/4", "there is no shard 5 of 4");
    refused("1-4", "`1-4` is not a shard");
    refused("1/0", "not 0");
    refused("1/2 --filter q", "`--filter` needs all");
    refused("1/2 --failed x", "`--failed` needs all");
    refused("1/2 --progressive", "`--progressive` needs all");
    refused("1/2 --watch", "`--watch` needs all");
    refused("1/2 --history", "`--history` needs the whole run");
    refused("1/2 --junit x.xml", "`--junit` needs the whole run");
    refused("1/2 --report", "`--report` needs the whole run");
    refused("1/2 --github", "`--github` needs the whole run");
    assert!(requested(&project).is_empty() && project.runs().is_empty());
    // A limit and a tier are cut first.
    let mut all = Vec::new();
    for shard in ["1/2", "2/2"] {
        run_in(
            &project,
            &format!("run eval.yaml --tier two --shard {shard}"),
            &[],
        )
        .exits(0);
        let dir = dir_of(&project, shard);
        all.extend(recorded(&dir));
        assert_eq!(read(&dir, "manifest.json")["part"]["whole"], true);
        assert_eq!(read(&dir, "places.json")["samples"], 2);
    }
    assert_eq!(all.len(), 2);
    run_in(
        &project,
        "run eval.yaml --limit 3 --shard 1/1 --run-id limited",
        &[],
    )
    .exits(0);
    let limited = dir_of(&project, "1/1");
    assert_eq!(recorded(&limited).len(), 3);
    assert_eq!(read(&limited, "manifest.json")["part"]["whole"], false);
}
