//! The JSON schema of a spec, for editors: made of the types that read one.
//!
//! What serde derives, `schemars` derives from the same attributes. What is read by hand is said again in `fields`
//! (keys with several forms), `kinds` (a `type` anywhere in its map), `scorers` (options), `extract` and `gates`.
//! `tests/it/schema.rs` holds schema and program against each other: on all specs there are, on each key misspelt, and
//! with a value of each shape at each place.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::keys::SpecFile;
use crate::eval::limits::Limits;

mod alerts;
mod extract;
pub(in crate::eval) mod fields;
mod gates;
pub(in crate::eval) mod items;
mod judges;
mod kinds;
mod pairwise;
mod scorers;

/// Names of kinds that a program of one's own registers: a spec may name them, with any keys.
#[derive(Clone, Debug, Default)]
pub struct OwnKinds {
    /// Of benchmarks.
    pub benchmarks: Vec<String>,
    /// Of agents.
    pub agents: Vec<String>,
    /// Of scorers.
    pub scorers: Vec<String>,
}

/// The JSON schema (draft 2020-12) of a spec.
///
/// It refuses what the program refuses for its shape: unknown keys, missing keys, values of another type. Whether files
/// are there, and whether what a gate asks makes sense for the data, the program alone can know.
pub fn schema(own: &OwnKinds) -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut generator = settings
        .with(|settings| settings.inline_subschemas = true)
        .into_generator();
    let mut root = generator.root_schema_for::<SpecFile>().to_value();
    let mut benchmark = kinds::benchmark(&mut generator, &own.benchmarks);
    let mut agent = kinds::agent(&mut generator, &own.agents);
    for derived in [&mut root, &mut benchmark, &mut agent] {
        as_yaml_reads(derived);
    }
    root["title"] = "A spec of evaltest".into();
    root["description"] =
        "An eval: questions, the agent that answers, the rule that judges, and the gates \
                           that the run must pass. Relative paths count from the spec's folder."
            .into();
    // Keys that may have the name of the other's: not both.
    root["not"] = json!({ "required": ["scorer", "scorers"], "properties": {
        "scorer": { "not": { "type": "null" } }, "scorers": { "not": { "type": "null" } },
    } });
    root["oneOf"] = json!([{ "required": ["agent"] }, { "required": ["agents"] }]);
    root["allOf"] = json!([{ "not": { "required": ["prompt", "prompts"] } }]);
    defaults(&mut root["properties"]["limits"]["properties"]);
    let scorers = scorers::scorer(&own.scorers);
    root["$defs"] = json!({
        "benchmark": benchmark,
        "agent": agent,
        "scorer": scorers,
        "field": items::field(),
        "element": items::element(),
        "extract": extract::extract(),
        "gate": gates::gate(),
        "alert": alerts::alert(),
    });
    root
}

/// The same as a text, with an end of line.
pub fn schema_text(own: &OwnKinds) -> String {
    format!("{:#}\n", schema(own))
}

/// What limits are when a spec does not say them.
fn defaults(limits: &mut Value) {
    let usual = Limits::default();
    let usual = [
        ("concurrency", json!(usual.concurrency)),
        ("timeout_s", json!(usual.timeout.as_secs())),
        ("backoff_s", json!(usual.backoff.as_secs_f64())),
        ("max_output_bytes", json!(usual.max_output_bytes)),
        ("fail_fast", json!(usual.fail_fast)),
        ("keep_going", json!(usual.keep_going)),
    ];
    for (key, value) in usual {
        limits[key]["default"] = value;
    }
}

/// Makes of a derived schema what a YAML file may say.
///
/// A text may be written without quotes, as `path: 2024`; formats such as `uint64` are no standard's; and a description is
/// one paragraph, not lines.
fn as_yaml_reads(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(as_yaml_reads),
        Value::Object(map) => {
            map.remove("format");
            if map.get("default").is_some_and(Value::is_null) {
                map.remove("default");
            }
            let is_free = !["const", "enum", "pattern", "examples"]
                .iter()
                .any(|key| map.contains_key(*key));
            if is_free {
                text_type(map);
            }
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace("\n\n", "\u{1e}").replace('\n', " ");
                *text = text.replace('\u{1e}', "\n\n");
            }
            map.values_mut().for_each(as_yaml_reads);
        }
        _ => {}
    }
}

/// `string` is any scalar.
fn text_type(map: &mut Map<String, Value>) {
    let types = match map.get("type") {
        Some(Value::String(only)) => vec![only.clone().into()],
        Some(Value::Array(types)) => types.clone(),
        _ => return,
    };
    if types.contains(&json!("string")) {
        let others = types.into_iter();
        let others = others.filter(|name| name == "null" || name == "array" || name == "object");
        let scalars = ["string", "number", "boolean"].map(Value::from);
        map.insert("type".into(), scalars.into_iter().chain(others).collect());
    }
}
