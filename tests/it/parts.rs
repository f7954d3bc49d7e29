//! Parts of a run as shards leave them, made by a little code out of a whole run: what is merged can be made without being
//! asked.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::project::{json_lines, sha256};

/// Which shard of how many a sample is in: any rule will do, for the places say it.
pub(crate) fn shard_of(id: &str, of: usize) -> usize {
    id.bytes().fold(7_usize, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    }) % of
}

/// Cuts a run into so many shards, each in a directory of its own in a folder.
pub(crate) fn split(run: &Path, of: usize, into: &Path) -> Vec<PathBuf> {
    let shards = 0..of;
    shards
        .map(|index| shard(run, (index, of), &into.join(format!("{}of{of}", index + 1))))
        .collect()
}

/// Writes one shard (from 0) of a run into a directory.
pub(crate) fn shard(run: &Path, (index, of): (usize, usize), dir: &Path) -> PathBuf {
    fs::create_dir_all(dir).unwrap();
    let is_own = |line: &Value| shard_of(line["sample_id"].as_str().unwrap(), of) == index;
    for name in ["samples.jsonl", "errors.jsonl", "events.jsonl"] {
        let text = fs::read_to_string(run.join(name)).unwrap();
        let own = text.lines().filter(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            is_own(&line)
        });
        let own: String = own.flat_map(|line| [line, "\n"]).collect();
        fs::write(dir.join(name), own).unwrap();
    }
    for name in ["summary.json", "summary.md"] {
        fs::copy(run.join(name), dir.join(name)).unwrap();
    }
    let records = json_lines(&run.join("samples.jsonl"));
    let mut ids: Vec<&str> = records
        .iter()
        .map(|record| record["sample_id"].as_str().unwrap())
        .collect();
    ids.dedup();
    let places = (0..ids.len()).filter(|place| shard_of(ids[*place], of) == index);
    let places: Vec<usize> = places.collect();
    let file = json!({ "format_version": 1, "samples": ids.len(), "places": places });
    fs::write(dir.join("places.json"), file.to_string()).unwrap();
    let mut manifest: Value =
        serde_json::from_slice(&fs::read(run.join("manifest.json")).unwrap()).unwrap();
    let run_id = format!(
        "{}-{}of{of}",
        manifest["run_id"].as_str().unwrap(),
        index + 1
    );
    manifest["run_id"] = run_id.into();
    manifest["part"] = json!({ "shard": format!("{}/{of}", index + 1), "whole": true });
    manifest["selected"] = places.len().into();
    manifest["whole"] = false.into();
    let failed = manifest.get_mut("failed_assertions");
    if let Some(failed) = failed.and_then(Value::as_array_mut) {
        failed.retain(|id| shard_of(id.as_str().unwrap(), of) == index);
    }
    let count = |answers: &Value| answers.as_u64().unwrap();
    let models = manifest.get_mut("models").and_then(Value::as_object_mut);
    if let Some(models) = models {
        for answers in models.values_mut() {
            // Whatever each had, together they have as many.
            let rest = count(answers) - count(answers) / of as u64 * (of as u64 - 1);
            *answers = if index == 0 {
                rest
            } else {
                count(answers) / of as u64
            }
            .into();
        }
    }
    // As a program writes it that knows no checksum.
    manifest.as_object_mut().unwrap().remove("checksum");
    manifest["format_version"] = 1.into();
    manifest["artifacts"] = json!({});
    for name in [
        "samples.jsonl",
        "errors.jsonl",
        "events.jsonl",
        "summary.json",
        "summary.md",
        "places.json",
    ] {
        manifest["artifacts"][name] = sha256(&dir.join(name)).into();
    }
    fs::write(dir.join("manifest.json"), manifest.to_string()).unwrap();
    dir.to_owned()
}

/// A file of JSON, or of lines of it, without times and names of runs, as text.
pub(crate) fn timeless(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let clean = |text: &str| {
        let mut value: Value = serde_json::from_str(text).unwrap();
        forget_times(&mut value);
        value.to_string()
    };
    match path.extension().unwrap().to_str() {
        Some("jsonl") => text.lines().map(|line| clean(line) + "\n").collect(),
        _ => clean(&text),
    }
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        Value::Object(map) => {
            for name in ["latency_s", "duration_s", "cached_from"] {
                map.entry(name).and_modify(|value| *value = Value::Null);
            }
            map.values_mut().for_each(forget_times);
        }
        _ => {}
    }
}
