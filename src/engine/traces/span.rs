//! `Span`: a span of OTLP/JSON, of the console exporter of an SDK, or of a table of Phoenix; and an event of a trace.

use serde_json::{Map, Value};

use super::message::parsed;
use super::trace::nanoseconds;

/// A span, with its attributes by their dotted names.
#[derive(Debug, Default)]
pub(super) struct Span {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    /// Start and end.
    pub(super) times: [i128; 2],
    pub(super) attributes: Map<String, Value>,
    pub(super) events: Vec<SpanEvent>,
    pub(super) error: Option<String>,
}

/// An event of a span, or a log record that belongs to one.
#[derive(Debug, Default)]
pub(super) struct SpanEvent {
    pub(super) name: String,
    /// The span that it belongs to, of a log record.
    pub(super) span: Option<String>,
    pub(super) time: i128,
    pub(super) attributes: Map<String, Value>,
    /// Of a log record.
    pub(super) body: Value,
}

/// The attributes of a list `[{key, value: {stringValue}}]`, or of an object, by their dotted names. What lies in an
/// object or a list has a name of its own besides.
pub(super) fn attributes(value: Option<&Value>) -> Map<String, Value> {
    let mut found = Map::new();
    match value {
        Some(Value::Array(list)) => {
            for attribute in list {
                if let Some(key) = attribute.get("key").and_then(Value::as_str) {
                    put(&mut found, key, any_value(&attribute["value"]));
                }
            }
        }
        Some(Value::Object(object)) => {
            for (key, value) in object {
                put(&mut found, key, value.clone());
            }
        }
        _ => {}
    }
    found
}

fn put(found: &mut Map<String, Value>, key: &str, value: Value) {
    match &value {
        Value::Object(object) => {
            for (name, inside) in object {
                put(found, &format!("{key}.{name}"), inside.clone());
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (place, inside) in items.iter().enumerate() {
                put(found, &format!("{key}.{place}"), inside.clone());
            }
        }
        _ => {}
    }
    found.insert(key.to_owned(), value);
}

/// A value of OTLP. 64-bit integers are texts there.
fn any_value(value: &Value) -> Value {
    let Some((kind, inside)) = value.as_object().and_then(|object| object.iter().next()) else {
        return Value::Null;
    };
    match &**kind {
        "intValue" | "int_value" => match inside {
            Value::String(text) => text
                .parse::<i64>()
                .map_or_else(|_| inside.clone(), Value::from),
            other => other.clone(),
        },
        "arrayValue" | "array_value" => {
            let values = inside.get("values").and_then(Value::as_array);
            values.into_iter().flatten().map(any_value).collect()
        }
        "kvlistValue" | "kvlist_value" => {
            let values = inside.get("values").and_then(Value::as_array);
            let members = values.into_iter().flatten().filter_map(|member| {
                Some((
                    member.get("key")?.as_str()?.to_owned(),
                    any_value(member.get("value")?),
                ))
            });
            Value::Object(members.collect())
        }
        _ => inside.clone(),
    }
}

/// The first member that is there and not null.
fn member<'a>(value: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names
        .iter()
        .find_map(|name| value.get(*name).filter(|value| !value.is_null()))
}

/// An id, as hexadecimal digits in lower case where it is some.
pub(super) fn id(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => text.trim(),
        Value::Number(number) => return Some(number.to_string()),
        _ => return None,
    };
    let text = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_none = text.is_empty() || is_hex && text.bytes().all(|byte| byte == b'0');
    (!is_none).then(|| {
        if is_hex {
            text.to_ascii_lowercase()
        } else {
            text.to_owned()
        }
    })
}

const TRACE_ID: &[&str] = &["traceId", "trace_id", "context.trace_id"];
const SPAN_ID: &[&str] = &["spanId", "span_id", "context.span_id"];

/// The id of the trace of a row.
pub(super) fn trace_id(row: &Map<String, Value>) -> Option<String> {
    let nested = |key: &str| row.get(key)?.get("trace_id");
    id(member(row, TRACE_ID)
        .or_else(|| nested("context"))
        .or_else(|| nested("span_context")))
}

impl Span {
    /// From a span of OTLP or a row.
    pub(super) fn of(mut row: Map<String, Value>) -> Self {
        let nested = |key: &str| row.get("context")?.get(key);
        let time = |names: &[&str]| nanoseconds(member(&row, names));
        let events = match row.get("events") {
            // A table has them as text.
            Some(Value::String(text)) => parsed(text),
            other => other.cloned(),
        };
        let events = events
            .as_ref()
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let status = member(&row, &["status", "status_code"])
            .cloned()
            .unwrap_or_default();
        let code = status
            .get("code")
            .or_else(|| status.get("status_code"))
            .unwrap_or(&status);
        let is_error =
            code.as_u64() == Some(2) || code.as_str().is_some_and(|code| code.ends_with("ERROR"));
        let message = status
            .get("message")
            .or_else(|| status.get("description"))
            .or_else(|| row.get("status_message"));
        let message = message
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty());
        let span = Self {
            id: id(member(&row, SPAN_ID).or_else(|| nested("span_id"))).unwrap_or_default(),
            parent: id(member(
                &row,
                &["parentSpanId", "parent_span_id", "parent_id"],
            )),
            name: row
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            times: [
                time(&["startTimeUnixNano", "start_time_unix_nano", "start_time"]),
                time(&["endTimeUnixNano", "end_time_unix_nano", "end_time"]),
            ],
            events: events
                .filter_map(Value::as_object)
                .map(SpanEvent::of)
                .collect(),
            error: is_error.then(|| message.unwrap_or("it failed").to_owned()),
            attributes: Map::new(),
        };
        let mut found = attributes(row.get("attributes"));
        if let Some(kind) = row.get("span_kind").filter(|kind| kind.is_string()) {
            found
                .entry("openinference.span.kind")
                .or_insert_with(|| kind.clone());
        }
        // A table has a column for each attribute.
        for (key, value) in row.iter_mut() {
            if let Some(name) = key.strip_prefix("attributes.") {
                put(&mut found, name, value.take());
            }
        }
        found.retain(|_, value| !value.is_null());
        Self {
            attributes: found,
            ..span
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.attributes.get(name)?.as_str()
    }

    /// A number, also where it is written as text.
    pub(super) fn number(&self, names: &[&str]) -> Option<f64> {
        names
            .iter()
            .find_map(|name| number(self.attributes.get(*name)?))
    }

    /// What the span does, as OpenTelemetry calls it.
    pub(super) fn operation(&self) -> &str {
        if let Some(operation) = self.text("gen_ai.operation.name") {
            return operation;
        }
        match self.text("openinference.span.kind").unwrap_or_default() {
            "LLM" => "chat",
            "TOOL" => "execute_tool",
            "AGENT" => "invoke_agent",
            "EMBEDDING" => "embeddings",
            "EVALUATOR" => "evaluate",
            _ if self.attributes.keys().any(|key| {
                key.starts_with("gen_ai.completion") || key.starts_with("gen_ai.prompt")
            }) =>
            {
                "chat"
            }
            _ => "",
        }
    }

    /// Whether a model answers in it.
    pub(super) fn is_chat(&self) -> bool {
        matches!(
            self.operation(),
            "chat" | "text_completion" | "generate_content" | "completion" | "responses"
        )
    }
}

pub(super) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite())
}

impl SpanEvent {
    /// From an event of a span, or a log record.
    pub(super) fn of(row: &Map<String, Value>) -> Self {
        let attributes = attributes(row.get("attributes"));
        let name = member(row, &["eventName", "event_name", "name"]).and_then(Value::as_str);
        let name = name
            .filter(|name| !name.is_empty())
            .or_else(|| attributes.get("event.name")?.as_str());
        let nested = |key: &str| {
            row.get("span_context")
                .or_else(|| row.get("context"))?
                .get(key)
        };
        Self {
            name: name.unwrap_or_default().to_owned(),
            span: id(member(row, SPAN_ID).or_else(|| nested("span_id"))),
            time: nanoseconds(member(
                row,
                &[
                    "timeUnixNano",
                    "time_unix_nano",
                    "observedTimeUnixNano",
                    "timestamp",
                    "time",
                ],
            )),
            body: match row.get("body") {
                // A value of OTLP, or that of a console exporter.
                Some(Value::Object(body))
                    if body.len() == 1 && body.keys().all(|key| key.ends_with("Value")) =>
                {
                    any_value(&row["body"])
                }
                Some(body) => body.clone(),
                None => Value::Null,
            },
            attributes,
        }
    }
}
