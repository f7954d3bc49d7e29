//! What goes wrong when shards are merged: each time a clear line, and nothing is lost.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::parts::{split, timeless};
use crate::project::{Project, json_lines};

/// A project of forty questions with a whole run of them.
pub(crate) fn project() -> (Project, PathBuf) {
    let ids: Vec<_> = (0..40).map(|number| format!("q{number}")).collect();
    let questions: Vec<_> = ids.iter().map(|id| (&**id, 1, "1", "1")).collect();
    let project = Project::with_eval(&questions, "echo", "gates: [accuracy >= 0.5]\n");
    project.run("run eval.yaml").exits(0);
    let whole = project.last_run();
    (project, whole)
}

#[test]
fn a_merge_that_is_killed_leaves_nothing_in_the_way() {
    let (project, whole) = project();
    let shards = split(&whole, 5, &project.file("evaltest-runs"));
    for wait in [0, 5, 10, 20, 40, 80] {
        let mut merge = project.command("merge evaltest-runs");
        merge.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = merge.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        // Neither is what it left taken for a run, nor is it in the way of others.
        project.run("runs").exits(0).says_nothing_of("part~");
    }
    // As one leaves it that was killed in the midst of it.
    let output = project.run("merge evaltest-runs --json").exits(0).json();
    let dir = PathBuf::from(output["runs"][0]["run_dir"].as_str().unwrap());
    let abandoned = PathBuf::from(format!("{}.part~", dir.display()));
    fs::rename(&dir, &abandoned).unwrap();
    fs::remove_file(abandoned.join("manifest.json")).unwrap();
    project.run("show").exits(0);
    project.run("merge evaltest-runs").exits(0);
    assert!(!abandoned.exists() && dir.is_dir());
    for name in ["samples.jsonl", "summary.json"] {
        assert_eq!(timeless(&dir.join(name)), timeless(&whole.join(name)));
    }
    assert_eq!(shards.len(), 5);

    // One that goes on is let alone.
    fs::create_dir(project.file("other.part~")).unwrap();
    let journal = fs::File::create(project.file("other.part~/events.jsonl")).unwrap();
    journal.lock().unwrap();
    project
        .run("merge evaltest-runs -o other")
        .exits(2)
        .says("another process merges into `other`");
    drop(journal);
    project.run("merge evaltest-runs -o other").exits(0);
    assert!(!project.file("other.part~").exists());
}

#[test]
fn of_several_attempts_the_newest_that_is_whole_counts() {
    let (project, whole) = project();
    project
        .run("run eval.yaml --shard 1/2 --run-id old")
        .exits(0);
    project
        .run("run eval.yaml --shard 2/2 --run-id two")
        .exits(0);
    std::thread::sleep(Duration::from_millis(5));
    project
        .run("run eval.yaml --shard 1/2 --run-id new")
        .exits(0);
    let merged = project.run("merge evaltest-runs -o merged").exits(0);
    merged
        .says("shard 1/2 was run more than once")
        .says("`new-1of2` counts, and `old-1of2` does not, which is older");
    let manifest: Value = serde_json::from_str(&project.read("merged/manifest.json")).unwrap();
    let named: Vec<_> = manifest["merged"].as_array().unwrap().iter().collect();
    assert_eq!(named[0]["run_id"], "new-1of2");
    assert_eq!(named[1]["run_id"], "two-2of2");
    for name in ["samples.jsonl", "summary.json"] {
        assert_eq!(
            timeless(&project.file("merged").join(name)),
            timeless(&whole.join(name))
        );
    }
    // A newer one that did not come to its end does not count before one that did.
    let newest = project
        .runs()
        .into_iter()
        .find(|run| run.ends_with_id("new-1of2"));
    crate::project::change_manifest(&newest.unwrap(), |manifest| {
        manifest["status"] = "stopped".into();
    });
    project
        .run("merge evaltest-runs -o again")
        .exits(0)
        .says("`old-1of2` counts, and `new-1of2` does not, which did not finish");
    assert_eq!(json_lines(&project.file("again/samples.jsonl")).len(), 40);
    // Two that have the same samples under other names.
    let two = project
        .runs()
        .into_iter()
        .find(|run| run.ends_with_id("two-2of2"));
    let two = two.unwrap();
    let places = fs::read(two.join("places.json")).unwrap();
    let old = project
        .runs()
        .into_iter()
        .find(|run| run.ends_with_id("old-1of2"));
    let old = old.unwrap();
    let places: Value = serde_json::from_slice(&places).unwrap();
    let mut own: Value =
        serde_json::from_slice(&fs::read(old.join("places.json")).unwrap()).unwrap();
    own["places"][0] = places["places"][0].clone();
    own["places"]
        .as_array_mut()
        .unwrap()
        .sort_by_key(Value::as_u64);
    fs::write(old.join("places.json"), own.to_string()).unwrap();
    for dir in [&old, &two] {
        crate::project::sign(dir);
    }
    project
        .run("merge evaltest-runs -o third")
        .exits(2)
        .says("shard 1/2 and shard 2/2 both have sample `q");
    assert!(!project.file("third").exists());
}

trait EndsWithId {
    fn ends_with_id(&self, id: &str) -> bool;
}

impl EndsWithId for PathBuf {
    fn ends_with_id(&self, id: &str) -> bool {
        self.to_string_lossy().ends_with(&format!("_{id}"))
    }
}

#[test]
fn a_merged_run_is_a_point_of_the_history() {
    let (project, whole) = project();
    split(&whole, 3, &project.file("shards"));
    project
        .run("merge shards --history")
        .exits(0)
        .says("this run is added to the history");
    let lines = || json_lines(&project.file("snapshots/e/history.jsonl"));
    assert_eq!(lines().len(), 1);
    assert_eq!(lines()[0]["correct"], 40);
    assert_eq!(lines()[0]["answers"]["count"], 40);
    // Once is enough.
    project.run("merge shards --history").exits(0);
    assert_eq!(lines().len(), 1);
    project.run("accept shards").exits(2);
}

#[test]
fn metrics_that_only_a_program_works_out_are_said_to_be_lost() {
    let (project, _) = project();
    project.spec("echo", "gates: [accuracy >= 0.5, 'metric(own) >= 0.1']\n");
    project.run("run -v eval.yaml");
    let whole = project.last_run();
    // As the run of an eval made in Rust leaves it, whose benchmark has a figure of its own.
    let path = whole.join("summary.json");
    let mut summary: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    summary["metrics"] = serde_json::json!({ "own": 0.5 });
    fs::write(&path, summary.to_string()).unwrap();
    split(&whole, 2, &project.file("parts"));
    project
        .run("merge -v parts -o merged")
        .exits(3)
        .says("gate metric(own) >= 0.1: INCONCLUSIVE: ")
        .says("those of parts cannot be added up; an unsharded run has them");
}
