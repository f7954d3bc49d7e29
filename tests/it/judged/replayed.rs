//! A run directory in a judge's place: it gives what the judge replied, and never what the agent said.

use std::collections::BTreeMap;

use serde_json::Value;

use super::court::{Court, is_again, number, points};
use crate::server::{Server, chat, fine};

/// The verdicts, with how the repeats agree.
fn verdicts(court: &Court) -> Vec<Value> {
    let results = court.results().into_iter();
    results.map(|mut result| result["score"].take()).collect()
}

#[test]
fn it_repeats_every_reply_of_the_judge_of_the_same_name() {
    // By question: the points of each ask in turn.
    let replies: BTreeMap<u32, [u32; 3]> = [(0, [4, 2, 5]), (1, [2, 4, 4]), (2, [5, 5, 4])].into();
    let judge = Server::new(
        move |requested, n| match (number(requested), is_again(requested)) {
            // It has to be asked once more.
            (0, false) => fine(&chat("Hm.")),
            (question, _) => fine(&points(replies[&question][n % 3])),
        },
    );
    let court = Court::of(3, judge, ", repeats: 3", "epochs: 2\n");
    court.run("eval.yaml").exits(0);
    let (before, requested) = (verdicts(&court), court.judged());
    let dir = court.dir();
    let openai = court.project.read("eval.yaml");
    let openai = openai.split_once("judge, agent: ").unwrap().1;
    let openai = format!("{} }}", openai.split_once(" }").unwrap().0);
    let replay = format!("{{ type: replay, path: '{}' }}", dir.display());
    court.edit(&openai, &replay);
    court.run("eval.yaml").exits(0);
    assert_eq!(verdicts(&court), before);
    assert_eq!(court.judged(), requested);
    let judge = &court.summary()["judge"];
    assert_eq!(judge["asked_again"], 6, "{judge}");

    // The agent's answer is no verdict of a judge that was not asked.
    court.edit("type: judge,", "type: judge, name: other,");
    court
        .run("eval.yaml")
        .exits(3)
        .says("but `judge`; hint: name the scorer as there");
}

#[test]
fn a_run_without_a_judge_is_none() {
    let court = Court::new(2, "", |_, _| fine(&points(4)));
    let spec = court.project.read("eval.yaml");
    let judge = spec.lines().find(|line| line.starts_with("scorers:"));
    let judge = judge.unwrap().to_owned();
    court.edit(&judge, "scorers: [gaia]");
    court.run("eval.yaml").exits(0);
    let path = court.dir().display().to_string();
    court.edit(
        "scorers: [gaia]",
        &format!(
            "scorers: [{{ type: judge, rubric: aime, agent: {{ type: replay, path: '{path}' }} }}]"
        ),
    );
    court
        .run("eval.yaml")
        .exits(3)
        .says("no judge was called in")
        .says("hint: name a run with a judge");
}
