//! `key=value` pairs from the command line, laid over a spec.

use serde_json::{Map, Value};

use crate::data::dataset::WRONG_PATH;
use crate::data::yaml_places::YamlPlaces;
use crate::error::{Error, KeyPath, Result, Step};
use crate::text::setting::Override;

/// How it is with the places of a spec.
impl Override {
    /// Whether what stands at the path is said by this override, and not by the spec.
    pub(super) fn decides(&self, path: &KeyPath, places: &YamlPlaces) -> bool {
        let mut keys = self.key.split('.');
        let mut steps = path.steps();
        loop {
            match (keys.next(), steps.next()) {
                // All of it, or what it lies in.
                (None, _) => return true,
                // A part of it.
                (Some(_), None) => return !places.has(path),
                (Some(key), Some(Step::Key(step))) if key == step => {}
                _ => return false,
            }
        }
    }
}

/// What is said of a wrong path of a dataset, as it was given: in the spec or by a flag.
pub(super) fn wrong_path(error: Error, overrides: &[Override]) -> Error {
    let is_typed = overrides
        .iter()
        .any(|change| change.key == "benchmark.path");
    if error.hint_text() != Some(WRONG_PATH) {
        return error;
    }
    error.hint(if is_typed {
        "correct `--benchmark-option path=…`; relative paths count from the current folder"
    } else {
        "correct `benchmark.path`; relative paths count from the spec's folder"
    })
}

/// The spec with all overrides, the last of a key winning.
pub(super) fn apply(mut spec: Value, overrides: &[Override]) -> Result<Value> {
    for change in overrides {
        let mut place = &mut spec;
        let mut keys = change.key.split('.').peekable();
        while let Some(key) = keys.next() {
            if let Value::String(name) = place {
                // `agent: echo` is short for `agent: { type: echo }`; the name of a prompt is short for nothing.
                let name = Value::from(name.clone());
                let is_prompt = change.key.starts_with("prompt.");
                let entry = (!is_prompt).then(|| ("type".to_owned(), name));
                *place = Value::Object(entry.into_iter().collect());
            }
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            let Value::Object(map) = place else {
                return Err(Error::usage(format!(
                    "`{}` cannot be set: it lies inside a value",
                    change.key
                ))
                .hint("set the whole of it, or a key that is a map"));
            };
            if keys.peek().is_none() && change.key == Override::DRAWN_SEED {
                map.entry("seed").or_insert_with(|| change.value.clone());
                break;
            }
            if keys.peek().is_none() {
                map.insert(key.to_owned(), change.value.clone());
                break;
            }
            place = map.entry(key).or_insert(Value::Null);
        }
        // One scorer replaces a list of them, and the other way round.
        if let Value::Object(map) = &mut spec {
            match change.key.as_str() {
                "scorer" => drop(map.remove("scorers")),
                "scorers" => drop(map.remove("scorer")),
                _ => {}
            }
        }
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sets_keys_at_any_depth() {
        let spec = json!({"agent": "echo", "limits": {"limit": 1}});
        let changes = [
            Override::parse("agent.", "text=hi").unwrap(),
            Override::parse("", "limits.concurrency=4").unwrap(),
            Override::parse("benchmark.", "levels=[1, x]").unwrap(),
        ];
        let expect = json!({"agent": {"type": "echo", "text": "hi"}, "limits": {"limit": 1, "concurrency": 4},
            "benchmark": {"levels": [1, "x"]}});
        assert_eq!(apply(spec, &changes).unwrap(), expect);
        assert!(Override::parse("", "nonsense").is_err());
        assert!(apply(json!({"limits": 3}), &[Override::new("limits.x", 1)]).is_err());
    }
}
