//! The JSON schema of a spec, for editors, derived from the types that read one.
//!
//! `schemars` uses the same attributes as serde. Hand-written readers are described again in `fields` (keys with
//! several forms), `kinds` (a `type` anywhere in its map), `scorers` (options), `extract` and `gates`.
//! `tests/it/schema.rs` compares schema and program: on all existing specs, on each key misspelt, and with a value of
//! each shape at each position.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::keys::SpecFile;
use crate::eval::limits::Limits;
use crate::scorer::extract::{NAMES, PAGE, options};
use crate::verdict::metric::{METRICS, UsedBy};
use gates::{NUMBER, OP, SLICE, metric};

pub(in crate::eval) mod fields;
mod gates;
pub(in crate::eval) mod items;
mod judges;
mod kinds;
mod pairwise;
mod scorers;

/// Names of a user's registered kinds: a spec may name them, with any keys.
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
/// It refuses what the program refuses for its shape: unknown keys, missing keys, values of another type. Only the
/// program can check that files exist and that gates make sense for the data.
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
    // Optional keys that exclude each other.
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
        "extract": extract(),
        "gate": gates::gate(),
        "alert": alert(),
    });
    root
}

/// The same as text, with a line end.
pub fn schema_text(own: &OwnKinds) -> String {
    format!("{:#}\n", schema(own))
}

/// The default limits.
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

/// Adapts a derived schema to what a YAML file may contain.
///
/// A text may be written without quotes, as `path: 2024`; formats such as `uint64` are not standard; and a description
/// is one paragraph, not lines.
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

/// `string` accepts any scalar.
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

fn alert() -> Value {
    json!({ "anyOf": [
        {
            "type": "string",
            "pattern": pattern(),
            "description": "A rule over the history of the eval: `drop(accuracy, against=baseline, alpha=0.05)` or \
                            `against=median(5)`, `trend(accuracy, runs=8)`, `stale(days=7)`, `rise(cost_usd, 0.5)`, `drop(mean(f1), 0.1)`, or a \
                            figure beyond a threshold: `error_rate > 0.05 twice`, `latency_p95 > 20s 3 times`.",
            "examples": [
                "drop(accuracy, against=baseline)",
                "drop(accuracy, against=median(5), alpha=0.05)",
                "trend(accuracy, runs=8)",
                "stale(days=7)",
                "rise(cost_usd, 0.5)",
                "drop(mean(f1), 0.1)",
                "error_rate > 0.05 twice",
            ],
        },
        {
            "type": "object",
            "properties": { "looks": {
                "type": "integer",
                "minimum": 1,
                "maximum": 365,
                "default": 30,
                "description": "How many runs share one alpha of the statistical rules.",
            } },
            "required": ["looks"],
            "additionalProperties": false,
        },
    ] })
}

/// What the parser of alerts accepts; it checks itself whether a rule can be raised.
fn pattern() -> String {
    let alternatives = |has_slice: bool| {
        let entries = METRICS.iter().filter(|entry| entry.is_for(UsedBy::Alerts));
        let entries = entries.filter(|entry| entry.has_slices_in_history() == has_slice);
        let metrics: Vec<_> = entries.filter_map(metric).collect();
        metrics.join("|")
    };
    let figure = format!("(({}){SLICE}|{})", alternatives(true), alternatives(false));
    let number = format!(r"{NUMBER}\s*%?");
    let alpha = format!(r"alpha\s*=\s*{number}");
    let against = r"against\s*=\s*(baseline|median\s*\(\s*5\s*\))";
    let drop = format!(r"drop\s*\(\s*accuracy{SLICE}\s*(,\s*({against}|{alpha})\s*)*\)");
    let trend = format!(r"trend\s*\(\s*{figure}\s*(,\s*(runs\s*=\s*[0-9]+|{alpha})\s*)*\)");
    let stale = format!(r"stale\s*\(\s*days\s*=\s*{number}\s*\)");
    let rise = format!(r"rise\s*\(\s*{figure}\s*,\s*{number}\s*\)");
    let bound = format!(r"{figure}{OP}{NUMBER}[%s]?(\s+(once|twice|[0-9]+\s+times))?");
    format!(r"^\s*({drop}|{trend}|{stale}|{rise}|{bound})\s*$")
}

fn extract() -> Value {
    let names = NAMES.iter().filter(|name| !needs_key(name));
    let names = names.map(|name| json!({ "const": name, "description": meaning(name) }));
    let maps = NAMES.iter().map(|name| map(name, true));
    let short = NAMES.iter().filter(|name| needs_key(name));
    let short = short.map(|name| map(name, false));
    let all: Vec<Value> = names.chain(maps).chain(short).collect();
    json!({ "anyOf": all })
}

/// Whether it needs the key of its name.
fn needs_key(name: &str) -> bool {
    options(name).is_some_and(|keys| keys.contains(&name))
}

fn map(name: &str, has_type: bool) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if has_type {
        properties.insert(
            "type".into(),
            json!({ "const": name, "description": meaning(name) }),
        );
        required.push("type");
    }
    for key in options(name).unwrap_or_default() {
        properties.insert((*key).to_owned(), form(key));
    }
    if needs_key(name) {
        required.push(name);
    }
    properties.insert("strip_think".into(), form("strip_think"));
    json!({
        "title": name,
        "description": meaning(name),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn form(key: &str) -> Value {
    match key {
        "after" => {
            json!({ "type": "string", "minLength": 1, "description": "the marker, in quotes where it begins with `#`" })
        }
        "json_pointer" => {
            json!({ "type": "string", "pattern": "^/", "description": "where the answer is, such as `/answer`" })
        }
        "regex" => {
            json!({ "type": "string", "minLength": 1, "description": "the regular expression" })
        }
        "group" => {
            json!({ "type": "integer", "minimum": 0, "description": "the group that is the prediction; by default the first group, or without groups the whole match" })
        }
        "letters" => {
            json!({ "type": "string", "pattern": "^[A-Z]+$", "description": "the possible letters; A to Z by default" })
        }
        "first" => {
            json!({ "type": ["boolean", "null"], "description": "what follows the first marker; else what follows `答案：`, `Final answer:` or `Answer:`; else the last line that is not a heading; false by default" })
        }
        _ => {
            json!({ "type": ["boolean", "null"], "description": "the thoughts of a model, such as `<think>…</think>`, are removed first; false by default" })
        }
    }
}

/// The prediction, in one line.
fn meaning(name: &str) -> &'static str {
    let mut rows = PAGE.lines().filter_map(|row| row.strip_prefix("| `"));
    let row = rows.find_map(|row| {
        let (form, meaning) = row.split_once("` | ")?;
        let form = form.strip_prefix("{ ").unwrap_or(form);
        let rest = form.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with(':')).then(|| meaning.trim_end_matches('|').trim_end())
    });
    row.unwrap_or_default()
}
