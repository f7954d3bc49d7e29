use std::fs;

use super::*;
use crate::benchmark::custom::Custom;
use crate::eval::plan::BaselineUse;
use crate::verdict::gate::Gate;
use crate::{AgentError, Eval, Sample, Task};

#[test]
fn the_journals_of_parts_are_copied_with_members_that_nobody_knows() {
    let folder = tempfile::tempdir().unwrap();
    let samples = ["a", "b", "fails"].map(|id| Sample::new(id, "How many?").target("17"));
    let eval = Eval::new(Custom::new(samples), |task: &Task| match task.id() {
        "fails" => Err(AgentError::new("gone")),
        _ => Ok("17".into()),
    });
    let eval = eval
        .gate("accuracy >= 0.1".parse::<Gate>().unwrap())
        .output_root(folder.path().join("runs"))
        .snapshots(folder.path().join("snapshots"));
    let parts = || {
        let plan = Plan::load(&eval, BaselineUse::Ignore).unwrap();
        TrialRun::new(plan, "one", &Cancel::new())
    };
    let mut expect = String::new();
    for (place, id) in ["a", "b", "fails"].into_iter().enumerate() {
        let sample = parts();
        sample.sample(place);
        let journal = sample.part(id).join("events.jsonl");
        let text = fs::read_to_string(&journal).unwrap();
        // What this version wrote itself is beside lines of another one.
        let text = match id {
            "b" => text,
            _ => text
                .replace("{\"sample_id\"", "{ \"l\\u0061ter\" : 1.50,\"sample_id\"")
                .replace("\"output\":{", "\"output\":{\"later\": [ ],")
                .replace("\"result\":{", "\"result\":{ \"later\":-0.0 ,"),
        };
        fs::write(&journal, &text).unwrap();
        expect += &text;
    }
    parts().gate(0);
    let [dir] = &runs_in(&folder.path().join("runs"))[..] else {
        panic!("one run");
    };
    let read = |name| fs::read_to_string(dir.file(name)).unwrap();
    let merged = read("events.jsonl");
    let unnumbered = |text: &str| {
        let index = regex::Regex::new("\"event_index\":[0-9]+").unwrap();
        index.replace_all(text, "").into_owned()
    };
    assert_eq!(unnumbered(&merged), unnumbered(&expect));
    for (number, line) in merged.lines().enumerate() {
        assert!(
            line.contains(&format!("\"event_index\":{number},")),
            "{line}"
        );
    }
    let samples = read("samples.jsonl");
    assert_eq!(samples.matches("\"later\": [ ]").count(), 1);
    assert_eq!(samples.matches("\"later\":-0.0").count(), 2);
}
