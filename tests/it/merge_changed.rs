//! What was changed between two shards is named.

use crate::project::Project;

/// A project of twelve questions, the first shard of two of which was asked.
fn half() -> Project {
    let ids: Vec<_> = (0..12).map(|number| format!("q{number}")).collect();
    let questions: Vec<_> = ids.iter().map(|id| (&**id, 1, "1", "1")).collect();
    let project = Project::with_eval(&questions, "echo", "gates: [accuracy >= 0.5]\n");
    project.run("run eval.yaml --shard 1/2").exits(0);
    project
}

fn edit(project: &Project, name: &str, change: &dyn Fn(String) -> String) {
    let text = change(project.read(name));
    project.write(name, text);
}

#[test]
fn what_was_changed_between_two_shards_is_named() {
    let check = |file: &str, change: &dyn Fn(String) -> String, says: &str| {
        let project = half();
        edit(&project, file, change);
        project.run("run eval.yaml --shard 2/2").exits(0);
        project
            .run("merge evaltest-runs")
            .exits(2)
            .says(&format!("shard 2/2 has another {says} than shard 1/2"));
    };
    // Gates are about slices, though nobody is asked another question.
    check(
        "data.jsonl",
        &|text| text.replacen("\"Level\":1", "\"Level\":2", 1),
        "dataset",
    );
    let more = |line: &'static str| move |text: String| text + line;
    check("eval.yaml", &more("redact: ['secret']\n"), "`redact`");
    check("eval.yaml", &more("errors: wrong\n"), "`errors`");
    check(
        "eval.yaml",
        &|text| text.replace("answers: plain", "answers: masked"),
        "`snapshot.answers`",
    );
    check(
        "eval.yaml",
        &|text| text.replace("prompt: none", "prompt: concise"),
        "prompt",
    );
}

#[test]
fn a_shard_with_other_slices_does_not_go_on() {
    let project = half();
    let dir = project.last_run();
    edit(&project, "data.jsonl", &|text| {
        text.replacen("\"Level\":1", "\"Level\":2", 1)
    });
    project
        .run_of(&["run", "--resume", dir.to_str().unwrap()])
        .exits(2)
        .says("the dataset has changed since");
}

#[test]
fn shards_draw_no_samples_of_their_own() {
    let project = half();
    project
        .run("run eval.yaml --shard 2/2 --shuffle --limit 5")
        .exits(2)
        .says("each shard would draw samples of its own")
        .says("--seed 7");
    let seeded = "--shuffle --seed 7 --limit 5 --output-root five";
    for shard in ["1/2", "2/2"] {
        project
            .run(&format!("run eval.yaml --shard {shard} {seeded}"))
            .exits(0);
    }
    project.run("merge five -o merged").exits(0);
}
