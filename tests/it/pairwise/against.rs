//! What answers are compared with: runs, files and benchmarks, within an eval.

use serde_json::json;

use super::{Duel, eval, prefers};

const JUDGE: &str = "agent: { type: command, command: [sh, ./judge.sh] }";

fn duel() -> Duel {
    Duel::new(4, "echo this is good", "echo bad", &prefers("good"))
}

#[test]
fn an_eval_is_gated_by_wins() {
    let duel = duel();
    let dir = duel.dir("b");
    let scorer = format!(
        "{{ type: pairwise, {JUDGE}, against: {{ run: {} }} }}",
        dir.display()
    );
    for (says, code) in [("echo good as well", 0), ("echo poor", 1)] {
        let more = format!(
            "scorers: [{scorer}]\ngates: [mean(pairwise.win) >= 0.5, mean(pairwise.loss) <= 0.5]\n"
        );
        duel.project.write("c.yaml", eval("c", 4, says, &more));
        let ran = duel.project.run("run c.yaml").exits(code);
        ran.says("4 pairs of 4 items");
    }
    let more = format!("scorers: [{scorer}]\ngates: [mean(pairwise.wins) >= 0.5]\n");
    duel.project.write("c.yaml", eval("c", 4, "echo c", &more));
    duel.project
        .run("run c.yaml")
        .exits(2)
        .says("no score has `pairwise.wins`, did you mean `pairwise.win`?");
}

#[test]
fn a_file_of_answers_with_one_missing() {
    let duel = duel();
    duel.project.write(
        "other.jsonl",
        "{\"id\": \"secret-id-000\", \"answer\": \"bad\"}\n{\"sample_id\": \"secret-id-001\", \"prediction\": \"bad\"}\n\
         {\"id\": \"secret-id-002\", \"answer\": null}\n{\"id\": \"elsewhere\", \"answer\": \"bad\"}\n",
    );
    let dir = duel.dir("a").display().to_string();
    let scorer = format!("{{ type: pairwise, {JUDGE}, against: {{ path: other.jsonl }} }}");
    let ran = duel
        .project
        .run_of(&["rescore", &dir, "--scorer", &scorer, "--json"]);
    let summary = ran.exits(0).json()["summary"].clone();
    // What has an answer on one side alone, or on none, is compared with nothing.
    assert_eq!(
        (&summary["scored"], &summary["unscored"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(duel.requested(), 4);
    let more = format!("scorers: [{scorer}]\n");
    duel.project.write("c.yaml", eval("c", 4, "echo c", &more));
    duel.project
        .run("run c.yaml")
        .exits(0)
        .says("`against` has no answer to 1 of the items that it shares: they are not compared");
}

#[test]
fn a_benchmark_with_the_same_ids_gives_its_ground_truths() {
    let duel = duel();
    let dir = duel.dir("a").display().to_string();
    let samples = "samples: [{ id: secret-id-000, prompt: good, ground_truth: bad }, { id: secret-id-001, prompt: good }]";
    let against = |more: &str| {
        format!(
            "{{ type: pairwise, {JUDGE}, against: {{ benchmark: {{ type: custom, {samples} }}{more} }} }}"
        )
    };
    let wins = |scorer: &str| {
        let ran = duel
            .project
            .run_of(&["rescore", &dir, "--scorer", scorer, "--json"]);
        ran.exits(0).json()["summary"]["judge"]["scorers"]["pairwise"]["pairs"].clone()
    };
    let pairs = wins(&against(""));
    assert_eq!((&pairs["n"], &pairs["wins"]), (&json!(1), &json!(1)));
    // Both have the word, and the first of two with it is preferred.
    let pairs = wins(&against(", text: prompt"));
    assert_eq!(
        (&pairs["n"], &pairs["inconsistent"]),
        (&json!(2), &json!(2))
    );
}

#[test]
fn epochs_are_paired_and_are_one_item() {
    let duel = duel();
    let dir = duel.dir("b");
    let scorer = format!(
        "{{ type: pairwise, {JUDGE}, against: {{ run: {} }} }}",
        dir.display()
    );
    let more = format!("scorers: [{scorer}]\nepochs: 3\n");
    duel.project
        .write("c.yaml", eval("c", 4, "echo good", &more));
    duel.project
        .run("run c.yaml")
        .exits(0)
        .says("12 pairs of 4 items: 12 wins");
}

#[test]
fn another_run_to_compare_with_is_another_scorer() {
    let duel = duel();
    let hash = |dir: &str| {
        let scorer = format!("{{ type: pairwise, {JUDGE}, against: {{ run: {dir} }} }}");
        duel.project.write(
            "c.yaml",
            eval("c", 4, "echo good", &format!("scorers: [{scorer}]\n")),
        );
        duel.project.run("run c.yaml").exits(0);
        duel.project.last_json("manifest.json")["scorer_hash"].clone()
    };
    let [a, b] = ["a", "b"].map(|name| duel.dir(name));
    let of_b = hash(&b.display().to_string());
    assert_ne!(of_b, hash(&a.display().to_string()));
    // Where it lies is no part of it.
    let moved = duel.project.file("moved");
    std::fs::rename(&b, &moved).unwrap();
    assert_eq!(of_b, hash(&moved.display().to_string()));
}

#[test]
fn what_was_not_drawn_is_outside_the_figures() {
    let duel = duel();
    let dir = duel.dir("b");
    let scorer = format!(
        "{{ type: pairwise, {JUDGE}, pairs: 2, seed: 7, against: {{ run: {} }} }}",
        dir.display()
    );
    for epochs in [1, 2] {
        let more = format!(
            "scorers: [qa_f1, {scorer}]\nepochs: {epochs}\ngates: [accuracy(pairwise) >= 1, mean(pairwise.win) >= 1]\n"
        );
        let spec = eval("c", 4, "echo good", &more).replace(" }, {", ", ground_truth: good }, {");
        let spec = spec.replace(" }] }", ", ground_truth: good }] }");
        duel.project.write("c.yaml", spec);
        let ran = duel.project.run("run c.yaml").exits(0);
        let ran = ran.says(&format!("{} pairs of 2 items", 2 * epochs));
        assert!(!ran.out.contains("not judged"), "{}", ran.out);
        let summary = duel.project.last_json("summary.json");
        let pairwise = &summary["scorers"]["pairwise"];
        assert_eq!(
            (&pairwise["scored"], &pairwise["errors"]),
            (&json!(2 * epochs), &json!(0))
        );
        assert_eq!(pairwise["accuracy_bounds"], json!([1.0, 1.0]));
    }
}

#[test]
fn an_eval_beside_the_ground_truths_of_another_benchmark() {
    let duel = duel();
    duel.project.write(
        "real/questions.jsonl",
        "{\"id\": \"secret-id-001\", \"prompt\": \"One?\", \"ground_truth\": \"bad\"}\n\
         {\"id\": \"secret-id-003\", \"prompt\": \"Three?\", \"ground_truth\": \"bad\"}\n",
    );
    let against = |kind: &str| {
        format!(
            "scorers: [{{ type: pairwise, {JUDGE}, against: {{ benchmark: {{ {kind} }} }} }}]\ngates: [mean(pairwise.win) >= 1]\n"
        )
    };
    let benchmark = "type: qa, path: real/questions.jsonl, columns: { prompt: prompt, ground_truth: ground_truth }";
    duel.project
        .write("c.yaml", eval("c", 4, "echo good", &against(benchmark)));
    duel.project
        .run("run c.yaml")
        .exits(0)
        .says("2 pairs of 2 items: 2 wins");
    assert_eq!(duel.requested(), 4);
    // One that cannot be read is told of before anybody is asked.
    let nowhere = benchmark.replace("real/", "unreal/");
    duel.project.write(
        "c.yaml",
        eval("c", 4, "echo c >> asked.log", &against(&nowhere)),
    );
    duel.project
        .run("run c.yaml")
        .exits(2)
        .says("unreal/questions.jsonl");
    assert!(!duel.project.file("asked.log").exists());
}
