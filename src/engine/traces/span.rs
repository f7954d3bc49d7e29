//! `Span`: a span of OTLP/JSON, of the console exporter of an SDK, or of a table of Phoenix; and an event of a trace.

use serde_json::{Map, Value};

use super::message::parsed;
use super::row::SpanRow;
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
pub(super) fn attributes(value: Option<Value>) -> Map<String, Value> {
    let mut found = Map::new();
    match value {
        Some(Value::Array(list)) => {
            for mut attribute in list {
                let value = attribute.get_mut("value").map(Value::take);
                if let Some(Value::String(key)) = attribute.get_mut("key").map(Value::take) {
                    put(&mut found, key, any_value(value.unwrap_or_default()));
                }
            }
        }
        Some(Value::Object(object)) => {
            for (key, value) in object {
                put(&mut found, key, value);
            }
        }
        _ => {}
    }
    found
}

pub(super) fn put(found: &mut Map<String, Value>, key: String, value: Value) {
    match &value {
        Value::Object(object) => {
            for (name, inside) in object {
                put(found, format!("{key}.{name}"), inside.clone());
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (place, inside) in items.iter().enumerate() {
                put(found, format!("{key}.{place}"), inside.clone());
            }
        }
        _ => {}
    }
    found.insert(key, value);
}

/// A value of OTLP. 64-bit integers are texts there.
pub(super) fn any_value(value: Value) -> Value {
    let Value::Object(object) = value else {
        return Value::Null;
    };
    let Some((kind, mut inside)) = object.into_iter().next() else {
        return Value::Null;
    };
    let mut values = || match inside.get_mut("values").map(Value::take) {
        Some(Value::Array(values)) => values,
        _ => Vec::new(),
    };
    match &*kind {
        "intValue" | "int_value" => match inside {
            Value::String(text) => text.parse::<i64>().map_or(Value::String(text), Value::from),
            other => other,
        },
        "arrayValue" | "array_value" => values().into_iter().map(any_value).collect(),
        "kvlistValue" | "kvlist_value" => {
            let members = values().into_iter().filter_map(|mut member| {
                let value = member.get_mut("value").map(Value::take);
                let key = member.get("key")?.as_str()?.to_owned();
                Some((key, any_value(value?)))
            });
            Value::Object(members.collect())
        }
        _ => inside,
    }
}

/// The first member that is there and not null.
fn member<'a>(value: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names
        .iter()
        .find_map(|name| value.get(*name).filter(|value| !value.is_null()))
}

/// An id that is not the one of nothing.
fn parent_id(value: Option<&Value>) -> Option<String> {
    id(value).filter(|id| id.bytes().any(|byte| byte != b'0'))
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
    (!text.is_empty()).then(|| {
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
    pub(super) fn of(row: SpanRow) -> Self {
        let SpanRow {
            members: mut row,
            attributes: mut found,
        } = row;
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
            parent: parent_id(member(
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
                .map(|event| SpanEvent::of(event, attributes(event.get("attributes").cloned())))
                .collect(),
            error: is_error.then(|| message.unwrap_or("it failed").to_owned()),
            attributes: Map::new(),
        };
        if let Some(kind) = row.get("span_kind").filter(|kind| kind.is_string()) {
            found
                .entry("openinference.span.kind")
                .or_insert_with(|| kind.clone());
        }
        // A table has a column for each attribute.
        for (key, value) in &mut row {
            if let Some(name) = key.strip_prefix("attributes.") {
                put(&mut found, name.to_owned(), value.take());
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
    pub(super) fn of(row: &Map<String, Value>, attributes: Map<String, Value>) -> Self {
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
                    any_value(row["body"].clone())
                }
                Some(body) => body.clone(),
                None => Value::Null,
            },
            attributes,
        }
    }
}
