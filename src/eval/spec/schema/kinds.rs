//! Benchmarks and agents: a name, or a map with a `type` and the keys of its kind, described as on its page.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::eval::registry::{BuiltIn, agents, benchmarks};
use crate::eval::spec::keys::CLUSTER;

const TYPE: &str = "type";

pub(super) fn benchmark(generator: &mut SchemaGenerator, own: &[String]) -> Value {
    let cluster = json!({
        "type": ["string", "null"],
        "description": "The column whose values group dependent samples, such as those on one passage: \
                        intervals and `no_regression` count each group once.",
    });
    let kinds = benchmarks::schemas(generator).into_iter();
    let kinds = kinds.map(|(about, keys)| {
        let mut kind = kind(about, keys);
        match about.name {
            "custom" => samples(about.page, &mut kind["properties"]["samples"]),
            "qa" => other_names(&mut kind["properties"]["columns"]["properties"]),
            _ => {}
        }
        kind["properties"][CLUSTER] = cluster.clone();
        kind
    });
    any_of(kinds, own)
}

pub(super) fn agent(generator: &mut SchemaGenerator, own: &[String]) -> Value {
    let kinds = agents::schemas(generator).into_iter();
    let kinds = kinds.map(|(about, keys)| {
        let mut kind = kind(about, keys);
        let program = json!({ "required": ["command"], "properties": { "command": { "minItems": 1 } } });
        match about.name {
            "command" => {
                let line = json!({ "required": ["shell"], "properties": { "shell": { "not": { "type": "null" } } } });
                kind["oneOf"] = json!([program, line]);
            }
            "acp" | "worker" => kind["allOf"] = json!([program]),
            _ => {}
        }
        kind
    });
    any_of(kinds, own)
}

/// The map of a kind.
fn kind(about: BuiltIn, keys: Schema) -> Value {
    let mut schema = keys.to_value();
    let described: Map<String, Value> = about
        .options()
        .map(|(key, meaning)| (key.to_owned(), meaning.into()))
        .collect();
    let name = json!({ "const": about.name, "description": about.summary });
    let mut properties = Map::from_iter([(TYPE.to_owned(), name)]);
    if let Some(Value::Object(keys)) = schema.get_mut("properties").map(Value::take) {
        for (key, mut value) in keys {
            // The page's row is complete; the derived description is about the type.
            if let Some(meaning) = described.get(&key) {
                match &mut value {
                    Value::Object(map) => drop(map.insert("description".into(), meaning.clone())),
                    any => *any = json!({ "description": meaning }),
                }
            }
            properties.insert(key, value);
        }
    }
    let required = schema.get("required").and_then(Value::as_array).cloned();
    let required = std::iter::once(json!(TYPE)).chain(required.into_iter().flatten());
    json!({
        "title": about.name,
        "description": about.summary,
        "type": "object",
        "properties": properties,
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

/// A name alone is short for a map with only a `type`, if that is enough.
fn any_of(kinds: impl Iterator<Item = Value>, own: &[String]) -> Value {
    let own = own.iter().map(|name| {
        json!({
            "title": name,
            "type": "object",
            "properties": { TYPE: { "const": name } },
            "required": [TYPE],
        })
    });
    let maps: Vec<Value> = kinds.chain(own).collect();
    let is_short = |kind: &&Value| {
        let required = kind["required"].as_array().map_or(0, Vec::len);
        required == 1 && kind.get("oneOf").is_none() && kind.get("allOf").is_none()
    };
    let names = maps.iter().filter(is_short);
    let names = names.map(|kind| match kind.get("description") {
        Some(described) => json!({ "const": kind["title"], "description": described }),
        None => json!({ "const": kind["title"] }),
    });
    json!({ "anyOf": names.chain(maps.iter().cloned()).collect::<Vec<_>>() })
}

/// The keys of a sample of `custom` have a table of their own.
fn samples(page: &str, schema: &mut Value) {
    schema["minItems"] = 1.into();
    let rows = page
        .lines()
        .skip_while(|line| !line.starts_with("| key of a sample |"));
    for row in rows.skip(2).map_while(|row| row.strip_prefix("| `")) {
        let Some((key, meaning)) = row.split_once("` | ") else {
            continue;
        };
        let meaning = meaning.trim_end_matches('|').trim_end();
        match &mut schema["items"]["properties"][key] {
            Value::Object(map) => drop(map.insert("description".into(), meaning.into())),
            any => *any = json!({ "description": meaning }),
        }
    }
}

/// `target` and `targets` are aliases of `ground_truth`.
fn other_names(columns: &mut Value) {
    for name in ["target", "targets"] {
        columns[name] = columns["ground_truth"].clone();
        columns[name]["description"] = "The same as `ground_truth`.".into();
    }
}
