//! A trace from an export of Langfuse: its observations, scores and the trace itself, in one object or in rows.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::message::{messages, plain_text, text_of, tool_call, tool_reply};
use super::span::number;
use super::spans::usage_of;
use super::trace::{Trace, TraceScore, nanoseconds};
use crate::data::Usage;

/// The rows of a trace, by what they are.
#[derive(Default)]
pub(super) struct LangfuseRows {
    pub(super) trace: Map<String, Value>,
    pub(super) observations: Vec<Map<String, Value>>,
    pub(super) scores: Vec<Map<String, Value>>,
}

/// Leaves each id once: the same trace twice is one.
fn once(rows: &mut Vec<Map<String, Value>>) {
    let mut ids = HashSet::new();
    rows.retain(|row| {
        row.get("id")
            .and_then(Value::as_str)
            .is_none_or(|id| ids.insert(id.to_owned()))
    });
}

/// The id of the trace that a row belongs to.
pub(super) fn trace_id(row: &Map<String, Value>) -> Option<String> {
    let text = |value: Option<&Value>| {
        value?
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let whole = row.get("trace").and_then(|trace| text(trace.get("id")));
    let is_trace =
        row.contains_key("observations") || row.contains_key("scores") || !row.contains_key("type");
    whole
        .or_else(|| text(get(row, "traceId")))
        .or_else(|| is_trace.then(|| text(row.get("id")))?)
}

/// A member in the spelling of the interface, `parentObservationId`, or in that of a table, `parent_observation_id`.
fn get<'a>(row: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let given = row.get(name).or_else(|| {
        let mut snake = String::new();
        for letter in name.chars() {
            if letter.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        }
        row.get(&snake)
    });
    given.filter(|value| !value.is_null())
}

impl LangfuseRows {
    /// Adds a row: a whole trace, an observation or a score.
    pub(super) fn add(&mut self, mut row: Map<String, Value>) {
        let list = |value: Option<Value>| match value {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let objects = |items: Vec<Value>| {
            items.into_iter().filter_map(|item| match item {
                Value::Object(object) => Some(object),
                _ => None,
            })
        };
        let is_whole = row.contains_key("trace")
            || row.contains_key("observations")
            || !row.contains_key("type");
        let is_score = get(&row, "dataType").is_some() && row.contains_key("name");
        if is_score
            || !row.contains_key("type")
                && get(&row, "traceId").is_some()
                && row.contains_key("value")
        {
            self.scores.push(row);
        } else if is_whole {
            self.observations
                .extend(objects(list(row.shift_remove("observations"))));
            self.scores
                .extend(objects(list(row.shift_remove("scores"))));
            match row.shift_remove("trace") {
                Some(Value::Object(mut trace)) => {
                    self.observations
                        .extend(objects(list(trace.shift_remove("observations"))));
                    self.scores
                        .extend(objects(list(trace.shift_remove("scores"))));
                    self.trace.extend(trace);
                }
                _ => self.trace.extend(row),
            }
        } else {
            // Rows of observations may have the scores of their trace.
            self.scores
                .extend(objects(list(row.shift_remove("scores"))));
            self.observations.push(row);
        }
    }

    pub(super) fn trace(mut self, id: String) -> Trace {
        let start = |row: &Map<String, Value>| nanoseconds(get(row, "startTime"));
        once(&mut self.observations);
        once(&mut self.scores);
        self.observations.sort_by_key(start);
        let is_root =
            |row: &&Map<String, Value>| get(row, "isRootObservation") == Some(&Value::Bool(true));
        let has_no_parent = |row: &&Map<String, Value>| {
            get(row, "parentObservationId").is_none() && !is(row, "EVALUATOR")
        };
        let all = &self.observations;
        let root = all
            .iter()
            .find(is_root)
            .or_else(|| all.iter().find(has_no_parent));
        let empty = Map::new();
        let root = root.unwrap_or(&empty);
        let mut trace = Trace {
            id,
            ..Trace::default()
        };
        self.say(&mut trace, root);
        let ends = all.iter().map(|row| nanoseconds(get(row, "endTime"))).max();
        let first = all.iter().map(start).filter(|time| *time > 0).min();
        let first = first.unwrap_or_else(|| nanoseconds(get(&self.trace, "timestamp")));
        trace.times = [first, ends.unwrap_or_default().max(first)];
        let of = |name: &str| get(&self.trace, name).or_else(|| get(root, name));
        let model = all
            .iter()
            .rev()
            .find_map(|row| get(row, "model").or_else(|| get(row, "providedModelName")));
        let tags = of("tags").or_else(|| get(root, "traceTags"));
        for (name, value) in [
            ("model", model),
            ("tags", tags),
            ("session", of("sessionId")),
            ("environment", of("environment")),
        ] {
            if let Some(value) = value {
                trace.metadata.insert(name.to_owned(), value.clone());
            }
        }
        for metadata in [of("metadata"), get(root, "metadata")]
            .into_iter()
            .flatten()
        {
            trace
                .attributes
                .extend(metadata.as_object().cloned().unwrap_or_default());
        }
        for name in ["userId", "environment", "release", "version", "name"] {
            if let Some(value) = of(name) {
                trace.attributes.insert(name.to_owned(), value.clone());
            }
        }
        trace.answer.usage = usage(all, &self.trace);
        let is_error = get(root, "level").and_then(Value::as_str) == Some("ERROR");
        let why = get(root, "statusMessage")
            .and_then(Value::as_str)
            .unwrap_or("it failed");
        trace.answer.error = is_error.then(|| why.to_owned());
        trace.scores = self.scores.iter().filter_map(score).collect();
        trace
    }

    fn say(&self, trace: &mut Trace, root: &Map<String, Value>) {
        // Those of the trace are deprecated, but older exports have no others.
        let of = |name: &str| get(root, name).or_else(|| get(&self.trace, name));
        let read = |value: Option<&Value>, role: &str| {
            value.map(|value| messages(value, role)).unwrap_or_default()
        };
        let (asked, answered) = (read(of("input"), "user"), read(of("output"), "assistant"));
        let last = self
            .observations
            .iter()
            .rfind(|row| is(row, "GENERATION") && get(row, "input").is_some());
        let users = |messages: &[Value]| {
            messages
                .iter()
                .filter(|message| message["role"] == "user")
                .count()
        };
        if let Some(last) = last.filter(|last| !std::ptr::eq(*last, root)) {
            let transcript = [
                read(get(last, "input"), "user"),
                read(get(last, "output"), "assistant"),
            ]
            .concat();
            if users(&transcript) > 0 && users(&transcript) >= users(&asked) {
                let question = asked
                    .iter()
                    .rfind(|message| message["role"] == "user")
                    .and_then(text_of);
                trace.question = question.filter(|_| users(&transcript) == 1);
                trace.messages = transcript;
            }
        }
        if trace.messages.is_empty() {
            trace.messages = [asked, answered.clone()].concat();
        }
        let text = answered
            .iter()
            .rev()
            .find_map(text_of)
            .filter(|text| !text.is_empty());
        trace.answer.text = text;
        let Some(asked) = trace.place_of_calls() else {
            return;
        };
        let mut steps = Vec::new();
        for tool in self.observations.iter().filter(|row| is(row, "TOOL")) {
            let id = get(tool, "id").cloned().unwrap_or_default();
            let call =
                json!({ "id": id, "name": get(tool, "name"), "arguments": get(tool, "input") });
            steps.push(
                json!({ "role": "assistant", "content": null, "tool_calls": [tool_call(&call)] }),
            );
            steps.push(tool_reply(
                Some(&id),
                get(tool, "output")
                    .map(plain_text)
                    .map(Value::from)
                    .as_ref(),
            ));
        }
        trace.messages.splice(asked..asked, steps);
    }
}

fn is(row: &Map<String, Value>, kind: &str) -> bool {
    row.get("type")
        .and_then(Value::as_str)
        .is_some_and(|own| own.eq_ignore_ascii_case(kind))
}

/// The sums over all observations; the cost of the trace where they have none.
fn usage(observations: &[Map<String, Value>], trace: &Map<String, Value>) -> Option<Usage> {
    let sum = |read: &dyn Fn(&Map<String, Value>) -> Option<f64>| {
        let numbers: Vec<f64> = observations.iter().filter_map(read).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>())
    };
    let detail = |row: &Map<String, Value>, name: &str| {
        let of = |list: &str| {
            get(row, list)
                .and_then(|list| list.get(name))
                .and_then(number)
        };
        of("usageDetails").or_else(|| of("usage"))
    };
    // What was read from a cache has a name of its own, and is not in `input`.
    let cached = |row: &Map<String, Value>| {
        [
            "input_cached_tokens",
            "cache_read_input_tokens",
            "input_cache_read",
        ]
        .iter()
        .find_map(|name| detail(row, name))
    };
    let input =
        |row: &Map<String, Value>| Some(detail(row, "input")? + cached(row).unwrap_or_default());
    let output = |row: &Map<String, Value>| detail(row, "output");
    let cost = |row: &Map<String, Value>| {
        let details = get(row, "costDetails");
        let total = details
            .and_then(|details| details.get("total"))
            .and_then(number);
        let parts = || {
            let parts: Vec<f64> = details?.as_object()?.values().filter_map(number).collect();
            (!parts.is_empty()).then(|| parts.iter().sum())
        };
        total
            .or_else(parts)
            .or_else(|| number(get(row, "totalCost").or_else(|| get(row, "calculatedTotalCost"))?))
    };
    let whole = get(trace, "totalCost").and_then(number);
    usage_of([
        sum(&input),
        sum(&output),
        sum(&cached),
        sum(&cost).or(whole),
    ])
}

fn score(row: &Map<String, Value>) -> Option<TraceScore> {
    let text = |name: &str| get(row, name).and_then(Value::as_str).map(str::to_owned);
    let value = get(row, "value");
    let label = text("stringValue").or_else(|| value.and_then(Value::as_str).map(str::to_owned));
    let is_category = text("dataType").as_deref() == Some("CATEGORICAL");
    Some(TraceScore {
        name: text("name")?,
        // The number of a category is its place in a list.
        value: value
            .filter(|_| !is_category)
            .and_then(|value| match value {
                Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
                other => number(other),
            }),
        label,
        explanation: text("comment"),
        error: None,
    })
}
