//! `GeneratedItem`: an accepted item, as written to the file of items.

use serde_json::{Map, Value, json};

use crate::data::{Normalized, Record, Status};
use crate::text::tex_json;

/// An item that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedItem {
    /// The id of the prompt it answers: `gen_aime_1`.
    pub id: String,
    /// The normalised fields that the model wrote, by name.
    pub fields: Map<String, Value>,
    /// The reference that was shown with the prompt.
    pub reference_id: Option<String>,
    /// The model that wrote it, as the endpoint reports it; otherwise as the spec names it.
    pub model: Option<String>,
    /// When it was written, RFC 3339, in UTC.
    pub generated_at: Option<String>,
}

impl GeneratedItem {
    /// The item of a record; `None` if its reply was refused or missing.
    pub(super) fn of(record: &Record, model: Option<&str>, time: Option<&str>) -> Option<Self> {
        let outcome = &record.result;
        if !outcome.is_correct() {
            return None;
        }
        // Of an answer that held a secret only the redacted text remains.
        let output = outcome.output.as_ref();
        let fields = normalized(record)
            .or_else(|| object(outcome.prediction.as_deref()?))
            .or_else(|| object(output?.text.as_deref()?))?;
        let served = output.and_then(|output| output.metadata.get("model")?.as_str());
        let id = match record.epoch {
            0 => record.sample_id.clone(),
            epoch => format!("{}_{}", record.sample_id, epoch + 1),
        };
        Some(Self {
            id,
            fields,
            reference_id: text_of(&record.metadata, "reference_id"),
            model: served.or(model).map(str::to_owned),
            generated_at: time.map(str::to_owned),
        })
    }

    /// The item as in the file, members in the file's order.
    pub fn to_json(&self) -> Value {
        let mut members = Map::new();
        members.insert("id".to_owned(), self.id.clone().into());
        for (name, value) in &self.fields {
            members.entry(name.clone()).or_insert_with(|| value.clone());
        }
        for (name, value) in [
            ("reference_id", &self.reference_id),
            ("model", &self.model),
            ("generated_at", &self.generated_at),
        ] {
            members.insert(name.to_owned(), value.clone().into());
        }
        Value::Object(members)
    }
}

/// A member of a sample's metadata as text; `None` if it is missing or null.
pub(super) fn text_of(metadata: &Map<String, Value>, name: &str) -> Option<String> {
    match metadata.get(name)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The item as normalised by the scorer.
fn normalized(record: &Record) -> Option<Map<String, Value>> {
    let score = record.result.score.as_ref()?;
    match &score.normalized_prediction {
        Normalized::Text(text) if record.result.status == Status::Scored => {
            serde_json::from_str(text).ok()
        }
        _ => None,
    }
}

/// The single object in a reply.
fn object(text: &str) -> Option<Map<String, Value>> {
    let text = text.get(text.find('{')?..=text.rfind('}')?)?;
    match tex_json::read(text)?.value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// The version of the file of items, counted up whenever a reader of an older version would be misled.
///
/// - 1: the first. An array of objects with `id`, `reference_id`, `model`, `generated_at` and the fields of the spec; those
///   of `aime` are `problem`, `answer`, `solution` and `topic`.
pub const GENERATED_FORMAT: u32 = 1;

/// The JSON schema of the file of items, draft 2020-12.
pub fn generated_schema() -> Value {
    let known = |kind: &str, about: &str| json!({ "type": [kind, "null"], "description": about });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Items that `cargo evaltest generate` made",
        "description": format!(
            "Version {GENERATED_FORMAT}. In addition to the members of every item, each has the fields of its spec; those of `aime` \
             are described here."
        ),
        "type": "array",
        "items": {
            "type": "object",
            "required": ["id", "reference_id", "model", "generated_at"],
            "properties": {
                "id": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The id of the prompt that it answers; unique in the file.",
                },
                "problem": { "type": "string", "minLength": 1 },
                "answer": {
                    "description": "An integer from 0 to 999 for `aime`; else what the spec has.",
                },
                "solution": { "type": "string", "minLength": 1 },
                "topic": { "type": "string", "minLength": 1 },
                "reference_id": known("string", "The reference that was shown with the prompt."),
                "model": known("string", "The model that wrote it, as its endpoint says; else as the spec has it."),
                "generated_at": {
                    "type": ["string", "null"],
                    "format": "date-time",
                    "description": "When it was written, in UTC.",
                },
            },
        },
    })
}
