use std::fs;

use super::*;
use crate::benchmark::custom::Custom;
use crate::eval::plan::BaselineUse;
use crate::verdict::gate::Gate;
use crate::{AgentError, Eval, Sample, Task};

#[test]
fn flip_is_deferred_to_the_gate_if_there_is_one() {
    /// Answers incorrectly; the field is whether it declares itself deterministic.
    struct Wrong(bool);
    impl crate::Agent for Wrong {
        fn answer(&self, _: &Task) -> Result<crate::Output, AgentError> {
            Ok("99".into())
        }
        fn is_deterministic(&self) -> bool {
            self.0
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let eval = |agent: Box<dyn crate::Agent>, runs: &str, ids: &[&str]| {
        let samples: Vec<_> = ids
            .iter()
            .map(|id| Sample::new(*id, "How many?").target("17"))
            .collect();
        let mut eval = Eval::new(Custom::new(samples), |_: &Task| Ok("17".into()))
            .gate(Gate::no_regression())
            .output_root(folder.path().join(runs))
            .snapshots(folder.path().join("snapshots"));
        eval.agent = agent.into();
        eval
    };
    let verdict = |eval: &Eval, place: usize| {
        let plan = Plan::load(eval, BaselineUse::Ignore).unwrap();
        TrialRun::new(plan, "one", &Cancel::new()).sample(place)
    };
    let wrong = |is_deterministic, runs| eval(Box::new(Wrong(is_deterministic)), runs, &["a", "b"]);
    // Without a baseline the gates of the eval decide.
    let verdict_of_none = verdict(&wrong(false, "before"), 0);
    assert_eq!(verdict_of_none, TestVerdict::Passed);
    let right = eval(Box::new(|_: &Task| Ok("17".into())), "runs", &["a"]);
    let run = right.run().unwrap();
    let dir = RunDir::open(&run.dir).unwrap();
    snapshot::accept(
        &[dir],
        &right.snapshot.folder,
        &snapshot::Acceptance::default(),
    )
    .unwrap();
    let note_of = |place: usize| match verdict(&wrong(false, "told"), place) {
        TestVerdict::PassedWithNote(note) => note.what,
        other => panic!("{other:?}"),
    };
    let expect = "correct in the baseline and wrong now, passed: the gate decides";
    assert!(note_of(0).starts_with(expect), "{}", note_of(0));
    assert!(
        note_of(1).contains("because the baseline lacks it"),
        "{}",
        note_of(1)
    );
    match verdict(&wrong(true, "failed"), 0) {
        TestVerdict::Failed(message) => {
            assert!(message.contains("is declared deterministic"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

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
    // As lines were before they had checksums.
    let sum = regex::Regex::new(",\"journal\":\"[0-9a-f]{8}\",\"sum\":\"[0-9a-f]{8}\"\\}").unwrap();
    let mut expect = String::new();
    for (place, id) in ["a", "b", "fails"].into_iter().enumerate() {
        let sample = parts();
        sample.sample(place);
        let journal = sample.parts.part(id).join("events.jsonl");
        let text = fs::read_to_string(&journal).unwrap();
        let text = sum.replace_all(&text, "}").into_owned();
        // This version's own lines next to those of another one.
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
        let text = sum.replace_all(text, "}");
        index.replace_all(&text, "").into_owned()
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
