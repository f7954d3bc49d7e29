//! What is merged equals what one machine would have left, whatever the dataset, the errors, the shards and the order.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::parts::timeless;
use crate::project::Project;

/// Numbers that are the same each time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }
}

/// Some are wrong, some have no answer in some epoch, some have one at the second attempt. Whoever finds `kill` there takes it
/// and ends the run that asks.
const AGENT: &str = "#!/bin/sh\nid=$EVALTEST_SAMPLE_ID\n\
    if rm kill 2>/dev/null; then kill -9 $PPID; sleep 5; fi\n\
    case $id in\n*7) if [ \"$EVALTEST_EPOCH\" = 0 ]; then echo none >&2; exit 1; fi; echo 1;;\n\
    *3) echo wrong;;\n*5) if [ \"$EVALTEST_ATTEMPT\" = 1 ]; then exit 2; fi; echo 1;;\n\
    *) echo 1;;\nesac\n";

/// What a part says of itself that ended early once, and one that did not, need not be the same.
fn without_attempts(text: &str) -> String {
    let mut all = String::new();
    let texts: Vec<&str> = text.lines().collect();
    for text in texts {
        let mut value: Value = serde_json::from_str(text).unwrap();
        forget(&mut value);
        all += &value.to_string();
    }
    all
}

fn forget(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget),
        Value::Object(map) => {
            for name in ["attempts", "recovered_by_retry"] {
                map.entry(name).and_modify(|value| *value = Value::Null);
            }
            map.values_mut().for_each(forget);
        }
        _ => {}
    }
}

/// Whether a shard was killed on the way.
fn case(seed: u64) -> bool {
    let mut dice = Dice(seed);
    (0..9).for_each(|_| {
        dice.below(2);
    });
    let count = dice.below(24) + 1;
    let ids: Vec<String> = (0..count)
        .map(|number| {
            format!(
                "{}-{}",
                ["a", "über", "q \\\"x", "zz/1"][dice.below(4)],
                number * 3
            )
        })
        .collect();
    let questions: Vec<_> = ids
        .iter()
        .map(|id| (&**id, 1 + u32::try_from(dice.below(3)).unwrap(), "?", "1"))
        .collect();
    let epochs = 1 + dice.below(3);
    let asserts = ["baseline", "correct"][dice.below(2)];
    let spec = format!(
        "name: e\nbenchmark: {{ type: gaia, path: data.jsonl }}\nprompt: none\n\
         agent: {{ type: command, command: [./agent.sh] }}\nepochs: {epochs}\n\
         snapshot: {{ answers: plain, assert: {asserts} }}\nlimits: {{ retries: {}, concurrency: 1 }}\n\
         gates:\n  - accuracy >= 0.{}\n  - error_rate <= 0.{}\n",
        dice.below(2),
        dice.below(10),
        dice.below(10),
    );
    let project = Project::new();
    project.questions(&questions);
    project.write("eval.yaml", &spec);
    project.script("agent.sh", AGENT);
    let whole = project.run("run eval.yaml --run-id whole");
    let dir = project.last_run();
    let shards = 1 + dice.below(6);
    let mut dirs = Vec::new();
    let mut was_killed = false;
    for shard in 1..=shards {
        let root = format!("shards/{shard}");
        let run = format!("run eval.yaml --shard {shard}/{shards} --output-root {root}");
        let kills = dice.below(4) == 0;
        if kills {
            project.write("kill", "");
        }
        let ran = project.run(&run);
        let there = fs::read_dir(project.file(&root)).unwrap();
        let there = there.flatten().map(|entry| entry.path());
        let there: Vec<PathBuf> = there.filter(|path| path.is_dir()).collect();
        let path = there[0].clone();
        if ran.code.is_none() {
            was_killed = true;
            let named = path.to_str().unwrap();
            project
                .run_of(&["merge", named])
                .exits(2)
                .says("was killed before its end")
                .says("run --resume");
            project.run_of(&["run", "--resume", named]);
        }
        // A shard of no sample asks nobody.
        let _ = fs::remove_file(project.file("kill"));
        dirs.push(path);
    }
    // Each order, and one of them twice.
    dirs.rotate_left(dice.below(shards));
    if dice.below(2) == 0 {
        dirs.push(dirs[0].clone());
    }
    let words: Vec<&str> = dirs.iter().map(|dir| dir.to_str().unwrap()).collect();
    let merged = project.run_of(&[&["merge", "-o", "merged"], &words[..]].concat());
    assert_eq!(merged.code, whole.code, "{seed}: {merged:?}\n{whole:?}");
    for name in ["samples.jsonl", "errors.jsonl", "summary.json"] {
        let [one, other] = [&dir, &project.file("merged")].map(|dir| timeless(&dir.join(name)));
        if was_killed {
            assert_eq!(
                without_attempts(&one),
                without_attempts(&other),
                "{seed}: {name}"
            );
        } else {
            assert_eq!(one, other, "{seed}: {name}");
        }
    }
    project.run("merge shards -o merged").says("merged already");
    project.run("merge shards -o other");
    for name in ["samples.jsonl", "events.jsonl", "summary.json"] {
        let [one, other] = ["merged", "other"].map(|dir| project.read(&format!("{dir}/{name}")));
        assert!(one == other, "{seed}: {name}");
    }
    was_killed
}

#[test]
fn merged_shards_equal_the_whole_run() {
    let killed = (1..=6).filter(|seed| case(seed * 7919)).count();
    assert!(killed > 0);
}

#[test]
fn merged_shards_equal_the_whole_run_of_other_datasets() {
    let killed = (7..=12).filter(|seed| case(seed * 7919)).count();
    assert!(killed > 0);
}
