//! Each key that the program knows, misspelt: neither takes it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Folder, SCHEMA, VALIDATOR, whole};

/// A path to a map in a value: keys and places in lists.
type Steps = Vec<String>;

/// All maps of a spec whose keys the program knows.
fn maps(value: &Value, steps: &Steps, found: &mut Vec<Steps>) {
    // What these hold is a user's own.
    const FREE: [&str; 17] = [
        "initial_state",
        "expected_state",
        "visible_to_user",
        "agents",
        "prompts",
        "options",
        "metadata",
        "slices",
        "extra_body",
        "headers",
        "body",
        "weights",
        "after",
        "choices",
        "topics",
        "tiers",
        "template",
    ];
    match value {
        Value::Object(map) => {
            found.push(steps.clone());
            for (key, value) in map.iter().filter(|(key, _)| !FREE.contains(&key.as_str())) {
                maps(value, &[steps.clone(), vec![key.clone()]].concat(), found);
            }
        }
        Value::Array(items) => {
            for (item, value) in items.iter().enumerate() {
                maps(
                    value,
                    &[steps.clone(), vec![item.to_string()]].concat(),
                    found,
                );
            }
        }
        _ => {}
    }
}

fn at<'a>(value: &'a mut Value, steps: &Steps) -> &'a mut Map<String, Value> {
    let mut value = value;
    for step in steps {
        value = match value {
            Value::Array(items) => &mut items[step.parse::<usize>().unwrap()],
            other => &mut other[step.as_str()],
        };
    }
    value.as_object_mut().unwrap()
}

#[test]
fn no_misspelt_key_is_taken() {
    let folder = Folder::new();
    let mut tried = 0;
    for spec in whole() {
        let text = spec.to_string();
        folder
            .program(&text)
            .unwrap_or_else(|error| panic!("{error}\n{spec:#}"));
        let mut found = Vec::new();
        maps(&spec, &Vec::new(), &mut found);
        for steps in found {
            let keys: Vec<String> = at(&mut spec.clone(), &steps).keys().cloned().collect();
            for key in keys {
                let mut wrong = spec.clone();
                let map = at(&mut wrong, &steps);
                let value = map.remove(&key).unwrap();
                map.insert(format!("{key}_"), value);
                tried += 1;
                let text = wrong.to_string();
                assert!(
                    folder.program(&text).is_err(),
                    "{steps:?} {key}_ is taken by the program"
                );
                assert!(
                    !VALIDATOR.is_valid(&wrong),
                    "{steps:?} {key}_ is taken by the schema"
                );
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

/// Else the test above would overlook a key.
#[test]
fn the_specs_have_every_key() {
    let mut all = BTreeSet::new();
    properties(&SCHEMA, "", &mut all);
    for spec in whole() {
        cover(&SCHEMA, "", &spec, &mut all);
    }
    // It names a run of a jury, which the program reads.
    all.retain(|key| !key.ends_with("/properties/weights_from"));
    // A run directory and a file of answers, which `pairwise` reads as it is made; its own tests have both.
    all.retain(|key| !key.ends_with("/run") && !key.ends_with("/against/anyOf/1/properties/path"));
    assert!(all.is_empty(), "{all:#?}");
}

/// Takes the properties away that a value has.
fn cover(schema: &Value, place: &str, value: &Value, remaining: &mut BTreeSet<String>) {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = &target[1..];
        return cover(SCHEMA.pointer(target).unwrap(), target, value, remaining);
    }
    for (item, branch) in schema["anyOf"].as_array().into_iter().flatten().enumerate() {
        if fits(branch, value) {
            cover(branch, &format!("{place}/anyOf/{item}"), value, remaining);
        }
    }
    for item in value.as_array().into_iter().flatten() {
        cover(&schema["items"], &format!("{place}/items"), item, remaining);
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        if let Some(property) = schema["properties"].get(key) {
            let place = format!("{place}/properties/{key}");
            remaining.remove(&place);
            cover(property, &place, value, remaining);
        } else if let Some(any) = schema.get("additionalProperties") {
            cover(
                any,
                &format!("{place}/additionalProperties"),
                value,
                remaining,
            );
        }
    }
}

/// Whether a map may be meant by this branch: it has no key that the branch has not, and the same `type`.
fn fits(branch: &Value, value: &Value) -> bool {
    let Some(properties) = branch["properties"].as_object() else {
        return true;
    };
    let has = |(key, value): (&String, &Value)| match properties.get(key) {
        Some(property) => key != "type" || property.get("const").is_none_or(|name| name == value),
        None => false,
    };
    value.as_object().is_some_and(|map| map.iter().all(has))
}

/// The places of all properties.
fn properties(schema: &Value, place: &str, all: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                let inner = format!("{place}/{key}");
                let is_condition = ["/not", "/oneOf", "/allOf"]
                    .iter()
                    .any(|of| inner.contains(of));
                if key == "properties" && !is_condition {
                    let names = value.as_object().unwrap().keys();
                    all.extend(names.map(|name| format!("{inner}/{name}")));
                }
                properties(value, &inner, all);
            }
        }
        Value::Array(items) => {
            for (item, value) in items.iter().enumerate() {
                properties(value, &format!("{place}/{item}"), all);
            }
        }
        _ => {}
    }
}
