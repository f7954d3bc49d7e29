//! `cargo evaltest schema` and the program say the same of a spec.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use evaltest::Registry;
use evaltest::engine::eval::spec::{OwnKinds, parse_all, schema};
use evaltest::engine::scorers;
use evaltest::engine::text::Override;
use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::project::Project;

pub(crate) mod equal;
mod gates;
mod keys;

/// Specs that have, together, every key there is.
const WHOLE: &str = include_str!("schema/whole.yaml");

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema(&OwnKinds::default()));
static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&SCHEMA).expect("a schema"));

/// A folder with the files that [`WHOLE`] names.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("orders.csv", "order\n1\n"),
            ("labels.jsonl", r#"{"id": "a", "label": 4}"#),
            ("recorded.jsonl", r#"{"key": "a", "said": "42"}"#),
            ("questions.csv", "question,answer\n6 * 7?,42\n"),
            ("c.jsonl", "{\"id\": \"a\", \"scenario\": \"b\"}\n"),
            ("tools.yaml", "- { name: f, returns: [{ result: 1 }] }\n"),
            (
                "questions.jsonl",
                r#"{"question": "?", "passage": "Two.", "topic": "a", "answers": "2"}"#,
            ),
            (
                "riddles.jsonl",
                "{\"Query\": \"6 * 7?\", \"answer\": \"42\", \"level\": 1}\n",
            ),
            ("test.jsonl", r#"{"question": "6 * 7?", "answer": "42"}"#),
            (
                "judge.calibration.json",
                r#"{"format_version": 1, "eval": "e", "scorer": "judge", "fingerprint": "f", "models": [], "run": "r",
                "population": "p", "n": 0, "kappa": {"of": "", "quadratic": false, "value": null, "ci95": null},
                "self_agreement": null, "figures": {}, "answers": []}"#,
            ),
            (
                "items.json",
                r#"[{"id": "a", "problem": "6 * 7?", "answer": 42, "solution": "s", "topic": "t"}]"#,
            ),
            (
                "aime.jsonl",
                "{\"id\": \"2024-I-1\", \"problem\": \"6 * 7?\", \"answer\": 42}\n",
            ),
        ];
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        fs::create_dir(folder.path().join("bfcl")).unwrap();
        let data = root().join("fixtures/bfcl");
        copy(&data, &folder.path().join("bfcl"));
        Self(folder)
    }

    /// What the program says of a spec in it.
    fn program(&self, text: &str) -> Result<(), String> {
        let path = self.0.path().join("eval.yaml");
        match parse_all(text, &path, &Registry::new(), &[]) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.message().to_owned()),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// What the schema says of a spec, which must be YAML.
fn editor(text: &str) -> Result<(), String> {
    let value = Override::value(text).map_err(|error| error.to_string())?;
    VALIDATOR
        .validate(&value)
        .map_err(|error| error.to_string())
}

/// The specs of [`WHOLE`], and those of keys that every kind has.
fn whole() -> Vec<Value> {
    let specs = WHOLE
        .split("---\n")
        .map(|text| Override::value(text).unwrap());
    let mut specs: Vec<Value> = specs.collect();
    let mut scorers = Vec::new();
    // Whatever a judge may have, one of a jury may have, but for a calibration, which is of all of them.
    let lists = specs.iter().filter_map(|spec| spec["scorers"].as_array());
    let judges = lists.flatten().filter(|scorer| scorer["type"] == "judge");
    for (number, judge) in judges.enumerate() {
        let mut judge = judge.clone();
        judge.as_object_mut().unwrap().remove("calibration");
        scorers.push(json!({
            "type": "jury", "name": format!("j{number}"), "judges": [judge], "min_judges": 1,
        }));
    }
    for (number, scorer) in scorers::names().enumerate() {
        let mut map = json!({ "type": scorer, "name": format!("s{number}"), "on": { "turn": 1 } });
        match scorer {
            "all" | "any" | "weighted" => map["scorers"] = json!(["exact"]),
            "not" => map["scorer"] = json!("exact"),
            "command" => map["command"] = json!(["cat"]),
            "solver" => map["agent"] = json!({ "type": "echo" }),
            "item" => map["fields"] = json!([{ "name": "a", "type": "text" }]),
            "judge" => {
                map["agent"] = json!({ "type": "echo" });
                map["rubric"] = json!("aime");
            }
            "jury" => {
                map["judges"] = json!([
                    { "type": "judge", "name": "a", "agent": { "type": "echo" }, "rubric": "aime" },
                    { "agent": { "type": "echo" }, "rubric": "aime" },
                ]);
                map["aggregate"] = json!("weighted");
                map["weights"] = json!({ "a": 1, "judge": 0.5 });
                map["min_judges"] = json!(1);
                map["labels"] = json!("labels.jsonl");
                map["calibration"] = json!("judge.calibration.json");
            }
            "pairwise" => {
                map["calibration"] = json!("judge.calibration.json");
                let samples = json!([{ "id": "a", "prompt": "b" }]);
                map["agent"] = json!({ "type": "echo" });
                map["against"] = json!({ "benchmark": { "type": "custom", "samples": samples } });
            }
            "semantic" => {
                map["base_url"] = json!("http://127.0.0.1:1/v1");
                map["model"] = json!("m");
            }
            _ => {}
        }
        scorers.push(map);
    }
    let custom =
        json!({ "type": "custom", "samples": [{ "id": "a", "prompt": "b", "ground_truth": "c" }] });
    // Each in its own spec: a mistake in one is tried without the others.
    for scorer in scorers {
        specs.push(json!({ "benchmark": custom, "agent": "echo", "scorers": [scorer] }));
    }
    for way in [
        "boxed",
        "last_line",
        "none",
        "aime",
        "gsm8k",
        "number",
        "choice",
        "final_answer",
    ] {
        let extract = json!({ "type": way, "strip_think": true });
        specs.push(json!({ "benchmark": custom, "agent": "echo", "extract": extract }));
    }
    // `cluster` is a key of all benchmarks.
    for number in 0..specs.len() {
        let mut spec = specs[number].clone();
        if spec["benchmark"]["type"] != "custom" {
            spec["benchmark"]["cluster"] = json!("topic");
            specs.push(spec);
        }
    }
    specs
}

#[test]
fn the_form_for_the_store_says_the_same() {
    let schema = Project::new().run("schema --store").exits(0).json();
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    assert!(!schema.to_string().contains("$defs"));
    let store = jsonschema::draft7::new(&schema).expect("a schema of draft 07");
    for spec in whole() {
        assert!(store.is_valid(&spec), "{spec}");
        for (key, value) in [
            ("gate", json!(["a"])),
            ("gates", json!(1)),
            ("agent", json!({"type": 1})),
        ] {
            let mut spec = spec.clone();
            spec[key] = value;
            assert!(!store.is_valid(&spec), "{spec}");
        }
    }
}

#[test]
fn the_command_prints_the_schema() {
    let project = Project::new();
    let printed = project.run("schema").exits(0).out;
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed, *SCHEMA);
    assert_eq!(
        printed["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    jsonschema::meta::validate(&printed).unwrap();
}

/// A new spec names the schema in the first line, as editors look for it, and is what the schema asks for.
#[test]
fn init_writes_the_schema_beside_the_spec() {
    for kind in ["demo", "gaia", "qa", "bfcl", "gsm8k", "aime", "custom"] {
        let project = Project::new();
        let more = format!("--benchmark {kind}");
        let more = if kind == "demo" { "" } else { &more };
        project.run(&format!("init --name new {more}")).exits(0);
        let spec = project.read("evals/new.yaml");
        let named = spec.strip_prefix("# yaml-language-server: $schema=");
        let file = named.and_then(|rest| rest.lines().next()).unwrap();
        let written: Value = serde_json::from_str(&project.read(&format!("evals/{file}"))).unwrap();
        assert_eq!(written, *SCHEMA);
        editor(&spec).unwrap();
    }
}

#[test]
fn kinds_of_one_s_own_are_legal_when_they_are_named() {
    let project = Project::new();
    let spec = json!({
        "benchmark": { "type": "riddles", "hard": true },
        "agent": { "type": "mine", "speed": 3 },
        "scorers": ["lenient", { "type": "lenient", "name": "b", "by": 2 }, "gaia"],
    });
    assert!(!VALIDATOR.is_valid(&spec));
    let own = "--own-benchmark riddles --own-agent mine --own-scorer lenient";
    let printed = project.run(&format!("schema {own}")).exits(0).out;
    let printed: Value = serde_json::from_str(&printed).unwrap();
    let validator = jsonschema::draft202012::new(&printed).unwrap();
    assert!(validator.is_valid(&spec));
    let misspelt = json!({ "benchmark": "riddles", "agent": { "type": "echo", "txt": "a" } });
    assert!(!validator.is_valid(&misspelt));
}

/// Every property of the schema says what it means.
#[test]
fn every_key_is_explained() {
    let mut mute = BTreeSet::new();
    explained(&SCHEMA, "", &mut mute);
    assert!(mute.is_empty(), "{mute:#?}");
}

fn explained(schema: &Value, place: &str, mute: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                let place = format!("{place}/{key}");
                if key == "properties"
                    && !place.contains("/not/")
                    && !place.contains("/oneOf/")
                    && !place.contains("/allOf/")
                {
                    for (name, property) in value.as_object().unwrap() {
                        if property.get("description").is_none() {
                            mute.insert(format!("{place}/{name}"));
                        }
                    }
                }
                explained(value, &place, mute);
            }
        }
        Value::Array(items) => {
            for (item, value) in items.iter().enumerate() {
                explained(value, &format!("{place}/{item}"), mute);
            }
        }
        _ => {}
    }
}
