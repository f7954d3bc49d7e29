//! Function documents in a sample's metadata, as far as names are concerned.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::calls::read::Call;

/// The metadata keys: that of the leaderboard, and tools as JSON schema.
const KEYS: [&str; 3] = ["function", "functions", "tools"];

/// The argument names of each function, in the order of its document.
pub(in crate::scorer) fn parameters(metadata: &Map<String, Value>) -> HashMap<String, Vec<String>> {
    let documents = documents(metadata);
    let named = documents.filter_map(|document| {
        let properties = document
            .get("parameters")
            .or_else(|| document.get("input_schema"))?;
        let properties = properties.get("properties")?.as_object()?;
        let name = document.get("name")?.as_str()?;
        Some((name.to_owned(), properties.keys().cloned().collect()))
    });
    named.collect()
}

/// Function names with dots, by the form that interfaces without dots use.
pub(in crate::scorer) fn dotted(
    expected: &[Call],
    metadata: &Map<String, Value>,
) -> HashMap<String, String> {
    let documented = documents(metadata).filter_map(|document| document.get("name")?.as_str());
    let names = expected
        .iter()
        .map(|call| call.name.as_str())
        .chain(documented);
    let dotted = names.filter(|name| name.contains('.'));
    let mut dotted: HashMap<String, String> = dotted
        .map(|name| (name.replace('.', "_"), name.to_owned()))
        .collect();
    for call in expected {
        dotted.remove(&call.name);
    }
    dotted
}

/// The part of the metadata that affects verdicts.
pub(in crate::scorer) fn fingerprint(metadata: &Map<String, Value>) -> Option<String> {
    let found = KEYS.iter().filter_map(|key| metadata.get(*key));
    let found: Vec<String> = found.map(Value::to_string).collect();
    (!found.is_empty()).then(|| found.join(" "))
}

fn documents(metadata: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let all = KEYS.iter().filter_map(|key| metadata.get(*key));
    let each = all.flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        one => vec![one],
    });
    each.filter_map(|document| {
        let inner = document.get("function").and_then(Value::as_object);
        inner.or_else(|| document.as_object())
    })
}
