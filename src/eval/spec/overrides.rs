//! `key=value` overrides from the command line, applied to a spec.

use serde_json::{Map, Value};

use super::matrix::{AGENT, PROMPT};
use crate::data::dataset::WRONG_PATH;
use crate::data::yaml_places::YamlPlaces;
use crate::error::{Error, KeyPath, Result, Step};
use crate::text::setting::Override;

/// How it is with the places of a spec.
impl Override {
    /// Whether the value at the path comes from this override, not from the spec.
    pub(super) fn decides(&self, path: &KeyPath, places: &YamlPlaces) -> bool {
        let steps: Vec<_> = path.steps().map(display).collect();
        // An override of `agent` applies to all `agents`.
        let of_all = |[one, all]: [&str; 2]| {
            let is_one = steps.len() > 1 && steps[0] == all;
            is_one.then(|| [&[one.to_owned()], &steps[2..]].concat())
        };
        let others = [AGENT, PROMPT].into_iter().filter_map(of_all);
        let mut ways = std::iter::once(steps.clone()).chain(others);
        ways.any(|steps| {
            let way = steps.join(".");
            let lies_in = |inner: &str, outer: &str| {
                let rest = inner.strip_prefix(outer);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            // The override is at the path, above it, or below it.
            lies_in(&way, &self.key) || lies_in(&self.key, &way) && !places.has(path)
        })
    }
}

/// A path step as in the key of an override; names may have dots.
fn display(step: &Step) -> String {
    match step {
        Step::Key(key) => key.clone(),
        // No key of an override leads into a list.
        Step::Item(item) => format!("[{item}]"),
    }
}

/// The error for a wrong path of a dataset, by its source: the spec or a flag.
pub(super) fn wrong_path(error: Error, overrides: &[Override]) -> Error {
    let is_typed = overrides
        .iter()
        .any(|change| change.key == "benchmark.path");
    if error.hint_text() != Some(WRONG_PATH) {
        return error;
    }
    error.hint(if is_typed {
        "correct `--benchmark-option path=…`; paths are relative to the current folder"
    } else {
        "correct `benchmark.path`; paths are relative to the folder of the spec"
    })
}

/// The spec with all overrides; for equal keys, the last wins.
pub(super) fn apply(mut spec: Value, overrides: &[Override]) -> Result<Value> {
    for change in overrides {
        for keys in targets(&spec, change)? {
            set(&mut spec, &keys, change)?;
        }
        let Value::Object(map) = &mut spec else {
            continue;
        };
        // One scorer replaces a list of them, one agent a map of them, and vice versa.
        for pair in [["scorer", "scorers"], AGENT, PROMPT] {
            if let Some(place) = pair.iter().position(|key| change.key == *key) {
                map.remove(pair[1 - place]);
            }
        }
    }
    Ok(spec)
}

/// The keys that an override sets: several if the spec has several agents and it is about `agent`.
fn targets(spec: &Value, change: &Override) -> Result<Vec<Vec<String>>> {
    let names = |all: &str| {
        let map = spec.get(all).and_then(Value::as_object);
        map.map(|map| map.keys().cloned().collect::<Vec<_>>())
    };
    let split = |keys: &str| keys.split('.').map(str::to_owned).collect::<Vec<_>>();
    for [one, all] in [AGENT, PROMPT] {
        let Some(names) = names(all) else { continue };
        let below = |key: &str| {
            let rest = change.key.strip_prefix(key)?.strip_prefix('.')?;
            Some(rest.to_owned())
        };
        if let Some(rest) = below(all) {
            // A name may have dots.
            let is_named = |name: &&String| {
                let behind = rest.strip_prefix(name.as_str());
                behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
            };
            let Some(name) = names.iter().filter(is_named).max_by_key(|name| name.len()) else {
                continue;
            };
            let mut keys = vec![all.to_owned(), name.clone()];
            keys.extend(rest[name.len()..].split('.').skip(1).map(str::to_owned));
            return Ok(vec![keys]);
        }
        let Some(rest) = below(one) else { continue };
        if one == PROMPT[0] {
            return Err(Error::usage(format!(
                "`{}` cannot be set: the spec has `{all}`",
                change.key
            ))
            .hint(format!(
                "name one: `{all}.{}.{rest}=…`; or replace all of them: `{one}=…`",
                names.first().map_or("NAME", String::as_str)
            )));
        }
        let keys = names.into_iter().map(|name| {
            let head = vec![all.to_owned(), name];
            head.into_iter().chain(split(&rest)).collect()
        });
        return Ok(keys.collect());
    }
    Ok(vec![split(&change.key)])
}

fn set(spec: &mut Value, keys: &[String], change: &Override) -> Result<()> {
    let mut place = spec;
    let mut keys = keys.iter().peekable();
    while let Some(key) = keys.next() {
        if let Value::String(name) = place {
            // `agent: echo` is short for `agent: { type: echo }`; prompts have no such short form.
            let name = Value::from(name.clone());
            let is_prompt = change.key.starts_with("prompt");
            let entry = (!is_prompt).then(|| ("type".to_owned(), name));
            *place = Value::Object(entry.into_iter().collect());
        }
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(map) = place else {
            return Err(Error::usage(format!(
                "`{}` cannot be set: it is inside a value",
                change.key
            ))
            .hint("set the whole value, or a key of a map"));
        };
        if keys.peek().is_none() && change.key == Override::DRAWN_SEED {
            map.entry("seed").or_insert_with(|| change.value.clone());
            break;
        }
        if keys.peek().is_none() {
            map.insert(key.clone(), change.value.clone());
            break;
        }
        place = map.entry(key.clone()).or_insert(Value::Null);
    }
    Ok(())
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
