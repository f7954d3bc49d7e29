//! Recorded judges of `LLMBar`: the panel is as an independent computation has it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::Command;

use needs::needs;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::project::Project;

const JUDGES: [&str; 3] = ["ChatGPT", "LLaMA2", "Falcon"];

/// Items with their label and, by judge, what it said in the first order.
struct Recorded(BTreeMap<String, (String, [Option<String>; 3])>);

fn recorded(strategy: &str, sets: &str) -> Recorded {
    let folder = std::env::var_os("EVALTEST_PARITY_DATA")
        .map_or_else(|| crate::project::root().join("../shared"), PathBuf::from);
    let file = folder.join("judging/llmbar_replies.jsonl.gz");
    let lines = Command::new("gzip").arg("-cd").arg(file).output().unwrap();
    let mut items = BTreeMap::new();
    for line in String::from_utf8(lines.stdout).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap();
        let judge = JUDGES.iter().position(|judge| *judge == text("judge"));
        let (Some(judge), true) = (
            judge,
            text("strategy") == strategy && text("set").starts_with(sets),
        ) else {
            continue;
        };
        let id = format!(
            "{}-{:03}",
            text("set").replace('/', "-"),
            row["i"].as_u64().unwrap()
        );
        let item = items
            .entry(id)
            .or_insert_with(|| (text("label").to_owned(), [None, None, None]));
        let last = row["stages"].as_array().unwrap().last().unwrap();
        let winner = last["winner"][0].as_str();
        item.1[judge] = winner
            .filter(|it| ["1", "2"].contains(it))
            .map(str::to_owned);
    }
    Recorded(items)
}

/// In which of five parts an item is, as the page of the scorer says.
fn fold(id: &str) -> u64 {
    let mut hash = Sha256::new();
    for part in ["evaltest jury fold", id] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let first: [u8; 8] = hash.finalize()[..8].try_into().unwrap();
    u64::from_le_bytes(first) % 5
}

impl Recorded {
    fn majority(&self, id: &str) -> Option<&str> {
        let says = &self.0[id].1;
        ["1", "2"].into_iter().find(|name| {
            let votes = says
                .iter()
                .filter(|verdict| verdict.as_deref() == Some(name));
            votes.count() >= 2
        })
    }

    /// With weights of the labelled items, without those of the own part where the item is labelled.
    fn weighted(&self, labelled: &[&String], id: &str) -> Option<&str> {
        let is_labelled = labelled.iter().any(|it| *it == id);
        let mut sums = HashMap::from([("1", 0.0), ("2", 0.0)]);
        for judge in 0..3 {
            let (mut right, mut all) = (0.0, 0.0);
            for other in labelled {
                if is_labelled && fold(other) == fold(id) {
                    continue;
                }
                let (label, says) = &self.0[*other];
                if let Some(verdict) = &says[judge] {
                    all += 1.0;
                    right += f64::from(u8::from(verdict == label));
                }
            }
            let share: f64 = (right + 1.0) / (all + 2.0);
            let weight = (share / (1.0 - share)).ln().max(0.0);
            if let Some(verdict) = &self.0[id].1[judge] {
                *sums.get_mut(&**verdict).unwrap() += weight;
            }
        }
        let (one, two) = (sums["1"], sums["2"]);
        if (one - two).abs() < 1e-12 {
            None
        } else {
            Some(if one > two { "1" } else { "2" })
        }
    }

    /// How many of the items a judge is right on.
    fn right(&self, judge: usize) -> u32 {
        let right = self
            .0
            .values()
            .filter(|(label, says)| says[judge].as_ref() == Some(label));
        u32::try_from(right.count()).unwrap()
    }

    /// The questions, an agent that says anything, and the judges as recordings of what they replied.
    fn project(&self, options: &str) -> Project {
        let project = Project::new();
        let lines = |line: &dyn Fn(&str) -> Value| -> String {
            self.0
                .keys()
                .map(|id| line(id).to_string() + "\n")
                .collect()
        };
        let questions = self.0.keys().map(|id| (&**id, 1, "which?", "1"));
        project.questions(&questions.collect::<Vec<_>>());
        let mut list = Vec::new();
        for (place, judge) in JUDGES.iter().enumerate() {
            let reply = |id: &str| {
                let verdict = self.0[id].1[place].as_deref();
                let verdict =
                    verdict.map_or("Hm.".to_owned(), |verdict| format!("VERDICT: {verdict}"));
                serde_json::json!({ "id": id, "answer": verdict })
            };
            let again = |id: &str| {
                let mut reply = reply(id);
                reply["again"] = 1.into();
                reply
            };
            let replies = lines(&reply) + &lines(&again);
            project.write(&format!("{judge}.jsonl"), replies);
            list.push(format!(
                "{{ name: {judge}, sees: [prediction], choices: {{ \"1\": 1, \"2\": 0 }}, \
                 agent: {{ type: replay, path: {judge}.jsonl }} }}"
            ));
        }
        let list = list.join(", ");
        let more = format!(
            "scorers: [{{ type: jury, judges: [{list}]{options} }}]\ngates: [error_rate <= 1]\n"
        );
        project.spec("echo", &more);
        project
    }
}

/// The verdicts of the last run.
fn verdicts(project: &Project) -> BTreeMap<String, Option<String>> {
    let records = project.last_lines("samples.jsonl");
    let verdict = |record: &Value| {
        let verdict = record["result"]["score"]["details"]["verdict"].as_str();
        (
            record["sample_id"].as_str().unwrap().to_owned(),
            verdict.map(str::to_owned),
        )
    };
    records.iter().map(verdict).collect()
}

#[needs(data = "judging/llmbar_replies.jsonl.gz")]
#[test]
fn majorities_are_those_of_an_independent_computation() {
    for (strategy, sets, warns) in [
        ("CoT", "LLMBar", true),
        ("Vanilla", "LLMBar", true),
        ("Vanilla", "LLMBar/Natural", false),
        ("Metrics_Reference", "LLMBar/Adversarial", true),
    ] {
        let recorded = recorded(strategy, sets);
        let items = f64::from(u32::try_from(recorded.0.len()).unwrap());
        let project = recorded.project(", labels: labels.jsonl");
        let labels = |ids: &[&String]| -> String {
            let line = |id: &&String| {
                serde_json::json!({ "id": id, "label": recorded.0[*id].0 }).to_string() + "\n"
            };
            ids.iter().map(line).collect()
        };
        let all: Vec<&String> = recorded.0.keys().collect();
        project.write("labels.jsonl", labels(&all));
        project.run("run eval.yaml");
        let found = verdicts(&project);
        let mut right = 0;
        for id in recorded.0.keys() {
            let expect = recorded.majority(id);
            assert_eq!(found[id].as_deref(), expect, "{id}");
            right += u32::from(expect == Some(&*recorded.0[id].0));
        }
        let jury = &project.last_json("summary.json")["judge"]["juries"]["jury"];
        let share = |right: u32| f64::from(right) / items;
        assert_eq!(jury["panel"]["agreement"], share(right));
        for judge in 0..3 {
            let own = share(recorded.right(judge));
            assert_eq!(jury["judges"][judge]["labels"]["agreement"], own);
        }
        // McNemar's interval, by hand: where it is far from 0 the warning must come, or must not.
        let best = (0..3).max_by_key(|judge| recorded.right(*judge)).unwrap();
        let differences = recorded.0.iter().map(|(id, (label, says))| {
            let panel = recorded.majority(id) == Some(label);
            f64::from(u8::from(panel)) - f64::from(u8::from(says[best].as_ref() == Some(label)))
        });
        let differences: Vec<f64> = differences.collect();
        let mean = differences.iter().sum::<f64>() / items;
        let variance = differences
            .iter()
            .map(|it| (it - mean).powi(2))
            .sum::<f64>()
            / (items - 1.0);
        let z = mean / (variance / items).sqrt();
        assert_eq!(
            (!jury["worse"].is_null(), z < -1.96),
            (warns, warns),
            "{strategy} {sets} {z}"
        );

        // Weights of the labels of a quarter, out of the part of an item that has one.
        let some: Vec<&String> = all.iter().copied().step_by(4).collect();
        let first = project.last_run();
        project.write("labels.jsonl", labels(&some));
        let spec = project.read("eval.yaml").replace(
            ", labels: labels.jsonl",
            &format!(
                ", labels: labels.jsonl, aggregate: weighted, weights_from: '{}'",
                first.display()
            ),
        );
        project.write("weighted.yaml", spec);
        project.run(&format!("rescore {} --spec weighted.yaml", first.display()));
        let found = verdicts(&project);
        for id in recorded.0.keys() {
            assert_eq!(found[id].as_deref(), recorded.weighted(&some, id), "{id}");
        }
        let jury = &project.last_json("summary.json")["judge"]["juries"]["jury"];
        assert_eq!(jury["labelled"], some.len());
    }
}
